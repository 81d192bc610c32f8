"""The same bits on 1, 2 and 4 threads, and those of the reference: nothing depends on how work is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.kernel import compute
from duograph.core.op import get_op
from duograph.runtime.kernels.single import run_single
from duograph.runtime.pool import pool
from tests.unit.lower.kernel_checks import bits, check

RNG = np.random.default_rng(7)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def places(n: int, *shape: int) -> np.ndarray:
    return RNG.integers(-n, n, shape)


X = floats(300, 400)
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("transpose", [X], {"perm": (1, 0)}),
    ("transpose", [floats(6, 50, 7, 60)], {"perm": (0, 2, 1, 3)}),
    ("flip", [floats(200_000)], {"axes": (0,)}),
    ("tile", [floats(100, 7)], {"multiples": (10, 30)}),
    ("roll", [X], {"shifts": (3, -5), "axes": (0, 1)}),
    ("concat", [X, X, X], {"axis": 1}),
    ("pad", [X], {"padding": ((3, 2), (1, 4)), "mode": "circular", "value": 0}),
    ("pad_adjoint", [floats(50, 60, 70)],
     {"padding": ((0, 0), (3, 2), (1, 4)), "mode": "reflect", "shape": (50, 55, 65)}),
    ("gather", [X, places(300, 1000)], {"axis": 0}),
    ("gather_elements", [X, places(300, 300, 400)], {"axis": 0}),
    ("advanced_get", [X, places(300, 100_000), places(400, 100_000)], {"spec": ("index", "index")}),
    ("index_add", [X, places(300, 5000), floats(5000, 400)], {"axis": 0}),
    ("index_add", [X, places(400, 900), floats(300, 900)], {"axis": 1}),
    ("scatter_elements", [X, places(300, 2000, 400), floats(2000, 400)], {"axis": 0, "reduction": "add"}),
    ("scatter_elements", [X, places(400, 300, 999), floats(300, 999)], {"axis": 1, "reduction": "none"}),
    ("unsorted_segment", [floats(20_000, 64), places(50, 20_000)], {"num_segments": 50, "reduction": "sum"}),
    ("advanced_put", [X, floats(100_000), places(300, 100_000), places(400, 100_000)],
     {"spec": ("index", "index"), "reduction": "add"}),
    ("cumsum", [X], {"axis": 0, "exclusive": False, "reverse": False}),
    ("cumsum", [X], {"axis": 1, "exclusive": True, "reverse": True}),
    ("cummax", [X], {"axis": 0}),
    ("sort", [X], {"axis": 1, "descending": True, "index_dtype": dt.int32}),
    ("sort", [floats(200_000)], {"axis": 0, "descending": False, "index_dtype": dt.int64}),
    ("topk", [floats(64, 3000)], {"k": 9, "axis": 1, "largest": True, "index_dtype": dt.int32}),
    ("searchsorted", [np.sort(floats(1000)), X], {"right": False, "dtype": dt.int64}),
    ("random_uniform", [1, 2], {"shape": (300_001,), "dtype": dt.float32}),
    ("random_permutation", [1, 2], {"n": 50_000, "dtype": dt.int64}),
    ("histogram", [floats(200_000)], {"bins": 100, "low": 0.0, "high": 0.0}),
    ("tril", [X], {"diagonal": 3}),
    ("one_hot", [places(50, 5000)], {"depth": 50, "dtype": dt.float32}),
    ("arange", [], {"start": 0.5, "step": 0.25, "size": 100_000, "dtype": dt.float32}),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = pool.threads()
    yield
    pool.set_threads(before)


@pytest.mark.parametrize("name, arrays, attrs", CASES, ids=[f"{k}-{name}" for k, (name, _, _) in enumerate(CASES)])
def test_threads_do_not_show(name, arrays, attrs):
    found = []
    for count in (1, 2, 4):
        pool.set_threads(count)
        got = check(name, *arrays, **attrs)
        found.append([bits(g) for g in (got if isinstance(got, tuple) else (got,))])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name, dtype", [("random_normal", dt.float32), ("random_normal", dt.float64)])
def test_threads_do_not_show_in_random_numbers(name, dtype):
    found = set()
    for count in (1, 2, 4):
        pool.set_threads(count)
        found.add(run_single(get_op(name), [5, 6], {"shape": (100_003,), "dtype": dtype}).tobytes())
    assert len(found) == 1


def test_the_user_gets_the_error_of_the_reference():
    """A failure that a kernel notes is explained by the reference, also among many right indices."""
    index = places(300, 100_000)
    index[77_777] = 300
    with pytest.raises(RuntimeError, match=r"should be in the range \[0, 300\), but got 300"):
        compute(get_op("gather"), [X, index], {"axis": 0})
    with pytest.raises(IndexError, match="index 300 is out of bounds for dimension with size 300"):
        compute(get_op("advanced_get"), [X, index], {"spec": ("index",)})
