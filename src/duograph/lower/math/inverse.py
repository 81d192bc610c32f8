"""``asin``, ``acos``, ``atan``, ``atan2``."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import F32, INF, Format, format_of, poly

# asin(t) = t + t z P(z) for |t| <= 1/2, atan(t) = t + t z Q(z) for |t| <= sqrt(2) - 1, z = t**2
_ASIN32 = (0.04221945, 0.024147129, 0.045477185, 0.07495241, 0.16666754)
_ASIN64 = (
    0.03196123592896027, -0.01629734198197123, 0.0195759600931419, 0.006510113821597188, 0.012173447635134761,
    0.013884573259478792, 0.01735977361335814, 0.022371753360608083, 0.03038195933784765, 0.04464285682332932,
    0.07500000000343217, 0.16666666666665383,
)  # fmt: skip
_ATAN32 = (-0.060830012, 0.10595833, -0.14243828, 0.19998488, -0.33333316)
_ATAN64 = (
    -0.017919294749658785, 0.038075651197931035, -0.05039742744890649, 0.058479866530600576, -0.06663117403621834,
    0.0769206138235734, -0.09090897822570121, 0.1111111078567146, -0.1428571428023952, 0.19999999999953996,
    -0.333333333333332,
)  # fmt: skip
_HALF_PI = {"f32": (1.5707964, -4.371139e-08), "f64": (1.5707963267948966, 6.123233995736766e-17)}
_QUARTER_PI = {"f32": (0.7853982, -2.1855695e-08), "f64": (0.7853981633974483, 3.061616997868383e-17)}


def _asin_term(b: Builder, z: Value) -> Value:
    """``(asin(t) - t) / t`` for ``z = t**2 <= 1/4``."""
    return z * poly(b, z, _ASIN32 if z.type.elem == "f32" else _ASIN64)


def _halved(b: Builder, x: Value) -> tuple[Value, Value, Value, Value, Value]:
    """For ``|x| > 1/2``: ``asin(x) = pi/2 - 2 asin(s)`` with ``s = sqrt((1 - |x|) / 2)``.

    Returns ``outer``, ``z``, the argument ``s`` or ``|x|``, its rounding error, and ``_asin_term``.
    """
    t = b.abs(x)
    outer = b.gt(t, 0.5)
    z = b.select(outer, (b.const(1.0, x) - t) * 0.5, t * t)
    root = b.sqrt(z)
    s = b.select(outer, root, t)
    # the error of the square root: (z - s*s) / (2 s)
    error = b.select(outer & b.gt(root, 0.0), b.fma(-root, root, z) / (root + root), b.const(0.0, x))
    return outer, z, s, error, _asin_term(b, z)


def asin(b: Builder, x: Value) -> Value:
    high, low = _HALF_PI[x.type.elem]
    outer, _, s, error, term = _halved(b, x)
    part = b.fma(s, term, error)
    value = b.select(outer, b.const(high, x) - ((s + (part - low * 0.5)) * 2.0), s + part)
    return b.copysign(value, x)


def acos(b: Builder, x: Value) -> Value:
    high, low = _HALF_PI[x.type.elem]
    outer, _, s, error, term = _halved(b, x)
    part = b.fma(s, term, error)
    near_one = (s + part) * 2.0
    near_minus_one = b.const(2.0 * high, x) - ((s + (part - low)) * 2.0)
    signed = b.copysign(s, x)
    middle = b.const(high, x) - (signed + (b.copysign(part, x) - low))
    return b.select(outer, b.select(b.lt(x, 0.0), near_minus_one, near_one), middle)


def _atan_of_ratio(b: Builder, low: Value, high: Value) -> Value:
    """``atan(low / high)`` for ``0 <= low <= high``: above ``sqrt(2) - 1`` as ``pi/4`` and the rest."""
    f = format_of(low)
    quarter, quarter_low = _QUARTER_PI[f.elem]
    wide = b.gt(low, high * 0.41421356)
    t = b.select(wide, low - high, low) / b.select(wide, low + high, high)
    return _atan_sum(b, f, t, b.select(wide, b.const(quarter, t), b.const(0.0, t)), quarter_low, wide)


def _atan_sum(b: Builder, f: Format, t: Value, base: Value, base_low: float, wide: Value) -> Value:
    z = t * t
    rest = t * z * poly(b, z, _ATAN32 if f is F32 else _ATAN64)
    rest = b.select(wide, rest + base_low, rest)
    return base + (t + rest)


def atan(b: Builder, x: Value) -> Value:
    t = b.abs(x)
    one = b.const(1.0, x)
    steep = b.gt(t, 1.0)
    infinite = b.eq(t, INF)
    low, high = b.select(steep, one, t), b.select(steep, t, one)
    angle = b.select(infinite, b.const(0.0, x), _atan_of_ratio(b, low, high))
    half, half_low = _HALF_PI[x.type.elem]
    return b.copysign(b.select(steep, b.const(half, x) - (angle - half_low), angle), x)


def atan2(b: Builder, y: Value, x: Value) -> Value:
    """The angle of the point ``(x, y)``; signed zeros and infinities as C defines them."""
    ax, ay = b.abs(x), b.abs(y)
    steep = b.gt(ay, ax)
    low, high = b.select(steep, ax, ay), b.select(steep, ay, ax)
    # both infinite: as 1 and 1; one infinite or both zero: the ratio is 0
    one, zero = b.const(1.0, x), b.const(0.0, x)
    both = b.eq(low, INF)
    flat = b.eq(high, 0.0) | (b.eq(high, INF) & ~both)
    # tiny and huge numbers are moved to where their sums and products neither vanish nor overflow
    f = format_of(x)
    top = 2.0 ** (f.bias - 2)
    factor = b.select(b.gt(high, top), b.const(2.0**-4, x), b.select(b.lt(high, 1.0 / top), b.const(top, x), one))
    low, high = b.select(both, one, low * factor), b.select(both, one, high * factor)
    low, high = b.select(flat & ~b.isnan(low), zero, low), b.select(flat, one, high)
    angle = _atan_of_ratio(b, low, high)
    half, half_low = _HALF_PI[x.type.elem]
    angle = b.select(steep, b.const(half, x) - (angle - half_low), angle)
    backwards = b.lt(b.copysign(one, x), 0.0)
    angle = b.select(backwards, b.const(2.0 * half, x) - (angle - 2.0 * half_low), angle)
    return b.select(b.isnan(x) | b.isnan(y), x + y, b.copysign(angle, y))
