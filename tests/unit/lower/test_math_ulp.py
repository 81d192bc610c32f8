"""Elementary functions: errors in units in the last place, and every special value.

`scripts/ulp` measures the same over many more numbers; its table is in `docs/maths.md`.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.unit.lower import ulps

REALS = [np.float32, np.float64]
INF, NAN = math.inf, math.nan
BINARY = ("pow", "atan2", "hypot", "xlogy")


@pytest.mark.parametrize("real", REALS, ids=lambda t: t.__name__)
@pytest.mark.parametrize("name", [n for n in ulps.REFERENCE if n not in BINARY])
def test_functions_of_one_number(name, real):
    error, at = ulps.worst(name, (ulps.points(real, 1000),))
    assert error <= ulps.BOUND[name][real is np.float64], at


@pytest.mark.parametrize("real", REALS, ids=lambda t: t.__name__)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name, real):
    error, at = ulps.worst(name, ulps.pairs(name, real, 2000))
    assert error <= ulps.BOUND[name][real is np.float64], at


@pytest.mark.parametrize("name", ulps.SPECIAL)
def test_special_functions(name):
    x, exact = ulps.golden()[name]
    for part in (x >= 0, x < 0):
        error, at = ulps.worst(name, (x[part],), exact[part])
        assert error <= ulps.BOUND[name][1], at
    # rounded arguments have other results: compare with those in float64, which were just found right
    single = x.astype(np.float32)
    wide = ulps.native(name, single.astype(np.float64))
    allowed = max(1.2, ulps.BOUND[name][0])  # float32's own erf
    assert (ulps.ulps(ulps.native(name, single), wide.astype(ulps.Long)) <= allowed).all()


def test_borders_of_normal_cdf():
    """Neither lane forgets the border itself, and float64 agrees with float32 everywhere."""
    for border in (0.7071067811865476, 14.6, 39.0):
        for x in (border, -border):
            near = np.array([np.nextafter(x, -INF), x, np.nextafter(x, INF)])
            for name in ("normal_cdf", "gelu"):
                assert np.ptp(ulps.native(name, near)) <= 8 * np.spacing(border), (name, x)
    x = np.linspace(-14.5, 9, 20011).astype(np.float32)
    for name in ("normal_cdf", "gelu"):
        wide = ulps.native(name, x.astype(np.float64)).astype(ulps.Long)
        assert ulps.ulps(ulps.native(name, x), wide).max() <= 0.55


def test_lgamma_left_of_zero():
    """``-log(-x)``, also where ``x * sin(pi x)`` is not a float any more."""
    x = -np.exp(np.random.default_rng(0).uniform(-740, -40, 1000))
    assert ulps.ulps(ulps.native("lgamma", x), -np.log(-x.astype(ulps.Long))).max() <= 1


def test_huge_angles():
    """Reduction of arguments for which the number of turns has more bits than a float."""
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(14, 43, 2000)) * rng.choice([-1, 1], 2000)  # 80-bit references end at 2**63
    for name in ("sin", "cos", "tan"):
        for real in REALS:
            error, at = ulps.worst(name, (x.astype(real),))
            assert error <= 2, at
    # the float64 that comes closest to a multiple of pi / 2, and a well-known large one
    found = ulps.native("cos", np.array([6381956970095103.0 * 2.0**797])), ulps.native("sin", np.array([1e22]))
    assert [v.item() for v in found] == [-4.687165924254628e-19, -0.8522008497671888]


SPECIAL_VALUES: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (NAN, NAN), (1000, INF), (-1000, 0.0)],
    "exp2": [(3, 8), (-2, 0.25), (INF, INF), (-INF, 0.0), (NAN, NAN), (5000, INF)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1), (NAN, NAN), (-200, -1)],
    "log": [(1, 0.0), (0.0, -INF), (-0.0, -INF), (-1, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1, -INF), (-2, NAN), (INF, INF), (NAN, NAN)],
    "log2": [(8, 3), (0.25, -2), (0.0, -INF), (-1, NAN), (INF, INF), (NAN, NAN)],
    "log10": [(1000, 3), (1, 0.0), (0.0, -INF), (-1, NAN), (INF, INF), (NAN, NAN)],
    "sqrt": [(4, 2), (-0.0, -0.0), (-1, NAN), (INF, INF), (NAN, NAN)],
    "rsqrt": [(4, 0.5), (0.0, INF), (-0.0, -INF), (INF, 0.0), (-1, NAN)],
    "sigmoid": [(0, 0.5), (INF, 1), (-INF, 0.0), (NAN, NAN), (1000, 1), (-1000, 0.0)],
    "softplus": [(INF, INF), (-INF, 0.0), (NAN, NAN), (1000, 1000), (-1000, 0.0)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (NAN, NAN), (100, 1)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (-1000, -INF)],
    "cosh": [(0.0, 1), (-INF, INF), (INF, INF), (NAN, NAN)],
    "asinh": [(-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "acosh": [(1, 0.0), (0.5, NAN), (-3, NAN), (INF, INF), (NAN, NAN)],
    "atanh": [(-0.0, -0.0), (1, INF), (-1, -INF), (2, NAN), (INF, NAN), (NAN, NAN)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (NAN, NAN)],
    "cos": [(0.0, 1), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "tan": [(-0.0, -0.0), (INF, NAN), (NAN, NAN)],
    "asin": [(-0.0, -0.0), (2, NAN), (-2, NAN), (NAN, NAN), (INF, NAN)],
    "acos": [(1, 0.0), (2, NAN), (NAN, NAN)],
    "atan": [(-0.0, -0.0), (NAN, NAN)],
    "erf": [(-0.0, -0.0), (INF, 1), (-INF, -1), (NAN, NAN), (10, 1)],
    "erfc": [(0.0, 1), (INF, 0.0), (-INF, 2), (NAN, NAN), (40, 0.0)],
    "erfinv": [(-0.0, -0.0), (1, INF), (-1, -INF), (1.5, NAN), (NAN, NAN)],
    "normal_cdf": [(0.0, 0.5), (-0.0, 0.5), (INF, 1), (-INF, 0.0), (NAN, NAN)],
    **dict.fromkeys(
        ("gelu", "gelu_by_tanh", "silu", "fast_gelu", "mish"),
        [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (1e30, 1e30), (-1e30, -0.0), (-INF, -0.0), (NAN, NAN)],
    ),
    "tanhshrink": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "sinc": [(0.0, 1), (-0.0, 1), (1, 0.0), (-7, 0.0), (1e30, 0.0), (INF, 0.0), (-INF, 0.0), (NAN, NAN)],
    "logit": [(0.5, 0.0), (0.0, -INF), (-0.0, -INF), (1, INF), (-0.1, NAN), (1.1, NAN), (INF, NAN), (NAN, NAN)],
    "lgamma": [(1, 0.0), (2, 0.0), (0.0, INF), (-0.0, INF), (-3, INF), (INF, INF), (-INF, INF), (NAN, NAN)],
    "digamma": [(0.0, -INF), (-0.0, INF), (1e-310, -INF), (-1e-310, INF), (-1, NAN), (INF, INF), (NAN, NAN)],
}


@pytest.mark.parametrize("name", SPECIAL_VALUES)
def test_special_values(name):
    for real in REALS:
        x, want = np.array(SPECIAL_VALUES[name]).T.astype(real)
        got = ulps.native(name, x.copy())
        assert list(map(str, got)) == list(map(str, want)), (x, got)


POWERS = [
    (2, 10, 1024), (0.0, 0.0, 1), (NAN, 0.0, 1), (1, NAN, 1), (1, INF, 1), (-1, INF, 1), (-1, -INF, 1), (0.5, INF, 0.0),
    (2, INF, INF), (0.5, -INF, INF), (2, -INF, 0.0), (0.0, -1, INF), (-0.0, -1, -INF), (-0.0, -2, INF), (-0.0, 3, -0.0),
    (-0.0, 2, 0.0), (INF, 2, INF), (INF, -2, 0.0), (-INF, 3, -INF), (-INF, -3, -0.0), (-8, 1 / 3, NAN), (-2, 3, -8),
    (NAN, 2, NAN), (2, NAN, NAN), (-INF, 0.5, INF), (0.0, INF, 0.0), (0.0, -INF, INF),
]  # fmt: skip


def test_special_powers():
    for real in REALS:
        x, y, want = np.array(POWERS).T.astype(real)
        got = ulps.native("pow", x.copy(), y.copy())
        assert list(map(str, got)) == list(map(str, want))


def test_special_angles_and_lengths():
    zeros = [(0.0, 0.0), (0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)]
    far = [(INF, INF), (INF, -INF), (-INF, 1), (1, -INF), (NAN, 1)]
    for real in REALS:
        y, x = np.array(zeros + far).T.astype(real)
        want = np.arctan2(y.astype(np.float64), x.astype(np.float64)).astype(real)
        assert list(map(str, ulps.native("atan2", y.copy(), x.copy()))) == list(map(str, want))
        lengths = ulps.native("hypot", np.array([INF, NAN, 3, NAN], real), np.array([NAN, -INF, 4, 1], real))
        assert list(map(str, lengths)) == [str(real(v)) for v in (INF, INF, 5, NAN)]
    assert ulps.native("hypot", np.array([1e300, 3e-320]), np.array([1e300, 4e-320])).tolist() == [
        math.hypot(1e300, 1e300),
        math.hypot(3e-320, 4e-320),
    ]


# arguments, exact result (mpmath), units in the last place: where factors are exponentials of terms that cancel, and
# far out on waves
CANCELLING = [
    ("igamma", (45.75, 32.375), 0.015348770351583144, 8),
    ("igammac", (45.75, 60.5), 0.021149304173379502, 8),
    ("betainc", (18.8, 18.4, 0.405), 0.10968252830648663, 16),
    ("bessel_j1", (189.025,), -0.014581166069922743, 8),
    ("bessel_y0", (1000.5,), 0.016017974964604328, 8),
    ("bessel_j1", (1e308,), 7.5866879552418009e-155, 8),
    ("igamma", (1e6, 1e6), 0.50013298076087259, 64),
    ("igamma", (2.6e305, 1.0), 0.0, 0),
    ("igammac", (2.6e305, 1.0), 1.0, 0),
    ("betainc", (1e-310, 2e-310, 0.5), 0.66666666666666667, 1e4),
]


@pytest.mark.parametrize(("name", "operands", "exact", "bound"), CANCELLING, ids=[row[0] for row in CANCELLING])
def test_large_terms_that_cancel(name, operands, exact, bound):
    (got,) = ulps.native(name, *[np.array([v]) for v in operands])
    assert abs(got - exact) <= bound * np.spacing(abs(exact))
