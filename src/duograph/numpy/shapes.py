"""Functions of ``numpy`` that order elements anew: shapes, axes, parts and joins."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from duograph.api import tensor_parts
from duograph.api import tensor_shape as shaped
from duograph.api.functional import array as arrays
from duograph.api.functional import joining
from duograph.api.functional.joining import concat as join
from duograph.api.functional.joining import stack as join_anew
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor


def reshape(x: Any, new_shape: Any) -> Tensor:
    """The elements in another shape.

    Returns:
        Tensor, of shape ``new_shape``.

    Examples:
        >>> print(mnp.reshape([1, 2, 3, 4], (2, -1)))
        [[1 2]
         [3 4]]
    """
    return arrays.reshape(as_tensor(x), new_shape)


def transpose(a: Any, axes: Any = None) -> Tensor:
    """The axes in another order, reversed by default.

    Returns:
        Tensor, of the dtype of ``a``.

    Examples:
        >>> print(mnp.transpose([[1, 2], [3, 4]]), mnp.transpose(mnp.ones((2, 3, 4)), (1, 0, 2)).shape)
        [[1 3]
         [2 4]] (3, 2, 4)
    """
    t = as_tensor(a)
    return shaped.transpose(t) if axes is None else arrays.transpose(t, axes)


def expand_dims(a: Any, axis: Any) -> Tensor:
    """With new axes of size 1.

    Returns:
        Tensor, with one axis more for each of ``axis``.

    Examples:
        >>> print(mnp.expand_dims([1, 2], 0).shape, mnp.expand_dims([1, 2], (0, 2)).shape)
        (1, 2) (1, 2, 1)
    """
    t = as_tensor(a)
    for i in sorted(axis) if isinstance(axis, list | tuple) else (axis,):
        t = arrays.expand_dims(t, i)
    return t


def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Without axes of size 1.

    Returns:
        Tensor, of the dtype of ``a``.

    Examples:
        >>> print(mnp.squeeze(mnp.ones((1, 2, 1))).shape, mnp.squeeze(mnp.ones((1, 2, 1)), 0).shape)
        (2,) (2, 1)
    """
    return arrays.squeeze(as_tensor(a), axis)


def ravel(x: Any) -> Tensor:
    """All elements in one dimension.

    Returns:
        Tensor, with one axis.

    Examples:
        >>> print(mnp.ravel([[1, 2], [3, 4]]))
        [1 2 3 4]
    """
    return shaped.ravel(as_tensor(x))


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes exchanged.

    Returns:
        Tensor, of the dtype of ``x``.

    Examples:
        >>> print(mnp.swapaxes(mnp.ones((2, 3, 4)), 0, 2).shape)
        (4, 3, 2)
    """
    return shaped.swapaxes(as_tensor(x), axis1, axis2)


def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Axes moved.

    Returns:
        Tensor, of the dtype of ``a``.

    Examples:
        >>> print(mnp.moveaxis(mnp.ones((2, 3, 4)), 0, -1).shape)
        (3, 4, 2)
    """
    return shaped.moveaxis(as_tensor(a), source, destination)


def broadcast_to(array: Any, shape: Any) -> Tensor:
    """Repeated up to ``shape``.

    Returns:
        Tensor, of shape ``shape``.

    Examples:
        >>> print(mnp.broadcast_to([1, 2], (2, 2)))
        [[1 2]
         [1 2]]
    """
    return arrays.broadcast_to(as_tensor(array), shape)


def broadcast_arrays(*args: Any) -> list[Tensor]:
    """All repeated up to one shape.

    Returns:
        list of Tensors, of one shape.

    Raises:
        TypeError: an argument has an unsupported type.
        ValueError: the shapes do not fit.

    Examples:
        >>> x, y = mnp.broadcast_arrays([1, 2], [[3], [4]])
        >>> print(x)
        [[1 2]
         [1 2]]
        >>> print(y)
        [[3 3]
         [4 4]]
    """
    parts = [as_tensor(a) for a in args]
    shape = shaped.broadcast_shape(*[t.shape for t in parts])
    return [arrays.broadcast_to(t, shape) for t in parts]


def tile(a: Any, reps: Any) -> Tensor:
    """Repeated along every axis.

    Returns:
        Tensor, of the dtype of ``a``.

    Examples:
        >>> print(mnp.tile([1, 2], (2, 2)))
        [[1 2 1 2]
         [1 2 1 2]]
    """
    t, times = as_tensor(a), (reps,) if isinstance(reps, int) else tuple(reps)
    return tensor_parts.tile(t, *((1,) * (t.ndim - len(times)) + times))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Every element repeated.

    Returns:
        Tensor, of the dtype of ``a``.

    Examples:
        >>> print(mnp.repeat([1, 2], 2), mnp.repeat([1, 2], [1, 3]))
        [1 1 2 2] [1 2 2 2]
    """
    return arrays.repeat_interleave(as_tensor(a), repeats, axis)


def flip(m: Any, axis: Any = None) -> Tensor:
    """Reversed along axes (default: all).

    Returns:
        Tensor, of the shape and dtype of ``m``.

    Examples:
        >>> print(mnp.flip([[1, 2], [3, 4]]))
        [[4 3]
         [2 1]]
    """
    t = as_tensor(m)
    return arrays.flip(t, tuple(range(t.ndim)) if axis is None else axis)


def fliplr(m: Any) -> Tensor:
    """Reversed along the second axis.

    Args:
        m (Union[Tensor, list, tuple]): the operand.

    Returns:
        Tensor, of the shape and dtype of ``m``.

    Examples:
        >>> print(mnp.fliplr([[1, 2], [3, 4]]))
        [[2 1]
         [4 3]]
    """
    return flip(m, 1)


def flipud(m: Any) -> Tensor:
    """Reversed along the first axis.

    Args:
        m (Union[Tensor, list, tuple]): the operand.

    Returns:
        Tensor, of the shape and dtype of ``m``.

    Examples:
        >>> print(mnp.flipud([[1, 2], [3, 4]]))
        [[3 4]
         [1 2]]
    """
    return flip(m, 0)


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Shifted cyclically; one shift for several axes, or several shifts of one axis.

    Returns:
        Tensor, of the shape and dtype of ``a``.

    Examples:
        >>> print(mnp.roll([1, 2, 3, 4], 1), mnp.roll([1, 2, 3, 4], -1))
        [4 1 2 3] [2 3 4 1]
    """
    places = list(shift) if isinstance(shift, list | tuple) else [shift]
    if axis is None:
        return arrays.roll(as_tensor(a), builtins.sum(places))
    axes = list(axis) if isinstance(axis, list | tuple) else [axis]
    n = builtins.max(len(places), len(axes))
    places, axes = (x * n if len(x) == 1 else x for x in (places, axes))
    return arrays.roll(as_tensor(a), tuple(places), tuple(axes))


def rot90(a: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """Turned by 90 degrees ``k`` times.

    Returns:
        Tensor, of the dtype of ``m``.

    Examples:
        >>> print(mnp.rot90([[1, 2], [3, 4]]))
        [[2 4]
         [1 3]]
    """
    return arrays.rot90(as_tensor(a), k, axes)


def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    """One after the other; ``axis=None`` flattens first.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.concatenate(([1, 2], [3])), mnp.concatenate(([[1], [2]], [[3], [4]]), axis=1))
        [1 2 3] [[1 3]
         [2 4]]
    """
    parts = [as_tensor(a) for a in arrays]
    return join([shaped.ravel(t) for t in parts] if axis is None else parts, 0 if axis is None else axis)


def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """``values`` behind ``arr``.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.append([1, 2], [[3, 4]]))
        [1 2 3 4]
    """
    return concatenate((arr, values), axis)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Along a new axis.

    Returns:
        Tensor, with one axis more.

    Examples:
        >>> print(mnp.stack(([1, 2], [3, 4]), axis=1))
        [[1 3]
         [2 4]]
    """
    return join_anew([as_tensor(a) for a in arrays], axis)


def hstack(tup: Any) -> Tensor:
    """One beside the other: along the second axis, vectors along their only one.

    Args:
        tup (Union[tuple, list]): the parts.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.hstack(([1, 2], [3])), mnp.hstack(([[1], [2]], [[3], [4]])).tolist())
        [1 2 3] [[1, 3], [2, 4]]
    """
    return joining.hstack([as_tensor(t) for t in tup])


def vstack(tup: Any) -> Tensor:
    """One below the other: along the first axis, vectors as rows.

    Args:
        tup (Union[tuple, list]): the parts.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.vstack(([1, 2], [3, 4])))
        [[1 2]
         [3 4]]
    """
    return joining.vstack([as_tensor(t) for t in tup])


def dstack(tup: Any) -> Tensor:
    """One behind the other: along the third axis.

    Args:
        tup (Union[tuple, list]): the parts.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.dstack(([1, 2], [3, 4])))
        [[[1 3]
          [2 4]]]
    """
    return joining.dstack([as_tensor(t) for t in tup])


def column_stack(tup: Any) -> Tensor:
    """One beside the other, vectors as columns.

    Args:
        tup (Union[tuple, list]): the parts.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.column_stack(([1, 2], [3, 4])))
        [[1 3]
         [2 4]]
    """
    return joining.column_stack([as_tensor(t) for t in tup])


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Equal parts (a tuple), or parts at given positions (a list).

    Returns:
        tuple or list of Tensors.

    Examples:
        >>> print([part.tolist() for part in mnp.split(mnp.arange(6), 3)])
        [[0, 1], [2, 3], [4, 5]]
        >>> print([part.tolist() for part in mnp.split(mnp.arange(4), [1])])
        [[0], [1, 2, 3]]
    """
    t = as_tensor(x)
    if isinstance(indices_or_sections, int) and t.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(t, indices_or_sections, axis)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Nearly equal parts (a tuple), or parts at given positions (a list).

    Returns:
        tuple or list of Tensors.

    Examples:
        >>> print([part.tolist() for part in mnp.array_split(mnp.arange(5), 2)])
        [[0, 1, 2], [3, 4]]
    """
    parts = tensor_parts.tensor_split(as_tensor(x), indices_or_sections, axis)
    return parts if isinstance(indices_or_sections, int) else list(parts)


def _one_or_all(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else found


def atleast_1d(*arys: Any) -> Any:
    """With at least one axis.

    Args:
        arys (Union[Tensor, list, tuple, number]): one or more operands.

    Returns:
        Tensor, or a list of them.

    Examples:
        >>> print(mnp.atleast_1d(3.0), [x.shape for x in mnp.atleast_1d(1, [2, 3])])
        [3.] [(1,), (2,)]
    """
    return _one_or_all([arrays.atleast_1d(as_tensor(a)) for a in arys])


def atleast_2d(*arys: Any) -> Any:
    """With at least two axes; new ones come first.

    Args:
        arys (Union[Tensor, list, tuple, number]): one or more operands.

    Returns:
        Tensor, or a list of them.

    Examples:
        >>> print(mnp.atleast_2d([1, 2]))
        [[1 2]]
    """
    return _one_or_all([arrays.atleast_2d(as_tensor(a)) for a in arys])


def atleast_3d(*arys: Any) -> Any:
    """With at least three axes; new ones stand around those of vectors, and behind those of matrices.

    Args:
        arys (Union[Tensor, list, tuple, number]): one or more operands.

    Returns:
        Tensor, or a list of them.

    Examples:
        >>> print(mnp.atleast_3d([1, 2]).shape, mnp.atleast_3d([[1, 2]]).shape)
        (1, 2, 1) (1, 2, 1)
    """
    return _one_or_all([arrays.atleast_3d(as_tensor(a)) for a in arys])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        reshape, transpose, expand_dims, squeeze, ravel, swapaxes, moveaxis, broadcast_to, broadcast_arrays,
        tile, repeat, flip, roll, rot90, concatenate, append, stack, split, array_split, hstack, vstack, dstack,
        column_stack, atleast_1d, atleast_2d, atleast_3d, fliplr, flipud,
    )
}  # fmt: skip
