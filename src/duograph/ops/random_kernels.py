"""Rejection samplers on Philox: every element has its own counter, every attempt its own lane, so that the result of an
element does not depend on how often others were rejected.

References:
    G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).
    W. Hoermann, "The transformed rejection method for generating Poisson random variables", Insurance: Mathematics and
    Economics 12 (1993).
"""

from __future__ import annotations

import math

import numpy as np

from .philox import blocks
from .special_kernels import lgamma

_UNIT = 2.0**-32


def _units(seed: int, offset: int, elements: np.ndarray, attempt: int) -> tuple[np.ndarray, ...]:
    """Four numbers in (0, 1) per element."""
    return tuple((w.astype(np.float64) + 0.5) * _UNIT for w in blocks(seed, offset, elements, attempt + 1))


def gamma_samples(seed: int, offset: int, alpha: np.ndarray) -> np.ndarray:
    """Marsaglia and Tsang; for ``alpha < 1`` a sample of ``alpha + 1`` times ``u**(1/alpha)``."""
    a = alpha.reshape(-1)
    out = np.full(a.shape, np.nan)
    d = np.where(a < 1.0, a + 1.0, a) - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * np.where(d > 0, d, 1.0))
    pending = np.flatnonzero(a > 0)
    attempt = 0
    while len(pending):
        u1, u2, u3, _ = _units(seed, offset, pending.astype(np.uint64), attempt)
        x = np.sqrt(-2.0 * np.log(u1)) * np.cos(2.0 * math.pi * u2)
        v = (1.0 + c[pending] * x) ** 3
        dp = d[pending]
        accepted = (v > 0) & (np.log(u3) < 0.5 * x * x + dp - dp * v + dp * np.log(np.where(v > 0, v, 1.0)))
        out[pending[accepted]] = (dp * v)[accepted]
        pending = pending[~accepted]
        attempt += 1
    small = np.flatnonzero((a > 0) & (a < 1.0))
    if len(small):
        boost = _units(seed, offset, small.astype(np.uint64), 0)[3]
        out[small] *= boost ** (1.0 / a[small])
    out[a == 0] = 0.0
    return out.reshape(alpha.shape)


def poisson_samples(seed: int, offset: int, rate: np.ndarray) -> np.ndarray:
    """Sequential inversion below 10, Hoermann's PTRS from there."""
    flat = rate.reshape(-1)
    out = np.full(flat.shape, np.nan)
    low = np.flatnonzero((flat >= 0) & (flat < 10.0))
    if len(low):
        u = _units(seed, offset, low.astype(np.uint64), 0)[0]
        term = np.exp(-flat[low])
        total, k = term.copy(), np.zeros(len(low))
        for step in range(1, 200):
            above = u > total
            if not above.any():
                break
            k = np.where(above, step, k)
            term = term * flat[low] / step
            total = total + term
        out[low] = k
    pending = np.flatnonzero(flat >= 10.0)
    attempt = 0
    while len(pending):
        lam = flat[pending]
        b = 0.931 + 2.53 * np.sqrt(lam)
        a = -0.059 + 0.02483 * b
        inv_alpha = 1.1239 + 1.1328 / (b - 3.4)
        v_r = 0.9277 - 3.6224 / (b - 2.0)
        u, v, _, _ = _units(seed, offset, pending.astype(np.uint64), attempt)
        u = u - 0.5
        us = 0.5 - np.abs(u)
        k = np.floor((2.0 * a / us + b) * u + lam + 0.43)
        quick = (us >= 0.07) & (v <= v_r)
        impossible = (k < 0) | ((us < 0.013) & (v > us))
        bound = k * np.log(lam) - lam - lgamma(np.where(impossible, 1.0, k + 1.0))
        slow = ~impossible & (np.log(v) + np.log(inv_alpha) - np.log(a / (us * us) + b) <= bound)
        accepted = quick | slow
        out[pending[accepted]] = k[accepted]
        pending = pending[~accepted]
        attempt += 1
    return out.reshape(rate.shape)
