"""Activation functions that are ``x`` times a function between 0 and 1, and ``tanhshrink``.

That function may be subnormal, where it has few digits, when the product is not. So both are formed ``2**lift`` times
larger and brought down in the last step. At infinities the functions have their limits.
"""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import (
    F32,
    at_least,
    at_most,
    fast_two_sum,
    format_of,
    poly,
    quotient_of_sums,
    two_product,
    two_sum,
)
from .exponential import exp_in_parts, lift, one_plus_exp, tanh

_FAR = {"f32": (-109.5, 20.0), "f64": (-752.0, 40.0)}
"""Where ``x * exp(x)`` has reached 0, and ``1 + exp(-x)`` 1."""


def _limited(b: Builder, x: Value) -> Value:
    low, high = _FAR[x.type.elem]
    return at_most(b, at_least(b, x, low), high)


def _times_sigmoid(b: Builder, x: Value, t: Value, minus: Value, minus_low: Value | None = None) -> Value:
    """``x / (1 + exp(minus + minus_low))``, where ``t`` is ``x`` limited to where that is neither 0 nor ``x``."""
    value = t / one_plus_exp(b, minus, minus_low) * 2.0 ** -lift(x)
    return b.select(b.gt(x, t), x, value)


def silu(b: Builder, x: Value) -> Value:
    """``x / (1 + exp(-x))``."""
    t = _limited(b, x)
    return _times_sigmoid(b, x, t, -t)


# 1.702 as the sum of a float and a rest
_FAST = {"f32": (1.7020000219345093, -2.1934509e-08), "f64": (1.702, 4.263256414560601e-17)}


def fast_gelu(b: Builder, x: Value) -> Value:
    """``x / (1 + exp(-1.702 x))``, the argument in two parts."""
    slope, slope_low = _FAST[x.type.elem]
    low, high = _FAR[x.type.elem]
    t = at_most(b, at_least(b, x, low / slope), high)
    product, rest = two_product(b, -t, b.const(slope, t))
    return _times_sigmoid(b, x, t, product, rest - t * slope_low)


# ---- gelu with tanh -------------------------------------------------------------------------------------------------

# 2 sqrt(2 / pi), and 0.044715 times that, in two parts
_SLOPE, _SLOPE_LOW = 1.5957691216057308, -9.96930880911092e-17
_CUBIC, _CUBIC_LOW = 0.07135481627260025, -6.175149918155315e-19


def _inner_by_tanh(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """``-2 sqrt(2 / pi) (t + 0.044715 t**3)`` as a sum of two, and ``t``, which is ``x`` within limits."""
    if format_of(x) is F32:
        t = at_least(b, at_most(b, x, 6.0), -10.92)
        wide = b.convert(t, "f64")
        exact = -wide * b.fma(wide * wide, _CUBIC, _SLOPE)
        argument = b.convert(exact, "f32")
        return argument, b.convert(exact - b.convert(argument, "f64"), "f32"), t
    t = at_least(b, at_most(b, x, 7.5), -21.59)
    square, square_low = two_product(b, t, t)
    cubic, cubic_low = two_product(b, square, b.const(_CUBIC, x))
    cubic_low = cubic_low + b.fma(square_low, _CUBIC, square * _CUBIC_LOW)
    factor, factor_low = two_sum(cubic, b.const(_SLOPE, x))
    argument, low = two_product(b, -t, factor)
    return argument, b.fma(-t, factor_low + (cubic_low + _SLOPE_LOW), low), t


def gelu_by_tanh(b: Builder, x: Value) -> Value:
    """``x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x**3))) / 2``, the argument in two parts."""
    minus, minus_low, t = _inner_by_tanh(b, x)
    return _times_sigmoid(b, x, t, minus, minus_low)


# ---- mish and tanhshrink --------------------------------------------------------------------------------------------


def mish(b: Builder, x: Value) -> Value:
    """``x tanh(log(1 + e)) = x n / (n + 2)`` with ``n = e (e + 2)`` and ``e = exp(x)``, all in sums of two."""
    t = _limited(b, x)
    unlift = 2.0 ** -lift(x)
    p, power = exp_in_parts(b, t)
    e = b.fma(power, p, power)  # lifted, as n is
    e_low = b.fma(power, p, power - e)
    single = e * unlift
    factor, factor_low = two_sum(single, b.const(2.0, x))
    n, n_low = two_product(b, e, factor)
    n_low = n_low + (e * factor_low + e_low * (factor + single))
    under, under_low = two_sum(n * unlift, b.const(2.0, x))
    quotient, rest = quotient_of_sums(b, n, n_low, under, under_low + n_low * unlift)
    return b.select(b.gt(x, t), x, t * (quotient + rest) * unlift)


# x cosh(x) - sinh(x) = x**3 / 3 + x**5 S(x**2) and cosh(x) = 1 + x**2 C(x**2) for |x| < 2
_SHRINK32 = (2.037122e-09, 2.5013262e-07, 2.2046412e-05, 0.0011904759, 0.033333335)
_COSH32 = (2.9721255e-07, 2.472499e-05, 0.0013889988, 0.041666612, 0.5)
_SHRINK64 = (
    4.088394638560333e-19, 1.4782268075816062e-16, 4.498401844767704e-14, 1.0706027223242858e-11, 1.927085263945278e-09,
    2.505210838506355e-07, 2.204585537919104e-05, 0.0011904761904761897, 0.03333333333333333,
)  # fmt: skip
_COSH64 = (
    1.646205911875004e-16, 4.7722543366558924e-14, 1.1471086866549048e-11, 2.0876747260409455e-09,
    2.7557319395442684e-07, 2.4801587299748464e-05, 0.0013888888888900213, 0.04166666666666631, 0.5,
)  # fmt: skip
_THIRD = {"f32": (0.3333333432674408, -9.934107462565104e-09), "f64": (0.3333333333333333, 1.850371707708594e-17)}


def tanhshrink(b: Builder, x: Value) -> Value:
    """``x - tanh(x)``; near 0, where that would cancel, ``(x cosh(x) - sinh(x)) / cosh(x)`` in sums of two."""
    numerator, divisor = (_SHRINK32, _COSH32) if format_of(x) is F32 else (_SHRINK64, _COSH64)
    third, third_low = _THIRD[x.type.elem]
    far = b.ge(b.abs(x), 1.5)
    t = b.select(far, b.const(1.0, x), x)
    z = t * t
    top, top_low = fast_two_sum(b.const(third, x), z * poly(b, z, numerator))
    under, under_low = two_sum(b.const(1.0, x), z * poly(b, z, divisor))
    square, square_low = two_product(b, t, t)
    factor, low = quotient_of_sums(b, top, top_low + third_low, under, under_low)
    product, rest = two_product(b, square, factor)
    near = t * (product + (rest + (square_low * factor + square * low)))
    return b.select(far, x - tanh(b, x), near)
