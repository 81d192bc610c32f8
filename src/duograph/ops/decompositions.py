"""Factorisations and solutions of (stacks of) matrices by LAPACK, through NumPy; gradients are written in ops.

float32, float64 and complex; gradients of complex factorisations are not defined here, only of ``inverse``, ``solve``
and ``det``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import primitive
from duograph.core.shapes import broadcast_shapes, normalize_axis, taken_equal
from duograph.core.types import TensorType, TupleType

from .arithmetic import abs_, add, adjoint, div, mul, neg, sub
from .cast import cast
from .creation import constant_like, eye
from .diagonals import tril, triu
from .linalg import aligned_batch, matmul
from .movement import expand_dims, reduce_sum, reshape, sum_to, transpose
from .reduce import reduce_max, reduce_min
from .rules import batch_with, require_kind, same_dtype
from .select import select
from .stable import p_norm


def _matrix(op: str, x: Any, square: bool = True) -> TensorType:
    x = require_kind(op, x, "fc")
    if x.dtype.itemsize < 4:
        raise TypeError(f"For '{op}', float32, float64 or complex is needed, but got {x.dtype}.")
    if x.ndim < 2:
        raise ValueError(f"For '{op}', the input must have at least 2 dimensions, but got shape {tuple(x.shape)}.")
    if square and not taken_equal(x.shape[-1], x.shape[-2]):
        raise ValueError(f"For '{op}', the last two dimensions must be equal, but got shape {tuple(x.shape)}.")
    return x


def _lapack(function: Any, *arrays: np.ndarray, **options: Any) -> Any:
    try:
        return function(*arrays, **options)
    except np.linalg.LinAlgError as error:
        raise RuntimeError(f"For '{function.__name__}', {error}.") from None


def _unless_nan(function: Any, x: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """``function`` of matrices; NaN for those that hold NaN, which LAPACK takes for singular."""
    unknown = np.isnan(x).any((-2, -1), keepdims=True)
    if not unknown.any():
        return function(x, *others)
    out = function(np.where(unknown, np.eye(x.shape[-1], dtype=x.dtype), x), *others)
    return np.where(unknown if out.ndim >= x.ndim else unknown[..., 0, 0], out.dtype.type(np.nan), out)


def _singular(x: np.ndarray, **options: Any) -> Any:
    """`np.linalg.svd`, which must see finite numbers: LAPACK's xGESDD never returns from some others."""
    if not np.isfinite(x).all():
        raise RuntimeError("For 'svd', SVD did not converge: the matrix has infinite elements or NaN.")
    return _lapack(np.linalg.svd, x, **options)


def adjoint_matrix(x: Any) -> Any:
    """The (conjugate) transposes of the matrices in the last two axes."""
    return transposed(adjoint(x))


def transposed(x: Any) -> Any:
    """The transposes of the matrices in the last two axes."""
    rank = len(x.shape)
    return transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2))


def _scalars(x: Any) -> Any:
    """A stack of numbers as a stack of 1 by 1 matrices."""
    return reshape(x, shape=(*x.shape, 1, 1))


def _unchanged(size, rank, **attrs):
    return attrs


@primitive
class inverse:
    """The inverse of every matrix."""

    raises = True
    batch = batch_with("inverse", _unchanged)

    def infer(x):
        return _matrix("inverse", x)

    def reference(x):
        return _unless_nan(lambda x: _lapack(np.linalg.inv, x), x)

    def bprop(ins, out, dout):
        h = adjoint_matrix(out)
        return (neg(matmul(matmul(h, dout), h)),)


@primitive
class det:
    """The determinant of every matrix."""

    batch = batch_with("det", _unchanged)

    def infer(x):
        x = _matrix("det", x)
        return x.with_shape(x.shape[:-2])

    def reference(x):
        return np.asarray(_unless_nan(np.linalg.det, x), x.dtype)

    def bprop(ins, out, dout):
        return (mul(_scalars(dout), adjoint(cofactors(ins[0]))),)


def _one_by_one(function: Any, of_singular: Any, *arrays: np.ndarray) -> np.ndarray:
    """``function`` of matrices, or of each by itself: then ``of_singular`` of those that are."""
    try:
        return np.asarray(_unless_nan(function, *arrays), arrays[0].dtype)
    except np.linalg.LinAlgError:
        if arrays[0].ndim == 2:
            return np.asarray(of_singular(*arrays), arrays[0].dtype)
        arrays = np.broadcast_arrays(*arrays)
        flat = zip(*[x.reshape(-1, *x.shape[-2:]) for x in arrays], strict=True)
        return np.stack([_one_by_one(function, of_singular, *each) for each in flat]).reshape(arrays[0].shape)


def _cofactors(x: np.ndarray) -> np.ndarray:
    return np.linalg.det(x)[..., None, None] * np.swapaxes(np.linalg.inv(x), -1, -2)


def _cofactors_of_singular(x: np.ndarray) -> np.ndarray:
    u, s, vh = _singular(x)
    others = np.where(np.eye(len(s), dtype=bool), 1, s).prod(-1)
    return np.linalg.det(u) * np.linalg.det(vh) * (np.conj(u) * others) @ np.conj(vh)


@primitive
class cofactors:
    """The derivative of the determinant by every element, of singular matrices too."""

    raises = True
    batch = batch_with("cofactors", _unchanged)

    def infer(x):
        return _matrix("cofactors", x)

    def reference(x):
        return _one_by_one(_cofactors, _cofactors_of_singular, x)

    def bprop(ins, out, dout):
        return (adjoint(cofactors_along(ins[0], adjoint(dout))),)


def _cofactors_along(x: np.ndarray, d: np.ndarray) -> np.ndarray:
    h, of_det = np.swapaxes(np.linalg.inv(x), -1, -2), np.linalg.det(x)[..., None, None]
    return of_det * ((d * h).sum((-2, -1), keepdims=True) * h - h @ np.swapaxes(d, -1, -2) @ h)


def _cofactors_of_singular_along(x: np.ndarray, d: np.ndarray) -> np.ndarray:
    u, s, vh = _singular(x)
    same = np.eye(len(s), dtype=bool)
    others = np.where(same[:, None] | same[None], 1, s).prod(-1) * ~same  # the product of all but two
    e = np.conj(u.T) @ d @ np.conj(vh.T)
    slope = np.diag(others @ np.diag(e)) - others * e.T
    return np.linalg.det(u) * np.linalg.det(vh) * np.conj(u) @ slope @ np.conj(vh)


@primitive
class cofactors_along:
    """The derivative of the cofactors of ``x`` in the direction ``d``, of singular matrices too."""

    raises = True
    batch = aligned_batch("cofactors_along")

    def infer(x, d):
        same_dtype("cofactors_along", x, d)
        return _matrix("cofactors_along", d).with_shape(broadcast_shapes(x.shape, d.shape, op="cofactors_along"))

    def reference(x, d):
        return _one_by_one(_cofactors_along, _cofactors_of_singular_along, x, d)

    def bprop(ins, out, dout):
        x, d = ins

        def of_x():
            h, w = transposed(inverse(x)), adjoint(dout)

            def between(m):
                return matmul(matmul(h, m, transpose_b=True), h)

            def along(m):
                return reduce_sum(mul(m, h), axis=(len(x.shape) - 2, len(x.shape) - 1), keep_dims=True)

            of_d, of_w = between(d), between(w)
            both = sub(
                mul(along(d), along(w)),
                reduce_sum(mul(w, of_d), axis=(-2 % len(x.shape), -1 % len(x.shape)), keep_dims=True),
            )
            twice = add(matmul(matmul(of_d, w, transpose_b=True), h), matmul(matmul(of_w, d, transpose_b=True), h))
            once = add(mul(along(w), of_d), mul(along(d), of_w))
            return adjoint(mul(_scalars(det(x)), add(sub(mul(both, h), once), twice)))

        return of_x, lambda: adjoint(cofactors_along(x, adjoint(dout)))


@primitive
class pseudo_inverse:
    """The pseudo-inverse of every matrix; singular values up to ``limit``, of shape ``(..., 1, 1)``, count as 0."""

    raises = True
    batch = aligned_batch("pseudo_inverse")

    def infer(x, limit):
        x = _matrix("pinv", x, square=False)
        lead = broadcast_shapes(x.shape[:-2], limit.shape[:-2], op="pinv")
        return x.with_shape((*lead, x.shape[-1], x.shape[-2]))

    def reference(x, limit):
        u, s, vh = _singular(x, full_matrices=False)
        kept = s > limit[..., 0]
        inverted = np.where(kept, 1 / np.where(kept, s, 1), 0)[..., None, :]
        h = np.conj(np.swapaxes(vh, -1, -2)) * inverted
        return np.asarray(h @ np.conj(np.swapaxes(u, -1, -2)), x.dtype)

    def bprop(ins, out, dout):
        x, _ = ins
        h, of_dout = adjoint_matrix(out), adjoint_matrix(dout)
        within = neg(matmul(matmul(h, dout), h))
        left, right = matmul(of_dout, matmul(out, h)), matmul(matmul(h, out), of_dout)
        beside = add(sub(left, matmul(x, matmul(out, left))), sub(right, matmul(matmul(right, out), x)))
        return sum_to(add(within, beside), x.shape), None


@primitive
class slogdet:
    """Sign and logarithm of the absolute value of the determinant of every matrix."""

    batch = batch_with("slogdet", _unchanged)

    def infer(x):
        x = _matrix("slogdet", x)
        return TupleType((x.with_shape(x.shape[:-2]), TensorType(x.dtype.to_real(), x.shape[:-2])))

    def reference(x):
        sign, log = (_unless_nan(lambda x, i=i: np.linalg.slogdet(x)[i], x) for i in range(2))
        return np.asarray(sign, x.dtype), np.asarray(log, x.real.dtype)

    def bprop(ins, out, dout):
        (x,) = ins
        return (mul(_scalars(dout[1]), adjoint_matrix(inverse(x))),)


def _as_many_rows(op: str, a: TensorType, b: TensorType) -> None:
    if not taken_equal(a.shape[-1], b.shape[-2]):
        raise ValueError(f"For '{op}', the rows of {tuple(a.shape)} and {tuple(b.shape)} must be as many.")


@primitive
class solve:
    """``X`` with ``a @ X = b`` for matrices ``b``; leading axes broadcast."""

    raises = True
    batch = aligned_batch("solve")

    def infer(a, b):
        dtype = same_dtype("solve", a, b)
        a, b = _matrix("solve", a), _matrix("solve", b, square=False)
        _as_many_rows("solve", a, b)
        return TensorType(dtype, (*broadcast_shapes(a.shape[:-2], b.shape[:-2], op="solve"), *b.shape[-2:]))

    def reference(a, b):
        return _unless_nan(lambda a, b: _lapack(np.linalg.solve, a, b), a, b)

    def bprop(ins, out, dout):
        a, b = ins
        of_b = solve(adjoint_matrix(a), dout)
        return (
            lambda: sum_to(neg(matmul(of_b, adjoint(out), transpose_b=True)), a.shape),
            lambda: sum_to(of_b, b.shape),
        )


@primitive
class triangular_solve:
    """``X`` with ``a @ X = b``, reading one triangle of ``a`` only; ``transposed``: with its transpose."""

    raises = True
    batch = aligned_batch("triangular_solve")

    def infer(a, b, *, lower=True, transposed=False, unit=False):
        dtype = same_dtype("triangular_solve", a, b)
        a, b = _matrix("triangular_solve", a), _matrix("triangular_solve", b, square=False)
        _as_many_rows("triangular_solve", a, b)
        return TensorType(dtype, (*broadcast_shapes(a.shape[:-2], b.shape[:-2], op="triangular_solve"), *b.shape[-2:]))

    def reference(a, b, *, lower, transposed, unit):
        a = np.tril(a) if lower else np.triu(a)
        if unit:
            a = a - a * np.eye(a.shape[-1], dtype=a.dtype) + np.eye(a.shape[-1], dtype=a.dtype)
        return _lapack(np.linalg.solve, np.ascontiguousarray(np.swapaxes(a, -1, -2)) if transposed else a, b)

    def bprop(ins, out, dout, *, lower, transposed, unit):
        a, b = ins
        of_b = triangular_solve(adjoint(a), dout, lower=lower, transposed=not transposed, unit=unit)

        def of_a():
            left, right = (adjoint(out), of_b) if transposed else (of_b, adjoint(out))
            full = neg(matmul(left, right, transpose_b=True))
            inner = 1 if unit else 0
            return sum_to(tril(full, diagonal=-inner) if lower else triu(full, diagonal=inner), a.shape)

        return of_a, lambda: sum_to(of_b, b.shape)


@primitive
class cholesky:
    """Lower triangular ``L`` with ``L @ L^H = x`` for positive definite ``x``, of which the lower triangle is read."""

    raises = True
    batch = batch_with("cholesky", _unchanged)

    def infer(x):
        return _matrix("cholesky", x)

    def reference(x):
        return _lapack(np.linalg.cholesky, x)

    def bprop(ins, out, dout):
        lower = tril(matmul(adjoint(out), dout, transpose_a=True))
        half = sub(lower, mul(lower, _half_identity(lower)))
        left = triangular_solve(out, half, transposed=True)
        grad = adjoint_matrix(triangular_solve(out, adjoint_matrix(left), transposed=True))
        return (mul(add(grad, adjoint_matrix(grad)), constant_like(grad, 0.5)),)


def _half_identity(x: Any) -> Any:
    return mul(eye(n=x.shape[-1], m=x.shape[-1], dtype=x.dtype), constant_like(x, 0.5))


@primitive
class qr:
    """``q`` with orthonormal columns and upper triangular ``r``, ``q @ r = x``; ``complete``: ``q`` is square."""

    batch = batch_with("qr", _unchanged)

    def infer(x, *, complete=False):
        x = _matrix("qr", x, square=False)
        *lead, m, n = x.shape
        k = m if complete else min(m, n)
        return TupleType((x.with_shape((*lead, m, k)), x.with_shape((*lead, k, n))))

    def reference(x, *, complete):
        return tuple(np.linalg.qr(x, "complete" if complete else "reduced"))

    def bprop(ins, out, dout, *, complete):
        (x,) = ins
        m, n = x.shape[-2:]
        if m < n or (complete and m != n):
            raise RuntimeError(
                f"The gradient of 'qr' needs at least as many rows as columns, and mode 'reduced', got {m} by {n}."
            )
        (q, r), (dq, dr) = out, dout
        inner = sub(matmul(r, dr, transpose_b=True), matmul(dq, q, transpose_a=True))
        lower = tril(inner, diagonal=-1)
        symmetric = add(tril(inner), adjoint_matrix(lower))
        total = add(dq, matmul(q, symmetric))
        return (adjoint_matrix(triangular_solve(r, adjoint_matrix(total), lower=False)),)


@primitive
class svd:
    """``(s, u, v)``: singular values in descending order, and matrices with ``u @ diag(s) @ v^H = x``."""

    raises = True
    batch = batch_with("svd", _unchanged)

    def infer(x, *, full_matrices=False):
        x = _matrix("svd", x, square=False)
        *lead, m, n = x.shape
        k = min(m, n)
        s = TensorType(x.dtype.to_real(), (*lead, k))
        cols_u, cols_v = (m, n) if full_matrices else (k, k)
        return TupleType((s, x.with_shape((*lead, m, cols_u)), x.with_shape((*lead, n, cols_v))))

    def reference(x, *, full_matrices):
        u, s, vh = _singular(x, full_matrices=full_matrices)
        return s, u, np.ascontiguousarray(np.conj(np.swapaxes(vh, -1, -2)))

    def bprop(ins, out, dout, *, full_matrices):
        (x,) = ins
        (s, u, v), (ds, du, dv) = out, dout
        m, n = x.shape[-2:]
        if full_matrices and m != n:
            raise RuntimeError(
                "The gradient of 'svd' with full matrices is not defined for matrices that are not square."
            )
        gap = _differences(mul(s, s))
        row = expand_dims(s, len(s.shape) - 1)
        inner_u = div(_skew(matmul(u, du, transpose_a=True)), gap)
        inner_v = div(_skew(matmul(v, dv, transpose_a=True)), gap)
        column = expand_dims(s, len(s.shape))
        middle = add(mul(inner_u, row), mul(column, inner_v))
        middle = add(middle, mul(eye(n=s.shape[-1], m=s.shape[-1], dtype=s.dtype), row_of(ds)))
        grad = matmul(matmul(u, middle), v, transpose_b=True)
        if m > n:  # the part of du outside the span of u
            outside = div(sub(du, matmul(u, matmul(u, du, transpose_a=True))), row)
            grad = add(grad, matmul(outside, v, transpose_b=True))
        if n > m:
            outside = div(sub(dv, matmul(v, matmul(v, dv, transpose_a=True))), row)
            grad = add(grad, matmul(u, outside, transpose_b=True))
        return (grad,)


@primitive
class svd_values:
    """The singular values of every matrix, in descending order."""

    raises = True
    batch = batch_with("svd_values", _unchanged)

    def infer(x):
        x = _matrix("svd", x, square=False)
        return TensorType(x.dtype.to_real(), (*x.shape[:-2], min(x.shape[-2:])))

    def reference(x):
        return _singular(x, compute_uv=False)

    def bprop(ins, out, dout):
        _, u, v = svd(ins[0])
        return (matmul(mul(u, row_of(dout)), v, transpose_b=True),)


def row_of(x: Any) -> Any:
    """Vectors in the last axis as matrices of one row."""
    return expand_dims(x, len(x.shape) - 1)


def _skew(x: Any) -> Any:
    return sub(x, adjoint_matrix(x))


def _differences(w: Any) -> Any:
    """Matrices of ``w[j] - w[i]``; infinite on the diagonal, so that dividing by them leaves 0 there."""
    gap = sub(row_of(w), expand_dims(w, len(w.shape)))

    return select(
        cast(eye(n=w.shape[-1], m=w.shape[-1], dtype=w.dtype), dtype=dt.bool_), constant_like(gap, np.inf), gap
    )


@primitive
class eigh:
    """Eigenvalues in ascending order and eigenvectors (columns) of symmetric or Hermitian matrices (lower triangle)."""

    raises = True
    batch = batch_with("eigh", _unchanged)

    def infer(x):
        x = _matrix("eigh", x)
        return TupleType((TensorType(x.dtype.to_real(), x.shape[:-1]), x))

    def reference(x):
        return tuple(_lapack(np.linalg.eigh, x))

    def bprop(ins, out, dout):
        (w, v), (dw, dv) = out, dout
        inner = div(matmul(v, dv, transpose_a=True), _differences(w))
        inner = add(inner, mul(eye(n=w.shape[-1], m=w.shape[-1], dtype=w.dtype), row_of(dw)))
        grad = matmul(matmul(v, inner), v, transpose_b=True)
        return (mul(add(grad, adjoint_matrix(grad)), constant_like(grad, 0.5)),)


def matrix_norm(x: Any, order: Any = "fro", axes: tuple[int, int] = (-2, -1), keep_dims: bool = False) -> Any:
    """A norm of the matrices in two axes: ``"fro"``, ``"nuc"``, or 1, -1, 2, -2 or plus or minus infinity.

    Raises:
        ValueError: unknown ``order``, or the axes are the same.
    """
    rank = len(x.shape)
    row, column = (normalize_axis(a, rank, "matrix_norm") for a in axes)
    if row == column:
        raise ValueError(f"For 'matrix_norm', the two axes must differ, but got {axes}.")
    both = tuple(sorted((row, column)))
    if order == "fro":
        return p_norm(x, 2, both, keep_dims)
    if order in ("nuc", 2, -2):
        rest = [i for i in range(rank) if i not in both]
        s = svd_values(transpose(x, perm=(*rest, row, column)))
        fold = reduce_sum if order == "nuc" else reduce_max if order == 2 else reduce_min
        out = fold(s, axis=(len(s.shape) - 1,), keep_dims=False)
        return reshape(out, shape=tuple(1 if i in both else n for i, n in enumerate(x.shape))) if keep_dims else out
    if order not in (1, -1, np.inf, -np.inf):
        raise ValueError(
            f"For 'matrix_norm', the order must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got {order}."
        )
    summed, other = (row, column) if abs(order) == 1 else (column, row)
    totals = reduce_sum(abs_(x), axis=(summed,), keep_dims=True)
    out = (reduce_max if order > 0 else reduce_min)(totals, axis=(other,), keep_dims=True)
    return out if keep_dims else reshape(out, shape=tuple(n for i, n in enumerate(x.shape) if i not in both))
