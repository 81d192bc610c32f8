"""``object.__getattribute__``, by which a class with a ``__getattribute__`` of its own reads attributes."""

from __future__ import annotations

from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.tensor.tensor import Tensor

from ..rules.facts import MISSING
from ..rules.readers import reader_of


def object_getattr(calls: Any, obj: Any, name: str) -> Any:
    """``object.__getattribute__(obj, name)``: no ``__getattribute__`` or ``__getattr__`` of the class is asked."""
    if isinstance(obj, type | Tensor) or reader_of(type(obj)) is None:
        return calls.call_native(object.__getattribute__, (obj, name), {})
    session = calls.session
    if name == "__dict__":
        calls.semantics.check_namespace(obj, name)
    elif raw_getattr(obj, name, MISSING) is MISSING and ("attr", id(obj), name) not in calls.world.overlay:
        session.guards.add(session.source_of(obj), "no own attribute", name)
        return object.__getattribute__(obj, name)  # raises
    return calls.semantics.found_attr(obj, name)
