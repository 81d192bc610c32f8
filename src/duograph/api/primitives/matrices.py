"""Primitive classes of matrices: bands of diagonals, factorisations, solutions."""

from __future__ import annotations

from typing import Any

from duograph.ops import factored
from duograph.ops.creation import eye, full
from duograph.ops.decompositions import adjoint_matrix, triangular_solve
from duograph.ops.decompositions import solve as solve_op
from duograph.ops.linalg import matmul
from duograph.ops.movement import transpose
from duograph.ops.slices import concat, slice_axis
from duograph.tensor.tensor import Tensor

from ..functional import linalg, matrices, statistics
from ..promote import as_tensor
from .base import Table, from_function

CLASSES = Table(
    {
        name: from_function(name, matrices.FUNCTIONS[function])
        for name, function in {"Geqrf": "geqrf", "Orgqr": "orgqr", "LuSolve": "lu_solve"}.items()
    }
)
_row = CLASSES.row
"""Class name to class."""


_ALIGN = {"align": "RIGHT_LEFT"}
_row("MatrixDiagV3", lambda p, x, k, rows, cols, pad: matrices.matrix_diag(x, k, rows, cols, pad, p.align), _ALIGN)
_row("MatrixDiagPartV3", lambda p, x, k, pad: matrices.matrix_diag_part(x, k, pad, p.align), _ALIGN)
_row("MatrixSetDiagV3", lambda p, x, d, k: matrices.matrix_set_diag(x, d, k, p.align), _ALIGN)
_row("MirrorPad", lambda p, x, paddings: matrices.mirror_pad(x, paddings, p.mode), {"mode": "REFLECT"})


def _eig(p: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues, and with ``compute_v`` eigenvectors (else an empty tensor)."""
    values, vectors = matrices.eig(x)
    return values, vectors if p.compute_v else full(shape=(0,), value=0, dtype=values.dtype)


_row("Eig", _eig, {"compute_v": False})
_row(
    "Lstsq", lambda p, x, a: matrices.lstsq(x, a), {"fast": True, "l2_regularizer": 0.0},
    only={"fast": (True,), "l2_regularizer": (0.0,)},
)  # fmt: skip
_row(
    "LuUnpack", lambda p, data, pivots: matrices.lu_unpack(data, pivots, p.unpack_data, p.unpack_pivots),
    {"unpack_data": True, "unpack_pivots": True},
)  # fmt: skip
_row(
    "Ormqr", lambda p, x, tau, other: matrices.ormqr(x, tau, other, p.left, p.transpose),
    {"left": True, "transpose": False},
)  # fmt: skip
_row("MatrixLogarithm", lambda p, x: factored.matrix_logarithm(x))


def _solve_ls(p: Any, matrix: Tensor, rhs: Tensor, l2: Any) -> Tensor:
    """Least squares with the penalty ``l2``, by the normal equations; not ``fast``: by QR, without penalty."""
    if not p.fast:
        return factored.least_squares(matrix, rhs)
    other = adjoint_matrix(matrix)
    n = matrix.shape[-1]
    weight = as_tensor(l2, matrix.dtype)
    return solve_op(matmul(other, matrix) + eye(n=n, m=n, dtype=matrix.dtype) * weight, matmul(other, rhs))


_row("MatrixSolveLs", _solve_ls, {"fast": True})


def _triangular(p: Any, matrix: Tensor, rhs: Tensor) -> Tensor:
    """The solution with one triangle of ``matrix``, or its adjoint."""
    if p.adjoint:
        return triangular_solve(adjoint_matrix(matrix), rhs, lower=not p.lower)
    return triangular_solve(matrix, rhs, lower=p.lower)


_row("MatrixTriangularSolve", _triangular, {"lower": True, "adjoint": False})


def _tridiagonal(p: Any, above: Tensor, main: Tensor, below: Tensor, x: Tensor) -> Tensor:
    """The product of the matrix with three diagonals (..., 1, M) and ``x`` (..., M, N)."""
    axis, n = x.ndim - 2, x.shape[-2]
    zero = slice_axis(x, axis, 0, 1) * 0
    up = concat(slice_axis(x, axis, 1, n), zero, axis=axis)
    down = concat(zero, slice_axis(x, axis, 0, n - 1), axis=axis)
    above, main, below = (transpose(d, perm=(*range(axis), axis + 1, axis)) for d in (above, main, below))
    return above * up + main * x + below * down


_row("TridiagonalMatMul", _tridiagonal)


def _nuclear(p: Any, x: Tensor) -> Tensor:
    """The sum of the singular values of the matrices in two axes."""
    axes = tuple(range(x.ndim)) if p.dim is None else tuple(p.dim)
    if x.ndim == 2 or len(axes) == 2:
        return linalg.matrix_norm(x, "nuc", axes[:2], p.keepdim)
    raise ValueError(f"For 'NuclearNorm', the 'dim' must name 2 axes, but got {p.dim}.")


_row("NuclearNorm", _nuclear, {"dim": None, "keepdim": False})
_row("Pdist", lambda p, x: linalg.pdist(x, p.p), {"p": 2.0})
_row(
    "Quantile", lambda p, x, q: statistics.quantile(x, q, p.dim, p.keep_dims, ignore_nan=p.ignore_nan),
    {"dim": None, "keep_dims": False, "ignore_nan": False},
)  # fmt: skip
