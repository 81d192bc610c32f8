"""Reductions. The order of accumulation is NumPy's pairwise order on C-contiguous operands: a function of shape alone.

``axis`` is a normalised tuple; the empty tuple reduces nothing (that ``()`` means all axes is the public functions'
convention). ``reduce_sum`` is in ``movement.py``, running reductions are in ``cumulative.py``.
"""

from __future__ import annotations

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import definitely_le
from duograph.core.op import primitive
from duograph.core.shapes import numel, taken_at_most
from duograph.core.types import TensorType

from .arithmetic import adjoint, div, mul
from .cast import cast, single
from .compare import equal
from .creation import constant_like
from .cumulative import cumprod
from .movement import reduce_sum, reduction_shape, reshape, restore_axes, shift_axes, transpose
from .rules import batch_with, camel, in_float32, require_kind, tensor
from .select import select


@primitive
class reduce_prod:
    """Product over ``axis``. The gradient multiplies what is left and right of each element, so zeros are right."""

    batch = batch_with("reduce_prod", shift_axes)

    def infer(x, *, axis, keep_dims=False):
        x = tensor("reduce_prod", x)
        return TensorType(x.dtype, reduction_shape(x.shape, axis, keep_dims))

    def reference(x, *, axis, keep_dims):
        return _product(x, axis=axis, keep_dims=keep_dims)

    def bprop(ins, out, dout, *, axis, keep_dims):
        (x,) = ins
        if not axis:
            return (dout,)
        kept = tuple(i for i in range(len(x.shape)) if i not in axis)
        perm = (*kept, *axis)
        moved = transpose(x, perm=perm)
        rows = reshape(moved, shape=(*[x.shape[i] for i in kept], numel(x.shape[i] for i in axis)))
        last = len(kept)
        before = cumprod(rows, axis=last, exclusive=True, reverse=False)
        after = cumprod(rows, axis=last, exclusive=True, reverse=True)
        others = reshape(mul(before, after), shape=tuple(moved.shape))
        back = transpose(others, perm=tuple(int(i) for i in np.argsort(perm)))
        return (mul(restore_axes(x, dout, axis), adjoint(back)),)


@in_float32
def _product(x, *, axis, keep_dims):
    return np.prod(x, axis=axis, keepdims=keep_dims, dtype=x.dtype)


# ---- extremes -------------------------------------------------------------------------------------------------------


def _over_nothing(x, *, axis, **_):
    """Whether what is reduced may turn out to be empty."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    return any(definitely_le(1, x.shape[a]) is not True for a in axes if x.shape)


def _extreme_type(name):
    def infer(x, *, axis, keep_dims=False):
        x = require_kind(name, x, "bif")
        if not all(taken_at_most(1, x.shape[a]) for a in axis):
            raise ValueError(
                f"For '{camel(name)}', cannot reduce axis of size 0 in shape {tuple(x.shape)}: there is no identity."
            )
        return TensorType(x.dtype, reduction_shape(x.shape, axis, keep_dims))

    return infer


def _share_among_equals(ins, out, dout, *, axis, keep_dims):
    (x,) = ins
    hits = equal(x, restore_axes(x, out, axis))
    wide = single(dout)  # float16 has no counts from 65520 on
    count = reduce_sum(cast(hits, dtype=wide.dtype), axis=axis, keep_dims=keep_dims)
    share = cast(div(wide, count), dtype=dout.dtype) if wide is not dout else div(dout, count)
    return (select(hits, restore_axes(x, share, axis), constant_like(dout, 0)),)


@primitive
class reduce_max:
    """Maximum over ``axis``; NaN propagates. Equal maxima share the gradient evenly."""

    raises = _over_nothing
    batch = batch_with("reduce_max", shift_axes)
    infer = _extreme_type("reduce_max")
    reference = in_float32(lambda x, *, axis, keep_dims: np.max(x, axis=axis, keepdims=keep_dims))
    bprop = _share_among_equals


@primitive
class reduce_min:
    """Minimum over ``axis``; NaN propagates. Equal minima share the gradient evenly."""

    raises = _over_nothing
    batch = batch_with("reduce_min", shift_axes)
    infer = _extreme_type("reduce_min")
    reference = in_float32(lambda x, *, axis, keep_dims: np.min(x, axis=axis, keepdims=keep_dims))
    bprop = _share_among_equals


# ---- logic ----------------------------------------------------------------------------------------------------------


@primitive
class reduce_all:
    """Whether all of ``x`` (bool) over ``axis`` hold."""

    batch = batch_with("reduce_all", shift_axes)

    def infer(x, *, axis, keep_dims=False):
        x = require_kind("reduce_all", x, "b")
        return TensorType(x.dtype, reduction_shape(x.shape, axis, keep_dims))

    def reference(x, *, axis, keep_dims):
        return np.all(x, axis=axis, keepdims=keep_dims)


@primitive
class reduce_any:
    """Whether any of ``x`` (bool) over ``axis`` holds."""

    batch = batch_with("reduce_any", shift_axes)

    def infer(x, *, axis, keep_dims=False):
        x = require_kind("reduce_any", x, "b")
        return TensorType(x.dtype, reduction_shape(x.shape, axis, keep_dims))

    def reference(x, *, axis, keep_dims):
        return np.any(x, axis=axis, keepdims=keep_dims)


# ---- positions ------------------------------------------------------------------------------------------------------


def _position_type(name):
    def infer(x, *, axis, keep_dims=False, dtype=dt.int64):
        x = require_kind(name, x, "bif")
        shape = x.shape or (1,)
        if not taken_at_most(1, shape[axis]):
            raise ValueError(f"For '{camel(name)}', axis {axis} of shape {tuple(x.shape)} is empty.")
        return TensorType(dtype, reduction_shape(x.shape, (axis,), keep_dims) if x.shape else ())

    return infer


def _position(find):
    def reference(x, *, axis, keep_dims, dtype):
        return np.asarray(find(x, axis=axis if x.ndim else None, keepdims=keep_dims and x.ndim > 0)).astype(dtype.numpy)

    return in_float32(reference)


def _shift_axis(size, rank, axis, **rest):
    return {"axis": axis + 1, **rest}


@primitive
class argmax:
    """Index of the first maximum along ``axis`` (one int); the first NaN if there is one."""

    raises = _over_nothing
    infer = _position_type("argmax")
    reference = _position(np.argmax)
    batch = batch_with("argmax", _shift_axis)


@primitive
class argmin:
    """Index of the first minimum along ``axis`` (one int); the first NaN if there is one."""

    raises = _over_nothing
    infer = _position_type("argmin")
    reference = _position(np.argmin)
    batch = batch_with("argmin", _shift_axis)
