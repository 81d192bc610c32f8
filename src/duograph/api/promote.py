"""Operands as users give them: tensors of different dtypes, Python and NumPy numbers, run-time scalars, lists.

Primitives take tensors of one dtype. The functions here bring operands there by MindSpore's promotion
(``core.dtype.promote_types``, ``promote_scalar``): a number is weak and becomes a 0-d constant of the tensor's dtype.
Nothing here looks at a value of a tensor, so all of it works under capture.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dtype import DType
from duograph.core.errors import user_error
from duograph.core.op import state, value_key
from duograph.ops.arithmetic import maximum, minimum
from duograph.ops.cast import cast
from duograph.ops.compare import less
from duograph.ops.creation import constant_of, stored
from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.scalar import Scalar, fitted, limits_of, scalar_binary, scalar_unary
from duograph.ops.slices import stack
from duograph.tensor.nested import stacked
from duograph.tensor.tensor import Tensor, array_from, wrap

Number = bool | int | float | complex
NUMBERS = (bool, int, float, complex)
MOST_SHOWN = 4
"""Items of a list in a message."""


def to_dtype(x: Tensor, dtype: DType) -> Tensor:
    """``x`` in ``dtype``; ``x`` itself if it has it already."""
    return x if x.dtype is dtype else cast(x, dtype=dtype)


def constant(value: Any, dtype: DType) -> Tensor:
    """A 0-d tensor of ``dtype`` holding a Python number or a run-time `Scalar`; integers wrap around."""
    if isinstance(value, Scalar):
        return value.to_tensor(dtype)
    return constant_of(fitted(value, dtype), dtype)


def python_number(value: Any) -> Any:
    """NumPy scalars as the Python numbers that MindSpore takes them for; anything else as it is."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return value.item()
    return value.number if isinstance(value, NumpyScalar) else value


def is_number(value: Any) -> bool:
    """Whether ``value`` is a Python or NumPy number, or a run-time `Scalar`."""
    if isinstance(value, (*NUMBERS, Scalar, NumpyScalar)):
        return True
    return isinstance(value, np.generic) and value.dtype.kind in "biufc"


def is_one(number: Any, x: Any) -> bool:
    """Whether ``number``, which multiplies ``x``, is 1, so that the product is ``x``. One that only the run knows
    multiplies what has the same bits and the same dtype then."""
    if isinstance(number, Scalar) and isinstance(x, Tensor):
        if x.dtype.is_floating or (x.dtype.is_integer and number.kind == "int"):
            return False
    return is_number(number) and bool(number == 1)


def python_type(value: Any) -> type:
    """The class of a number, or of what a run-time number stands for."""
    if isinstance(value, NumpyScalar):
        return value.numpy_type
    return value.type.python_type if isinstance(value, Scalar) else type(value)


def refusal(op: str, *operands: Any) -> TypeError:
    """MindSpore's error for operands that an operator does not take."""
    names = ("input", "other") if len(operands) == 2 else tuple(f"input{i + 1}" for i in range(len(operands)))
    shown = ", ".join(f"{name}={describe(x)}" for name, x in zip(names, operands, strict=True))
    message = f'Failed calling {op} with "{op}()({shown})".{way_out(*operands)}'
    return user_error(TypeError, "DG0404", message, f"{op}({shown})")


def way_out(*values: Any) -> str:
    """What makes a tensor of a value that is none."""
    inside = [item for x in values if isinstance(x, list | tuple) for item in x]
    if any(isinstance(x, np.ndarray) for x in (*values, *inside)):
        return " mindspore.Tensor(x) makes a Tensor of a numpy.ndarray."
    return " mindspore.Tensor(x) makes a Tensor of a list." if any(isinstance(x, list) for x in values) else ""


def describe(x: Any) -> str:
    """An argument as MindSpore's overload errors show it."""
    if isinstance(x, Tensor):
        return "Tensor"
    if isinstance(x, str):
        return "string"
    if x is None:
        return "None"
    if isinstance(x, Scalar):
        return x.kind
    if isinstance(x, NumpyScalar):
        return x.numpy_type.__name__
    if isinstance(x, Number):
        return type(x).__name__
    if isinstance(x, DType):
        return str(x)
    if isinstance(x, list | tuple):
        shown = [describe(item) for item in x[:MOST_SHOWN]] + ["..."] * (len(x) > MOST_SHOWN)
        return f"{type(x).__name__}<{', '.join(shown)}>"
    return str(type(x))


def as_tensor(x: Any, dtype: DType | None = None, op: str = "as_tensor") -> Tensor:
    """``x`` (tensor, number, list, tuple, ndarray) as a tensor, of ``dtype`` if given.

    Returns:
        Tensor.

    Raises:
        TypeError: it is something else.

    Examples:
        >>> print(ops.scalar_to_array(3))
        3
    """
    if isinstance(x, Tensor):
        return x if dtype is None else to_dtype(x, dtype)
    x = python_number(x)
    if is_number(x):
        return constant(x, dtype or dt.dtype_of(python_type(x)(0)))
    if isinstance(x, np.ndarray):
        return wrap(array_from(x, dtype))
    if isinstance(x, list | tuple | range):
        return from_sequence(x, dtype, op)
    raise TypeError(f"For '{op}', the input must be a Tensor, number, list or tuple, but got {describe(x)}.")


def from_sequence(x: Any, dtype: DType | None = None, op: str = "stack") -> Tensor:
    """A nested list or tuple as a tensor; tensors and run-time scalars inside it stay in the graph."""
    if not _holds(x, Tensor):
        return stacked(list(x), dtype) if _holds(x, Scalar) else wrap(array_from(list(x), dtype))

    parts = [as_tensor(item, None, op) for item in x]
    common = dtype or promoted_dtype(*parts)
    return stack(*[to_dtype(p, common) for p in parts], axis=0)


def _holds(x: Any, kind: type) -> bool:
    return any(_holds(i, kind) if isinstance(i, list | tuple) else isinstance(i, kind) for i in x)


def promoted_dtype(*operands: Any) -> DType:
    """The dtype of an elementwise operation on tensors and numbers; numbers alone count as tensors of their own."""
    dtype: DType | None = None
    for x in operands:
        if isinstance(x, Tensor):
            dtype = x.dtype if dtype is None else dt.promote_types(dtype, x.dtype)
    for x in operands:
        if not isinstance(x, Tensor):
            kind = python_type(python_number(x))
            dtype = dt.dtype_of(kind(0)) if dtype is None else dt.promote_scalar(dtype, kind)
    assert dtype is not None
    return dtype


def promote(x: Any, y: Any, op: str, dtype: DType | None = None) -> tuple[Tensor, Tensor]:
    """Both operands as tensors of one dtype.

    Args:
        x, y: tensors, numbers, lists or tuples.
        op: name for the message.
        dtype: the common dtype if it is known already.

    Raises:
        TypeError: an operand is none of these.
    """
    if type(x) is type(y) and isinstance(x, Tensor) and dtype is None and x.dtype is y.dtype:
        return x, y
    x, y = operand(x, op, x, y), operand(y, op, x, y)
    common = dtype or promoted_dtype(x, y)
    return operand_of(x, common), operand_of(y, common)


def promote_for_order(x: Any, y: Any, op: str) -> tuple[Tensor, Tensor]:
    """As `promote`, for comparisons: an int that the dtype of the tensor does not have is beyond all its elements."""
    if type(x) is type(y) and isinstance(x, Tensor) and x.dtype is y.dtype:
        return x, y
    x, y = operand(x, op, x, y), operand(y, op, x, y)
    common = promoted_dtype(x, y)
    if common.is_integer and not isinstance(x, Tensor):
        y, x = _in_order(operand_of(y, common), x)
        return x, y
    return _in_order(operand_of(x, common), y) if common.is_integer else (operand_of(x, common), operand_of(y, common))


def _in_order(x: Tensor, number: Any) -> tuple[Tensor, Tensor]:
    """``x`` and a tensor or number in one dtype, ordered as they are: an end of the dtype is kept free if need be."""
    dtype = x.dtype
    if isinstance(number, Tensor) or python_type(number) is bool:
        return x, operand_of(number, dtype)
    if not isinstance(number, Scalar):
        low, high = limits_of(dtype)
        if number < low:
            return maximum(x, operand_of(low + 1, dtype)), operand_of(low, dtype)
        if number > high:
            return minimum(x, operand_of(high - 1, dtype)), operand_of(high, dtype)
        return x, operand_of(number, dtype)
    if dtype not in (dt.int64, dt.uint64):
        low, high = limits_of(dtype)
        return to_dtype(x, dt.int64), operand_of(_limited(number, low - 1, high + 1), dt.int64)
    wide = operand_of(_checked_int64(number), dt.int64)
    if dtype is dt.int64:
        return x, wide
    zero = operand_of(0, dt.int64)
    return maximum(x, to_dtype(less(wide, zero), dtype)), to_dtype(maximum(wide, zero), dtype)


def _limited(number: Scalar, low: int, high: int) -> Any:
    """A run-time int, or the nearest of these: it may be one of Python's, of any size."""
    return scalar_binary(scalar_binary(number, low, fn="max"), high, fn="min")


def _checked_int64(number: Scalar) -> Any:
    """A run-time int that has 64 bits; calls with larger ones are answered by plain Python."""
    return scalar_unary(number, fn="int64")


def promote_within(x: Any, y: Any, op: str) -> tuple[Tensor, Tensor]:
    """As `promote`, for limits: an int that the dtype of the tensor does not have counts as the nearest that it has."""
    if isinstance(x, Tensor) and not isinstance(y, Tensor) and x.dtype.is_integer:
        return promote(x, _nearest(python_number(y), x.dtype), op)
    if isinstance(y, Tensor) and not isinstance(x, Tensor) and y.dtype.is_integer:
        return promote(_nearest(python_number(x), y.dtype), y, op)
    return promote(x, y, op)


def _nearest(number: Any, dtype: DType) -> Any:
    low, high = limits_of(dtype)
    if isinstance(number, int):
        return min(max(number, low), high)
    if not isinstance(number, Scalar) or number.kind != "int":
        return number
    if dtype not in (dt.int64, dt.uint64):
        return _limited(number, low, high)
    number = _checked_int64(number)
    return number if dtype is dt.int64 else scalar_binary(number, 0, fn="max")


_constants: dict[Any, Tensor] = {}


def operand_of(x: Any, dtype: DType) -> Tensor:
    """A checked operand in ``dtype``. Constants are kept in dynamic mode: `x + 1` in a loop makes one array, and as an
    operand it is never handed to the user, who could write to it."""
    if isinstance(x, Tensor):
        return x if x.dtype is dtype else cast(x, dtype=dtype)
    if state.binder is not None or isinstance(x, Scalar):
        return constant(x, dtype)
    key = (value_key(x), dtype.index)
    found = _constants.get(key)
    if found is None:
        if len(_constants) > 1024:
            _constants.clear()
        found = _constants[key] = wrap(stored(fitted(x, dtype), dtype))  # a number for each call: no op for it
    return found


def kept_constants() -> list[Tensor]:
    """The tensors that `operand_of` keeps."""
    return list(_constants.values())


def promote_all(*operands_: Any, op: str = "op") -> tuple[Tensor, ...]:
    """Any number of operands as tensors of one dtype."""
    checked = [operand(x, op, *operands_) for x in operands_]
    common = promoted_dtype(*checked)
    return tuple(as_tensor(x, common) for x in checked)


def operand(x: Any, op: str, *everything: Any) -> Any:
    """``x`` checked: a Tensor, a Python number or Scalar; lists and tuples become tensors.

    Raises:
        TypeError: it is something else (ndarrays too, as in MindSpore).
    """
    if isinstance(x, Tensor):
        return x
    x = python_number(x)
    if is_number(x):
        return x
    if isinstance(x, list | tuple) and x:
        return from_sequence(x)
    raise refusal(op, *everything)


def promote_floats(x: Any, y: Any, op: str) -> tuple[Tensor, Tensor]:
    """As `promote`, in the dtype of the quotient: an int beyond the dtype of the tensor is what it is."""
    x, y = operand(x, op, x, y), operand(y, op, x, y)
    common = promoted_dtype(x, y)
    if common.is_integer:
        x, y = (n if isinstance(n, Tensor) else _wide(n) for n in (x, y))
    else:
        x, y = operand_of(x, common), operand_of(y, common)
    return promote_float(x), promote_float(y)


def _wide(number: Any) -> Tensor:
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        return operand_of(float(number), dt.float32)
    return operand_of(_checked_int64(number) if isinstance(number, Scalar) else number, dt.int64)


def promote_float(x: Any) -> Tensor:
    """``x`` as a floating (or complex) tensor: bool and integers become float32.

    Raises:
        TypeError: it is neither a tensor nor a number.
    """
    if isinstance(x, np.ndarray | list | tuple | range):
        raise TypeError(f"The input argument must be Tensor, but got {describe(x)}.")
    x = as_tensor(x)
    return to_dtype(x, dt.true_divide_dtype(x.dtype))
