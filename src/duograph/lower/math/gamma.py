"""``lgamma`` and ``digamma``, computed in float64.

Arguments below 8 (10) are lifted by the recurrence to where Stirling's series serves. ``lgamma`` carries sums of two
floats all the way, because near its zeros at 1 and 2 the terms cancel; very close to them it is a power series.
"""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import INF, NAN, fast_two_sum, in_f64, poly, two_product, two_sum
from .power import log_in_two
from .trigonometric import cotangent_of_turns, sine_of_turns

# lgamma(y) = (y - 1/2) log(y) - y + log(2 pi) / 2 + P(1 / y**2) / y for y >= 8
_STIRLING = (
    -0.020877742708820753, 0.006209338242716388, -0.001914991792132343, 0.0008417328033744818, -0.0005952380249474431,
    0.0007936507935157013, -0.0027777777777776786, 0.08333333333333333,
)  # fmt: skip
# lgamma(1 + d) / d and lgamma(2 + d) / d for |d| <= 1/16
_NEAR_ONE = (
    0.0843376579669324, -0.09186145116406418, 0.10009422948008731, -0.11133026923313266, 0.12550968297562584,
    -0.14404990487342714, 0.16955717698038691, -0.20738555102124823, 0.2705808084277939, -0.40068563438653393,
    0.8224670334241132, -0.5772156649015329,
)  # fmt: skip
_NEAR_TWO = (
    9.969821185028592e-05, -0.00022359409510013849, 0.000509668486040559, -0.0011927524093465506,
    0.0028905103327324364, -0.007385551030770454, 0.020580808427782957, -0.06735230105319708, 0.3224670334241132,
    0.42278433509846713,
)  # fmt: skip
# digamma(y) = log(y) - 1 / (2 y) - z P(z), z = 1 / y**2, for y >= 10
_DIGAMMA = (
    0.06812000234877677, -0.02086029302193179, 0.007573886083623119, -0.004166658443315144, 0.003968253949412951,
    -0.008333333333313995, 0.08333333333333333,
)  # fmt: skip
_HALF_LOG_2PI, _HALF_LOG_2PI_LOW = 0.9189385332046728, -3.8782941580672414e-17
_LOG_PI = 1.1447298858494002


def lgamma_in_two(b: Builder, x: Value) -> tuple[Value, Value]:
    """``lgamma(x)`` for finite ``x > 0`` as a sum of two."""
    one, zero = b.const(1.0, x), b.const(0.0, x)

    def lift(i: Value, y: Value, y_low: Value, product: Value, product_low: Value) -> tuple[Value, ...]:
        low = b.lt(y, 8.0)
        factor, factor_low = b.select(low, y, one), b.select(low, y_low, zero)
        p, e = two_product(b, product, factor)
        product, product_low = fast_two_sum(p, e + (product * factor_low + product_low * factor))
        # the sum may not be a float any more
        y, rest = two_sum(y, b.select(low, one, zero))
        return y, y_low + rest, product, product_low

    y, y_low, product, product_low = b.for_(0, 8, 1, lift, (x, zero, one, zero))
    log_y, log_y_low = log_in_two(b, y)
    log_y_low = log_y_low + y_low / y
    log_p, log_p_low = log_in_two(b, product)
    log_p_low = log_p_low + product_low / product
    a, a_low = two_product(b, y - 0.5, log_y)
    a_low = a_low + ((y - 0.5) * log_y_low + y_low * log_y)
    inverse = one / y
    series = inverse * poly(b, inverse * inverse, _STIRLING)
    s, s_low = two_sum(a, -y)
    t, t_low = two_sum(s, b.const(_HALF_LOG_2PI, x))
    u, u_low = two_sum(t, -log_p)
    rest = ((a_low - y_low) + (_HALF_LOG_2PI_LOW - log_p_low)) + (s_low + t_low + u_low)
    value, low = u, series + rest
    for root, coefficients in ((1.0, _NEAR_ONE), (2.0, _NEAR_TWO)):
        d = x - root
        near = b.lt(b.abs(d), 0.0625)
        value, low = b.select(near, d * poly(b, d, coefficients), value), b.select(near, zero, low)
    huge = b.gt(x, 1e300)  # where the parts would overflow
    return b.select(huge, x * (log_y - 1.0), value), b.select(huge, zero, low)


@in_f64
def lgamma(b: Builder, x: Value) -> Value:
    """Of negative ``x`` by reflection: ``log(pi / |x sin(pi x)|) - lgamma(|x|)``."""
    t = b.abs(x)
    regular = b.gt(t, 0.0) & b.lt(t, INF)
    t = b.select(regular, t, b.const(1.0, x))
    value, low = lgamma_in_two(b, t)
    sine = b.abs(sine_of_turns(b, t - b.rint(t))[0])
    log_sine, log_low = log_in_two(b, t * b.select(b.eq(sine, 0.0), b.const(1.0, x), sine))
    constant, lost = two_sum(b.const(_LOG_PI, x), -log_sine)
    total, error = two_sum(constant, -value)
    reflected = total + ((lost + error) - (log_low + low))
    # next to 0 both are -log(t), and the product with the sine would not be a number of normal size
    value = b.select(b.lt(x, -1e-20), reflected, value + low)
    pole = b.le(x, 0.0) & b.eq(b.floor(x), x)
    value = b.select(pole | b.eq(b.abs(x), INF), b.const(INF, x), value)
    return b.select(b.isnan(x), x, value)


@in_f64
def digamma(b: Builder, x: Value) -> Value:
    """Of negative ``x`` by reflection: ``digamma(1 - x) - pi / tan(pi x)``."""
    one, zero = b.const(1.0, x), b.const(0.0, x)
    pole = b.le(x, 0.0) & b.eq(b.floor(x), x)
    negative = b.lt(x, 0.0) & ~pole
    y, y_low = two_sum(b.select(negative, one, zero), b.select(negative, -x, x))
    y, y_low = b.select(pole, one, y), b.select(pole | b.eq(b.abs(x), INF), zero, y_low)

    def lift(i: Value, y: Value, y_low: Value, shift: Value, shift_low: Value) -> tuple[Value, ...]:
        low = b.lt(y, 10.0)
        safe, step = b.select(low, y, one), b.select(low, one, zero)
        inverse = step / safe
        product, rest = two_product(b, inverse, safe)
        shift, lost = two_sum(shift, inverse)
        shift_low = shift_low + (lost + (((step - product) - rest) - inverse * y_low) / safe)
        y, rest = two_sum(y, step)
        return y, b.select(low, y_low + rest, y_low), shift, shift_low

    y, y_low, shift, shift_low = b.for_(0, 10, 1, lift, (y, y_low, zero, zero))
    inverse = one / y
    z = inverse * inverse
    log_y, log_low = log_in_two(b, y)
    value, lost = two_sum(log_y, -shift)
    low = (lost + (log_low + y_low * inverse)) - (shift_low + (inverse * 0.5 + z * poly(b, z, _DIGAMMA)))
    fraction = b.select(negative, x - b.rint(x), b.const(0.25, x))
    cotangent, cotangent_low = cotangent_of_turns(b, fraction)
    reflected, lost = two_sum(value, -cotangent)
    value = b.select(negative, reflected + (lost + (low - cotangent_low)), value + low)
    value = b.select(b.eq(x, INF), x, value)
    value = b.select(b.lt(b.abs(x), 2.0**-60), -(one / x), value)  # the rest is lost; 1 / x may be infinite
    at_pole = b.select(b.eq(x, 0.0), b.copysign(b.const(INF, x), -x), b.const(NAN, x))
    return b.select(pole, at_pole, b.select(b.isnan(x), x, value))
