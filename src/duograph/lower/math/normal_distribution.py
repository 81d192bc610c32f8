"""The distribution function of the normal distribution, and ``gelu``, which is ``x`` times it.

float32 is computed in float64 with polynomials that are as short as that allows, and rounded once. In float64 the
exponent ``-x * x / 2`` is a sum of two, and what is small is formed ``2**lift`` times larger, times ``x`` for
``gelu``, and brought down in the last step: so ``gelu`` has all digits where the distribution function is subnormal.
"""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import LOG2E, at_least, at_most, poly, upper_half
from .error_functions import ERF64, ERFC64, times_gauss
from .exponential import exp2_short, lift

# (t + 2) exp(t**2 / 2) normal_cdf(-t) as a polynomial in (t - 2) / (t + 2), to 2**-30, for 0 <= t <= 14.6
_SHORT = (
    -1.820885673074278e-05, -9.044963895457164e-05, -0.00012201396393379173, 0.00017539764071270936,
    0.0008218703717206082, 0.0007969235690457165, -0.0019479789306343749, -0.006727060496605216, -0.0004701672915200575,
    0.03671853532860495, 0.02879739410972439, -0.33140444666594127, 0.6724080045884385,
)  # fmt: skip
_END32, _END64 = 14.6, 39.0
"""From where on the results of ``-x`` round to 0."""


def normal_cdf(b: Builder, x: Value) -> Value:
    """``erfc(-x / sqrt(2)) / 2``."""
    if x.type.elem == "f32":
        return b.convert(_short(b, b.convert(x, "f64")), "f32")
    tail = _tail(b, x, None) * 2.0 ** -lift(x)
    return _chosen(b, x, tail, b.const(1.0, x) - tail, b.fma(_erf_near(b, x), 0.5, 0.5))


def gelu(b: Builder, x: Value) -> Value:
    """``x * normal_cdf(x)``."""
    if x.type.elem == "f32":
        wide = b.convert(x, "f64")
        return b.convert(at_least(b, wide, -_END32) * _short(b, wide), "f32")
    tail = _tail(b, x, b.abs(x)) * 2.0 ** -lift(x)
    half = x * 0.5
    near = b.copysign(b.fma(half, _erf_near(b, x), half), x)  # keeps -0.0
    return _chosen(b, x, -tail, x - tail, near)


def _short(b: Builder, x: Value) -> Value:
    """`normal_cdf` of a float64 for a float32."""
    t = at_most(b, b.abs(x), _END32)
    inverse = b.const(1.0, t) / (t + 2.0)
    tail = poly(b, (t - 2.0) * inverse, _SHORT) * inverse * exp2_short(b, t * t * (-0.5 * LOG2E))
    return b.select(b.lt(x, 0.0), tail, b.const(1.0, x) - tail)


# ---- float64 --------------------------------------------------------------------------------------------------------

_ROOT = 0.7071067811865476
_HALF_ERFC64 = tuple(0.5 * c for c in ERFC64)


def _chosen(b: Builder, x: Value, below: Value, above: Value, near: Value) -> Value:
    return b.select(b.lt(b.abs(x), _ROOT), near, b.select(b.lt(x, 0.0), below, above))


def _erf_near(b: Builder, x: Value) -> Value:
    """``erf(x / sqrt(2))`` near 0."""
    a = x * _ROOT
    return b.fma(a, poly(b, a * a, ERF64), a)


def _tail(b: Builder, x: Value, factor: Value | None) -> Value:
    """``normal_cdf(-|x|)``, times ``factor`` (at most `_END64` of it), times ``2**lift``."""
    t = at_most(b, b.abs(x), _END64)
    head = upper_half(b, t)
    square, low = head * head * 0.5, (t - head) * (t + head) * 0.5
    return times_gauss(b, t * _ROOT, _HALF_ERFC64, square, low, None if factor is None else at_most(b, factor, _END64))
