"""Choosing, reading, writing elements: ``where``, ``gather``, ``scatter``, masks; and order: ``sort``, ``topk`` ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import broadcast_shapes, numel
from duograph.ops import arithmetic, indexing, movement, search
from duograph.ops.creation import constant_like, full
from duograph.ops.scatter import (
    index_add as index_add_op,
)
from duograph.ops.scatter import (
    scatter_elements as scatter_elements_op,
)
from duograph.ops.scatter import (
    scatter_nd as scatter_nd_op,
)
from duograph.ops.scatter import (
    scatter_nd_update as scatter_nd_update_op,
)
from duograph.ops.scatter import (
    unsorted_segment as unsorted_segment_op,
)
from duograph.ops.select import select as select_op
from duograph.ops.slices import slice_axis
from duograph.ops.sort import kth as kth_op
from duograph.ops.sort import searchsorted as searchsorted_op
from duograph.ops.sort import sort as sort_op
from duograph.ops.sort import topk as topk_op
from duograph.ops.unary import isnan
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from .. import operators
from .. import tensor_shape as shaped
from ..promote import as_tensor, is_number, promote, refusal, to_dtype
from .forms import (
    as_float,
    axis_of,
    in_dtype,
    inner,
    named,
    need_tensor,
    only,
    public_functions,
    refused,
    renamed,
    static_int,
)

# ---- choice ---------------------------------------------------------------------------------------------------------


def where(condition: Any, input: Any, other: Any) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere; all broadcast, dtypes are promoted.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.where(Tensor([True, False]), 1, 2))
        [1 2]
    """
    x, y = promote(input, other, "Select")
    mask = as_tensor(condition, dt.bool_)
    if mask.shape != x.shape or x.shape != y.shape:
        broadcast_shapes(mask.shape, x.shape, op="Select", names=("condition", "input"))
    return select_op(mask, x, y)


def select(condition: Tensor, input: Any, other: Any) -> Tensor:
    """As `where`; at least one of ``input`` and ``other`` is a tensor."""
    if not isinstance(condition, Tensor):
        raise TypeError(f"For select, the argument condition should be Tensor, but got {type(condition)}.")
    if not all(isinstance(v, Tensor) or is_number(v) for v in (input, other)):
        raise TypeError(
            "For select, the argument input and other should be Tensor, int or float, but got "
            f"{type(input)} and {type(other)}."
        )
    return where(condition, input, other)


def masked_fill(input_x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input_x`` with ``value`` where ``mask`` (bool) holds."""
    if (
        not isinstance(input_x, Tensor)
        or not isinstance(mask, Tensor)
        or not (is_number(value) or isinstance(value, Tensor))
    ):
        raise refused("MaskedFill", input_x=input_x, mask=mask, value=value)
    if not mask.dtype.is_bool:
        raise TypeError(f"For 'MaskedFill', the dtype of 'mask' must be bool, but got {mask.dtype}.")
    return select_op(mask, as_tensor(value, input_x.dtype), input_x)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``input`` where ``mask`` holds, in one dimension."""
    need_tensor("MaskedSelect", input=input, mask=mask)
    shape = broadcast_shapes(input.shape, mask.shape, op="MaskedSelect")
    x, m = shaped.broadcast_to(input, shape), shaped.broadcast_to(to_dtype(mask, dt.bool_), shape)
    return search.masked_select(x, m)


def masked_scatter(input: Tensor, mask: Tensor, tensor: Tensor) -> Tensor:
    """``input`` with the places where ``mask`` holds taken from ``tensor`` in order."""
    need_tensor("MaskedScatter", input=input, mask=mask, tensor=tensor)
    return search.masked_scatter(input, shaped.broadcast_to(mask, tuple(input.shape)), to_dtype(tensor, input.dtype))


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Coordinates (N, rank) of the elements that are not 0; with ``as_tuple`` one vector per axis."""
    if not isinstance(input, Tensor):
        raise TypeError(f"For nonzero, the input must be a Tensor, but got {type(input)}.")
    found = search.nonzero(input)
    if not as_tuple:
        return found
    return tuple(movement.squeeze(slice_axis(found, 1, i, i + 1), (1,)) for i in range(max(input.ndim, 1)))


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Every element limited to ``min`` .. ``max``; tensors, or a list or tuple of them.

    Raises:
        ValueError: both limits are ``None``.
    """
    if isinstance(input, list | tuple):
        return type(input)(clamp(x, min, max) for x in input)
    need_tensor("Clamp", input=input)
    if min is None and max is None:
        raise ValueError("For 'clamp', at least one of 'min' and 'max' must not be None.")
    x = input
    if min is not None:
        low, x = promote(min, x, "ClampMin")
        x = select_op(operators.less(x, low), low, x)
    if max is not None:
        high, x = promote(max, x, "ClampMax")
        x = select_op(operators.greater(x, high), high, x)
    return x


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Every element limited to the two values; an element equal to one shares its gradient with it, unlike in `clamp`.

    Raises:
        ValueError: both limits are ``None``.
    """
    if isinstance(x, list | tuple):
        return tuple(clip_by_value(t, clip_value_min, clip_value_max) for t in x)
    if not isinstance(x, Tensor):
        raise TypeError(
            f"For 'clip_by_value', the type of 'x' must be Tensor or list or tuple of Tensor, but got {type(x)}."
        )
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("For 'clip_by_value', at least one of 'clip_value_min' or 'clip_value_max' must not be None.")
    if clip_value_min is not None:
        x = arithmetic.maximum(*promote(x, clip_value_min, "Maximum"))
    if clip_value_max is not None:
        x = arithmetic.minimum(*promote(x, clip_value_max, "Minimum"))
    return x


def nan_to_num(input: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    """NaN and infinities replaced: by 0, the largest and the smallest number by default."""
    import numpy as np

    need_tensor("NanToNum", input=input)
    if not input.dtype.is_floating:
        return input
    half = {dt.bfloat16: 3.3895313892515355e38}
    top = half.get(input.dtype) or float(np.finfo(input.dtype.numpy).max)
    inf = float("inf")
    x = select_op(isnan(input), constant_like(input, nan or 0.0), input)
    x = select_op(operators.equal(x, inf), constant_like(x, top if posinf is None else posinf), x)
    return select_op(operators.equal(x, -inf), constant_like(x, -top if neginf is None else neginf), x)


# ---- gather ---------------------------------------------------------------------------------------------------------


def _integers(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else as_tensor(x, dt.int64)


def gather(input_params: Tensor, input_indices: Any, axis: Any, batch_dims: int = 0) -> Tensor:
    """The slices of ``input_params`` along ``axis`` at ``input_indices``; the first ``batch_dims`` axes go together."""
    need_tensor("Gather", input_params=input_params)
    indices = _integers(input_indices)
    i = axis_of(axis, input_params, "Gather")
    if batch_dims == 0:
        return indexing.gather(input_params, indices, axis=i)
    b = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    lead = tuple(input_params.shape[:b])
    inner = input_params.shape[b:]
    rows = movement.reshape(input_params, shape=(numel(lead), *inner))
    picks = movement.reshape(indices, shape=(numel(lead), *indices.shape[b:]))
    parts = [
        indexing.gather(
            movement.squeeze(slice_axis(rows, 0, k, k + 1), (0,)),
            movement.squeeze(slice_axis(picks, 0, k, k + 1), (0,)),
            axis=i - b,
        )
        for k in range(numel(lead))
    ]  # fmt: skip
    from duograph.ops.slices import stack

    out = stack(*parts, axis=0)
    return movement.reshape(out, shape=(*lead, *out.shape[1:]))


def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """One index along ``dim`` per result element."""
    need_tensor("GatherD", input=input, index=index)
    return indexing.gather_elements(input, index, axis=axis_of(dim, input, "GatherD"))


def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """As `gather_elements`."""
    return gather_elements(x, dim, index)


def gather_nd(input_x: Tensor, indices: Any) -> Tensor:
    """The slices that the rows of ``indices`` name."""
    need_tensor("GatherNd", input_x=input_x)
    return indexing.gather_nd(input_x, _integers(indices))


def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """The slices along ``axis`` at the vector ``index``."""
    need_tensor("IndexSelect", input=input, index=index)
    if index.ndim > 1:
        raise ValueError(f"For IndexSelect, the dimension of index must be 0 or 1, but got {index.ndim}.")
    flat = movement.reshape(index, shape=(1,)) if index.ndim == 0 else index
    return indexing.gather(input, flat, axis=axis_of(axis, input, "IndexSelect"))


def take(input: Tensor, index: Any) -> Tensor:
    """The elements of the flattened tensor at ``index``."""
    need_tensor("Take", input=input)
    return indexing.gather(shaped.ravel(input), _integers(index), axis=0)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of ``weight`` at ``input``; the row ``padding_idx`` gets no gradient."""
    from duograph.ops.cast import stop_gradient
    from duograph.ops.norm import clip_by_norm

    need_tensor("Embedding", input=input, weight=weight)
    only("Embedding", "scale_grad_by_freq", scale_grad_by_freq, False)
    if max_norm is not None:
        weight = clip_by_norm(weight, max_norm, norm_type, axis=(1,))
    out = indexing.gather(weight, input, axis=0)
    if padding_idx is None:
        return out
    at = padding_idx + weight.shape[0] if padding_idx < 0 else padding_idx
    return select_op(movement.expand_dims(operators.equal(input, at), input.ndim), stop_gradient(out), out)


# ---- scatter --------------------------------------------------------------------------------------------------------


def tensor_scatter_elements(
    input_x: Tensor, indices: Tensor, updates: Any, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """``input_x`` with ``updates`` put or added at one index along ``axis`` each."""
    need_tensor("TensorScatterElements", input_x=input_x, indices=indices)
    source = as_tensor(updates, input_x.dtype)
    if source.ndim == 0 and indices.ndim:
        source = movement.broadcast_to(source, shape=tuple(indices.shape))
    i = axis_of(axis, input_x, "TensorScatterElements")
    return scatter_elements_op(input_x, indices, source, axis=i, reduction=reduction)


def scatter(input: Tensor, axis: int, index: Tensor, src: Any) -> Tensor:
    """``input`` with ``src`` put at one index along ``axis`` each."""
    need_tensor("Scatter", input=input, index=index)
    if isinstance(src, Tensor) and tuple(src.shape) != tuple(index.shape) and src.ndim == index.ndim:
        src = _leading(src, index)
    return tensor_scatter_elements(input, index, src, axis)


def _leading(src: Tensor, index: Tensor) -> Tensor:
    """The block of ``src`` that has the shape of ``index``."""
    from duograph.ops.slices import strided_slice

    return strided_slice(src, slices=tuple((0, n, 1) for n in index.shape))


def _nd(reduction: str, name: str) -> Callable[..., Tensor]:
    def function(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        need_tensor(name, input_x=input_x, indices=indices, updates=updates)
        source = to_dtype(updates, input_x.dtype)
        if reduction == "sub":
            return scatter_nd_update_op(input_x, indices, arithmetic.neg(source), reduction="add")
        if reduction == "div":
            return _nd_quotient(input_x, indices, source)
        return scatter_nd_update_op(input_x, indices, source, reduction=reduction)

    function.__name__ = name
    function.__doc__ = f"``input_x`` with ``updates`` combined ({reduction}) into the slices that ``indices`` name."
    return function


def _nd_quotient(x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    ones = full(shape=tuple(x.shape), value=1, dtype=x.dtype)
    divisor = scatter_nd_update_op(ones, indices, updates, reduction="mul")
    return arithmetic.div(x, divisor) if x.dtype.is_floating else arithmetic.trunc_div(x, divisor)


def scatter_nd(indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
    """Zeros of ``shape`` with ``updates`` added at the coordinates ``indices``."""
    need_tensor("ScatterNd", indices=indices, updates=updates)
    return scatter_nd_op(indices, updates, shaped.shape_of((shape,), "ScatterNd"))


def index_add(
    x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """``x`` with the slices of ``y`` added at ``indices`` along ``axis``."""
    need_tensor("IndexAdd", x=x, indices=indices, y=y)
    return index_add_op(x, indices, to_dtype(y, x.dtype), axis=axis_of(axis, x, "IndexAdd"))


def index_fill(x: Tensor, axis: int, index: Any, value: Any) -> Tensor:
    """``x`` with ``value`` at the slices ``index`` along ``axis``."""
    from duograph.ops.creation import one_hot
    from duograph.ops.reduce import reduce_any

    need_tensor("IndexFill", x=x)
    i = axis_of(axis, x, "IndexFill")
    picks = shaped.ravel(_integers(index))
    n = x.shape[i]
    hit = reduce_any(one_hot(indexing.wrap_indices(picks, n), depth=n, dtype=dt.bool_), axis=(0,), keep_dims=False)
    column = tuple(n if k == i else 1 for k in range(x.ndim))
    return select_op(movement.reshape(hit, shape=column), as_tensor(value, x.dtype), x)


def _segment(reduction: str) -> Callable[..., Tensor]:
    """``unsorted_segment_*``: the first operand is named ``input_x`` by the sum, ``x`` by the others."""
    name = f"UnsortedSegment{reduction.title()}"

    def function(input_x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
        need_tensor(name, input_x=input_x, segment_ids=segment_ids)
        count = static_int(num_segments, name, "num_segments")
        return unsorted_segment_op(input_x, segment_ids, num_segments=count, reduction=reduction)

    function.__name__ = f"unsorted_segment_{reduction}"
    function.__doc__ = f"The {reduction} of the elements of every segment."
    return function if reduction == "sum" else renamed(function, input_x="x")


# ---- order ----------------------------------------------------------------------------------------------------------


def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The elements in order along ``axis``, and their int32 indices."""
    need_tensor("Sort", input_x=input_x)
    return sort_op(input_x, axis=axis_of(axis, input_x, "Sort"), descending=descending)


def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """The int32 indices that put ``input`` in order along ``axis``."""
    return sort(input, axis, descending)[1]


def msort(input: Tensor) -> Tensor:
    """In order along the first axis."""
    return sort(input, 0)[0]


def topk(
    input: Tensor, k: Any, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) elements along ``dim`` in order, and their int32 indices."""
    need_tensor("TopK", input=input)
    axis = axis_of(-1 if dim is None else dim, input, "TopK")
    return topk_op(input, k=static_int(k, "TopK", "k"), axis=axis, largest=largest)


def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The (lower) median along ``axis`` and its int64 index."""
    need_tensor("Median", input=input)
    if not input.shape:
        return input, full(shape=(), value=0, dtype=dt.int64)
    i = axis_of(axis, input, "Median")
    value, index = kth_op(input, (input.shape[i] - 1) // 2, i)
    return (value, index) if keepdims else (movement.squeeze(value, (i,)), movement.squeeze(index, (i,)))


def searchsorted(
    sorted_sequence: Tensor, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Where ``values`` would go in ``sorted_sequence``; behind equal ones with ``right``."""
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
    """The bucket of every element between ``boundaries`` (int32)."""
    edges = boundaries if isinstance(boundaries, Tensor) else as_tensor([float(b) for b in boundaries], dt.float32)
    return searchsorted(edges, as_float(input), out_int32=True, right=right)


def unique(input: Tensor) -> tuple[Tensor, Tensor]:
    """The different elements in order of appearance, and for every element which one it is: int32, of int64 int64."""
    need_tensor("Unique", input=input)
    index = dt.int64 if input.dtype is dt.int64 else dt.int32
    values, inverse, _ = search.unique(shaped.ravel(input), ordered=False, index_dtype=index)
    return values, movement.reshape(inverse, shape=tuple(input.shape))


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Runs of equal elements made one; on demand the run of each element and the lengths."""
    need_tensor("UniqueConsecutive", input=input)
    x = shaped.ravel(input) if dim is None else input
    axis = 0 if dim is None else axis_of(dim, input, "UniqueConsecutive")
    values, inverse, counts = search.unique_consecutive(x, axis=axis)
    if dim is None and return_inverse:
        inverse = movement.reshape(inverse, shape=tuple(input.shape))
    picked = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return picked[0] if len(picked) == 1 else tuple(picked)


def bincount(input: Tensor, weights: Any = None, minlength: Any = 0) -> Tensor:
    """How often each of 0, 1, ... occurs, or the sums of ``weights`` there."""
    need_tensor("bincount", input=input)
    least = static_int(minlength, "bincount", "minlength")
    if weights is None:
        return to_dtype(search.bincount(input, minlength=least), dt.float32)
    return search.bincount(input, as_tensor(weights), minlength=least)


def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """How many elements fall into each of ``bins`` equal intervals."""
    need_tensor("Histogram", input=input)
    return in_dtype(search.histogram(input, bins=bins, low=float(min), high=float(max)), input.dtype)


def sequence_mask(lengths: Any, maxlen: Any = None) -> Tensor:
    """For every length ``n`` a row that is True at its first ``n`` places."""
    from duograph.ops.creation import iota

    lengths = _integers(lengths)
    n = (
        hooks.as_python_number(_largest(lengths), "index")
        if maxlen is None
        else static_int(maxlen, "sequence_mask", "maxlen")
    )
    place = iota(shape=(n,), axis=0, dtype=lengths.dtype)
    return operators.less(place, movement.expand_dims(lengths, lengths.ndim))


def _largest(x: Tensor) -> Tensor:
    from duograph.ops.reduce import reduce_max

    return reduce_max(x, axis=tuple(range(x.ndim)), keep_dims=False)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Whether the target class ``x2[i]`` is among the ``k`` largest of row ``x1[i]``."""
    need_tensor("InTopKD", x1=x1, x2=x2)
    from duograph.ops.reduce import reduce_sum

    target = indexing.gather_elements(x1, movement.expand_dims(x2, 1), axis=1)
    above = to_dtype(operators.greater(x1, target), dt.int32)
    return operators.less(reduce_sum(above, axis=(1,), keep_dims=False), k)


@inner
def refuse(title: str, *operands: Any) -> TypeError:
    """MindSpore's refusal of operands."""
    return refusal(title, *operands)


_SCATTER = ("add", "sub", "mul", "div", "max", "min")


FUNCTIONS = public_functions(globals()) | {
    **{f"tensor_scatter_{how}": _nd(how, f"tensor_scatter_{how}") for how in _SCATTER},
    **{f"unsorted_segment_{how}": _segment(how) for how in ("sum", "prod", "max", "min")},
    "clip": clamp,
    "argwhere": nonzero,
    "top_k": named(
        lambda input_x, k, sorted=True: topk(input_x, k, None, True, sorted),
        "top_k", "The ``k`` greatest elements along the last axis, and their places.",
    ),
    "tensor_scatter_update": _nd("none", "tensor_scatter_update"),
}  # fmt: skip
