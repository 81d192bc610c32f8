"""Exceptions of a captured program: which ones capture can follow, and how they leave the program as values."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from .errors import Uncapturable

TRACES = (types.TracebackType, types.FrameType)


def check_raised(exc: object) -> None:
    """Refuses to raise what is no `Exception`: on its way out nobody could tell it from one that ends the capture."""
    kind = exc if isinstance(exc, type) else type(exc)
    if not issubclass(kind, Exception):
        raise Uncapturable(f"a raise of {kind.__name__}, which is not an Exception")


def is_caught_by(exc: BaseException, kinds: Any) -> bool:
    """Whether an ``except`` clause for these classes takes ``exc``. It goes by inheritance: no metaclass is asked."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    return any(base is kind for kind in kinds for base in type(exc).__mro__)


def check_trace(obj: Any, name: str) -> None:
    """Refuses to look at where an exception came up: while a program is captured, those are the frames of capture."""
    if isinstance(obj, TRACES) or (name == "__traceback__" and isinstance(obj, BaseException)):
        raise Uncapturable(f"{name!r} of a {type(obj).__name__}, which exposes frames")


_MEMBERS: dict[type, tuple[str, ...]] = {
    NameError: ("name",), AttributeError: ("name", "obj"), StopIteration: ("value",),
}  # fmt: skip


def objects_of(exc: BaseException) -> tuple[str, ...]:
    """The attributes of an exception, besides its arguments, that hold what the program was working on."""
    return ("obj",) if isinstance(exc, AttributeError) else ("value",) if isinstance(exc, StopIteration) else ()


def held_by(exc: BaseException) -> tuple[Any, ...]:
    """The arguments of an exception, and what of its `objects_of` is none of them."""
    return (*exc.args, *[getattr(exc, name) for name in _apart(exc)])


def hold(exc: BaseException, held: Sequence[Any]) -> None:
    """Puts others in the place of what `held_by` gives."""
    names = _apart(exc)
    count = len(held) - len(names)
    exc.args = tuple(held[:count])
    for name, value in zip(names, held[count:], strict=True):
        setattr(exc, name, value)
    if isinstance(exc, StopIteration) and not names:
        exc.value = exc.args[0]


def _apart(exc: BaseException) -> tuple[str, ...]:
    if isinstance(exc, StopIteration) and exc.args and exc.value is exc.args[0]:
        return ()
    return objects_of(exc)


def with_causes(exc: BaseException) -> list[BaseException]:
    """An exception, what it was raised from, what that was raised from, and so on."""
    found = [exc]
    while (cause := found[-1].__cause__) is not None and all(cause is not e for e in found):
        found.append(cause)
    return found


def members_of(exc: BaseException) -> tuple[str, ...]:
    """What an exception holds besides its arguments and its dictionary.

    Raises:
        Uncapturable: that is not known, so it cannot be made anew.
    """
    kind = type(exc)
    for base in kind.__mro__:
        if base in _MEMBERS:
            return _MEMBERS[base]
    if kind.__basicsize__ != BaseException.__basicsize__:
        raise Uncapturable(f"an exception of class {kind.__qualname__} leaves the compiled function")
    return ()
