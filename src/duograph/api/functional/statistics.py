"""Quantiles, differences, covariance, and other functions of samples."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import known_eq
from duograph.core.shapes import existing_axis, numel, taken_at_most
from duograph.ops import arithmetic, movement, slices
from duograph.ops import linalg as products
from duograph.ops import reduce as red
from duograph.ops.cast import cast, in_single
from duograph.ops.creation import constant_like, full
from duograph.ops.indexing import gather, gather_elements, scatter_elements
from duograph.ops.segments import unsorted_segment_sum
from duograph.ops.select import select
from duograph.ops.sort import kth
from duograph.ops.unary import floor, isinf, isnan
from duograph.tensor.hooks import value_of
from duograph.tensor.tensor import Tensor

from .. import operators
from .. import tensor_shape as shaped
from ..promote import as_tensor, to_dtype
from . import joining, reduce, sorting
from .compare import isclose
from .forms import as_float, axis_of, documented, enough_memory, named, need_tensor, not_public, public_functions
from .math import BINARY


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether all elements are close (`isclose`).

    Returns:
        Tensor of bool, 0-d.

    Examples:
        >>> print(ops.allclose(Tensor([1.0]), Tensor([1.0])))
        True
    """
    close = isclose(input, other, rtol, atol, equal_nan)
    return red.reduce_all(close, axis=tuple(range(close.ndim)), keep_dims=False)


def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along ``axis``, ``n`` times.

    Returns:
        Tensor, of the dtype of ``x``; ``n`` shorter along ``axis``.

    Examples:
        >>> print(ops.diff(Tensor([1, 3, 6])))
        [2 3]
    """
    need_tensor("diff", x=x)
    i = existing_axis(axis, x.ndim, "diff")
    parts = [t for t in (prepend, x, append) if t is not None]
    x = joining.concat(parts, i) if len(parts) > 1 else x
    for _ in range(n):
        size = x.shape[i]
        if size == 0:  # it stays empty, however often
            break
        right, left = slices.slice_axis(x, i, 1, size), slices.slice_axis(x, i, 0, size - 1)
        x = BINARY["sub"](right, left) if not x.dtype.is_bool else operators.not_equal(right, left)
    return x


def quantile(
    input: Tensor, q: Any, axis: int | None = None, keepdims: bool = False, ignore_nan: bool = False
) -> Tensor:
    """The quantiles ``q`` along ``axis`` by linear interpolation; a vector ``q`` gives a new first axis.

    Returns:
        Tensor, of the shape of ``input`` without ``axis``; of a vector ``q`` one more axis.

    Examples:
        >>> print(ops.quantile(Tensor([1.0, 2.0, 3.0]), 0.5))
        2.0
    """
    need_tensor("Quantile", input=input)
    x = shaped.ravel(input) if axis is None else input
    i = 0 if axis is None else axis_of(axis, x, "Quantile")
    points = to_dtype(as_tensor(q), x.dtype)
    values, _ = sorting.sort(movement.move_axis(x, i, x.ndim - 1), -1)
    last = values.ndim - 1
    size = values.shape[last]
    flat = movement.reshape(points, shape=(numel(points.shape),))
    if ignore_nan:
        count = movement.reduce_sum(to_dtype(operators.invert(isnan(values)), x.dtype), axis=(last,), keep_dims=True)
        place = arithmetic.mul(arithmetic.sub(count, constant_like(count, 1)), flat)
    else:
        place = movement.broadcast_to(
            arithmetic.mul(flat, constant_like(flat, size - 1)), shape=(*values.shape[:last], flat.shape[0])
        )
    low = floor(place)
    weight = arithmetic.sub(place, low)
    below = cast(low, dtype=dt.int64)
    above = arithmetic.minimum(arithmetic.add(below, constant_like(below, 1)), constant_like(below, size - 1))
    start, stop = (gather_elements(values, k, axis=last) for k in (below, above))
    out = _between(start, stop, weight)
    if not ignore_nan:
        bad = red.reduce_any(isnan(values), axis=(last,), keep_dims=True)
        out = select(bad, constant_like(out, float("nan")), out)
    if keepdims:
        rank = input.ndim if axis is None else x.ndim
        kept = tuple(1 if axis is None or k == i else n for k, n in enumerate(input.shape))
        out = movement.move_axis(out, last, 0)
        out = movement.reshape(out, shape=(flat.shape[0], *kept)) if rank else out
    else:
        out = movement.move_axis(out, last, 0)
    return out if points.ndim else movement.squeeze(out, (0,))


def _between(x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """``x`` moved to ``y`` by ``weight``, from the nearer of them; one infinity is no NaN, nor what has no weight."""
    gap = arithmetic.sub(y, x)
    rest = arithmetic.sub(constant_like(weight, 1), weight)
    is_low = operators.less(weight, 0.5)
    out = select(is_low, arithmetic.add(x, arithmetic.mul(gap, weight)), arithmetic.sub(y, arithmetic.mul(gap, rest)))
    is_first = operators.equal(weight, 0)
    if x.dtype.is_floating:
        is_first = operators.bitwise_or(is_first, operators.bitwise_and(operators.equal(x, y), isinf(x)))
    return select(is_first, x, out)


def nanquantile(input: Tensor, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """`quantile` of what is not NaN.

    Returns:
        Tensor, of the shape of ``input`` without ``axis``; of a vector ``q`` one more axis.

    Examples:
        >>> print(ops.nanquantile(Tensor([1.0, float("nan"), 3.0]), 0.5))
        2.0
    """
    return quantile(input, q, axis, keepdims, ignore_nan=True)


def nanmedian(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The lower median of what is not NaN, and its index.

    Returns:
        Two Tensors, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(*ops.nanmedian(Tensor([3.0, float("nan"), 2.0])))
        2.0 2
    """
    need_tensor("nanmedian", input=input)
    if not input.dtype.is_floating or not input.shape:
        return sorting.median(input, axis, keepdims)
    i = axis_of(axis, input, "nanmedian")
    values, places = sorting.sort(input, i)
    count = movement.reduce_sum(to_dtype(operators.invert(isnan(values)), dt.int64), axis=(i,), keep_dims=True)
    middle = arithmetic.maximum(arithmetic.sub(count, constant_like(count, 1)), constant_like(count, 0))
    at = arithmetic.floor_div(middle, constant_like(count, 2))
    value = gather_elements(values, at, axis=i)
    place = to_dtype(gather_elements(places, at, axis=i), dt.int64)
    return (value, place) if keepdims else (movement.squeeze(value, (i,)), movement.squeeze(place, (i,)))


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The ``k``-th smallest element along ``dim`` and its index.

    Returns:
        Two Tensors, of the shape of ``input`` without ``dim``.

    Examples:
        >>> print(*ops.kthvalue(Tensor([3, 1, 2]), 2))
        2 2
    """
    need_tensor("Kthvalue", input=input)
    i = axis_of(dim, input, "Kthvalue")
    if not input.shape:
        return sorting.median(input)
    if k < 1 or not taken_at_most(k, input.shape[i]):
        raise ValueError(f"For 'Kthvalue', the 'k' must be in [1, {input.shape[i]}], but got {k}.")
    value, place = kth(input, k - 1, i)
    return (value, place) if keepdim else (movement.squeeze(value, (i,)), movement.squeeze(place, (i,)))


def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariance matrix of variables (rows) over observations (columns).

    Returns:
        Tensor, of shape ``(n, n)`` for ``n`` variables; 0-d for one.

    Examples:
        >>> print(ops.cov(Tensor([[1.0, 2.0], [2.0, 4.0]])))
        [[0.5 1. ]
         [1.  2. ]]
    """
    need_tensor("cov", input=input)
    out = _covariance(as_float(input), fweights, aweights, correction)
    return movement.reshape(out, shape=()) if input.ndim < 2 or known_eq(input.shape[0], 1) else out


@in_single
def _covariance(x: Tensor, fweights: Tensor | None, aweights: Tensor | None, correction: int) -> Tensor:
    rows = movement.reshape(x, shape=(1, numel(x.shape))) if x.ndim < 2 else x
    weight: Tensor | None = None
    for w in (fweights, aweights):
        if w is not None:
            weight = to_dtype(w, x.dtype) if weight is None else arithmetic.mul(weight, to_dtype(w, x.dtype))
    if weight is None:
        mean = reduce.mean(rows, 1, True)
        centred = arithmetic.sub(rows, mean)
        norm = constant_like(x, max(rows.shape[1] - correction, 0))
        weighted = centred
    else:
        total = movement.reduce_sum(weight, axis=(0,), keep_dims=False)
        mean = arithmetic.div(movement.reduce_sum(arithmetic.mul(rows, weight), axis=(1,), keep_dims=True), total)
        centred = arithmetic.sub(rows, mean)
        weighted = arithmetic.mul(centred, weight)
        if aweights is None:
            share = constant_like(total, 1)
        else:
            again = arithmetic.mul(weight, to_dtype(aweights, x.dtype))
            share = arithmetic.div(movement.reduce_sum(again, axis=(0,), keep_dims=False), total)
        norm = arithmetic.sub(total, arithmetic.mul(share, constant_like(total, correction)))
    return arithmetic.div(products.matmul(weighted, centred, transpose_b=True), norm)


def trapz(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """The integral of ``y`` by the trapezium rule.

    Returns:
        Tensor, of the shape of ``y`` without ``dim``.

    Examples:
        >>> print(ops.trapz(Tensor([1.0, 1.0, 3.0])))
        3.0
    """
    need_tensor("trapz", y=y, **({} if x is None else {"x": x}))
    i = axis_of(dim, y, "trapz")
    y, n = as_float(y), y.shape[i]
    pairs = arithmetic.add(slices.slice_axis(y, i, 1, n), slices.slice_axis(y, i, 0, n - 1))
    if x is None:
        steps: Any = constant_like(y, dx)
    else:
        steps = diff(to_dtype(x, y.dtype), 1, i if x.ndim == y.ndim else -1)
        if x.ndim == 1:
            steps = movement.reshape(steps, shape=tuple(n - 1 if k == i else 1 for k in range(y.ndim)))
    total = movement.reduce_sum(arithmetic.mul(pairs, steps), axis=(i,), keep_dims=False)
    return arithmetic.mul(total, constant_like(total, 0.5))


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, one row each.

    Returns:
        Tensor, of shape ``(choices, r)``.

    Examples:
        >>> print(ops.combinations(Tensor([1, 2, 3])))
        [[1 2]
         [1 3]
         [2 3]]
    """
    need_tensor("Combinations", input=input)
    n, pool = input.shape[0], input.shape[0] + (r - 1 if with_replacement else 0)
    many = math.comb(pool, r) if r <= pool else 0
    enough_memory("combinations", (many, r), dt.int64)
    if not many:
        return full(shape=(0, r) if r <= n else (0,), value=0, dtype=input.dtype)
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.fromiter(itertools.chain.from_iterable(pick(range(n), r)), np.int64, many * r)
    return gather(input, as_tensor(rows.reshape(many, r)), axis=0)


@not_public
def scatter_add_elements(input: Tensor, dim: int, places: Tensor, src: Tensor) -> Tensor:
    """``input`` with ``src`` added at one index along ``dim`` each (``mint.scatter_add``)."""
    source = to_dtype(src, input.dtype)
    if tuple(source.shape) != tuple(places.shape):
        source = slices.strided_slice(source, slices=tuple((0, n, 1) for n in places.shape))
    return scatter_elements(input, places, source, axis=axis_of(dim, input, "scatter_add"), reduction="add")


def sparse_segment_mean(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
    """Means of the rows ``indices`` of ``x`` per (sorted) segment.

    Returns:
        Tensor, one row per segment, of the dtype of ``x``.

    Examples:
        >>> print(ops.sparse_segment_mean(Tensor([[1.0], [3.0], [5.0]]), Tensor([0, 1, 2]), Tensor([0, 0, 1])))
        [[2.]
         [5.]]
    """
    need_tensor("SparseSegmentMean", x=x, indices=indices, segment_ids=segment_ids)

    count = int(value_of(segment_ids, "the number of segments").max()) + 1
    picked = gather(x, indices, axis=0)
    total = unsorted_segment_sum(picked, segment_ids, count)
    size = unsorted_segment_sum(full(shape=(indices.shape[0],), value=1, dtype=x.dtype), segment_ids, count)
    size = arithmetic.maximum(size, constant_like(size, 1))
    return arithmetic.div(total, movement.reshape(size, shape=(count, *(1,) * (x.ndim - 1))))


FUNCTIONS = public_functions(globals()) | {
    "diff_ext": named(
        lambda input, n=1, dim=-1, prepend=None, append=None: diff(input, n, dim, prepend, append),
        "diff_ext", documented("As `diff`.", "Tensor, of the dtype of ``input``; ``n`` shorter along ``dim``.",
                               "ops.diff_ext(Tensor([1, 3, 6]))", "[2 3]"),
    ),
}  # fmt: skip
