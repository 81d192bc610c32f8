"""Factorisations in LAPACK's packed forms: LU with pivots, Householder reflectors; and general eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import primitive
from duograph.core.shapes import existing_axis
from duograph.core.types import TensorType, TupleType

from .arithmetic import add, conj, mul, sub
from .cast import cast
from .compare import equal
from .creation import eye, iota
from .decompositions import _lapack, _matrix, _unchanged, adjoint_matrix, triangular_solve
from .decompositions import qr as qr_op
from .diagonals import tril, triu
from .indexing import gather_elements
from .linalg import matmul
from .movement import broadcast_to, expand_dims
from .rules import batch_with, require_kind
from .slices import slice_axis

# ---- eigenvectors ----------------------------------------------------------------------------------------------------


@primitive
class eig:
    """Eigenvalues and eigenvectors (columns) of general square matrices, always complex."""

    raises = True
    batch = batch_with("eig", _unchanged)

    def infer(x):
        x = _matrix("Eig", x)
        kind = x.dtype.to_complex()
        return TupleType((TensorType(kind, x.shape[:-1]), TensorType(kind, x.shape)))

    def reference(x):
        values, vectors = _lapack(np.linalg.eig, x)
        kind = np.result_type(x.dtype, np.complex64)
        return values.astype(kind), vectors.astype(kind)


@primitive
class matrix_logarithm:
    """The principal logarithm of every complex matrix that has a basis of eigenvectors."""

    raises = True
    batch = batch_with("matrix_logarithm", _unchanged)

    def infer(x):
        x = _matrix("MatrixLogarithm", x)
        return require_kind("MatrixLogarithm", x, "c")

    def reference(x):
        values, vectors = _lapack(np.linalg.eig, x.astype(np.complex128))
        return ((vectors * np.log(values)[..., None, :]) @ _lapack(np.linalg.inv, vectors)).astype(x.dtype)


# ---- LU --------------------------------------------------------------------------------------------------------------


@primitive
class permutation_of_pivots:
    """The permutation of ``size`` rows that the exchanges ``pivots`` (counted from 1) amount to, as int64."""

    raises = True
    batch = batch_with("permutation_of_pivots", _unchanged)

    def infer(pivots, *, size):
        pivots = require_kind("LuUnpack", pivots, "i", "LU_pivots")
        existing_axis(-1, len(pivots.shape), "LuUnpack")
        return TensorType(dt.int64, (*pivots.shape[:-1], size))

    def reference(pivots, *, size):
        order = np.broadcast_to(np.arange(size), (*pivots.shape[:-1], size)).copy()
        if ((pivots < 1) | (pivots > size)).any():
            raise ValueError(f"For 'LuUnpack', the pivots must be in [1, {size}].")
        for row, exchange in zip(order.reshape(-1, size), pivots.reshape(-1, pivots.shape[-1]), strict=True):
            for i, j in enumerate(exchange.tolist()):
                row[i], row[j - 1] = row[j - 1], row[i]
        return order


def lu_solve(b: Any, packed: Any, pivots: Any) -> Any:
    """``X`` with ``P L U X = b``."""
    order = permutation_of_pivots(pivots, size=b.shape[-2])
    places = broadcast_to(expand_dims(order, len(order.shape)), shape=tuple(b.shape))
    moved = gather_elements(b, places, axis=len(b.shape) - 2)
    half = triangular_solve(packed, moved, lower=True, unit=True)
    return triangular_solve(packed, half, lower=False)


def lu_factors(packed: Any) -> tuple[Any, Any]:
    """The unit lower and the upper factor of packed ones."""
    m, n = packed.shape[-2:]
    k = min(m, n)
    left = slice_axis(packed, len(packed.shape) - 1, 0, k)
    lower = add(tril(left, diagonal=-1), eye(n=m, m=k, dtype=packed.dtype))
    return lower, triu(slice_axis(packed, len(packed.shape) - 2, 0, k), diagonal=0)


def permutation_matrix(pivots: Any, size: int, dtype: Any) -> Any:
    """``P`` of ``P L U``."""
    order = permutation_of_pivots(pivots, size=size)
    shape = (*order.shape, size)
    row = iota(shape=shape, axis=len(shape) - 2, dtype=dt.int64)
    return cast(equal(row, broadcast_to(expand_dims(order, len(order.shape) - 1), shape=shape)), dtype=dtype)


# ---- Householder reflectors ------------------------------------------------------------------------------------------


@primitive
class geqrf:
    """The QR factorisation as LAPACK packs it: ``r`` above, the reflectors below the diagonal, and their factors."""

    raises = True
    batch = batch_with("geqrf", _unchanged)

    def infer(x):
        x = _matrix("Geqrf", x, square=False)
        *lead, m, n = x.shape
        return TupleType((x, x.with_shape((*lead, min(m, n)))))

    def reference(x):
        packed, tau = _lapack(np.linalg.qr, x, mode="raw")
        return np.ascontiguousarray(np.swapaxes(packed, -1, -2)).astype(x.dtype), tau.astype(x.dtype)


def apply_reflectors(packed: Any, tau: Any, x: Any, transposed: bool = False) -> Any:
    """``Q @ x`` or ``Q^H @ x`` for the product ``Q`` of the reflectors."""
    m, k = packed.shape[-2], tau.shape[-1]
    rank = len(packed.shape)
    below = slice_axis(packed, rank - 1, 0, k)
    vectors = add(tril(below, diagonal=-1), eye(n=m, m=k, dtype=packed.dtype))
    for i in range(k) if transposed else reversed(range(k)):
        v = slice_axis(vectors, rank - 1, i, i + 1)
        factor = expand_dims(slice_axis(tau, len(tau.shape) - 1, i, i + 1), len(tau.shape))
        if transposed and tau.dtype.is_complex:
            factor = conj(factor)
        x = sub(x, mul(factor, matmul(v, matmul(adjoint_matrix(v), x))))
    return x


def least_squares(a: Any, b: Any) -> Any:
    """``X`` of the smallest norm that makes ``a @ X - b`` smallest; ``a`` has full rank."""
    if a.shape[-2] >= a.shape[-1]:
        q, r = qr_op(a)
        return triangular_solve(r, matmul(adjoint_matrix(q), b), lower=False)
    q, r = qr_op(adjoint_matrix(a))
    return matmul(q, triangular_solve(adjoint_matrix(r), b, lower=True))
