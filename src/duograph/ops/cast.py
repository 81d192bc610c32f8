"""Changes of dtype, and identities that mean something: an alias, and the end of a gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import UnknownSizeError
from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.types import TensorType

from .elementwise import elementwise_batch
from .rules import require_dtype, tensor


@primitive
class cast:
    """``x`` in ``dtype``.

    Floats become integers by truncation. NaN, infinities and values outside the range give what x86-64 gives (and
    MindSpore on CPU): types up to 32 bits go through int32 and uint32 and int64 through int64, where everything
    outside the range is the smallest value; narrower types keep the low bits. Complex numbers lose the imaginary part.
    """

    layout = "any"
    batch = elementwise_batch("cast")

    def infer(x, *, dtype):
        return tensor("cast", x).with_dtype(require_dtype("cast", dtype))

    def reference(x, *, dtype):
        return convert(x, dtype.numpy)

    def bprop(ins, out, dout, *, dtype):
        # straight through integers and bools, too: MindSpore's rule
        return (cast(dout, dtype=ins[0].dtype),)


_HALF = (dt.float16, dt.bfloat16)


def single(x: Any) -> Any:
    """``x``, half types in float32."""
    return cast(x, dtype=dt.float32) if getattr(x, "dtype", None) in _HALF else x


def in_single(composite: Callable[..., Any]) -> Callable[..., Any]:
    """``composite`` with tensors of half types computed in float32, and its results rounded once at the end.

    What `rules.in_float32` is to a reference: sums and squares of half types overflow, and lose what they add up.
    """

    @functools.wraps(composite)
    def wrapped(x: Any, *args: Any, **named: Any) -> Any:
        if x.dtype not in _HALF:
            return composite(x, *args, **named)
        out = composite(single(x), *map(single, args), **{name: single(value) for name, value in named.items()})
        return tuple(cast(o, dtype=x.dtype) for o in out) if isinstance(out, tuple) else cast(out, dtype=x.dtype)

    return wrapped


def convert(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`cast` on arrays."""
    if x.dtype == dtype:
        return x.copy()
    target = dt.from_numpy(dtype)
    if x.dtype.kind == "c" and not target.is_complex and not target.is_bool:
        x = x.real
    if dt.from_numpy(x.dtype).is_floating and target.is_integer:
        return _truncate(x.astype(np.float64), dtype)
    return x.astype(dtype)


def _truncate(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if dtype == np.uint64:
        big = x >= 2.0**63
        low = _to_signed(np.where(big, x - 2.0**63, x), np.int64).astype(np.uint64)
        return np.where(big, low ^ np.uint64(1 << 63), low)
    through = np.int64 if dtype.itemsize == 8 or dtype == np.uint32 else np.int32
    return _to_signed(x, through).astype(dtype)


def _to_signed(x: np.ndarray, dtype: type) -> np.ndarray:
    info = np.iinfo(dtype)
    limit = float(1 << (info.bits - 1))
    whole = np.trunc(x)
    valid = (whole >= -limit) & (whole < limit)  # false for NaN
    return np.where(valid, np.where(valid, whole, 0.0).astype(dtype), info.min)


@primitive
class identity:
    """``x`` itself, as another handle on the same storage."""

    view = True
    layout = "any"
    batch = elementwise_batch("identity")

    def infer(x):
        return tensor("identity", x)

    def reference(x):
        return x[...]

    def strides(shape, strides):
        return strides

    def bprop(ins, out, dout):
        return (dout,)

    def write_view(base, value):
        return value


@primitive
class assigned:
    """``value``, for a Parameter that held ``before``.

    A Parameter stays the variable that gradients are taken of, whatever is assigned to it: uses of its new value count
    for the Parameter (``before``), and nothing flows into ``value``.
    """

    batch = elementwise_batch("assigned")

    def infer(value, before):
        return tensor("assigned", value)

    def reference(value, before):
        return value.copy()

    def bprop(ins, out, dout):
        return (None, dout)


@primitive
class stop_gradient:
    """``x`` as a value that gradients do not flow through; shares storage with ``x``."""

    view = True
    layout = "any"
    bprop = NOT_DIFFERENTIABLE
    batch = elementwise_batch("stop_gradient")

    def infer(x):
        return tensor("stop_gradient", x)

    def reference(x):
        return x[...]

    def strides(shape, strides):
        return strides

    def write_view(base, value):
        return value


@primitive
class relabel:
    """``x`` itself, a tensor or a stack, with dimensions described by other symbols (a loop carry whose size changes, a
    result that the graph it goes to calls otherwise)."""

    layout = "any"

    def infer(x, *, type):
        return type

    def reference(x, *, type):
        return x

    def bprop(ins, out, dout, *, type):
        if not isinstance(type, TensorType):  # residuals of a derivative: nothing is said of their gradients
            raise UnknownSizeError("a derivative of higher order, where a stack's sizes have other names")
        return (relabel(dout, type=TensorType(type.dtype, tuple(ins[0].shape))),)
