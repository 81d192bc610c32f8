"""Shapes and joins: ``reshape``, ``transpose``, ``concat``, ``stack``, ``split``, ``tile``, ``flip``, ``pad`` ..."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.dtype import as_dtype
from duograph.core.shapes import infer_reshape, normalize_axis, numel, taken_at_most, taken_equal_shapes
from duograph.ops import movement, slices
from duograph.ops.cast import cast as cast_op
from duograph.ops.cast import identity as identity_op
from duograph.ops.cast import stop_gradient as stop_gradient_op
from duograph.ops.creation import full
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from .. import tensor_shape as shaped
from ..promote import as_tensor, describe, promote_all, to_dtype
from ..tensor_shape import shape_of
from .forms import axis_of, named, need_sequence, need_tensor, renamed, static_int


def cast(input: Any, dtype: Any) -> Tensor:
    """``input`` (tensor or number) in ``dtype``.

    Raises:
        TypeError: ``dtype`` is no MindSpore dtype.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.cast(Tensor([1.7]), ms.int32))
        [1]
    """
    if not isinstance(dtype, dt.Type):
        raise TypeError(f"For 'Cast', the 'dtype' must be a MindSpore dtype, but got {describe(dtype)}.")
    return to_dtype(as_tensor(input, op="Cast"), as_dtype(dtype))


def reshape(input: Tensor, shape: Any) -> Tensor:
    """``input`` with the same elements in another ``shape``; one extent may be -1."""
    need_tensor("Reshape", input=input)
    return movement.reshape(input, shape=infer_reshape(input.shape, shape_of((shape,), "Reshape")))


def transpose(input: Tensor, dims: Any = None, input_perm: Any = None) -> Tensor:
    """The axes in the order ``dims``; ``input_perm`` is its older name.

    Raises:
        TypeError: none or both of the two.
    """
    need_tensor("Transpose", input=input)
    if (dims is None) == (input_perm is None):
        raise TypeError("transpose() needs the argument 'dims', or its older name 'input_perm'")
    return shaped.permute(input, _perm(input_perm if dims is None else dims))


def permute(input: Tensor, axis: Any) -> Tensor:
    """The axes in the order ``axis``."""
    need_tensor("Permute", input=input)
    return shaped.permute(input, _perm(axis))


def _perm(axes: Any) -> tuple[int, ...]:
    if isinstance(axes, Tensor):
        axes = hooks.value_of(axes, "a permutation").tolist()
    return tuple(axes) if isinstance(axes, list | tuple) else (axes,)


def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """With a new axis of size 1 at position ``axis``."""
    need_tensor("ExpandDims", input=input_x)
    return shaped.expand_dims(input_x, static_int(axis, "ExpandDims", "axis"))


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """As `expand_dims`."""
    return expand_dims(input, dim)


def squeeze(input: Tensor, axis: Any = None) -> Tensor:
    """Without the axes of size 1, or without those of ``axis``.

    Raises:
        ValueError: an axis of ``axis`` has another size.
    """
    need_tensor("Squeeze", input=input)
    if isinstance(axis, list | tuple) and not axis:
        axis = None
    return shaped.squeeze(input, axis)


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim`` as one; 1-d and 0-d tensors give 1-d."""
    need_tensor("Flatten", input=input)
    if not isinstance(order, str):
        raise TypeError(f"For 'flatten', the 'order' must be str, but got {type(order).__name__}.")
    if input.ndim < 2:
        return movement.reshape(input, shape=(numel(input.shape),))
    return shaped.flatten(input, order, start_dim=start_dim, end_dim=end_dim)


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    need_tensor("Ravel", input=input)
    return shaped.ravel(input)


def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Repeated along new axes and axes of size 1 up to ``shape``; -1 keeps an extent."""
    need_tensor("BroadcastTo", input=input)
    return shaped.broadcast_to(input, shape_of((shape,), "BroadcastTo"))


def expand(input_x: Tensor, size: Any) -> Tensor:
    """As `broadcast_to`."""
    return broadcast_to(input_x, size)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Repeated up to the shape of ``other``."""
    need_tensor("ExpandAs", input=input, other=other)
    return broadcast_to(input, tuple(other.shape))


def tile(input: Tensor, dims: Any) -> Tensor:
    """Repeated ``dims[i]`` times along axis ``i``."""
    need_tensor("Tile", input=input)
    return shaped.tile(input, *shape_of((dims,), "Tile"))


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Every slice along ``axis`` ``rep`` times in a row."""
    return repeat_interleave(x, rep, axis)


def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None, dim: int | None = None) -> Tensor:
    """Every element along ``axis`` (default: of the flattened tensor) ``repeats`` times; one number, or one each."""
    need_tensor("RepeatInterleave", input=input)
    axis = dim if axis is None else axis
    if axis is None:
        input, axis = shaped.ravel(input), 0
    if isinstance(repeats, Tensor):
        repeats = hooks.value_of(repeats, "repeat_interleave").reshape(-1).tolist()
    if isinstance(repeats, list | tuple):
        repeats = repeats[0] if len(repeats) == 1 else tuple(repeats)
    return movement.repeat_interleave(input, repeats=repeats, axis=axis_of(axis, input, "RepeatInterleave"))


def concat(tensors: Any, axis: int = 0) -> Tensor:
    """The tensors one after the other along ``axis``; mixed dtypes are promoted.

    Raises:
        TypeError: ``tensors`` is no list or tuple.
        ValueError: it is empty, or shapes differ outside ``axis``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.concat([Tensor([1]), Tensor([2, 3])]))
        [1 2 3]
    """
    parts = promote_all(*need_sequence("Concat", "tensors", tensors), op="Concat")
    rank = parts[0].ndim
    return slices.concat(*parts, axis=normalize_axis(static_int(axis, "Concat", "axis"), rank, "Concat"))


def cat(tensors: Any, axis: int = 0) -> Tensor:
    """As `concat`."""
    return concat(tensors, axis)


def stack(tensors: Any, axis: int = 0) -> Tensor:
    """The tensors, of one shape and dtype, along a new axis.

    Raises:
        TypeError: dtypes differ.
        ValueError: shapes differ, or there is none.
    """
    parts = need_sequence("Stack", "tensors", tensors)
    need_tensor("Stack", **{f"tensor{i}": t for i, t in enumerate(parts)})
    if any(t.dtype is not parts[0].dtype for t in parts):
        raise TypeError(f"All input must have the same data type! But got {', '.join(str(t.dtype) for t in parts)}.")
    for t in parts[1:]:
        if not taken_equal_shapes(t.shape, parts[0].shape):
            raise ValueError(
                f"All input shape must be the same! But got {', '.join(str(tuple(t.shape)) for t in parts)}."
            )
    rank = parts[0].ndim + 1
    return slices.stack(*parts, axis=normalize_axis(static_int(axis, "Stack", "axis"), rank, "Stack"))


def hstack(tensors: Any) -> Tensor:
    """Joined along the second axis; vectors along the first."""
    parts = [atleast_1d(t) for t in need_sequence("hstack", "tensors", tensors)]
    return concat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(inputs: Any) -> Tensor:
    """Joined along the first axis; vectors become rows."""
    return concat([atleast_2d(t) for t in need_sequence("vstack", "inputs", inputs)], 0)


def dstack(tensors: Any) -> Tensor:
    """Joined along the third axis."""
    return concat([atleast_3d(t) for t in need_sequence("dstack", "tensors", tensors)], 2)


def column_stack(tensors: Any) -> Tensor:
    """Vectors as columns of a matrix; matrices joined along the second axis."""
    parts = need_sequence("column_stack", "tensors", tensors)
    columns = [movement.reshape(t, shape=(numel(t.shape), 1)) if t.ndim < 2 else t for t in parts]
    return concat(columns, 1)


def _at_least(rank: int, pad: Callable[[Tensor], tuple[Any, ...]]) -> Callable[[Any], Any]:
    def function(inputs: Any) -> Any:
        if isinstance(inputs, list | tuple):
            return tuple(function(t) for t in inputs)
        need_tensor(f"atleast_{rank}d", inputs=inputs)
        return inputs if inputs.ndim >= rank else movement.reshape(inputs, shape=pad(inputs))

    function.__name__ = f"atleast_{rank}d"
    function.__doc__ = f"With at least {rank} axes; a sequence gives a tuple."
    return function


def _three(x: Tensor) -> tuple[Any, ...]:
    return (1, *x.shape, 1) if x.ndim == 1 else (1, 1, 1) if x.ndim == 0 else (*x.shape, 1)


atleast_1d = _at_least(1, lambda x: (1,))
atleast_2d = _at_least(2, lambda x: (*(1,) * (2 - x.ndim), *x.shape))
atleast_3d = _at_least(3, _three)


def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Views of the given size (the last may be smaller), or of the given sizes, along ``axis``."""
    need_tensor("Split", tensor=tensor)
    return shaped.split(tensor, split_size_or_sections, axis)


def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` views of equal size along ``axis``."""
    need_tensor("Chunk", input=input)
    return shaped.chunk(input, chunks, axis)


def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Views split into nearly equal parts, or at the given positions."""
    return shaped.tensor_split(input, indices_or_sections, axis)


def _split_along(axis: Callable[[Tensor], int], name: str) -> Callable[..., tuple[Tensor, ...]]:
    def function(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        return shaped.tensor_split(input, indices_or_sections, axis(input))

    function.__name__ = name
    function.__doc__ = "`tensor_split` along a fixed axis."
    return function


def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along ``axis``, without that axis."""
    need_tensor("Unstack", input_x=input_x)
    return shaped.unbind(input_x, axis)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along ``dim``, without that axis."""
    return unstack(input, dim)


def flip(input: Tensor, dims: Any) -> Tensor:
    """Reversed along ``dims``."""
    need_tensor("Flip", input=input)
    axes = dims if isinstance(dims, list | tuple) else (dims,)
    places = tuple(axis_of(a, input, "ReverseV2") for a in axes)
    return movement.flip(input, axes=places if input.ndim else ())


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Shifted cyclically by ``shifts`` places along ``dims`` (default: the flattened tensor)."""
    need_tensor("Roll", input=input)
    if dims is None:
        flat = shaped.ravel(input)
        return movement.reshape(
            movement.roll(flat, shifts=(shifts if isinstance(shifts, int) else sum(shifts),), axes=(0,)),
            shape=tuple(input.shape),
        )
    places = tuple(shifts) if isinstance(shifts, list | tuple) else (shifts,)
    axes = tuple(dims) if isinstance(dims, list | tuple) else (dims,)
    if len(places) != len(axes):
        raise ValueError(
            f"For 'Roll', 'shifts' and 'dims' must have one length, but got {len(places)} and {len(axes)}."
        )
    axes = tuple(axis_of(a, input, "Roll") for a in axes)
    return movement.roll(input, shifts=places, axes=axes) if input.ndim else movement.roll(input, shifts=(), axes=())


def rot90(input: Tensor, k: int, dims: Any) -> Tensor:
    """Turned by 90 degrees ``k`` times in the plane of the two axes ``dims``."""
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


def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Vectors as coordinate grids; ``indexing`` is ``"xy"`` (the first two axes swapped) or ``"ij"``."""
    if len(inputs) == 1 and isinstance(inputs[0], list | tuple):
        inputs = tuple(inputs[0])
    if indexing not in ("xy", "ij"):
        raise ValueError(f"For 'Meshgrid', the 'indexing' must be in ['xy', 'ij'], but got {indexing}.")
    need_tensor("Meshgrid", **{f"input{i}": t for i, t in enumerate(inputs)})
    swap = indexing == "xy" and len(inputs) > 1
    order = [1, 0, *range(2, len(inputs))] if swap else list(range(len(inputs)))
    shape = tuple(numel(inputs[i].shape) for i in order)
    grids = []
    for i, t in enumerate(inputs):
        column = [1] * len(inputs)
        column[order.index(i)] = numel(t.shape)
        grids.append(movement.broadcast_to(movement.reshape(t, shape=tuple(column)), shape=shape))
    return tuple(grids)


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """With elements more on both sides of the last axes.

    Args:
        input_x: the tensor.
        padding: pairs (before, after), the last axis first; negative ones cut off.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: for ``"constant"``; default 0.

    Raises:
        ValueError: odd number of entries, unknown mode, ``value`` with another mode.
    """
    need_tensor("pad", input=input_x)
    if isinstance(padding, Tensor):
        padding = hooks.value_of(padding, "the padding of 'pad'").reshape(-1).tolist()
    entries = [static_int(p, "pad", "padding") for p in (padding if isinstance(padding, list | tuple) else (padding,))]
    if isinstance(padding, int):
        entries = entries * 2
    if len(entries) % 2 or len(entries) > 2 * input_x.ndim:
        raise ValueError(
            f"For 'pad', the length of 'padding' must be even and at most {2 * input_x.ndim}, but got {padding}."
        )
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise ValueError(
            f"For 'pad', the 'mode' must be in ['constant', 'reflect', 'replicate', 'circular'], but got {mode}."
        )
    if mode != "constant" and value is not None:
        raise ValueError(f"For 'pad', when mode is {mode}, 'value' must be None, but got {value}.")
    pairs = [(0, 0)] * (input_x.ndim - len(entries) // 2)
    pairs += [(entries[i], entries[i + 1]) for i in range(len(entries) - 2, -1, -2)]
    return pad_pairs(input_x, pairs, mode, 0 if value is None else value)


def pad_pairs(x: Tensor, pairs: Any, mode: str = "constant", value: Any = 0) -> Tensor:
    """`pad` with one (before, after) pair per axis, the first axis first."""
    from duograph.ops.scalar import fitted

    if any(p < 0 for pair in pairs for p in pair):
        cuts = tuple((max(-b, 0), n - max(-a, 0), 1) for n, (b, a) in zip(x.shape, pairs, strict=True))
        x = slices.strided_slice(x, slices=cuts)
        pairs = [(max(b, 0), max(a, 0)) for b, a in pairs]
    if isinstance(value, Tensor):
        return slices.slice_update(
            movement.broadcast_to(
                to_dtype(value, x.dtype), shape=tuple(n + b + a for n, (b, a) in zip(x.shape, pairs, strict=True))
            ), x, slices=tuple((b, b + n, 1) for n, (b, _) in zip(x.shape, pairs, strict=True)),
        )  # fmt: skip
    return slices.pad(x, padding=tuple(tuple(p) for p in pairs), mode=mode, value=fitted(value, x.dtype))


def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """The ``length`` elements from ``start`` along ``axis``."""
    return shaped.narrow(input, axis, start, length)


def slice(input_x: Tensor, begin: Any, size: Any) -> Tensor:
    """The block of ``size`` elements from ``begin``; -1 in ``size`` means up to the end."""
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
    """``input_x[begin:end:strides]`` with TensorFlow's bit masks."""
    from ..indexing import getitem

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
    """``input`` with the slice ``index`` along ``axis`` replaced by ``src``."""
    i = axis_of(axis, input, "select_scatter")
    at = index + input.shape[i] if index < 0 else index
    return slice_scatter(input, movement.expand_dims(src, i), i, at, at + 1)


def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """``input`` with ``input[start:end:step]`` along ``axis`` replaced by ``src``."""
    need_tensor("SliceScatter", input=input, src=src)
    i = axis_of(axis, input, "slice_scatter")
    spec = ((None, None, None),) * i + ((start, end, step),)
    return slices.slice_update(input, to_dtype(src, input.dtype), slices=spec)


def shape(input_x: Tensor) -> tuple[Any, ...]:
    """The shape, a tuple."""
    need_tensor("Shape", input_x=input_x)
    return tuple(input_x.shape)


def rank(input_x: Tensor) -> int:
    """The number of dimensions."""
    need_tensor("Rank", input_x=input_x)
    return input_x.ndim


def size(input_x: Tensor) -> Any:
    """The number of elements."""
    need_tensor("Size", input_x=input_x)
    return numel(input_x.shape)


def dtype(x: Tensor) -> dt.DType:
    """The element type."""
    need_tensor("DType", x=x)
    return x.dtype


def stop_gradient(value: Any) -> Any:
    """``value`` as something that gradients do not flow through."""
    return stop_gradient_op(value) if isinstance(value, Tensor) else value


def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """The first ``seq_lengths[i]`` elements of every sequence in reverse order."""
    from duograph.ops.arithmetic import sub
    from duograph.ops.compare import less
    from duograph.ops.creation import iota
    from duograph.ops.indexing import gather_elements
    from duograph.ops.select import select

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
    """Two axes exchanged."""
    need_tensor("SwapAxes", input=input)
    return shaped.swapaxes(input, axis0, axis1)


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """As `swapaxes`."""
    return swapaxes(input, dim0, dim1)


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
    """The axes ``source`` at the places ``destination``."""
    need_tensor("moveaxis", x=x)
    return shaped.moveaxis(x, source, destination)


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; vectors as they are."""
    need_tensor("T", input=input)
    return shaped.t(input)


def adjoint(x: Tensor) -> Tensor:
    """The last two axes exchanged, conjugated."""
    need_tensor("adjoint", x=x)
    return shaped.adjoint(x)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of ``other``."""
    need_tensor("ViewAs", input=input, other=other)
    return shaped.reshape_as(input, other)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the dtype of ``other``."""
    need_tensor("TypeAs", input=input, other=other)
    return cast(input, other.dtype)


def identity(x: Any) -> Any:
    """``x`` itself."""
    return identity_op(x) if isinstance(x, Tensor) else x


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        cast, reshape, transpose, permute, expand_dims, unsqueeze, squeeze, flatten, ravel, broadcast_to, expand,
        expand_as, tile, repeat_elements, repeat_interleave, concat, cat, stack, hstack, vstack, dstack, column_stack,
        atleast_1d, atleast_2d, atleast_3d, split, chunk, tensor_split, unstack, unbind, flip, roll, rot90, meshgrid,
        pad, narrow, slice, strided_slice, select_scatter, slice_scatter, shape, rank, size, dtype, stop_gradient,
        reverse_sequence, identity, swapaxes, swapdims, moveaxis, t, adjoint, view_as,
    )
} | {
    "row_stack": renamed(vstack, "row_stack", inputs="tensors"), "shape_": shape,
    "numel": renamed(size, "numel", input_x="input"), "movedim": moveaxis,
    "reverse": renamed(flip, "reverse", input="x", dims="axis"), "tensor_slice": slice,
    "hsplit": _split_along(lambda x: 0 if x.ndim == 1 else 1, "hsplit"),
    "vsplit": _split_along(lambda x: 0, "vsplit"), "dsplit": _split_along(lambda x: 2, "dsplit"),
    "fliplr": named(lambda input: flip(input, 1), "fliplr", "``input`` with its columns in reverse order."),
    "flipud": named(lambda input: flip(input, 0), "flipud", "``input`` with its rows in reverse order."),
    "type_as": type_as,
    "deepcopy": named(lambda input_x: input_x.copy(), "deepcopy", "A copy with a storage of its own."),
}  # fmt: skip
