"""Slices, their updates, joins and padding."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.core.op import get_op
from duograph.runtime.kernels.single import run_single
from tests.unit.lower.kernel_checks import DTYPES, check, sample

SLICES = [
    (),
    ((1, None, None),),
    ((None, None, -1),),
    ((-1, 0, -2), (None, None, 2)),
    ((None, None, None), (2, -1, 1), (None, None, -1)),
    ((0, 2, 1), (1, 1, 1)),
    ((None, None, None), (None, None, None), (100, None, -3)),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_slices_and_updates(dtype):
    x = sample((3, 4, 17), dtype)
    for slices in SLICES:
        part = check("strided_slice", x, slices=slices)
        check("slice_update", x, sample(part.shape, dtype, seed=1), slices=slices)
    check("strided_slice", sample((), dtype), slices=())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_concat(dtype):
    for axis in range(3):
        shapes = [[2, 3, 4] for _ in range(3)]
        shapes[1][axis], shapes[2][axis] = 1, 0
        check("concat", *[sample(s, dtype, k) for k, s in enumerate(shapes)], axis=axis)
    check("concat", sample((5,), dtype), axis=0)


@pytest.mark.parametrize("dtype", ["f4", "u1", "c16"])
def test_blocks_at_run_time_places(dtype):
    x = sample((4, 5, 6), dtype)
    for starts in [(0, 0), (1, 3), (-4, -2), (2, -3)]:
        block = check("dynamic_slice", x, *starts, axes=(0, 2), sizes=(2, 2))
        check("dynamic_update", x, block + block, *starts, axes=(0, 2))
    check("dynamic_update", x, sample((1, 1, 2), dtype), 1, 2, axes=(0, 2))
    for starts in [(3, 0), (0, 5), (-5, 0), (10**15, 0), (0, -(10**15))]:
        for name, *operands in [("dynamic_slice", x), ("dynamic_update", x, x[:2, :, :2])]:
            attrs = {"axes": (0, 2), **({"sizes": (2, 2)} if name == "dynamic_slice" else {})}
            assert run_single(get_op(name), [*operands, *starts], attrs) is None  # the reference raises
            with pytest.raises(IndexError):
                get_op(name).reference(*operands, *starts, **attrs)


def test_updates_of_ranges_known_at_run_time():
    import duograph.ops.ranges  # noqa: F401

    bounds = [(0, 5), (1, 4), (-3, 100), (4, 1), (-100, -1), (3, -100)]
    for dtype in ("f4", "i2", "c16"):
        x = sample((3, 5, 4), dtype)
        for axis, extent in enumerate(x.shape):
            for start, stop in bounds:
                for step in (1, 2, -1, -3):
                    n = len(range(extent)[slice(start, stop, step)])
                    shape = [3, 5, 4]
                    shape[axis] = n
                    check("range_update", x, sample(shape, dtype, 1), start, stop, axis=axis, step=step)
                    shape[axis] = 1
                    check("range_update", x, sample(shape, dtype, 2), start, stop, axis=axis, step=step)
        check("range_update", x, sample((), dtype), 0, 2, axis=1, step=1)
        check("range_update", x, sample((5, 1), dtype), 0, 2, axis=0, step=1)
    op = get_op("range_update")
    assert run_single(op, [sample((5,), "f4"), sample((3,), "f4"), 0, 5], {"axis": 0, "step": 1}) is None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_padding(dtype):
    x = sample((2, 3, 5), dtype)
    for padding in [((0, 0),) * 3, ((1, 2), (0, 0), (0, 0)), ((0, 0), (2, 1), (0, 0)), ((1, 0), (0, 2), (3, 4))]:
        check("pad", x, padding=padding, mode="constant", value=1)
        check("pad", x, padding=padding, mode="replicate")
    for padding in [((0, 0),) * 3, ((1, 1), (2, 0), (0, 0)), ((0, 0), (0, 0), (4, 3)), ((1, 0), (1, 2), (3, 4))]:
        for mode in ("reflect", "circular", "replicate"):
            out = check("pad", x, padding=padding, mode=mode)
            check("pad_adjoint", out, padding=padding, mode=mode, shape=x.shape)
    check("pad", sample((), dtype), padding=(), mode="constant")
    check("pad", sample((0, 2), dtype), padding=((1, 1), (0, 0)), mode="constant", value=1)
    check("pad", sample((2, 0), dtype), padding=((1, 1), (0, 3)), mode="constant", value=1)


def test_padding_with_numbers_of_two_words():
    x = sample((2, 2), "c16")
    check("pad", x, padding=((1, 1), (1, 2)), value=1 + 2j)
    check("pad", sample((2, 2), "f2"), padding=((1, 1), (1, 2)), value=0.1)
    check("pad", np.ones((50, 300), np.float32), padding=((1, 1), (1, 2)), value=float("-inf"))
