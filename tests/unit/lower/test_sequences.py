"""Histograms and work along sequences."""

from __future__ import annotations

import numpy as np
import pytest

import duograph.ops.ctc
import duograph.ops.decoding
import duograph.ops.factored  # noqa: F401
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.runtime.kernels.single import run_single
from tests.unit.lower.kernel_checks import DTYPES, check, sample


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind not in "cb"], ids=str)
def test_histogram(dtype):
    x = sample((300,), dtype)
    for bins in (1, 3, 10, 100):
        for low, high in [(0.0, 0.0), (0.0, 3.0), (-2.0, 2.5), (1.0, 1.0)]:
            check("histogram", x, bins=bins, low=low, high=high)
    check("histogram", x[:0], bins=3)
    check("histogram", x[:1], bins=3)


def test_histogram_at_the_bounds_of_intervals():
    rng = np.random.default_rng(0)
    for dtype in ("f4", "f8"):
        x = rng.random(20_000).astype(dtype)
        edges = np.linspace(0, 1, 38).astype(dtype)
        x = np.concatenate([x, edges, np.nextafter(edges, 0, dtype=dtype), np.nextafter(edges, 2, dtype=dtype)])
        check("histogram", x, bins=37, low=0.0, high=1.0)
        check("histogram", x, bins=37)
    special = np.array([np.nan, 1.0], np.float32)
    assert run_single(get_op("histogram"), [special], {"bins": 3, "low": 0.0, "high": 0.0}) is None
    check("histogram", special, bins=3, low=0.0, high=2.0)


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_alignments(dtype):
    rng = np.random.default_rng(3)
    steps, n, classes = 9, 5, 6
    log_probs = log_softmax(rng.standard_normal((steps, n, classes))).astype(dtype)
    targets = np.array([[1, 2, 2, 3], [1, 1, 1, 1], [5, 0, 0, 0], [4, 3, 2, 1], [0, 0, 0, 0]])
    cases = [([9, 9, 4, 2, 7], [4, 3, 1, 4, 0]), ([0, 0, 1, 9, 1], [0, 2, 1, 4, 0])]
    for inputs, lengths in cases:
        arrays = [log_probs, targets, np.array(inputs), np.array(lengths, np.int32)]
        for name in ("ctc_nll", "ctc_grad"):
            got, want = (f(get_op(name), arrays, {"blank": 0}) for f in (run_single, compute_reference))
            for g, w in zip(np.atleast_1d(got) if name == "ctc_grad" else got, want, strict=True):
                np.testing.assert_allclose(g, w, rtol=1e-5 if dtype == np.float32 else 1e-11, atol=1e-7)


def test_lengths_and_labels_outside_are_noted():
    log_probs = np.zeros((3, 1, 4), np.float32)
    good = [log_probs, np.array([[1, 2]]), np.array([3]), np.array([2])]
    for place, value in [(1, [[1, 9]]), (2, [7]), (3, [3]), (2, [-1])]:
        arrays = list(good)
        arrays[place] = np.array(value)
        for name in ("ctc_nll", "ctc_grad"):
            assert run_single(get_op(name), arrays, {"blank": 0}) is None
    assert run_single(get_op("ctc_nll"), good, {"blank": 0}) is not None


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_repeated_ngrams_are_forbidden(dtype):
    sequence = np.array(
        [[[1, 2, 3, 1, 2, 3, 1], [1, 1, 1, 1, 1, 1, 1]], [[0, 4, 0, 2, 0, 3, 0], [4, 3, 2, 1, 0, 1, 2]]]
    )
    for size in (1, 2, 3, 7):
        check("no_repeat_ngram", sequence, sample((2, 2, 5), dtype), size=size)


def test_permutations_of_pivots():
    check("permutation_of_pivots", np.array([[3, 3, 3], [1, 2, 3]], np.int32), size=3)
    check("permutation_of_pivots", np.array([2]), size=2)
    assert run_single(get_op("permutation_of_pivots"), [np.array([0, 1])], {"size": 2}) is None
