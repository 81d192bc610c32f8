"""Tensors from nothing, diagonals, triangles, windows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from duograph.core import dtype as dt
from tests.unit.lower.kernel_checks import DTYPES, check, sample

OWN = [dt.from_numpy(d) for d in DTYPES]


@pytest.mark.parametrize("dtype", OWN, ids=str)
def test_constants_and_sequences(dtype):
    for shape in [(), (0,), (3,), (70, 300)]:
        for value in (0, 1, 2.5, -1, True):
            if not (value == -1 and dtype.name.startswith("uint")):
                check("full", shape=shape, value=value, dtype=dtype)
    if dtype.is_complex:
        check("full", shape=(2, 17), value=1 - 2j, dtype=dtype)
    for start, step, size in [(0, 1, 0), (3, 2, 5), (0, 1, 100), (100, -1, 40), (1, 3, 1)]:
        check("arange", start=start, step=step, size=size, dtype=dtype)
    if not dtype.is_integer:
        check("arange", start=0.1, step=0.37, size=1000, dtype=dtype)
    for n, m in [(0, 3), (1, 1), (4, 4), (3, 70), (70, 3)]:
        check("eye", n=n, m=m, dtype=dtype)
    if not dtype.is_bool:
        for shape, axis in [((5,), 0), ((2, 3, 4), 1), ((2, 3, 4), 0), ((2, 3, 4), 2), ((100,), None), ((3, 0), 0)]:
            check("iota", shape=shape, axis=axis, dtype=dtype)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int32", "complex64"])
def test_linspace(name):
    dtype = dt.from_numpy(np.dtype(name)) if name != "bfloat16" else dt.bfloat16
    for start, stop, steps in [(0, 1, 5), (0.1, 0.7, 100), (3, 3, 4), (1, -1, 1), (0, 5e-324, 3), (-2, 2, 2)]:
        check("linspace", start=start, stop=stop, steps=steps, dtype=dtype)


@pytest.mark.parametrize("index", ["i1", "i4", "i8", "u1", "u8", bool], ids=str)
def test_one_hot(index):
    x = sample((4, 5), index)
    for dtype in OWN:
        check("one_hot", x, depth=7, dtype=dtype)
    check("one_hot", x, depth=0, dtype=dt.float32)
    check("one_hot", np.array(2, index), depth=3, dtype=dt.float32)
    if index == "u8":
        check("one_hot", np.array([2**64 - 1, 1], index), depth=3, dtype=dt.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_diagonals_and_triangles(dtype):
    x = sample((3, 4, 5), dtype)
    for axis1, axis2 in itertools.permutations(range(3), 2):
        for offset in (0, 1, -2, 4):
            part = check("diagonal", x, offset=offset, axis1=axis1, axis2=axis2)
            how = {"offset": offset, "axis1": axis1, "axis2": axis2}
            check("diagonal_update", x, sample(part.shape, dtype, 1), **how)
    for diagonal in (0, 1, -1, 7, -7):
        for shape in [(3, 4, 5), (5, 4), (40, 70), (0, 3), (3, 0)]:
            check("tril", sample(shape, dtype), diagonal=diagonal)
            check("triu", sample(shape, dtype), diagonal=diagonal)


@pytest.mark.parametrize("dtype", ["f4", "c16", "i2"])
def test_bands(dtype):
    import duograph.ops.banded as banded

    for shape in [(4, 4), (2, 3, 5), (5, 3)]:
        x = sample(shape, dtype)
        for lower, upper in [(0, 0), (-1, 1), (1, 2), (-2, -1), (-2, 2)]:
            for align in banded.ALIGNMENTS:
                how = {"lowest": lower, "highest": upper, "alignment": align}
                rows = check("diagonals_of", x, sample((), dtype, 3), **how)
                check("with_diagonals", x, sample(rows.shape, dtype, 1), **how)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_windows(dtype):
    import duograph.ops.windows  # noqa: F401

    x = sample((3, 9, 4), dtype)
    for axis in range(3):
        for size, step, dilation in [(1, 1, 1), (2, 1, 1), (3, 2, 1), (2, 3, 1), (2, 1, 2)]:
            if x.shape[axis] < (size - 1) * dilation + 1:
                continue
            how = {"axis": axis, "size": size, "step": step, "dilation": dilation}
            out = check("sliding_window", x, **how)
            check("sliding_window_sum", out, extent=x.shape[axis], **how)
