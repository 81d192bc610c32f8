"""``mindspore.scipy.linalg``: factorisations and solutions of linear systems."""

from __future__ import annotations

from typing import Any

from duograph.api import tensor_methods as _tensor_methods  # noqa: F401  (operators of Tensor)
from duograph.api.native import make_public
from duograph.api.promote import promoted_dtype, to_dtype
from duograph.ops import decompositions as dec
from duograph.ops.creation import full
from duograph.ops.movement import reshape
from duograph.ops.slices import concat
from duograph.tensor.tensor import Tensor

__all__ = ["block_diag", "cho_factor", "cho_solve", "cholesky", "det", "eigh", "inv", "solve_triangular"]


def _matrix(name: str, a: Any, square: bool = True) -> Tensor:
    if not isinstance(a, Tensor):
        raise TypeError(f"For '{name}', the 'a' should be Tensor, but got {type(a)}.")
    if a.ndim < 2:
        raise ValueError(f"For '{name}', the 'a' must be a matrix, but got {a.ndim} dimensions.")
    if square and a.shape[-1] != a.shape[-2]:
        raise ValueError(f"For '{name}', the 'a' must be a square matrix, but got shape {tuple(a.shape)}.")
    return a


def block_diag(*arrs: Tensor) -> Tensor:
    """A matrix with the given ones on its diagonal, in the dtype that holds all.

    Args:
        arrs (Tensor): the matrices; vectors count as rows.

    Returns:
        Tensor, with two axes.

    Examples:
        >>> print(ms.scipy.linalg.block_diag(Tensor([[1, 2]]), Tensor([[3], [4]])))
        [[1 2 0]
         [0 0 3]
         [0 0 4]]
    """
    if not arrs:
        raise ValueError("block_diag() needs at least one matrix")
    kind = promoted_dtype(*arrs)
    arrs = tuple(to_dtype(a, kind) for a in arrs)
    parts = [reshape(a, shape=(1,) * (2 - a.ndim) + tuple(a.shape)) if a.ndim < 2 else a for a in arrs]
    width = sum(p.shape[1] for p in parts)
    rows, left = [], 0
    for p in parts:
        sides = (left, width - left - p.shape[1])
        zeros = [full(shape=(p.shape[0], n), value=0, dtype=p.dtype) for n in sides]
        rows.append(concat(zeros[0], p, zeros[1], axis=1))
        left += p.shape[1]
    return concat(*rows, axis=0)


def inv(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The inverse of a matrix.

    Returns:
        Tensor, of the shape of ``a``.

    Examples:
        >>> print(ms.scipy.linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return dec.inverse(_matrix("inv", a))


def det(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The determinant of a matrix.

    Returns:
        Tensor, without axes.

    Examples:
        >>> print(ms.scipy.linalg.det(Tensor([[1.0, 2.0], [3.0, 5.0]])).round(decimals=3))
        -1.0
    """
    return dec.det(_matrix("det", a))


def cholesky(a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The Cholesky factor of a positive definite matrix; upper by default.

    Returns:
        Tensor, of the shape of ``a``.

    Examples:
        >>> print(ms.scipy.linalg.cholesky(Tensor([[4.0, 2.0], [2.0, 5.0]]), lower=True))
        [[2. 0.]
         [1. 2.]]
    """
    factor = dec.cholesky(_matrix("cholesky", a))
    return factor if lower else dec.adjoint_matrix(factor)


def cho_factor(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """The Cholesky factor, and whether it is lower, for `cho_solve`.

    Returns:
        tuple of the factor and of ``lower``.

    Examples:
        >>> factor, lower = ms.scipy.linalg.cho_factor(Tensor([[4.0, 2.0], [2.0, 5.0]]), lower=True)
        >>> print(ops.tril(factor), lower)
        [[2. 0.]
         [1. 2.]] True
    """
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: tuple[Tensor, bool], b: Tensor, overwrite_b: bool = False, check_finite: bool = True
) -> Tensor:
    """The solution of ``A x = b``, given the factor of ``A``.

    Args:
        c_and_lower (tuple): what `cho_factor` gives.
        b (Tensor): the right side.

    Returns:
        Tensor, of the shape of ``b``.

    Examples:
        >>> factor = ms.scipy.linalg.cho_factor(Tensor([[4.0, 2.0], [2.0, 5.0]]))
        >>> print(ms.scipy.linalg.cho_solve(factor, Tensor([8.0, 12.0])))
        [1. 2.]
    """
    c, lower = c_and_lower
    if lower:
        return solve_triangular(c, solve_triangular(c, b, lower=True), trans="T", lower=True)
    return solve_triangular(c, solve_triangular(c, b, trans="T"))


def solve_triangular(
    a: Tensor,
    b: Tensor,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Tensor:
    """The solution of ``a x = b`` for a triangular matrix.

    Args:
        a (Tensor): the matrix; only one triangle is read.
        b (Tensor): right-hand side, a vector or matrix.
        trans (Union[int, str]): ``0`` or ``"N"``: ``a``; ``1`` or ``"T"``, ``2`` or ``"C"``: its transpose. Default 0.
        lower (bool): the lower triangle. Default ``False``.
        unit_diagonal (bool): the diagonal is taken as 1. Default ``False``.

    Returns:
        Tensor, of the shape of ``b``.

    Raises:
        ValueError: shapes do not fit, or another ``trans``.
        TypeError: no tensors.

    Examples:
        >>> print(ms.scipy.linalg.solve_triangular(Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([2.0, 9.0]), lower=True))
        [1. 2.]
    """
    a = _matrix("solve_triangular", a)
    if not isinstance(b, Tensor):
        raise TypeError(f"For 'solve_triangular', the 'b' should be Tensor, but got {type(b)}.")
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"For 'solve_triangular', the 'trans' must be in [0, 1, 2, 'N', 'T', 'C'], but got {trans}.")
    vector = b.ndim == a.ndim - 1
    right = b.expand_dims(-1) if vector else b
    out = dec.triangular_solve(a, right, lower=lower, transposed=trans not in (0, "N"), unit=unit_diagonal)
    return out.squeeze(-1) if vector else out


def eigh(
    a: Tensor,
    b: Tensor | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: Any = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues, ascending, and eigenvectors (columns) of a symmetric matrix.

    Args:
        a (Tensor): the matrix; only one triangle is read.
        b (Tensor): only ``None``. Default ``None``.
        lower (bool): which triangle. Default ``True``.
        eigvals_only (bool): no vectors. Default ``False``.

    Returns:
        tuple of values and vectors; with ``eigvals_only`` the values.

    Raises:
        NotImplementedError: ``b`` or ``eigvals`` is given.

    Examples:
        >>> print(ms.scipy.linalg.eigh(Tensor([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True))
        [1. 2.]
    """
    if b is not None or eigvals is not None:
        raise NotImplementedError("Only the case b=None, eigvals=None is supported by eigh.")
    a = _matrix("eigh", a)
    values, vectors = dec.eigh(a if lower else dec.adjoint_matrix(a))
    return values if eigvals_only else (values, vectors)


make_public({name: globals()[name] for name in __all__}, globals())
