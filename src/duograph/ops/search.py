"""Ops whose result size depends on values: ``nonzero``, ``masked_select``, ``unique``, ``bincount``; and histograms.

`infer` gives such a size as a fresh symbolic dimension.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import fresh_symbol
from duograph.core.op import primitive
from duograph.core.shapes import numel, taken_equal_shapes
from duograph.core.types import TensorType, TupleType

from .arithmetic import maximum, sub
from .cast import cast
from .creation import constant_like, full
from .cumulative import cumsum
from .indexing import gather
from .movement import reshape
from .rules import in_float32, is_half, require_kind, require_shape, tensor
from .select import select
from .slices import concat


def _count(prefix: str, limit: Any) -> Any:
    return fresh_symbol(prefix, 0, limit if isinstance(limit, int) else None)


@primitive
class nonzero:
    """The coordinates of the elements that are not zero, one row each, in row-major order."""

    data_dependent = True

    def infer(x):
        x = tensor("nonzero", x)
        return TensorType(dt.int64, (_count("nz", numel(x.shape)), len(x.shape)))

    def reference(x):
        return np.stack(np.nonzero(x), axis=1) if x.ndim else np.zeros((int(bool(x)), 0), np.int64)


def _rank_of_hits(mask: Any) -> Any:
    """For every place of ``mask`` the number of hits before it (row-major), as int64."""
    flat = reshape(mask, shape=(numel(mask.shape),))
    counted = cumsum(cast(flat, dtype=dt.int64), axis=0)
    before = maximum(sub(counted, constant_like(counted, 1)), constant_like(counted, 0))
    return reshape(before, shape=tuple(mask.shape))


def _pick_by_rank(mask: Any, source: Any) -> Any:
    """The elements of 1-d ``source`` laid out one after the other on the hits of ``mask``; 0 elsewhere."""
    zero = full(shape=(1,), value=0, dtype=source.dtype)  # so that there is an element 0 even if nothing was hit
    found = gather(concat(source, zero, axis=0), _rank_of_hits(mask), axis=0)
    return select(mask, found, constant_like(source, 0))


@primitive
class masked_select:
    """The elements of ``x`` where ``mask`` (bool, of the same shape) holds, in row-major order."""

    data_dependent = True

    def infer(x, mask):
        x = tensor("masked_select", x)
        mask = require_kind("masked_select", mask, "b", "mask")
        if not taken_equal_shapes(x.shape, mask.shape):
            raise ValueError(f"masked_select: shapes {tuple(x.shape)} and {tuple(mask.shape)} must be equal.")
        return TensorType(x.dtype, (_count("hits", numel(x.shape)),))

    def size_from(x, mask):
        return (mask,)

    def reference(x, mask):
        return x[mask].reshape(-1)

    def bprop(ins, out, dout):
        return (_pick_by_rank(ins[1], dout), None)


def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    """``x`` with the places where ``mask`` holds taken from ``source``, in row-major order."""
    flat = reshape(source, shape=(numel(source.shape),))
    return select(mask, _pick_by_rank(mask, flat), x)


@primitive
class unique:
    """The different elements of ``x``; for each element of ``x`` which one it is; how often each occurs.

    In order of first appearance, or ``ordered``: ascending.
    """

    data_dependent = True

    def infer(x, *, ordered=False, index_dtype=dt.int64):
        x = require_kind("unique", x, "bif")
        size = _count("uniq", numel(x.shape))
        kinds = TensorType(index_dtype, x.shape), TensorType(index_dtype, (size,))
        return TupleType((TensorType(x.dtype, (size,)), *kinds))

    @in_float32
    def reference(x, *, ordered, index_dtype):
        values, first, inverse, counts = np.unique(
            x.reshape(-1), return_index=True, return_inverse=True, return_counts=True
        )
        if not ordered:
            order = np.argsort(first, kind="stable")
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            values, inverse, counts = values[order], place[inverse], counts[order]
        return values, inverse.reshape(x.shape).astype(index_dtype.numpy), counts.astype(index_dtype.numpy)


@primitive
class unique_consecutive:
    """Runs of equal elements along ``axis`` made one: the elements, the run of each position, and the lengths."""

    data_dependent = True

    def infer(x, *, axis, index_dtype=dt.int64):
        x = tensor("unique_consecutive", x)
        size = _count("runs", x.shape[axis])
        values = x.with_shape((*x.shape[:axis], size, *x.shape[axis + 1 :]))
        return TupleType((values, TensorType(index_dtype, (x.shape[axis],)), TensorType(index_dtype, (size,))))

    def reference(x, *, axis, index_dtype):
        rows = np.moveaxis(x, axis, 0)
        starts = np.ones(len(rows), bool)
        starts[1:] = (rows[1:] != rows[:-1]).any(axis=tuple(range(1, x.ndim)))
        where = np.flatnonzero(starts)
        run = np.cumsum(starts) - 1
        lengths = np.diff(np.append(where, len(rows)))
        values = np.ascontiguousarray(np.moveaxis(rows[where], 0, axis))
        return values, run.astype(index_dtype.numpy), lengths.astype(index_dtype.numpy)


@primitive
class bincount:
    """How often each of 0, 1, ... occurs in ``x`` (no negative integers), or the sums of ``weights`` there."""

    raises = True
    data_dependent = True

    def infer(x, *weights, minlength=0):
        x = require_kind("bincount", x, "i")
        if len(x.shape) != 1:
            raise ValueError(f"For 'bincount', the input must be 1-D, but got shape {tuple(x.shape)}.")
        for t in weights:
            require_shape("bincount", t, x.shape, "weights")
        if minlength < 0:
            raise ValueError(f"For 'bincount', 'minlength' must be >= 0, but got {minlength}.")
        return TensorType(weights[0].dtype if weights else dt.int64, (fresh_symbol("bins", minlength),))

    def reference(x, *weights, minlength):
        if (x < 0).any():
            raise ValueError("For 'bincount', all elements of the input must be non-negative.")
        if x.size and int(x.max()) >= 1 << 57:  # NumPy adds 1 without a look, and destroys the heap
            raise MemoryError(f"For 'bincount', there is no memory for {int(x.max()) + 1} counts.")
        counts = np.bincount(x, weights[0].astype(np.float64) if weights else None, minlength)
        return counts.astype(weights[0].dtype if weights else np.int64)


@primitive
class histogram:
    """How many elements of ``x`` fall into each of ``bins`` equal intervals of [low, high]; both 0: range of ``x``."""

    raises = True

    def infer(x, *, bins, low=0.0, high=0.0):
        x = require_kind("histogram", x, "if")
        if bins <= 0 or low > high:
            raise ValueError(
                f"For 'histc', bins must be positive and min at most max, but got {bins}, {low} and {high}."
            )
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ValueError(f"For 'histc', min and max must be finite, but got {low} and {high}.")
        return x.with_shape((bins,))

    def reference(x, *, bins, low, high):
        data = x.reshape(-1).astype(np.float64 if is_half(x) or x.dtype.kind != "f" else x.dtype)
        if low == high and data.size:
            low, high = (float(data.min()), float(data.max())) if low == 0 else (low, high)
        if low == high:
            low, high = low - 1.0, high + 1.0
        return np.histogram(data, bins, (low, high))[0].astype(x.dtype)


__all__ = [
    "bincount", "histogram", "masked_scatter", "masked_select", "nonzero", "unique", "unique_consecutive",
]  # fmt: skip
