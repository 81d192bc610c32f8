"""Substitutes of the built-in functions that look at classes: ``isinstance``, ``issubclass``, ``type``."""

from __future__ import annotations

import abc
import types
from typing import Any

from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..rules.policy import is_builtin_class, is_user_class
from ..rules.sources import Pin
from ..values.functions import CapturedFunction
from ..values.restricted import Restricted
from ..values.text import GraphText
from .special_methods import user_method
from .substitutes import SymbolicRange, substitute


@substitute(isinstance)
def is_instance(calls: Any, obj: Any, cls: Any) -> bool:
    if isinstance(obj, NumpyScalar):
        return any(_is_of(calls, obj, obj.numpy_type, one) for one in _kinds(cls))
    if isinstance(obj, Scalar | GraphText | SymbolicRange):
        kind = str if isinstance(obj, GraphText) else range if isinstance(obj, SymbolicRange) else obj.type.python_type
        return any(_is_of(calls, obj, kind, one) for one in _kinds(cls))
    _guard_class(calls, obj)
    if isinstance(obj, CapturedFunction):
        return any(_is_of(calls, obj, types.FunctionType, kind) for kind in _kinds(cls))
    return any(_is_kind(calls, obj, kind) for kind in _kinds(cls))


def _kinds(cls: Any) -> list[Any]:
    """The classes that ``isinstance`` is asked about."""
    if isinstance(cls, tuple):
        return [kind for part in cls for kind in _kinds(part)]
    return list(cls.__args__) if isinstance(cls, types.UnionType) else [cls]


def _is_of(calls: Any, obj: Any, kind: type, cls: Any) -> bool:
    """``isinstance(obj, cls)`` of a run-time value, which stands for an object of class ``kind``."""
    asked = user_method(cls, "__instancecheck__")
    if asked is not None and cls is not kind:
        return calls.semantics.as_bool(calls.call(asked, (cls, obj), {}))
    return issubclass(kind, cls)


def _is_kind(calls: Any, obj: Any, cls: Any) -> bool:
    """``isinstance(obj, cls)``; what an abstract class answers depends on what is registered with it."""
    asked = user_method(cls, "__instancecheck__")
    if asked is not None and cls is not type(obj):
        return calls.semantics.as_bool(calls.call(asked, (cls, obj), {}))
    answer = isinstance(obj, cls)
    kind = type(obj)
    if isinstance(cls, abc.ABCMeta) and cls not in kind.__mro__ and not (answer and is_builtin_class(kind)):
        asks_object = getattr(cls, "_is_protocol", False) and not _is_subclass(kind, cls)
        if kind.__class__ is not obj.__class__.__class__ or asks_object:
            raise Uncapturable(f"whether an object is a {cls.__qualname__}")
        calls.session.guards.add(calls.session.source_of(cls), "kind of", (Pin(kind), answer))
    return answer


def _is_subclass(kind: type, cls: type) -> bool:
    """``issubclass(kind, cls)``; a protocol with attributes that are no methods does not say so of classes."""
    try:
        return issubclass(kind, cls)
    except TypeError:
        return False


@substitute(issubclass)
def _issubclass(calls: Any, kind: Any, cls: Any) -> bool:
    for one in _kinds(cls):
        if user_method(one, "__subclasscheck__") is not None:
            raise Uncapturable(f"a class that decides in Python what its subclasses are ({one.__qualname__})")
        if isinstance(one, abc.ABCMeta) and isinstance(kind, type) and one not in kind.__mro__:
            calls.session.guards.add(calls.session.source_of(one), "kind of", (Pin(kind), issubclass(kind, one)))
    return issubclass(kind, cls)


def _guard_class(calls: Any, obj: Any) -> None:
    """Guards of identity do not cover ``obj.__class__ = ...``."""
    if isinstance(obj, Restricted):
        obj.refuse()
    if id(obj) in (choices := calls.session.choices).derived:
        choices.check_known(obj)
    if id(obj) in calls.session.without_dictionary:
        return
    if is_user_class(type(obj)) and not isinstance(obj, type | Tensor) and not calls.world.is_tracked(obj):
        calls.session.guards.add(calls.session.source_of(obj), "type", type(obj))


@substitute(type)
def _type(calls: Any, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 1:
        raise Uncapturable("a class made by type(name, bases, dict)")
    obj = args[0]
    if isinstance(obj, Scalar):
        return obj.type.python_type
    if isinstance(obj, NumpyScalar):
        return obj.numpy_type
    _guard_class(calls, obj)
    if isinstance(obj, CapturedFunction):
        return types.FunctionType
    return str if isinstance(obj, GraphText) else range if isinstance(obj, SymbolicRange) else type(obj)
