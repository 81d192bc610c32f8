"""Layers of plain mathematics."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from duograph.api.functional import products
from duograph.api.functional.reduce import logsumexp
from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Flag
from duograph.nn.settings import Check, Kind, option, with_settings
from duograph.ops import decompositions, diagonals
from duograph.ops.arithmetic import abs_, mul, sub
from duograph.ops.cast import cast, stop_gradient
from duograph.ops.creation import constant_like
from duograph.ops.movement import reduce_sum
from duograph.ops.norm import reduce_mean
from duograph.tensor.tensor import Tensor

_OPS = functions()


def _axis_of(*types: type, none: bool = False) -> Check:
    def check(value: Any, name: str, owner: str) -> Any:
        if (isinstance(value, bool) or not isinstance(value, types)) and not (none and value is None):
            raise TypeError(
                f"For '{owner}', the type of '{name}' should be one of '{[t.__name__ for t in types]}', "
                f"but got type '{type(value).__name__}'."
            )
        return value

    return check


Axis = Annotated[Any, Kind("Union[int, tuple(int), None]", _axis_of(int, tuple, none=True))]
Axes = Annotated[Any, Kind("Union[int, tuple(int), list(int)]", _axis_of(int, list, tuple))]
_scale = checks.that(checks.a_number, lambda x: not x <= 0, "be greater than 0, but got {}")
Scale = Annotated[float, Kind("Union[int, float]", _scale)]


@with_settings
class MatMul(Cell):
    """The matrix product.

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> print(nn.MatMul()(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0], [4.0]])))
        [[11.]]
    """

    transpose_x1: Flag = False
    transpose_x2: Flag = False

    def construct(self, x1, x2):
        if self.transpose_x1 and len(x1.shape) > 1:
            x1 = x1.swapaxes(-1, -2)
        if self.transpose_x2 and len(x2.shape) > 1:
            x2 = x2.swapaxes(-1, -2)
        return products.matmul(x1, x2)


@with_settings
class Moments(Cell):
    """Mean and variance.

    Examples:
        >>> mean, variance = nn.Moments(axis=1)(Tensor([[1.0, 3.0], [2.0, 6.0]]))
        >>> print(mean, variance)
        [2. 4.] [1. 4.]
    """

    axis: Axis = option("over which axes; ``None``: all", default=None)
    keep_dims: Anything = option("``None``: no", default=None)

    def _settings_taken(self, given):
        if self.keep_dims is not None:
            checks.boolean(self.keep_dims, "keep_dims", self.cls_name)
        self.keep_dims = bool(self.keep_dims)

    def construct(self, x):
        return self.moments(x)

    def moments(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance; half floats are computed in float32."""
        if x.dtype not in (dt.float16, dt.float32, dt.float64, dt.bfloat16):
            raise TypeError(f"For '{self.cls_name}', the dtype of 'x' must be float, but got {x.dtype}.")
        half = x.dtype.itemsize < 4
        wide = cast(x, dtype=dt.float32) if half else x
        axes = tuple(range(x.ndim)) if self.axis is None else self.axis
        axes = tuple(a % x.ndim for a in ((axes,) if isinstance(axes, int) else axes))
        mean = reduce_mean(wide, axis=axes, keep_dims=True)
        gap = sub(wide, stop_gradient(mean))
        variance = reduce_mean(mul(gap, gap), axis=axes, keep_dims=self.keep_dims)
        mean = mean if self.keep_dims else reduce_mean(wide, axis=axes, keep_dims=False)
        return (cast(mean, dtype=x.dtype), cast(variance, dtype=x.dtype)) if half else (mean, variance)


class Range(Cell):
    """The numbers from ``start`` to ``limit`` (excluded) in steps of ``delta``; up to ``start`` without ``limit``.

    Examples:
        >>> print(nn.Range(1, 8, 2)())
        [1 3 5 7]
    """

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ValueError(f"For '{self.cls_name}', the 'delta' can not be zero.")
        numbers = np.arange(start, limit, delta)
        kind = dt.float32 if numbers.dtype.kind == "f" else dt.int32
        self.result_tensor = Tensor(numbers.astype(kind.numpy))

    def construct(self):
        return self.result_tensor


@with_settings
class ReduceLogSumExp(Cell):
    """``log(sum(exp(x)))`` over axes.

    Examples:
        >>> print(nn.ReduceLogSumExp(1)(Tensor([[0.0, 0.0], [1.0, 1.0]])))
        [0.6931472 1.6931472]
    """

    axis: Axes = option("the axes")
    keep_dims: Flag = False

    def _settings_taken(self, given):
        self.axis = tuple(self.axis) if isinstance(self.axis, list) else self.axis

    def construct(self, x):
        return logsumexp(x, self.axis, self.keep_dims)


class LGamma(Cell):
    """The logarithm of the gamma function.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> print(nn.LGamma()(ms.Tensor([1.0, 3.0])))
        [0.        0.6931472]
    """

    def construct(self, x):
        return _OPS["lgamma"](x)


class DiGamma(Cell):
    """The derivative of the logarithm of the gamma function.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> print(nn.DiGamma()(ms.Tensor([1.0])))
        [-0.5772157]
    """

    def construct(self, x):
        return _OPS["digamma"](x)


class LBeta(Cell):
    """The logarithm of the beta function.

    Examples:
        >>> print(nn.LBeta()(Tensor([1.0, 2.0]), Tensor([1.0, 3.0])))
        [ 0.        -2.4849067]
    """

    def construct(self, x, y):
        return _log_beta(x, y)


class IGamma(Cell):
    """The regularised lower incomplete gamma function.

    Examples:
        >>> print(nn.IGamma()(Tensor([1.0, 2.0]), Tensor([0.0, 0.0])))
        [0. 0.]
    """

    def construct(self, a, x):
        return _OPS["igamma"](a, x)


def _log_beta(x: Tensor, y: Tensor) -> Tensor:
    lgamma = _OPS["lgamma"]
    return lgamma(x) + lgamma(y) - lgamma(x + y)


class MatDet(Cell):
    """The determinant.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> print(nn.MatDet()(ms.Tensor([[2.0, 0.0], [0.0, 3.0]])))
        6.0
    """

    def construct(self, x):
        return decompositions.det(x)


class MatInverse(Cell):
    """The inverse of positive definite matrices.

    Examples:
        >>> print(nn.MatInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """

    def construct(self, x):
        return decompositions.inverse(x)


class MatrixDiag(Cell):
    """Matrices with the last axis on their diagonals.

    Examples:
        >>> print(nn.MatrixDiag()(Tensor([1.0, 2.0])))
        [[1. 0.]
         [0. 2.]]
    """

    def construct(self, x):
        return linalg_diagonal(x)


class MatrixDiagPart(Cell):
    """The diagonals of matrices.

    Examples:
        >>> print(nn.MatrixDiagPart()(Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [1. 4.]
    """

    def construct(self, x):
        return x.diagonal(0, -2, -1)


class MatrixSetDiag(Cell):
    """Matrices with their diagonals replaced.

    Examples:
        >>> print(nn.MatrixSetDiag()(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([8.0, 9.0])))
        [[8. 2.]
         [3. 9.]]
    """

    def construct(self, x, diagonal):
        old = linalg_diagonal(x.diagonal(0, -2, -1))
        return x - embedded(old, x) + embedded(linalg_diagonal(diagonal), x)


def linalg_diagonal(x: Tensor) -> Tensor:
    """Square matrices with the last axis on their diagonals."""
    return diagonals.diag_embed(x)


def embedded(square: Tensor, like: Tensor) -> Tensor:
    """A square matrix with zeros around, in the shape of ``like``."""
    more = [n - m for n, m in zip(like.shape[-2:], square.shape[-2:], strict=True)]
    return _OPS["pad"](square, (0, more[1], 0, more[0])) if any(more) else square


@with_settings
class L1Regularizer(Cell):
    """The sum of absolute values, times ``scale``.

    Examples:
        >>> print(nn.L1Regularizer(0.5)(Tensor([1.0, -3.0])))
        2.0
    """

    scale: Scale = option("the factor")

    def construct(self, weights):
        total = reduce_sum(abs_(weights), axis=tuple(range(len(weights.shape))), keep_dims=False)
        return mul(total, constant_like(total, self.scale))
