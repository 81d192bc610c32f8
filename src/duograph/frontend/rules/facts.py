"""What of a value a program may depend on, as data that two calls can be compared by."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import numpy as np

from duograph.base.lookup import raw_getattr
from duograph.base.weak import WeakTable
from duograph.tensor.tensor import Placeholder, Tensor

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<missing>"})()
"""What a lookup gives where there is nothing: no value of the user."""

HEAP_TYPE = 1 << 9
"""A class that was made by Python code (`Py_TPFLAGS_HEAPTYPE`): its attributes can be set."""

_slots: WeakTable[type, tuple[types.MemberDescriptorType, ...]] = WeakTable()

HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
"""Tables of a Cell."""


def tensor_facts(t: Tensor) -> tuple[Any, ...]:
    """What a compiled program depends on of an input tensor."""
    data = t._data
    grad = getattr(t, "requires_grad", None)
    return (type(t), data.dtype, data.shape, data.flags.c_contiguous, grad if type(t) is not Tensor else None)


def lies_contiguously(t: Tensor) -> bool:
    """Whether the elements of an outside tensor follow each other; those that only a declared shape has do."""
    return isinstance(t._data, Placeholder) or bool(t._data.flags.c_contiguous)


def may_vary(value: Tensor, pattern: tuple[Any, ...]) -> bool:
    """Whether a tensor of symbolic shape may stand for ``value``: nothing but its sizes tells it from others."""
    data = value._data
    return (
        type(value) is Tensor
        and isinstance(data, np.ndarray | Placeholder)
        and len(data.shape) == len(pattern)
        and all(not isinstance(want, int) or want == n for want, n in zip(pattern, data.shape, strict=True))
    )


def cell_facts(cell: Any) -> tuple[Any, ...]:
    """What the call of a Cell depends on besides ``construct``: its hooks and its computing dtype."""
    held = vars(cell)
    hooks = tuple([tuple(held[name]) for name in HOOKS]) if cell._has_hooks() else ()
    return (hooks, held.get("_mixed_dtype"), id(held["construct"]) if "construct" in held else 0)


def lookup(cls: type, name: str, default: Any = None) -> Any:
    """The class attribute ``name`` without binding it, or ``default``."""
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return default


_PLAIN_DESCRIPTORS = (
    types.FunctionType, types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip
"""Binding these runs nothing of the user's."""


def is_plain_descriptor(found: Any) -> bool:
    """Whether reading what a class holds, from it or an instance, binds a method or reads a slot, and no more."""
    if type(found) in (staticmethod, classmethod):
        inner = found.__func__
        return type(found) is staticmethod or not hasattr(type(inner), "__get__") or is_plain_descriptor(inner)
    return type(found) in _PLAIN_DESCRIPTORS


def slots_of(cls: type) -> tuple[types.MemberDescriptorType, ...]:
    """Where objects of ``cls`` hold values outside of their dictionary: slots of classes that Python code made."""
    found = _slots.get(cls)
    if found is None:
        made = [base for base in cls.__mro__ if base.__flags__ & HEAP_TYPE]
        found = tuple([m for base in made for m in vars(base).values() if type(m) is types.MemberDescriptorType])
        _slots[cls] = found
    return found


def has_slots(cls: type) -> bool:
    """Whether objects of ``cls`` hold values in slots."""
    return bool(slots_of(cls))


def held_in(obj: Any, slot: types.MemberDescriptorType) -> Any:
    """What a slot of ``obj`` holds; `MISSING` if nothing."""
    try:
        return slot.__get__(obj)
    except AttributeError:
        return MISSING


def lacks(obj: Any, name: str) -> bool:
    """Whether neither ``obj`` nor its class holds ``name`` (what its ``__getattr__`` would say does not count)."""
    own = raw_getattr(obj, "__dict__", ())
    return name not in own and not any(name in vars(base) for base in type(obj).__mro__)


HELD: dict[type, tuple[str, ...]] = {
    functools.partial: ("func", "args", "keywords"), slice: ("start", "stop", "step"),
    inspect.Signature: ("parameters", "empty"),
    inspect.Parameter: ("name", "default", "kind", "empty", *inspect._ParameterKind.__members__),
}  # fmt: skip
"""Attributes of objects that the program has made of its values, and that do not change."""
