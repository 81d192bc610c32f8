"""Decimal numbers: what they give depends on the context of the thread, and is noted in its flags.

So the context is an assumption, its flags among it: a signal that has been noted before changes nothing. The first one
is left to Python (`NotYet`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from typing import Any

from ..rules.errors import NotYet

_DEPTH = 3
_HOLDERS = (list, tuple, set, frozenset, dict)


def uses_decimals(*values: Any) -> bool:
    """Whether a decimal number, or the class, is in ``values``."""
    decimal: Any = sys.modules.get("decimal")
    return decimal is not None and _holds(values, decimal.Decimal, _DEPTH)


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
