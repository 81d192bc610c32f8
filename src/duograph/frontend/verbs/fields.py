"""Dataclasses whose generated methods would run code of the user where nobody interprets it."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..rules.errors import Uncapturable
from ..rules.policy import is_interpreted
from ..rules.watch import watched
from .attributes import is_users_descriptor, special_method, user_method


def check_fields(cls: Any) -> None:
    """Refuses a generated ``__init__`` that sets its fields by methods of the user."""
    if is_interpreted(special_method(cls, "__setattr__")) and not _has_frozen_setattr(cls):
        raise Uncapturable(f"the generated __init__ of class {cls.__qualname__}, which calls its __setattr__")
    for field in dataclasses.fields(cls):
        found = watched(cls, field.name)
        if is_users_descriptor(found) or user_method(found, "__set__") is not None:
            raise Uncapturable(f"the generated __init__ of class {cls.__qualname__}, which sets {field.name!r}")


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
