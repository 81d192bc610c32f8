"""Movement: every element arrives, whatever its type, along any axes, and through every inner loop of the copies."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.unit.lower.kernel_checks import DTYPES, check, sample

SHAPES = [(), (1,), (7,), (0,), (2, 3), (3, 0, 2), (4, 1, 5), (2, 3, 4, 5)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_transpose_moves_elements_of_every_type(dtype):
    for shape in SHAPES:
        for perm in itertools.permutations(range(len(shape))):
            check("transpose", sample(shape, dtype), perm=perm)


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("rows, columns", [(64, 64), (65, 63), (5, 300), (300, 5), (17, 1000), (1, 70)])
def test_transpose_by_tiles_and_their_rests(dtype, rows, columns):
    check("transpose", sample((rows, columns), dtype), perm=(1, 0))
    check("transpose", sample((3, rows, columns), dtype), perm=(0, 2, 1))
    check("transpose", sample((3, rows, columns), dtype), perm=(2, 0, 1))
    check("transpose", sample((rows, 3, columns), dtype), perm=(2, 1, 0))


@pytest.mark.parametrize("n", [1, 3, 4, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1023, 1025, 20_000, 70_000])
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8"])
def test_runs_of_every_length(n, dtype):
    x = sample((3, n), dtype)
    check("reshape", x, shape=(n, 3))
    check("flip", x, axes=(1,))
    check("flip", x, axes=(0,))
    check("broadcast_to", x[:, :1], shape=(3, n))
    check("broadcast_to", x[:1], shape=(2, 3, n))
    check("roll", x, shifts=(1,), axes=(1,))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_other_movements(dtype):
    x = sample((2, 3, 5), dtype)
    for axes in [(), (0,), (1,), (2,), (0, 2), (0, 1, 2)]:
        check("flip", x, axes=axes)
    for shifts, axes in [((1,), (0,)), ((-7,), (2,)), ((1, 2), (0, 2)), ((1, 1, -1), (1, 1, 2)), ((3,), (1,))]:
        check("roll", x, shifts=shifts, axes=axes)
    check("tile", x, multiples=(2, 1, 3))
    check("tile", x, multiples=(0, 1, 3))
    check("tile", sample((), dtype), multiples=())
    for axis in range(3):
        check("repeat_interleave", x, repeats=3, axis=axis)
        check("repeat_interleave", x, repeats=0, axis=axis)
    check("repeat_interleave", x, repeats=(2, 2, 0, 1, 5), axis=2)
    check("repeat_interleave", x, repeats=(2, 0, 1), axis=1)
    check("broadcast_to", sample((2, 1, 5), dtype), shape=(4, 2, 3, 5))
    check("broadcast_to", sample((), dtype), shape=(2, 2))
    check("identity", x)
    check("stop_gradient", sample((), dtype))


def test_bytes_read_as_another_type():
    import duograph.ops.bits  # noqa: F401
    from duograph.core import dtype as dt

    x = sample((3, 4), "f8")
    for goal in (dt.int64, dt.float32, dt.uint8, dt.complex128):
        check("bitcast", x, dtype=goal)
    check("bitcast", sample((3, 4), "c8"), dtype=dt.float32)
    check("bitcast", sample((2, 8), "u1"), dtype=dt.float64)


def test_empty_and_degenerate_arrays():
    check("reshape", np.zeros((0, 3), np.float32), shape=(3, 0))
    check("tile", np.zeros((0, 3), np.float32), multiples=(2, 2))
    check("roll", np.zeros((0, 3), np.float32), shifts=(1,), axes=(0,))
    check("flip", np.zeros((0,), np.float32), axes=(0,))
    check("broadcast_to", np.zeros((0, 1), np.float32), shape=(0, 4))
