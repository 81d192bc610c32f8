"""Reading and writing by integer tensors: order of equal indices, negative ones, ones outside."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.core.op import get_op
from duograph.runtime.kernels.single import run_single
from tests.unit.lower.kernel_checks import DTYPES, check, sample

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = [d for d in DTYPES if d.kind in "fV"]


def pick(n, shape, dtype="i8", seed=0):
    """Indices into an axis of size ``n``, repeated and negative ones among them."""
    low = 0 if np.dtype(dtype).kind == "u" else -n
    return np.asarray(np.random.default_rng(seed).integers(low, n, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gather(dtype):
    x = sample((3, 5, 4), dtype)
    for axis in range(3):
        for shape in [(), (1,), (0,), (7,), (2, 3)]:
            check("gather", x, pick(x.shape[axis], shape), axis=axis)
        for shape in [(3, 5, 4), (1, 2, 2), (2, 0, 3), (3, 1, 4)]:
            check("gather_elements", x, pick(x.shape[axis], shape), axis=axis)
        longer = [3, 5, 4]
        longer[axis] = 9
        check("gather_elements", x, pick(x.shape[axis], longer), axis=axis)
    check("gather", sample((100,), dtype), pick(100, (1000,)), axis=0)
    check("gather", sample((9, 70), dtype), pick(9, (40,)), axis=0)
    for depth in (1, 2, 3):
        check("gather_nd", x, np.stack([pick(n, (2, 6), seed=k) for k, n in enumerate(x.shape[:depth])], -1))
    check("gather_elements", sample((), dtype), np.array(-1), axis=0)


@pytest.mark.parametrize("rows", [(), (2,), (2, 5), (0,)], ids=str)
@pytest.mark.parametrize("shape", [(3, 4), ()], ids=str)
def test_rows_without_a_coordinate_name_everything(shape, rows):
    x, index, updates = sample(shape, "f4"), np.zeros((*rows, 0), "i4"), sample((*rows, *shape), "f4")
    check("gather_nd", x, index)
    for reduction in ("none", "add", "max"):
        check("scatter_nd_update", x, index, updates, reduction=reduction)


@pytest.mark.parametrize("index", INTEGERS)
def test_indices_of_every_type(index):
    x = sample((6, 4), "f4")
    check("gather", x, pick(6, (40,), index), axis=0)
    check("gather", x, pick(4, (3,), index), axis=1)
    check("gather_elements", x, pick(6, (40, 4), index), axis=0)
    check("index_add", x, pick(6, (40,), index), sample((40, 4), "f4"), axis=0)
    check("scatter_elements", x, pick(6, (9, 4), index), sample((9, 4), "f4"), axis=0, reduction="add")
    check("unsorted_segment", x, pick(6, (6,), index), num_segments=6, reduction="sum")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter(dtype, reduction):
    x = sample((3, 5, 4), dtype)
    for axis in range(3):
        for shape in [(3, 5, 4), (2, 4, 3), (1, 1, 1), (0, 2, 2)]:
            shape = list(shape)
            if shape[axis]:
                shape[axis] = 11
            index = pick(x.shape[axis], shape)
            check("scatter_elements", x, index, sample(shape, dtype, 1), axis=axis, reduction=reduction)
    for depth in (1, 2, 3):
        index = np.stack([pick(n, (2, 9), seed=k) for k, n in enumerate(x.shape[:depth])], -1)
        updates = sample((*index.shape[:-1], *x.shape[depth:]), dtype, 2)
        check("scatter_nd_update", x, index, updates, reduction=reduction)
    check("scatter_elements", sample((), dtype), np.array(5), sample((), dtype, 1), axis=0, reduction=reduction)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_at_indices(dtype):
    x = sample((3, 5, 4), dtype)
    for axis in range(3):
        for count in (0, 1, 30):
            shape = [3, 5, 4]
            shape[axis] = count
            check("index_add", x, pick(x.shape[axis], (count,)), sample(shape, dtype, 1), axis=axis)
    check("index_add", sample((9, 300), dtype), pick(9, (40,)), sample((40, 300), dtype, 1), axis=0)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind != "b"], ids=str)
@pytest.mark.parametrize("reduction", ["sum", "prod", "max", "min"])
def test_segments(dtype, reduction):
    if dtype.kind == "c" and reduction in ("max", "min"):
        return
    x = sample((6, 3, 4), dtype)
    for ids in (pick(4, (6,)), pick(4, (6, 3)), np.array([0, 0, 0, 3, 3, -1]), np.full((6, 3, 4), 2)):
        check("unsorted_segment", x, ids, num_segments=5, reduction=reduction)
    check("unsorted_segment", x[:0], np.zeros(0, np.int32), num_segments=2, reduction=reduction)
    check("unsorted_segment", x, np.full(6, -1), num_segments=0, reduction=reduction)


def test_extremes_and_special_numbers_meet():
    special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0], np.float32)
    for dtype in FLOATS:
        for reduction in ("add", "mul", "max", "min"):
            x = np.repeat(special, 7).astype(dtype)
            updates = np.tile(special, 7).astype(dtype)
            check("scatter_elements", x, np.arange(49), updates, axis=0, reduction=reduction)
            check("scatter_nd_update", x, np.arange(49)[:, None], updates, reduction=reduction)


SPECS = [
    ("index",),
    ((None, None, None), "index"),
    ("index", "index"),
    ("index", (None, None, None), "index"),
    ((None, None, -1), "index", (1, None, 2)),
    (1, "index"),
    ("index", -1),
    (0, (None, None, None), "index"),
    (None, "index", None, (0, 3, 1)),
    ((None, None, 2), None, "index", "index"),
    (2, "index", "index"),
]


@pytest.mark.parametrize("dtype", ["f4", "i8", "u1", "f2", "c8", "c16", bool], ids=str)
def test_advanced_indexing(dtype):
    x = sample((3, 5, 4), dtype)
    shapes = [[(2, 3), (3,), (2, 1)], [(), (4,), ()], [(0,), (1,), (0,)]]
    for spec in SPECS:
        axes, axis = [], 0
        for entry in spec:
            if entry == "index":
                axes.append(axis)
            axis += entry is not None
        for kinds in shapes:
            index = [pick(x.shape[a], kinds[k], seed=k) for k, a in enumerate(axes)]
            part = check("advanced_get", x, *index, spec=spec)
            for reduction in ("none", "add"):
                for value in (sample(part.shape, dtype, 1), sample((), dtype, 2), sample(part.shape[-1:], dtype, 3)):
                    check("advanced_put", x, value, *index, spec=spec, reduction=reduction)


def fails(name, *arrays, error, **attrs):
    """The kernel notes the failure, and the reference says what is wrong."""
    op = get_op(name)
    attrs = op.complete_attrs(attrs)
    assert run_single(op, list(arrays), attrs) is None
    with pytest.raises(error):
        op.reference(*arrays, **attrs)


@pytest.mark.parametrize("outside", [5, -6, 2**40, -(2**40)])
def test_indices_outside_are_noted(outside):
    x = sample((5, 3), "f4")
    one = np.array([0, outside, 1])
    grid = np.array([[0, 1, outside]])
    fails("gather", x, one, axis=0, error=RuntimeError)
    fails("gather", sample((0, 5), "f4"), one, axis=1, error=RuntimeError)
    fails("gather_elements", x, grid, axis=0, error=RuntimeError)
    fails("gather_nd", x, one[:, None], error=RuntimeError)
    fails("index_add", x, one, sample((3, 3), "f4"), axis=0, error=RuntimeError)
    fails("scatter_elements", x, grid, sample((1, 3), "f4"), axis=0, reduction="add", error=RuntimeError)
    fails("scatter_nd_update", x, one[:, None], sample((3, 3), "f4"), reduction="none", error=RuntimeError)
    fails("advanced_get", x, one, spec=("index",), error=IndexError)
    fails("advanced_put", x, sample((), "f4"), one, spec=("index",), reduction="none", error=IndexError)
    if outside > 0:
        ids = np.array([0, outside, 1, 2, 3])
        fails("unsorted_segment", x, ids, num_segments=5, reduction="sum", error=RuntimeError)


def test_nothing_can_be_picked_from_an_empty_axis():
    empty = np.zeros((0, 3), np.float32)
    fails("gather", empty, np.array([0]), axis=0, error=RuntimeError)
    fails("gather_elements", empty, np.zeros((1, 3), np.int64), axis=0, error=RuntimeError)
    fails("index_add", empty, np.array([0]), np.ones((1, 3), np.float32), axis=0, error=RuntimeError)
    fails("gather", sample((3,), "f4"), np.array([2**64 - 1], np.uint64), axis=0, error=RuntimeError)
    check("gather", empty, np.zeros(0, np.int64), axis=0)
