"""Segments: the elements of a tensor combined by the segment ids that another tensor gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import taken_equal_shapes

from .arithmetic import add, div, maximum, mul
from .cast import cast
from .compare import equal, greater_equal
from .creation import constant_like, iota
from .indexing import combined, gather
from .movement import reshape
from .rules import require_kind
from .select import select
from .slices import all_batched

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
        return combined(start, x[kept], index=ids[kept], reduction=_SEGMENT[reduction])

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


__all__ = ["unsorted_segment", "unsorted_segment_sum"]
