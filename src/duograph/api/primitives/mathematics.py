"""Primitive classes of mathematics with constructor parameters: reductions, products.

Every row is ``declare(name, forward, {parameter: default})``; ``forward`` gets the Primitive first.
"""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.ops import arithmetic, cumulative
from duograph.ops import linalg as matrix_ops
from duograph.ops.creation import constant_like
from duograph.tensor.tensor import Tensor

from ..functional import array, creation, linalg, products, reduce, sorting, statistics
from ..functional.forms import axes_of, axis_of, in_dtype
from .base import REQUIRED, Table

CLASSES = Table()
_row = CLASSES.row


def _tensors(args: tuple[Any, ...]) -> Any:
    """Tensors given one by one or as one list or tuple."""
    return args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args


# ---- reductions -----------------------------------------------------------------------------------------------------

_KEEP = {"keep_dims": False}


def _reduce_sum(p: Any, x: Tensor, axis: Any = ()) -> Tensor:
    """The sum over ``axis``; with ``skip_mode`` no axes mean none, not all."""
    if p.skip_mode and isinstance(axis, tuple | list) and not axis:
        return x
    return reduce.keep_sum(x, axis, p.keep_dims)


_row("ReduceSum", _reduce_sum, {**_KEEP, "skip_mode": False})
_row("ReduceMean", lambda p, x, axis=(): reduce.mean(x, axis, p.keep_dims), _KEEP)
_row("ReduceMax", lambda p, x, axis=(): reduce.amax(x, axis, p.keep_dims), _KEEP)
_row("ReduceMin", lambda p, x, axis=(): reduce.amin(x, axis, p.keep_dims), _KEEP)
_row("ReduceProd", lambda p, x, axis=(): reduce.keep_prod(x, axis, p.keep_dims), _KEEP)
_row("ReduceAll", lambda p, x, axis=(): reduce.all(x, axis, p.keep_dims), _KEEP)
_row("ReduceAny", lambda p, x, axis=(): reduce.any(x, axis, p.keep_dims), _KEEP)
_row(
    "ReduceStd", lambda p, x: reduce.std_mean(x, p.axis, int(p.unbiased), p.keep_dims),
    {"axis": (), "unbiased": True, "keep_dims": False},
)  # fmt: skip
_row("EuclideanNorm", lambda p, x, axes: linalg.vector_norm(x, 2, axes_of(axes, x, p.name), p.keep_dims), _KEEP)


def _lp_norm(p: Any, x: Tensor) -> Tensor:
    """The p-norm over ``axis``, at least ``epsilon``."""
    norm = linalg.vector_norm(x, p.p, p.axis, p.keep_dims)
    return arithmetic.maximum(norm, constant_like(norm, p.epsilon))


_row(
    "LpNorm", _lp_norm,
    {"axis": REQUIRED, "p": 2, "keep_dims": False, "epsilon": 1e-12},
)  # fmt: skip
_row("Argmax", lambda p, x: in_dtype(reduce.argmax(x, p.axis), p.output_type), {"axis": -1, "output_type": dt.int32})
_row("Argmin", lambda p, x: in_dtype(reduce.argmin(x, p.axis), p.output_type), {"axis": -1, "output_type": dt.int32})


def _index_first(largest: bool) -> Any:
    def forward(p: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        value, place = reduce.extreme_with_index(x, axis_of(p.axis, x, p.name), p.keep_dims, largest)
        return place, value

    return forward


_row("ArgMaxWithValue", _index_first(True), {"axis": 0, "keep_dims": False})
_row("ArgMinWithValue", _index_first(False), {"axis": 0, "keep_dims": False})
_row(
    "CountNonZero",
    lambda p, x: reduce.count_nonzero(x, () if p.dims is None else p.dims, dtype=dt.int64),
    {"dims": None},
)


def _running(op: Any, name: str) -> Any:
    def forward(p: Any, x: Tensor, axis: int) -> Tensor:
        return op(x, axis=axis_of(axis, x, name), exclusive=p.exclusive, reverse=p.reverse)

    return forward


_row("CumSum", _running(cumulative.cumsum, "CumSum"), {"exclusive": False, "reverse": False})
_row("CumProd", _running(cumulative.cumprod, "CumProd"), {"exclusive": False, "reverse": False})
_row("Cummax", lambda p, x: reduce.cummax(x, p.axis), {"axis": REQUIRED})
_row("Cummin", lambda p, x: reduce.cummin(x, p.axis), {"axis": REQUIRED})
_row(
    "Median",
    lambda p, x: (statistics.nanmedian if p.ignore_nan else sorting.median)(
        array.ravel(x) if p.global_median else x, 0 if p.global_median else p.axis, p.keep_dims
    ),
    {"global_median": False, "axis": 0, "keep_dims": False, "ignore_nan": False},
)  # fmt: skip

# ---- products -------------------------------------------------------------------------------------------------------

_TRANSPOSED = {"transpose_a": False, "transpose_b": False}
_row(
    "MatMul",
    lambda p, x, y: products.matrix_matmul(x, y, p.transpose_a, p.transpose_b),
    _TRANSPOSED,
    op=matrix_ops.matmul,
)
_row("BatchMatMul", lambda p, x, y: products.batch_matmul(x, y, p.transpose_a, p.transpose_b), _TRANSPOSED)
_row("Cross", lambda p, x, y: products.cross(x, y, None if p.dim == -65530 else p.dim), {"dim": -65530})
_row("Cdist", lambda p, x, y: linalg.cdist(x, y, p.p), {"p": 2.0})
_row("Cholesky", lambda p, x: linalg.cholesky(x, p.upper), {"upper": False})
_row("CholeskyInverse", lambda p, x: linalg.cholesky_inverse(x, p.upper), {"upper": False})
_row("CholeskySolve", lambda p, x, y: linalg.cholesky_solve(x, y, p.upper), {"upper": False})
_row("Einsum", lambda p, xs: products.einsum(p.equation, *xs), {"equation": REQUIRED})
_row("MatrixInverse", lambda p, x: linalg.inverse(array.adjoint(x) if p.adjoint else x), {"adjoint": False})
_row("MatrixSolve", lambda p, a, b: linalg.matrix_solve(a, b, p.adjoint), {"adjoint": False})
_row("MatrixPower", lambda p, x: linalg.matrix_power(x, p.n), {"n": REQUIRED})
_row("Qr", lambda p, x: linalg.qr(x, "complete" if p.full_matrices else "reduced"), {"full_matrices": False})
_row(
    "Renorm",
    lambda p, x: linalg.renorm(x, p.p, p.dim, p.maxnorm),
    {"p": REQUIRED, "dim": REQUIRED, "maxnorm": REQUIRED},
)


def _svd(p: Any, x: Tensor) -> tuple[Tensor, ...]:
    out = linalg.svd(x, p.full_matrices, p.compute_uv)
    return out if isinstance(out, tuple) else (out, creation.zeros((1,)), creation.zeros((1,)))


_row("Svd", _svd, {"full_matrices": False, "compute_uv": True})
