"""In-place methods that write elements chosen by a mask, a diagonal or indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import normalize_axis, numel
from duograph.ops import arithmetic
from duograph.ops.advanced_indexing import advanced_put
from duograph.ops.creation import full, iota
from duograph.ops.indexing import index_add, scatter_elements
from duograph.ops.movement import broadcast_to, reshape
from duograph.ops.search import masked_scatter as scatter_into_mask
from duograph.ops.select import select
from duograph.tensor.tensor import Tensor

from . import operators
from .functional.forms import need_tensor
from .indexing import check_mask, mask_indices, setitem
from .inplace import contents_read, scaled, store
from .promote import as_tensor, is_number, to_dtype


def _mask(self: Tensor, mask: Any, op: str) -> Tensor:
    if not isinstance(mask, Tensor) or not mask.dtype.is_bool:
        raise TypeError(f"For '{op}', the 'mask' must be a bool Tensor.")
    return mask


def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Elements where ``mask`` holds become ``value``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2, 3]).masked_fill_(Tensor([True, False, True]), 0))
        [0 2 0]
    """
    return store(self, select(_mask(self, mask, "masked_fill_"), as_tensor(value, self.dtype), self), "masked_fill_")


def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Elements where ``mask`` holds become the first elements of ``source``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2, 3]).masked_scatter_(Tensor([True, False, True]), Tensor([8, 9])))
        [8 2 9]
    """
    mask = broadcast_to(_mask(self, mask, "masked_scatter_"), shape=tuple(self.shape))
    return store(self, scatter_into_mask(self, mask, to_dtype(source, self.dtype)), "masked_scatter_")


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """The main diagonal becomes ``fill_value``; with ``wrap`` it starts again after the columns of a tall matrix.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).fill_diagonal_(0))
        [[0 2]
         [3 0]]
    """
    return store(self, with_diagonal(self, fill_value, wrap), "fill_diagonal_")


def with_diagonal(x: Tensor, value: Any, wrap: bool = False) -> Tensor:
    """``x`` with its main diagonal filled (for more than two axes of equal size: where all indices are equal)."""
    if x.ndim < 2:
        raise ValueError(f"For 'fill_diagonal', the rank of input must be at least 2, but got {x.ndim}.")
    if x.ndim > 2 and any(n != x.shape[0] for n in x.shape):
        raise ValueError(f"For 'fill_diagonal', all dimensions must be equal, but got shape {tuple(x.shape)}.")
    shape = tuple(x.shape)
    rows = iota(shape=shape, axis=0, dtype=dt.int64)
    if wrap and x.ndim == 2:
        rows = arithmetic.mod(rows, full(shape=(), value=shape[1] + 1, dtype=dt.int64))
    hits = operators.equal(rows, iota(shape=shape, axis=1, dtype=dt.int64))
    for axis in range(2, x.ndim):
        hits = operators.bitwise_and(hits, operators.equal(rows, iota(shape=shape, axis=axis, dtype=dt.int64)))
    return select(hits, as_tensor(value, x.dtype), x)


def _index(index: Any) -> Tensor:
    return to_dtype(as_tensor(index), dt.int64)


def index_add_(self: Tensor, dim: int, index: Any, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Slice ``i`` of ``alpha * source`` is added to slice ``index[i]`` along ``dim``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_add_(0, Tensor([1]), Tensor([[10, 10]])))
        [[ 1  2]
         [13 14]]
    """
    axis = normalize_axis(dim, self.ndim, "index_add_")
    value = to_dtype(scaled(source, alpha), self.dtype)
    return store(self, index_add(self, _index(index), value, axis=axis), "index_add_")


def _along(x: Tensor, axis: int, index: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * axis, _index(index))


def index_copy_(self: Tensor, dim: int, index: Any, source: Tensor) -> Tensor:
    """Slice ``index[i]`` along ``dim`` becomes slice ``i`` of ``source``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_copy_(0, Tensor([1]), Tensor([[8, 9]])))
        [[1 2]
         [8 9]]
    """
    setitem(self, _along(self, normalize_axis(dim, self.ndim, "index_copy_"), index), source)
    return self


def index_fill_(self: Tensor, dim: int, index: Any, value: Any) -> Tensor:
    """The slices ``index`` along ``dim`` become ``value``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_fill_(1, Tensor([0]), 7))
        [[7 2]
         [7 4]]
    """
    setitem(self, _along(self, normalize_axis(dim, self.ndim, "index_fill_"), index), value)
    return self


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: Any = False) -> Tensor:
    """``self[indices] = values``; with ``accumulate``: ``+=``, repeated indices included.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2, 3]).index_put_((Tensor([0, 0]),), Tensor([10, 20]), accumulate=True))
        [31  2  3]
    """
    index = tuple(indices)
    if accumulate:
        columns: list[Tensor] = []
        for entry in index:
            tensor = as_tensor(entry)
            if tensor.dtype.is_bool:
                check_mask(self, tensor, len(columns))
                columns += mask_indices(tensor)
            else:
                columns.append(_index(tensor))
        new = advanced_put(
            self, to_dtype(values, self.dtype), *columns, spec=("index",) * len(columns), reduction="add"
        )
        return store(self, new, "index_put_")
    setitem(self, index, values)
    return self


def _scatter(self: Tensor, dim: int, index: Tensor, src: Any, reduction: str, op: str) -> Tensor:
    axis = normalize_axis(dim, self.ndim, op)
    index = _index(index)
    if is_number(src):
        updates = broadcast_to(as_tensor(src, self.dtype), shape=tuple(index.shape))
    else:
        need_tensor(op, src=src)
        updates = to_dtype(src, self.dtype)
        if tuple(updates.shape) != tuple(index.shape):
            updates = updates[tuple(slice(0, n) for n in index.shape)]
    return store(self, scatter_elements(contents_read(self), index, updates, axis=axis, reduction=reduction), op)


def scatter_(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """``self[index[i][j]][j] = src[i][j]`` for ``dim`` 0; ``reduce`` is ``None``, ``'add'`` or ``'multiply'``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).scatter_(1, Tensor([[1], [0]]), Tensor([[8], [9]])))
        [[1 8]
         [9 4]]
    """
    how = {None: "none", "none": "none", "add": "add", "multiply": "mul"}.get(reduce)
    if how is None:
        raise ValueError(f"For 'scatter_', the 'reduce' must be None, 'add' or 'multiply', but got {reduce!r}.")
    return _scatter(self, dim, index, value if src is None else src, how, "scatter_")


def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``self[index[i][j]][j] += src[i][j]`` for ``dim`` 0.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).scatter_add_(1, Tensor([[1], [0]]), Tensor([[8], [9]])))
        [[ 1 10]
         [12  4]]
    """
    return _scatter(self, dim, index, src, "add", "scatter_add_")


def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Elements at flat positions become (with ``accumulate``: grow by) those of ``source``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).put_(Tensor([3, 0]), Tensor([8, 9])))
        [[9 2]
         [3 8]]
    """
    flat = reshape(self, shape=(numel(self.shape),))
    places = reshape(_index(index), shape=(numel(index.shape),))
    values = reshape(to_dtype(source, self.dtype), shape=(numel(source.shape),))
    new = advanced_put(flat, values, places, spec=("index",), reduction="add" if accumulate else "none")
    return store(self, reshape(new, shape=tuple(self.shape)), "put_")


METHODS: dict[str, Callable[..., Tensor]] = {
    f.__name__: f
    for f in (
        masked_fill_, masked_scatter_, fill_diagonal_, index_add_, index_copy_, index_fill_, index_put_, scatter_,
        scatter_add_, put_,
    )
}  # fmt: skip
