"""Pooling and resizing: native results are the reference's, to the bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from duograph.core.op import get_op
from duograph.core.shapes import conv_output_size
from duograph.runtime.kernels import single
from duograph.runtime.pool import pool
from tests.unit.lower.kernel_checks import BFLOAT16, bits, check, sample

FLOATS = [np.float32, np.float64, np.float16, BFLOAT16]
DTYPES = [*FLOATS, np.int32, np.uint8, np.int8]
SIZES = [(1,), (9,), (40,), (70,), (7, 5), (10, 12), (33, 35), (4, 5, 18)]
WINDOWS = [  # kernel, stride, padding of an axis, dilation, ceil_mode
    (2, 2, (0, 0), 1, False),
    (3, 2, (1, 1), 1, True),
    (3, 1, (1, 0), 2, False),
    (3, 3, (0, 1), 1, False),
    (3, 2, (0, 0), 1, False),
    (3, 1, (0, 0), 1, False),
    (1, 1, (0, 0), 1, False),
    (10, 2, (5, 4), 1, True),
    (2, 3, (0, 0), 1, True),
]


def poolings(dilated=True):
    """(size, attributes) of poolings that exist."""
    for size, (kernel, stride, padding, dilation, ceil) in itertools.product(SIZES, WINDOWS):
        rank = len(size)
        fits = all(conv_output_size(n, kernel, stride, padding, dilation, ceil) > 0 for n in size)
        if not fits or (dilation > 1 and not dilated) or kernel**rank > 200:
            continue
        how = {"kernel": (kernel,) * rank, "stride": (stride,) * rank, "padding": (padding,) * rank, "ceil_mode": ceil}
        yield size, {**how, "dilation": (dilation,) * rank} if dilated else how


def share_of(dtype, cases, others=()):
    """All cases in float32; in another dtype, or with other settings, one in three, and another third for each.

    Windows decide the loops of a kernel, dtypes its arithmetic, settings its last division: they do not meet."""
    numbers = [DTYPES.index(dtype), *others]
    return itertools.islice(cases, sum(numbers) % 3, None, 3) if any(numbers) else cases


def special(shape, dtype):
    """Numbers with ties, infinities and NaN."""
    x = sample(shape, dtype)
    flat = x.reshape(-1)
    if np.dtype(dtype).kind not in "iu" and flat.size > 20:
        flat[::7], flat[3::11], flat[5::13], flat[6::29] = 0.0, -np.inf, -0.0, np.nan
    return x


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_max_pool_finds_values_and_places(dtype):
    for size, how in share_of(dtype, poolings()):
        check("max_pool", special((2, 3, *size), dtype), **how)


def test_the_first_of_equal_maxima_counts_never_one_in_the_padding():
    x = np.full((1, 1, 5, 21), -np.inf, np.float32)
    how = {"kernel": (3, 3), "stride": (2, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1)}
    _, places = check("max_pool", x, **how)
    assert places.min() == 0


@pytest.mark.parametrize("output", [1, 3, 8])
@pytest.mark.parametrize("dtype", [*FLOATS, np.int32], ids=str)
def test_adaptive_max_pool(dtype, output):
    for size in SIZES:
        check("adaptive_max_pool", special((2, 3, *size), dtype), output_size=(output,) * len(size))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("count_include_pad, divisor", [(True, 0), (False, 0), (True, 3)])
def test_avg_pool_and_its_gradient(dtype, count_include_pad, divisor):
    for size, how in share_of(dtype, poolings(dilated=False), [2 * bool(divisor), not count_include_pad]):
        how = {**how, "count_include_pad": count_include_pad, "divisor": divisor}
        out = check("avg_pool", special((2, 3, *size), dtype), **how)
        check("avg_pool_grad", sample(out.shape, dtype), **how, input_size=size)


def test_empty_batches():
    how = {"kernel": (2, 2), "stride": (2, 2), "padding": ((0, 0), (0, 0))}
    x = np.empty((0, 3, 6, 6), np.float32)
    check("max_pool", x, **how, dilation=(1, 1))
    check("avg_pool_grad", check("avg_pool", x, **how), **how, input_size=(6, 6))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_do_not_show(threads):
    x = special((5, 7, 33, 35), np.float32)
    how = {"kernel": (3, 3), "stride": (2, 2), "padding": ((1, 1), (1, 1))}
    try:
        pool.set_threads(threads)
        check("max_pool", x, **how, dilation=(1, 1))
        check("avg_pool_grad", check("avg_pool", x, **how), **how, input_size=(33, 35))
        values, places = check("max_pool", x, kernel=(2, 2), stride=(2, 2), padding=((0, 0),) * 2, dilation=(1, 1))
        windows = ((2, 2), (2, 2), (0, 0))
        check("scatter_planes", values, places, size=(33, 35), windows=windows)
    finally:
        pool.set_threads(0)


# ---- values at positions of planes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.complex64, bool], ids=str)
@pytest.mark.parametrize("index", [np.int64, np.int32])
def test_gather_and_unpool(dtype, index):
    rng = np.random.default_rng(0)
    x = sample((2, 3, 7, 5), dtype)
    places = rng.integers(0, 35, (2, 3, 4, 6)).astype(index)
    picked = check("gather_planes", x, places)
    check("gather_planes", x, places - 35)
    check("max_unpool", picked, places, size=(7, 5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.float16, BFLOAT16], ids=str)
def test_scatter_adds_in_the_order_of_positions(dtype):
    rng = np.random.default_rng(0)
    places = rng.integers(0, 35, (2, 3, 40))
    x = sample(places.shape, dtype)  # eighths: every sum is exact
    check("scatter_planes", x, places, size=(7, 5))
    if dtype == np.float32:
        x = rng.standard_normal(places.shape).astype(np.float32)
        want = np.zeros((2, 3, 35), np.float32)
        for k in range(40):
            np.put_along_axis(
                want, places[..., k : k + 1], np.take_along_axis(want, places[..., k : k + 1], 2) + x[..., k : k + 1], 2
            )
        got = single.run_single(get_op("scatter_planes"), [x, places], {"size": (7, 5)})
        np.testing.assert_array_equal(got, want.reshape(2, 3, 7, 5))


@pytest.mark.parametrize("bad", [-1, 35, 1 << 40])
def test_places_out_of_range_are_left_to_the_reference(bad):
    x, places = sample((1, 1, 4), np.float32), np.array([[[0, 1, bad, 2]]])
    for name in ("scatter_planes", "max_unpool"):
        assert single.run_single(get_op(name), [x, places], {"size": (7, 5)}) is None
    if bad > 0:
        assert single.run_single(get_op("gather_planes"), [sample((1, 1, 7, 5), np.float32), places], {}) is None


def test_adaptive_pooling_of_nothing_is_refused():
    with pytest.raises(ValueError, match="empty"):
        single.run_single(get_op("adaptive_max_pool"), [np.empty((2, 3, 0), np.float32)], {"output_size": (2,)})


# ---- the gradient of maximum pooling ---------------------------------------------------------------------------------


CELLS = [  # kernel, stride, ceil_mode: windows that do not overlap
    (2, 2, False), (2, 2, True), (3, 3, False), (3, 3, True), (2, 3, True), (1, 1, False), (1, 8, False), (4, 5, True),
]  # fmt: skip
OVERLAPPING = [(3, 2, False), (3, 1, False)]


def scattered(x, places, size, kernel, stride, rank):
    """`scatter_planes` with what is known about the windows; asserts that this changes no bit."""
    op, windows = get_op("scatter_planes"), ((kernel,) * rank, (stride,) * rank, (0,) * rank)
    want = single.run_single(op, [x, places], {"size": size, "windows": ()})
    got = single.run_single(op, [x, places], {"size": size, "windows": windows})
    assert bits(got) == bits(want)
    return got


@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.int8], ids=str)
def test_gradient_of_max_pool_knows_its_windows(dtype):
    rng = np.random.default_rng(0)
    cases = itertools.product([*SIZES, (28, 28), (10, 10)], CELLS + OVERLAPPING)
    for size, (kernel, stride, ceil) in share_of(dtype, cases):
        rank = len(size)
        if any(conv_output_size(n, kernel, stride, (0, 0), 1, ceil) <= 0 for n in size):
            continue
        how = {"kernel": (kernel,) * rank, "stride": (stride,) * rank, "padding": ((0, 0),) * rank}
        how |= {"dilation": (1,) * rank, "ceil_mode": ceil}
        values, places = single.run_single(get_op("max_pool"), [special((2, 3, *size), dtype)], how)
        dout = special(values.shape, dtype)
        scattered(dout, places, size, kernel, stride, rank)
        scattered(dout, places.astype(np.int32), size, kernel, stride, rank)
        # places made by hand: some outside of their windows, some twice
        wrong = rng.random(places.shape) < 0.2
        scattered(
            dout, np.where(wrong, rng.integers(0, np.prod(size), places.shape), places), size, kernel, stride, rank
        )


@pytest.mark.parametrize("bad", [-1, 64, 1 << 40, (1 << 32) + 9])
def test_a_place_out_of_range_is_left_to_the_reference_whatever_its_window(bad):
    x, places = sample((1, 1, 4, 4), np.float32), np.arange(64).reshape(1, 1, 8, 8)[..., ::2, ::2].copy()
    attrs = {"size": (8, 8), "windows": ((2, 2), (2, 2), (0, 0))}
    assert single.run_single(get_op("scatter_planes"), [x, places], attrs) is not None
    places[0, 0, 0, 1] = bad
    assert single.run_single(get_op("scatter_planes"), [x, places], attrs) is None


# ---- resizing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "cubic", "area"])
@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, bool], ids=str)
def test_resize_and_its_adjoint(dtype, mode):
    real = np.dtype(dtype).kind not in "ib"
    if not real and not mode.startswith("nearest"):
        pytest.skip("numbers that cannot be averaged")
    for (shape, axis), size, align in itertools.product(
        [((2, 3, 7), 2), ((2, 3, 7, 40), 2), ((2, 20, 3), 1), ((0, 3), 1)], (1, 4, 7, 19), (False, True)
    ):
        for scale in (0.0, size / shape[axis], 1.7):
            how = {"axis": axis, "mode": mode, "align": align, "scale": scale}
            x = special(shape, dtype) if real else sample(shape, dtype)
            out = check("resize_axis", x, **how, size=size)
            if real:
                check("resize_axis_grad", sample(out.shape, dtype), **how, size=shape[axis])
