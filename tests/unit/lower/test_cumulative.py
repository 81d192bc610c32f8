"""Running reductions: the order of additions, the signs of zeros, NaN, both directions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.lower.kernel_checks import DTYPES, check, sample

SHAPES = [(), (1,), (0,), (17,), (3, 0, 2), (2, 5, 3), (3, 4, 70), (300, 5)]
SPECIAL = np.array([0.0, -0.0, 1.5, np.nan, -np.inf, np.inf, -0.0, 0.0, 2.5])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind != "b"], ids=str)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums_and_products(name, dtype):
    for shape in SHAPES:
        for axis in range(max(len(shape), 1)):
            for exclusive in (False, True):
                for reverse in (False, True):
                    close = dtype.kind == "c" and name == "cumprod"
                    check(name, sample(shape, dtype), axis=axis, exclusive=exclusive, reverse=reverse, close=close)
    if dtype.kind in "fV":
        for exclusive in (False, True):
            check(name, SPECIAL.astype(dtype), axis=0, exclusive=exclusive, reverse=False)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_linear_recurrence(dtype):
    for shape in SHAPES[1:]:
        for axis in range(len(shape)):
            for reverse in (False, True):
                a, b = sample(shape, dtype), sample(shape, dtype, 1)
                check("linear_scan", a, b, axis=axis, reverse=reverse, close=dtype.kind == "c")


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind != "c"], ids=str)
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes(name, dtype):
    for shape in SHAPES:
        for axis in range(max(len(shape), 1)):
            check(name, sample(shape, dtype), axis=axis)
    if dtype.kind in "fV":
        check(name, SPECIAL.astype(dtype), axis=0)
        check(name, np.tile(SPECIAL, 20).astype(dtype), axis=0)
        check(name, np.repeat(SPECIAL[:, None], 20, axis=1).astype(dtype), axis=0)
