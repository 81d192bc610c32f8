"""Running reductions along one axis: ``cumsum``, ``cumprod``, ``cummax``, ``cummin``, and the linear recurrence.

``exclusive`` leaves the element itself out, ``reverse`` runs from the end, as MindSpore's ``CumSum`` and ``CumProd``.
"""

from __future__ import annotations

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import primitive
from duograph.core.types import TensorType, TupleType

from .arithmetic import adjoint, mul
from .compare import equal
from .creation import constant_like, iota, zeros_like
from .indexing import scatter_elements
from .movement import flip, reshape, roll
from .rules import batch_with, in_float32, require_kind, same_dtype, tensor
from .select import select
from .slices import all_batched


def _shift_axis(size, rank, axis, **rest):
    return {"axis": axis + 1, **rest}


def _running(accumulate, start):
    """Reference of a running reduction; ``start`` is what an exclusive one begins with."""

    @in_float32
    def reference(x, *, axis, exclusive, reverse):
        if x.ndim == 0:
            return np.full_like(x, start) if exclusive else x.copy()
        y = np.flip(x, axis) if reverse else x
        y = np.moveaxis(y, axis, 0)
        out = np.empty(y.shape, x.dtype)
        if exclusive:
            out[:1] = start
            accumulate(y[:-1], axis=0, dtype=x.dtype, out=out[1:])
        else:
            accumulate(y, axis=0, dtype=x.dtype, out=out)
        out = np.moveaxis(out, 0, axis)
        return np.ascontiguousarray(np.flip(out, axis) if reverse else out)

    return reference


@primitive
class cumsum:
    """Running sum along ``axis``."""

    batch = batch_with("cumsum", _shift_axis)
    reference = _running(np.add.accumulate, 0)

    def infer(x, *, axis, exclusive=False, reverse=False):
        return require_kind("cumsum", x, "ifc")

    def bprop(ins, out, dout, *, axis, exclusive, reverse):
        return (cumsum(dout, axis=axis, exclusive=exclusive, reverse=not reverse),)


@primitive
class cumprod:
    """Running product along ``axis``. The gradient needs no division, so zeros are right."""

    batch = batch_with("cumprod", _shift_axis)
    reference = _running(np.multiply.accumulate, 1)

    def infer(x, *, axis, exclusive=False, reverse=False):
        return require_kind("cumprod", x, "ifc")

    def bprop(ins, out, dout, *, axis, exclusive, reverse):
        x = adjoint(ins[0])
        if not x.shape:
            return (zeros_like(dout) if exclusive else dout,)
        before = cumprod(x, axis=axis, exclusive=True, reverse=reverse)
        if exclusive:
            after = advance(linear_scan(x, dout, axis=axis, reverse=not reverse), axis, reverse)
        else:
            after = linear_scan(advance(x, axis, reverse), dout, axis=axis, reverse=not reverse)
        return (mul(before, after),)


def advance(x, axis, reverse, end=None):
    """Each element replaced by the one that comes next in running order; ``end``, or zero, at the end."""
    n = x.shape[axis]
    left = iota(shape=(n,), axis=0, dtype=dt.int64)  # how many come after it, if it is flipped
    if not reverse:
        left = flip(left, axes=(0,))
    edge = equal(left, constant_like(left, 0))
    column = tuple(n if i == axis else 1 for i in range(len(x.shape)))
    shifted = roll(x, shifts=(1 if reverse else -1,), axes=(axis,))
    return select(reshape(edge, shape=column), constant_like(x, 0) if end is None else end, shifted)


@primitive
class linear_scan:
    """The recurrence ``s[i] = a[i] * s[i-1] + b[i]`` along ``axis`` (from the end if ``reverse``), from zero."""

    def infer(a, b, *, axis, reverse=False):
        same_dtype("linear_scan", a, b)
        if tuple(a.shape) != tuple(b.shape):
            raise ValueError(f"linear_scan: operands must have one shape, got {tuple(a.shape)} and {tuple(b.shape)}.")
        return tensor("linear_scan", a)

    @in_float32
    def reference(a, b, *, axis, reverse):
        a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
        out = np.empty(b.shape, b.dtype)
        order = range(len(b) - 1, -1, -1) if reverse else range(len(b))
        total = np.zeros(b.shape[1:], b.dtype)
        for i in order:
            total = a[i] * total + b[i]
            out[i] = total
        return np.ascontiguousarray(np.moveaxis(out, 0, axis))

    def bprop(ins, out, dout, *, axis, reverse):
        a, _ = ins
        carried = linear_scan(advance(adjoint(a), axis, reverse), dout, axis=axis, reverse=not reverse)
        previous = advance(adjoint(out), axis, not reverse)
        return (lambda: mul(carried, previous), carried)

    def batch(in_axes, operands, *, axis, reverse):
        return linear_scan(*all_batched(in_axes, operands), axis=axis + 1, reverse=reverse), 0


def _with_positions(accumulate):
    @in_float32
    def reference(x, *, axis):
        if x.ndim == 0:
            return x.copy(), np.zeros((), np.int64)
        values = accumulate(x, axis=axis)
        column = [1] * x.ndim
        column[axis] = x.shape[axis]
        positions = np.arange(x.shape[axis]).reshape(column)
        hits = (x == values) | np.isnan(x) if x.dtype.kind not in "biu" else x == values
        return values, np.maximum.accumulate(np.where(hits, positions, 0), axis=axis)

    return reference


def _position_types(name):
    def infer(x, *, axis):
        x = require_kind(name, x, "bif")
        return TupleType((x, TensorType(dt.int64, x.shape)))

    return infer


def _to_positions(ins, out, dout, *, axis):
    return (scatter_elements(zeros_like(ins[0]), out[1], dout[0], axis=axis, reduction="add"),)


@primitive
class cummax:
    """Running maximum along ``axis`` and the index it came from (the last of equals); NaN stays."""

    batch = batch_with("cummax", _shift_axis)
    infer = _position_types("cummax")
    reference = _with_positions(np.maximum.accumulate)
    bprop = _to_positions


@primitive
class cummin:
    """Running minimum along ``axis`` and the index it came from (the last of equals); NaN stays."""

    batch = batch_with("cummin", _shift_axis)
    infer = _position_types("cummin")
    reference = _with_positions(np.minimum.accumulate)
    bprop = _to_positions
