"""What `scripts/ulp --special` runs: errors of special functions against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

import duograph  # noqa: F401  (declares the ops)
from duograph import Tensor
from duograph.core.op import get_op
from duograph.lower.rule import load_rules

COUNT, MANY = 250, 2500
_rng = np.random.default_rng(2)


@dataclass(frozen=True)
class Case:
    """A function: its exact value, where to look, and of what size a number at least is whose units count."""

    exact: Callable[..., Any]
    operands: tuple[np.ndarray, ...]
    attrs: dict[str, Any]
    at_least: Callable[[float], float] = lambda x: 0.0


def _even(low: float, high: float, count: int = COUNT) -> np.ndarray:
    return _rng.uniform(low, high, count)


def _magnitudes(low: float, high: float, count: int = COUNT) -> np.ndarray:
    return np.exp(_rng.uniform(np.log(low), np.log(high), count))


def _of_wave(x: float) -> float:
    """The scale of Bessel functions."""
    return math.sqrt(2 / (math.pi * max(x, 1.0)))


def _one(x: float) -> float:
    """Next to zeros a function is ill-conditioned."""
    return 1.0


def normal_cdf(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_gamma(x: Any) -> Any:
    return mp.loggamma(x) if x > 0 else mp.log(mp.pi / abs(x * mp.sin(mp.pi * x))) - mp.loggamma(-x)


def _elementary_cases() -> dict[str, Case]:
    """Functions for which there is no reference but mpmath."""
    inside = np.concatenate([_even(-1, 1, MANY), 1 - _magnitudes(1e-16, 1, MANY), _magnitudes(1e-12, 1, MANY)])
    normal = np.concatenate([_even(-38.5, 8.5, MANY), _even(-1.5, 1.5, MANY), _even(-14.6, -12, MANY)])
    near_poles = -np.floor(_even(0, 30, MANY)) - _magnitudes(1e-15, 1, MANY)
    left = np.concatenate([_even(-30, 0, MANY), near_poles])
    right = np.concatenate([_even(0, 12, MANY), _magnitudes(1e-15, 1e15, MANY)])
    return {
        "erf": Case(mp.erf, (np.concatenate([_even(-6, 6, MANY), _even(-1.1, 1.1, MANY)]),), {}),
        "erfc": Case(mp.erfc, (np.concatenate([_even(-6, 26.5, MANY), _even(0.4, 1.2, MANY)]),), {}),
        "erfinv": Case(mp.erfinv, (inside[np.abs(inside) < 1],), {}),
        "normal_cdf": Case(normal_cdf, (normal,), {}),
        "gelu": Case(lambda x: x * normal_cdf(x), (normal,), {}),
        "lgamma, x > 0": Case(log_gamma, (right,), {}),
        "lgamma, x < 0": Case(log_gamma, (left,), {}, _one),
        "digamma": Case(mp.digamma, (np.concatenate([left, right]),), {}, _one),
    }


def _cases() -> dict[str, Case]:
    x = np.concatenate([_even(0, 8), _magnitudes(1e-6, 200)])
    a = _magnitudes(0.1, 50)
    near_a = a * np.exp(_rng.uniform(-2, 1.5, COUNT))
    found = _elementary_cases()
    for n in (0, 1):
        found[f"bessel_j{n}"] = Case(lambda x, n=n: mp.besselj(n, x), (x,), {}, _of_wave)
        found[f"bessel_y{n}"] = Case(lambda x, n=n: mp.bessely(n, x), (x,), {}, _of_wave)
        found[f"bessel_i{n}"] = Case(lambda x, n=n: mp.besseli(n, x), (np.minimum(x, 80),), {})
        found[f"bessel_i{n}e"] = Case(lambda x, n=n: mp.besseli(n, x) * mp.exp(-x), (x,), {})
        found[f"bessel_k{n}"] = Case(lambda x, n=n: mp.besselk(n, x), (np.minimum(x, 80),), {})
        found[f"bessel_k{n}e"] = Case(lambda x, n=n: mp.besselk(n, x) * mp.exp(x), (x,), {})
    found["igamma"] = Case(lambda a, x: mp.gammainc(a, 0, x, regularized=True), (a, near_a), {})
    found["igammac"] = Case(lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), (a, near_a), {})
    found["betainc"] = Case(
        lambda a, c, x: mp.betainc(a, c, 0, x, regularized=True),
        (_magnitudes(0.2, 20), _magnitudes(0.2, 20), _even(0.02, 0.98)),
        {},
    )
    found["zeta"] = Case(mp.zeta, (1 + _magnitudes(0.05, 20), _magnitudes(0.05, 50)), {})
    for n in (1, 2, 3):
        found[f"polygamma, n={n}"] = Case(lambda x, n=n: mp.polygamma(n, x), (_magnitudes(0.05, 60),), {"n": n})
    return found


def _worst(name: str, case: Case, real: type) -> tuple[float, tuple[float, ...]]:
    operands = [x.astype(real) for x in case.operands]
    got = get_op(name.split(",", maxsplit=1)[0])(*[Tensor(x) for x in operands], **case.attrs).asnumpy()
    info, worst = np.finfo(real), (0.0, ())
    for value, *numbers in zip(got, *operands, strict=True):
        if numbers[0] <= 0 and numbers[0] == np.floor(numbers[0]):
            continue  # poles
        exact = case.exact(*[mp.mpf(float(x)) for x in numbers])
        size = abs(exact)
        if not float(info.tiny) <= size <= float(info.max):
            continue
        size = max(size, case.at_least(float(numbers[0])))
        unit = mp.mpf(2) ** (int(mp.floor(mp.log(size, 2))) - info.nmant)
        worst = max(worst, (float(abs(mp.mpf(float(value)) - exact) / unit), tuple(map(float, numbers))))
    return worst


def table() -> list[str]:
    """Lines of the table."""
    load_rules()
    mp.mp.prec = 160
    lines = ["| function | float32: max ulp | float64: max ulp | at |", "| --- | --- | --- | --- |"]
    print(*lines, sep="\n")
    for name, case in _cases().items():
        (single, _), (double, at) = _worst(name, case, np.float32), _worst(name, case, np.float64)
        lines.append(f"| `{name}` | {single:.2f} | {double:.2f} | {', '.join(f'{v:.5g}' for v in at)} |")
        print(lines[-1], flush=True)
    return lines
