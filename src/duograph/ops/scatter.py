"""Writing by integer tensors, with a reduction where several updates meet: scatter and segment operations.

Updates to one place are combined in the row-major order of ``updates``. The gradient through ``max`` and ``min`` is
shared evenly among equals; through ``none`` every update of a place gets it (repeated indices are then undefined, as in
MindSpore).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import taken_equal_shapes

from .arithmetic import add, div, maximum, mul
from .cast import cast
from .compare import equal, greater_equal
from .creation import constant_like, full, iota, zeros_like
from .indexing import (
    advanced_put,
    along_axis,
    check_range,
    gather,
    gather_elements,
    gather_nd,
    nd_index,
    with_batch_coordinate,
)  # fmt: skip
from .movement import reshape
from .rules import in_float32, require_kind, same_dtype
from .select import select
from .slices import all_batched


def _assign(out, index, updates):
    out[index] = updates


_COMBINE: dict[str, Any] = {
    "none": _assign, "add": np.add.at, "mul": np.multiply.at, "max": np.maximum.at, "min": np.minimum.at,
}  # fmt: skip


@in_float32
def _combined(x, updates, *, index, reduction):
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


# ---- along one axis -------------------------------------------------------------------------------------------------


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
        return _combined(x, value, index=(*[slice(None)] * axis, indices), reduction="add")

    def bprop(ins, out, dout, *, axis):
        return (dout, None, lambda: gather(dout, ins[1], axis=axis))

    def batch(in_axes, operands, *, axis):
        (x_axis, indices_axis, value_axis), (x, indices, value) = in_axes, operands
        spec = (*[(None, None, None)] * axis, "index")
        return advanced_put.batch((x_axis, value_axis, indices_axis), (x, value, indices), spec=spec, reduction="add")


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
            return _combined(x, updates, index=(), reduction=reduction)
        text = "For 'TensorScatterElements', the value of 'indices' must be in [-{size}, {size}), but got: {index}"
        check_range(indices, x.shape[axis], text)
        return _combined(x, updates, index=along_axis(indices, axis), reduction=reduction)

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
        return _combined(x[np.newaxis], updates, index=index, reduction=reduction)[0]

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


# ---- segments -------------------------------------------------------------------------------------------------------

_SEGMENT = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}


def _segment_start(dtype: np.dtype, reduction: str) -> Any:
    """What an empty segment holds: 0, 1, or the lowest or highest finite value, as in MindSpore."""
    if reduction in ("sum", "prod"):
        return 0 if reduction == "sum" else 1
    info = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(np.float32 if dtype.kind == "V" else dtype)
    return info.min if reduction == "max" else info.max


@primitive
class unsorted_segment:
    """Combines the elements of ``x`` that have one segment id; ids cover the first axes, negative ones are left out.

    ``reduction`` is ``sum``, ``prod``, ``max`` or ``min``.
    """

    raises = True
    layout = "any"

    def infer(x, ids, *, num_segments, reduction):
        x = require_kind("unsorted_segment", x, "ifc" if reduction in ("sum", "prod") else "if")
        ids = require_kind("unsorted_segment", ids, "i", "segment_ids")
        if reduction not in _SEGMENT:
            raise ValueError(f"unsorted_segment: unknown reduction {reduction!r}")
        k = len(ids.shape)
        if not taken_equal_shapes(x.shape[:k], ids.shape):
            raise ValueError(
                f"For 'UnsortedSegment{reduction.title()}', the shape of 'segment_ids' must be a prefix of that of "
                f"'input_x', but got {tuple(ids.shape)} and {tuple(x.shape)}."
            )
        return x.with_shape((num_segments, *x.shape[k:]))

    def reference(x, ids, *, num_segments, reduction):
        if (ids >= num_segments).any():
            name = f"UnsortedSegment{reduction.title()}"
            raise RuntimeError(
                f"For '{name}', segment_ids value should be [0, {num_segments}), but got {int(ids.max())}."
            )
        start = np.full((num_segments, *x.shape[ids.ndim :]), _segment_start(x.dtype, reduction), x.dtype)
        kept = ids >= 0
        return _combined(start, x[kept], index=ids[kept], reduction=_SEGMENT[reduction])

    def bprop(ins, out, dout, *, num_segments, reduction):
        x, ids = ins
        kept = greater_equal(ids, constant_like(ids, 0))
        kept = reshape(kept, shape=(*ids.shape, *(1,) * (len(x.shape) - len(ids.shape))))
        safe = maximum(ids, constant_like(ids, 0))
        zero = constant_like(x, 0)
        read = lambda t: select(kept, gather(t, safe, axis=0), zero)  # noqa: E731
        if reduction == "sum":
            return (read(dout), None)
        if reduction == "prod":
            return (div(read(mul(dout, out)), x), None)
        hits = cast(equal(x, gather(out, safe, axis=0)), dtype=x.dtype)
        count = unsorted_segment(hits, ids, num_segments=num_segments, reduction="sum")
        share = div(dout, select(equal(count, zero), constant_like(count, 1), count))
        return (mul(read(share), hits), None)

    def batch(in_axes, operands, *, num_segments, reduction):
        x, ids = all_batched(in_axes, operands)
        number = iota(shape=(ids.shape[0], *(1,) * (len(ids.shape) - 1)), axis=0, dtype=ids.dtype)
        moved = add(ids, mul(number, constant_like(ids, num_segments)))
        own = select(greater_equal(ids, constant_like(ids, 0)), moved, ids)
        out = unsorted_segment(x, own, num_segments=num_segments * ids.shape[0], reduction=reduction)
        return reshape(out, shape=(ids.shape[0], num_segments, *out.shape[1:])), 0


def unsorted_segment_sum(x: Any, ids: Any, num_segments: int) -> Any:
    """Sums per segment; empty ones are 0."""
    return unsorted_segment(x, ids, num_segments=num_segments, reduction="sum")


__all__ = [
    "index_add", "scatter_elements", "scatter_nd", "scatter_nd_update", "unsorted_segment", "unsorted_segment_sum",
]  # fmt: skip
