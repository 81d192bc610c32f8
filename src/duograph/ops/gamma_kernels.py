"""NumPy kernels of the incomplete gamma and beta functions and of Hurwitz' zeta function, in float64.

Left of the bulk the functions are power series, right of it continued fractions (Lentz' method). The derivative in
``a`` comes from the same expansions by a complex step, which has no cancellation.

References:
    W. H. Press et al., "Numerical Recipes", 3rd ed., sections 6.2 and 6.4.
    W. J. Lentz, Applied Optics 15 (1976) 668-671 (continued fractions).
    W. Squire, G. Trapp, "Using complex variables to estimate derivatives", SIAM Review 40 (1998).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .special_kernels import digamma, hurwitz_zeta, lgamma

_TINY = 1e-300
_STEPS = 1_000_000
_COMPLEX_STEP = 1e-30
"""Imaginary part of ``a`` whose share in the result is the derivative in ``a``, times this."""


def in_float64(kernel: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """``kernel`` of broadcast operands, computed in float64, in the dtype of the first operand."""

    def wrapped(*operands: np.ndarray) -> np.ndarray:
        wide = np.broadcast_arrays(*(x.astype(np.float64) for x in operands))
        with np.errstate(all="ignore"):
            return kernel(*wide).astype(operands[0].dtype)

    return wrapped


# ---- incomplete gamma functions --------------------------------------------------------------------------------------


def _series(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """``sum of x**n / (a (a+1) ... (a+n))``; ``a`` may be complex."""
    term = 1.0 / a
    total = term.copy()
    n = a.copy()
    running = np.ones(a.shape, bool)
    for _ in range(_STEPS):
        n = n + 1.0
        term = term * x / n
        total = np.where(running, total + term, total)
        running &= (np.abs(term.real) > 1e-17 * np.abs(total.real)) | (np.abs(term.imag) > 1e-17 * np.abs(total.imag))
        if not running.any():
            break
    return total


def _fraction(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The continued fraction of ``gamma(a, x) exp(x) x**-a``; ``a`` may be complex."""
    b = x + 1.0 - a
    c = np.full_like(b, 1.0 / _TINY)
    d = 1.0 / b
    total = d.copy()
    running = np.ones(d.shape, bool)
    for i in range(1, _STEPS):
        an = -i * (i - a)
        b = b + 2.0
        d = an * d + b
        d = 1.0 / np.where(np.abs(d) < _TINY, _TINY, d)
        c = b + an / c
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        factor = d * c
        total = np.where(running, total * factor, total)
        running &= (np.abs(factor.real - 1.0) >= 1e-16) | (np.abs(factor.imag) >= 1e-16 * _COMPLEX_STEP)
        if not running.any():
            break
    return total


def _split(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which elements are regular, which of them the series serves, safe operands, and ``x**a exp(-x) / gamma(a)``."""
    fine = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    a, x = np.where(fine, a, 1.0), np.where(fine, x, 1.0)
    left = x < a + 1.0
    return fine, left, a, x, np.exp(a * np.log(x) - x - lgamma(a))


def _lower_and_upper(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    fine, left, sa, sx, factor = _split(a, x)
    series = factor * _series(sa, np.where(left, sx, sa))
    fraction = factor * _fraction(np.where(left, 1.0, sa), np.where(left, 2.0, sx))
    lower = np.where(left, series, 1.0 - fraction)
    upper = np.where(left, 1.0 - series, fraction)
    nothing = ((x == 0) & (a > 0)) | (np.isposinf(a) & (x > 0) & (x < np.inf))
    everything = (np.isposinf(x) & (a > 0) & (a < np.inf)) | ((a == 0) & (x > 0))
    edge = np.where(nothing, 0.0, np.where(everything, 1.0, np.nan))
    return np.where(fine, lower, edge), np.where(fine, upper, 1.0 - edge)


@in_float64
def igamma(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    return _lower_and_upper(a, x)[0]


@in_float64
def igammac(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    return _lower_and_upper(a, x)[1]


@in_float64
def igamma_grad_a(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    fine, left, a, x, factor = _split(a, x)
    series = _series(a + 1j * _COMPLEX_STEP, np.where(left, x, a) + 0j)
    fraction = _fraction(np.where(left, 1.0, a) + 1j * _COMPLEX_STEP, np.where(left, 2.0, x) + 0j)
    slope = np.log(x) - digamma(a)  # of the logarithm of the factor
    of_series = factor * (slope * series.real + series.imag / _COMPLEX_STEP)
    of_fraction = -factor * (slope * fraction.real + fraction.imag / _COMPLEX_STEP)
    return np.where(fine, np.where(left, of_series, of_fraction), 0.0)


# ---- incomplete beta function ----------------------------------------------------------------------------------------


def _beta_fraction(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    def nonzero(v: np.ndarray) -> np.ndarray:
        return np.where(np.abs(v) < _TINY, _TINY, v)

    c = np.ones_like(x)
    d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0))
    total = d.copy()
    running = np.ones(d.shape, bool)
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for step in (even, odd):
            d = 1.0 / nonzero(1.0 + step * d)
            c = nonzero(1.0 + step / c)
            total = np.where(running, total * d * c, total)
        running &= np.abs(d * c - 1.0) >= 1e-16
        if not running.any():
            break
    return total


@in_float64
def betainc(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    fine = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    sa, sb, sx = np.where(fine, a, 1.0), np.where(fine, b, 1.0), np.where(fine, x, 0.5)
    factor = np.exp(lgamma(sa + sb) - lgamma(sa) - lgamma(sb) + sa * np.log(sx) + sb * np.log1p(-sx))
    swap = sx > (sa + 1.0) / (sa + sb + 2.0)
    p, q, y = np.where(swap, sb, sa), np.where(swap, sa, sb), np.where(swap, 1.0 - sx, sx)
    part = factor * _beta_fraction(p, q, y) / p
    edge = np.where((a > 0) & (b > 0) & (x == 0), 0.0, np.where((a > 0) & (b > 0) & (x == 1), 1.0, np.nan))
    return np.where(fine, np.where(swap, 1.0 - part, part), edge)


# ---- zeta ------------------------------------------------------------------------------------------------------------


@in_float64
def zeta(s: np.ndarray, q: np.ndarray) -> np.ndarray:
    fine = (s > 1) & (q > 0)
    value = hurwitz_zeta(np.where(fine, s, 2.0), np.where(fine, q, 1.0))
    pole = (s == 1) | ((s > 1) & (q <= 0) & (q == np.floor(q)))
    return np.where(fine, value, np.where(pole, np.inf, np.nan))
