"""Choosing, reading, writing elements: ``where``, ``gather``, ``scatter``, masks, segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.shapes import broadcast_shapes, numel
from duograph.ops import arithmetic, indexing, movement, search
from duograph.ops.cast import stop_gradient
from duograph.ops.creation import constant_like, full, iota, one_hot
from duograph.ops.indexing import index_add as index_add_op
from duograph.ops.indexing import scatter_elements as scatter_elements_op
from duograph.ops.indexing import scatter_nd as scatter_nd_op
from duograph.ops.indexing import scatter_nd_update as scatter_nd_update_op
from duograph.ops.norm import clip_by_norm
from duograph.ops.reduce import reduce_any, reduce_max
from duograph.ops.scalar import extent_of
from duograph.ops.segments import unsorted_segment as unsorted_segment_op
from duograph.ops.select import select as select_op
from duograph.ops.slices import slice_axis, stack, strided_slice
from duograph.ops.unary import isnan
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from .. import operators
from .. import tensor_shape as shaped
from ..promote import as_tensor, is_number, operand_of, promote, promote_within, python_number, refusal, to_dtype
from .forms import (
    FOUR_AND_TWO,
    axis_of,
    documented,
    need_tensor,
    not_public,
    only,
    public_functions,
    refused,
    renamed,
    static_int,
)

# ---- choice ---------------------------------------------------------------------------------------------------------


def where(condition: Any, input: Any, other: Any) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere; all broadcast, dtypes are promoted.

    Returns:
        Tensor, of the shape all three broadcast to and the promoted dtype.

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
    """As `where`; at least one of ``input`` and ``other`` is a tensor.

    Returns:
        Tensor, of the shape all three broadcast to and the promoted dtype.

    Examples:
        >>> print(ops.select(Tensor([True, False]), Tensor([1, 2]), Tensor([3, 4])))
        [1 4]
    """
    if not isinstance(condition, Tensor):
        raise TypeError(f"For select, the argument condition should be Tensor, but got {type(condition)}.")
    if not all(isinstance(v, Tensor) or is_number(v) for v in (input, other)):
        raise TypeError(
            "For select, the argument input and other should be Tensor, int or float, but got "
            f"{type(input)} and {type(other)}."
        )
    return where(condition, input, other)


def masked_fill(input_x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input_x`` with ``value`` where ``mask`` (bool) holds.

    Returns:
        Tensor, of the dtype of ``input_x`` and the shape it broadcasts to with ``mask``.

    Examples:
        >>> print(ops.masked_fill(Tensor([1, 2, 3]), Tensor([True, False, True]), 0))
        [0 2 0]
    """
    if (
        not isinstance(input_x, Tensor)
        or not isinstance(mask, Tensor)
        or not (is_number(value) or isinstance(value, Tensor))
    ):
        raise refused("MaskedFill", input_x=input_x, mask=mask, value=value)
    if not mask.dtype.is_bool:
        raise TypeError(f"For 'MaskedFill', the dtype of 'mask' must be bool, but got {mask.dtype}.")
    return select_op(mask, operand_of(python_number(value), input_x.dtype), input_x)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``input`` where ``mask`` holds, in one dimension.

    Returns:
        Tensor, of shape ``(n,)`` and the dtype of ``input``.

    Examples:
        >>> print(ops.masked_select(Tensor([1, 2, 3]), Tensor([True, False, True])))
        [1 3]
    """
    need_tensor("MaskedSelect", input=input, mask=mask)
    shape = broadcast_shapes(input.shape, mask.shape, op="MaskedSelect")
    x, m = shaped.broadcast_to(input, shape), shaped.broadcast_to(to_dtype(mask, dt.bool_), shape)
    return search.masked_select(x, m)


def masked_scatter(input: Tensor, mask: Tensor, tensor: Tensor) -> Tensor:
    """``input`` with the places where ``mask`` holds taken from ``tensor`` in order.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.masked_scatter(Tensor([1, 2, 3]), Tensor([True, False, True]), Tensor([8, 9])))
        [8 2 9]
    """
    need_tensor("MaskedScatter", input=input, mask=mask, tensor=tensor)
    return search.masked_scatter(input, shaped.broadcast_to(mask, tuple(input.shape)), to_dtype(tensor, input.dtype))


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Coordinates (N, rank) of the elements that are not 0; with ``as_tuple`` one vector per axis.

    Returns:
        Tensor of int64, of shape ``(N, rank)``; with ``as_tuple`` a tuple of vectors.

    Examples:
        >>> print(ops.nonzero(Tensor([0, 5, 6])))
        [[1]
         [2]]
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"For nonzero, the input must be a Tensor, but got {type(input)}.")
    if not as_tuple:
        return search.nonzero(input)
    found = search.nonzero(input if input.ndim else movement.reshape(input, shape=(1,)))
    return tuple(movement.squeeze(slice_axis(found, 1, i, i + 1), (1,)) for i in range(max(input.ndim, 1)))


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Every element limited to ``min`` .. ``max``; tensors, or a list or tuple of them.

    Returns:
        What was given, of the same shapes.

    Raises:
        ValueError: both limits are ``None``.

    Examples:
        >>> print(ops.clamp(Tensor([1, 5, 9]), 2, 7))
        [2 5 7]
    """
    if isinstance(input, list | tuple):
        return type(input)(clamp(x, min, max) for x in input)
    need_tensor("Clamp", input=input)
    if min is None and max is None:
        raise ValueError("For 'clamp', at least one of 'min' and 'max' must not be None.")
    x = input
    if min is not None:
        low, x = promote_within(min, x, "ClampMin")
        x = select_op(operators.less(x, low), low, x)
    if max is not None:
        high, x = promote_within(max, x, "ClampMax")
        x = select_op(operators.greater(x, high), high, x)
    return x


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Every element limited to the two values; an element equal to one shares its gradient with it, unlike in `clamp`.

    Returns:
        What was given, of the same shapes.

    Raises:
        ValueError: both limits are ``None``.

    Examples:
        >>> print(ops.clip_by_value(Tensor([1, 5, 9]), 2, 7))
        [2 5 7]
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
        x = arithmetic.maximum(*promote_within(x, clip_value_min, "Maximum"))
    if clip_value_max is not None:
        x = arithmetic.minimum(*promote_within(x, clip_value_max, "Minimum"))
    return x


def nan_to_num(input: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    """NaN and infinities replaced: by 0, the largest and the smallest number by default.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.nan_to_num(Tensor([1.0, float("nan")])))
        [1. 0.]
    """

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
    """The slices of ``input_params`` along ``axis`` at ``input_indices``; the first ``batch_dims`` axes go together.

    Returns:
        Tensor, of the dtype of ``input_params``: the axes of ``input_indices`` stand where ``axis`` stood.

    Examples:
        >>> print(ops.gather(Tensor([[1, 2], [3, 4]]), Tensor([1, 0, 1]), 0))
        [[3 4]
         [1 2]
         [3 4]]
    """
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

    out = stack(*parts, axis=0)
    return movement.reshape(out, shape=(*lead, *out.shape[1:]))


def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """One index along ``dim`` per result element.

    Returns:
        Tensor, of the shape of ``index`` and the dtype of ``input``.

    Examples:
        >>> print(ops.gather_elements(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]])))
        [[2]
         [3]]
    """
    need_tensor("GatherD", input=input, index=index)
    return indexing.gather_elements(input, index, axis=axis_of(dim, input, "GatherD"))


gather_d = renamed(gather_elements, "gather_d", input="x")


def gather_nd(input_x: Tensor, indices: Any) -> Tensor:
    """The slices that the rows of ``indices`` name.

    Returns:
        Tensor, of the dtype of ``input_x``.

    Examples:
        >>> print(ops.gather_nd(Tensor([[1, 2], [3, 4]]), Tensor([[0, 1], [1, 0]])))
        [2 3]
    """
    need_tensor("GatherNd", input_x=input_x)
    return indexing.gather_nd(input_x, _integers(indices))


def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """The slices along ``axis`` at the vector ``index``.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.index_select(Tensor([[1, 2], [3, 4]]), 1, Tensor([1])))
        [[2]
         [4]]
    """
    need_tensor("IndexSelect", input=input, index=index)
    if index.ndim > 1:
        raise ValueError(f"For IndexSelect, the dimension of index must be 0 or 1, but got {index.ndim}.")
    flat = movement.reshape(index, shape=(1,)) if index.ndim == 0 else index
    return indexing.gather(input, flat, axis=axis_of(axis, input, "IndexSelect"))


def take(input: Tensor, index: Any) -> Tensor:
    """The elements of the flattened tensor at ``index``.

    Returns:
        Tensor, of the shape of ``index`` and the dtype of ``input``.

    Examples:
        >>> print(ops.take(Tensor([[1, 2], [3, 4]]), Tensor([3, 0])))
        [4 1]
    """
    need_tensor("Take", input=input)
    return indexing.gather(shaped.ravel(input), _integers(index), axis=0)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of ``weight`` at ``input``; the row ``padding_idx`` gets no gradient.

    Returns:
        Tensor, of shape ``(*input.shape, width)`` and the dtype of ``weight``.

    Examples:
        >>> print(ops.embedding(Tensor([1, 0]), ms.Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]))))
        [[3. 4.]
         [1. 2.]]
    """
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
    """``input_x`` with ``updates`` put or added at one index along ``axis`` each.

    Returns:
        Tensor, of the shape and dtype of ``input_x``.

    Examples:
        >>> print(ops.tensor_scatter_elements(Tensor([[1, 2], [3, 4]]), Tensor([[1], [0]]), Tensor([[8], [9]]), axis=1))
        [[1 8]
         [9 4]]
    """
    need_tensor("TensorScatterElements", input_x=input_x, indices=indices)
    source = as_tensor(updates, input_x.dtype)
    if source.ndim == 0 and indices.ndim:
        source = movement.broadcast_to(source, shape=tuple(indices.shape))
    i = axis_of(axis, input_x, "TensorScatterElements")
    return scatter_elements_op(input_x, indices, source, axis=i, reduction=reduction)


def scatter(input: Tensor, axis: int, index: Tensor, src: Any) -> Tensor:
    """``input`` with ``src`` put at one index along ``axis`` each.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.scatter(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]]), Tensor([[8], [9]])))
        [[1 8]
         [9 4]]
    """
    need_tensor("Scatter", input=input, index=index)
    if isinstance(src, Tensor) and tuple(src.shape) != tuple(index.shape) and src.ndim == index.ndim:
        src = _leading(src, index)
    return tensor_scatter_elements(input, index, src, axis)


def _leading(src: Tensor, index: Tensor) -> Tensor:
    """The block of ``src`` that has the shape of ``index``."""
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
    operands = "Tensor([8, 4]), Tensor([[1]]), Tensor([2])"
    function.__doc__ = documented(
        f"``input_x`` with ``updates`` combined ({reduction}) into the slices that ``indices`` name.",
        "Tensor, of the shape and dtype of ``input_x``.",
        f"ops.{name}({operands})", f"[8 {FOUR_AND_TWO[reduction]}]",
    )  # fmt: skip
    return function


def _nd_quotient(x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    ones = full(shape=tuple(x.shape), value=1, dtype=x.dtype)
    divisor = scatter_nd_update_op(ones, indices, updates, reduction="mul")
    return arithmetic.div(x, divisor) if x.dtype.is_floating else arithmetic.trunc_div(x, divisor)


def scatter_nd(indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
    """Zeros of ``shape`` with ``updates`` added at the coordinates ``indices``.

    Returns:
        Tensor, of shape ``shape`` and the dtype of ``updates``.

    Examples:
        >>> print(ops.scatter_nd(Tensor([[0], [2]]), Tensor([8, 9]), (3,)))
        [8 0 9]
    """
    need_tensor("ScatterNd", indices=indices, updates=updates)
    return scatter_nd_op(indices, updates, shaped.shape_of((shape,), "ScatterNd"))


def index_add(
    x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """``x`` with the slices of ``y`` added at ``indices`` along ``axis``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.index_add(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1], ms.int32), Tensor([[10.0, 10.0]]), 0))
        [[ 1.  2.]
         [13. 14.]]
    """
    need_tensor("IndexAdd", x=x, indices=indices, y=y)
    return index_add_op(x, indices, to_dtype(y, x.dtype), axis=axis_of(axis, x, "IndexAdd"))


def index_fill(x: Tensor, axis: int, index: Any, value: Any) -> Tensor:
    """``x`` with ``value`` at the slices ``index`` along ``axis``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.index_fill(Tensor([[1, 2], [3, 4]]), 0, Tensor([1], ms.int32), 0))
        [[1 2]
         [0 0]]
    """
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
        count = extent_of(static_int(num_segments, name, "num_segments"))
        return unsorted_segment_op(input_x, segment_ids, num_segments=count, reduction=reduction)

    function.__name__ = f"unsorted_segment_{reduction}"
    function.__doc__ = documented(
        f"The {reduction} of the elements of every segment.",
        "Tensor, of the dtype of the operand; its first extent is ``num_segments``.",
        f"ops.{function.__name__}(Tensor([4, 2, 9]), Tensor([0, 0, 1]), 2)", f"[{FOUR_AND_TWO[reduction]} 9]",
    )  # fmt: skip
    return function if reduction == "sum" else renamed(function, input_x="x")


# ---- order ----------------------------------------------------------------------------------------------------------


def sequence_mask(lengths: Any, maxlen: Any = None) -> Tensor:
    """For every length ``n`` a row that is True at its first ``n`` places.

    Returns:
        Tensor of bool, of shape ``(*lengths.shape, maxlen)``.

    Examples:
        >>> print(ops.sequence_mask(Tensor([1, 2]), 3))
        [[ True False False]
         [ True  True False]]
    """
    lengths = _integers(lengths)
    n = (
        hooks.as_python_number(_largest(lengths), "index")
        if maxlen is None
        else extent_of(static_int(maxlen, "sequence_mask", "maxlen"))
    )
    place = iota(shape=(n,), axis=0, dtype=lengths.dtype)
    return operators.less(place, movement.expand_dims(lengths, lengths.ndim))


def _largest(x: Tensor) -> Tensor:
    return reduce_max(x, axis=tuple(range(x.ndim)), keep_dims=False)


@not_public
def refuse(title: str, *operands: Any) -> TypeError:
    """MindSpore's refusal of operands."""
    return refusal(title, *operands)


_SCATTER = ("add", "sub", "mul", "div", "max", "min")


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """One index along ``dim`` per result element; other axes broadcast.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.take_along_dim(Tensor([[1, 2], [3, 4]]), Tensor([[1], [0]]), 1))
        [[2]
         [3]]
    """
    need_tensor("TakeAlongDim", input=input, indices=indices)
    if dim is None:
        return indexing.gather_elements(shaped.ravel(input), shaped.ravel(indices), axis=0)
    i = axis_of(dim, input, "take_along_dim")
    return indexing.gather_elements(input, indices, axis=i)


FUNCTIONS = public_functions(globals()) | {
    **{f"tensor_scatter_{how}": _nd(how, f"tensor_scatter_{how}") for how in _SCATTER},
    **{f"unsorted_segment_{how}": _segment(how) for how in ("sum", "prod", "max", "min")},
    "clip": clamp,
    "argwhere": nonzero,
    "tensor_scatter_update": _nd("none", "tensor_scatter_update"),
}  # fmt: skip
