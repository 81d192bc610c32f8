"""The distribution function of the normal distribution, and ``gelu``, which is ``x`` times it.

Below 0 the function is ``exp(-x * x / 2)`` times one that changes slowly; the exponent is kept in two parts. It is
formed ``2**lift`` times larger, and ``gelu`` multiplies before it brings that down: so it has all digits where the
function itself is subnormal.
"""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import F32, at_most, fast_two_sum, format_of, poly, two_sum, upper_half
from .error_functions import ERF64, ERFC64, times_gauss
from .exponential import exp_times, lift

# (t + 2) exp(t**2 / 2) normal_cdf(-t) as a polynomial in (t - 2) / (t + 2), for 0 <= t <= 14.4
_NORMAL32 = (
    -7.07210274e-05, 4.26264269e-05, 0.000719808857, 0.000866028771, -0.00189068611, -0.00674159452, -0.000482813426,
    0.0367193781, 0.0287984181, -0.331404418, 0.672407985,
)  # fmt: skip
_HALF_ERFC64 = tuple(0.5 * c for c in ERFC64)
_ROOT = 0.7071067811865476
_NEAR = _ROOT
"""Where float64 uses the polynomial for ``erf(x / sqrt(2))`` near 0."""


def normal_cdf(b: Builder, x: Value) -> Value:
    """``erfc(-x / sqrt(2)) / 2``, exact also far below 0."""
    t, tail, unlift = _tail(b, x)
    above = b.const(1.0, x) - tail * unlift
    below = b.lt(x, 0.0)
    if format_of(x) is not F32:
        above = b.select(b.lt(t, _NEAR), b.fma(_erf_near(b, x), 0.5, 0.5), above)
        below = b.lt(x, -_NEAR)
    return b.select(below, tail * unlift, above)


def gelu(b: Builder, x: Value) -> Value:
    """``x * normal_cdf(x)``."""
    t, tail, unlift = _tail(b, x)
    above = b.fma(-t, tail * unlift, x)
    below = b.lt(x, 0.0)
    if format_of(x) is not F32:
        half = x * 0.5
        near = b.copysign(b.fma(half, _erf_near(b, x), half), x)  # keeps -0.0
        above = b.select(b.lt(t, _NEAR), near, above)
        below = b.lt(x, -_NEAR)
    return b.select(below, -t * tail * unlift, above)


def _erf_near(b: Builder, x: Value) -> Value:
    a = x * _ROOT
    return b.fma(a, poly(b, a * a, ERF64), a)


def _tail(b: Builder, x: Value) -> tuple[Value, Value, float]:
    """``t = |x|``, limited to where ``normal_cdf(-t)`` is 0; that times ``2**lift``; and ``2**-lift``."""
    single = format_of(x) is F32
    t = at_most(b, b.abs(x), 14.5 if single else 39.0)
    head = upper_half(b, t)
    square, low = head * head * 0.5, (t - head) * (t + head) * 0.5
    tail = _tail32(b, t, square, low) if single else times_gauss(b, t * _ROOT, _HALF_ERFC64, square, low)
    return t, tail, 2.0 ** -lift(x)


def _tail32(b: Builder, t: Value, square: Value, low: Value) -> Value:
    """``normal_cdf(-t) * 2**lift`` of float32; ``square + low`` is ``t * t / 2``."""
    divisor, divisor_low = two_sum(t, b.const(2.0, t))
    inverse = b.const(1.0, t) / divisor
    error = b.fma(-inverse, divisor, 1.0) - inverse * divisor_low
    q = (t - 2.0) * inverse
    h, h_low = fast_two_sum(b.const(_NORMAL32[-1], t), q * poly(b, q, _NORMAL32[:-1]))
    factor = h * inverse
    growth = b.fma(q, -0.41, 0.95)  # by how much the factor grows with the inverse, both relatively
    factor_low = b.fma(factor * error, growth, b.fma(h, inverse, -factor) + h_low * inverse)
    return exp_times(b, -square, -low, factor, factor_low)
