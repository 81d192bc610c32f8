"""Random numbers: the words are Philox's, whatever the size; distributions follow the reference."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.runtime.kernels.single import run_single
from tests.unit.lower.kernel_checks import check

FLOATS = [dt.float16, dt.bfloat16, dt.float32, dt.float64]
SIZES = [(), (0,), (1,), (15,), (16,), (31,), (32,), (33,), (100,), (7, 1001)]


@pytest.mark.parametrize("seed, offset", [(0, 0), (1, 5), (2**63 - 1, 2**40), (-1, -7)])
def test_words(seed, offset):
    for shape in SIZES:
        check("random_bits", seed, offset, shape=shape)
        for dtype in FLOATS:
            check("random_uniform", seed, offset, shape=shape, dtype=dtype)


def test_known_words():
    """The first block of key 0 and counter 0, as published with the Random123 library."""
    words = run_single(get_op("random_bits"), [0, 0], {"shape": (4,)})
    assert [f"{w:08x}" for w in words] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]


@pytest.mark.parametrize("low, high", [(0, 10), (-5, 6), (0, 2**63), (-(2**63), 2**63 - 1), (3, 4), (-128, 127)])
def test_integers(low, high):
    for dtype in (dt.int64, dt.int32, dt.uint8):
        check("random_integers", 3, 4, low=low, high=high, shape=(333,), dtype=dtype)


@pytest.mark.parametrize("n", [0, 1, 2, 31, 40, 1000])
def test_permutations(n):
    for dtype in (dt.int64, dt.int32):
        check("random_permutation", 7, 8, n=n, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_normal(dtype):
    op = get_op("random_normal")
    for shape in SIZES:
        attrs = {"shape": shape, "dtype": dtype}
        got, want = (f(op, [11, 12], attrs) for f in (run_single, compute_reference))
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        epsilon = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1.2e-7, "float64": 1e-15}[dtype.name]
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=2 * epsilon, atol=4e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rejection_samplers_follow_the_reference(dtype):
    """The same decisions, so the same samples up to the last bits of the functions."""
    alpha = np.concatenate([[0.0, -1.0, np.nan], np.geomspace(1e-3, 1e3, 500)]).astype(dtype)
    for name, parameter in [("random_gamma", alpha), ("random_poisson", np.append(alpha, 1e6).astype(dtype))]:
        op = get_op(name)
        got, want = (f(op, [5, 6, parameter], {}) for f in (run_single, compute_reference))
        np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == np.float32 else 1e-11)
