"""Methods of Tensor that give parts of it, or repeat, reverse or resize it. The parts are views."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from duograph.core.dim import Dim, dim_min
from duograph.core.shapes import existing_axis, normalize_axis, numel, taken_at_most, taken_equal
from duograph.ops import movement, slices
from duograph.ops.creation import full
from duograph.ops.scalar import integer_of
from duograph.tensor.tensor import Tensor

from .tensor_shape import shape_of


def split(self: Tensor, split_size_or_sections: Any, axis: int = 0, *, dim: int | None = None) -> tuple[Tensor, ...]:
    """Views of the given size (the last may be smaller), or of the given sizes, along ``axis``.

    Returns:
        tuple[Tensor, ...]

    Examples:
        >>> print(*Tensor([1, 2, 3]).split(2))
        [1 2] [3]
    """
    axis = existing_axis(axis if dim is None else dim, self.ndim, "split")
    extent = self.shape[axis]
    if isinstance(split_size_or_sections, list | tuple):
        sizes = tuple(integer_of(n) for n in split_size_or_sections)
        if not taken_equal(sum(sizes), extent) or not all(taken_at_most(0, n) for n in sizes if isinstance(n, Dim)):
            raise ValueError(f"The sum of 'split_size_or_sections' should be equal to {extent}, but got {sum(sizes)}.")
        return slices.split(self, sizes, axis)
    step = integer_of(split_size_or_sections)
    if isinstance(step, bool) or not isinstance(step, int | Dim):
        raise TypeError(f"For 'split', the type of argument must be int, list or tuple, but got {type(step)}.")
    if not taken_at_most(1, step):
        raise ValueError(f"For split, the value of 'split_size_or_sections' must be more than zero, but got {step}.")
    whole = -(-extent // step)
    return slices.split(self, tuple(dim_min(step, extent - i * step) for i in range(whole) or (0,)), axis)


def chunk(self: Tensor, chunks: int, axis: int = 0, *, dim: int | None = None) -> tuple[Tensor, ...]:
    """At most ``chunks`` views of equal size (the last may be smaller) along ``axis``.

    Returns:
        tuple[Tensor, ...]

    Examples:
        >>> print(*Tensor([1, 2, 3]).chunk(2))
        [1 2] [3]
    """
    axis = existing_axis(axis if dim is None else dim, self.ndim, "chunk")
    if not isinstance(chunks, int) or isinstance(chunks, bool):
        raise TypeError(f"For ops.chunk parameter 'chunks' must be int, but got {type(chunks).__name__}.")
    if chunks <= 0:
        raise ValueError(f"For ops.chunk parameter 'chunks' must be greater than 0, but got {chunks!r}")
    extent = self.shape[axis]
    if extent == 0:
        return slices.split(self, (0,) * chunks, axis)
    step = -(-extent // chunks)
    if isinstance(extent, Dim) and taken_at_most((chunks - 1) * step + 1, extent):  # as many as are asked for
        return slices.split(self, (*(step,) * (chunks - 1), extent - (chunks - 1) * step), axis)
    return split(self, step, axis)


def tensor_split(self: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Views split into nearly equal parts (int), or at the given positions.

    Returns:
        tuple[Tensor, ...]

    Examples:
        >>> print(*Tensor([1, 2, 3]).tensor_split((1,)))
        [1] [2 3]
    """
    axis = existing_axis(axis, self.ndim, "tensor_split")
    extent = self.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise ValueError(f"For 'tensor_split', sections must be positive, but got {indices_or_sections}.")
        small, large = divmod(extent, indices_or_sections)
        sizes = [small + 1] * large + [small] * (indices_or_sections - large)
        return slices.split(self, tuple(sizes), axis)
    cuts = [None, *indices_or_sections, None]
    return tuple(slices.slice_axis(self, axis, a, b) for a, b in pairwise(cuts))


def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along ``dim``, without that axis.

    Returns:
        tuple[Tensor, ...]

    Examples:
        >>> print(*Tensor([[1, 2], [3, 4]]).unbind(1))
        [1 3] [2 4]
    """
    return slices.unstack(self, existing_axis(dim, self.ndim, "unbind"))


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """The ``length`` elements from ``start`` along ``dim``.

    Returns:
        Tensor, of this dtype; a view.

    Examples:
        >>> print(Tensor([1, 2, 3, 4]).narrow(0, 1, 2))
        [2 3]
    """
    axis = existing_axis(dim, self.ndim, "narrow")
    extent, start, length = self.shape[axis], integer_of(start), integer_of(length)
    first = start + extent if isinstance(start, int) and start < 0 else start
    if not (taken_at_most(0, first) and taken_at_most(0, length) and taken_at_most(first + length, extent)):
        raise ValueError(f"For 'narrow', start {start} and length {length} exceed dimension size {extent}.")
    return slices.slice_axis(self, axis, first, first + length)


def tile(self: Tensor, *repeats: Any, dims: Any = None, reps: Any = None) -> Tensor:
    """Repeated ``dims[i]`` times along axis ``i``.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([1, 2]).tile(2, 2))
        [[1 2 1 2]
         [1 2 1 2]]
    """
    named = dims if dims is not None else reps
    multiples = shape_of(repeats if named is None else (named,), "tile")
    lead = len(multiples) - self.ndim
    if lead > 0:
        self = movement.reshape(self, shape=((1,) * lead + tuple(self.shape)))
    return movement.tile(self, multiples=(1,) * -lead + multiples)


def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """As `tile`, with at least one entry per axis.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([1, 2]).repeat(2))
        [1 2 1 2]
    """
    multiples = shape_of(repeats, "repeat")
    if len(multiples) < self.ndim:
        raise ValueError(
            f"For 'Repeat', number of items of repeats can not be smaller than the number of dimensions of self "
            f"tensor, but got {len(multiples)} and {self.ndim}."
        )
    return tile(self, multiples)


def reverse(self: Tensor, axis: Any) -> Tensor:
    """The elements in reverse order along the axes.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([1, 2, 3]).reverse(0))
        [3 2 1]
    """
    axes = axis if isinstance(axis, list | tuple) else (axis,)
    return movement.flip(self, axes=tuple(normalize_axis(a, self.ndim, "ReverseV2") for a in axes))


def flip(self: Tensor, dims: Any, *more: Any) -> Tensor:
    """The elements in reverse order along ``dims``: ``x.flip(0, 1)``, ``x.flip((0, 1))`` or ``x.flip(dims=(0, 1))``.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([1, 2, 3]).flip(0))
        [3 2 1]
    """
    return reverse(self, shape_of((dims, *more), "flip"))


def resize(self: Tensor, *new_shape: Any) -> Tensor:
    """The elements in row-major order in a new shape: cut off, or followed by zeros.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([1, 2, 3]).resize(2, 2))
        [[1 2]
         [3 0]]
    """
    shape = shape_of(new_shape, "resize")
    flat = movement.reshape(self, shape=(numel(self.shape),))
    have, want = numel(self.shape), numel(shape)
    if want > have:
        flat = slices.concat(flat, full(shape=(want - have,), value=0, dtype=self.dtype), axis=0)
    return movement.reshape(slices.slice_axis(flat, 0, 0, want), shape=shape)


METHODS: dict[str, Any] = {
    "split": split, "chunk": chunk, "tensor_split": tensor_split, "unbind": unbind, "narrow": narrow, "tile": tile,
    "repeat": repeat, "reverse": reverse, "flip": flip, "resize": resize,
}  # fmt: skip
