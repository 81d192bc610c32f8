"""Reductions: the documented order to the bit, on any number of threads, fused or not; NaN, ties, nothing to reduce."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.dim import Symbol
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.lower.lowering import Lowering, Operand, outputs_of
from duograph.lower.reduce.loops import BLOCKS, COLUMN_BLOCKS, LINE, STEPS, cases
from duograph.lower.rule import rule_of
from duograph.runtime.pool import pool
from tests.unit.lower.kernel_checks import BFLOAT16, bits, check, run_lowered, sample

# ---- the order, written down as plain as can be ---------------------------------------------------------------------


def sum_row(lines: list[np.ndarray]) -> np.floating:
    """The sum of a row, which is a list of pieces that are contiguous (one, unless outer axes are reduced, too)."""
    lanes, zero = 64 // lines[0].itemsize, lines[0].dtype.type(0)
    per_block = max(1, LINE // max(1, len(lines[0])))
    lines = [line[at : at + LINE] for line in lines for at in range(0, len(line), LINE)]
    blocks = []
    for first in range(0, len(lines), per_block):
        acc = np.zeros((4, lanes), lines[0].dtype)
        for line in lines[first : first + per_block]:
            whole = len(line) // (4 * lanes) * 4 * lanes
            for vectors in line[:whole].reshape(-1, 4, lanes):
                acc += vectors
            for at in range(whole, len(line), lanes):
                rest = line[at : at + lanes]
                acc[0, : len(rest)] += rest
        total = (acc[0] + acc[1]) + (acc[2] + acc[3])
        while len(total) > 1:
            total = total[: len(total) // 2] + total[len(total) // 2 :]
        blocks.append(total[0])
    sections = []
    for first in range(0, len(blocks), BLOCKS):
        section = zero
        for block in blocks[first : first + BLOCKS]:
            section = section + block
        sections.append(section)
    return zero if not sections else sections[0] if len(sections) == 1 else sum_row([np.array(sections)])


def sum_columns(rows: np.ndarray) -> np.ndarray:
    """The sums over the first axis."""
    sections = []
    for begin in range(0, len(rows), STEPS * COLUMN_BLOCKS):
        section = np.zeros_like(rows[0])
        for first in range(begin, min(begin + STEPS * COLUMN_BLOCKS, len(rows)), STEPS):
            block = np.zeros_like(rows[0])
            for row in rows[first : min(first + STEPS, begin + STEPS * COLUMN_BLOCKS)]:
                block = block + row
            section = section + block
        sections.append(section)
    return sections[0] if len(sections) == 1 else sum_columns(np.array(sections))


def noise(shape, dtype=np.float32, seed=0) -> np.ndarray:
    """Numbers whose sum shows in which order they were added."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(dtype)


def native(name: str, x: np.ndarray, **attrs) -> np.ndarray:
    from duograph.runtime.kernels.single import run_single

    op = get_op(name)
    return run_single(op, [x], op.complete_attrs(attrs))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 5, 16, 63, 64, 65, 1000, LINE, LINE + 1, 3 * LINE + 100, 70_000, 300_001])
def test_order_of_a_row(size, dtype):
    x = noise((2, size), dtype)
    assert bits(native("reduce_sum", x, axis=(1,))) == bits(np.array([sum_row([row]) for row in x]))


@pytest.mark.parametrize("shape", [(1, 5), (2, 7), (129, 17), (1024, 3), (1025, 130), (5000, 70)])
def test_order_of_columns(shape):
    x = noise(shape)
    assert bits(native("reduce_sum", x, axis=(0,))) == bits(sum_columns(x) if shape[0] > 1 else x[0] + 0)


@pytest.mark.parametrize("shape", [(3, 4, 5), (32, 6, 49), (10, 2, 1000), (3, 2, 5000), (700, 1, 7)])
def test_order_of_several_axes(shape):
    x = noise(shape)
    got = native("reduce_sum", x, axis=(0, 2))
    one_run = shape[1] == 1  # no loop between the reduced ones: they are one
    want = [sum_row([x[:, k].reshape(-1)] if one_run else list(x[:, k])) for k in range(shape[1])]
    assert bits(got) == bits(np.array(want))


@pytest.mark.parametrize(
    ("shape", "axis"), [((100_003,), (0,)), ((3, 70_000), (1,)), ((9000, 40), (0,)), ((40, 8, 300), (0, 2))]
)
def test_threads_change_no_bit(shape, axis):
    x = noise(shape)
    found = set()
    for threads in (1, 2, 4):
        pool.set_threads(threads)
        found |= {bits(native("reduce_sum", x, axis=axis)) for _ in range(5)}
    pool.refresh()
    assert len(found) == 1


# ---- all kinds, against the reference -------------------------------------------------------------------------------

KINDS = ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min"]
SHAPES = [
    ((), ()), ((3, 4), ()), ((37,), (0,)), ((3, 100), (1,)), ((100, 3), (0,)), ((2, 30, 4), (1,)),
    ((2, 3, 4, 5), (1, 3)), ((4, 1, 5), (1,)), ((0, 3), (1,)), ((1, 1), (0, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("name", KINDS)
def test_integers_wrap_around(name, dtype):
    for shape, axis in SHAPES:
        if name in KINDS[:2] or 0 not in shape:
            check(name, sample(shape, dtype), axis=axis, keep_dims=False)
            check(name, sample(shape, dtype), axis=axis, keep_dims=True)


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16, np.float32, np.float64])
@pytest.mark.parametrize("name", [*KINDS, "reduce_mean"])
def test_exact_numbers(name, dtype):
    """Small multiples of 1/8 add up without rounding, so any order gives the same bits; half types round once."""
    for shape, axis in SHAPES:
        if name == "reduce_prod":
            check(name, np.asarray(np.sign(sample(shape, np.float32))).astype(dtype, copy=False), axis=axis)
        elif name in ("reduce_sum", "reduce_mean") or 0 not in shape:
            check(name, sample(shape, dtype), axis=axis)


@pytest.mark.parametrize("name", ["reduce_all", "reduce_any"])
def test_truth(name):
    for shape, axis in [*SHAPES, ((0,), (0,)), ((5, 0), (1,))]:
        for density in (0.02, 0.98):
            check(name, np.asarray(np.random.default_rng(1).random(shape) < density), axis=axis)


def test_complex_sums():
    x = sample((50, 70), np.complex64)
    for axis in ((0,), (1,), (0, 1)):
        check("reduce_sum", x, axis=axis, close=True)
        check("reduce_mean", x, axis=axis, close=True)


def test_nothing_and_negative_zero():
    for x in (np.zeros((0,), np.float32), np.full(3, -0.0, np.float32)):
        total = native("reduce_sum", x, axis=(0,))
        assert total == 0 and not np.signbit(total)
    assert native("reduce_prod", np.zeros((2, 0), np.float32), axis=(1,)).tolist() == [1, 1]
    assert np.isnan(native("reduce_mean", np.zeros((0,), np.float32), axis=(0,)))


@pytest.mark.parametrize("at", [0, 3, 17, 70, 999])
def test_nan_wins(at):
    x = sample((2, 1000), np.float32)
    x[1, at] = np.nan
    for axis in ((0,), (1,), (0, 1)):
        check("reduce_max", x, axis=axis)
        check("reduce_min", x, axis=axis)
    x[1, 1:5] = np.nan
    for axis in (0, 1):
        check("argmax", x, axis=axis)
        check("argmin", x, axis=axis)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float32, np.float64])
def test_first_of_equal_extremes(dtype):
    for shape in ((1000,), (3, 200), (200, 3), (2, 70, 5), (1, 9)):
        for axis in range(len(shape)):
            check("argmax", sample(shape, dtype), axis=axis)
            check("argmin", sample(shape, dtype), axis=axis, keep_dims=True, dtype=dt.int32)
    kind = np.dtype(dtype).kind
    worst = -np.inf if kind == "f" else np.iinfo(dtype).min if kind in "iu" else False
    check("argmax", np.full((3, 100), worst, dtype), axis=1)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name, dtype):
    tolerance = {np.float16: 2e-3, np.float32: 2e-6, np.float64: 1e-14}[dtype]
    for shape, axis in [((5,), 0), ((3, 1000), 1), ((1000, 3), 0), ((2, 10, 50), 1), ((2, 70_000), 1), ((3, 1, 4), 1)]:
        x = np.random.default_rng(0).standard_normal(shape).astype(dtype) * 4
        exact = get_op(name).reference(x.astype(np.float64), axis=axis)
        np.testing.assert_allclose(native(name, x, axis=axis), exact, rtol=tolerance, atol=tolerance)
    assert np.isnan(native(name, np.full((1, 20), -np.inf, dtype), axis=1)).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_standardize(dtype):
    """A large mean does not eat the variance; constant rows are 0."""
    tolerance = {np.float16: 1e-3, np.float32: 2e-6, np.float64: 1e-14}[dtype]
    for shape, axis in [((5,), (0,)), ((3, 1000), (1,)), ((1000, 3), (0,)), ((4, 6, 50), (0, 2)), ((2, 70_000), (1,))]:
        x = (np.random.default_rng(0).standard_normal(shape) * 4 + 20).astype(dtype)
        exact = get_op("standardize").reference(x.astype(np.float64), axis=axis, epsilon=1e-5)
        got = native("standardize", x, axis=axis, epsilon=1e-5)
        np.testing.assert_allclose(got, exact, rtol=10 * tolerance, atol=10 * tolerance)
    assert not native("standardize", np.full((2, 7), 3, dtype), axis=(1,), epsilon=1e-5).any()
    assert native("standardize", np.ones((0, 7), dtype), axis=(1,), epsilon=1e-5).shape == (0, 7)


# ---- sizes known at run time ----------------------------------------------------------------------------------------


def symbolic(name: str, x: np.ndarray, dims: str, **attrs) -> np.ndarray:
    """A reduction compiled for symbolic extents (``dims``: a letter, or ``-`` for a known extent, per axis)."""
    op = get_op(name)
    shape = tuple([n if d == "-" else Symbol(d) for d, n in zip(dims, x.shape, strict=True)])
    type_ = TensorType(dt.from_numpy(x.dtype), shape)
    attrs = op.complete_attrs(attrs)
    c = Lowering(op, attrs, [Operand(type_)], outputs_of(op.result_type((type_,), attrs)))
    rule_of(op).function(c)
    out = np.full(op.result_type((TensorType(type_.dtype, x.shape),), attrs).shape, 7, x.dtype)
    run_lowered(c, [x], [out], dict(zip(dims, x.shape, strict=True)))
    return out


@pytest.mark.parametrize(
    "sizes", [(1, 1, 1), (1, 70, 5), (70, 1, 5), (70, 5, 1), (40, 30, 20), (1, 1, 9000), (2000, 3, 50)]
)
@pytest.mark.parametrize("axis", [(0,), (1,), (2,), (0, 2), (0, 1), (1, 2), (0, 1, 2)])
def test_extents_known_at_run_time_give_the_same_bits(sizes, axis):
    x = noise(sizes)
    assert bits(symbolic("reduce_sum", x, "abc", axis=axis)) == bits(native("reduce_sum", x, axis=axis))


def test_an_extent_that_may_be_1_has_a_kernel_of_its_own_only_where_that_changes_the_order():
    n, k = Symbol("n"), Symbol("k", 2)
    assert len(cases((n, 512), (0,))) == len(cases((n, 512), (1,))) == len(cases((n, 3, 8), (0, 2))) == 1
    assert len(cases((8, n, 3), (0, 2))) == len(cases((512, n), (0,))) == 2
    assert len(cases((512, k), (0,))) == 1
    together = cases((8, n, Symbol("m"), 3), (0, 3))  # only if both are 1 are the reduced axes neighbours
    assert [len(ones) for ones, _ in together] == [0, 2]


@pytest.mark.parametrize("size", [1, 2, 1000, 70_000])
def test_long_rows_of_unknown_length(size):
    x = noise((2, size))
    for name, attrs in (("softmax", {"axis": 1}), ("standardize", {"axis": (1,), "epsilon": 1e-5})):
        assert bits(symbolic(name, x, "-n", **attrs)) == bits(native(name, x, **attrs))
