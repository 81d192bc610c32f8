"""Products of matrices and what is made of them: ``matmul``, ``bmm``, ``einsum``, ``norm``, factorisations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.dim import definitely_eq, known_eq
from duograph.core.shapes import numel, taken_equal
from duograph.ops import arithmetic, diagonals, linalg, movement
from duograph.ops import decompositions as dec
from duograph.ops import reduce as red
from duograph.ops.creation import constant_like
from duograph.ops.einsum import einsum as einsum_op
from duograph.ops.power import pow_
from duograph.ops.unary import exp, sqrt
from duograph.tensor.tensor import Tensor

from .. import operators
from .. import tensor_shape as shaped
from ..promote import is_number, promote, promote_all, to_dtype
from .forms import Axis, as_float, axes_of, axis_of, in_dtype, need_tensor
from .math import BINARY


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """``input @ other``: matrices in the last two axes, the others broadcast; vectors as in NumPy.

    Raises:
        TypeError: dtypes differ, or an operand is no Tensor.
        RuntimeError: the inner extents differ.

    Supported Platforms:
        ``CPU``
    """
    return operators.matrix_multiply(input, other)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices."""
    return _ranked("mm", input, mat2, 2)


def _ranked(name: str, x: Tensor, y: Tensor, rank: int) -> Tensor:
    need_tensor(name, input=x, mat2=y)
    if x.ndim != rank or y.ndim != rank:
        raise ValueError(f"For '{name}', both inputs must be {rank}-D, but got {x.ndim}-D and {y.ndim}-D.")
    operators.need_equal_inner(x, y)
    return operators.matrix_multiply(x, y)


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Products of matrices, one per leading index; leading shapes must agree."""
    need_tensor("BatchMatMul", input_x=input_x, mat2=mat2)
    return batch_matmul(input_x, mat2)


def batch_matmul(x: Tensor, y: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """`bmm` with optional transpositions of the last two axes.

    Raises:
        ValueError: a rank is below 2, or extents do not fit.
    """
    if x.ndim < 2 or y.ndim < 2 or x.dtype is not y.dtype:
        _refuse_product("BatchMatMul", x, y, 2)
    rows, inner = x.shape[-2:] if not transpose_a else x.shape[:-3:-1]
    other, _ = y.shape[-2:] if not transpose_b else y.shape[:-3:-1]
    if definitely_eq(inner, other) is False:
        raise ValueError(
            f"For 'BatchMatMul' the input dimensions must be equal, but got 'x1_col': {inner} and 'x2_row': {other}. "
            f"And 'x' shape {list(x.shape)}(transpose_a={transpose_a}), 'y' shape "
            f"{list(y.shape)}(transpose_b={transpose_b})."
        )
    return linalg.matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)


def matrix_matmul(x: Tensor, y: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Product of two matrices with optional transpositions (``ops.MatMul``).

    Raises:
        TypeError: dtypes differ.
        ValueError: an operand is no matrix, or extents do not fit.
    """
    need_tensor("MatMul", input=x, mat2=y)
    if x.ndim != 2 or y.ndim != 2 or x.dtype is not y.dtype:
        _refuse_product("MatMul", x, y, 2)
    inner, other = x.shape[0 if transpose_a else 1], y.shape[1 if transpose_b else 0]
    if definitely_eq(inner, other) is False:
        raise ValueError(
            f"For 'MatMul' the input dimensions must be equal, but got 'x1_col': {inner} and 'x2_row': {other}."
        )
    return linalg.matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)


def _refuse_product(name: str, x: Tensor, y: Tensor, rank: int) -> None:
    if x.dtype is not y.dtype:
        raise TypeError(
            f"For '{name}', the type of 'x2' should be same as 'x1', but got 'x1' with type Tensor[{x.dtype}] "
            f"and 'x2' with type Tensor[{y.dtype}]."
        )
    raise ValueError(f"For '{name}', the dimension of 'x1' and 'x2' should be {rank}, but got {x.ndim} and {y.ndim}.")


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """Matrix times vector."""
    need_tensor("mv", mat=mat, vec=vec)
    if mat.ndim != 2 or vec.ndim != 1:
        raise ValueError(f"For 'mv', the inputs must be 2-D and 1-D, but got {mat.ndim}-D and {vec.ndim}-D.")
    return linalg.matrix_product(mat, vec)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Sum over the last axis of ``input`` and the last but one of ``other``."""
    need_tensor("dot", input=input, other=other)
    return linalg.dot(input, other)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum of products over the last axes."""
    need_tensor("inner", input=input, other=other)
    return linalg.inner(*promote(input, other, "inner"))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Products of every element of one vector with every element of another."""
    need_tensor("outer", input=input, vec2=vec2)
    if input.ndim != 1 or vec2.ndim != 1:
        raise ValueError(f"For 'outer', both inputs must be 1-D, but got {input.ndim}-D and {vec2.ndim}-D.")
    return linalg.outer(*promote(input, vec2, "outer"))


def tensor_dot(x1: Tensor, x2: Tensor, axes: Any) -> Tensor:
    """Sum of products over pairs of axes."""
    need_tensor("tensor_dot", x1=x1, x2=x2)
    return linalg.tensordot(x1, x2, axes)


def batch_dot(x1: Tensor, x2: Tensor, axes: Any = None) -> Tensor:
    """Sum of products over one axis of each, separately for every index of the first axis."""
    need_tensor("batch_dot", x1=x1, x2=x2)
    if axes is None:
        axes = (x1.ndim - 1, x2.ndim - 2 if x2.ndim > 2 else x2.ndim - 1)
    i, j = (axes, axes) if isinstance(axes, int) else axes
    i, j = axis_of(i, x1, "batch_dot"), axis_of(j, x2, "batch_dot")
    a, b = movement.move_axis(x1, i, x1.ndim - 1), movement.move_axis(x2, j, 1)
    n = x1.shape[0]
    left = movement.reshape(a, shape=(n, numel(a.shape[1:-1]), a.shape[-1]))
    right = movement.reshape(b, shape=(n, b.shape[1], numel(b.shape[2:])))
    shape = (n, *a.shape[1:-1], *b.shape[2:])
    return movement.reshape(linalg.matmul(left, right), shape=shape if len(shape) > 1 else (n, 1))


def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """Sum of ``conj(x) * y`` along ``axis``."""
    need_tensor("Vecdot", x=x, y=y)
    product = arithmetic.mul(arithmetic.adjoint(x), y)
    return red.reduce_sum(product, axis=(axis_of(axis, product, "vecdot"),), keep_dims=False)


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product."""
    need_tensor("kron", input=input, other=other)
    x, y = promote(input, other, "kron")
    rank = max(x.ndim, y.ndim)
    a, b = (movement.reshape(t, shape=(*(1,) * (rank - t.ndim), *t.shape)) for t in (x, y))
    left = movement.reshape(a, shape=tuple(v for n in a.shape for v in (n, 1)))
    right = movement.reshape(b, shape=tuple(v for n in b.shape for v in (1, n)))
    shape = tuple(n * m for n, m in zip(a.shape, b.shape, strict=True))
    return movement.reshape(arithmetic.mul(left, right), shape=shape)


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Vector product along an axis of size 3 (default: the first such axis)."""
    from duograph.ops.movement import roll

    x, y = promote(input, other, "Cross")
    if dim is None:
        axis = next((i for i, n in enumerate(x.shape) if known_eq(n, 3)), -1)
        if axis < 0:
            raise ValueError(f"For 'Cross', an axis of size 3 is needed, but got shape {tuple(x.shape)}.")
    else:
        axis = axis_of(dim, x, "Cross")
        if not taken_equal(x.shape[axis], 3):
            raise ValueError(f"For 'Cross', dimension {axis} must be 3, but got {x.shape[axis]}.")

    def turned(t: Tensor, k: int) -> Tensor:
        return roll(t, shifts=(k,), axes=(axis,))

    return arithmetic.sub(arithmetic.mul(turned(x, -1), turned(y, -2)), arithmetic.mul(turned(x, -2), turned(y, -1)))


# ---- products plus something ----------------------------------------------------------------------------------------


def _blend(x: Any, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    add, mul = BINARY["add"], BINARY["mul"]
    left = x if is_number(beta) and beta == 1 else mul(x, beta)
    return add(left, product if is_number(alpha) and alpha == 1 else mul(product, alpha))


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``."""
    need_tensor("addmm", input=input, mat1=mat1, mat2=mat2)
    if mat1.ndim == mat2.ndim == 2:
        operators.need_equal_inner(mat1, mat2)
    return _blend(input, matmul(mat1, mat2), beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``."""
    return _blend(input, mv(mat, vec), beta, alpha)


def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * x + alpha * outer(vec1, vec2)``."""
    return _blend(x, outer(vec1, vec2), beta, alpha)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``."""
    need_tensor("baddbmm", input=input, batch1=batch1, batch2=batch2)
    return _blend(input, bmm(batch1, batch2), beta, alpha)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * sum of the products bmm(batch1, batch2)``."""
    need_tensor("addbmm", input=input, batch1=batch1, batch2=batch2)
    return _blend(input, red.reduce_sum(bmm(batch1, batch2), axis=(0,), keep_dims=False), beta, alpha)


def dense(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``."""
    need_tensor("Dense", input=input, weight=weight)
    if weight.ndim == 1:
        out = linalg.matrix_product(input, weight)
    else:
        x = movement.reshape(input, shape=(1, *input.shape)) if input.ndim == 1 else input
        if definitely_eq(x.shape[-1], weight.shape[-1]) is False:
            raise ValueError(
                f"For 'MatMul' the input dimensions must be equal, but got 'x1_col': {x.shape[-1]} and "
                f"'x2_row': {weight.shape[-1]}."
            )
        out = linalg.matmul(x, weight, transpose_b=True)
        out = movement.reshape(out, shape=(out.shape[-1],)) if input.ndim == 1 else out
    return out if bias is None else arithmetic.add(out, bias)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Einstein's summation convention over any number of tensors, contracted from left to right.

    Raises:
        TypeError: ``equation`` is no str.
        ValueError: subscripts and tensors do not fit.
    """
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not isinstance(equation, str):
        raise TypeError(f"For 'einsum', the 'equation' must be str, but got {type(equation)}.")
    need_tensor("Einsum", **{f"operand{i}": t for i, t in enumerate(operands)})
    parts = promote_all(*operands, op="Einsum")
    return einsum_op(equation, *parts)


# ---- norms and distances --------------------------------------------------------------------------------------------


def vector_norm(x: Tensor, ord: Any = 2, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The ``ord``-norm of the elements over ``axis``."""
    need_tensor("vector_norm", x=x)
    x = arithmetic.abs_(as_float(in_dtype(x, dtype)))
    axes = axes_of(axis, x, "vector_norm")
    if ord == math.inf:
        return red.reduce_max(x, axis=axes, keep_dims=keepdims)
    if ord == -math.inf:
        return red.reduce_min(x, axis=axes, keep_dims=keepdims)
    if ord == 0:
        return red.reduce_sum(to_dtype(operators.not_equal(x, 0), x.dtype), axis=axes, keep_dims=keepdims)
    if ord == 1:
        return red.reduce_sum(x, axis=axes, keep_dims=keepdims)
    if ord == 2:
        return sqrt(red.reduce_sum(arithmetic.mul(x, x), axis=axes, keep_dims=keepdims))
    total = red.reduce_sum(pow_(x, constant_like(x, float(ord))), axis=axes, keep_dims=keepdims)
    return pow_(total, constant_like(total, 1.0 / ord))


def matrix_norm(
    A: Tensor, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm ``ord`` of the matrices in two axes: ``"fro"``, ``"nuc"``, inf, -inf, 1, -1, 2 or -2."""
    need_tensor("matrix_norm", A=A)
    x = as_float(in_dtype(A, dtype))
    if ord == "fro":
        return vector_norm(x, 2, tuple(axis), keepdims)
    i, j = (axis_of(a, x, "matrix_norm") for a in axis)
    if ord in (1, -1, math.inf, -math.inf):
        summed, best = (i, j) if abs(ord) == 1 else (j, i)
        totals = red.reduce_sum(arithmetic.abs_(x), axis=(summed,), keep_dims=True)
        extreme = red.reduce_max if ord > 0 else red.reduce_min
        out = extreme(totals, axis=(best,), keep_dims=True)
    elif ord in ("nuc", 2, -2):
        values = dec.svd_values(shaped.moveaxis(x, (i, j), (-2, -1)))
        reduced = {"nuc": red.reduce_sum, 2: red.reduce_max, -2: red.reduce_min}[ord]
        out = reduced(values, axis=(values.ndim - 1,), keep_dims=False)
        for a in sorted((i, j)):
            out = movement.expand_dims(out, a)
    else:
        raise ValueError(
            f"For 'matrix_norm', the 'ord' must be in ['fro', 'nuc', inf, -inf, 1, -1, 2, -2], but got {ord}."
        )
    return out if keepdims else movement.squeeze(out, (i, j))


def norm(A: Tensor, ord: Any = None, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A vector norm, or a matrix norm for two axes with a matrix ``ord``; default: the 2-norm of all elements."""
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
    """The p-norm of the difference."""
    return vector_norm(BINARY["sub"](input, other), p)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """p-norms of the differences of all pairs of rows."""
    need_tensor("Cdist", x1=x1, x2=x2)
    gap = arithmetic.sub(movement.expand_dims(x1, x1.ndim - 1), movement.expand_dims(x2, x2.ndim - 2))
    return vector_norm(gap, p, -1)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number of a matrix for the norm ``p`` (default 2)."""
    x = as_float(A)
    if p in (None, 2, -2):
        values = dec.svd_values(x)
        axis = (values.ndim - 1,)
        top, low = (f(values, axis=axis, keep_dims=False) for f in (red.reduce_max, red.reduce_min))
        return arithmetic.div(low, top) if p == -2 else arithmetic.div(top, low)
    return arithmetic.mul(matrix_norm(x, p), matrix_norm(dec.inverse(x), p))


# ---- factorisations -------------------------------------------------------------------------------------------------


def inverse(input: Tensor) -> Tensor:
    """The inverse of every matrix."""
    need_tensor("MatrixInverse", input=input)
    return dec.inverse(as_float(input))


def det(input: Tensor) -> Tensor:
    """The determinant of every matrix."""
    need_tensor("MatrixDeterminant", input=input)
    return dec.det(input)


def slogdet(input: Tensor) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the absolute value of the determinant."""
    need_tensor("LogMatrixDeterminant", input=input)
    return dec.slogdet(input)


def logdet(input: Tensor) -> Tensor:
    """Logarithm of the determinant; NaN if it is negative."""
    from duograph.ops.unary import log

    return log(det(input))


def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky factor, lower or upper."""
    need_tensor("Cholesky", input_x=input_x)
    lower = dec.cholesky(input_x)
    return dec.adjoint_matrix(lower) if upper else lower


def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix with the Cholesky factor ``input_x``."""
    need_tensor("CholeskyInverse", input_x=input_x)
    other = dec.adjoint_matrix(input_x)
    return dec.inverse(linalg.matmul(other, input_x) if upper else linalg.matmul(input_x, other))


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solution ``X`` of ``A @ X = input``, given the Cholesky factor ``input2`` of ``A``."""
    lower = dec.adjoint_matrix(input2) if upper else input2
    half = dec.triangular_solve(lower, input, lower=True)
    return dec.triangular_solve(dec.adjoint_matrix(lower), half, lower=False)


def qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Orthogonal and triangular factor; ``mode`` is ``"reduced"`` or ``"complete"``."""
    need_tensor("Qr", input=input)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"For 'qr', the 'mode' must be 'reduced' or 'complete', but got {mode}.")
    return dec.qr(input, complete=mode == "complete")


def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular values, and with ``compute_uv`` the matrices: ``(s, u, v)``."""
    need_tensor("Svd", input=input)
    return dec.svd(input, full_matrices=full_matrices) if compute_uv else dec.svd_values(input)


def pinv(x: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    """The pseudo-inverse; singular values up to ``max(atol, rtol * largest)`` count as 0."""
    import numpy as np

    from duograph.ops.select import select

    if hermitian:  # the lower triangle stands for the whole
        low = diagonals.tril(x, diagonal=-1)
        x = arithmetic.add(diagonals.tril(x, diagonal=0), dec.adjoint_matrix(low))
    s, u, v = dec.svd(x, full_matrices=False)
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
    kept = operators.greater(s, limit)
    inverted = select(kept, arithmetic.reciprocal(select(kept, s, constant_like(s, 1))), constant_like(s, 0))
    return linalg.matmul(arithmetic.mul(v, movement.expand_dims(inverted, s.ndim - 1)), dec.adjoint_matrix(u))


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """``X`` with ``matrix @ X = rhs``."""
    return dec.solve(dec.adjoint_matrix(matrix) if adjoint else matrix, rhs)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """The n-th power of every square matrix, by squaring; negative ones of the inverse."""
    from duograph.ops.creation import eye

    base = dec.inverse(input) if n < 0 else input
    out = movement.broadcast_to(eye(n=input.shape[-1], m=input.shape[-1], dtype=input.dtype), shape=tuple(input.shape))
    for bit in f"{abs(n):b}":
        out = linalg.matmul(out, out)
        out = linalg.matmul(out, base) if bit == "1" else out
    return out


def trace(input: Tensor) -> Tensor:
    """The sum of the main diagonal of a matrix."""
    need_tensor("Trace", input=input)
    if input.ndim != 2:
        raise ValueError(f"For 'Trace', the dimension of 'input' must be 2, but got {input.ndim}.")
    return red.reduce_sum(diagonals.diagonal(input, offset=0, axis1=0, axis2=1), axis=(0,), keep_dims=False)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Powers of ``x`` in falling order as columns."""
    need_tensor("Vander", x=x)
    from duograph.ops.creation import arange

    count = x.shape[0] if N is None else N
    powers = arange(start=count - 1, step=-1, size=count, dtype=x.dtype)
    return pow_(movement.expand_dims(x, 1), powers)


def matrix_exp(input: Tensor) -> Tensor:
    """The matrix exponential: Taylor's series of the matrix divided by ``2**16``, squared back."""
    need_tensor("MatrixExp", input=input)
    from duograph.ops.creation import eye

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
    """The slices along ``axis`` scaled down so that their p-norm is at most ``maxnorm``."""
    from duograph.ops.select import select

    i = axis_of(axis, input, "Renorm")
    size = vector_norm(input, p, tuple(k for k in range(input.ndim) if k != i), True)
    limit = constant_like(size, maxnorm)
    factor = arithmetic.div(limit, arithmetic.add(size, constant_like(size, 1e-7)))
    return arithmetic.mul(input, select(operators.greater(size, limit), factor, constant_like(size, 1)))


def tensor_exp(input: Tensor) -> Tensor:
    """``e**input``, elementwise."""
    need_tensor("TensorExp", input=input)
    return exp(as_float(input))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        f.__name__: f
        for f in (
            matmul, mm, bmm, mv, dot, inner, outer, tensor_dot, batch_dot, vecdot, kron, cross, addmm, addmv, addr,
            baddbmm, addbmm, dense, einsum, vector_norm, matrix_norm, norm, dist, cdist, cond, inverse, det, slogdet,
            logdet, cholesky, cholesky_inverse, cholesky_solve, qr, svd, pinv, matrix_solve, matrix_power, trace,
            vander, matrix_exp, renorm,
        )
    },
    "ger": outer, "matrix_determinant": det, "log_matrix_determinant": slogdet, "tensor_exp": tensor_exp,
}  # fmt: skip
