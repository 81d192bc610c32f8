"""Reading and writing elements by integer tensors: the gathers, and the scatters that are their gradients.

Negative indices count from the end; indices outside raise. Updates to one place are combined in the row-major order of
``updates``. The gradient through ``max`` and ``min`` is shared evenly among equals; through ``none`` every update of a
place gets it (repeated indices are then undefined, as in MindSpore). Indexing with brackets is in
``advanced_indexing.py``, segments in ``segments.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.dtype import int64
from duograph.core.op import primitive
from duograph.core.shapes import numel, taken_at_most, taken_equal, taken_equal_shapes

from .advanced_indexing import advanced_put, check_range
from .arithmetic import add, div, mul
from .cast import cast
from .compare import equal, less
from .creation import constant_like, full, iota, zeros_like
from .movement import move_axis, reduce_sum, reshape, transpose
from .rules import batch_with, in_float32, require_kind, same_dtype, tensor
from .select import select
from .slices import all_batched, concat


def _assign(out, index, updates):
    out[index] = updates


_COMBINE: dict[str, Any] = {
    "none": _assign, "add": np.add.at, "mul": np.multiply.at, "max": np.maximum.at, "min": np.minimum.at,
}  # fmt: skip


@in_float32
def combined(x, updates, *, index, reduction):
    """``x`` with ``updates`` at the NumPy ``index``, combined with what is there."""
    out = np.array(x, order="C")
    _COMBINE[reduction](out, index, updates)
    return out


def _check_reduction(op: str, reduction: str) -> None:
    if reduction not in _COMBINE:
        raise ValueError(f"For '{op}', the reduction must be one of {sorted(_COMBINE)}, but got {reduction!r}.")


def _scatter_gradients(x, updates, out, dout, reduction, read, write):
    """Gradients of ``x`` and ``updates``; ``read(t)`` picks the places of ``t``, ``write(t, u, how)`` scatters."""
    if reduction == "add":
        return dout, lambda: read(dout)
    if reduction == "none":
        return lambda: write(dout, zeros_like(updates), "none"), lambda: read(dout)
    if reduction == "mul":
        return (
            lambda: mul(dout, write(full(shape=tuple(x.shape), value=1, dtype=x.dtype), updates, "mul")),
            lambda: div(read(mul(dout, out)), updates),
        )
    kept, hits = equal(x, out), equal(updates, read(out))
    count = write(cast(kept, dtype=x.dtype), cast(hits, dtype=x.dtype), "add")
    share = div(dout, count)
    zero = constant_like(x, 0)
    return lambda: select(kept, share, zero), lambda: select(hits, read(share), zero)


# ---- slices along one axis ------------------------------------------------------------------------------------------


@primitive
class gather:
    """The slices of ``x`` along ``axis`` at ``indices``; the axis is replaced by the axes of ``indices``."""

    raises = True
    layout = "any"

    def infer(x, indices, *, axis):
        x = tensor("gather", x)
        indices = require_kind("gather", indices, "i", "input_indices")
        return x.with_shape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))

    def reference(x, indices, *, axis):
        text = "For 'Gather', the 'input_indices' should be in the range [0, {size}), but got {index}"
        check_range(indices, x.shape[axis], text)
        return np.take(x, indices, axis)

    def bprop(ins, out, dout, *, axis):
        x, indices = ins
        rows = reshape(dout, shape=(*x.shape[:axis], numel(indices.shape), *x.shape[axis + 1 :]))
        return (index_add(zeros_like(x), reshape(indices, shape=(numel(indices.shape),)), rows, axis=axis), None)

    def batch(in_axes, operands, *, axis):
        x, indices = operands
        if in_axes[1] is None:
            return gather(x, indices, axis=axis + 1), 0
        if in_axes[0] is None:
            return move_axis(gather(x, indices, axis=axis), axis, 0), 0
        size, n = x.shape[0], x.shape[axis + 1]
        rest = tuple(d for i, d in enumerate(x.shape[1:]) if i != axis)
        rows = reshape(move_axis(x, axis + 1, 1), shape=(size * n, *rest))
        wrapped = wrap_indices(indices, n)
        steps = (size, *(1,) * (len(indices.shape) - 1))
        offset = mul(iota(shape=steps, axis=0, dtype=indices.dtype), constant_like(indices, n))
        found = gather(rows, add(wrapped, offset), axis=0)
        k = len(indices.shape)
        kept = range(k, k + len(rest))
        return transpose(found, perm=(0, *kept[:axis], *range(1, k), *kept[axis:])), 0


def wrap_indices(indices: Any, size: Any) -> Any:
    """``indices`` with negative ones counted from the end."""
    shifted = add(indices, full(shape=(), value=size, dtype=indices.dtype))
    return select(less(indices, constant_like(indices, 0)), shifted, indices)


@primitive
class index_add:
    """``x`` with slice ``i`` of ``value`` added to slice ``indices[i]`` along ``axis``."""

    raises = True
    layout = "any"

    def infer(x, indices, value, *, axis):
        same_dtype("index_add", x, value)
        indices = require_kind("index_add", indices, "i", "indices")
        if len(indices.shape) != 1:
            raise ValueError(f"For 'IndexAdd', the rank of 'indices' must be 1, but got {len(indices.shape)}.")
        expected = (*x.shape[:axis], indices.shape[0], *x.shape[axis + 1 :])
        if not taken_equal_shapes(value.shape, expected):
            raise ValueError(f"For 'IndexAdd', the shape of 'y' must be {expected}, but got {tuple(value.shape)}.")
        return x

    def reference(x, indices, value, *, axis):
        check_range(indices, x.shape[axis], "For 'IndexAdd', 'indices' must be in [0, {size}), but got {index}")
        return combined(x, value, index=(*[slice(None)] * axis, indices), reduction="add")

    def bprop(ins, out, dout, *, axis):
        return (dout, None, lambda: gather(dout, ins[1], axis=axis))

    def batch(in_axes, operands, *, axis):
        (x_axis, indices_axis, value_axis), (x, indices, value) = in_axes, operands
        spec = (*[(None, None, None)] * axis, "index")
        return advanced_put.batch((x_axis, value_axis, indices_axis), (x, value, indices), spec=spec, reduction="add")


@primitive
class repeat_interleave:
    """Every element along ``axis`` repeated: ``repeats`` times, or ``repeats[i]`` times for a tuple."""

    layout = "any"
    batch = batch_with("repeat_interleave", lambda size, rank, repeats, axis: {"repeats": repeats, "axis": axis + 1})

    def infer(x, *, repeats, axis):
        x = tensor("repeat_interleave", x)
        if isinstance(repeats, tuple) and not taken_equal(len(repeats), x.shape[axis]):
            raise ValueError(
                f"For 'repeat_interleave', axis {axis} of shape {x.shape} needs one each, got {len(repeats)} repeats."
            )
        if min(repeats, default=0) < 0 if isinstance(repeats, tuple) else not taken_at_most(0, repeats):
            raise ValueError(f"For 'repeat_interleave', repeats must not be negative, but got {repeats}.")
        size = sum(repeats) if isinstance(repeats, tuple) else x.shape[axis] * repeats
        return x.with_shape((*x.shape[:axis], size, *x.shape[axis + 1 :]))

    def reference(x, *, repeats, axis):
        return np.repeat(x, repeats, axis)

    def bprop(ins, out, dout, *, repeats, axis):
        (x,) = ins
        if not isinstance(repeats, tuple):
            split = (*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :])
            return (reduce_sum(reshape(dout, shape=split), axis=(axis + 1,)),)
        source = repeat_interleave(iota(shape=(x.shape[axis],), axis=0, dtype=int64), repeats=repeats, axis=0)
        return (index_add(zeros_like(x), source, dout, axis=axis),)


# ---- one index per element ------------------------------------------------------------------------------------------


def along_axis(indices: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """The NumPy index that picks position ``indices`` along ``axis`` and its own position along the others."""
    grid: list[np.ndarray] = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    grid[axis] = indices
    return tuple(grid)


@primitive
class gather_elements:
    """``out[i][j] = x[indices[i][j]][j]`` for ``axis`` 0: one index per result element.

    ``labels_of``: the loss whose class labels the indices are, for the message about one that is out of range.
    """

    raises = True
    layout = "any"

    def infer(x, indices, *, axis, labels_of=""):
        x = tensor("gather_elements", x)
        indices = require_kind("gather_elements", indices, "i", "index")
        if len(indices.shape) != x.ndim:
            raise ValueError(
                f"For 'GatherD', the rank of 'x' and 'index' must be equal, but got {x.ndim} and {len(indices.shape)}."
            )
        for i, (n, k) in enumerate(zip(x.shape, indices.shape, strict=True)):
            if i != axis and not taken_at_most(k, n):
                raise ValueError(
                    f"For 'GatherD', the size of 'index' along axis {i} must not exceed that of 'x', but got "
                    f"{tuple(indices.shape)} and {tuple(x.shape)}."
                )
        return x.with_shape(indices.shape)

    def reference(x, indices, *, axis, labels_of=""):
        if x.ndim == 0:
            check_range(
                indices, 1, "For 'GatherD', the value of 'index' must be in [-{size}, {size}), but got: {index}"
            )
            return x.copy()
        text = "For 'GatherD', the value of 'index' must be in [-{size}, {size}), but got: {index}"
        if labels_of:
            got = ": {index}" if (indices >= x.shape[axis]).any() else " a negative one"
            text = f"For '{labels_of}', the labels must be numbers of classes in [0, {{size}}), but got{got}"
        check_range(indices, x.shape[axis], text)
        return x[along_axis(indices, axis)]

    def bprop(ins, out, dout, *, axis, labels_of):
        x, indices = ins
        return (scatter_elements(zeros_like(x), indices, dout, axis=axis, reduction="add"), None)

    def batch(in_axes, operands, *, axis, labels_of):
        x, indices = all_batched(in_axes, operands)
        return gather_elements(x, indices, axis=axis + 1, labels_of=labels_of), 0


@primitive
class scatter_elements:
    """``x`` with ``updates`` combined into it: ``x[indices[i][j]][j] = updates[i][j]`` for ``axis`` 0."""

    raises = True
    layout = "any"

    def infer(x, indices, updates, *, axis, reduction="none"):
        same_dtype("scatter_elements", x, updates)
        _check_reduction("TensorScatterElements", reduction)
        indices = require_kind("scatter_elements", indices, "i", "indices")
        if len(indices.shape) != x.ndim or len(updates.shape) != x.ndim:
            raise ValueError(
                f"For 'TensorScatterElements', 'input_x', 'indices' and 'updates' must have one rank, but got "
                f"{tuple(x.shape)}, {tuple(indices.shape)} and {tuple(updates.shape)}."
            )
        if not taken_equal_shapes(indices.shape, updates.shape):
            raise ValueError(
                f"For 'TensorScatterElements', 'indices' and 'updates' must have one shape, but got "
                f"{tuple(indices.shape)} and {tuple(updates.shape)}."
            )
        return x

    def reference(x, indices, updates, *, axis, reduction):
        if x.ndim == 0:
            return combined(x, updates, index=(), reduction=reduction)
        text = "For 'TensorScatterElements', the value of 'indices' must be in [-{size}, {size}), but got: {index}"
        check_range(indices, x.shape[axis], text)
        return combined(x, updates, index=along_axis(indices, axis), reduction=reduction)

    def bprop(ins, out, dout, *, axis, reduction):
        x, indices, updates = ins
        dx, du = _scatter_gradients(
            x, updates, out, dout, reduction,
            lambda t: gather_elements(t, indices, axis=axis),
            lambda t, u, how: scatter_elements(t, indices, u, axis=axis, reduction=how),
        )  # fmt: skip
        return (dx, None, du)

    def batch(in_axes, operands, *, axis, reduction):
        x, indices, updates = all_batched(in_axes, operands)
        return scatter_elements(x, indices, updates, axis=axis + 1, reduction=reduction), 0


# ---- by coordinates -------------------------------------------------------------------------------------------------


@primitive
class gather_nd:
    """The slices of ``x`` that the rows (last axis) of ``indices`` name, one coordinate per leading axis of ``x``."""

    raises = True
    layout = "any"

    def infer(x, indices):
        x = tensor("gather_nd", x)
        indices = require_kind("gather_nd", indices, "i", "indices")
        if not indices.shape or not isinstance(indices.shape[-1], int) or indices.shape[-1] > x.ndim:
            raise ValueError(
                f"For 'GatherNd', the last dimension of 'indices' must be at most the rank of 'input_x' {x.ndim}, "
                f"but got indices of shape {tuple(indices.shape)}."
            )
        return x.with_shape((*indices.shape[:-1], *x.shape[indices.shape[-1] :]))

    def reference(x, indices):
        return x[np.newaxis][nd_index(indices, x.shape, "GatherNd")]

    def bprop(ins, out, dout):
        x, indices = ins
        return (scatter_nd_update(zeros_like(x), indices, dout, reduction="add"), None)

    def batch(in_axes, operands):
        x, indices = all_batched(in_axes, operands)
        return gather_nd(x, with_batch_coordinate(indices)), 0


@primitive
class scatter_nd_update:
    """``x`` with ``updates`` combined into the slices that the rows of ``indices`` name (see `gather_nd`)."""

    raises = True
    layout = "any"

    def infer(x, indices, updates, *, reduction="none"):
        same_dtype("scatter_nd_update", x, updates)
        _check_reduction("TensorScatterUpdate", reduction)
        indices = require_kind("scatter_nd_update", indices, "i", "indices")
        if not indices.shape or not isinstance(indices.shape[-1], int) or indices.shape[-1] > x.ndim:
            raise ValueError(
                f"For 'TensorScatterUpdate', the last dimension of 'indices' must be at most {x.ndim}, but got indices "
                f"of shape {tuple(indices.shape)}."
            )
        expected = (*indices.shape[:-1], *x.shape[indices.shape[-1] :])
        if not taken_equal_shapes(updates.shape, expected):
            raise ValueError(
                f"For 'TensorScatterUpdate', the shape of 'updates' must be {expected}, but got {tuple(updates.shape)}."
            )
        return x

    def reference(x, indices, updates, *, reduction):
        index = nd_index(indices, x.shape, "ScatterNd")
        return combined(x[np.newaxis], updates, index=index, reduction=reduction)[0]

    def bprop(ins, out, dout, *, reduction):
        x, indices, updates = ins
        dx, du = _scatter_gradients(
            x, updates, out, dout, reduction,
            lambda t: gather_nd(t, indices),
            lambda t, u, how: scatter_nd_update(t, indices, u, reduction=how),
        )  # fmt: skip
        return (dx, None, du)

    def batch(in_axes, operands, *, reduction):
        x, indices, updates = all_batched(in_axes, operands)
        return scatter_nd_update(x, with_batch_coordinate(indices), updates, reduction=reduction), 0


def scatter_nd(indices: Any, updates: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of ``shape`` with ``updates`` added at the coordinates ``indices``."""
    return scatter_nd_update(full(shape=shape, value=0, dtype=updates.dtype), indices, updates, reduction="add")


def with_batch_coordinate(indices: Any) -> Any:
    """Rows of coordinates (last axis) with the position along the first axis put in front of each row."""
    number = iota(shape=(*indices.shape[:-1], 1), axis=0, dtype=indices.dtype)
    return concat(number, indices, axis=len(indices.shape) - 1)


def nd_index(indices: np.ndarray, shape: Any, op: str) -> tuple[np.ndarray, ...]:
    """The NumPy index for rows of coordinates, checked, into an array of ``shape`` with an axis of size 1 before it:
    rows without a coordinate name the whole array, once per row."""
    columns = tuple(indices[..., i] for i in range(indices.shape[-1]))
    for i, (column, size) in enumerate(zip(columns, shape, strict=False)):
        text = (
            f"For '{op}', indices[..., {i}] must be in [-{{size}}, {{size}}), shape {tuple(shape)}, but got {{index}}."
        )
        check_range(column, size, text)
    return (np.zeros(indices.shape[:-1], np.intp), *columns)


__all__ = [
    "combined", "gather", "gather_elements", "gather_nd", "index_add", "repeat_interleave", "scatter_elements",
    "scatter_nd", "scatter_nd_update", "wrap_indices",
]  # fmt: skip
