"""Functions of ``numpy`` that give positions: grids of them, those of triangles, and positions as single numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.api.functional import creation, joining
from duograph.api.functional.array import broadcast_to
from duograph.api.functional.forms import in_dtype
from duograph.api.functional.reduce import amax, amin
from duograph.api.promote import to_dtype
from duograph.core import dtype as dt
from duograph.ops import movement
from duograph.tensor.tensor import Tensor, wrap

from .elementwise import as_tensor


def indices(dimensions: Sequence[int], dtype: Any = dt.int32, sparse: bool = False) -> list[Tensor]:
    """The positions of a grid of this shape, one tensor for each axis; ``sparse``: with extents of 1 elsewhere.

    Returns:
        list of Tensors.

    Raises:
        TypeError: ``dimensions`` is not a tuple or list of integers.

    Examples:
        >>> rows, columns = mnp.indices((2, 3))
        >>> print(rows)
        [[0 0 0]
         [1 1 1]]
        >>> print(columns)
        [[0 1 2]
         [0 1 2]]
    """
    if not isinstance(dimensions, tuple | list) or not all(type(n) is int for n in dimensions):
        raise TypeError(f"For 'indices', the 'dimensions' must be a tuple or list of int, but got {dimensions!r}.")
    return _grid([creation.arange(n) for n in dimensions], sparse, dtype)


def _grid(axes: Sequence[Tensor], sparse: bool, dtype: Any = None) -> list[Tensor]:
    """Numbers along each axis, as tensors of as many axes."""
    shape = tuple([axis.shape[0] for axis in axes])
    made = []
    for i, axis in enumerate(axes):
        open_ = movement.reshape(axis, shape=tuple([n if i == k else 1 for k, n in enumerate(shape)]))
        made.append(in_dtype(open_ if sparse else broadcast_to(open_, shape), dtype))
    return made


class _Grid:
    """What ``mgrid`` and ``ogrid`` are: indexing them with slices gives grids."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        """The grid of slices; an imaginary step is a number of points, both ends included.

        Raises:
            TypeError: there is something else than slices.
        """
        slices = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(s, slice) for s in slices):
            raise TypeError(f"a grid is indexed by slices, but got {key!r}")
        axes = [_along(s) for s in slices]
        if not isinstance(key, tuple):
            return axes[0]
        kind = dt.float32 if any(axis.dtype.is_floating for axis in axes) else axes[0].dtype
        grid = _grid([to_dtype(axis, kind) for axis in axes], self._sparse)
        return grid if self._sparse else joining.stack(grid)


def _along(s: slice) -> Tensor:
    start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
    if isinstance(step, complex):
        return creation.linspace(start, s.stop, int(abs(step)))
    numbers = np.arange(start, s.stop, step)
    return wrap(numbers.astype(np.float32 if numbers.dtype.kind == "f" else np.int32))


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """The positions of the main diagonal of a cube with ``ndim`` axes of ``n`` elements.

    Returns:
        tuple of Tensors, one for each axis.

    Raises:
        TypeError: ``n`` or ``ndim`` is not an int.

    Examples:
        >>> x = mnp.zeros((3, 3))
        >>> x[mnp.diag_indices(3)] = 1.0
        >>> print(x)
        [[1. 0. 0.]
         [0. 1. 0.]
         [0. 0. 1.]]
    """
    for name, value in (("n", n), ("ndim", ndim)):
        if type(value) is not int:
            raise TypeError(f"For 'diag_indices', the '{name}' must be an int, but got {type(value).__name__}.")
    return (wrap(np.arange(n, dtype=np.int32)),) * ndim


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Rows and columns of the lower triangle of an ``n`` by ``m`` matrix, up to the ``k``-th diagonal.

    Returns:
        tuple of two Tensors.

    Examples:
        >>> rows, columns = mnp.tril_indices(3, -1)
        >>> print(rows, columns)
        [1 2 2] [0 0 1]
    """
    return _positions(np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Rows and columns of the upper triangle of an ``n`` by ``m`` matrix, from the ``k``-th diagonal.

    Returns:
        tuple of two Tensors.

    Examples:
        >>> rows, columns = mnp.triu_indices(3, 1)
        >>> print(rows, columns)
        [0 0 1] [1 2 2]
    """
    return _positions(np.triu_indices(n, k, m))


def _positions(found: tuple[np.ndarray, ...]) -> tuple[Tensor, Tensor]:
    rows, columns = found
    return wrap(rows.astype(np.int32)), wrap(columns.astype(np.int32))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """`tril_indices` of a matrix.

    Returns:
        tuple of two Tensors.

    Examples:
        >>> x = mnp.array([[1, 2], [3, 4]])
        >>> print(x[mnp.tril_indices_from(x)])
        [1 3 4]
    """
    return tril_indices(*_matrix(arr, k, "tril_indices_from"))


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """`triu_indices` of a matrix.

    Returns:
        tuple of two Tensors.

    Examples:
        >>> x = mnp.array([[1, 2], [3, 4]])
        >>> print(x[mnp.triu_indices_from(x)])
        [1 2 4]
    """
    return triu_indices(*_matrix(arr, k, "triu_indices_from"))


def _matrix(arr: Any, k: int, name: str) -> tuple[int, int, int]:
    t = as_tensor(arr)
    if t.ndim != 2:
        raise ValueError(f"For '{name}', the 'arr' must have 2 dimensions, but got {t.ndim}.")
    return t.shape[0], k, t.shape[1]


def ravel_multi_index(multi_index: Any, dims: Sequence[int], mode: str = "clip", order: str = "C") -> Tensor:
    """Positions, one row for each axis, as positions in the flattened tensor (float32, as in MindSpore).

    Returns:
        Tensor.

    Raises:
        ValueError: ``mode`` or ``order`` is none of theirs, or a position lies outside with ``mode="raise"``.

    Examples:
        >>> print(mnp.ravel_multi_index(mnp.array([[0, 1], [2, 1]]), (2, 3)))
        [2. 4.]
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"For 'ravel_multi_index', the 'mode' must be 'clip', 'wrap' or 'raise', but got {mode!r}.")
    given: Any = as_tensor(multi_index)
    sizes = [int(n) for n in dims]
    if given.shape[0] != len(sizes):
        raise ValueError(
            f"For 'ravel_multi_index', {given.shape[0]} rows are not positions in {len(sizes)} dimensions."
        )
    out: Any = 0
    given = to_dtype(given, dt.int64)  # that of large dims exceeds int32
    for row, size, stride in zip(given, sizes, _strides(sizes, order, "ravel_multi_index"), strict=True):
        if mode == "raise" and (int(amin(row)) < 0 or int(amax(row)) >= size):
            raise ValueError("For 'ravel_multi_index', a position lies outside of 'dims'.")
        out = out + (row % size if mode == "wrap" else row.clip(0, size - 1)) * stride
    return to_dtype(out, dt.float32)


def unravel_index(indices: Any, shape: Sequence[int], order: str = "C") -> tuple[Tensor, ...]:
    """Positions in a flattened tensor as positions on each axis.

    Returns:
        tuple of Tensors, one for each axis.

    Raises:
        ValueError: ``order`` is none of its values.

    Examples:
        >>> rows, columns = mnp.unravel_index([2, 4], (2, 3))
        >>> print(rows, columns)
        [0 1] [2 1]
    """
    given: Any = as_tensor(indices)
    sizes = [int(n) for n in (shape if isinstance(shape, tuple | list) else (shape,))]
    strides = _strides(sizes, order, "unravel_index")
    return tuple([given // stride % size for stride, size in zip(strides, sizes, strict=True)])


def _strides(sizes: Sequence[int], order: str, name: str) -> list[int]:
    if order not in ("C", "F"):
        raise ValueError(f"For '{name}', the 'order' must be 'C' or 'F', but got {order!r}.")
    strides, stride = [], 1
    for size in reversed(sizes) if order == "C" else sizes:
        strides.append(stride)
        stride *= size
    return strides[::-1] if order == "C" else strides


FUNCTIONS = {
    f.__name__: f
    for f in (
        indices, diag_indices, tril_indices, triu_indices, tril_indices_from, triu_indices_from, ravel_multi_index,
        unravel_index,
    )
}  # fmt: skip
