"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

from duograph.api.operators import inner_sizes_differ
from duograph.core.dim import definitely_eq, known_eq
from duograph.core.errors import user_error
from duograph.core.shapes import numel, taken_equal
from duograph.ops import arithmetic, linalg, movement
from duograph.ops.creation import constant_like
from duograph.ops.einsum import einsum as einsum_op
from duograph.ops.movement import roll
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from .. import operators
from ..promote import is_number, is_one, promote, promote_all
from .forms import axis_of, need_tensor, not_public, public_functions
from .index import select
from .math import BINARY


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """``input @ other``: matrices in the last two axes, the others broadcast; vectors as in NumPy.

    Returns:
        Tensor, of the dtype of the operands.

    Raises:
        TypeError: dtypes differ, or an operand is not a Tensor.
        RuntimeError: the inner extents differ.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.matmul(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    return operators.matrix_multiply(input, other)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices.

    Returns:
        Tensor, of shape ``(n, m)``.

    Examples:
        >>> print(ops.mm(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    return _ranked("mm", input, mat2, 2)


def _ranked(name: str, x: Tensor, y: Tensor, rank: int) -> Tensor:
    need_tensor(name, input=x, mat2=y)
    if x.ndim != rank or y.ndim != rank:
        raise ValueError(f"For '{name}', both inputs must be {rank}-D, but got {x.ndim}-D and {y.ndim}-D.")
    operators.need_equal_inner(x, y)
    return operators.matrix_multiply(x, y)


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Products of matrices, one per leading index; leading shapes must agree.

    Returns:
        Tensor, of shape ``(..., n, m)``.

    Examples:
        >>> print(ops.bmm(Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]])))
        [[[11.]]]
    """
    need_tensor("BatchMatMul", input_x=input_x, mat2=mat2)
    return batch_matmul(input_x, mat2)


@not_public
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
        raise user_error(
            ValueError,
            "DG0412",
            f"For 'BatchMatMul' the input dimensions must be equal, but got 'x1_col': {inner} and 'x2_row': {other}. "
            f"And 'x' shape {list(x.shape)}(transpose_a={transpose_a}), 'y' shape "
            f"{list(y.shape)}(transpose_b={transpose_b}).",
            f"matmul({x.abstract}, {y.abstract})",
        )
    return linalg.matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)


@not_public
def matrix_matmul(x: Tensor, y: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Product of two matrices with optional transpositions (``ops.MatMul``).

    Raises:
        TypeError: dtypes differ.
        ValueError: an operand is not a matrix, or extents do not fit.
    """
    need_tensor("MatMul", input=x, mat2=y)
    if x.ndim != 2 or y.ndim != 2 or x.dtype is not y.dtype:
        _refuse_product("MatMul", x, y, 2)
    inner, other = x.shape[0 if transpose_a else 1], y.shape[1 if transpose_b else 0]
    if definitely_eq(inner, other) is False:
        raise inner_sizes_differ(inner, other, x, y)
    return linalg.matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)


def _refuse_product(name: str, x: Tensor, y: Tensor, rank: int) -> None:
    if x.dtype is not y.dtype:
        raise TypeError(
            f"For '{name}', the type of 'x2' should be same as 'x1', but got 'x1' with type Tensor[{x.dtype}] "
            f"and 'x2' with type Tensor[{y.dtype}]."
        )
    raise ValueError(f"For '{name}', the dimension of 'x1' and 'x2' should be {rank}, but got {x.ndim} and {y.ndim}.")


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """Matrix times vector.

    Returns:
        Tensor, of shape ``(n,)``.

    Examples:
        >>> print(ops.mv(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 1.0])))
        [3. 7.]
    """
    need_tensor("mv", mat=mat, vec=vec)
    if mat.ndim != 2 or vec.ndim != 1:
        raise ValueError(f"For 'mv', the inputs must be 2-D and 1-D, but got {mat.ndim}-D and {vec.ndim}-D.")
    return linalg.matrix_product(mat, vec)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Sum over the last axis of ``input`` and the last but one of ``other``.

    Returns:
        Tensor: the other axes of ``input``, then those of ``other``.

    Examples:
        >>> print(ops.dot(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    need_tensor("dot", input=input, other=other)
    return linalg.dot(input, other)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum of products over the last axes.

    Returns:
        Tensor: the other axes of ``input``, then those of ``other``.

    Examples:
        >>> print(ops.inner(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    need_tensor("inner", input=input, other=other)
    return linalg.inner(*promote(input, other, "inner"))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Products of every element of one vector with every element of another.

    Returns:
        Tensor, of shape ``(n, m)``.

    Examples:
        >>> print(ops.outer(Tensor([1, 2]), Tensor([3, 4])))
        [[3 4]
         [6 8]]
    """
    need_tensor("outer", input=input, vec2=vec2)
    if input.ndim != 1 or vec2.ndim != 1:
        raise ValueError(f"For 'outer', both inputs must be 1-D, but got {input.ndim}-D and {vec2.ndim}-D.")
    return linalg.outer(*promote(input, vec2, "outer"))


def tensor_dot(x1: Tensor, x2: Tensor, axes: Any) -> Tensor:
    """Sum of products over pairs of axes.

    Returns:
        Tensor: the other axes of ``x1``, then those of ``x2``.

    Examples:
        >>> print(ops.tensor_dot(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), (1, 1)))
        [[11.]]
    """
    need_tensor("tensor_dot", x1=x1, x2=x2)
    return linalg.tensordot(x1, x2, axes)


def batch_dot(x1: Tensor, x2: Tensor, axes: Any = None) -> Tensor:
    """Sum of products over one axis of each, separately for every index of the first axis.

    Returns:
        Tensor: the first axis, then the other axes of ``x1`` and of ``x2``.

    Examples:
        >>> print(ops.batch_dot(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])))
        [[11.]]
    """
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
    """Sum of ``conj(x) * y`` along ``axis``.

    Returns:
        Tensor, of the shape both operands broadcast to, without ``axis``.

    Examples:
        >>> print(ops.vecdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    need_tensor("Vecdot", x=x, y=y)
    product = arithmetic.mul(arithmetic.adjoint(x), y)
    return movement.reduce_sum(product, axis=(axis_of(axis, product, "vecdot"),), keep_dims=False)


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product.

    Returns:
        Tensor; its extents are the products of theirs.

    Examples:
        >>> print(ops.kron(Tensor([1, 2]), Tensor([1, 10])))
        [ 1 10  2 20]
    """
    need_tensor("kron", input=input, other=other)
    x, y = promote(input, other, "kron")
    rank = max(x.ndim, y.ndim)
    a, b = (movement.reshape(t, shape=(*(1,) * (rank - t.ndim), *t.shape)) for t in (x, y))
    left = movement.reshape(a, shape=tuple(v for n in a.shape for v in (n, 1)))
    right = movement.reshape(b, shape=tuple(v for n in b.shape for v in (1, n)))
    shape = tuple(n * m for n, m in zip(a.shape, b.shape, strict=True))
    return movement.reshape(arithmetic.mul(left, right), shape=shape)


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Vector product along an axis of size 3 (default: the first such axis).

    Returns:
        Tensor, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.cross(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """
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


def _without_nan(x: Tensor, factor: Any) -> Tensor:
    """``x``, or zeros if the ``factor`` that it is multiplied by is 0. One that only the run knows selects, so that it
    decides nothing; integers have no NaN and no infinity."""
    if not isinstance(factor, Scalar):
        return constant_like(x, 0) if is_number(factor) and factor == 0 else x
    if x.dtype.is_integer or x.dtype.is_bool:
        return x
    return select(operators.equal(factor.to_tensor(x.dtype), 0), constant_like(x, 0), x)


@not_public
def blend(x: Any, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """``beta * x + alpha * product``; with ``beta`` 0 infinity and NaN in ``x`` are ignored, as in BLAS."""
    add, mul = BINARY["add"], BINARY["mul"]
    left = _without_nan(x, beta)
    left = left if is_one(beta, x) else mul(left, beta)
    return add(left, product if is_one(alpha, product) else mul(product, alpha))


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``.

    Returns:
        Tensor, of shape ``(n, m)``.

    Examples:
        >>> print(ops.addmm(Tensor([[1.0]]), Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]), beta=10))
        [[21.]]
    """
    need_tensor("addmm", input=input, mat1=mat1, mat2=mat2)
    if mat1.ndim == mat2.ndim == 2:
        operators.need_equal_inner(mat1, mat2)
    return blend(input, matmul(mat1, mat2), beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``.

    Returns:
        Tensor, of shape ``(n,)``.

    Examples:
        >>> print(ops.addmv(Tensor([1.0]), Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0]), alpha=2))
        [23.]
    """
    return blend(input, mv(mat, vec), beta, alpha)


def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * x + alpha * outer(vec1, vec2)``.

    Returns:
        Tensor, of shape ``(n, m)``.

    Examples:
        >>> print(ops.addr(Tensor([[1.0, 1.0]]), Tensor([2.0]), Tensor([3.0, 4.0])))
        [[7. 9.]]
    """
    return blend(x, outer(vec1, vec2), beta, alpha)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``.

    Returns:
        Tensor, of shape ``(b, n, m)``.

    Examples:
        >>> print(ops.baddbmm(Tensor([[[1.0]]]), Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]])))
        [[[12.]]]
    """
    need_tensor("baddbmm", input=input, batch1=batch1, batch2=batch2)
    return blend(input, bmm(batch1, batch2), beta, alpha)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * sum of the products bmm(batch1, batch2)``.

    Returns:
        Tensor, of shape ``(n, m)``.

    Examples:
        >>> print(ops.addbmm(Tensor([[1.0]]), Tensor([[[2.0]], [[3.0]]]), Tensor([[[4.0]], [[5.0]]])))
        [[24.]]
    """
    need_tensor("addbmm", input=input, batch1=batch1, batch2=batch2)
    return blend(input, movement.reduce_sum(bmm(batch1, batch2), axis=(0,), keep_dims=False), beta, alpha)


def dense(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``.

    Returns:
        Tensor, of shape ``(..., outputs)``.

    Examples:
        >>> print(ops.dense(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), Tensor([10.0])))
        [[21.]]
    """
    need_tensor("Dense", input=input, weight=weight)
    if weight.ndim == 1:
        out = linalg.matrix_product(input, weight)
    else:
        x = movement.reshape(input, shape=(1, *input.shape)) if input.ndim == 1 else input
        if definitely_eq(x.shape[-1], weight.shape[-1]) is False:
            raise inner_sizes_differ(x.shape[-1], weight.shape[-1], x, weight)
        out = linalg.matmul(x, weight, transpose_b=True)
        out = movement.reshape(out, shape=(out.shape[-1],)) if input.ndim == 1 else out
    return out if bias is None else arithmetic.add(out, bias)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Einstein's summation convention over any number of tensors, contracted from left to right.

    Returns:
        Tensor, with the axes that ``equation`` names.

    Raises:
        TypeError: ``equation`` is not a str.
        ValueError: subscripts and tensors do not fit.

    Examples:
        >>> print(ops.einsum("ij,jk->ik", Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not isinstance(equation, str):
        raise TypeError(f"For 'einsum', the 'equation' must be str, but got {type(equation)}.")
    need_tensor("Einsum", **{f"operand{i}": t for i, t in enumerate(operands)})
    parts = promote_all(*operands, op="Einsum")
    return einsum_op(equation, *parts)


FUNCTIONS = public_functions(globals()) | {
    "ger": outer,
}  # fmt: skip
