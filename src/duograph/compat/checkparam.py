"""``mindspore._checkparam``: checks of arguments. ``Validator.check_int(...)`` and ``check_int(...)`` are the same."""

from __future__ import annotations

import functools
import inspect
import operator
import re
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from duograph.core.traits import Traits

from .functions import issubclass_

__capture__ = Traits(program=True)  # networks call them in construct

__all__ = [
    "EQ", "GE", "GT", "IN", "INC_BOTH", "INC_LEFT", "INC_NEITHER", "INC_RIGHT", "LE", "LT", "NE", "Rel",
    "Validator", "args_type_check", "check", "check_bool", "check_element_type_of_dict",
    "check_element_type_of_iterable", "check_equal_int", "check_file_name_by_regular", "check_float",
    "check_float_range", "check_input_format", "check_int", "check_int_range", "check_is_float", "check_is_int",
    "check_is_number", "check_isinstance", "check_negative_float", "check_negative_int", "check_non_negative_float",
    "check_non_negative_int", "check_non_negative_int_sequence", "check_non_positive_float",
    "check_non_positive_int", "check_number", "check_number_range", "check_pad_value_by_mode",
    "check_positive_float", "check_positive_float_sequence", "check_positive_int", "check_positive_int_sequence",
    "check_scalar_or_tensor_types_same", "check_str_by_regular", "check_string", "check_subclass",
    "check_tensor_dtype_valid", "check_tensors_dtypes_same_and_valid", "check_type_name",
    "check_types_same_and_valid", "check_valid_input", "check_value_type", "infer_out_shape", "once", "triple",
    "twice",
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


def _bound(kind: type, rel: Rel, said: str) -> Callable[..., Any]:
    """``check_positive_int`` and its like: a number of a kind that stands in a relation to 0."""

    def checked(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
        return check_number(arg_value, 0, rel, kind, arg_name, prim_name)

    checked.__name__ = checked.__qualname__ = f"check_{said}_{kind.__name__}"
    checked.__doc__ = f"A number of type ``{kind.__name__}`` that is ``{rel.value} 0``."
    return checked


check_positive_int, check_positive_float = _bound(int, GT, "positive"), _bound(float, GT, "positive")
check_negative_int, check_negative_float = _bound(int, LT, "negative"), _bound(float, LT, "negative")
check_non_negative_int, check_non_negative_float = _bound(int, GE, "non_negative"), _bound(float, GE, "non_negative")
check_non_positive_int, check_non_positive_float = _bound(int, LE, "non_positive"), _bound(float, LE, "non_positive")


def _sequence(check_one: Callable[..., Any]) -> Callable[..., Any]:
    """The same check for each element of a list or tuple."""

    def checked(sequence: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
        for place, element in enumerate(sequence):
            check_one(element, f"{arg_name or 'arg_name'}[{place}]", prim_name)
        return sequence

    checked.__name__ = checked.__qualname__ = f"{check_one.__name__}_sequence"
    checked.__doc__ = f"A list or tuple with elements as `{check_one.__name__}` demands."
    return checked


check_positive_int_sequence = _sequence(check_positive_int)
check_non_negative_int_sequence = _sequence(check_non_negative_int)
check_positive_float_sequence = _sequence(check_positive_float)


def check_equal_int(arg_value: Any, value: int, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """An int that equals ``value``."""
    return check_number(arg_value, value, EQ, int, arg_name, prim_name)


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


def _check_param_value(beta1: float, beta2: float, eps: float, prim_name: str) -> None:
    """Checks the decays of Adam, which lie between 0 and 1, and what is added to its denominator.

    Raises:
        TypeError: one is not a float.
        ValueError: one is out of range.
    """
    check_float_range(beta1, 0.0, 1.0, INC_NEITHER, "beta1", prim_name)
    check_float_range(beta2, 0.0, 1.0, INC_NEITHER, "beta2", prim_name)
    check_positive_float(eps, "eps", prim_name)


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


def check_valid_input(arg_name: str, arg_value: Any, prim_name: str | None) -> Any:
    """A value that is not ``None``."""
    if arg_value is None:
        raise ValueError(f"{_who(prim_name)} argument '{arg_name}' can not be None.")
    return arg_value


def check_input_format(input_param: Any) -> Any:
    """``"NCHW"``, the one data format.

    Raises:
        ValueError: another one.
    """
    if input_param != "NCHW":
        raise ValueError(f"The data format must be NCHW, but got {input_param}.")
    return input_param


def check_pad_value_by_mode(pad_mode: str, padding: Any, prim_name: str | None) -> Any:
    """A padding, which is 0 unless ``pad_mode`` is ``"pad"``."""
    if pad_mode != "pad" and padding != 0:
        raise ValueError(f"{_who(prim_name)} padding must be zero when pad_mode is '{pad_mode}', but got {padding}.")
    return padding


def check_str_by_regular(
    target: str, reg: str | None = None, flag: Any = re.ASCII, prim_name: str | None = None
) -> bool:
    """A text of letters, digits, points and underscores, or as the regular expression ``reg`` demands."""
    reg = r"^\w+[0-9a-zA-Z\_\.]*$" if reg is None else reg
    if re.match(reg, target, flag) is None:
        raise ValueError(f"{_who(prim_name)} '{target}' is illegal, it must match the regular expression '{reg}'.")
    return True


def check_file_name_by_regular(target: Any, reg: str | None = None, prim_name: str | None = None) -> bool:
    """The name of a file, no folder.

    Raises:
        TypeError: it is not a string.
        ValueError: it names a folder, or has other characters.
    """
    if not isinstance(target, str):
        raise TypeError(f"{_who(prim_name)} '{target}' must be string, but got {type(target)}.")
    if target.endswith(("\\", "/")):
        raise ValueError(f"{_who(prim_name)} '{target}' cannot be a directory path.")
    return check_str_by_regular(target, r"^[0-9a-zA-Z@\_\-\.\:\/\\]+$" if reg is None else reg, prim_name=prim_name)


def check_types_same_and_valid(args: dict[str, Any], valid_values: Any, prim_name: str | None) -> None:
    """Dtypes by name, which are the same, and of one of some kinds.

    Raises:
        TypeError: they differ, or are of none.
    """
    for name, found in args.items():
        check_subclass(name, found, valid_values, prim_name)
    (first, wanted), *others = args.items()
    for name, found in others:
        if found != wanted:
            raise TypeError(
                f"{_who(prim_name)} type of '{name}' should be same as '{first}', but got '{first}' with type {wanted} "
                f"and '{name}' with type {found}."
            )


check_tensors_dtypes_same_and_valid = check_scalar_or_tensor_types_same = check_types_same_and_valid
check_tensor_dtype_valid = check_subclass


def check_element_type_of_iterable(
    arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None
) -> None:
    """A list or tuple of values of some types."""
    check_value_type(arg_name, arg_value, [list, tuple], prim_name)
    for place, element in enumerate(arg_value):
        check_value_type(f"{arg_name}[{place}]", element, valid_types, prim_name)


def check_element_type_of_dict(
    arg_name: str, arg_value: Any, key_types: Any, value_types: Any, prim_name: str | None = None
) -> None:
    """A dict with keys and values of some types."""
    check_value_type(arg_name, arg_value, [dict], prim_name)
    check_element_type_of_iterable(f"{arg_name}.keys()", list(arg_value), key_types, prim_name)
    check_element_type_of_iterable(f"{arg_name}.values()", list(arg_value.values()), value_types, prim_name)


def infer_out_shape(*shapes: Any) -> tuple[int, ...]:
    """The shape to which some shapes are broadcast.

    Raises:
        ValueError: they do not fit.
    """
    return tuple(np.broadcast_shapes(*shapes))


def args_type_check(*types: Any, **types_by_name: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: arguments of calls are of the types that are given, or ``None``.

    Args:
        types: types, or tuples of them, of the first parameters.
        types_by_name: the same by name of the parameter.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        wanted = signature.bind_partial(*types, **types_by_name).arguments

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in wanted and value is not None and not isinstance(value, wanted[name]):
                    raise TypeError(f"The parameter '{name}' must be {wanted[name]}, but got {type(value)}.")
            return function(*args, **kwargs)

        return checked

    return decorate


def twice(x: Any) -> Any:
    """A number as two; a tuple as it is."""
    return (x, x) if isinstance(x, int) else x


def triple(x: Any) -> Any:
    """A number as three; a tuple as it is."""
    return (x, x, x) if isinstance(x, int) else x


def _check_3d_int_or_tuple(arg_name: str, arg_value: Any, prim_name: str) -> Any:
    """A positive number as three; a tuple of three such numbers as it is."""
    value = triple(arg_value)
    if not isinstance(value, tuple) or len(value) != 3 or not all(type(n) is int and n > 0 for n in value):
        raise ValueError(
            f"For '{prim_name}', the argument '{arg_name}' should be a positive int or a tuple of three, "
            f"but got {arg_value!r}."
        )
    return value


def once(x: Any) -> Any:
    """A number as a tuple of one; a tuple as it is."""
    return (x,) if isinstance(x, int) else x


Validator = sys.modules[__name__]
"""Older programs call the checks of a class."""
