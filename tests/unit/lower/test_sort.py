"""Sorting: stable, NaN the largest, zeros of both signs equal, along any axis; the largest elements; bisection."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.core import dtype as dt
from tests.unit.lower.kernel_checks import DTYPES, check, sample

ORDERED = [d for d in DTYPES if d.kind != "c"]
SHAPES = [(), (1,), (0,), (31,), (32,), (33,), (200,), (3, 0, 2), (2, 5, 3), (3, 70, 4)]
SPECIAL = np.array([0.0, -0.0, np.nan, 1.5, -np.inf, np.inf, -0.0, np.nan, 0.0, -2.5, 1e-7])


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_sort(dtype, descending):
    for shape in SHAPES:
        for axis in range(max(len(shape), 1)):
            check("sort", sample(shape, dtype), axis=axis, descending=descending)
    check("sort", sample((500,), dtype), axis=0, descending=descending, index_dtype=dt.int64)
    if dtype.kind in "fV":
        for repeats in (1, 9):
            x = np.random.default_rng(0).permutation(np.tile(SPECIAL, repeats)).astype(dtype)
            check("sort", x, axis=0, descending=descending)


@pytest.mark.parametrize("dtype", [d for d in ORDERED if d.kind in "iu"], ids=str)
def test_numbers_from_end_to_end(dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(1)
    x = rng.integers(info.min, info.max, (3, 1000), dtype=dtype, endpoint=True)
    for descending in (False, True):
        check("sort", x, axis=1, descending=descending)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_floats_of_all_sizes(dtype):
    raw = np.random.default_rng(2).integers(0, 256, 3000 * np.dtype(dtype).itemsize, dtype=np.uint8)
    x = raw.view(dtype)
    for descending in (False, True):
        check("sort", x, axis=0, descending=descending)
        check("topk", x, k=20, axis=0, largest=descending)


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("largest", [True, False])
def test_largest(dtype, largest):
    for shape in SHAPES:
        for axis in range(max(len(shape), 1)):
            n = shape[axis] if shape else 1
            for k in {0, 1, 2, 5, 64, 65, n // 2, n}:
                if k <= n:
                    check("topk", sample(shape, dtype), k=k, axis=axis, largest=largest)
    if dtype.kind in "fV":
        for k in (1, 3, 11):
            check("topk", SPECIAL.astype(dtype), k=k, axis=0, largest=largest)
            check("topk", np.tile(SPECIAL, 9).astype(dtype), k=k, axis=0, largest=largest)


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("right", [False, True])
def test_bisection(dtype, right):
    row = np.sort(sample((40,), dtype))
    check("searchsorted", row, sample((3, 7), dtype, 1), right=right)
    check("searchsorted", row[:0], sample((3, 7), dtype, 1), right=right)
    rows = np.sort(sample((2, 3, 9), dtype), axis=-1)
    check("searchsorted", rows, sample((2, 3, 4), dtype, 1), right=right, dtype=dt.int32)
    if dtype.kind in "fV":
        check("searchsorted", np.sort(SPECIAL).astype(dtype), SPECIAL.astype(dtype), right=right)
