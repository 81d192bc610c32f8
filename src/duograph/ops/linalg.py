"""Matrix products: the primitive ``matmul`` and what is a product in disguise (dot, inner, outer, tensordot).

Operands are copied to C order before they reach BLAS, transposed ones too, and a stack of matrices times one matrix is
one product. So the bits of a product are a function of values and shapes alone: it does not matter whether an operand
was a view, nor whether a transposition was an op of its own or an attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.errors import user_error
from duograph.core.op import get_op, primitive
from duograph.core.shapes import broadcast_shapes, normalize_axis, numel, taken_equal
from duograph.core.types import TensorType

from .arithmetic import adjoint, mul
from .cast import cast
from .movement import reduce_sum, reshape, sum_to, transpose
from .rules import in_float32, same_dtype


def aligned_batch(op: str) -> Any:
    """Batch rule of ops whose leading axes broadcast: batch axes in front, ranks aligned behind them."""

    def batch(in_axes: Any, operands: Any, **attrs: Any) -> Any:
        pairs = list(zip(operands, in_axes, strict=True))
        rank = max(len(t.shape) - (axis is not None) for t, axis in pairs)
        aligned = [
            t if axis is None else reshape(t, shape=(t.shape[0], *(1,) * (rank + 1 - len(t.shape)), *t.shape[1:]))
            for t, axis in pairs
        ]
        return get_op(op)(*aligned, **attrs), 0

    return batch


@primitive
class matmul:
    """Product of (stacks of) matrices: the last two axes are multiplied, the others broadcast."""

    batch = aligned_batch("matmul")

    def infer(x, w, *, transpose_a=False, transpose_b=False):
        dtype = same_dtype("matmul", x, w)
        if x.ndim < 2 or w.ndim < 2:
            raise ValueError(
                f"For 'matmul', both inputs need at least 2 dimensions, but got {tuple(x.shape)} and {tuple(w.shape)}."
            )
        rows, inner = x.shape[-2:] if not transpose_a else x.shape[:-3:-1]
        other, columns = w.shape[-2:] if not transpose_b else w.shape[:-3:-1]
        if not taken_equal(inner, other):
            message = f"For 'MatMulExt' op, shape1[-1] must be equal to shape2[-2], but got {inner} and {other}."
            raise user_error(RuntimeError, "DG0412", message, f"matmul({x}, {w})")
        batch = broadcast_shapes(x.shape[:-2], w.shape[:-2], op="MatMulExt")
        return TensorType(dtype, (*batch, rows, columns))

    def reference(x, w, *, transpose_a, transpose_b):
        return _product(x, w, transpose_a=transpose_a, transpose_b=transpose_b)

    def bprop(ins, out, dout, *, transpose_a, transpose_b):
        x, w = (adjoint(t) for t in ins)

        def of_x():
            if transpose_a:
                grad = matmul(w, dout, transpose_a=transpose_b, transpose_b=True)
            else:
                grad = matmul(dout, w, transpose_a=False, transpose_b=not transpose_b)
            return sum_to(grad, x.shape)

        def of_w():
            left, right = x, dout
            if not transpose_a and len(w.shape) == 2 and len(x.shape) > 2:
                left, right = _as_one_matrix(x), _as_one_matrix(dout)  # sums over the stack inside the product
            if transpose_b:
                grad = matmul(right, left, transpose_a=True, transpose_b=transpose_a)
            else:
                grad = matmul(left, right, transpose_a=not transpose_a, transpose_b=False)
            return sum_to(grad, w.shape)

        return of_x, of_w


@in_float32
def _product(x, w, *, transpose_a, transpose_b):
    if transpose_a:
        x = _transposed(x)
    if transpose_b:
        w = _transposed(w)
    if w.ndim == 2 and x.ndim > 2:
        flat = np.matmul(x.reshape(int(np.prod(x.shape[:-1])), x.shape[-1]), w)
        return flat.reshape(*x.shape[:-1], w.shape[-1])
    return np.matmul(x, w)


def _transposed(x: np.ndarray) -> np.ndarray:
    """A C-contiguous copy of the transposed matrices; few rows at a time where they collide in the cache."""
    if x.ndim > 2 or x.shape[0] <= 16 or x.shape[1] * x.itemsize % 1024:
        return np.ascontiguousarray(np.swapaxes(x, -1, -2))
    out = np.empty(x.shape[::-1], x.dtype)
    for i in range(0, len(x), 16):
        out[:, i : i + 16] = x[i : i + 16].T
    return out


def _as_one_matrix(x: Any) -> Any:
    return reshape(x, shape=(numel(x.shape[:-1]), x.shape[-1]))


def vector_product(x: Any, y: Any) -> Any:
    """Sums of the products of float or complex vectors, which are the last axis of ``x`` and ``y``, of one shape.

    A reduction, whose partial sums keep what the one chain of a `matmul` loses in long vectors; and that is faster.
    """
    wide = [cast(t, dtype=dt.float32) if t.dtype.itemsize == 2 else t for t in (x, y)]
    return cast(reduce_sum(mul(*wide), axis=(len(x.shape) - 1,)), dtype=x.dtype)


def sums_vectors(x: Any, y: Any) -> bool:
    """Whether `vector_product` takes these operands, each one vector; else `matmul` does, or says what is wrong."""
    number = x.dtype.is_floating or x.dtype.is_complex
    return number and x.dtype == y.dtype and taken_equal(numel(x.shape), numel(y.shape))


def matrix_product(x: Any, y: Any) -> Any:
    """``x @ y`` as NumPy understands it, 1-D operands included; both have one dtype.

    Raises:
        ValueError: an operand is 0-d.
        RuntimeError: the inner extents differ.
    """
    if not x.shape or not y.shape:
        raise ValueError("For 'MatMulExt' op, inputs must be all tensors and rank >= 1")
    if len(x.shape) == len(y.shape) == 1 and sums_vectors(x, y):
        return vector_product(x, y)
    left = reshape(x, shape=(1, *x.shape)) if len(x.shape) == 1 else x
    right = reshape(y, shape=(*y.shape, 1)) if len(y.shape) == 1 else y
    out = matmul(left, right)
    if left is not x or right is not y:
        rows = () if left is not x else (out.shape[-2],)
        columns = () if right is not y else (out.shape[-1],)
        out = reshape(out, shape=(*out.shape[:-2], *rows, *columns))
    return out


def outer(x: Any, y: Any) -> Any:
    """Products of every element of the vector ``x`` with every element of the vector ``y``."""
    return mul(reshape(x, shape=(numel(x.shape), 1)), reshape(y, shape=(1, numel(y.shape))))


def dot(x: Any, y: Any) -> Any:
    """Sum over the last axis of ``x`` and the last but one of ``y`` (the last, if it is a vector), as in NumPy."""
    if not x.shape or not y.shape:
        return outer_shape(x, y)
    return tensordot(x, y, ((len(x.shape) - 1,), (max(len(y.shape) - 2, 0),)))


def inner(x: Any, y: Any) -> Any:
    """Sum of products over the last axes."""
    if not x.shape or not y.shape:
        return outer_shape(x, y)
    return tensordot(x, y, ((len(x.shape) - 1,), (len(y.shape) - 1,)))


def outer_shape(x: Any, y: Any) -> Any:
    """Products of every element of ``x`` with every element of ``y``, of shape ``x.shape + y.shape``."""
    return reshape(outer(x, y), shape=(*x.shape, *y.shape))


def tensordot(x: Any, y: Any, axes: int | Sequence[Any] = 2) -> Any:
    """Sum of products over pairs of axes.

    Args:
        x: the first tensor.
        y: the second tensor, of the same dtype.
        axes: how many axes at the end of ``x`` meet as many at the start of ``y``; or a pair of axis lists.

    Raises:
        ValueError: the axes do not match.
    """
    if isinstance(axes, int):
        if axes < 0 or axes > min(len(x.shape), len(y.shape)):
            raise ValueError(
                f"For 'tensordot', axes must be in [0, {min(len(x.shape), len(y.shape))}], but got {axes}."
            )
        first: Sequence[int] = range(len(x.shape) - axes, len(x.shape))
        second: Sequence[int] = range(axes)
    else:
        first, second = ((a,) if isinstance(a, int) else tuple(a) for a in axes)
    first = [normalize_axis(a, len(x.shape), "tensordot") for a in first]
    second = [normalize_axis(a, len(y.shape), "tensordot") for a in second]
    if len(first) != len(second):
        raise ValueError(f"For 'tensordot', the axes must pair up, but got {len(first)} and {len(second)}.")
    for a, b in zip(first, second, strict=True):
        if not taken_equal(x.shape[a], y.shape[b]):
            raise ValueError(
                f"For 'tensordot', axis {a} of size {x.shape[a]} cannot be summed with axis {b} of size {y.shape[b]}."
            )
    free_x = [i for i in range(len(x.shape)) if i not in first]
    free_y = [i for i in range(len(y.shape)) if i not in second]
    summed = numel([x.shape[i] for i in first])
    if first and not free_x and not free_y and sums_vectors(x, y):
        x, y = transpose(x, perm=tuple(first)), transpose(y, perm=tuple(second))
        return vector_product(reshape(x, shape=(summed,)), reshape(y, shape=(summed,)))
    left = reshape(transpose(x, perm=(*free_x, *first)), shape=(numel([x.shape[i] for i in free_x]), summed))
    right = reshape(transpose(y, perm=(*second, *free_y)), shape=(summed, numel([y.shape[i] for i in free_y])))
    return reshape(matmul(left, right), shape=(*[x.shape[i] for i in free_x], *[y.shape[i] for i in free_y]))
