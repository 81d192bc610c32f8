"""Elementary functions of complex numbers: complex64 is computed in float64 and rounded once per part.

References:
    W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit", 1987: the inverse
    functions, ``tanh`` and the handling of signed zeros on branch cuts.
"""

from __future__ import annotations

from collections.abc import Callable

from ..loop.builder import Builder
from ..loop.ir import Value
from ..rule import Complex
from . import complex_arithmetic as arithmetic
from . import exponential, inverse, logarithm, trigonometric
from .common import INF, two_product
from .hypotenuse import hypot

_LN2 = 0.6931471805599453
_LIFT, _EXP_LIFT = 700.0, 1.0142320547350045e304


def _wide(function: Callable[..., Complex]) -> Callable[..., Complex]:
    """``function`` on float64 parts, for complex64 too."""

    def wrapped(b: Builder, *zs: Complex) -> Complex:
        elem = zs[0].re.type.elem
        out = function(b, *[Complex(b.convert(z.re, "f64"), b.convert(z.im, "f64")) for z in zs])
        return Complex(b.convert(out.re, elem), b.convert(out.im, elem))

    return wrapped


def _product(b: Builder, x: Value, y: Value) -> Value:
    """``x * y``, where an exact zero also wins against infinity and NaN (whose sign does not count)."""
    signed = _sign(b, x) * (_sign(b, y) * 0.0)
    return b.select(b.eq(x, 0.0) | b.eq(y, 0.0), signed, x * y)


def _sign(b: Builder, x: Value) -> Value:
    """-1 for numbers with a minus, -0.0 too, else 1."""
    one = b.const(1.0, x)
    return b.select(b.isnan(x), one, b.copysign(one, x))


def _times_i(z: Complex) -> Complex:
    return Complex(-z.im, z.re)


def _over_i(z: Complex) -> Complex:
    return Complex(z.im, -z.re)


# ---- exponentials ---------------------------------------------------------------------------------------------------


def _scaled_exp(b: Builder, x: Value) -> tuple[Value, Value]:
    """``exp(x)`` as two factors, which do not overflow as long as products with sines are finite."""
    large = b.gt(x, _LIFT)
    one = b.const(1.0, x)
    return exponential.exp(b, b.select(large, x - _LIFT, x)), b.select(large, b.const(_EXP_LIFT, x), one)


@_wide
def exp(b: Builder, z: Complex) -> Complex:
    e, factor = _scaled_exp(b, z.re)
    re = _product(b, e, trigonometric.cos(b, z.im)) * factor
    im = _product(b, e, trigonometric.sin(b, z.im)) * factor
    # of an infinite number without direction the length is known
    re = b.select(b.eq(z.re, INF) & b.isnan(re), z.re, re)
    return Complex(re, b.select(b.eq(z.im, 0.0), z.im, im))


@_wide
def expm1(b: Builder, z: Complex) -> Complex:
    half = trigonometric.sin(b, z.im * 0.5)
    re = _product(b, exponential.expm1(b, z.re), trigonometric.cos(b, z.im)) - half * half * 2.0
    im = _product(b, exponential.exp(b, z.re), trigonometric.sin(b, z.im))
    return Complex(re, b.select(b.eq(z.im, 0.0), z.im, im))


@_wide
def sigmoid(b: Builder, z: Complex) -> Complex:
    """``1 / (1 + exp(-z))``."""
    e = exp(b, Complex(-z.re, -z.im))
    return arithmetic.reciprocal(b, Complex(e.re + 1.0, e.im))


# ---- logarithms, roots, powers --------------------------------------------------------------------------------------


def _log_length(b: Builder, x: Value, y: Value) -> Value:
    """``log |x + i y|``; near 1 without cancellation."""
    ax, ay = b.abs(x), b.abs(y)
    u, v = b.select(b.gt(ax, ay), ax, ay), b.select(b.gt(ax, ay), ay, ax)
    p, p_low = two_product(b, u - 1.0, u + 1.0)
    q, q_low = two_product(b, v, v)
    near = logarithm.log1p(b, (p + q) + (p_low + q_low)) * 0.5
    tiny, huge = b.lt(u, 2.0**-900), b.gt(u, 2.0**900)
    one = b.const(1.0, u)
    factor = b.select(tiny, b.const(2.0**200, u), b.select(huge, b.const(2.0**-200, u), one))
    offset = b.select(tiny, b.const(-200 * _LN2, u), b.select(huge, b.const(200 * _LN2, u), b.const(0.0, u)))
    far = logarithm.log(b, hypot(b, x * factor, y * factor)) + offset
    length = u * u + v * v
    return b.select(b.gt(length, 0.5) & b.lt(length, 3.0), near, far)


@_wide
def log(b: Builder, z: Complex) -> Complex:
    return Complex(_log_length(b, z.re, z.im), inverse.atan2(b, z.im, z.re))


@_wide
def log1p(b: Builder, z: Complex) -> Complex:
    shifted = z.re + 1.0
    near = logarithm.log1p(b, z.re * (z.re + 2.0) + z.im * z.im) * 0.5
    small = b.lt(b.abs(z.re), 0.5) & b.lt(b.abs(z.im), 0.5)
    re = b.select(small, near, _log_length(b, shifted, z.im))
    return Complex(re, inverse.atan2(b, z.im, shifted))


def _sqrt(b: Builder, z: Complex) -> Complex:
    ax, ay = b.abs(z.re), b.abs(z.im)
    big = b.select(b.gt(ax, ay), ax, ay)
    one = b.const(1.0, big)
    huge, tiny = b.gt(big, 2.0**1000), b.lt(big, 2.0**-900)
    down = b.select(huge, b.const(2.0**-100, big), b.select(tiny, b.const(2.0**200, big), one))
    up = b.select(huge, b.const(2.0**50, big), b.select(tiny, b.const(2.0**-100, big), one))
    x, y = z.re * down, z.im * down
    t = b.sqrt((b.abs(x) + hypot(b, x, y)) * 0.5)
    other = b.abs(y) / (t + t)
    left = b.lt(z.re, 0.0)
    re, im = b.select(left, other, t) * up, b.copysign(b.select(left, t, other) * up, z.im)
    zero = b.eq(ax, 0.0) & b.eq(ay, 0.0)
    re, im = b.select(zero, b.const(0.0, re), re), b.select(zero, z.im, im)
    # infinities: of the imaginary part always, of the real part unless the other is NaN
    inf = b.const(INF, re)
    flat = b.eq(ax, INF) & ~b.eq(ay, INF)
    re = b.select(flat, b.select(left, b.select(b.isnan(z.im), z.im, b.const(0.0, re)), inf), re)
    im = b.select(flat, b.select(left, inf, b.select(b.isnan(z.im), z.im, b.const(0.0, re))), im)
    upright = b.eq(ay, INF)
    return Complex(b.select(upright, inf, re), b.copysign(b.select(upright, inf, im), z.im))


sqrt = _wide(_sqrt)


@_wide
def rsqrt(b: Builder, z: Complex) -> Complex:
    return arithmetic.reciprocal(b, _sqrt(b, z))


@_wide
def pow_(b: Builder, z: Complex, w: Complex) -> Complex:
    """``exp(w log z)``; small whole exponents by repeated multiplication, as NumPy."""
    zero, one = b.const(0.0, z.re), b.const(1.0, z.re)
    length, angle = _log_length(b, z.re, z.im), inverse.atan2(b, z.im, z.re)
    general = exp(b, Complex(w.re * length - w.im * angle, w.re * angle + w.im * length))
    count = b.abs(w.re)
    whole = b.eq(w.im, 0.0) & b.eq(b.trunc(w.re), w.re) & b.lt(count, 100.0)
    bits = b.convert(b.select(whole, count, zero), "i32")

    def step(i: Value, re: Value, im: Value, p_re: Value, p_im: Value, rest: Value) -> tuple[Value, ...]:
        power = Complex(p_re, p_im)
        times = arithmetic.mul(b, Complex(re, im), power)
        odd = b.ne(rest & 1, 0)
        square = arithmetic.mul(b, power, power)
        return b.select(odd, times.re, re), b.select(odd, times.im, im), square.re, square.im, b.shr(rest, 1)

    re, im, *_ = b.for_(0, 7, 1, step, (one, zero, z.re, z.im, bits))
    inverted = arithmetic.reciprocal(b, Complex(re, im))
    negative = b.lt(w.re, 0.0)
    re = b.select(whole, b.select(negative, inverted.re, re), general.re)
    im = b.select(whole, b.select(negative, inverted.im, im), general.im)
    at_zero = b.eq(z.re, 0.0) & b.eq(z.im, 0.0)
    # a power of zero is zero for exponents with a positive real part, else undefined
    undefined = b.select(b.gt(w.re, 0.0), zero, zero / zero)
    re, im = b.select(at_zero, undefined, re), b.select(at_zero, undefined, im)
    nothing = b.eq(w.re, 0.0) & b.eq(w.im, 0.0)
    return Complex(b.select(nothing, one, re), b.select(nothing, zero, im))


# ---- trigonometric and hyperbolic functions -------------------------------------------------------------------------


def _length_known(b: Builder, z: Complex, re: Value) -> Value:
    """An infinite real part also where its direction is not known."""
    return b.select(b.eq(b.abs(z.re), INF) & b.isnan(re), b.abs(z.re), re)


def _sinh(b: Builder, z: Complex) -> Complex:
    re = _product(b, exponential.sinh(b, z.re), trigonometric.cos(b, z.im))
    im = _product(b, exponential.cosh(b, z.re), trigonometric.sin(b, z.im))
    return Complex(_length_known(b, z, re), im)


def _cosh(b: Builder, z: Complex) -> Complex:
    re = _product(b, exponential.cosh(b, z.re), trigonometric.cos(b, z.im))
    im = _product(b, exponential.sinh(b, z.re), trigonometric.sin(b, z.im))
    return Complex(_length_known(b, z, re), im)


def _tanh(b: Builder, z: Complex) -> Complex:
    t = trigonometric.tan(b, z.im)
    beta = b.fma(t, t, 1.0)
    s = exponential.sinh(b, z.re)
    rho = b.sqrt(b.fma(s, s, 1.0))
    d = b.fma(beta * s, s, 1.0)
    # far out: 1 and 4 sin y cos y exp(-2 |x|)
    far = b.gt(b.abs(z.re), 22.0)
    e = exponential.exp_negative(b, -b.abs(z.re))
    flat = (trigonometric.sin(b, z.im) * trigonometric.cos(b, z.im)) * 4.0 * e * e
    flat = b.select(b.eq(b.abs(z.re), INF), b.copysign(b.const(0.0, flat), flat), flat)
    re = b.select(far, b.copysign(b.const(1.0, z.re), z.re), beta * rho * s / d)
    return Complex(re, b.select(b.eq(z.im, 0.0), z.im, b.select(far, flat, t / d)))


def _atanh(b: Builder, z: Complex) -> Complex:
    one = b.const(1.0, z.re)
    x = b.abs(z.re)
    gap = one - x
    ratio = (x * 4.0) / b.fma(gap, gap, z.im * z.im)
    re = logarithm.log1p(b, ratio) * 0.25
    im = inverse.atan2(b, z.im * 2.0, b.fma(gap, one + x, -(z.im * z.im))) * 0.5
    infinite = b.eq(x, INF) | b.eq(b.abs(z.im), INF)
    re = b.select(infinite, b.const(0.0, re), re)
    im = b.select(infinite, b.copysign(b.const(1.5707963267948966, im), z.im), im)
    return Complex(b.copysign(re, z.re), im)


def _roots(b: Builder, z: Complex) -> tuple[Complex, Complex, Value]:
    """``sqrt(1 - z)``, ``sqrt(1 + z)``, and whether ``z`` is infinite."""
    below, above = _sqrt(b, Complex(b.const(1.0, z.re) - z.re, -z.im)), _sqrt(b, Complex(z.re + 1.0, z.im))
    return below, above, b.eq(b.abs(z.re), INF) | b.eq(b.abs(z.im), INF)


def _asin(b: Builder, z: Complex) -> Complex:
    below, above, infinite = _roots(b, z)
    near = below.re * above.re - below.im * above.im
    re = inverse.atan2(b, z.re, b.select(infinite, b.abs(z.im), near))
    im = logarithm.asinh(b, below.re * above.im - below.im * above.re)
    return Complex(re, b.select(infinite, b.copysign(b.const(INF, im), z.im), im))


@_wide
def acos(b: Builder, z: Complex) -> Complex:
    below, above, infinite = _roots(b, z)
    re = inverse.atan2(b, below.re, above.re) * 2.0
    im = logarithm.asinh(b, above.re * below.im - above.im * below.re)
    re = b.select(infinite, inverse.atan2(b, b.abs(z.im), z.re), re)
    return Complex(re, b.select(infinite, b.copysign(b.const(INF, im), -z.im), im))


@_wide
def acosh(b: Builder, z: Complex) -> Complex:
    below, above = _sqrt(b, Complex(z.re - 1.0, z.im)), _sqrt(b, Complex(z.re + 1.0, z.im))
    infinite = b.eq(b.abs(z.re), INF) | b.eq(b.abs(z.im), INF)
    re = logarithm.asinh(b, below.re * above.re + below.im * above.im)
    im = inverse.atan2(b, below.im, above.re) * 2.0
    return Complex(b.select(infinite, b.const(INF, re), re), b.select(infinite, inverse.atan2(b, z.im, z.re), im))


sinh, cosh, tanh, atanh, asin = _wide(_sinh), _wide(_cosh), _wide(_tanh), _wide(_atanh), _wide(_asin)
sin = _wide(lambda b, z: _over_i(_sinh(b, _times_i(z))))
cos = _wide(lambda b, z: _cosh(b, _times_i(z)))
tan = _wide(lambda b, z: _over_i(_tanh(b, _times_i(z))))
atan = _wide(lambda b, z: _over_i(_atanh(b, _times_i(z))))
asinh = _wide(lambda b, z: _over_i(_asin(b, _times_i(z))))
