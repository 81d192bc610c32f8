"""``mindspore._checkparam``: checks of arguments. ``Validator.check_int(...)`` and ``check_int(...)`` are the same."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any

from .functions import issubclass_

__all__ = [
    "EQ", "GE", "GT", "IN", "INC_BOTH", "INC_LEFT", "INC_NEITHER", "INC_RIGHT", "LE", "LT", "NE", "Rel", "Validator",
    "check", "check_bool", "check_float", "check_float_range", "check_int", "check_int_range", "check_is_float",
    "check_is_int", "check_is_number", "check_isinstance", "check_non_negative_float", "check_non_negative_int",
    "check_number", "check_number_range", "check_positive_float", "check_positive_int", "check_string",
    "check_subclass", "check_type_name", "check_value_type", "once", "twice",
]  # fmt: skip


class Rel(Enum):
    """A relation between two values, or of a value to a range."""

    EQ, NE, LT, LE, GT, GE = "==", "!=", "<", "<=", ">", ">="
    INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = "(..)", "[..)", "(..]", "[..]"
    IN, NOT_IN = "in", "not in"


EQ, NE, LT, LE, GT, GE = Rel.EQ, Rel.NE, Rel.LT, Rel.LE, Rel.GT, Rel.GE
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = Rel.INC_NEITHER, Rel.INC_LEFT, Rel.INC_RIGHT, Rel.INC_BOTH
IN = Rel.IN

_HOLDS: dict[Rel, Callable[[Any, Any], bool]] = {
    Rel.EQ: operator.eq, Rel.NE: operator.ne, Rel.LT: operator.lt, Rel.LE: operator.le, Rel.GT: operator.gt,
    Rel.GE: operator.ge, Rel.IN: lambda x, y: x in y, Rel.NOT_IN: lambda x, y: x not in y,
}  # fmt: skip


def _who(prim_name: str | None) -> str:
    return f"For '{prim_name}', the" if prim_name else "The"


def check(arg_name: str, arg_value: Any, value_name: str, value: Any, rel: Rel = EQ, prim_name: str | None = None,
          excp_cls: type[Exception] = ValueError) -> Any:  # fmt: skip
    """``arg_value``, if it stands in the relation ``rel`` to ``value``.

    Raises:
        ValueError: it does not (or ``excp_cls``).
    """
    if not _HOLDS[rel](arg_value, value):
        raise excp_cls(
            f"{_who(prim_name)} '{arg_name}' should be {rel.value} {value_name}: {value}, but got {arg_value}."
        )
    return arg_value


def _number(value: Any, kinds: tuple[type, ...], arg_name: str | None, prim_name: str | None) -> Any:
    if isinstance(value, bool) or not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(
            f"{_who(prim_name)} '{arg_name}' must be {names}, but got '{value}' with type '{type(value).__name__}'."
        )
    return value


def check_number(arg_value: Any, value: Any, rel: Rel, arg_type: type = int, arg_name: str | None = None,
                 prim_name: str | None = None) -> Any:  # fmt: skip
    """A number of a type that stands in a relation to ``value``."""
    _number(arg_value, (arg_type,), arg_name, prim_name)
    if not _HOLDS[rel](arg_value, value):
        raise ValueError(
            f"{_who(prim_name)} '{arg_name}' must be {arg_type.__name__} and must {rel.value} {value}, "
            f"but got '{arg_value}' with type '{type(arg_value).__name__}'."
        )
    return arg_value


def check_is_number(arg_value: Any, arg_type: type, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """A number of a type."""
    return _number(arg_value, (arg_type,), arg_name, prim_name)


def check_number_range(arg_value: Any, lower_limit: Any, upper_limit: Any, rel: Rel, value_type: Any,
                       arg_name: str | None = None, prim_name: str | None = None) -> Any:  # fmt: skip
    """A number of a type (or of several) in a range that includes its ends as ``rel`` says."""
    _number(arg_value, value_type if isinstance(value_type, tuple) else (value_type,), arg_name, prim_name)
    low = arg_value >= lower_limit if rel in (INC_LEFT, INC_BOTH) else arg_value > lower_limit
    high = arg_value <= upper_limit if rel in (INC_RIGHT, INC_BOTH) else arg_value < upper_limit
    if not (low and high):
        ends = rel.value.replace("..", f"{lower_limit}, {upper_limit}")
        raise ValueError(f"{_who(prim_name)} '{arg_name}' must be in range of {ends}, but got {arg_value}.")
    return arg_value


def check_int(arg_value: Any, value: Any, rel: Rel, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """An int that stands in a relation to ``value``."""
    return check_number(arg_value, value, rel, int, arg_name, prim_name)


def check_float(arg_value: Any, value: Any, rel: Rel, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """A float that stands in a relation to ``value``."""
    return check_number(arg_value, value, rel, float, arg_name, prim_name)


def check_is_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """An int."""
    return _number(arg_value, (int,), arg_name, prim_name)


def check_is_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """A float."""
    return _number(arg_value, (float,), arg_name, prim_name)


def check_positive_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """An int above 0."""
    return check_number(arg_value, 0, GT, int, arg_name, prim_name)


def check_non_negative_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """An int of at least 0."""
    return check_number(arg_value, 0, GE, int, arg_name, prim_name)


def check_positive_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """A float above 0."""
    return check_number(arg_value, 0, GT, float, arg_name, prim_name)


def check_non_negative_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """A float of at least 0."""
    return check_number(arg_value, 0, GE, float, arg_name, prim_name)


def check_int_range(arg_value: Any, lower_limit: Any, upper_limit: Any, rel: Rel, arg_name: str | None = None,
                    prim_name: str | None = None) -> Any:  # fmt: skip
    """An int in a range."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(arg_value: Any, lower_limit: Any, upper_limit: Any, rel: Rel, arg_name: str | None = None,
                      prim_name: str | None = None) -> Any:  # fmt: skip
    """A float in a range."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check_bool(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """A bool."""
    if not isinstance(arg_value, bool):
        raise TypeError(f"{_who(prim_name)} '{arg_name}' must be a bool, but got {type(arg_value).__name__}.")
    return arg_value


def check_string(arg_value: Any, valid_values: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """One of some texts."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        raise ValueError(
            f"{_who(prim_name)} '{arg_name}' must be str and must be in '{valid_values}', but got '{arg_value}'."
        )
    return arg_value


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None) -> Any:
    """A value of one of some types; a bool is none of ints."""
    kinds = tuple(valid_types) if isinstance(valid_types, list | tuple) else (valid_types,)
    if not isinstance(arg_value, kinds) or (isinstance(arg_value, bool) and bool not in kinds):
        names = [getattr(kind, "__name__", str(kind)) for kind in kinds]
        raise TypeError(
            f"{_who(prim_name)} type of '{arg_name}' must be one of '{names}', but got type "
            f"'{type(arg_value).__name__}'."
        )
    return arg_value


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """An object of a class."""
    return check_value_type(arg_name, arg_value, classes)


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: str | None) -> Any:
    """One of some dtypes."""
    kinds = list(valid_types) if isinstance(valid_types, list | tuple | set | frozenset) else [valid_types]
    if arg_type not in kinds:
        raise TypeError(f"{_who(prim_name)} '{arg_name}' should be one of {kinds}, but got {arg_type}.")
    return arg_type


def check_subclass(arg_name: str, type_: Any, template_types: Any, prim_name: str | None = None) -> Any:
    """A dtype of one of some kinds."""
    kinds = template_types if isinstance(template_types, list | tuple) else (template_types,)
    if not any(issubclass_(type_, kind) for kind in kinds):
        raise TypeError(f"{_who(prim_name)} type of '{arg_name}' should be one of {kinds}, but got {type_}.")
    return type_


def twice(x: Any) -> Any:
    """A number as two; a tuple as it is."""
    return (x, x) if isinstance(x, int) else x


def once(x: Any) -> Any:
    """A number as a tuple of one; a tuple as it is."""
    return (x,) if isinstance(x, int) else x


Validator = sys.modules[__name__]
"""Older programs call the checks of a class."""
