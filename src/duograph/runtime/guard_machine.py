"""A small machine that checks guards natively: is the world still as a compiled program assumes it?

The checks of one program are a table of 64-bit words; one native function, compiled once for all programs, walks it and
stops at the first check that fails. A check costs 2 to 30 ns where generated Python takes 50 to 500.

    program = GuardProgram(n_args)
    x = program.arg(0)
    program.tensor(x, Tensor, np.dtype("float32"), (64, 784), contiguous=True)
    net = program.global_(module.__dict__, "net")
    program.is_(net, the_network)
    check = program.function()          # a builtin function: check(*args) -> bool

Words of an instruction: ``operation, target register, first, second``, and two in which the machine remembers what it
found (`guard_text`). Registers hold objects. Any exception (an attribute that is gone) counts as failure.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.lower.loop.types import float_bits
from duograph.tensor.tensor import Tensor

from . import code, cpython, guard_text
from .cpython import Unsupported, layout
from .guard_text import ANY

MOST_REGISTERS = 8192
"""They lie on the stack of the thread."""

_CODE = {name: i for i, name in enumerate(guard_text.OPERATIONS)}
_CALL_PYTHON = frozenset({"attr", "item", "python"})


class GuardProgram:
    """Collects checks; `function` gives the compiled form."""

    def __init__(self, n_args: int) -> None:
        self.n_args = n_args
        self.words: list[int] = []
        self.kept: list[Any] = []  # objects that the table points to
        self.registers = 0
        self.tables: list[np.ndarray] = []
        self.runs_python = False
        self._function: Any = None

    def _add(self, operation: str, target: int, first: int = 0, second: int = 0) -> None:
        assert self._function is None, "the program is finished"
        self.words += [_CODE[operation], target, first, second, -1, 0]
        self.runs_python |= operation in _CALL_PYTHON

    def _register(self) -> int:
        if self.registers == MOST_REGISTERS:
            raise Unsupported("more values than registers")
        self.registers += 1
        return self.registers - 1

    def _pointer(self, value: Any) -> int:
        self.kept.append(value)
        return id(value)

    # -- values: each gives a register ---------------------------------------------------------------------------

    def arg(self, index: int) -> int:
        self._add("arg", r := self._register(), index)
        return r

    def const(self, value: Any) -> int:
        self._add("const", r := self._register(), self._pointer(value))
        return r

    def attr(self, base: int, name: str) -> int:
        self._add("attr", r := self._register(), base, self._pointer(name))
        return r

    def item(self, base: int, key: Any) -> int:
        self._add("item", r := self._register(), base, self._pointer(key))
        return r

    def at(self, base: int, index: int) -> int:
        """An item of what must be a plain list or tuple."""
        self._add("at", r := self._register(), base, index)
        return r

    def own(self, base: int, name: str) -> int:
        """What the object's own dictionary has under a name."""
        self._add("own", r := self._register(), base, self._pointer(name))
        return r

    def member(self, cls: type, name: str) -> int:
        """What a class that is known by identity, or a base of it, defines under a name."""
        self._add("member", r := self._register(), self._pointer(cls), self._pointer(name))
        return r

    def cell(self, variable: Any) -> int:
        """What a closure cell holds."""
        return self.field(variable, cpython.HEAD)

    def field(self, owner: object, offset: int) -> int:
        """An object that stands in a field of one that is known by identity (offset in bytes)."""
        self._add("field", r := self._register(), self._pointer(owner), offset)
        return r

    def key(self, base: int, key: str) -> int:
        """An item of what must be a plain dictionary."""
        self._add("key", r := self._register(), base, self._pointer(key))
        return r

    def lookup(self, namespace: dict[Any, Any], key: Any) -> int:
        """An item of a dictionary that is known by identity."""
        self._add("lookup", r := self._register(), self._pointer(namespace), self._pointer(key))
        return r

    # -- checks --------------------------------------------------------------------------------------------------

    def is_(self, value: int, expected: Any) -> None:
        self._add("is", value, self._pointer(expected))

    def same(self, one: int, two: int) -> None:
        """Two values are one object."""
        self._add("same", one, two)

    def type_(self, value: int, expected: type) -> None:
        self._add("type", value, self._pointer(expected))

    def len_(self, value: int, kind: type, expected: int) -> None:
        """Class and length; for containers whose ``__len__`` is not written in Python."""
        self._add("len", value, expected, self._pointer(kind))

    def equal(self, value: int, expected: Any) -> None:
        """Type and value; for ``int``, ``str``, ``bytes``, ``bool`` and floats (compared by their bits)."""
        self.type_(value, type(expected))
        if type(expected) is float:
            self._add("float", value, float_bits(expected))
        elif expected is None or type(expected) is bool:
            self.is_(value, expected)
        else:
            self._add("equal", value, self._pointer(expected))

    def keys(self, value: int, expected: Sequence[str]) -> None:
        """A plain dictionary with exactly these keys, in this order."""
        self._add("keys", value, self._pointer(tuple(expected)))

    def absent(self, namespace: dict[Any, Any], key: Any) -> None:
        """``key not in namespace``, a dictionary known by identity."""
        self._add("absent", 0, self._pointer(namespace), self._pointer(key))

    def tensor(
        self, value: int, kind: type, dtype: np.dtype, shape: Sequence[int | None], contiguous: bool | None
    ) -> None:
        """A tensor of exactly this class whose payload is an array of this dtype and shape; ``None``: any."""
        if np.empty(0, dtype).dtype is not dtype:
            raise Unsupported(f"dtype {dtype} is not a single object")
        extents = [ANY if n is None else n for n in shape]
        whole = ANY if contiguous is None else int(contiguous)
        table = np.array([self._pointer(kind), id(dtype), len(extents), whole, *extents], np.int64)
        self.tables.append(table)
        self.kept.append(dtype)
        self._add("tensor", value, table.ctypes.data)

    def python(self, function: Callable[..., Any]) -> None:
        """``function(*args)`` must be true."""
        self._add("python", 0, self._pointer(function))

    def function(self) -> Any:
        """The native function ``check(*args) -> bool``; nothing can be added to the program afterwards.

        Raises:
            Unsupported: this Python cannot be served natively.
        """
        if self._function is None:
            head = [self.n_args, self.registers, int(self.runs_python)]
            end = [0] * guard_text.WIDTH
            table = np.array([*head, *self.words, *end], np.int64).view(_Table)
            table.kept = (self.kept, self.tables, machine_code())
            address = table.kept[2].address("dg_guards")
            doc = "Whether a compiled program is valid for these arguments."
            self._function = cpython.function("check", address, doc, table)
        return self._function

    def table(self) -> np.ndarray:
        """The words of the finished program."""
        return self.function().__self__  # type: ignore[no-any-return]


class _Table(np.ndarray):
    """The words, and what must live as long as they do."""

    kept: Any = None


@functools.cache
def machine_code() -> Any:
    """The machine, compiled or from disk: ``dg_check`` and ``dg_guards``.

    Raises:
        Unsupported: this Python has another layout.
    """
    known = layout()
    symbols = {f"c_{name}": known.function(name) for name in guard_text.API}
    symbols.update({f"c_{cls.__name__}": id(cls) for cls in (np.ndarray, tuple, list, dict, Exception)})
    symbols.update({"c_True": id(True), "c_False": id(False)})
    text = guard_text.text(known.slot(Tensor, "_data"), known.has_versions)
    linked = code.load(text, ["dg_guards", "dg_check"], symbols=symbols)
    linked.make_immortal()
    return linked
