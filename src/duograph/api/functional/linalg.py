"""Linear algebra: norms and distances, factorisations, solutions, functions of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.ops import arithmetic, diagonals, linalg, movement
from duograph.ops import decompositions as dec
from duograph.ops import reduce as red
from duograph.ops.creation import arange, constant_like, eye
from duograph.ops.indexing import gather
from duograph.ops.power import pow_
from duograph.ops.select import select
from duograph.ops.stable import p_norm
from duograph.ops.unary import exp, log
from duograph.tensor.tensor import Tensor

from .. import operators
from .. import tensor_shape as shaped
from ..promote import as_tensor, to_dtype
from .forms import Axis, as_float, axes_of, axis_of, enough_memory, in_dtype, need_tensor, public_functions
from .math import BINARY

# ---- norms and distances --------------------------------------------------------------------------------------------


def vector_norm(x: Tensor, ord: Any = 2, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The ``ord``-norm of the elements over ``axis``.

    Returns:
        Tensor, of the shape of ``x`` without ``axis``.

    Examples:
        >>> print(ops.vector_norm(Tensor([3.0, 4.0])))
        5.0
    """
    need_tensor("vector_norm", x=x)
    x = as_float(in_dtype(x, dtype))
    axes = axes_of(axis, x, "vector_norm")
    if abs(ord) == math.inf:
        extreme = red.reduce_max if ord > 0 else red.reduce_min
        return extreme(arithmetic.abs_(x), axis=axes, keep_dims=keepdims)
    if ord == 0:
        return movement.reduce_sum(to_dtype(operators.not_equal(x, 0), x.dtype), axis=axes, keep_dims=keepdims)
    return p_norm(x, ord, axes, keepdims)


def matrix_norm(
    A: Tensor, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm ``ord`` of the matrices in two axes: ``"fro"``, ``"nuc"``, inf, -inf, 1, -1, 2 or -2.

    Returns:
        Tensor, of the shape of ``A`` without the two axes.

    Examples:
        >>> print(ops.matrix_norm(Tensor([[3.0, 0.0], [0.0, 4.0]])))
        5.0
    """
    need_tensor("matrix_norm", A=A)
    x = as_float(in_dtype(A, dtype))
    if ord == "fro":
        return vector_norm(x, 2, tuple(axis), keepdims)
    i, j = (axis_of(a, x, "matrix_norm") for a in axis)
    if ord in (1, -1, math.inf, -math.inf):
        summed, best = (i, j) if abs(ord) == 1 else (j, i)
        totals = movement.reduce_sum(arithmetic.abs_(x), axis=(summed,), keep_dims=True)
        extreme = red.reduce_max if ord > 0 else red.reduce_min
        out = extreme(totals, axis=(best,), keep_dims=True)
    elif ord in ("nuc", 2, -2):
        values = dec.svd_values(shaped.moveaxis(x, (i, j), (-2, -1)))
        reduced = {"nuc": movement.reduce_sum, 2: red.reduce_max, -2: red.reduce_min}[ord]
        out = reduced(values, axis=(values.ndim - 1,), keep_dims=False)
        for a in sorted((i, j)):
            out = movement.expand_dims(out, a)
    else:
        raise ValueError(
            f"For 'matrix_norm', the 'ord' must be in ['fro', 'nuc', inf, -inf, 1, -1, 2, -2], but got {ord}."
        )
    return out if keepdims else movement.squeeze(out, (i, j))


def norm(A: Tensor, ord: Any = None, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A vector norm, or a matrix norm for two axes with a matrix ``ord``; default: the 2-norm of all elements.

    Returns:
        Tensor, of the shape of ``A`` without ``dim``.

    Examples:
        >>> print(ops.norm(Tensor([3.0, 4.0])))
        5.0
    """
    need_tensor("norm", A=A)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    axes = axes_of(dim, A, "norm")
    if len(axes) == 2 and (isinstance(ord, str) or ord in (1, -1, 2, -2, math.inf, -math.inf)):
        given = tuple(dim) if isinstance(dim, list | tuple) else (-2, -1)
        return matrix_norm(A, ord, given, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise TypeError(f"For 'norm', the order {ord} can only be used with matrices, but got {len(axes)} axes.")
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def dist(input: Tensor, other: Tensor, p: Any = 2) -> Tensor:
    """The p-norm of the difference.

    Returns:
        Tensor, 0-d.

    Examples:
        >>> print(ops.dist(Tensor([1.0, 1.0]), Tensor([4.0, 5.0])))
        5.0
    """
    return vector_norm(BINARY["sub"](input, other), p)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """p-norms of the differences of all pairs of rows.

    Returns:
        Tensor, of shape ``(..., rows of x1, rows of x2)``.

    Examples:
        >>> print(ops.cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0], [0.0, 1.0]])))
        [[5. 1.]]
    """
    need_tensor("Cdist", x1=x1, x2=x2)
    gap = arithmetic.sub(movement.expand_dims(x1, x1.ndim - 1), movement.expand_dims(x2, x2.ndim - 2))
    return vector_norm(gap, p, -1)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number of a matrix for the norm ``p`` (default 2).

    Returns:
        Tensor, of the shape of the leading axes.

    Examples:
        >>> print(ops.cond(Tensor([[2.0, 0.0], [0.0, 1.0]]), 1))
        2.0
    """
    x = as_float(A)
    if p in (None, 2, -2):
        values = dec.svd_values(x)
        axis = (values.ndim - 1,)
        top, low = (f(values, axis=axis, keep_dims=False) for f in (red.reduce_max, red.reduce_min))
        return arithmetic.div(low, top) if p == -2 else arithmetic.div(top, low)
    return arithmetic.mul(matrix_norm(x, p), matrix_norm(dec.inverse(x), p))


# ---- factorisations -------------------------------------------------------------------------------------------------


def inverse(input: Tensor) -> Tensor:
    """The inverse of every matrix.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.inverse(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    need_tensor("MatrixInverse", input=input)
    return dec.inverse(as_float(input))


def det(input: Tensor) -> Tensor:
    """The determinant of every matrix.

    Returns:
        Tensor, of the shape of the leading axes.

    Examples:
        >>> print(ops.det(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        8.0
    """
    need_tensor("MatrixDeterminant", input=input)
    return dec.det(input)


def slogdet(input: Tensor) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the absolute value of the determinant.

    Returns:
        Two Tensors, of the shape of the leading axes.

    Examples:
        >>> print(*ops.slogdet(Tensor([[1.0, 0.0], [0.0, -1.0]])))
        -1.0 0.0
    """
    need_tensor("LogMatrixDeterminant", input=input)
    return dec.slogdet(input)


def logdet(input: Tensor) -> Tensor:
    """Logarithm of the determinant; NaN if it is negative.

    Returns:
        Tensor, of the shape of the leading axes.

    Examples:
        >>> print(ops.logdet(Tensor([[1.0, 0.0], [0.0, 1.0]])))
        0.0
    """
    return log(det(input))


def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky factor, lower or upper.

    Returns:
        Tensor, of the shape and dtype of ``input_x``.

    Examples:
        >>> print(ops.cholesky(Tensor([[4.0, 0.0], [0.0, 9.0]])))
        [[2. 0.]
         [0. 3.]]
    """
    need_tensor("Cholesky", input_x=input_x)
    lower = dec.cholesky(input_x)
    return dec.adjoint_matrix(lower) if upper else lower


def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix with the Cholesky factor ``input_x``.

    Returns:
        Tensor, of the shape and dtype of ``input_x``.

    Examples:
        >>> print(ops.cholesky_inverse(Tensor([[2.0, 0.0], [0.0, 1.0]])))
        [[0.25 0.  ]
         [0.   1.  ]]
    """
    need_tensor("CholeskyInverse", input_x=input_x)
    other = dec.adjoint_matrix(input_x)
    return dec.inverse(linalg.matmul(other, input_x) if upper else linalg.matmul(input_x, other))


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solution ``X`` of ``A @ X = input``, given the Cholesky factor ``input2`` of ``A``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.cholesky_solve(Tensor([[4.0], [2.0]]), Tensor([[2.0, 0.0], [0.0, 1.0]])))
        [[1.]
         [2.]]
    """
    lower = dec.adjoint_matrix(input2) if upper else input2
    half = dec.triangular_solve(lower, input, lower=True)
    return dec.triangular_solve(dec.adjoint_matrix(lower), half, lower=False)


def qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Orthogonal and triangular factor; ``mode`` is ``"reduced"`` or ``"complete"``.

    Returns:
        Two Tensors: ``(..., m, k)`` and ``(..., k, n)``, ``k`` the smaller of ``m`` and ``n`` when reduced.

    Examples:
        >>> print([part.shape for part in ops.qr(Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))])
        [(3, 2), (2, 2)]
    """
    need_tensor("Qr", input=input)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"For 'qr', the 'mode' must be 'reduced' or 'complete', but got {mode}.")
    return dec.qr(input, complete=mode == "complete")


def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular values, and with ``compute_uv`` the matrices: ``(s, u, v)``.

    Returns:
        Tensor, the singular values in falling order; with ``compute_uv`` a tuple of three.

    Examples:
        >>> print(ops.svd(Tensor([[3.0, 0.0], [0.0, 2.0]]), compute_uv=False))
        [3. 2.]
    """
    need_tensor("Svd", input=input)
    return dec.svd(input, full_matrices=full_matrices) if compute_uv else dec.svd_values(input)


def pinv(x: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    """The pseudo-inverse; singular values up to ``max(atol, rtol * largest)`` count as 0.

    Returns:
        Tensor, of shape ``(..., n, m)`` for ``(..., m, n)``.

    Examples:
        >>> print(ops.pinv(Tensor([[2.0, 0.0], [0.0, 4.0]])).shape)
        (2, 2)
    """
    import numpy as np

    if hermitian:  # the lower triangle stands for the whole
        low = diagonals.tril(x, diagonal=-1)
        x = arithmetic.add(diagonals.tril(x, diagonal=0), dec.adjoint_matrix(low))
    s = dec.svd_values(x)
    largest = red.reduce_max(s, axis=(s.ndim - 1,), keep_dims=True)
    relative = (
        rtol
        if rtol is not None
        else 0.0
        if atol is not None
        else max(x.shape[-2:]) * float(np.finfo(x.dtype.numpy).eps)
    )
    limit = BINARY["mul"](largest, relative)
    if atol is not None:
        limit = BINARY["maximum"](limit, atol)
    return dec.pseudo_inverse(x, movement.expand_dims(limit, s.ndim))


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """``X`` with ``matrix @ X = rhs``.

    Returns:
        Tensor, of the shape of ``rhs``.

    Examples:
        >>> print(ops.matrix_solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([[2.0], [4.0]])))
        [[1.]
         [1.]]
    """
    return dec.solve(dec.adjoint_matrix(matrix) if adjoint else matrix, rhs)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """The n-th power of every square matrix, by squaring; negative ones of the inverse.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.matrix_power(Tensor([[1.0, 1.0], [0.0, 1.0]]), 3))
        [[1. 3.]
         [0. 1.]]
    """
    base = dec.inverse(input) if n < 0 else input
    out = movement.broadcast_to(eye(n=input.shape[-1], m=input.shape[-1], dtype=input.dtype), shape=tuple(input.shape))
    for bit in f"{abs(n):b}":
        out = linalg.matmul(out, out)
        out = linalg.matmul(out, base) if bit == "1" else out
    return out


def trace(input: Tensor) -> Tensor:
    """The sum of the main diagonal of a matrix.

    Returns:
        Tensor, 0-d, of the dtype of ``input``.

    Examples:
        >>> print(ops.trace(Tensor([[1, 2], [3, 4]])))
        5
    """
    need_tensor("Trace", input=input)
    if input.ndim != 2:
        raise ValueError(f"For 'Trace', the dimension of 'input' must be 2, but got {input.ndim}.")
    return movement.reduce_sum(diagonals.diagonal(input, offset=0, axis1=0, axis2=1), axis=(0,), keep_dims=False)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Powers of ``x`` in falling order as columns.

    Returns:
        Tensor, of shape ``(n, N)``.

    Examples:
        >>> print(ops.vander(Tensor([1, 2, 3])))
        [[1 1 1]
         [4 2 1]
         [9 3 1]]
    """
    need_tensor("Vander", x=x)

    count = x.shape[0] if N is None else N
    powers = arange(start=count - 1, step=-1, size=count, dtype=x.dtype)
    return pow_(movement.expand_dims(x, 1), powers)


def matrix_exp(input: Tensor) -> Tensor:
    """The matrix exponential: Taylor's series of the matrix divided by ``2**16``, squared back.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.matrix_exp(Tensor([[0.0, 0.0], [0.0, 0.0]])))
        [[1. 0.]
         [0. 1.]]
    """
    need_tensor("MatrixExp", input=input)

    one = eye(n=input.shape[-1], m=input.shape[-1], dtype=dt.float64)
    small = arithmetic.mul(to_dtype(input, dt.float64), constant_like(one, 2.0**-16))
    out = arithmetic.add(one, small)
    term = small
    for k in range(2, 10):
        term = arithmetic.mul(linalg.matmul(term, small), constant_like(one, 1.0 / k))
        out = arithmetic.add(out, term)
    for _ in range(16):
        out = linalg.matmul(out, out)
    return to_dtype(out, input.dtype)


def renorm(input: Tensor, p: Any, axis: int, maxnorm: float) -> Tensor:
    """The slices along ``axis`` scaled down so that their p-norm is at most ``maxnorm``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.renorm(Tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0))
        [[0.6 0.8]
         [0.3 0.4]]
    """

    i = axis_of(axis, input, "Renorm")
    size = vector_norm(input, p, tuple(k for k in range(input.ndim) if k != i), True)
    limit = constant_like(size, maxnorm)
    factor = arithmetic.div(limit, arithmetic.add(size, constant_like(size, 1e-7)))
    return arithmetic.mul(input, select(operators.greater(size, limit), factor, constant_like(size, 1)))


def tensor_exp(input: Tensor) -> Tensor:
    """``e**input``, elementwise.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.tensor_exp(Tensor([0.0])))
        [1.]
    """
    need_tensor("TensorExp", input=input)
    return exp(as_float(input))


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """``X`` with ``A @ X = b`` for triangular ``A``, and ``A``.

    Returns:
        Two Tensors, of the shapes of ``b`` and ``A``.

    Examples:
        >>> print(ops.triangular_solve(Tensor([[3.0], [2.0]]), Tensor([[1.0, 1.0], [0.0, 2.0]]))[0])
        [[2.]
         [1.]]
    """
    return dec.triangular_solve(A, b, lower=not upper, transposed=transpose, unit=unitriangular), A


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """p-norms of the differences of all pairs of different rows.

    Returns:
        Tensor, of shape ``(n * (n - 1) / 2,)``.

    Examples:
        >>> print(ops.pdist(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]])))
        [5. 4. 3.]
    """
    need_tensor("Pdist", input=input)

    n = input.shape[0]
    enough_memory("pdist", (n * (n - 1), numel(input.shape[1:])), input.dtype)
    first, second = np.triu_indices(n, 1)
    left, right = (gather(input, as_tensor(places.astype(np.int64)), axis=0) for places in (first, second))
    return vector_norm(arithmetic.sub(left, right), p, -1)


FUNCTIONS = public_functions(globals()) | {
    "matrix_determinant": det,
    "log_matrix_determinant": slogdet,
}  # fmt: skip
