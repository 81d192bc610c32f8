"""Primitive classes of segments, selections, data formats and scattered writes."""

from __future__ import annotations

import math
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.ops import indexing, segments
from duograph.ops.arithmetic import conj, maximum, minimum
from duograph.ops.compare import equal, greater, less
from duograph.ops.creation import constant_like, full
from duograph.ops.indexing import gather
from duograph.ops.movement import broadcast_to, expand_dims, reshape, transpose
from duograph.ops.random import randperm
from duograph.ops.select import select
from duograph.ops.slices import concat, slice_axis, stack
from duograph.ops.sort import sort as sort_op
from duograph.ops.stable import logcumsumexp
from duograph.ops.unary import floor
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from ..functional import index, inplace, joining, random, sorting
from ..functional.creation import logspace
from ..functional.forms import axis_of
from ..promote import as_tensor, to_dtype
from ..tensor_shape import shape_of
from .base import REQUIRED, Table

CLASSES = Table()
_row = CLASSES.row


def _segments(reduction: str) -> Any:
    def forward(p: Any, x: Tensor, ids: Tensor) -> Tensor:
        count = int(hooks.value_of(ids, f"the segments of {p.name}").max()) + 1
        how = "sum" if reduction == "mean" else reduction
        out = segments.unsorted_segment(x, ids, num_segments=count, reduction=how)
        sizes = segments.unsorted_segment(
            full(shape=tuple(ids.shape), value=1, dtype=x.dtype), ids, num_segments=count, reduction="sum"
        )
        sizes = broadcast_to(reshape(sizes, shape=(count, *(1,) * (x.ndim - 1))), shape=tuple(out.shape))
        if reduction == "mean":
            return out / maximum(sizes, constant_like(sizes, 1))
        empty = constant_like(out, 1 if reduction == "prod" else 0)
        return select(equal(sizes, constant_like(sizes, 0)), empty, out)

    forward.__doc__ = f"The {reduction} of every run of equal ``ids``; these must be known when a graph is built."
    return forward


for _how in ("sum", "prod", "min", "max", "mean"):
    _row(f"Segment{_how.title()}", _segments(_how))


def _nth(p: Any, x: Tensor, n: Any) -> Tensor:
    """The element at place ``n`` of the order of the last axis."""
    values, _ = sort_op(x, axis=x.ndim - 1, descending=p.reverse)
    return gather(values, as_tensor(n, dt.int64), axis=x.ndim - 1)


_row("NthElement", _nth, {"reverse": False})


def _bound(right: bool) -> Any:
    def forward(p: Any, rows: Tensor, values: Tensor) -> Tensor:
        return to_dtype(sorting.searchsorted(rows, values, right=right), p.out_type)

    return forward


_row("LowerBound", _bound(False), {"out_type": dt.int32})
_row("UpperBound", _bound(True), {"out_type": dt.int32})


def _fixed_width(p: Any, x: Tensor, limits: Tensor) -> Tensor:
    """How many elements fall into ``nbins`` bins of one width; those outside count in the first or last bin."""
    low, high = (slice_axis(to_dtype(limits, dt.float32), 0, i, i + 1) for i in range(2))
    flat = reshape(to_dtype(x, dt.float32), shape=(numel(x.shape),))
    place = floor((flat - low) * p.nbins / (high - low))
    place = minimum(maximum(place, constant_like(place, 0)), constant_like(place, p.nbins - 1))
    one = full(shape=tuple(flat.shape), value=1, dtype=dt.int32)
    return indexing.index_add(full(shape=(p.nbins,), value=0, dtype=dt.int32), to_dtype(place, dt.int64), one, axis=0)


_row("HistogramFixedWidth", _fixed_width, {"nbins": REQUIRED, "dtype": "int32"})


def _running_logsumexp(p: Any, x: Tensor, axis: Any) -> Tensor:
    """The logarithm of the running sum of exponentials along ``axis``."""
    out = logcumsumexp(x, axis_of(axis, x, p.name), p.exclusive, p.reverse)
    lowest = {2: -65504.0, 4: -3.4028234663852886e38, 8: -1.7976931348623157e308}[x.dtype.itemsize]
    return select(equal(out, constant_like(x, -math.inf)), constant_like(x, lowest), out)


_row("CumulativeLogsumexp", _running_logsumexp, {"exclusive": False, "reverse": False})


def _powers(p: Any, start: Any, end: Any) -> Tensor:
    """``base`` to evenly spaced powers."""
    return logspace(start, end, p.steps, p.base, dtype=p.dtype)


_row("LogSpace", _powers, {"steps": 10, "base": 10, "dtype": dt.float32})


def _format_map(p: Any) -> list[int]:
    return [p.src_format.index(axis) for axis in p.dst_format]


def _dim_map(p: Any, x: Tensor) -> Tensor:
    """Axes of one data format as those of another."""
    table = as_tensor(tuple(_format_map(p)), x.dtype)
    return gather(table, select(less(x, constant_like(x, 0)), x + 4, x), axis=0)


_FORMATS = {"src_format": "NHWC", "dst_format": "NCHW"}
_row("DataFormatDimMap", _dim_map, _FORMATS)
_row("DataFormatVecPermute", lambda p, x: gather(x, as_tensor(tuple(_format_map(p))), axis=0), _FORMATS)
_row("ConjugateTranspose", lambda p, x, perm: conj(transpose(x, perm=tuple(shape_of((perm,), p.name)))))
_row("SparseGatherV2", lambda p, x, i, axis: index.gather(x, i, axis))
_row("EmbeddingLookup", lambda p, x, i, offset: _embedding_lookup(x, i, offset))


def _embedding_lookup(x: Tensor, i: Tensor, offset: Any) -> Tensor:
    """The rows ``i - offset`` of ``x``; 0 for places outside."""
    place = i - offset
    outside = maximum(place, constant_like(place, x.shape[0] - 1))
    fine = equal(outside, constant_like(place, x.shape[0] - 1))
    inside = select(fine, maximum(place, constant_like(place, 0)), constant_like(place, 0))
    rows = gather(x, inside, axis=0)
    valid = equal(inside, place)
    mask = reshape(valid, shape=(*valid.shape, *(1,) * (x.ndim - 1)))
    return select(broadcast_to(mask, shape=tuple(rows.shape)), rows, constant_like(rows, 0))


def _packed_bits(p: Any, x: Tensor, threshold: Any) -> Tensor:
    """Eight comparisons with ``threshold`` as the bits of one uint8, the first one highest."""
    bits = to_dtype(greater(x, as_tensor(threshold, x.dtype)), dt.uint8)
    rows = reshape(bits, shape=(*x.shape[:-1], x.shape[-1] // 8, 8))
    total = full(shape=tuple(rows.shape[:-1]), value=0, dtype=dt.uint8)
    for place in range(8):
        bit = slice_axis(rows, rows.ndim - 1, place, place + 1)
        total = total + reshape(bit, shape=tuple(total.shape)) * 2 ** (7 - place)
    return total


_row("CompareAndBitpack", _packed_bits)
_row("InplaceIndexAdd", lambda p, x, i, u: inplace.inplace_index_add(x, i, u, p.axis), {"axis": REQUIRED})
_row("ScatterAddWithAxis", lambda p, x, i, u: index.tensor_scatter_elements(x, i, u, p.axis, "add"), {"axis": 0})
_row("SparseToDense", lambda p, i, v, shape: _dense(i, v, shape_of((shape,), p.name)))


def _dense(places: Tensor, values: Tensor, shape: tuple[Any, ...]) -> Tensor:
    """A dense tensor with ``values`` at ``places``, 0 elsewhere."""
    places = expand_dims(places, 1) if places.ndim == 1 else places
    values = broadcast_to(values, shape=tuple(places.shape[:1]))
    return indexing.scatter_nd_update(full(shape=tuple(shape), value=0, dtype=values.dtype), places, values)


def _put(p: Any, x: Tensor, values: Tensor, places: Any) -> Tensor:
    """``x`` with ``values`` written or added at the places that index tensors name together."""
    index_rows = stack(*[to_dtype(i, dt.int64) for i in places], axis=places[0].ndim)
    shape = (*index_rows.shape[:-1], *x.shape[len(places) :])
    how = "add" if p.accumulate else "none"
    return indexing.scatter_nd_update(x, index_rows, broadcast_to(values, shape=tuple(shape)), reduction=how)


_row("IndexPut", _put, {"accumulate": 0})
_row(
    "UniformCandidateSampler",
    lambda p, x: random.uniform_candidate_sampler(x, p.num_true, p.num_sampled, p.unique, p.range_max, p.seed,
                                                p.remove_accidental_hits),
    {
        "num_true": REQUIRED, "num_sampled": REQUIRED, "unique": REQUIRED, "range_max": REQUIRED, "seed": 0,
        "remove_accidental_hits": False,
    },
)  # fmt: skip


def _confusion(p: Any, labels: Tensor, predictions: Tensor, weights: Tensor | None = None) -> Tensor:
    """How often each class (row) was predicted as each class (column)."""
    kind = dt.as_dtype(p.dtype) if weights is None else weights.dtype
    counts = full(shape=tuple(labels.shape), value=1, dtype=kind) if weights is None else weights
    table = full(shape=(p.num_classes,) * 2, value=0, dtype=kind)
    return indexing.scatter_nd_update(table, stack(labels, predictions, axis=1), counts, reduction="add")


_row("ConfusionMatrix", _confusion, {"num_classes": REQUIRED, "dtype": "int32"})
_row("ParallelConcat", lambda p, xs: joining.concat(xs, 0))


def _range_rows(p: Any, n: Any, seed: Any = 0) -> Tensor:
    """A permutation of 0 ... n-1, filled up with ``pad`` to ``max_length``."""
    count = int(hooks.value_of(n, "the size of Randperm").reshape(-1)[0]) if isinstance(n, Tensor) else n
    rest = full(shape=(p.max_length - count,), value=p.pad, dtype=p.dtype)
    return concat(to_dtype(randperm(count, dt.int64), p.dtype), rest, axis=0)


_row("Randperm", _range_rows, {"max_length": 1, "pad": -1, "dtype": dt.int32})
