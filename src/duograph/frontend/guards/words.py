"""Values in the text of guards. No code of the user's runs for it in the middle of a call."""

from __future__ import annotations

import types
from typing import Any

from duograph.frontend.policy import is_user_class

__all__ = ["facts_text", "short", "told"]


def short(value: Any) -> str:
    if isinstance(value, types.FunctionType):
        text = f"function {value.__qualname__}"
    else:
        text = f"that of {value.co_qualname}" if isinstance(value, types.CodeType) else _shown(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # a number of more digits than Python writes
        return f"a very large {type(value).__name__}"


def told(value: Any) -> str:
    """`short` in the middle of a call: whatever the user's ``__repr__`` does, the program has not asked for it."""
    return short(value) if _is_ours_to_print(value) else f"a {type(value).__qualname__} object"


def _is_ours_to_print(value: Any) -> bool:
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return all(_is_ours_to_print(v) for v in value)
    if kind is dict:
        return all(_is_ours_to_print(v) for pair in value.items() for v in pair)
    return issubclass(kind, type) or not is_user_class(kind)


def facts_text(facts: Any) -> str:
    if type(facts) is not tuple or len(facts) != 5:
        return told(facts)
    kind, dtype, shape, contiguous, _ = facts
    return f"{kind.__name__} {dtype}{list(shape)}" + ("" if contiguous else " (not contiguous)")
