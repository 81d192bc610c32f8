"""Special methods and descriptors as Python finds them: on the class, without binding; whether they are user code."""

from __future__ import annotations

import enum
import functools
import types
from typing import Any

from ..rules.errors import Uncapturable
from ..rules.facts import is_plain_descriptor, lookup
from ..rules.policy import function_kind, is_generated, is_interpreted, is_odd_method, is_user_class
from ..rules.watch import watched

PROPERTY_GETTERS = (property.__get__, types.DynamicClassAttribute.__get__, enum.property.__get__)
"""What reading a property calls, where its class does not define it anew."""


def user_method(obj: Any, name: str) -> Any:
    """The special method of ``obj`` if it is user code that must be interpreted, else ``None``."""
    cls = type(obj)
    if cls.__module__ == "builtins" and not is_user_class(cls):
        return None
    found = special_method(cls, name)
    if isinstance(found, types.FunctionType):
        return found if function_kind(found) == "user" and not is_generated(found) else None
    return found if hasattr(type(found), "captured_target") else None


def special_method(cls: type, name: str) -> Any:
    """The special method of ``cls`` without binding it.

    Raises:
        Uncapturable: it is code of the user that nobody would interpret.
    """
    found = watched(cls, name)
    if is_odd_method(cls, name, found):
        raise Uncapturable(f"{cls.__qualname__}.{name}, which is a {type(found).__name__} instead of a function")
    # A class with ``__iter__ = None`` is not asked for ``__getitem__`` instead.
    if found is None and name != "__hash__":
        for base in cls.__mro__:
            if name in base.__dict__:
                raise Uncapturable(f"{cls.__qualname__}.{name}, which is None instead of a function")
    return found


def is_users_descriptor(found: Any) -> bool:
    """Whether reading ``found`` by way of a class, or of its instance, may run code of the user."""
    if not hasattr(type(found), "__get__") or is_plain_descriptor(found):
        return False
    if user_method(found, "__get__") is not None:
        return True
    return is_users_code(found.__func__ if type(found) is classmethod else getattr(found, "fget", None))


def is_users_code(code: Any) -> bool:
    """Whether what a property or the like calls is to be called as the program calls it, not natively."""
    return code is not None and (is_interpreted(code) or not isinstance(code, types.FunctionType))


def is_data_descriptor(found: Any) -> bool:
    return hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")


def is_answered_by_code(cls: type, found: Any) -> bool:
    """Whether code of the user gives an attribute that the dictionary of an instance of ``cls`` lacks."""
    if found is None:
        return is_interpreted(special_method(cls, "__getattr__"))
    return isinstance(found, functools.cached_property) or user_method(found, "__get__") is not None


def has_user_getattr(obj: Any) -> bool:
    return is_interpreted(lookup(type(obj), "__getattr__"))
