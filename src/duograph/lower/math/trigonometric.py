"""``sin``, ``cos``, ``tan``: reduction to ``|r| <= pi / 4``, then polynomials; in float64 ``r`` is a sum of two."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import INF, fast_two_sum, poly, quotient_of_sums, two_product
from .reduction import quadrant_f32, quadrant_f64

_PI, _PI_LOW = 3.141592653589793, 1.2246467991473532e-16

# sin(r) = r + r z S(z), cos(r) = 1 - z / 2 + z**2 C(z), z = r**2
_SIN32 = (-0.00019517234, 0.008332178, -0.16666655)
_COS32 = (2.4463772e-05, -0.0013887655, 0.041666653)
_SIN_SHORT = (2.7183047667499346e-06, -0.00019839334145072457, 0.008333329383788775, -0.16666666641608927)
_COS_SHORT = (2.446377144778363e-05, -0.0013887655377801, 0.041666654735810466)
_SIN64 = (
    1.5896795190537075e-10, -2.505075810880838e-08, 2.7557313691891292e-06, -0.00019841269829807802,
    0.008333333333322413, -0.16666666666666632,
)  # fmt: skip
_COS64 = (
    -1.1359647827745044e-11, 2.0875723274654536e-09, -2.755731435235087e-07, 2.4801587289482272e-05,
    -0.0013888888888874125, 0.0416666666666666,
)  # fmt: skip


def _sine_of_quarter(b: Builder, x: Value, quarters: int) -> Value:
    """``sin(x + quarters * pi / 2)``."""
    if x.type.elem == "f32":
        n, wide = quadrant_f32(b, x)
        n = b.convert(n, "i32") + quarters
        r = b.convert(wide, "f32")
        z = r * r
        sine = b.fma(r * z, poly(b, z, _SIN32), r)
        cosine = b.fma(z * z, poly(b, z, _COS32), b.fma(z, -0.5, 1.0))
    else:
        n, r, low = quadrant_f64(b, x)
        n = n + quarters
        sine, sine_low = _sine_f64(b, r, low)
        cosine, cosine_low = _cosine_f64(b, r, low)
        sine, cosine = sine + sine_low, cosine + cosine_low
    value = b.select(b.ne(n & 1, 0), cosine, sine)
    return b.select(b.ne(n & 2, 0), -value, value)


def _sine_f64(b: Builder, r: Value, low: Value) -> tuple[Value, Value]:
    """``sin(r + low)`` as a sum of two."""
    z = r * r
    return r, b.fma(r * z, poly(b, z, _SIN64), b.fma(z * -0.5, low, low))


def _cosine_f64(b: Builder, r: Value, low: Value) -> tuple[Value, Value]:
    """``cos(r + low)`` as a sum of two."""
    z = r * r
    half = z * 0.5
    head, tail = fast_two_sum(b.const(1.0, r), -half)
    return head, b.fma(z * z, poly(b, z, _COS64), tail - r * low)


def sin(b: Builder, x: Value) -> Value:
    return b.select(b.eq(x, 0.0), x, _sine_of_quarter(b, x, 0))


def cos(b: Builder, x: Value) -> Value:
    return _sine_of_quarter(b, x, 1)


def tan(b: Builder, x: Value) -> Value:
    """The quotient of sine and cosine, of float64 in two parts each."""
    if x.type.elem == "f32":
        n, r = quadrant_f32(b, x)
        z = r * r
        sine = b.fma(r * z, poly(b, z, _SIN_SHORT), r)
        cosine = b.fma(z * z, poly(b, z, _COS_SHORT), b.fma(z, -0.5, 1.0))
        odd = b.ne(n & 1, 0)
        value = b.convert(b.select(odd, -cosine, sine) / b.select(odd, sine, cosine), "f32")
        return b.select(b.eq(x, 0.0), x, value)
    n, r, low = quadrant_f64(b, x)
    sine, sine_low = fast_two_sum(*_sine_f64(b, r, low))
    cosine, cosine_low = fast_two_sum(*_cosine_f64(b, r, low))
    odd = b.ne(n & 1, 0)
    top, top_low = b.select(odd, -cosine, sine), b.select(odd, -cosine_low, sine_low)
    under, under_low = b.select(odd, sine, cosine), b.select(odd, sine_low, cosine_low)
    quotient = top / under
    rest = b.fma(-quotient, under, top) + (top_low - quotient * under_low)
    value = quotient + rest / under
    return b.select(b.eq(x, 0.0), x, value)


def sine_of_turns(b: Builder, x: Value) -> tuple[Value, Value]:
    """``sin(pi x)`` and ``cos(pi x)`` of float64 ``|x| <= 1/2``."""
    t = b.abs(x)
    outer = b.gt(t, 0.25)
    r = b.select(outer, b.const(0.5, t) - t, t) * _PI
    zero = b.const(0.0, r)
    sine, sine_low = _sine_f64(b, r, zero)
    cosine, cosine_low = _cosine_f64(b, r, zero)
    sine, cosine = sine + sine_low, cosine + cosine_low
    return b.copysign(b.select(outer, cosine, sine), x), b.select(outer, sine, cosine)


# sin(pi r) / pi = r + r z P(z), z = r**2, for |r| <= 1/2
_TURNS32 = (-0.0022371495, 0.026117546, -0.19074796, 0.8117422, -1.644934)
_TURNS64 = (
    -7.092119523717156e-09, 2.5300880747764265e-07, -6.975840388393772e-06, 0.0001484287871087817,
    -0.0023460810348048056, 0.026147847817611456, -0.19075182412208258, 0.8117424252833536, -1.6449340668482264,
)  # fmt: skip


def sinc(b: Builder, x: Value) -> Value:
    """``sin(pi x) / (pi x)`` with the whole part of ``x`` taken off, exactly; 1 at 0, and 0 at infinities."""
    turns = b.rint(x)
    r = x - turns
    z = r * r
    sine, low = fast_two_sum(r, r * z * poly(b, z, _TURNS32 if x.type.elem == "f32" else _TURNS64))
    half = turns * 0.5
    value = sine / x + low / x
    value = b.select(b.eq(b.rint(half), half), value, -value) + 0.0
    value = b.select(b.eq(x, 0.0), b.const(1.0, x), value)
    return b.select(b.eq(b.abs(x), INF), b.const(0.0, x), value)


def cotangent_of_turns(b: Builder, x: Value) -> tuple[Value, Value]:
    """``pi / tan(pi x)`` of float64 ``0 < |x| <= 1/2`` as a sum of two floats."""
    t = b.abs(x)
    outer = b.gt(t, 0.25)
    part = b.select(outer, b.const(0.5, t) - t, t)
    r, r_low = two_product(b, part, b.const(_PI, x))
    r_low = r_low + part * _PI_LOW
    sine, sine_low = _sine_f64(b, r, r_low)
    cosine, cosine_low = _cosine_f64(b, r, r_low)
    s, s_low = fast_two_sum(b.select(outer, cosine, sine), b.select(outer, cosine_low, sine_low))
    c, c_low = fast_two_sum(b.select(outer, sine, cosine), b.select(outer, sine_low, cosine_low))
    quotient, low = quotient_of_sums(b, c, c_low, s, s_low)
    result, rest = two_product(b, quotient, b.const(_PI, x))
    rest = rest + (quotient * _PI_LOW + low * _PI)
    return b.copysign(result, x), b.select(b.lt(x, 0.0), -rest, rest)


def sine_and_cosine(b: Builder, x: Value) -> tuple[Value, Value]:
    """Both, of float64, with one reduction."""
    n, r, low = quadrant_f64(b, x)
    sine, sine_low = _sine_f64(b, r, low)
    cosine, cosine_low = _cosine_f64(b, r, low)
    sine, cosine = sine + sine_low, cosine + cosine_low
    odd = b.ne(n & 1, 0)
    first, second = b.select(odd, cosine, sine), b.select(odd, sine, cosine)
    return b.select(b.ne(n & 2, 0), -first, first), b.select(b.ne((n + 1) & 2, 0), -second, second)
