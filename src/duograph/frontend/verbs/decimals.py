"""Decimal numbers: what they give depends on the context of the thread, and is noted in its flags.

So the context is an assumption, its flags among it: a signal that has been noted before changes nothing. The first one
is left to Python (`NotYet`).
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection
from typing import Any

from duograph.base.lookup import raw_getattr

from ..rules.errors import NotYet
from ..values.movable import PLAIN

_DEPTH = 3
_METHODS = (types.BuiltinMethodType, types.MethodWrapperType)
_HOLDERS = (list, tuple, set, frozenset, dict)


def uses_decimals(fn: Any, args: Collection[Any], kwargs: dict[str, Any]) -> bool:
    """Whether ``fn`` is the class of decimal numbers, or a method of one, or may find one in its arguments."""
    if not kwargs and type(fn) is not type and PLAIN.issuperset(map(type, args)) and type(fn) not in _METHODS:
        return False
    return is_decimal(fn) or is_decimal(raw_getattr(fn, "__self__")) or is_decimal(args) or is_decimal(kwargs)


def is_decimal(value: Any) -> bool:
    """Whether ``value`` is a decimal number or their class, or holds one."""
    decimal: Any = sys.modules.get("decimal")
    return decimal is not None and _holds((value,), decimal.Decimal, _DEPTH)


def _holds(values: Collection[Any], kind: type, depth: int) -> bool:
    kinds = set(map(type, values))
    if kind in kinds or (type in kinds and any(v is kind for v in values)):
        return True
    return depth > 0 and any(
        _holds(v.values() if isinstance(v, dict) else v, kind, depth - 1)  # type: ignore[arg-type]
        for held in kinds.intersection(_HOLDERS)
        for v in values
        if type(v) is held
    )


def in_context(session: Any, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``fn(*args, **kwargs)``, which may compute with decimal numbers, in the context that is assumed.

    Raises:
        NotYet: a signal came up that the flags do not show.
    """
    decimal = sys.modules["decimal"]
    before = context()
    own = decimal.getcontext()
    with decimal.localcontext():
        try:
            return fn(*args, **kwargs)
        finally:
            if decimal.getcontext().flags != own.flags:
                raise NotYet("a signal of decimal arithmetic that has not come up before")
            session.guards.add(session.source_of(context), "gives", ((), before))


def context() -> str:
    """The context of decimal arithmetic of this thread: precision, rounding, traps, flags."""
    return repr(sys.modules["decimal"].getcontext())
