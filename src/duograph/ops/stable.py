"""Composites that are written to avoid overflow."""

from __future__ import annotations

from typing import Any

from .arithmetic import add, sub
from .cast import stop_gradient
from .creation import constant_like
from .movement import reduce_sum, reshape
from .reduce import reduce_max
from .select import select
from .unary import exp, isfinite, log


def logsumexp(x: Any, axis: tuple[int, ...], keep_dims: bool = False) -> Any:
    """``log(sum(exp(x)))`` over ``axis`` (normalised), shifted by the maximum."""
    top = stop_gradient(reduce_max(x, axis=axis, keep_dims=True))
    shift = select(isfinite(top), top, constant_like(top, 0))  # -inf - -inf would be NaN
    total = add(log(reduce_sum(exp(sub(x, shift)), axis=axis, keep_dims=True)), shift)
    return total if keep_dims else reshape(total, shape=tuple(n for i, n in enumerate(x.shape) if i not in axis))
