"""``erf``, ``erfc``, ``erfinv``."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import (
    F32,
    INF,
    NAN,
    at_least,
    at_most,
    fast_two_sum,
    format_of,
    in_f64,
    poly,
    two_product,
    two_sum,
    upper_half,
)
from .exponential import exp_negative, exp_times, lift
from .logarithm import log

# erf(t) = t + t P(t**2) for t < 1; float32 beyond: 1 - exp(Q(t)), Q fits log(erfc)
_ERF32 = (
    7.89869518e-5, -8.02481896e-4, 0.00519016245, -0.0268549155, 0.112836175, -0.376126289, 0.1283791671,
)  # fmt: skip
_LOG_ERFC32 = (
    -2.14455213e-5, 4.38529445e-4, -0.00419085333, 0.0251718033, -0.108361542, -0.633272409, -1.12955201, 1.82459364e-4,
)  # fmt: skip
ERF64 = (
    -7.779095475011288e-10, 1.3710783162081981e-08, -1.620626880138567e-07, 1.6447125791466209e-06,
    -1.4924711841584597e-05, 0.00012055293553395119, -0.0008548325928545974, 0.005223977606102865,
    -0.02686617064310963, 0.11283791670944174, -0.3761263890318352, 0.12837916709551256,
)  # fmt: skip
# (1 + 2 a) exp(a**2) erfc(a) as a polynomial in (a - 4) / (a + 4): for 0 <= a <= 27, and to 2**-30 for a <= 11
ERFC64 = (
    -1.8365210082087453e-09, -1.3767667776268067e-08, -7.875246110971265e-09, 1.15420758232119e-07,
    6.311738542112971e-08, -8.349855633788692e-07, 3.009678336211076e-07, 5.717575398391175e-06,
    -1.1224619042360776e-05, -2.440295263783956e-05, 0.0001506222120006757, -0.00019925558957845085,
    -0.0007577733430386049, 0.005031969774050758, -0.016197734057339826, 0.037167515560162574, -0.06633036581182428,
    0.09373283499695592, -0.10103906603633256, 0.06809705425473218, 0.015379652102620288, -0.13962111684056283,
    1.2329951186255526,
)  # fmt: skip
_ERFC_SHORT = (
    -0.0006220721815870296, -0.0010698703130275918, 0.005117669155973867, -0.016007053840192728, 0.037199449657620676,
    -0.06636726144601371, 0.09372257975369565, -0.1010361067200165, 0.06809789504748202, 0.015379559964180263,
    -0.1396211337152201, 1.232995119184876,
)  # fmt: skip


def erf(b: Builder, x: Value) -> Value:
    f = format_of(x)
    t = b.abs(x)
    z = t * t
    near = b.fma(t, poly(b, z, _ERF32 if f is F32 else ERF64), t)
    one = b.const(1.0, x)
    if f is F32:
        away = one - exp_negative(b, poly(b, at_most(b, t, 4.04), _LOG_ERFC32))
    else:
        away = one - _erfc_positive(b, at_most(b, t, 6.0), ERFC64)
    return b.copysign(b.select(b.lt(t, 1.0), near, away), x)


def _erfc_positive(b: Builder, a: Value, coefficients: tuple[float, ...]) -> Value:
    """``erfc(a)`` of float64 ``a >= 1/2``; rounding errors of the factor before the exponential are made good."""
    return times_gauss(b, a, coefficients, *two_product(b, a, a)) * 2.0 ** -lift(a)


def times_gauss(b: Builder, a: Value, coefficients: tuple[float, ...], square: Value, low: Value) -> Value:
    """``exp(-square - low)`` times a polynomial in ``(a - 4) / (a + 4)``, divided by ``1 + 2 a``, ``2**lift`` times that.

    ``a >= 1/2``.
    """
    divisor, divisor_low = fast_two_sum(a + a, b.const(1.0, a))
    inverse = b.const(1.0, a) / divisor
    error = b.fma(-inverse, divisor, 1.0) - inverse * divisor_low
    q = (a - 4.0) / (a + 4.0)
    h, h_low = fast_two_sum(b.const(coefficients[-1], a), q * poly(b, q, coefficients[:-1]))
    factor = h * inverse
    factor_low = b.fma(factor, error, b.fma(h, inverse, -factor) + h_low * inverse)
    return exp_times(b, -square, -low, factor, factor_low)


def _erfc_f64(b: Builder, x: Value) -> Value:
    t = b.abs(x)
    near = b.const(1.0, x) - b.fma(x, poly(b, x * x, ERF64), x)
    away = _erfc_positive(b, at_most(b, t, 27.5), ERFC64)
    away = b.select(b.lt(x, 0.0), b.const(2.0, x) - away, away)
    return b.select(b.lt(t, 0.5), near, away)


def erfc(b: Builder, x: Value) -> Value:
    if x.type.elem == "f64":
        return _erfc_f64(b, x)
    wide = b.convert(x, "f64")
    value = _erfc_positive(b, at_most(b, b.abs(wide), 11.0), _ERFC_SHORT)
    return b.convert(b.select(b.lt(wide, 0.0), b.const(2.0, wide) - value, value), "f32")


# erfinv(x) / x as polynomials: in w - 3.125 for w = -log(1 - x**2) < 6.25, in sqrt(w) - 3.25 up to 4, in sqrt(w) - 5.05
_ERFINV_NEAR = (
    3.37602896871472e-21, -1.009312963423905e-21, -3.575625669813312e-19, 1.1444225448049814e-18,
    1.5759999587102014e-17, -1.3003929248082103e-16, -4.286717067116716e-17, 6.594702481977028e-15,
    -3.998978104293122e-14, -8.117010371540845e-14, 2.630354701046101e-12, -1.297695821763288e-11,
    -5.4142390976091776e-11, 1.0512183982961516e-09, -4.112661973775527e-09, -2.9070382774930082e-08,
    4.23478819068844e-07, -1.3654691844342189e-06, -1.3882523395781595e-05, 0.0001867342080242555,
    -0.0007407025341539599, -0.006033670871427753, 0.24015818242558826, 1.6536545626831027,
)  # fmt: skip
_ERFINV_MIDDLE = (
    3.2287819947815643e-09, 9.086577618462867e-08, -2.777493250690832e-07, 1.797624484109746e-08,
    1.5054623094446243e-06, -4.013606338684944e-06, 2.9218937833359993e-06, 1.2475167253161462e-05,
    -4.731771394223973e-05, 6.828489245814491e-05, 2.403100994121306e-05, -0.0003550375273010764,
    0.0009532893907380955, -0.0016882755554013687, 0.0024914420955045387, -0.0037512085075943275,
    0.005370914553602796, 1.0052589676941595, 3.0838856104922203,
)  # fmt: skip
_ERFINV_FAR = (
    -1.65017294318401e-11, 2.8834870219602464e-11, 8.272428836977564e-11, -3.8648944268425575e-10,
    1.0374375651215775e-09, -2.631770877741384e-09, 5.8180293507252494e-09, -1.120678591350247e-08,
    2.1813954462416473e-08, -5.493237220769502e-08, 2.016220643200312e-07, -9.070858932958429e-07,
    4.193853108857961e-06, -1.837453616204998e-05, 7.12403154917009e-05, -0.00020031200667847246,
    -0.00016985809149626575, 1.010285017597772, 4.90042105144364,
)  # fmt: skip


@in_f64
def erfinv(b: Builder, x: Value) -> Value:
    """``x`` times a function of ``log(1 - x**2)``, in which it is smooth (M. B. Giles, "Approximating the erfinv
    function", GPU Computing Gems, 2011)."""
    one = b.const(1.0, x)
    t = b.abs(x)
    inside = b.lt(t, 1.0)
    w = -log(b, b.select(inside, (one - t) * (one + t), b.const(0.5, x)))
    root = b.sqrt(w)
    near = poly(b, w - 3.125, _ERFINV_NEAR)
    middle, far = poly(b, root - 3.25, _ERFINV_MIDDLE), poly(b, root - 5.05, _ERFINV_FAR)
    factor = b.select(b.lt(w, 6.25), near, b.select(b.lt(root, 4.0), middle, far))
    edge = b.select(b.eq(t, 1.0), b.copysign(b.const(INF, x), x), b.const(NAN, x))
    return b.select(inside, x * factor, edge)
