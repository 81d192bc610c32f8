"""Composites that are written to avoid overflow, and NaN in gradients where a function has a kink."""

from __future__ import annotations

from typing import Any

from .arithmetic import abs_, add, minimum, mul, sub
from .cast import in_single, stop_gradient
from .compare import equal
from .creation import constant_like
from .cumulative import advance, cummax, linear_scan
from .movement import flip, reduce_sum, reshape
from .power import pow_
from .reduce import reduce_max
from .select import select
from .unary import exp, isfinite, log, sqrt


@in_single
def logsumexp(x: Any, axis: tuple[int, ...], keep_dims: bool = False) -> Any:
    """``log(sum(exp(x)))`` over ``axis`` (normalised), shifted by the maximum."""
    if any(isinstance(x.shape[i], int) and not x.shape[i] for i in axis):  # nothing has no maximum
        total = log(reduce_sum(x, axis=axis, keep_dims=True))
    else:
        top = stop_gradient(reduce_max(x, axis=axis, keep_dims=True))
        shift = select(isfinite(top), top, constant_like(top, 0))  # -inf - -inf would be NaN
        total = add(log(reduce_sum(exp(sub(x, shift)), axis=axis, keep_dims=True)), shift)
    return total if keep_dims else reshape(total, shape=tuple(n for i, n in enumerate(x.shape) if i not in axis))


@in_single
def logcumsumexp(x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
    """The logarithms of the running sums of ``exp(x)`` along ``axis``, shifted by the running maximum."""
    if reverse:
        return flip(logcumsumexp(flip(x, axes=(axis,)), axis, exclusive), axes=(axis,))
    lowest = constant_like(x, float("-inf"))
    top = stop_gradient(cummax(x, axis=axis)[0])
    shift = select(isfinite(top), top, constant_like(top, 0))
    fall = minimum(sub(advance(shift, axis, reverse=True), shift), constant_like(top, 0))
    total = linear_scan(exp(fall), exp(sub(x, shift)), axis=axis)
    nothing = equal(total, constant_like(total, 0))
    out = select(nothing, lowest, add(log(select(nothing, constant_like(total, 1), total)), shift))
    return advance(out, axis, reverse=True, end=lowest) if exclusive else out


def root(x: Any) -> Any:
    """The square root of a sum of squares: its gradient at 0 is 0, one of those of the norm there."""
    zero = equal(x, constant_like(x, 0))
    return select(zero, constant_like(x, 0), sqrt(select(zero, constant_like(x, 1), x)))


def power_of_size(x: Any, exponent: float) -> Any:
    """``x ** exponent`` of what is not negative; the gradient at 0 is 0."""
    zero = equal(x, constant_like(x, 0))
    at_zero = constant_like(x, 0 if exponent > 0 else float("inf") if exponent else 1)
    return select(zero, at_zero, pow_(select(zero, constant_like(x, 1), x), constant_like(x, exponent)))


@in_single
def p_norm(x: Any, p: float, axis: tuple[int, ...], keep_dims: bool = False) -> Any:
    """``sum(abs(x) ** p) ** (1 / p)`` over ``axis`` (normalised) for a finite ``p`` that is not 0."""
    x = abs_(x)
    if p == 1:
        return reduce_sum(x, axis=axis, keep_dims=keep_dims)
    if p == 2:
        return root(reduce_sum(mul(x, x), axis=axis, keep_dims=keep_dims))
    return power_of_size(reduce_sum(power_of_size(x, float(p)), axis=axis, keep_dims=keep_dims), 1.0 / p)
