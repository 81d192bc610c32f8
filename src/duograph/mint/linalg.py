"""``mint.linalg``."""

from __future__ import annotations

from typing import Any

from duograph.api.functional import linalg
from duograph.api.functional.linalg import inverse as inv
from duograph.tensor.tensor import Tensor


def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The ``ord``-norm of the elements over ``dim``."""
    return linalg.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm ``ord`` of matrices."""
    return linalg.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A vector or matrix norm."""
    return linalg.norm(A, ord, dim, keepdim, dtype=dtype)


def qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Orthogonal and triangular factor."""
    return linalg.qr(A, mode)


__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]
