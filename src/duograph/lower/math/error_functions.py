"""``erf``, ``erfc``, ``erfinv``."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import (
    F32,
    INF,
    LOG2E,
    NAN,
    at_most,
    fast_two_sum,
    format_of,
    in_f64,
    poly,
    quotient_of_sums,
    two_product,
    two_sum,
)
from .exponential import exp2_short, exp_negative, exp_times, lift
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
        away = one - _erfc_positive(b, at_most(b, t, 6.0))
    return b.copysign(b.select(b.lt(t, 1.0), near, away), x)


def _erfc_positive(b: Builder, a: Value) -> Value:
    """``erfc(a)`` of float64 ``a >= 1/2``; rounding errors of the factor before the exponential are compensated."""
    return times_gauss(b, a, ERFC64, *two_product(b, a, a)) * 2.0 ** -lift(a)


def times_gauss(
    b: Builder, a: Value, coefficients: tuple[float, ...], square: Value, low: Value, times: Value | None = None
) -> Value:
    """``2**lift exp(-square - low) P((a - 4) / (a + 4)) / (1 + 2 a)`` for ``a >= 1/2``, times ``times``."""
    divisor, divisor_low = two_sum(a + a, b.const(1.0, a))
    q = (a - 4.0) / (a + 4.0)
    top, top_low = fast_two_sum(b.const(coefficients[-1], a), q * poly(b, q, coefficients[:-1]))
    if times is not None:
        product, lost = two_product(b, top, times)
        top, top_low = product, lost + top_low * times
    factor, factor_low = quotient_of_sums(b, top, top_low, divisor, divisor_low)
    return exp_times(b, -square, -low, factor, factor_low)


def _erfc_f64(b: Builder, x: Value) -> Value:
    t = b.abs(x)
    near = b.const(1.0, x) - b.fma(x, poly(b, x * x, ERF64), x)
    away = _erfc_positive(b, at_most(b, t, 27.5))
    away = b.select(b.lt(x, 0.0), b.const(2.0, x) - away, away)
    return b.select(b.lt(t, 0.5), near, away)


def erfc(b: Builder, x: Value) -> Value:
    if x.type.elem == "f64":
        return _erfc_f64(b, x)
    wide = b.convert(x, "f64")
    a = at_most(b, b.abs(wide), 11.0)
    one, above, divisor = b.const(1.0, a), a + 4.0, a + a + 1.0
    inverse = one / (above * divisor)
    value = poly(b, (a - 4.0) * divisor * inverse, _ERFC_SHORT) * (above * inverse) * exp2_short(b, a * a * -LOG2E)
    return b.convert(b.select(b.lt(wide, 0.0), b.const(2.0, wide) - value, value), "f32")


# erfinv(x) / x: a constant in two parts and d times a polynomial in d, with w = -log(1 - x**2):
# d = w - 3.125 for w below 6.25, sqrt(w) - 3.25 up to 16, sqrt(w) - 5.05 beyond
_ERFINV_NEAR = (
    3.431822216535651e-21, -1.0289473799715783e-21, -3.6070982770725157e-19, 1.1454789697913164e-18,
    1.583723358131027e-17, -1.3006383601173293e-16, -4.394824388013745e-17, 6.595024693687824e-15,
    -3.998027213114052e-14, -8.117273023136422e-14, 2.6303001201371925e-12, -1.2976944463345994e-11,
    -5.414218539209768e-11, 1.0512183520285106e-09, -4.112662471712026e-09, -2.9070382677844503e-08,
    4.234788198068058e-07, -1.3654691845532077e-06, -1.3882523396390355e-05, 0.00018673420802433043,
    -0.0007407025341537275, -0.0060336708714277725, 0.24015818242558823,
)  # fmt: skip
_NEAR_CONSTANT = (1.6536545626831027, -6.7460278971114086e-18)
_ERFINV_MIDDLE = (
    7.721620687493404e-09, -1.5291597063316248e-08, -2.1031573988292535e-08, 1.3154976507449438e-07,
    -2.4535755788769323e-07, -2.7575684848717828e-08, 1.4815041761125171e-06, -3.985731461522855e-06,
    2.9326161390650355e-06, 1.2465037552384108e-05, -4.732069006264354e-05, 6.82871153314518e-05,
    2.403151429393518e-05, -0.00035503781351774963, 0.0009532893414545732, -0.0016882755354676597,
    0.0024914420979625118, -0.003751208508224133, 0.005370914553554937, 1.0052589676941655,
)  # fmt: skip
_MIDDLE_CONSTANT = (3.0838856104922208, -7.355148921817751e-17)
_ERFINV_FAR = (
    -1.8002711618054756e-11, 2.7482129408063182e-11, 8.922350079014295e-11, -3.807745768380817e-10,
    1.025825051816347e-09, -2.641670895122422e-09, 5.829084017601028e-09, -1.1197729986029052e-08,
    2.1807915015908875e-08, -5.493706319288859e-08, 2.0162396351785647e-07, -9.070845241684691e-07,
    4.193852782610564e-06, -1.8374536372240443e-05, 7.124031551865561e-05, -0.00020031200666412736,
    -0.00016985809149706955, 1.0102850175977718,
)  # fmt: skip
_FAR_CONSTANT = (4.90042105144364, 4.1543373070399155e-16)


@in_f64
def erfinv(b: Builder, x: Value) -> Value:
    """``x`` times a function of ``log(1 - x**2)``, in which it is smooth (M. B. Giles, "Approximating the erfinv
    function", GPU Computing Gems, 2011)."""
    one = b.const(1.0, x)
    t = b.abs(x)
    inside = b.lt(t, 1.0)
    w = -log(b, b.select(inside, (one - t) * (one + t), b.const(0.5, x)))
    root = b.sqrt(w)
    near, middle = b.lt(w, 6.25), b.lt(root, 4.0)

    def chosen(*of: Value) -> Value:
        return b.select(near, of[0], b.select(middle, of[1], of[2]))

    def constant(part: int) -> Value:
        return chosen(*[b.const(c[part], x) for c in (_NEAR_CONSTANT, _MIDDLE_CONSTANT, _FAR_CONSTANT)])

    distances = w - 3.125, root - 3.25, root - 5.05
    factors = [poly(b, d, p) for d, p in zip(distances, (_ERFINV_NEAR, _ERFINV_MIDDLE, _ERFINV_FAR), strict=True)]
    rest, rest_low = two_product(b, chosen(*distances), chosen(*factors))
    factor, low = fast_two_sum(constant(0), rest)
    square, square_low = two_product(b, root, root)
    root_low = ((w - square) - square_low) / (root + root)  # the slopes of both functions of the root are about 1
    low = low + b.select(near, rest_low, rest_low + root_low)
    edge = b.select(b.eq(t, 1.0), b.copysign(b.const(INF, x), x), b.const(NAN, x))
    return b.select(inside, b.fma(x, factor, x * (low + constant(1))), edge)
