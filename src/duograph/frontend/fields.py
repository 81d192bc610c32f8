"""Dataclasses whose generated methods would run code of the user where nobody interprets it."""

from __future__ import annotations

import dataclasses
from typing import Any

from .attributes import is_users_descriptor, special_method, user_method, watched
from .errors import Uncapturable
from .policy import is_interpreted


def check_fields(cls: Any) -> None:
    """Refuses a generated ``__init__`` that sets its fields by methods of the user."""
    if is_interpreted(special_method(cls, "__setattr__")):
        raise Uncapturable(f"the generated __init__ of class {cls.__qualname__}, which calls its __setattr__")
    for field in dataclasses.fields(cls):
        found = watched(cls, field.name)
        if is_users_descriptor(found) or user_method(found, "__set__") is not None:
            raise Uncapturable(f"the generated __init__ of class {cls.__qualname__}, which sets {field.name!r}")


def check_generated_init(cls: Any) -> None:
    """Refuses ``dataclasses.replace`` of an object whose class has more than the generated ``__init__`` do."""
    if not hasattr(cls, "__dataclass_fields__"):
        return
    if any(is_interpreted(special_method(cls, name)) for name in ("__init__", "__post_init__", "__new__")):
        raise Uncapturable(f"dataclasses.replace, which may run code of class {cls.__qualname__}")
    check_fields(cls)
