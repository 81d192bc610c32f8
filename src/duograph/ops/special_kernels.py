"""NumPy kernels of functions that NumPy lacks: erf, erfc, erfinv, log-gamma, digamma, polygamma, and activations.

All take float32 or float64 arrays, compute in float64 and round once, so that float32 results are correctly rounded in
all but rare cases.

References:
    W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969) 631-637.
    M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Appl. Statist. 37 (1988).
    J. M. Bernardo, "Algorithm AS 103: Psi (digamma) function", Appl. Statist. 25 (1976).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

_CHUNK = 8192
"""Elements worked on at a time, so that the many temporaries of a kernel stay in the cache."""


def in_float64(kernel: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """``kernel``, elementwise, computed in float64; the result has the dtype of the first operand."""

    def wrapped(x: np.ndarray, *rest: object) -> np.ndarray:
        out = np.empty(x.shape, x.dtype)
        source, target = np.ascontiguousarray(x).reshape(-1), out.reshape(-1)
        for start in range(0, x.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            target[part] = kernel(source[part].astype(np.float64), *rest)
        return out

    return wrapped


def _horner(coefficients: Sequence[float], x: np.ndarray) -> np.ndarray:
    """The polynomial with ``coefficients``, highest power first."""
    total = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        total *= x
        total += c
    return total


# ---- error functions ------------------------------------------------------------------------------------------------

_ERF_P = (
    1.85777706184603153e-1,
    3.16112374387056560,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
_ERF_Q = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
_ERFC_P = (
    2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1, 2.98635138197400131e2,
    8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3,
)  # fmt: skip
_ERFC_Q = (
    1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
    3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
)  # fmt: skip
_TAIL_P = (
    1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
    1.60837851487422766e-2, 6.58749161529837803e-4,
)  # fmt: skip
_TAIL_Q = (
    1.0, 2.56852019228982242, 1.87295284992346047, 5.27905102951428412e-1, 6.05183413124413191e-2,
    2.33520497626869185e-3,
)  # fmt: skip
_SMALL, _MIDDLE, _ZERO = 0.46875, 4.0, 26.7  # Cody's ranges; erfc underflows beyond the last


def _erf_small(x: np.ndarray) -> np.ndarray:
    z = x * x
    return x * _horner(_ERF_P, z) / _horner(_ERF_Q, z)


def _erfc_positive(y: np.ndarray, times: float | np.ndarray = 1.0) -> np.ndarray:
    """erfc for ``y >= 0.46875``, times a number."""
    y = np.minimum(y, _ZERO + 1.0)
    factor = _horner(_ERFC_P, y) / _horner(_ERFC_Q, y)
    if (y > _MIDDLE).any():
        z = 1.0 / (y * y)
        tail = (1.0 / math.sqrt(math.pi) - z * _horner(_TAIL_P, z) / _horner(_TAIL_Q, z)) / y
        factor = np.where(y <= _MIDDLE, factor, tail)
    # exp(-y*y) with y*y in two parts: a rounding error of y*y would be magnified by exp.
    head = np.trunc(y * 16.0) / 16.0
    rest = (y - head) * (y + head)
    root = np.exp(-head * head / 2)  # the whole may be subnormal
    return root * (np.exp(-rest) * factor * times) * root


def _erf(x: np.ndarray) -> np.ndarray:
    y = np.abs(x)
    small = y <= _SMALL
    large = 1.0 - _erfc_positive(np.where(small, 1.0, y))
    return np.where(np.isnan(x), x, np.where(small, _erf_small(np.where(small, x, 0.0)), np.copysign(large, x)))


def _erfc(x: np.ndarray) -> np.ndarray:
    y = np.abs(x)
    small = y <= _SMALL
    large = _erfc_positive(np.where(small, 1.0, y))
    large = np.where(x < 0, 2.0 - large, large)
    return np.where(np.isnan(x), x, np.where(small, 1.0 - _erf_small(np.where(small, x, 0.0)), large))


_NEAR_P = (
    2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
    1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080,
)  # fmt: skip
_NEAR_Q = (
    5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
    5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0,
)  # fmt: skip
_MID_P = (
    7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258,
    3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734,
)  # fmt: skip
_MID_Q = (
    1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
    6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187, 1.0,
)  # fmt: skip
_FAR_P = (
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
    2.96560571828504891230e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720,
)  # fmt: skip
_FAR_Q = (
    2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
    1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0,
)  # fmt: skip


def _erfinv(x: np.ndarray) -> np.ndarray:
    """AS 241 for the normal quantile of ``(1 + x) / 2``, divided by the square root of 2."""
    q = x / 2.0
    inside = np.abs(x) < 1.0
    near = np.abs(q) <= 0.425
    r = 0.180625 - q * q
    quantile_near = q * _horner(_NEAR_P, r) / _horner(_NEAR_Q, r)
    s = np.sqrt(-np.log(np.where(inside & ~near, (1.0 - np.abs(x)) / 2.0, 0.05)))
    middle = s <= 5.0
    mid, far = s - 1.6, s - 5.0
    quantile_far = np.where(
        middle, _horner(_MID_P, mid) / _horner(_MID_Q, mid), _horner(_FAR_P, far) / _horner(_FAR_Q, far)
    )
    value = np.where(near, quantile_near, np.copysign(quantile_far, x)) / math.sqrt(2.0)
    edge = np.where(np.abs(x) == 1.0, np.copysign(np.inf, x), np.nan)
    return np.where(inside, value, edge)


# ---- gamma functions ------------------------------------------------------------------------------------------------


def _lgamma_of(x: float) -> float:
    if math.isnan(x):
        return x
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


def _lgamma(x: np.ndarray) -> np.ndarray:
    return np.array([_lgamma_of(v) for v in x.ravel().tolist()], np.float64).reshape(x.shape)


_DIGAMMA_SERIES = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)


def _digamma(x: np.ndarray) -> np.ndarray:
    """Reflection for negative arguments, recurrence up to 10, then the asymptotic series."""
    pole = (x <= 0) & (x == np.floor(x))
    negative = (x < 0) & ~pole
    safe = np.where(pole, 1.0, np.where(negative, 1.0 - x, x))
    shift = np.zeros_like(safe)
    for _ in range(10):
        low = safe < 10.0
        shift = shift + np.where(low, 1.0 / np.where(low, safe, 1.0), 0.0)
        safe = np.where(low, safe + 1.0, safe)
    z = 1.0 / (safe * safe)
    value = np.log(safe) - 0.5 / safe - z * _horner(_DIGAMMA_SERIES, z) - shift
    value = np.where(np.isinf(safe), np.inf, value)
    fraction = x - np.floor(x)
    reflected = value - math.pi / np.tan(math.pi * np.where(negative, fraction, 0.25))
    at_pole = np.where(x == 0, np.copysign(np.inf, -x), np.nan)
    return np.where(pole, at_pole, np.where(negative, reflected, value))


# B_2k / (2k)! of the Euler-Maclaurin formula
_ZETA_SERIES = tuple(
    b / math.factorial(2 * k)
    for k, b in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510), start=1)
)


def hurwitz_zeta(s: float | np.ndarray, q: np.ndarray) -> np.ndarray:
    """``sum over n >= 0 of (q + n)**-s`` for ``q > 0``: 12 terms, then Euler-Maclaurin."""
    total = np.zeros_like(q)
    for n in range(12):
        total = total + (q + n) ** -s
    a = q + 12.0
    total = total + a ** (1.0 - s) / (s - 1.0) + 0.5 * a**-s
    factor, power = s, a ** (-s - 1.0)
    for k, c in enumerate(_ZETA_SERIES):
        total = total + c * factor * power
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2)
        power = power / (a * a)
    return total


def _polygamma(x: np.ndarray, n: int) -> np.ndarray:
    """Order ``n >= 1``: the Hurwitz zeta function; negative arguments are lifted by the recurrence."""
    pole = (x <= 0) & (x == np.floor(x))
    q = np.where(pole, 1.0, x)
    lifted = np.zeros_like(q)
    for _ in range(int(np.ceil(max(0.0, -float(np.min(np.where(np.isfinite(q), q, 1.0), initial=1.0))))) + 1):
        low = q <= 0
        lifted = lifted + np.where(low, np.where(low, q, 1.0) ** -(n + 1.0), 0.0)
        q = np.where(low, q + 1.0, q)
    value = (-1.0) ** (n + 1) * math.factorial(n) * (lifted + hurwitz_zeta(n + 1.0, q))
    return np.where(pole, np.inf if n % 2 else np.nan, value)


# ---- sinc, logit ----------------------------------------------------------------------------------------------------


def _sinc(x: np.ndarray) -> np.ndarray:
    """The whole part is taken off before the multiplication with pi, which rounds."""
    turns = np.rint(x)
    regular = np.isfinite(x) & (x != 0)
    safe = np.where(regular, x, 0.5)
    sine = np.sin((safe - np.where(regular, turns, 0)) * math.pi) * np.where(turns % 2 == 0, 1.0, -1.0)
    return np.where(regular, sine / (safe * math.pi) + 0.0, np.where(x == 0, 1.0, np.where(np.isnan(x), x, 0.0)))


def _logit(x: np.ndarray) -> np.ndarray:
    near = np.abs(x - 0.5) < 0.25
    middle = np.where(near, x, 0.5)
    return np.where(near, np.log1p((2 * middle - 1) / (1 - middle)), np.log(x / (1 - x)))


# ---- activations ----------------------------------------------------------------------------------------------------
# The factor may be subnormal when the product is not: roots of it are multiplied one after the other. Where it is 0,
# the product has the limit 0, not NaN: arguments are limited to numbers that are not infinite.


def _normal_cdf(x: np.ndarray) -> np.ndarray:
    return _erfc(x * -math.sqrt(0.5)) * 0.5


def _gelu(x: np.ndarray) -> np.ndarray:
    t = np.maximum(x, -1e3)
    y = -t * math.sqrt(0.5)
    return np.where(t < -1, _erfc_positive(np.maximum(y, _SMALL), t * 0.5), t * _normal_cdf(t))


def _times_sigmoid(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """``x / (1 + exp(-t))``."""
    root = np.exp(-np.abs(t) / 2)
    left = np.maximum(x, -1e300) * root / (1 + root * root) * root
    return np.where(t < 0, left, x / (1 + root * root))


def _gelu_by_tanh(x: np.ndarray) -> np.ndarray:
    return _times_sigmoid(x, x * (x * x * 0.044715 + 1) * math.sqrt(8 / math.pi))


def _silu(x: np.ndarray) -> np.ndarray:
    return _times_sigmoid(x, x)


def _fast_gelu(x: np.ndarray) -> np.ndarray:
    return _times_sigmoid(x, 1.702 * x)


def _mish(x: np.ndarray) -> np.ndarray:
    root = np.exp(np.minimum(x, 0) / 2)
    left = np.maximum(x, -1e300) * root * root  # tanh(log1p(e)) is e to the last bit
    return np.where(x < -40, left, x * np.tanh(np.log1p(np.exp(x))))


_SHRINK = tuple(2 * k / math.factorial(2 * k + 1) for k in range(14, 0, -1))
"""Coefficients of ``(x cosh(x) - sinh(x)) / x**3`` in ``x**2``."""


def _tanhshrink(x: np.ndarray) -> np.ndarray:
    near = np.abs(x) < 2
    safe = np.where(near, x, 0.0)
    z = safe * safe
    return np.where(near, safe * (z * _horner(_SHRINK, z)) / np.cosh(safe), x - np.tanh(x))


def _quiet(kernel: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`in_float64` without NumPy's warnings: of overflow on the way to a limit, and of what is undefined."""

    def wrapped(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return in_float64(kernel)(x)

    return wrapped


erf = in_float64(_erf)
erfc = in_float64(_erfc)
erfinv = in_float64(_erfinv)
lgamma = in_float64(_lgamma)
digamma = in_float64(_digamma)
polygamma = in_float64(_polygamma)
tanhshrink = in_float64(_tanhshrink)
normal_cdf = in_float64(_normal_cdf)
sinc, logit = _quiet(_sinc), _quiet(_logit)
gelu, gelu_by_tanh, silu, fast_gelu, mish = map(_quiet, (_gelu, _gelu_by_tanh, _silu, _fast_gelu, _mish))
