"""Dataclasses whose generated methods would run code of the user where nobody interprets it."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from ..rules.errors import Uncapturable
from ..rules.facts import has_slots
from ..rules.policy import is_interpreted
from ..rules.watch import watched
from .special_methods import is_users_descriptor, special_method, user_method

_FIELD, INIT_VAR = (vars(dataclasses)[name] for name in ("_FIELD", "_FIELD_INITVAR"))
_ASKS_FACTORY = vars(dataclasses)["_HAS_DEFAULT_FACTORY"]
"""The default value of an argument whose field has a factory."""


def check_fields(cls: Any) -> None:
    """Refuses a generated ``__init__`` that sets its fields by methods of the user."""
    if _sets_by_code(cls):
        raise Uncapturable(f"the generated __init__ of class {cls.__qualname__}, which runs user code")


def _sets_by_code(cls: Any) -> bool:
    if is_interpreted(special_method(cls, "__setattr__")) and not _has_frozen_setattr(cls):
        return True
    found = [watched(cls, field.name) for field in dataclasses.fields(cls)]
    return any(is_users_descriptor(v) or user_method(v, "__set__") is not None for v in found)


def runs_code(cls: Any, init: types.FunctionType) -> bool:
    """Whether a generated ``__init__`` may run code of the user, or makes objects: `set_fields` does what it does."""
    if is_interpreted(special_method(cls, "__post_init__")) or _sets_by_code(cls):
        return True
    return any(f.default_factory is not dataclasses.MISSING for f in _fields_of(init, cls))


def set_fields(calls: Any, init: types.FunctionType, obj: Any, given: dict[str, Any]) -> None:
    """What the generated ``init`` of a dataclass does to ``obj``, which is new, with these arguments."""
    cls, semantics = type(obj), calls.semantics
    params = vars(_owner_of(init, cls))["__dataclass_params__"]
    store = semantics.object_setattr if params.frozen else semantics.setattr
    only_given = []
    for field in _fields_of(init, cls):
        value = given.get(field.name, dataclasses.MISSING)
        if value is _ASKS_FACTORY or (value is dataclasses.MISSING and field.default_factory is not value):
            value = calls.call(field.default_factory, (), {})
        if field._field_type is INIT_VAR:
            only_given.append(value)
        elif value is not dataclasses.MISSING:
            store(obj, field.name, value)
        elif has_slots(cls):
            raise Uncapturable(f"a field of {cls.__qualname__} that has a slot, and is not an argument")
    if "__post_init__" in init.__code__.co_names:
        calls.call(semantics.getattr(obj, "__post_init__"), tuple(only_given), {})


def _owner_of(init: types.FunctionType, cls: Any) -> Any:
    return next(base for base in cls.__mro__ if vars(base).get("__init__") is init)


def _fields_of(init: types.FunctionType, cls: Any) -> list[Any]:
    """The fields that a generated ``__init__`` knows: those of the class that it was written for."""
    found = vars(_owner_of(init, cls))["__dataclass_fields__"].values()
    return [f for f in found if f._field_type in (_FIELD, INIT_VAR)]


def _has_frozen_setattr(cls: Any) -> bool:
    """Whether the ``__setattr__`` of ``cls`` is that of ``dataclass(frozen=True)``, which its ``__init__`` avoids.

    Nobody can have written one in such a class; its text may be known from a class of the same fields.
    """
    owner = next(base for base in cls.__mro__ if "__setattr__" in vars(base))
    params = vars(owner).get("__dataclass_params__")
    return params is not None and params.frozen and vars(owner)["__setattr__"].__code__.co_filename.startswith("<")


def check_generated_init(cls: Any) -> None:
    """Refuses ``dataclasses.replace`` of an object whose class has more than the generated ``__init__`` do."""
    if not hasattr(cls, "__dataclass_fields__"):
        return
    special_method(cls, "__init__")
    if not _has_generated_init(cls) or any(
        is_interpreted(special_method(cls, n)) for n in ("__post_init__", "__new__")
    ):
        raise Uncapturable(f"dataclasses.replace, which may run code of class {cls.__qualname__}")
    check_fields(cls)


def _has_generated_init(cls: Any) -> bool:
    """Whether ``dataclass`` wrote the ``__init__`` of ``cls`` (as text that is known if it was defined under watch)."""
    owner = next(base for base in cls.__mro__ if "__init__" in vars(base))
    return "__dataclass_params__" in vars(owner) and owner.__dataclass_params__.init
