"""Nested sequences with tensors and run-time numbers in them as one tensor, while a graph is being built.

What `array_from` does with values is done here with ops, to the bit: NumPy finds one dtype for all elements, in which
a Python float has 64 bits and an int is an int64, and the array is converted once from there. Gradients end here, as
they do where the values of tensors are read.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.lookup import raw_hasattr
from duograph.core import dtype as dt
from duograph.core.op import get_op

if TYPE_CHECKING:
    from .tensor import Tensor

_OF_NUMBERS = {"bool": dt.bool_, "int": dt.int64, "float": dt.float64}


def has_symbols(data: Any) -> bool:
    """Whether there is a tensor or a run-time number in nested sequences."""
    if isinstance(data, list | tuple):
        return any(has_symbols(x) for x in data)
    return hasattr(data, "to_tensor") or hasattr(data, "is_symbolic")


def number_tensor(number: Any, dtype: Any = None) -> Tensor:
    """A run-time number as ``Tensor(number, dtype)`` has it."""
    own = getattr(number, "dtype", None)  # of a number of NumPy's: an int64 does not hold all of uint64
    wide = own or _OF_NUMBERS[number.kind]
    want = dtype or own or (dt.float32 if number.kind == "float" else wide)
    if number.kind == "int" and own is None:
        number = get_op("scalar_unary")(number, fn="int64")
    is_exact = number.kind == "bool" or ((number.kind == "int") is want.is_integer and not want.is_bool)
    if is_exact:  # `scalar_tensor` wraps integers, and rounds a float once
        return number.to_tensor(want)
    return get_op("cast")(number.to_tensor(wide), dtype=want)


def stacked(data: Any, dtype: Any = None) -> Tensor:
    """A nested sequence as ``Tensor(data, dtype)`` has it.

    Raises:
        SymbolicValueError: NumPy refuses the sequence, and says how, or makes more of it than an array of numbers.
    """
    flat: list[Any] = []
    outer = _shape(data, flat)
    found = [_dtype_of(x) for x in flat]
    wide = _common(found)
    parts = [_part(x, wide) for x in flat]
    inner = tuple(parts[0].shape)
    if any(tuple(p.shape) != inner for p in parts):
        raise _unknown("a sequence of tensors of several shapes")
    reshape = get_op("reshape")
    rows = [reshape(p, shape=(1, *inner)) for p in parts]
    whole = reshape(get_op("concat")(*rows, axis=0), shape=(*outer, *inner))
    if dtype is not None and dtype.is_integer and wide.is_floating and all(d.kind in "iu" for d in found):
        raise _unknown("integers of which no dtype holds all")
    want = dtype or (dt.float32 if wide.numpy.kind == "f" else dt.int64 if wide.numpy.kind == "i" else wide)
    return whole if want is wide else get_op("cast")(whole, dtype=want)  # type: ignore[no-any-return]


def _shape(data: Any, flat: list[Any]) -> tuple[int, ...]:
    """The lengths of the nested lists; what is in them is appended to ``flat``."""
    if not isinstance(data, list | tuple):
        flat.append(data)
        return ()
    shapes = {_shape(x, flat) for x in data}
    if len(shapes) != 1:
        raise _unknown("a ragged sequence, or an empty one")
    return (len(data), *shapes.pop())


def _dtype_of(value: Any) -> np.dtype[Any]:
    if raw_hasattr(value, "to_tensor"):
        own = getattr(value, "dtype", None)
        return own.numpy if own is not None else _OF_NUMBERS[value.kind].numpy
    if isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
        return np.asarray(value).dtype
    if raw_hasattr(value, "is_symbolic"):
        return value.dtype.numpy  # type: ignore[no-any-return]
    raise _unknown(f"a sequence with an element of class {type(value).__name__}")


def _common(found: list[np.dtype[Any]]) -> Any:
    try:
        return dt.as_dtype(functools.reduce(np.promote_types, found))
    except TypeError as error:
        raise _unknown("a sequence of elements without a common dtype") from error


def _unknown(what: str) -> Exception:
    from .tensor import SymbolicValueError

    return SymbolicValueError(f"what NumPy makes of {what}, with values that are only known at run time")


def _part(value: Any, wide: Any) -> Tensor:
    from .tensor import wrap

    if raw_hasattr(value, "to_tensor"):
        value = number_tensor(value, getattr(value, "dtype", None) or _OF_NUMBERS[value.kind])
    elif raw_hasattr(value, "is_symbolic"):
        value = get_op("stop_gradient")(value)
    else:
        return wrap(np.array(value, wide.numpy))
    return value if value.dtype is wide else get_op("cast")(value, dtype=wide)  # type: ignore[no-any-return]
