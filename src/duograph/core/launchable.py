"""Functions that native code may stand in for.

    add = launchable(add, weak_numbers=True)

The result is a function of the same name, signature and documentation that only calls the original. Once native
launching is on (``runtime/launch/launcher.py``), it calls a native function instead, which computes the same. The
function that users hold never changes, and this module costs nothing when native launching is off.

Only for functions whose ops depend on nothing but the dtypes, shapes and layouts of their tensors and the values of
their other arguments: no state, no random numbers, no writing.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from duograph.base.slot import Listeners

from .called import in_front, redirect


class Launchable:
    """A function that native code may stand in for.

    Attributes:
        function: the original.
        public: what stands before it.
        weak_numbers: numbers among the arguments only stand for 0-d tensors of their value.
        name: what errors of ``public`` name; empty: they stay as they are.
    """

    __slots__ = ("_names", "function", "name", "public", "weak_numbers")

    def __init__(self, function: types.FunctionType, weak_numbers: bool, name: str = "") -> None:
        self.function, self.weak_numbers, self.name = function, weak_numbers, name
        self._names: dict[str, Any] = {"call": function}
        self.public = in_front(function, name, self._names)

    def redirect(self, target: Callable[..., Any]) -> None:
        """From now on the public function calls ``target``."""
        redirect(self._names, target)


LAUNCHABLES: list[Launchable] = []
when_made = Listeners("core.launchable.when_made")
"""Called after each new one; the launcher stands there while it is on."""


when_paused = Listeners("core.launchable.when_paused")
"""Called when native code is to stop, or may go on; the launcher stands there while it is on."""
_pauses: list[None] = []


def is_paused() -> bool:
    """Whether native code leaves all calls to Python."""
    return bool(_pauses)


def pause() -> None:
    """Native code leaves all calls of the process to Python until `resume`, which is called as often."""
    _pauses.append(None)
    when_paused.tell()


def resume() -> None:
    """Ends a `pause`."""
    _pauses.pop()
    when_paused.tell()


def launchable(function: Callable[..., Any], weak_numbers: bool = False, name: str = "") -> Callable[..., Any]:
    """``function``, so that native code may stand in for it; what is no Python function as it is.

    Args:
        function: the function.
        weak_numbers: numbers among the arguments only stand for 0-d tensors of their value.
        name: what its errors name (`called`); empty: they stay as they are.
    """
    known = _known.get(id(function))
    if not isinstance(function, types.FunctionType) or (known is not None and name in ("", known.name)):
        return function
    if known is not None:
        function, weak_numbers = known.function, known.weak_numbers
    made = Launchable(function, weak_numbers, name)
    LAUNCHABLES.append(made)
    _known[id(made.public)] = made
    when_made.tell()
    return made.public


def is_launchable(function: Any) -> bool:
    """Whether `launchable` has made it."""
    return id(function) in _known


_known: dict[int, Launchable] = {}


__all__ = [
    "LAUNCHABLES", "Launchable", "is_launchable", "is_paused", "launchable", "pause", "resume", "when_made",
    "when_paused",
]  # fmt: skip
