"""Ordering: ``sort``, ``argsort``, ``topk``, ``searchsorted``. Ties keep their order; NaN is the largest number."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import primitive
from duograph.core.shapes import existing_axis, numel, taken_at_most
from duograph.core.types import TensorType, TupleType

from .creation import zeros_like
from .indexing import scatter_elements
from .movement import reshape
from .rules import batch_with, in_float32, require_kind, same_dtype
from .slices import all_batched, slice_axis


def _order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """The stable order of ``x`` along ``axis`` as indices."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Equal elements keep their order: sort the flipped array, then flip back.
    flipped = np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    return x.shape[axis] - 1 - flipped


def _sorted(x, *, axis, descending, index_dtype):
    if x.ndim == 0:
        return x.copy(), np.zeros((), index_dtype.numpy)
    order = _order(x, axis, descending)
    return np.take_along_axis(x, order, axis), order.astype(index_dtype.numpy)


def _shift(size, rank, axis, **rest):
    return {"axis": axis + 1, **rest}


def _to_origin(x, indices, dvalues, axis):
    return scatter_elements(zeros_like(x), indices, dvalues, axis=axis, reduction="add")


@primitive
class sort:
    """``x`` in order along ``axis``, and where each element came from."""

    batch = batch_with("sort", _shift)
    reference = in_float32(_sorted)

    def infer(x, *, axis, descending=False, index_dtype=dt.int32):
        x = require_kind("sort", x, "bif")
        return TupleType((x, TensorType(index_dtype, x.shape)))

    def bprop(ins, out, dout, *, axis, descending, index_dtype):
        return (_to_origin(ins[0], out[1], dout[0], axis),)


def argsort(x: Any, axis: int, descending: bool = False, index_dtype: dt.DType = dt.int32) -> Any:
    """The indices that put ``x`` in order along ``axis``."""
    return sort(x, axis=axis, descending=descending, index_dtype=index_dtype)[1]


@primitive
class topk:
    """The ``k`` largest (or smallest) elements along ``axis`` in order, and their indices."""

    batch = batch_with("topk", _shift)

    def infer(x, *, k, axis, largest=True, index_dtype=dt.int32):
        x = require_kind("topk", x, "bif")
        if x.ndim == 0:
            if not 0 <= k <= 1:
                raise ValueError(f"For 'TopK', 'k' must be in [0, 1] for a scalar, but got {k}.")
            return TupleType((x, TensorType(index_dtype, ())))
        if not taken_at_most(0, k) or not taken_at_most(k, x.shape[axis]):
            raise ValueError(f"For 'TopK', 'k' must be in the range [0, {x.shape[axis]}], but got {k}.")
        shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
        return TupleType((x.with_shape(shape), TensorType(index_dtype, shape)))

    @in_float32
    def reference(x, *, k, axis, largest, index_dtype):
        values, indices = _sorted(x, axis=axis, descending=largest, index_dtype=index_dtype)
        if x.ndim == 0:
            return values, indices
        first = (*[slice(None)] * axis, slice(k))
        return np.ascontiguousarray(values[first]), np.ascontiguousarray(indices[first])

    def bprop(ins, out, dout, *, k, axis, largest, index_dtype):
        return (_to_origin(ins[0], out[1], dout[0], axis),)


@primitive
class searchsorted:
    """Where ``values`` would go in ``boundaries``, sorted along the last axis: one row for all, or one per row.

    Equal elements: before them, or behind with ``right``.
    """

    def infer(boundaries, values, *, right=False, dtype=dt.int64):
        same_dtype("searchsorted", boundaries, values)
        require_kind("searchsorted", boundaries, "bif", "sorted_sequence")
        existing_axis(-1, len(boundaries.shape), "SearchSorted")
        one_row = len(boundaries.shape) == 1
        if not one_row and tuple(boundaries.shape[:-1]) != tuple(values.shape[:-1]):
            raise ValueError(
                f"For 'SearchSorted', the shapes of 'sorted_sequence' and 'values' must agree except in the last axis, "
                f"but got {tuple(boundaries.shape)} and {tuple(values.shape)}."
            )
        return TensorType(dtype, values.shape)

    @in_float32
    def reference(boundaries, values, *, right, dtype):
        side: Literal["left", "right"] = "right" if right else "left"
        if boundaries.ndim == 1:
            return np.searchsorted(boundaries, values, side).astype(dtype.numpy)
        rows = boundaries.reshape(-1, boundaries.shape[-1])
        wanted = values.reshape(len(rows), values.shape[-1])
        out = [np.searchsorted(row, v, side) for row, v in zip(rows, wanted, strict=True)]
        return np.array(out, dtype.numpy).reshape(values.shape)

    def batch(in_axes, operands, *, right, dtype):
        boundaries, values = operands
        if in_axes[0] is None and len(boundaries.shape) == 1:
            return searchsorted(boundaries, values, right=right, dtype=dtype), 0
        boundaries, values = all_batched(in_axes, operands)
        rows = values
        if len(boundaries.shape) == 2:
            rows = reshape(values, shape=(values.shape[0], numel(values.shape[1:])))
        found = searchsorted(boundaries, rows, right=right, dtype=dtype)
        return reshape(found, shape=tuple(values.shape)), 0


def kth(x: Any, k: int, axis: int) -> tuple[Any, Any]:
    """The element at place ``k`` of ``x`` in order along ``axis`` (kept with size 1), and its index."""
    values, indices = sort(x, axis=axis, descending=False, index_dtype=dt.int64)
    return slice_axis(values, axis, k, k + 1), slice_axis(indices, axis, k, k + 1)
