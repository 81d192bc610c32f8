"""Attributes of objects that may be anybody's, read without running their code.

A user's ``__getattr__`` may print, count, raise, or answer every question (mocks and proxies do): whether an object is
a Cell, a symbol of ours or a function in C must not depend on it, and asking must not be seen.
"""

from __future__ import annotations

import functools
import types
from typing import Any

FUNCTIONS = frozenset((types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType))
"""Classes of callables whose attributes no code of a user's computes: `getattr` does."""


def raw_getattr(obj: Any, name: str, default: Any = None) -> Any:
    """``obj.name`` as ``object`` finds it: neither ``__getattr__`` nor an own ``__getattribute__`` is asked."""
    if name == "__dict__" and type(obj) is functools.partial:
        return attributes_of_partial(obj)
    find = type.__getattribute__ if issubclass(type(obj), type) else object.__getattribute__
    try:
        return find(obj, name)
    except AttributeError:
        return default


def attributes_of_partial(obj: functools.partial[Any]) -> dict[str, Any]:
    """``vars(obj)``, which would give ``obj`` an empty dictionary if it has none: and a partial of one that has a
    dictionary is nested, where Python makes one partial of both otherwise."""
    state: Any = obj.__reduce__()[2]  # function, arguments, keywords, dictionary or None
    return state[3] or {}


def raw_hasattr(obj: Any, name: str) -> bool:
    """Whether ``object`` finds ``obj.name``."""
    find = type.__getattribute__ if issubclass(type(obj), type) else object.__getattribute__
    try:
        find(obj, name)
    except AttributeError:
        return False
    return True
