"""Errors of elementary functions in units in the last place: references, where to look, and what is allowed.

Shared by `test_math_ulp` and `scripts/ulp`. References are computed in float64 for float32 and in 80-bit floats for
float64; the special functions that NumPy has none for come from a table, which ``scripts/ulp --golden`` wrote with
mpmath.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from duograph.core.op import get_op
from duograph.runtime.kernels.single import run_single

Long = np.longdouble
GOLDEN = Path(__file__).with_name("special_values.csv")


def _sigmoid(x: Any) -> Any:
    t = np.exp(-np.abs(x))
    return np.where(x < 0, t, 1) / (1 + t)


def _gelu_by_tanh(x: Any) -> Any:
    wide = x.dtype.type
    slope = np.sqrt(8 / np.arccos(wide(-1)))
    return x * _sigmoid(slope * (x * (1 + wide("0.044715") * x * x)))


def _mish(x: Any) -> Any:
    e = np.exp(np.minimum(x, 100))
    return x * ((e * e + 2 * e) / (e * e + 2 * e + 2))


def _tanhshrink(x: Any) -> Any:
    """Near 0 ``(x cosh(x) - sinh(x)) / cosh(x)``, the numerator as a series."""
    z = np.where(np.abs(x) < 3, x, 0) ** 2
    total = term = np.ones_like(z) / 3
    for k in range(2, 30):
        term = term * z * k / ((k - 1) * (2 * k) * (2 * k + 1))
        total = total + term
    return np.where(np.abs(x) < 3, x * z * total / np.cosh(np.sqrt(z)), x - np.tanh(x))


def _sinc(x: Any) -> Any:
    pi = np.arccos(x.dtype.type(-1))
    turns = np.rint(x)
    value = np.where(turns % 2 == 0, 1, -1) * np.sin(pi * (x - turns)) / (pi * x)
    return np.where(np.isinf(x), 0, np.where(x == 0, 1, value))


def _logit(x: Any) -> Any:
    near = np.abs(x - 0.5) < 0.25
    return np.where(near, np.log1p((2 * x - 1) / (1 - x)), np.log(x / (1 - x)))


def _limited(x: Any) -> Any:
    """So far below 0 that ``x`` times the factor is 0; infinity times 0 would be NaN."""
    return np.maximum(x, -1e4)


REFERENCE: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2,
    "log10": np.log10, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": _sigmoid,
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "pow": np.power, "atan2": np.arctan2, "hypot": np.hypot,
    "gelu_by_tanh": lambda x: _gelu_by_tanh(_limited(x)),
    "silu": lambda x: _limited(x) * _sigmoid(x),
    "fast_gelu": lambda x: _limited(x) * _sigmoid(x.dtype.type("1.702") * x),
    "mish": lambda x: _mish(_limited(x)), "tanhshrink": _tanhshrink, "sinc": _sinc, "logit": _logit,
    "xlogy": lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)),
}  # fmt: skip
SPECIAL = ("erf", "erfc", "erfinv", "lgamma", "digamma", "normal_cdf", "gelu")
"""Functions whose references are in `GOLDEN`."""

BOUND = {
    **dict.fromkeys([*REFERENCE, *SPECIAL], (2.0, 2.0)),
    "sqrt": (0.5, 0.5),
    "rsqrt": (1.5, 1.5),
    "exp": (1.0, 1.0),
    "log": (0.85, 0.85),
    "erfinv": (0.51, 2.0),
    "digamma": (0.51, 1.5),
    "lgamma": (0.51, 2.0),
    **dict.fromkeys(("logit", "tanhshrink"), (3.0, 3.0)),
    **dict.fromkeys(("gelu", "normal_cdf", "erfc"), (0.55, 2.0)),
}
"""Allowed errors in float32 and float64. Of ``digamma`` and of ``lgamma`` below 0, which have zeros where they are
ill-conditioned, errors are counted in ulps of numbers that are at least 1."""


def ulps(got: np.ndarray, exact: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Errors in units in the last place of the exact results; infinite where one is NaN and the other is not.

    Args:
        got: float32 or float64.
        exact: floats of more precision.
        floor: a unit is at least that of this number.
    """
    info, wide = np.finfo(got.dtype), exact.dtype.type
    with np.errstate(all="ignore"):
        rounded = exact.astype(got.dtype)
        size = np.abs(exact)
        _, exponent = np.frexp(np.maximum(size, wide(floor)))
        unit = np.ldexp(wide(1), np.maximum(exponent - 1, info.minexp) - info.nmant)
        error = np.abs(got.astype(wide) - exact) / unit
        # at the border of overflow either side is within one unit
        close = (np.isinf(got) != np.isinf(rounded)) & (np.abs(size / wide(info.max) - 1) < 4 * info.eps)
    error = np.where(close, 1, error)
    known = (got == rounded) & ~(np.isfinite(rounded) & (rounded != 0)) | np.isnan(got) & np.isnan(rounded)
    error = np.where(known, 0, error)
    return np.where(np.isnan(got) != np.isnan(rounded), np.inf, error).astype(np.float64)


def native(name: str, *arrays: np.ndarray) -> np.ndarray:
    """The op, natively."""
    result = run_single(get_op(name), list(arrays), {})
    assert isinstance(result, np.ndarray), f"{name} was not computed natively"
    return result


def worst(name: str, arrays: tuple[np.ndarray, ...], exact: np.ndarray | None = None) -> tuple[float, tuple[Any, ...]]:
    """The largest error of ``name`` over operands, and where it is."""
    if exact is None:
        wide = np.float64 if arrays[0].dtype == np.float32 else Long
        with np.errstate(all="ignore"):
            exact = np.asarray(REFERENCE[name](*[a.astype(wide) for a in arrays])).astype(wide)
    got = native(name, *arrays)
    floor = 1.0 if name == "digamma" or (name == "lgamma" and (arrays[0] < 0).any()) else 0.0
    errors = ulps(got, exact, floor)
    at = int(np.argmax(errors))
    return float(errors[at]), tuple([a[at].item() for a in arrays])


# ---- where to look --------------------------------------------------------------------------------------------------

EDGES = (
    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, -2.0, 3.0, 10.0, 100.0, -100.0, np.inf, -np.inf, np.nan,
    5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1e-45, -1e-45, 1e-40, 1.1754944e-38, 3.4028235e38, 1e300, -1e300,
    88.7, 88.72284, -87.4, -103.9, -103.98, 709.78, 710.0, -745.1, -745.2, 16777216.0, 1e22,
    0.7071067811865476, -0.7071067811865476, -0.7071067811865475, -0.7071067811865477,  # borders of normal_cdf
    6381956970095103.0 * 2.0**797,  # the float64 that is nearest to a multiple of pi / 2
)  # fmt: skip


def edges(real: type) -> np.ndarray:
    """Special values and their neighbours."""
    with np.errstate(all="ignore"):
        x = np.array(EDGES).astype(real)
        return np.concatenate([x, np.nextafter(x, real(np.inf)), np.nextafter(x, real(-np.inf))])


def points(real: type, count: int, seed: int = 0) -> np.ndarray:
    """Numbers of all magnitudes, and more where functions are not trivial."""
    rng = np.random.default_rng(seed)
    anywhere = rng.integers(0, 256, count * np.dtype(real).itemsize, dtype=np.uint8).view(real)
    near_one = 1 + rng.uniform(-1, 1, count) * np.exp(rng.uniform(-30, 0, count))
    parts = [rng.uniform(-1, 1, count), rng.uniform(-10, 10, count), rng.uniform(-104, 89, count), near_one]
    parts += [rng.uniform(-745, 710, count), np.exp(rng.uniform(-40, 40, count)) * rng.choice([-1, 1], count)]
    return np.concatenate([anywhere, *[p.astype(real) for p in parts], edges(real)])


def pairs(name: str, real: type, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Operands of functions of two."""
    rng = np.random.default_rng(seed)
    special = np.array(
        [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e38, 5e-324, 1.5]
    )
    a, b = (v.reshape(-1) for v in np.meshgrid(special, special))
    reach = 85 if real is np.float32 else 700
    x = np.exp(rng.uniform(-reach, reach, count))
    if name == "pow":
        y = rng.uniform(-1, 1, count) * 1.1 * reach / np.maximum(np.abs(np.log(x)), 0.2)
        near = 1 + rng.uniform(-0.5, 0.5, count) * np.exp(-rng.uniform(0, 20, count))
        far = rng.uniform(-1, 1, count) * np.exp(rng.uniform(0, 20, count))
        x, y = (
            np.concatenate([x, near, rng.standard_normal(count)]),
            np.concatenate([y, far, rng.integers(-20, 20, count)]),
        )
    else:
        y = x * np.exp(rng.uniform(-4, 4, count)) * rng.choice([-1, 1], count)
        x = x * (rng.choice([-1, 1], count) if name != "xlogy" else 1)
        y = np.abs(y) if name == "xlogy" else y
    with np.errstate(all="ignore"):
        return np.concatenate([x, a]).astype(real), np.concatenate([y, b]).astype(real)


def golden() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Arguments and exact results of the special functions."""
    rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in SPECIAL}
    with GOLDEN.open(newline="") as file:
        for name, *numbers in csv.reader(file):
            x, high, low = map(float.fromhex, numbers)
            rows[name].append((x, high, low))
    table = {}
    for name, found in rows.items():
        x, high, low = np.array(found).T
        table[name] = (x, np.where(np.isfinite(high), high.astype(Long) + low.astype(Long), high.astype(Long)))
    return table


def every_float32(step: int = 37, block: int = 1 << 20) -> Iterator[np.ndarray]:
    """Every ``step``-th float32, in blocks."""
    for start in range(0, 1 << 32, step * block):
        stop = min(start + step * block, 1 << 32)
        yield np.arange(start, stop, step, dtype=np.uint64).astype(np.uint32).view(np.float32)
