"""NumPy kernels of Bessel functions of order 0 and 1, in float64.

* ``I``: the power series up to 30, then the asymptotic series.
* ``K``: the power series up to 2, then the trapezoidal rule for ``K_n(x) = integral of exp(-x cosh t) cosh(n t)``,
  which converges exponentially for this integrand.
* ``J`` and ``Y`` up to 25: Miller's backward recurrence gives all ``J_n``, Neumann's series of them gives ``Y``;
  beyond, Hankel's asymptotic series.

References:
    M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", 9.1.87, 9.1.88, 9.2.5-10, 9.6.10-13, 9.7.1.
    J. C. P. Miller, "Bessel Functions, Part II", Mathematical Tables X, 1952 (backward recurrence).
    L. N. Trefethen, J. A. C. Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56 (2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .special_kernels import in_float64

_EULER = 0.57721566490153286061
_I_SERIES, _K_SERIES, _HANKEL = 30.0, 2.0, 25.0
"""Where the methods change."""


# ---- modified functions ----------------------------------------------------------------------------------------------


def _i_series(n: int, x: np.ndarray) -> np.ndarray:
    """``I_n``, all terms of one sign."""
    quarter = x * x / 4.0
    term = (x / 2.0) ** n
    total = term.copy()
    for k in range(1, 80):
        term = term * quarter / (k * (k + n))
        total += term
    return total


def _i_scaled_far(n: int, x: np.ndarray) -> np.ndarray:
    """``I_n(x) exp(-x)`` for large ``x``."""
    term = np.ones_like(x)
    total = term.copy()
    for k in range(1, 30):
        term = term * ((2 * k - 1) ** 2 - 4 * n * n) / (8.0 * k * x)
        total += term
    return total / np.sqrt(2.0 * math.pi * x)


def _i(n: int, scaled: bool) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        y = np.abs(x)
        near = _i_series(n, np.minimum(y, _I_SERIES))
        far = _i_scaled_far(n, np.clip(y, _I_SERIES, 1e300))
        value = (
            np.where(y <= _I_SERIES, near * np.exp(-y), far)
            if scaled
            else np.where(y <= _I_SERIES, near, far * np.exp(y))
        )
        return np.copysign(value, x) if n else np.where(np.isnan(x), x, value)

    return in_float64(kernel)


def _k_series(n: int, x: np.ndarray) -> np.ndarray:
    """``K_n`` for ``0 < x <= 2``."""
    quarter = x * x / 4.0
    log = np.log(x / 2.0)
    term, harmonic, total = np.ones_like(x), 0.0, np.zeros_like(x)
    for k in range(30):
        if n == 0:
            total += term * (harmonic - _EULER)
        else:
            total += term * (2.0 * harmonic + 1.0 / (k + 1) - 2.0 * _EULER)
        harmonic += 1.0 / (k + 1)
        term = term * quarter / ((k + 1) * (k + 1 + n))
    if n == 0:
        return total - log * _i_series(0, x)
    return 1.0 / x + log * _i_series(1, x) - x / 4.0 * total


def _k_scaled_far(n: int, x: np.ndarray) -> np.ndarray:
    """``K_n(x) exp(x)`` for ``x >= 2``."""
    step = np.minimum(0.2, 0.7 / np.sqrt(x))
    total = np.full_like(x, 0.5)
    for i in range(1, 30):
        half = np.sinh(i * step / 2.0)
        total += np.exp(-2.0 * x * half * half) * (np.cosh(i * step) if n else 1.0)
    return total * step


def _k(n: int, scaled: bool) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        low = np.clip(x, np.finfo(np.float64).tiny, _K_SERIES)
        near, far = _k_series(n, low), _k_scaled_far(n, np.clip(x, _K_SERIES, 1e300))
        value = (
            np.where(x <= _K_SERIES, near * np.exp(low), far)
            if scaled
            else np.where(x <= _K_SERIES, near, far * np.exp(-x))
        )
        return np.where(x > 0, value, np.where(x == 0, np.inf, np.nan))

    return in_float64(kernel)


# ---- J and Y ---------------------------------------------------------------------------------------------------------

_START = 80  # order from which the recurrence runs down; J_80(25) is below 1e-30


def _near(n: int, x: np.ndarray, second: bool) -> np.ndarray:
    """``J_n(x)`` or ``Y_n(x)`` for ``0 <= x <= 25``."""
    y = np.maximum(x, 1e-8)
    above, here = np.zeros_like(y), np.full_like(y, 1e-100)
    norm, series, wanted = np.zeros_like(y), np.zeros_like(y), np.zeros_like(y)
    for order in range(_START, -1, -1):
        if order % 2 == 0:
            norm += here if order == 0 else 2.0 * here
        k = order // 2
        if k and order % 2 == n:
            series += (-1.0) ** k * here * (1.0 / k if n == 0 else (2 * k + 1) / (k * (k + 1.0)))
        if order == n:
            wanted = here.copy()
        above, here = here, 2.0 * order / y * here - above
        large = np.abs(here) > 1e100
        if large.any():
            scale = np.where(large, 1e-100, 1.0)
            above, here, norm, series, wanted = (v * scale for v in (above, here, norm, series, wanted))
    first = wanted / norm * (x / y if n else 1.0)
    if not second:
        return first
    pi2 = 2.0 / math.pi
    log = np.log(np.maximum(x, np.finfo(np.float64).tiny) / 2.0) + _EULER
    if n == 0:
        return pi2 * log * first - 2.0 * pi2 * series / norm
    pole = above / norm / np.maximum(x, np.finfo(np.float64).tiny)  # `above` ends as order 0
    return pi2 * ((log - 1.0) * first - series / norm - pole)


def _far(n: int, x: np.ndarray, second: bool) -> np.ndarray:
    """Hankel's series for ``x >= 25``."""
    term, p, q = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    for k in range(1, 24):
        term = term * (4 * n * n - (2 * k - 1) ** 2) / (8.0 * k * x)
        if k % 2:
            q += (1 if k % 4 == 1 else -1) * term
        else:
            p += (1 if k % 4 == 0 else -1) * term
    angle = x - (2 * n + 1) * math.pi / 4.0
    wave = p * np.sin(angle) + q * np.cos(angle) if second else p * np.cos(angle) - q * np.sin(angle)
    return np.sqrt(2.0 / (math.pi * x)) * wave


def _j(n: int) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        y = np.abs(x)
        value = np.where(y <= _HANKEL, _near(n, np.minimum(y, _HANKEL), False), _far(n, np.maximum(y, _HANKEL), False))
        value = np.where(np.isinf(x), 0.0, value)
        return np.where(np.isnan(x), x, np.where(x < 0, -value, value) if n else value)

    return in_float64(kernel)


def _y(n: int) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        low, high = np.clip(x, 0.0, _HANKEL), np.maximum(x, _HANKEL)
        value = np.where(x <= _HANKEL, _near(n, low, True), _far(n, high, True))
        value = np.where(np.isinf(x), 0.0, value)
        return np.where(x > 0, value, np.where(x == 0, -np.inf, np.nan))

    return in_float64(kernel)


i0, i0e, i1, i1e = _i(0, False), _i(0, True), _i(1, False), _i(1, True)
k0, k0e, k1, k1e = _k(0, False), _k(0, True), _k(1, False), _k(1, True)
j0, j1, y0, y1 = _j(0), _j(1), _y(0), _y(1)
