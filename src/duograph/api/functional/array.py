"""Shapes and places: ``reshape``, ``transpose``, ``tile``, ``flip``, slices; questions about shapes and dtypes."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import infer_reshape, numel, taken_at_most
from duograph.ops import indexing, movement, slices
from duograph.ops.arithmetic import sub
from duograph.ops.cast import cast as cast_op
from duograph.ops.compare import less
from duograph.ops.creation import full, iota
from duograph.ops.indexing import gather_elements
from duograph.ops.scalar import extent_of, integer_of
from duograph.ops.select import select
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from .. import tensor_parts
from .. import tensor_shape as shaped
from ..indexing import getitem
from ..promote import to_dtype
from ..tensor_shape import shape_of
from .forms import axis_of, documented, named, need_tensor, public_functions, renamed, static_int


def reshape(input: Tensor, shape: Any) -> Tensor:
    """``input`` with the same elements in another ``shape``; one extent may be -1.

    Returns:
        Tensor, of shape ``shape`` and the dtype of ``input``.

    Examples:
        >>> print(ops.reshape(Tensor([1, 2, 3, 4]), (2, -1)))
        [[1 2]
         [3 4]]
    """
    need_tensor("Reshape", input=input)
    return movement.reshape(input, shape=infer_reshape(input.shape, shape_of((shape,), "Reshape")))


def transpose(input: Tensor, dims: Any = None, input_perm: Any = None) -> Tensor:
    """The axes in the order ``dims``; ``input_perm`` is its older name.

    Returns:
        Tensor, of the dtype of ``input``; extent ``i`` is extent ``dims[i]`` of ``input``.

    Raises:
        TypeError: none or both of the two.

    Examples:
        >>> print(ops.transpose(Tensor([[1, 2], [3, 4]]), (1, 0)))
        [[1 3]
         [2 4]]
    """
    need_tensor("Transpose", input=input)
    if (dims is None) == (input_perm is None):
        raise TypeError("transpose() needs the argument 'dims', or its older name 'input_perm'")
    return shaped.permute(input, _perm(input_perm if dims is None else dims))


def permute(input: Tensor, axis: Any) -> Tensor:
    """The axes in the order ``axis``.

    Returns:
        Tensor, of the dtype of ``input``; extent ``i`` is extent ``axis[i]`` of ``input``.

    Examples:
        >>> print(ops.permute(Tensor([[1, 2], [3, 4]]), (1, 0)))
        [[1 3]
         [2 4]]
    """
    need_tensor("Permute", input=input)
    return shaped.permute(input, _perm(axis))


def _perm(axes: Any) -> tuple[int, ...]:
    if isinstance(axes, Tensor):
        axes = hooks.value_of(axes, "a permutation").tolist()
    return tuple(axes) if isinstance(axes, list | tuple) else (axes,)


def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """With a new axis of size 1 at position ``axis``.

    Returns:
        Tensor, of the dtype of ``input_x``; its rank is one more.

    Examples:
        >>> print(ops.expand_dims(Tensor([1, 2]), 0))
        [[1 2]]
    """
    need_tensor("ExpandDims", input=input_x)
    return shaped.expand_dims(input_x, static_int(axis, "ExpandDims", "axis"))


unsqueeze = renamed(expand_dims, "unsqueeze", input_x="input", axis="dim")


def squeeze(input: Tensor, axis: Any = None) -> Tensor:
    """Without the axes of size 1, or without those of ``axis``.

    Returns:
        Tensor, of the dtype of ``input``.

    Raises:
        ValueError: an axis of ``axis`` has another size.

    Examples:
        >>> print(ops.squeeze(Tensor([[1], [2]])))
        [1 2]
    """
    need_tensor("Squeeze", input=input)
    if isinstance(axis, list | tuple) and not axis:
        axis = None
    return shaped.squeeze(input, axis)


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim`` as one; 1-d and 0-d tensors give 1-d.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.flatten(Tensor([[[1, 2], [3, 4]]])))
        [[1 2 3 4]]
    """
    need_tensor("Flatten", input=input)
    if not isinstance(order, str):
        raise TypeError(f"For 'flatten', the 'order' must be str, but got {type(order).__name__}.")
    if input.ndim < 2:
        return movement.reshape(input, shape=(numel(input.shape),))
    return shaped.flatten(input, order, start_dim=start_dim, end_dim=end_dim)


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension.

    Returns:
        Tensor, of shape ``(n,)`` and the dtype of ``input``.

    Examples:
        >>> print(ops.ravel(Tensor([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    need_tensor("Ravel", input=input)
    return shaped.ravel(input)


def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Repeated along new axes and axes of size 1 up to ``shape``; -1 keeps an extent.

    Returns:
        Tensor, of shape ``shape`` and the dtype of ``input``.

    Examples:
        >>> print(ops.broadcast_to(Tensor([1, 2]), (2, 2)))
        [[1 2]
         [1 2]]
    """
    need_tensor("BroadcastTo", input=input)
    return shaped.broadcast_to(input, shape_of((shape,), "BroadcastTo"))


expand = renamed(broadcast_to, "expand", input="input_x", shape="size")


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Repeated up to the shape of ``other``.

    Returns:
        Tensor, of the shape of ``other`` and the dtype of ``input``.

    Examples:
        >>> print(ops.expand_as(Tensor([1, 2]), Tensor([[0, 0], [0, 0]])))
        [[1 2]
         [1 2]]
    """
    need_tensor("ExpandAs", input=input, other=other)
    return broadcast_to(input, tuple(other.shape))


def tile(input: Tensor, dims: Any = None, *, multiples: Any = None) -> Tensor:
    """Repeated ``dims[i]`` times along axis ``i``; ``multiples`` is its older name.

    Returns:
        Tensor, of the dtype of ``input``; each extent is so many times that of ``input``.

    Raises:
        TypeError: none or both of the two.

    Examples:
        >>> print(ops.tile(Tensor([1, 2]), (2, 2)))
        [[1 2 1 2]
         [1 2 1 2]]
    """
    need_tensor("Tile", input=input)
    if (dims is None) == (multiples is None):
        raise TypeError("tile() needs the argument 'dims', or its older name 'multiples'")
    return tensor_parts.tile(input, *shape_of((multiples if dims is None else dims,), "Tile"))


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Every slice along ``axis`` ``rep`` times in a row.

    Returns:
        Tensor, of the dtype of ``x``; ``rep`` times as long along ``axis``.

    Examples:
        >>> print(ops.repeat_elements(Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    return repeat_interleave(x, rep, axis)


def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None, dim: int | None = None) -> Tensor:
    """Every element along ``axis`` (default: of the flattened tensor) ``repeats`` times; one number, or one each.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.repeat_interleave(Tensor([1, 2]), 2))
        [1 1 2 2]
        >>> print(ops.repeat_interleave(Tensor([[1, 2], [3, 4]]), Tensor([1, 2]), axis=0))
        [[1 2]
         [3 4]
         [3 4]]
    """
    need_tensor("RepeatInterleave", input=input)
    axis = dim if axis is None else axis
    if axis is None:
        input, axis = shaped.ravel(input), 0
    if isinstance(repeats, Tensor):
        repeats = hooks.value_of(repeats, "repeat_interleave").reshape(-1).tolist()
    if isinstance(repeats, list | tuple):
        repeats = repeats[0] if len(repeats) == 1 else tuple(repeats)
    return indexing.repeat_interleave(input, repeats=extent_of(repeats), axis=axis_of(axis, input, "RepeatInterleave"))


def _at_least(rank: int, pad: Callable[[Tensor], tuple[Any, ...]]) -> Callable[[Any], Any]:
    def function(inputs: Any) -> Any:
        if isinstance(inputs, list | tuple):
            return tuple(function(t) for t in inputs)
        need_tensor(f"atleast_{rank}d", inputs=inputs)
        return inputs if inputs.ndim >= rank else movement.reshape(inputs, shape=pad(inputs))

    function.__name__ = f"atleast_{rank}d"
    function.__doc__ = documented(
        f"With at least {rank} {'axis' if rank == 1 else 'axes'}; a sequence gives a tuple.",
        "Tensor, or a tuple of Tensors.", f"ops.atleast_{rank}d(Tensor(1.0)).shape", str((1,) * rank),
    )  # fmt: skip
    return function


def _three(x: Tensor) -> tuple[Any, ...]:
    return (1, *x.shape, 1) if x.ndim == 1 else (1, 1, 1) if x.ndim == 0 else (*x.shape, 1)


atleast_1d = _at_least(1, lambda x: (1,))
atleast_2d = _at_least(2, lambda x: (*(1,) * (2 - x.ndim), *x.shape))
atleast_3d = _at_least(3, _three)


def flip(input: Tensor, dims: Any) -> Tensor:
    """Reversed along ``dims``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.flip(Tensor([[1, 2], [3, 4]]), (0,)))
        [[3 4]
         [1 2]]
    """
    need_tensor("Flip", input=input)
    axes = dims if isinstance(dims, list | tuple) else (dims,)
    places = tuple(axis_of(a, input, "ReverseV2") for a in axes)
    return movement.flip(input, axes=places if input.ndim else ())


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Shifted cyclically by ``shifts`` places along ``dims`` (default: the flattened tensor).

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.roll(Tensor([1, 2, 3]), 1))
        [3 1 2]
    """
    need_tensor("Roll", input=input)
    places = tuple(integer_of(n) for n in (shifts if isinstance(shifts, list | tuple) else (shifts,)))
    if dims is None:
        flat = shaped.ravel(input)
        return movement.reshape(
            movement.roll(flat, shifts=(sum(places),), axes=(0,)),
            shape=tuple(input.shape),
        )
    axes = tuple(dims) if isinstance(dims, list | tuple) else (dims,)
    if len(places) != len(axes):
        raise ValueError(
            f"For 'Roll', 'shifts' and 'dims' must have one length, but got {len(places)} and {len(axes)}."
        )
    axes = tuple(axis_of(a, input, "Roll") for a in axes)
    return movement.roll(input, shifts=places, axes=axes) if input.ndim else movement.roll(input, shifts=(), axes=())


def rot90(input: Tensor, k: int, dims: Any) -> Tensor:
    """Turned by 90 degrees ``k`` times in the plane of the two axes ``dims``.

    Returns:
        Tensor, of the dtype of ``input``; for odd ``k`` the extents of the two axes are exchanged.

    Examples:
        >>> print(ops.rot90(Tensor([[1, 2], [3, 4]]), 1, [0, 1]))
        [[2 4]
         [1 3]]
    """
    i, j = (axis_of(a, input, "rot90") for a in dims)
    if i == j:
        raise ValueError(f"For 'rot90', the axes must differ, but got {dims}.")
    match k % 4:
        case 1:
            return shaped.swapaxes(flip(input, j), i, j)
        case 2:
            return flip(input, (i, j))
        case 3:
            return flip(shaped.swapaxes(input, i, j), j)
    return input


def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """The ``length`` elements from ``start`` along ``axis``.

    Returns:
        Tensor, of the dtype of ``input``, of extent ``length`` along ``axis``.

    Examples:
        >>> print(ops.narrow(Tensor([1, 2, 3, 4]), 0, 1, 2))
        [2 3]
    """
    return tensor_parts.narrow(input, axis, start, length)


def slice(input_x: Tensor, begin: Any, size: Any) -> Tensor:
    """The block of ``size`` elements from ``begin``; -1 in ``size`` means up to the end.

    Returns:
        Tensor, of the dtype of ``input_x``.

    Examples:
        >>> print(ops.slice(Tensor([[1, 2, 3], [4, 5, 6]]), (0, 1), (2, 2)))
        [[2 3]
         [5 6]]
    """
    need_tensor("Slice", input_x=input_x)
    starts, sizes = shape_of((begin,), "Slice"), shape_of((size,), "Slice")
    if len(starts) != input_x.ndim or len(sizes) != input_x.ndim:
        raise ValueError(
            f"For 'Slice', 'begin' and 'size' must have {input_x.ndim} entries, but got {len(starts)} and {len(sizes)}."
        )
    spec = []
    for n, b, k in zip(input_x.shape, starts, sizes, strict=True):
        stop = n if k == -1 else b + k
        if b < 0 or not taken_at_most(stop, n):
            raise ValueError(
                f"For 'Slice', the slice from {starts} of size {sizes} is out of range for shape "
                f"{tuple(input_x.shape)}."
            )
        spec.append((b, stop, 1))
    return slices.strided_slice(input_x, slices=tuple(spec))


def strided_slice(
    input_x: Tensor, begin: Any, end: Any, strides: Any, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Tensor:  # fmt: skip
    """``input_x[begin:end:strides]`` with TensorFlow's bit masks.

    Returns:
        Tensor, of the dtype of ``input_x``.

    Examples:
        >>> print(ops.strided_slice(Tensor([1, 2, 3, 4]), (0,), (4,), (2,)))
        [1 3]
    """
    need_tensor("StridedSlice", input_x=input_x)
    starts, stops = shape_of((begin,), "StridedSlice"), shape_of((end,), "StridedSlice")
    steps = shape_of((strides,), "StridedSlice")
    index: list[Any] = []
    for i, (b, e, s) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(b)
        else:
            index.append(_slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return getitem(input_x, tuple(index))


_slice = builtins.slice


def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """``input`` with the slice ``index`` along ``axis`` replaced by ``src``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.select_scatter(Tensor([[1, 2], [3, 4]]), Tensor([0, 0]), 0, 1))
        [[1 2]
         [0 0]]
    """
    i = axis_of(axis, input, "select_scatter")
    at = index + input.shape[i] if index < 0 else index
    return slice_scatter(input, movement.expand_dims(src, i), i, at, at + 1)


def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """``input`` with ``input[start:end:step]`` along ``axis`` replaced by ``src``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.slice_scatter(Tensor([1, 2, 3, 4]), Tensor([0, 0]), start=1, end=3))
        [1 0 0 4]
    """
    need_tensor("SliceScatter", input=input, src=src)
    i = axis_of(axis, input, "slice_scatter")
    spec = ((None, None, None),) * i + ((start, end, step),)
    return slices.slice_update(input, to_dtype(src, input.dtype), slices=spec)


def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """The first ``seq_lengths[i]`` elements of every sequence in reverse order.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.reverse_sequence(Tensor([[1, 2, 3], [4, 5, 6]]), Tensor([2, 3]), seq_dim=1))
        [[2 1 3]
         [6 5 4]]
    """
    s, b = axis_of(seq_dim, x, "ReverseSequence"), axis_of(batch_dim, x, "ReverseSequence")
    if s == b:
        raise ValueError(f"For 'ReverseSequence', the 'batch_dim' should be != seq_dim: {s}, but got {b}.")
    place = iota(shape=tuple(x.shape), axis=s, dtype=dt.int64)
    column = tuple(n if i == b else 1 for i, n in enumerate(x.shape))
    length = movement.broadcast_to(
        movement.reshape(cast_op(seq_lengths, dtype=dt.int64), shape=column), shape=tuple(x.shape)
    )
    last = sub(length, full(shape=(), value=1, dtype=dt.int64))
    return gather_elements(x, select(less(place, length), sub(last, place), place), axis=s)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.swapaxes(Tensor([[1, 2, 3]]), 0, 1))
        [[1]
         [2]
         [3]]
    """
    need_tensor("SwapAxes", input=input)
    return shaped.swapaxes(input, axis0, axis1)


swapdims = renamed(swapaxes, "swapdims", axis0="dim0", axis1="dim1")


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
    """The axes ``source`` at the places ``destination``.

    Returns:
        Tensor, of the dtype of ``x``.

    Examples:
        >>> print(ops.moveaxis(Tensor([[1, 2, 3]]), 0, 1).shape)
        (3, 1)
    """
    need_tensor("moveaxis", x=x)
    return shaped.moveaxis(x, source, destination)


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; vectors as they are.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.t(Tensor([[1, 2], [3, 4]])))
        [[1 3]
         [2 4]]
    """
    need_tensor("T", input=input)
    return shaped.t(input)


def adjoint(x: Tensor) -> Tensor:
    """The last two axes exchanged, conjugated.

    Returns:
        Tensor, of the dtype of ``x``.

    Examples:
        >>> print(ops.adjoint(Tensor([[1, 2], [3, 4]])))
        [[1 3]
         [2 4]]
    """
    need_tensor("adjoint", x=x)
    return shaped.adjoint(x)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of ``other``.

    Returns:
        Tensor, of the shape of ``other`` and the dtype of ``input``.

    Examples:
        >>> print(ops.view_as(Tensor([1, 2]), Tensor([[0], [0]])))
        [[1]
         [2]]
    """
    need_tensor("ViewAs", input=input, other=other)
    return shaped.reshape_as(input, other)


def _flipped(name: str, what: str, printed: str) -> str:
    returns = "Tensor, of the shape and dtype of ``input``."
    return documented(
        f"``input`` with its {what} in reverse order.", returns, f"ops.{name}(Tensor([[1, 2], [3, 4]]))", printed
    )


FUNCTIONS = public_functions(globals()) | {
    "movedim": moveaxis,
    "reverse": renamed(flip, "reverse", input="x", dims="axis"),
    "tensor_slice": slice,
    "fliplr": named(lambda input: flip(input, 1), "fliplr", _flipped("fliplr", "columns", "[[2 1]\n [4 3]]")),
    "flipud": named(lambda input: flip(input, 0), "flipud", _flipped("flipud", "rows", "[[3 4]\n [1 2]]")),
}  # fmt: skip
