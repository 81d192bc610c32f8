"""Composites that are written to avoid overflow, and NaN in gradients where a function has a kink."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt

from .arithmetic import abs_, add, mul, sub
from .cast import cast, stop_gradient
from .compare import equal
from .creation import constant_like
from .movement import reduce_sum, reshape
from .power import pow_
from .reduce import reduce_max
from .select import select
from .unary import exp, isfinite, log, sqrt

_HALF = (dt.float16, dt.bfloat16)


def single(x: Any) -> Any:
    """``x``, half types in float32."""
    return cast(x, dtype=dt.float32) if getattr(x, "dtype", None) in _HALF else x


def in_single(composite: Callable[..., Any]) -> Callable[..., Any]:
    """``composite`` with tensors of half types computed in float32, and its results rounded once at the end.

    What `rules.in_float32` is to a reference: sums and squares of half types overflow, and lose what they add up.
    """

    @functools.wraps(composite)
    def wrapped(x: Any, *args: Any, **named: Any) -> Any:
        if x.dtype not in _HALF:
            return composite(x, *args, **named)
        out = composite(single(x), *map(single, args), **{name: single(value) for name, value in named.items()})
        return tuple(cast(o, dtype=x.dtype) for o in out) if isinstance(out, tuple) else cast(out, dtype=x.dtype)

    return wrapped


@in_single
def logsumexp(x: Any, axis: tuple[int, ...], keep_dims: bool = False) -> Any:
    """``log(sum(exp(x)))`` over ``axis`` (normalised), shifted by the maximum."""
    top = stop_gradient(reduce_max(x, axis=axis, keep_dims=True))
    shift = select(isfinite(top), top, constant_like(top, 0))  # -inf - -inf would be NaN
    total = add(log(reduce_sum(exp(sub(x, shift)), axis=axis, keep_dims=True)), shift)
    return total if keep_dims else reshape(total, shape=tuple(n for i, n in enumerate(x.shape) if i not in axis))


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
