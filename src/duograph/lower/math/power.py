"""``pow`` of floats: ``exp(y log |x|)``, float32 in float64, float64 with the logarithm in two parts."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import (
    F64,
    INF,
    LOG2E,
    NAN,
    any_lane,
    at_least,
    at_most,
    fast_two_sum,
    poly,
    split_exponent,
    two_product,
)
from .exponential import exp2_short, exp_of_sum

# 2 atanh(s) = 2 s + s z P(z), z = s**2, to 2**-34
_LOG_SHORT = (0.23583546997666552, 0.2853723949339601, 0.40000336201538494, 0.6666666564136375)
# atanh(s) / s = 1 + z / 3 + z**2 P(z)
_ATANH = (
    0.05995219056829419, 0.058373237930307395, 0.06668162915355273, 0.07692278326284434, 0.0909090943675661,
    0.11111111108755213, 0.1428571428572261, 0.1999999999999999,
)  # fmt: skip
_THIRD, _THIRD_LOW = 0.3333333333333333, 1.850371707708594e-17


def log_in_two(b: Builder, x: Value) -> tuple[Value, Value]:
    """``log(x)`` of positive finite float64 as a sum of two, to about 65 bits."""
    k, m = split_exponent(b, x)
    f = m - 1.0
    d = m + 1.0
    d_low = m - (d - 1.0)
    s = f / d
    p, e = two_product(b, s, d)
    s_low = (((f - p) - e) - s * d_low) / d
    z, z_low = two_product(b, s, s)
    z_low = z_low + (s * s_low) * 2.0
    p, e = two_product(b, z, b.const(_THIRD, z))
    t, t_low = fast_two_sum(p, (z * z) * poly(b, z, _ATANH))
    t_low = t_low + (e + (z * _THIRD_LOW + z_low * _THIRD))
    u, u_low = two_product(b, s, t)
    u_low = u_low + (s * t_low + s_low * t)
    a, a_low = fast_two_sum(s, u)
    a_low = a_low + (s_low + u_low)
    total, rest = fast_two_sum(k * F64.ln2_hi, a * 2.0)
    return fast_two_sum(total, rest + (a_low * 2.0 + k * F64.ln2_lo))


def _positive_f64(b: Builder, x: Value, y: Value) -> Value:
    high, low = log_in_two(b, x)
    p, p_low = two_product(b, y, high)
    p_low = p_low + y * low
    return exp_of_sum(b, p, b.select(b.lt(b.abs(p), 1000.0), p_low, b.const(0.0, p)))


def _positive_f32(b: Builder, x: Value, y: Value) -> Value:
    """In float64, which holds the result before it is rounded, however small or large it is."""
    k, m = split_exponent(b, b.convert(x, "f64"))
    f = m - 1.0
    s = f / (m + 1.0)
    z = s * s
    log2_x = b.fma(s * 2.0 + s * z * poly(b, z, _LOG_SHORT), LOG2E, k)
    t = at_most(b, at_least(b, b.convert(y, "f64") * log2_x, -200.0), 200.0)
    return b.convert(exp2_short(b, t), "f32")


def pow_(b: Builder, x: Value, y: Value) -> Value:
    """C's ``pow``: 1 for ``y`` 0 and for ``x`` 1, whatever the other is; NaN for negative ``x`` and broken ``y``.

    The exponents 2, 1/2 and -1 give the square, the root and the reciprocal, rounded once; if all lanes have one of
    them, and if it is known beforehand, nothing else is computed.
    """
    if y.const in (2.0, 0.5, -1.0):
        return _quick(b, x, y.const)
    is_square, is_root, is_reciprocal = b.eq(y, 2.0), b.eq(y, 0.5), b.eq(y, -1.0)
    value = b.select(is_square, _quick(b, x, 2.0), b.select(is_root, _quick(b, x, 0.5), _quick(b, x, -1.0)))
    others = ~(is_square | is_root | is_reciprocal)
    (general,) = b.if_(any_lane(b, others), lambda: _general(b, x, y), lambda: value)
    return b.select(others, general, value)


def _quick(b: Builder, x: Value, exponent: float) -> Value:
    if exponent == 2.0:
        return x * x
    if exponent == -1.0:
        return b.const(1.0, x) / x
    return b.select(b.eq(x, -INF), b.const(INF, x), b.sqrt(x) + 0.0)  # the root of -0.0 is 0.0 here


def _general(b: Builder, x: Value, y: Value) -> Value:
    base = b.abs(x)
    one, zero, inf = b.const(1.0, x), b.const(0.0, x), b.const(INF, x)
    value = (_positive_f32 if x.type.elem == "f32" else _positive_f64)(b, base, y)
    half = y * 0.5
    whole = b.eq(b.trunc(y), y)
    odd = whole & b.ne(b.trunc(half), half)
    value = b.select(b.lt(x, 0.0) & ~whole, b.const(NAN, x), value)
    falling = b.lt(y, 0.0)
    at_zero, at_inf = b.select(falling, inf, zero), b.select(falling, zero, inf)
    value = b.select(b.eq(base, 0.0), at_zero, b.select(b.eq(base, INF), at_inf, value))
    value = b.select(odd & b.lt(b.copysign(one, x), 0.0), -value, value)
    value = b.select(b.isnan(x) | b.isnan(y), x + y, value)
    certain = b.eq(y, 0.0) | b.eq(x, 1.0) | (b.eq(base, 1.0) & b.eq(b.abs(y), INF))
    return b.select(certain, one, value)
