"""Which attributes of outside objects can be set where the program has ended, with nobody noticing that it was late.

What is set is kept beside the object (`World.overlay`) and written when the call succeeds. So nothing may be set that
its class would refuse then, change, or answer with more than a new value: the program would have seen it at once.
"""

from __future__ import annotations

import logging
import types
from typing import Any

from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..rules.facts import HEAP_TYPE, MISSING, lookup
from ..rules.policy import function_kind, module_kind

_TABLES = ("_params", "_cells")


def check_settable(obj: Any, name: str, value: Any) -> None:
    """Refuses to set ``obj.name``, or to delete it (``MISSING``), if that does more than to keep the value."""
    if (
        not isinstance(name, str)
        or _is_read_by_others(obj)
        or not (_is_settable_class(obj) if isinstance(obj, type) else _keeps(obj, name, value))
    ):
        raise Uncapturable(f"the attribute {name!r} of a {type(obj).__name__} object, which may not be set")


def _is_read_by_others(obj: Any) -> bool:
    """Whether code that is not interpreted may look for what is set, and find what was there: in ``sys`` and
    ``builtins``, in this package, in loggers and their handlers."""
    if isinstance(obj, types.ModuleType):
        return module_kind(raw_getattr(obj, "__name__")) != "user"
    if isinstance(obj, type):
        return module_kind(obj.__module__) != "user"
    return isinstance(obj, logging.Filterer | logging.Formatter | logging.Manager)


def _is_settable_class(cls: type) -> bool:
    return bool(cls.__flags__ & HEAP_TYPE)


def _keeps(obj: Any, name: str, value: Any) -> bool:
    cls = type(obj)
    found, hook = lookup(cls, name), lookup(cls, "__setattr__")
    if isinstance(found, property):
        return found.fset is not None and (not _is_ours(found.fset) or _is_what_ours_keeps(name, value))
    if isinstance(hook, types.FunctionType) and _is_ours(hook) and value is not MISSING:
        return _is_kept_by_a_cell(vars(obj), name, value)
    if found is not None and hasattr(type(found), "__set__"):
        return isinstance(found, types.MemberDescriptorType) or module_kind(cls.__module__) == "framework"
    return raw_hasattr(obj, "__dict__") and not isinstance(obj, types.MethodType)


def _is_ours(setter: Any) -> bool:
    return isinstance(setter, types.FunctionType) and function_kind(setter) == "framework"


def _is_what_ours_keeps(name: str, value: Any) -> bool:
    """Properties of this package check and convert; of these it is known what they take as it is."""
    return name == "requires_grad" and type(value) is bool


def _is_kept_by_a_cell(own: dict[str, Any], name: str, value: Any) -> bool:
    """Cells sort what they are given into tables, give parameters names, and refuse numbers in the place of cells."""
    if not isinstance(own.get("_cells"), dict) or isinstance(value, Parameter) or _is_cell(value):
        return False
    if isinstance(value, tuple) and any(isinstance(v, Parameter) for v in value):
        return False
    if any(name in own[table] for table in _TABLES):
        return False
    return name not in own["_buffers"] or value is None or isinstance(value, Tensor)


def _is_cell(value: Any) -> bool:
    own = raw_getattr(value, "__dict__")
    return isinstance(own, dict) and isinstance(own.get("_cells"), dict)
