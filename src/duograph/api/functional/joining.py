"""Joining tensors, and splitting them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core.shapes import normalize_axis, numel, taken_equal_shapes
from duograph.ops import movement, slices
from duograph.ops.cast import cast
from duograph.tensor.tensor import Tensor

from .. import tensor_parts
from ..promote import promote_all
from .array import atleast_1d, atleast_2d, atleast_3d
from .forms import documented, need_sequence, need_tensor, public_functions, renamed, static_int


def concat(tensors: Any, axis: int = 0) -> Tensor:
    """The tensors one after the other along ``axis``; mixed dtypes are promoted.

    Returns:
        Tensor, of the promoted dtype; its extent along ``axis`` is the sum of theirs.

    Raises:
        TypeError: ``tensors`` is not a list or tuple.
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


cat = renamed(concat, "cat")


def stack(tensors: Any, axis: int = 0) -> Tensor:
    """The tensors, of one shape and dtype, along a new axis.

    Returns:
        Tensor, of their dtype; its rank is one more than theirs.

    Raises:
        TypeError: dtypes differ.
        ValueError: shapes differ, or there is none.

    Examples:
        >>> print(ops.stack([Tensor([1, 2]), Tensor([3, 4])]))
        [[1 2]
         [3 4]]
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
    """Joined along the second axis; vectors along the first.

    Returns:
        Tensor, of the promoted dtype.

    Examples:
        >>> print(ops.hstack([Tensor([1, 2]), Tensor([3])]))
        [1 2 3]
    """
    parts = [atleast_1d(t) for t in need_sequence("hstack", "tensors", tensors)]
    return concat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(inputs: Any) -> Tensor:
    """Joined along the first axis; vectors become rows.

    Returns:
        Tensor, of the promoted dtype.

    Examples:
        >>> print(ops.vstack([Tensor([1, 2]), Tensor([3, 4])]))
        [[1 2]
         [3 4]]
    """
    return concat([atleast_2d(t) for t in need_sequence("vstack", "inputs", inputs)], 0)


def dstack(tensors: Any) -> Tensor:
    """Joined along the third axis.

    Returns:
        Tensor, of rank 3 or more.

    Examples:
        >>> print(ops.dstack([Tensor([1, 2]), Tensor([3, 4])]))
        [[[1 3]
          [2 4]]]
    """
    return concat([atleast_3d(t) for t in need_sequence("dstack", "tensors", tensors)], 2)


def column_stack(tensors: Any) -> Tensor:
    """Vectors as columns of a matrix; matrices joined along the second axis.

    Returns:
        Tensor, of the promoted dtype.

    Examples:
        >>> print(ops.column_stack([Tensor([1, 2]), Tensor([3, 4])]))
        [[1 3]
         [2 4]]
    """
    parts = need_sequence("column_stack", "tensors", tensors)
    columns = [movement.reshape(t, shape=(numel(t.shape), 1)) if t.ndim < 2 else t for t in parts]
    return concat(columns, 1)


def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Views of the given size (the last may be smaller), or of the given sizes, along ``axis``.

    Returns:
        tuple[Tensor, ...]

    Examples:
        >>> print(*ops.split(Tensor([1, 2, 3]), 2))
        [1 2] [3]
    """
    need_tensor("Split", tensor=tensor)
    return tensor_parts.split(tensor, split_size_or_sections, axis)


def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` views of equal size along ``axis``.

    Returns:
        tuple[Tensor, ...]

    Examples:
        >>> print(*ops.chunk(Tensor([1, 2, 3]), 2))
        [1 2] [3]
    """
    need_tensor("Chunk", input=input)
    return tensor_parts.chunk(input, chunks, axis)


def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Views split into nearly equal parts, or at the given positions.

    Returns:
        tuple[Tensor, ...]

    Examples:
        >>> print(*ops.tensor_split(Tensor([1, 2, 3]), (1,)))
        [1] [2 3]
    """
    return tensor_parts.tensor_split(input, indices_or_sections, axis)


def _split_along(axis: Callable[[Tensor], int], name: str) -> Callable[..., tuple[Tensor, ...]]:
    def function(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        return tensor_parts.tensor_split(input, indices_or_sections, axis(input))

    function.__name__ = name
    which = {"h": "second axis, of vectors along the first", "v": "first axis", "d": "third axis"}[name[0]]
    function.__doc__ = documented(
        f"`tensor_split` along the {which}.", "tuple[Tensor, ...]", f"len(ops.{name}(ops.ones((2, 2, 2)), 2))", "2"
    )
    return function


def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along ``axis``, without that axis.

    Returns:
        tuple[Tensor, ...]

    Examples:
        >>> print(*ops.unstack(Tensor([[1, 2], [3, 4]])))
        [1 2] [3 4]
    """
    need_tensor("Unstack", input_x=input_x)
    return tensor_parts.unbind(input_x, axis)


unbind = renamed(unstack, "unbind", input_x="input", axis="dim")


def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Vectors as coordinate grids; ``indexing`` is ``"xy"`` (the first two axes swapped) or ``"ij"``.

    Returns:
        tuple[Tensor, ...], one per vector, of the shape that their extents make.

    Examples:
        >>> print(*ops.meshgrid(Tensor([1, 2]), Tensor([3, 4]), indexing="ij"))
        [[1 1]
         [2 2]] [[3 4]
         [3 4]]
    """
    if len(inputs) == 1 and isinstance(inputs[0], list | tuple):
        inputs = tuple(inputs[0])
    if not isinstance(indexing, str):
        raise TypeError(f"For 'Meshgrid', the 'indexing' must be str, but got {type(indexing).__name__}.")
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
        grid = movement.broadcast_to(movement.reshape(t, shape=tuple(column)), shape=shape)
        grids.append(cast(grid, dtype=grid.dtype))  # may be written
    return tuple(grids)


FUNCTIONS = public_functions(globals()) | {
    "row_stack": renamed(vstack, "row_stack", inputs="tensors"),
    "hsplit": _split_along(lambda x: 0 if x.ndim == 1 else 1, "hsplit"),
    "vsplit": _split_along(lambda x: 0, "vsplit"),
    "dsplit": _split_along(lambda x: 2, "dsplit"),
}  # fmt: skip
