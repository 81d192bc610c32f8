"""Sparse tensors: containers of dense ones. What computes with them takes their parts, or `to_dense`.

They are dataclasses, so compiled functions, `grad` and `vmap` see the tensors inside of them. Operators on sparse
tensors (``ops.csr_mul`` and its family) are not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.base.absent import says_instead
from duograph.core.traits import Traits
from duograph.tensor.tensor import Tensor

from .creation import arange
from .forms import check_sparse
from .index import gather_nd, nonzero, scatter_nd
from .joining import stack
from .sorting import argsort, searchsorted

__capture__ = Traits(program=True)  # containers: their parts are followed as in a user's class


@dataclass(eq=False)
class RowTensor:
    """Some rows of a tensor whose other rows are 0.

    Args:
        indices (Tensor): 1-D, which rows.
        values (Tensor): the rows.
        shape (tuple[int]): of the dense tensor.

    Raises:
        TypeError: an argument is of another type.
        ValueError: shapes do not fit.

    Examples:
        >>> rows = ms.RowTensor(Tensor([0]), Tensor([[1.0, 2.0]]), (3, 2))
        >>> print(rows.indices, rows.values, rows.dense_shape)
        [0] [[1. 2.]] (3, 2)
    """

    indices: Tensor
    values: Tensor
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        check_sparse("RowTensor", self.shape, self.indices, self.values)

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """The shape of the dense tensor."""
        return self.shape

    def to_dense(self) -> Tensor:
        """The dense tensor; rows that are there twice are added."""
        return scatter_nd(self.indices.expand_dims(-1), self.values, self.shape)


@says_instead("SparseTensor")
class _Elements:
    """What `COOTensor` and `CSRTensor` share."""

    values: Tensor
    shape: tuple[int, ...]

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """The number of values that are kept."""
        return self.values.size

    @property
    def itemsize(self) -> int:
        """The bytes of one value."""
        return self.values.itemsize

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


@dataclass(eq=False)
class COOTensor(_Elements):
    """Some elements of a matrix whose others are 0, each with row and column.

    Args:
        indices (Tensor): rows and columns, of shape ``(N, 2)``.
        values (Tensor): the elements, of shape ``(N,)``.
        shape (tuple[int]): of the dense tensor.

    Raises:
        TypeError: an argument is of another type.
        ValueError: shapes do not fit.

    Examples:
        >>> x = ms.COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3))
        >>> print(x.to_dense())
        [[0. 1. 0.]
         [0. 0. 2.]]
    """

    indices: Tensor
    values: Tensor
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        check_sparse("COOTensor", self.shape, self.indices, self.values)

    def to_tuple(self) -> tuple[Any, ...]:
        """``(indices, values, shape)``."""
        return self.indices, self.values, self.shape

    def astype(self, dtype: Any) -> COOTensor:
        """The same with values of another dtype."""
        return COOTensor(self.indices, self.values.astype(dtype), self.shape)

    def abs(self) -> COOTensor:
        """The same with absolute values."""
        return COOTensor(self.indices, self.values.abs(), self.shape)

    def __neg__(self) -> COOTensor:
        return COOTensor(self.indices, -self.values, self.shape)

    def to_dense(self) -> Tensor:
        """The dense tensor; elements that are there twice are added."""
        return scatter_nd(self.indices, self.values, self.shape)

    def to_csr(self) -> CSRTensor:
        """The same elements by rows."""
        rows, columns = self.indices[:, 0], self.indices[:, 1]
        order = argsort(rows)  # equal rows stay in order
        bounds = arange(self.shape[0] + 1).astype(rows.dtype)
        pointers = searchsorted(rows[order], bounds).astype(rows.dtype)
        return CSRTensor(pointers, columns[order], self.values[order], self.shape)


@dataclass(eq=False)
class CSRTensor(_Elements):
    """Some elements of a matrix whose others are 0, by rows.

    Args:
        indptr (Tensor): where the elements of each row begin, and the end of the last, of shape ``(rows + 1,)``.
        indices (Tensor): the column of each element.
        values (Tensor): the elements.
        shape (tuple[int]): of the dense tensor.

    Raises:
        TypeError: an argument is of another type.
        ValueError: shapes do not fit.

    Examples:
        >>> x = ms.CSRTensor(Tensor([0, 1, 2]), Tensor([1, 2]), Tensor([1.0, 2.0]), (2, 3))
        >>> print(x.to_coo().indices)
        [[0 1]
         [1 2]]
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        check_sparse("CSRTensor", self.shape, self.indices, self.values, self.indptr)

    def to_tuple(self) -> tuple[Any, ...]:
        """``(indptr, indices, values, shape)``."""
        return self.indptr, self.indices, self.values, self.shape

    def astype(self, dtype: Any) -> CSRTensor:
        """The same with values of another dtype."""
        return CSRTensor(self.indptr, self.indices, self.values.astype(dtype), self.shape)

    def abs(self) -> CSRTensor:
        """The same with absolute values."""
        return CSRTensor(self.indptr, self.indices, self.values.abs(), self.shape)

    def __neg__(self) -> CSRTensor:
        return CSRTensor(self.indptr, self.indices, -self.values, self.shape)

    def to_coo(self) -> COOTensor:
        """The same elements with rows and columns."""
        places = arange(self.values.shape[0])
        rows = searchsorted(self.indptr, places, right=True).astype(self.indices.dtype) - 1
        return COOTensor(stack((rows, self.indices), 1), self.values, self.shape)

    def to_dense(self) -> Tensor:
        """The dense tensor."""
        return self.to_coo().to_dense()


def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """The elements of a matrix that are not 0, each with row and column.

    Args:
        tensor (Tensor): a matrix.

    Returns:
        COOTensor

    Raises:
        TypeError: it is not a Tensor.
        ValueError: it is not a matrix.

    Examples:
        >>> print(Tensor([[0.0, 5.0], [0.0, 0.0]]).to_coo().values)
        [5.]
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For 'dense_to_sparse_coo', 'tensor' must be a Tensor, but got {type(tensor).__name__}.")
    if tensor.ndim != 2:
        raise ValueError(f"Only a tensor of 2 dimensions becomes sparse, but got {tensor.ndim}.")
    indices = nonzero(tensor).astype("int32")
    return COOTensor(indices, gather_nd(tensor, indices), tuple(tensor.shape))


def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """The elements of a matrix that are not 0, by rows.

    Args:
        tensor (Tensor): a matrix.

    Returns:
        CSRTensor

    Raises:
        TypeError: it is not a Tensor.
        ValueError: it is not a matrix.

    Examples:
        >>> print(Tensor([[0.0, 5.0], [0.0, 0.0]]).to_csr().indptr)
        [0 1 1]
    """
    return dense_to_sparse_coo(tensor).to_csr()


FUNCTIONS = {"dense_to_sparse_coo": dense_to_sparse_coo, "dense_to_sparse_csr": dense_to_sparse_csr}
