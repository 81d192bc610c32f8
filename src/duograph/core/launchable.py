"""Functions that native code may stand in for.

    add = launchable(add, weak_numbers=True)

The result is a function of the same name, signature and documentation that only calls the original. Once native
launching is on (``runtime/launch/launcher.py``), it calls a native function instead, which computes the same. The
function that users hold never changes, and this module costs nothing when native launching is off.

Only for functions whose ops depend on nothing but the dtypes, shapes and layouts of their tensors and the values of
their other arguments: no state, no random numbers, no writing.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from duograph.base.slot import Listeners


class Launchable:
    """A function that native code may stand in for.

    Attributes:
        function: the original.
        public: what stands before it.
        weak_numbers: numbers among the arguments only stand for 0-d tensors of their value.
    """

    __slots__ = ("_names", "function", "public", "weak_numbers")

    def __init__(self, function: types.FunctionType, weak_numbers: bool) -> None:
        self.function, self.weak_numbers = function, weak_numbers
        self._names: dict[str, Any] = {"__name__": function.__module__, "__builtins__": builtins}
        self.redirect(function)
        code = function.__code__
        plain, named = code.co_argcount, code.co_kwonlyargcount
        rest = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        names = code.co_varnames[: plain + named + rest.bit_count()]
        made = _template(plain, names[plain : plain + named], rest).replace(
            co_varnames=names, co_name=code.co_name, co_qualname=code.co_qualname, co_filename=code.co_filename,
            co_firstlineno=code.co_firstlineno, co_posonlyargcount=code.co_posonlyargcount,
        )  # fmt: skip
        public = types.FunctionType(made, self._names, code.co_name, function.__defaults__)
        public.__kwdefaults__ = function.__kwdefaults__  # type: ignore[assignment]  # may be None
        self.public = functools.update_wrapper(public, function)

    def redirect(self, target: Callable[..., Any]) -> None:
        """From now on the public function calls ``target``."""
        self._names["call"] = target


LAUNCHABLES: list[Launchable] = []
when_made = Listeners("core.launchable.when_made")
"""Called after each new one; the launcher stands there while it is on."""


def launchable(function: Callable[..., Any], weak_numbers: bool = False) -> Callable[..., Any]:
    """``function``, so that native code may stand in for it; what is no Python function as it is."""
    if not isinstance(function, types.FunctionType):
        return function
    if id(function) in _known:
        return function
    made = Launchable(function, weak_numbers)
    LAUNCHABLES.append(made)
    _known[id(made.public)] = made
    when_made.tell()
    return made.public


_known: dict[int, Launchable] = {}


@functools.cache
def _template(plain: int, named: tuple[str, ...], rest: int) -> types.CodeType:
    """Code that hands its arguments on to the global ``call``."""
    parameters = [f"a{i}" for i in range(plain)]
    star = ["*a"] if rest & inspect.CO_VARARGS else []
    stars = ["**k"] if rest & inspect.CO_VARKEYWORDS else []
    head = [*parameters, *(star or (["*"] if named else [])), *named, *stars]
    handed = [*parameters, *star, *[f"{n}={n}" for n in named], *stars]
    space: dict[str, Any] = {}
    exec(f"def f({', '.join(head)}): return call({', '.join(handed)})", space)
    code: types.CodeType = space["f"].__code__
    return code


__all__ = ["LAUNCHABLES", "Launchable", "launchable", "when_made"]
