"""Values in the text of guards. No code of the user's runs for it, in the middle of a call or in a log."""

from __future__ import annotations

import types
from enum import Enum
from typing import Any

import numpy as np

from duograph.base.lookup import raw_getattr
from duograph.core.dtype import DType
from duograph.frontend.rules.facts import lookup
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

__all__ = ["facts_text", "short"]

_CONTAINERS = (list, tuple, set, frozenset)
_PLAIN = (
    bool, int, float, complex, str, bytes, bytearray, range, type(None), type(...), DType, Tensor, Parameter, np.dtype,
    types.ModuleType, types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip
"""Classes whose own ``__repr__`` looks at nothing of the user's."""
_REPRS = (*[kind.__repr__ for kind in (int, float, complex, str, bytes)], type.__repr__)
"""The same, where a class of the user has it from its base."""


def short(value: Any) -> str:
    """``value`` in at most 60 characters; of an object that only code of the user's could show, its class."""
    if isinstance(value, types.FunctionType):
        text = f"function {value.__qualname__}"
    elif isinstance(value, types.CodeType):
        text = f"that of {value.co_qualname}"
    elif type(value) is types.MethodType:
        text = f"method {raw_getattr(value.__func__, '__qualname__', '')}"
    else:
        try:
            text = _shown(value) if _is_ours_to_print(value) else f"a {_qualname(type(value))} object"
        except RecursionError:
            text = f"a deep {_qualname(type(value))}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _qualname(kind: type) -> str:
    return type.__dict__["__qualname__"].__get__(kind)  # type: ignore[no-any-return]  # a metaclass is not asked


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # a number of more digits than Python writes
        return f"a very large {type(value).__name__}"


def _is_ours_to_print(value: Any) -> bool:
    kind = type(value)
    if kind in _CONTAINERS:
        return all(_is_ours_to_print(v) for v in value)
    if kind is dict:
        return all(_is_ours_to_print(v) for pair in value.items() for v in pair)
    if kind is slice:
        return all(_is_ours_to_print(v) for v in (value.start, value.stop, value.step))
    if kind in _PLAIN or issubclass(kind, np.generic | np.dtype | DType):
        return True
    how = lookup(kind, "__repr__", None)
    if how is Enum.__repr__:
        return _is_ours_to_print(value._value_)
    return how in _REPRS


def facts_text(facts: Any) -> str:
    if type(facts) is not tuple or len(facts) != 5:
        return short(facts)
    kind, dtype, shape, contiguous, _ = facts
    return f"{kind.__name__} {dtype}{list(shape)}" + ("" if contiguous else " (not contiguous)")
