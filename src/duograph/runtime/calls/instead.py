"""Calls of a compiled function that go to another callable, natively and without a look at what is compiled.

Plain Python where nothing compiled is of use, and the skeleton of a function that is cut: Python finds out, and lets
the next calls go the same way (`Instead.let`). It leads again when these are used up, while a program is captured, and
where what the callable depends on is another.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.runtime.python.asm import Function, Module
from duograph.runtime.python.cpython import ARRAY_DATA, FUNCTION_FIELDS, SIZE, TUPLE_ITEMS, TYPE
from duograph.runtime.python.structs import Field, Struct

INSTEAD = Struct(
    "instead",
    left="i64",  # calls that may go there
    quiet="i64",  # whether only while no tape records
    config="ptr",  # the configuration under which; 0: any
    function="ptr",  # the function whose code and defaults are to be these; 0: none
    code="ptr",
    defaults="ptr",
    kwdefaults="ptr",
)
_LEFT = INSTEAD.left.word
_PARTS = ("__code__", "__defaults__", "__kwdefaults__")


class Instead:
    """What calls of a compiled function go to, and how many more of them."""

    __slots__ = ("_block", "_callee", "_given", "_kept")

    def __init__(self) -> None:
        self._block = np.zeros(INSTEAD.n_words, np.int64)
        self._callee: Any = None
        self._given = 0
        self._kept: Any = None

    def let(
        self,
        calls: int,
        callee: Callable[..., Any],
        is_quiet: bool = False,
        config: Any = None,
        function: types.FunctionType | None = None,
    ) -> None:
        """Lets the next calls go to ``callee``.

        Args:
            calls: how many.
            callee: gets their arguments.
            is_quiet: while tapes record, that is not right.
            config: the configuration under which it is. ``None``: it is under all.
            function: it is right as long as this function has the code and the defaults that it has now.
        """
        self._block[_LEFT] = 0
        parts = [getattr(function, name) for name in _PARTS] if function is not None else [None] * 3
        self._callee, self._kept = callee, (config, function, parts)
        self._given = calls
        objects = [0 if x is None else id(x) for x in (config, function, *parts)]
        self._block[:] = [calls, is_quiet, *objects]  # in the order of `INSTEAD`

    @property
    def taken(self) -> int:
        """How many of the calls have gone there."""
        return self._given - int(self._block[_LEFT])

    def end(self) -> int:
        """Lets no more calls go there; gives how many have."""
        taken = self.taken
        self._given = self._block[_LEFT] = 0
        return taken


def dg_instead(module: Module) -> Function:
    """``i64 dg_instead(ptr function, ptr subject, ptr args, ptr keywords, ptr result)``: 1 if the call has gone to
    something else, 2 if Python has to lead it; ``subject``, if it is one, stands in front of the arguments."""
    f = Function("i64", "dg_instead", "ptr function, ptr subject, ptr args, ptr keywords, ptr result", module)
    no = f.label("no")
    f.goto_if(f.get(f.arg("function"), f.slot("instead")).eq(f.word("None")), no)
    with f.if_(f.load("i64", f.memory("dg_watched").pointer).ne(0)):  # a debugger may wait for lines of the function
        f.ret(2)
    ready = f.call("ptr", "dg_ready")  # may let others run: nothing is borrowed before
    with f.if_(ready.eq(None)):
        f.ret(2)
    way = f.get(f.arg("function"), f.slot("instead"))
    f.goto_if(way.eq(None), no)
    f.goto_if(f.get(way, TYPE).ne(f.word("Instead")), no)
    block = f.get(f.get(way, f.slot("way")), ARRAY_DATA)
    left = f.get(block, INSTEAD.left)
    f.goto_if(left.lt(1), no)
    with f.if_(f.get(block, INSTEAD.quiet).ne(0)):
        f.goto_if(ready.ne(f.memory("dg_quiet").pointer), no)
    wanted = f.get(block, INSTEAD.config)
    with f.if_(wanted.ne(None)):
        f.goto_if(f.call("ptr", "dg_config").ne(wanted), no)
    function = f.get(block, INSTEAD.function)
    with f.if_(function.ne(None)):
        for name, field in zip(_PARTS, (INSTEAD.code, INSTEAD.defaults, INSTEAD.kwdefaults), strict=True):
            place = Field(name, "ptr", FUNCTION_FIELDS[name])
            f.goto_if(f.get(function, place).ne(f.get(block, field)), no)
    f.set(block, INSTEAD.left, left - 1)
    callee = f.hold(f.get(way, f.slot("callee")))
    with f.if_(f.arg("subject").eq(None)):
        f.store(f.api("PyObject_Call", callee, f.arg("args"), f.arg("keywords")), f.arg("result"))
        f.release(callee)
        f.ret(1)
    n = f.get(f.arg("args"), SIZE)
    room = f.row("ptr", n + 2)  # the first place is scratch for the callee (PY_VECTORCALL_ARGUMENTS_OFFSET)
    f.store(f.arg("subject"), room, 8)
    with f.times(n) as i:
        f.store(f.load("ptr", f.arg("args") + i * 8, TUPLE_ITEMS), room, (i + 2) * 8)
    made = f.api("PyObject_VectorcallDict", callee, room + 8, (n + 1) | -(1 << 63), f.arg("keywords"))
    f.store(made, f.arg("result"))
    f.release(callee)
    f.ret(1)
    f.place(no)
    f.ret(0)
    return f
