"""Matrices in packed forms: bands of diagonals, LU and Householder factors; eigenvalues, least squares."""

from __future__ import annotations

from typing import Any

from duograph.core.shapes import numel
from duograph.ops import banded, diagonals, factored, movement
from duograph.ops.creation import eye
from duograph.ops.decompositions import adjoint_matrix
from duograph.ops.linalg import matmul
from duograph.ops.slices import concat, slice_axis
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor, to_dtype
from .forms import as_float, need_tensor, public_functions, static_int
from .padding import pad_pairs

# ---- bands of diagonals ----------------------------------------------------------------------------------------------


def _pair(k: Any, op: str) -> tuple[int, int]:
    """The lowest and highest diagonal from an int, a pair, or a tensor of one or two."""
    if isinstance(k, Tensor):
        k = hooks.value_of(k, f"the diagonals of '{op}'").reshape(-1).tolist()
    given = list(k) if isinstance(k, list | tuple) else [k]
    if len(given) not in (1, 2):
        raise ValueError(f"For '{op}', the 'k' must be one or two diagonals, but got {k}.")
    return given[0], given[-1]


def matrix_diag(
    x: Tensor, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Matrices that hold the rows of ``x`` on the diagonals ``k`` and ``padding_value`` elsewhere.

    Returns:
        Tensor, of the dtype of ``x``; of one diagonal its rank is one more.

    Raises:
        ValueError: the matrix is too small for the diagonals.

    Examples:
        >>> print(ops.matrix_diag(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    need_tensor("MatrixDiagV3", x=x)
    low, high = _pair(k, "matrix_diag")
    rows, columns = (static_int(n, "matrix_diag", "num_rows") for n in (num_rows, num_cols))
    width = x.shape[-1]
    least_rows, least_columns = width - min(high, 0), width + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows, columns = (least if n == -1 else n for n, least in ((rows, least_rows), (columns, least_columns)))
    if rows < least_rows or columns < least_columns or banded.longest(rows, columns, low, high) != width:
        raise ValueError(f"For 'matrix_diag', {rows} rows and {columns} columns do not fit diagonals of {width}.")
    lead = x.shape[:-1] if low == high else x.shape[:-2]
    base = movement.broadcast_to(as_tensor(padding_value, x.dtype), shape=(*lead, rows, columns))
    return banded.with_diagonals(base, x, lowest=low, highest=high, alignment=align)


def matrix_diag_part(x: Tensor, k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """The diagonals ``k`` of matrices as rows, filled up with ``padding_value``.

    Args:
        x: matrices (..., M, N).
        k: a diagonal, or the lowest and highest of several.
        padding_value: what shorter diagonals are filled up with.
        align: on which side shorter diagonals stand, above and below the main one.

    Returns:
        (..., length), or (..., diagonals, length) for several; the highest diagonal first.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.matrix_diag_part(Tensor([[1, 2], [3, 4]]), (0, 1), 0))
        [[0 2]
         [1 4]]
    """
    need_tensor("MatrixDiagPartV3", x=x)
    low, high = _pair(k, "matrix_diag_part")
    return banded.diagonals_of(x, as_tensor(padding_value, x.dtype), lowest=low, highest=high, alignment=align)


def matrix_set_diag(x: Tensor, diagonal: Tensor, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """``x`` with the rows of ``diagonal`` on its diagonals ``k``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.matrix_set_diag(Tensor([[1, 2], [3, 4]]), Tensor([8, 9]), Tensor(0, ms.int32)))
        [[8 2]
         [3 9]]
    """
    need_tensor("MatrixSetDiagV3", x=x, diagonal=diagonal)
    low, high = _pair(k, "matrix_set_diag")
    return banded.with_diagonals(x, diagonal, lowest=low, highest=high, alignment=align)


def matrix_band_part(x: Tensor, lower: Any, upper: Any) -> Tensor:
    """The diagonals from ``lower`` below to ``upper`` above the main one (negative: all), 0 elsewhere.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.matrix_band_part(Tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), 0, 1))
        [[1 2 0]
         [0 5 6]
         [0 0 9]]
    """
    low, high = (static_int(n, "matrix_band_part", "lower") for n in (lower, upper))
    out = x if low < 0 else diagonals.triu(x, diagonal=-low)
    return out if high < 0 else diagonals.tril(out, diagonal=high)


def mirror_pad(input_x: Tensor, paddings: Any, mode: str) -> Tensor:
    """Padded with the mirror image: without the edge for ``"REFLECT"``, with it for ``"SYMMETRIC"``.

    Returns:
        Tensor, of the dtype of ``input_x``.

    Raises:
        ValueError: unknown ``mode``.

    Examples:
        >>> print(ops.mirror_pad(Tensor([[1, 2, 3]]), Tensor([[0, 0], [1, 1]]), "REFLECT"))
        [[2 1 2 3 2]]
    """
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"For 'MirrorPad', the 'mode' must be in ['REFLECT', 'SYMMETRIC'], but got {mode}.")
    rows = hooks.value_of(paddings, "the paddings of MirrorPad").tolist() if isinstance(paddings, Tensor) else paddings
    if mode == "REFLECT":
        return pad_pairs(input_x, [tuple(r) for r in rows], "reflect")
    x = input_x
    for axis, (before, after) in enumerate(rows):
        n = x.shape[axis]
        front, back = slice_axis(x, axis, 0, before), slice_axis(x, axis, n - after, n)
        x = concat(movement.flip(front, axes=(axis,)), x, movement.flip(back, axes=(axis,)), axis=axis)
    return x


# ---- factors ---------------------------------------------------------------------------------------------------------


def eig(A: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of square matrices, both complex.

    Returns:
        Two Tensors, complex: ``(..., n)`` and ``(..., n, n)``.

    Examples:
        >>> print(ops.eig(Tensor([[2.0, 0.0], [0.0, 3.0]]))[0])
        [2.+0.j 3.+0.j]
    """
    need_tensor("Eig", A=A)
    return factored.eig(A)


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices.

    Args:
        A: matrices (..., N, N).

    Returns:
        Complex (..., N).

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.eigvals(Tensor([[1.0, 0.0], [0.0, 2.0]])))
        [1.+0.j 2.+0.j]
    """
    return eig(A)[0]


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """``X`` with ``A @ X = b``, given the LU factorisation of ``A``.

    Args:
        b: right hand sides (..., M, K).
        LU_data: both factors packed (..., M, M).
        LU_pivots: exchanged rows (..., M), counted from 1.

    Returns:
        (..., M, K).

    Supported Platforms:
        ``CPU``

    Examples:
        >>> packed, pivots = Tensor([[2.0, 1.0], [0.5, 1.0]]), Tensor([1, 2])
        >>> print(ops.lu_solve(Tensor([[4.0], [4.0]]), packed, pivots))
        [[1.]
         [2.]]
    """
    need_tensor("LuSolve", b=b, LU_data=LU_data, LU_pivots=LU_pivots)
    return factored.lu_solve(b, LU_data, LU_pivots)


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The permutation, the lower and the upper factor of a packed LU factorisation.

    Returns:
        Three Tensors ``(..., m, m)``, ``(..., m, k)``, ``(..., k, n)``; ``None`` for what is not asked for.

    Examples:
        >>> print(*ops.lu_unpack(Tensor([[2.0, 3.0], [0.5, 4.0]]), Tensor([1, 2], ms.int32))[1:])
        [[1.  0. ]
         [0.5 1. ]] [[2. 3.]
         [0. 4.]]
    """
    need_tensor("LuUnpack", LU_data=LU_data, LU_pivots=LU_pivots)
    lower, upper = factored.lu_factors(LU_data) if unpack_data else (None, None)
    order = factored.permutation_matrix(LU_pivots, LU_data.shape[-2], LU_data.dtype) if unpack_pivots else None
    return order, lower, upper


def geqrf(input: Tensor) -> tuple[Tensor, Tensor]:
    """The QR factorisation in LAPACK's packed form.

    Returns:
        Two Tensors: of the shape of ``input``, and the factors ``(..., k)`` of the reflectors.

    Examples:
        >>> print([part.shape for part in ops.geqrf(Tensor([[1.0, 2.0], [3.0, 4.0]]))])
        [(2, 2), (2,)]
    """
    need_tensor("Geqrf", input=input)
    return factored.geqrf(input)


def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """The first columns of the product of Householder reflectors, as `geqrf` gives them.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.orgqr(*ops.geqrf(Tensor([[1.0, 0.0], [0.0, 1.0]]))))
        [[1. 0.]
         [0. 1.]]
    """
    need_tensor("Orgqr", input=input, input2=input2)
    *lead, m, n = input.shape
    base = movement.broadcast_to(eye(n=m, m=n, dtype=input.dtype), shape=(*lead, m, n))
    return factored.apply_reflectors(input, input2, base)


def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """``other`` multiplied from the left or right by the product of Householder reflectors, or its adjoint.

    Returns:
        Tensor, of the shape of ``other``.

    Examples:
        >>> print(ops.ormqr(*ops.geqrf(Tensor([[1.0, 0.0], [0.0, 1.0]])), Tensor([[2.0], [3.0]])))
        [[2.]
         [3.]]
    """
    need_tensor("Ormqr", input=input, tau=tau, other=other)
    if left:
        return factored.apply_reflectors(input, tau, other, transpose)
    turned = factored.apply_reflectors(input, tau, adjoint_matrix(other), not transpose)
    return adjoint_matrix(turned)


def lstsq(input: Tensor, A: Tensor) -> Tensor:
    """``X`` that makes the 2-norm of ``input @ X - A`` smallest.

    Args:
        input: matrices (..., M, N) of full rank.
        A: right hand sides (..., M, K), or (M,).

    Returns:
        (..., N, K).

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.lstsq(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([2.0, 8.0])))
        [[1.]
         [2.]]
    """
    need_tensor("Lstsq", input=input, A=A)
    column = A.ndim == 1
    a, b = as_float(input), as_float(movement.expand_dims(A, 1) if column else A)
    return factored.least_squares(a, b)


def bidense(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2`` for every ``k``, plus ``bias``.

    Returns:
        Tensor, of shape ``(..., outputs)``.

    Examples:
        >>> print(ops.bidense(Tensor([[1.0, 2.0]]), Tensor([[3.0]]), Tensor([[[1.0], [1.0]]])))
        [[9.]]
    """
    need_tensor("BiDense", input1=input1, input2=input2, weight=weight)
    count, left, right = weight.shape
    lead = input1.shape[:-1]
    rows = numel(lead)
    x, y = (movement.reshape(t, shape=(rows, t.shape[-1])) for t in (input1, input2))
    inner = matmul(x, movement.reshape(movement.transpose(weight, perm=(1, 0, 2)), shape=(left, count * right)))
    cut = movement.reshape(inner, shape=(rows, count, right))
    out = matmul(cut, movement.expand_dims(y, 2))
    out = movement.reshape(out, shape=(*lead, count))
    return out if bias is None else out + to_dtype(bias, out.dtype)


FUNCTIONS = public_functions(globals())
