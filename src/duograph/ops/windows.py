"""Overlapping windows along one axis, as an op and its adjoint: the core of ``unfold`` and ``fold``."""

from __future__ import annotations

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import taken_at_most

from .movement import in_shape_of
from .rules import batch_with, in_float32, require_shape, tensor


def _shift(batch, rank, /, axis, **rest):
    return {"axis": axis + 1, **rest}


def _window_index(count, size, step, dilation):
    return np.arange(count)[:, None] * step + np.arange(size)[None, :] * dilation


@primitive
class sliding_window:
    """Windows of ``size`` elements ``dilation`` apart, one every ``step``: ``axis`` becomes the number of windows, and
    the elements of each are a new last axis."""

    layout = "any"
    batch = batch_with("sliding_window", _shift)

    def infer(x, *, axis, size, step=1, dilation=1):
        x = tensor("sliding_window", x)
        extent, span = x.shape[axis], dilation * (size - 1) + 1
        if size < 1 or step < 1 or dilation < 1:
            raise ValueError(
                f"unfold: size, step and dilation must be positive, but got {size}, {step} and {dilation}."
            )
        if not taken_at_most(span, extent):
            raise ValueError(
                f"unfold: a window of {span} elements does not fit into axis {axis} of shape {tuple(x.shape)}."
            )
        return x.with_shape((*x.shape[:axis], (extent - span) // step + 1, *x.shape[axis + 1 :], size))

    def reference(x, *, axis, size, step, dilation):
        count = (x.shape[axis] - dilation * (size - 1) - 1) // step + 1
        picked = np.take(x, _window_index(count, size, step, dilation), axis)
        return np.ascontiguousarray(np.moveaxis(picked, axis + 1, -1))

    def bprop(ins, out, dout, *, axis, size, step, dilation):
        (x,) = ins
        return (sliding_window_sum(dout, axis=axis, extent=x.shape[axis], size=size, step=step, dilation=dilation),)


@primitive
class sliding_window_sum:
    """Adds windows back to where `sliding_window` took them from; ``axis`` gets ``extent`` elements."""

    raises = True
    layout = "any"
    batch = batch_with("sliding_window_sum", _shift)

    def infer(x, *, axis, extent, size, step=1, dilation=1):
        x = tensor("sliding_window_sum", x)
        if size < 1 or step < 1 or dilation < 1:
            raise ValueError(f"fold: size, step and dilation must be positive, but got {size}, {step} and {dilation}.")
        count = (extent - dilation * (size - 1) - 1) // step + 1
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 : -1], size)
        require_shape("sliding_window_sum", x, shape, "windows")
        return x.with_shape((*x.shape[:axis], extent, *x.shape[axis + 1 : -1]))

    @in_float32
    def reference(x, *, axis, extent, size, step, dilation):
        moved = np.moveaxis(x, (axis, -1), (0, 1))
        total = np.zeros((extent, *moved.shape[2:]), x.dtype)
        for k in range(size):  # within one k no two windows meet, so the order of additions is k, k + 1, ...
            total[k * dilation : k * dilation + (len(moved) - 1) * step + 1 : step] += moved[:, k]
        return np.ascontiguousarray(np.moveaxis(total, 0, axis))

    def bprop(ins, out, dout, *, axis, extent, size, step, dilation):
        windows = sliding_window(dout, axis=axis, size=size, step=step, dilation=dilation)
        return (in_shape_of(windows, ins[0]),)
