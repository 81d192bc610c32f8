"""``log``, ``log1p``, ``log2``, ``log10``, ``xlogy``, ``logit`` and the inverse hyperbolic functions.

``x = 2**k (1 + f)`` with ``1 + f`` between ``sqrt(1/2)`` and ``sqrt(2)``. float32: a polynomial in ``f``. float64:
``log(1 + f) = 2 atanh(s)`` with ``s = f / (2 + f)``, written as ``f - (h - s (h + R))`` with ``h = f**2 / 2``, which
keeps ``f``, the large part, free of rounding errors.
"""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import INF, NAN, Format, format_of, in_f64, poly, split_exponent, upper_half

_LOG32 = (
    -0.0763449669, 0.127615765, -0.131601825, 0.142017573, -0.166233569, 0.200012267, -0.250008196, 0.333333313,
)  # fmt: skip
_LOG64 = (
    0.14797508217555186, 0.15313903309495017, 0.18183569732552246, 0.22222198476224614, 0.285714287432593,
    0.3999999999941111, 0.6666666666666735,
)  # fmt: skip


def _rest(b: Builder, f: Value, half_square: Value) -> Value:
    """``log(1 + f) - f + f**2 / 2``."""
    if f.type.elem == "f32":
        return (f * f) * f * poly(b, f, _LOG32)
    s = f / (f + 2.0)
    z = s * s
    return s * (half_square + z * poly(b, z, _LOG64))


def _with_edges(b: Builder, x: Value, value: Value, zero: float = 0.0) -> Value:
    """``value``, and the logarithms of infinity, of ``zero`` and of what is below."""
    value = b.select(b.eq(x, INF), x, value)
    value = b.select(b.eq(x, zero), b.const(-INF, x), value)
    return b.select(b.ge(x, zero), value, b.select(b.isnan(x), x, b.const(NAN, x)))


def log(b: Builder, x: Value) -> Value:
    k, m = split_exponent(b, x)
    return _with_edges(b, x, _joined(b, format_of(x), k, m - 1.0, None))


def _joined(b: Builder, fmt: Format, k: Value, f: Value, correction: Value | None) -> Value:
    """``k ln 2 + log(1 + f) + correction``."""
    half_square = f * f * 0.5
    low = b.fma(k, fmt.ln2_lo, correction) if correction is not None else k * fmt.ln2_lo
    low = low + _rest(b, f, half_square)
    return b.fma(k, fmt.ln2_hi, f + (low - half_square))


def log1p(b: Builder, x: Value) -> Value:
    """The logarithm of ``u = 1 + x`` as rounded, plus the rounding error over ``u``."""
    fmt = format_of(x)
    u = x + 1.0
    lost = b.select(b.gt(x, 1.0), b.const(1.0, x) - (u - x), x - (u - 1.0))
    k, m = split_exponent(b, u)
    plain = b.eq(k, 0.0)
    f = b.select(plain, x, m - 1.0)
    correction = b.select(plain, b.const(0.0, x), lost / u)
    value = _with_edges(b, x, _joined(b, fmt, k, f, correction), -1.0)
    return b.select(b.lt(b.abs(x), 2.0**-fmt.mantissa * 0.25), x, value)  # keeps -0.0 and subnormal numbers


# 1 / ln 2, 1 / ln 10 and log10 2 in two parts, the first with half of the bits
_BASES = {
    ("2", "f32"): (1.4423828125, 0.0003122284, 1.0, 0.0),
    ("2", "f64"): (1.4426950514316559, -1.0542692476429138e-08, 1.0, 0.0),
    ("10", "f32"): (0.434326171875, -3.168997e-05, 0.30103302001953125, -3.0243555e-06),
    ("10", "f64"): (0.4342944845557213, -2.6524694533078553e-09, 0.30102999566395283, 2.8363394551044964e-14),
}


def _in_base(b: Builder, x: Value, base: str) -> Value:
    """The natural logarithm in two parts, times a constant in two parts."""
    high_factor, low_factor, k_high, k_low = _BASES[base, x.type.elem]
    k, m = split_exponent(b, x)
    f = m - 1.0
    half_square = f * f * 0.5
    high = upper_half(b, f - half_square)
    low = (f - high) - half_square + _rest(b, f, half_square)
    whole, part = k * k_high, high * high_factor
    small = b.fma(low + high, low_factor, low * high_factor)
    if k_low:
        small = b.fma(k, k_low, small)
    total = whole + part
    return _with_edges(b, x, total + (((whole - total) + part) + small))


def log2(b: Builder, x: Value) -> Value:
    return _in_base(b, x, "2")


def log10(b: Builder, x: Value) -> Value:
    return _in_base(b, x, "10")


def xlogy(b: Builder, x: Value, y: Value) -> Value:
    """``x * log(y)``, and 0 where ``x`` is 0 unless ``y`` is NaN."""
    zero = b.eq(x, 0.0) & b.eq(y, y)
    return b.select(zero, b.const(0.0, x), x * log(b, y))


def logit(b: Builder, x: Value) -> Value:
    """``log(x / (1 - x))``; near its zero ``log1p((2 x - 1) / (1 - x))``, where ``2 x - 1`` is exact."""
    rest = b.const(1.0, x) - x
    near = log1p(b, (x + x - 1.0) / rest)
    return b.select(b.lt(b.abs(x - 0.5), 0.17), near, log(b, x / rest))


# ---- inverse hyperbolic functions -----------------------------------------------------------------------------------

_LN2 = 0.6931471805599453


@in_f64
def asinh(b: Builder, x: Value) -> Value:
    """``log1p(t + t**2 / (1 + sqrt(1 + t**2)))``; beyond ``2**60`` ``log(2 t)``."""
    t = b.abs(x)
    far = b.gt(t, 2.0**60)
    z = b.select(far, b.const(1.0, x), t)
    z = z * z
    near = t + z / (b.sqrt(z + 1.0) + 1.0)
    value = log1p(b, b.select(far, t, near)) + b.select(far, b.const(_LN2, x), b.const(0.0, x))
    return b.copysign(value, x)


@in_f64
def acosh(b: Builder, x: Value) -> Value:
    """``log1p(t + sqrt(2 t + t**2))`` with ``t = x - 1``; beyond ``2**60`` ``log(2 x)``."""
    far = b.gt(x, 2.0**60)
    t = x - 1.0
    near = t + b.sqrt(b.fma(t, t, t + t))
    value = log1p(b, b.select(far, t, near)) + b.select(far, b.const(_LN2, x), b.const(0.0, x))
    return b.select(b.lt(x, 1.0), b.const(NAN, x), value)


@in_f64
def atanh(b: Builder, x: Value) -> Value:
    """``log1p(2 t / (1 - t)) / 2``."""
    t = b.abs(x)
    value = log1p(b, (t + t) / (b.const(1.0, x) - t)) * 0.5
    value = b.select(b.gt(t, 1.0), b.const(NAN, x), value)
    return b.copysign(value, x)


__all__ = ["acosh", "asinh", "atanh", "log", "log10", "log1p", "log2", "logit", "xlogy"]
