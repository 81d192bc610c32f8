"""Order: sorting, ranks, counting of values."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.ops import indexing, movement, search, unary
from duograph.ops.creation import full
from duograph.ops.movement import reduce_sum
from duograph.ops.reduce import argmax
from duograph.ops.scalar import integer_of
from duograph.ops.select import select
from duograph.ops.sort import kth as kth_op
from duograph.ops.sort import searchsorted as searchsorted_op
from duograph.ops.sort import sort as sort_op
from duograph.ops.sort import topk as topk_op
from duograph.tensor.tensor import Tensor

from .. import operators
from .. import tensor_shape as shaped
from ..promote import as_tensor, promote, to_dtype
from . import padding
from .forms import as_float, axis_of, documented, in_dtype, named, need_tensor, public_functions, static_int


def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The elements in order along ``axis``, and their int32 indices.

    Returns:
        Two Tensors, of the shape of ``input_x``.

    Examples:
        >>> print(*ops.sort(Tensor([3, 1, 2])))
        [1 2 3] [1 2 0]
    """
    need_tensor("Sort", input_x=input_x)
    return sort_op(input_x, axis=axis_of(axis, input_x, "Sort"), descending=descending)


def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """The int32 indices that put ``input`` in order along ``axis``.

    Returns:
        Tensor of int32, of the shape of ``input``.

    Examples:
        >>> print(ops.argsort(Tensor([3, 1, 2])))
        [1 2 0]
    """
    return sort(input, axis, descending)[1]


def msort(input: Tensor) -> Tensor:
    """In order along the first axis.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.msort(Tensor([3, 1, 2])))
        [1 2 3]
    """
    return sort(input, 0)[0]


def topk(
    input: Tensor, k: Any, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) elements along ``dim`` in order, and their int32 indices.

    Returns:
        Two Tensors, of extent ``k`` along ``dim``.

    Examples:
        >>> print(*ops.topk(Tensor([3, 1, 2]), 2))
        [3 2] [0 2]
    """
    need_tensor("TopK", input=input)
    axis = axis_of(-1 if dim is None else dim, input, "TopK")
    return topk_op(input, k=integer_of(static_int(k, "TopK", "k")), axis=axis, largest=largest)


def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The (lower) median along ``axis`` and its int64 index; the first NaN if there is one.

    Returns:
        Two Tensors, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(*ops.median(Tensor([3.0, 1.0, 2.0])))
        2.0 2
    """
    need_tensor("Median", input=input)
    if not input.shape:
        return input, full(shape=(), value=0, dtype=dt.int64)
    i = axis_of(axis, input, "Median")
    value, index = kth_op(input, (input.shape[i] - 1) // 2, i)
    if input.dtype.is_floating:
        unknown = unary.isnan(input)
        first = argmax(to_dtype(unknown, dt.uint8), axis=i, keep_dims=True, dtype=dt.int64)
        index = select(indexing.gather_elements(unknown, first, axis=i), first, index)
        value = indexing.gather_elements(input, index, axis=i)
    return (value, index) if keepdims else (movement.squeeze(value, (i,)), movement.squeeze(index, (i,)))


def searchsorted(
    sorted_sequence: Tensor, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Where ``values`` would go in ``sorted_sequence``; behind equal ones with ``right``.

    Returns:
        Tensor of int64 (or int32), of the shape of ``values``.

    Examples:
        >>> print(ops.searchsorted(Tensor([1, 3, 5]), Tensor([2, 3])))
        [1 1]
    """
    if side is not None and side not in ("left", "right"):
        raise ValueError(f"For 'searchsorted', the 'side' must be 'left' or 'right', but got {side}.")
    if side == "left" and right:
        raise ValueError(
            "For 'searchsorted', side and right can't be set to opposites, got side of left while right was True."
        )
    if sorter is not None:
        sorted_sequence = indexing.gather_elements(sorted_sequence, sorter, axis=sorted_sequence.ndim - 1)
    rows, wanted = promote(sorted_sequence, values, "SearchSorted")
    dtype = dt.int32 if out_int32 else dt.int64
    return searchsorted_op(rows, wanted, right=right or side == "right", dtype=dtype)


def bucketize(input: Tensor, boundaries: Any, *, right: bool = False) -> Tensor:
    """The bucket of every element between ``boundaries`` (int32).

    Returns:
        Tensor of int32, of the shape of ``input``.

    Examples:
        >>> print(ops.bucketize(Tensor([0, 2, 9]), [1, 5]))
        [0 1 2]
    """
    edges = boundaries if isinstance(boundaries, Tensor) else as_tensor([float(b) for b in boundaries], dt.float32)
    return searchsorted(edges, as_float(input), out_int32=True, right=right)


def unique(input: Tensor) -> tuple[Tensor, Tensor]:
    """The different elements in order of appearance, and for every element which one it is: int32, of int64 int64.

    Returns:
        Two Tensors: ``(n,)`` of the dtype of ``input``, and of its shape.

    Examples:
        >>> print(*ops.unique(Tensor([3, 1, 3])))
        [3 1] [0 1 0]
    """
    need_tensor("Unique", input=input)
    index = dt.int64 if input.dtype is dt.int64 else dt.int32
    values, inverse, _ = search.unique(shaped.ravel(input), ordered=False, index_dtype=index)
    return values, movement.reshape(inverse, shape=tuple(input.shape))


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Runs of equal elements made one; on demand the run of each element and the lengths.

    Returns:
        Tensor, or a tuple of the two or three that are asked for.

    Examples:
        >>> print(ops.unique_consecutive(Tensor([1, 1, 2, 1])))
        [1 2 1]
    """
    need_tensor("UniqueConsecutive", input=input)
    x = shaped.ravel(input) if dim is None else input
    axis = 0 if dim is None else axis_of(dim, input, "UniqueConsecutive")
    values, inverse, counts = search.unique_consecutive(x, axis=axis)
    if dim is None and return_inverse:
        inverse = movement.reshape(inverse, shape=tuple(input.shape))
    picked = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return picked[0] if len(picked) == 1 else tuple(picked)


def bincount(input: Tensor, weights: Any = None, minlength: Any = 0) -> Tensor:
    """How often each of 0, 1, ... occurs, or the sums of ``weights`` there.

    Returns:
        Tensor, of shape ``(n,)``.

    Examples:
        >>> print(ops.bincount(Tensor([0, 2, 2])))
        [1. 0. 2.]
    """
    need_tensor("bincount", input=input)
    least = static_int(minlength, "bincount", "minlength")
    if weights is None:
        return to_dtype(search.bincount(input, minlength=least), dt.float32)
    return search.bincount(input, as_tensor(weights), minlength=least)


def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """How many elements fall into each of ``bins`` equal intervals.

    Returns:
        Tensor, of shape ``(bins,)``.

    Examples:
        >>> print(ops.histc(Tensor([0.0, 1.0, 1.0]), 2))
        [1. 2.]
    """
    need_tensor("Histogram", input=input)
    return in_dtype(search.histogram(input, bins=bins, low=float(min), high=float(max)), input.dtype)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Whether the target class ``x2[i]`` is among the ``k`` largest of row ``x1[i]``.

    Returns:
        Tensor of bool, of the shape of ``x2``.

    Examples:
        >>> print(ops.intopk(Tensor([[0.1, 0.7, 0.2]]), Tensor([2], ms.int32), 2))
        [ True]
    """
    need_tensor("InTopKD", x1=x1, x2=x2)

    target = indexing.gather_elements(x1, movement.expand_dims(x2, 1), axis=1)
    above = to_dtype(operators.greater(x1, target), dt.int32)
    return operators.less(reduce_sum(above, axis=(1,), keep_dims=False), k)


def unique_with_pad(x: Tensor, pad_num: Any) -> tuple[Tensor, Tensor]:
    """`unique`, filled up with ``pad_num`` to the size of ``x``.

    Returns:
        Two Tensors, of the shape of ``x``.

    Examples:
        >>> print(*ops.unique_with_pad(Tensor([3, 1, 3]), 0))
        [3 1 0] [0 1 0]
    """
    values, inverse = unique(x)
    return padding.pad_pairs(values, [(0, x.shape[0] - values.shape[0])], "constant", pad_num), inverse


FUNCTIONS = public_functions(globals()) | {
    "top_k": named(
        lambda input_x, k, sorted=True: topk(input_x, k, None, True, sorted),
        "top_k", documented("The ``k`` greatest elements along the last axis, and their places.",
                            "Two Tensors, of extent ``k`` along the last axis.",
                            "*ops.top_k(Tensor([3, 1, 2]), 2)", "[3 2] [0 2]"),
    ),
}  # fmt: skip
