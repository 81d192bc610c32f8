"""Tensors from nothing: ``full``, ``arange``, ``linspace``, ``eye``, ``iota``, and what is built on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import Dim, UnknownSizeError
from duograph.core.dtype import DType
from duograph.core.op import NOT_DIFFERENTIABLE, primitive, state
from duograph.core.shapes import numel
from duograph.core.types import TensorType
from duograph.tensor.tensor import wrap

from .rules import require_kind
from .scalar import Scalar


def stored(value: Any, dtype: DType) -> np.ndarray:
    """A number as a 0-d array of ``dtype``, as every mode stores it; floats become integers as `astype` does it.

    Raises:
        OverflowError: an integer that the dtype does not have.
        TypeError: a complex number for a real dtype, or a text.
    """
    if isinstance(value, str | bytes) or (isinstance(value, complex) and not dtype.is_complex):
        raise TypeError(f"For 'Full', {value!r} is not a number of {dtype}.")
    return filled((), value, dtype.numpy)


def filled(shape: tuple[int, ...], value: Any, dtype: np.dtype) -> np.ndarray:
    """An array of ``shape`` with every element ``value``, as every mode stores it."""
    if dtype is dt.bfloat16.numpy and type(value) is int and not -(1 << 63) <= value < 1 << 63:
        value = float(value)  # as NumPy does for its own dtypes
    with np.errstate(all="ignore"):
        return np.full(shape, value, dtype)


@primitive
class full:
    """A tensor of ``shape`` and ``dtype`` with every element ``value`` (a Python number, or a size)."""

    layout = "any"

    def infer(*, shape, value, dtype):
        if any(isinstance(n, int) and n < 0 for n in shape):
            raise ValueError(f"For 'Full', the shape cannot have negative sizes, but got {shape}.")
        if not isinstance(value, Dim):
            stored(value, dtype)
        elif dtype.is_integer and dtype.itemsize < 8:
            raise UnknownSizeError(f"whether the size {value} is a number of {dtype} is only known at run time")
        return TensorType(dtype, shape)

    def reference(*, shape, value, dtype):
        return filled(shape, value, dtype.numpy)  # `infer` has refused what is not a number of the dtype


@primitive
class arange:
    """``size`` numbers ``start + i * step``; each element is computed directly, so that errors do not add up."""

    layout = "any"

    def infer(*, start, step, size, dtype):
        return TensorType(dtype, (size,))

    def reference(*, start, step, size, dtype):
        if dtype.is_integer:
            start, step = (np.uint64(int(n) % (1 << 64)).astype(np.int64) for n in (start, step))  # wraps around
            return (np.arange(size, dtype=np.int64) * step + start).astype(dtype.numpy)
        return (np.arange(size, dtype=np.float64) * step + start).astype(dtype.numpy)


@primitive
class linspace:
    """``steps`` evenly spaced numbers from ``start`` to ``stop``, both included (Python numbers)."""

    layout = "any"

    def infer(*, start, stop, steps, dtype):
        if isinstance(steps, int) and steps <= 0:
            raise ValueError(f"For primitive[LinSpace], the num must be greater than 0, but got {steps}.")
        return TensorType(dtype, (steps,))

    def reference(*, start, stop, steps, dtype):
        return np.linspace(start, stop, steps).astype(dtype.numpy)


@primitive
class eye:
    """Ones on the diagonal of an ``n`` by ``m`` matrix, zeros elsewhere."""

    layout = "any"

    def infer(*, n, m, dtype):
        if any(isinstance(k, int) and k < 0 for k in (n, m)):
            raise ValueError(f"For 'Eye', 'n' and 'm' must not be negative, but got {n} and {m}.")
        return TensorType(dtype, (n, m))

    def reference(*, n, m, dtype):
        return np.eye(n, m, dtype=dtype.numpy)


@primitive
class iota:
    """The index along ``axis`` of every element of ``shape``; ``axis=None``: the position in row-major order."""

    layout = "any"

    def infer(*, shape, axis, dtype):
        return TensorType(dtype, shape)

    def reference(*, shape, axis, dtype):
        if axis is None:
            return np.arange(numel(shape), dtype=dtype.numpy).reshape(shape)
        column = [1] * len(shape)
        column[axis] = shape[axis]
        return np.ascontiguousarray(np.broadcast_to(np.arange(shape[axis], dtype=dtype.numpy).reshape(column), shape))


@primitive
class one_hot:
    """A new last axis of ``depth`` that is 1 at the index and 0 elsewhere; indices outside give zeros."""

    bprop = NOT_DIFFERENTIABLE

    def infer(indices, *, depth, dtype):
        indices = require_kind("one_hot", indices, "bi", "indices")
        return TensorType(dtype, (*indices.shape, depth))

    def reference(indices, *, depth, dtype):
        return (indices[..., None] == np.arange(depth)).astype(dtype.numpy)

    def batch(in_axes, operands, *, depth, dtype):
        return one_hot(operands[0], depth=depth, dtype=dtype), 0


def zeros_like(x: Any) -> Any:
    """Zeros of the shape and dtype of ``x``; no gradient flows through it."""
    return full(shape=tuple(x.shape), value=0, dtype=x.dtype)


def ones_like(x: Any) -> Any:
    """Ones of the shape and dtype of ``x``; no gradient flows through it."""
    return full(shape=tuple(x.shape), value=1, dtype=x.dtype)


def constant_like(x: Any, value: Any) -> Any:
    """A 0-d constant of the dtype of ``x``; broadcasts in elementwise ops."""
    return constant_of(value, x.dtype)


_SMALL = 1 << 24  # whole numbers below are numbers of every floating dtype here


def constant_of(value: Any, dtype: DType) -> Any:
    """A 0-d constant: what `full` gives. In dynamic mode a number that is another one at each call costs no more than
    the same one: no op is looked up, or lowered, for it. A number that only the run knows has a floating dtype."""
    kind = type(value)
    if kind is Scalar and dtype.is_floating:
        return value.to_tensor(dtype)
    if state.binder is not None or not (kind is float or (kind is int and -_SMALL < value < _SMALL)):
        return full(shape=(), value=value, dtype=dtype)
    if (dtype is dt.float32 and -_LARGE < value < _LARGE) or dtype is dt.float64:
        made = wrap(np.array(value, dtype.numpy))
    else:
        try:
            made = wrap(stored(value, dtype))
        except (OverflowError, TypeError):
            return full(shape=(), value=value, dtype=dtype)  # which raises, as users see it
    for tape in state.tapes:
        tape.record(full, (), {"shape": (), "value": value, "dtype": dtype}, made)
    return made


_LARGE = 3.4e38  # numbers beyond may overflow, about which NumPy warns
