"""Random numbers: known answers of Philox, distributions, and the stream of a Generator."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import duograph.tensor.eager  # noqa: F401 (installs the eager binder)
from duograph.core import dtype as dt
from duograph.ops import philox
from duograph.ops import random as r
from duograph.tensor.random import Generator
from duograph.tensor.tensor import Tensor

ONES = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("counter", "key", "want"),
    [
        ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((ONES,) * 4, (ONES, ONES), "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)  # fmt: skip
def test_known_answers(counter, key, want) -> None:
    """The vectors that come with the authors' Random123 library."""
    words = philox.philox(tuple(np.array([c], np.uint64) for c in counter), key)
    assert " ".join(f"{int(w[0]):08x}" for w in words) == want


def test_bits_depend_on_seed_offset_and_position_only() -> None:
    a = r.random_bits(1, 2, shape=(3, 5)).array()
    assert a.dtype == np.uint32
    np.testing.assert_array_equal(a.ravel()[:7], r.random_bits(1, 2, shape=(7,)).array())
    for other in ((1, 3), (2, 2), (2**40 + 1, 2), (-1, 2), (1, 2 + 2**33)):
        assert not np.array_equal(a, r.random_bits(*other, shape=(3, 5)).array())
    assert r.random_bits(1, 2, shape=(0, 3)).array().shape == (0, 3)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float32, dt.float64], ids=str)
def test_uniform_and_normal(dtype) -> None:
    u = r.random_uniform(0, 0, shape=(40000,), dtype=dtype).array().astype(np.float64)
    assert 0 <= u.min() and u.max() < 1
    assert abs(u.mean() - 0.5) < 0.01
    z = r.random_normal(0, 1, shape=(40001,), dtype=dtype).array().astype(np.float64)
    assert abs(z.mean()) < 0.02
    assert abs(z.std() - 1) < 0.02


def test_distributions() -> None:
    stats = pytest.importorskip("scipy.stats")
    g = Generator(11)
    assert stats.kstest(r.standard_normal((20000,), generator=g).array(), "norm").pvalue > 1e-3
    for alpha in (0.3, 1.0, 7.0):
        x = r.gamma(Tensor(np.full(20000, alpha)), g).array()
        assert stats.kstest(x, "gamma", args=(alpha,)).pvalue > 1e-3
    for rate in (0.3, 5.0, 60.0):
        x = r.poisson(Tensor(np.full(20000, rate)), g).array()
        assert abs(x.mean() - rate) < 5 * np.sqrt(rate / 20000)
        assert abs(x.var() - rate) < 0.06 * rate
    x = r.truncated_normal(-1.0, 2.0, (20000,), dt.float64, g).array()
    assert stats.kstest(x, "truncnorm", args=(-1.0, 2.0)).pvalue > 1e-3
    x = r.exponential((20000,), dt.float64, g).array()
    assert stats.kstest(x, "expon").pvalue > 1e-3


def test_integers_and_permutations() -> None:
    x = r.randint(-3, 4, (7000,), generator=Generator(1)).array()
    assert x.dtype == np.int64
    assert np.abs(np.bincount(x + 3, minlength=7) - 1000).max() < 150
    assert sorted(r.randperm(50, generator=Generator(1)).array().tolist()) == list(range(50))
    with pytest.raises(ValueError, match="must be larger"):
        r.randint(3, 3, (1,))


def test_multinomial() -> None:
    weights = Tensor(np.array([[0.0, 1.0, 3.0, 0.0], [1.0, 0.0, 0.0, 1.0]]))
    x = r.multinomial(weights, 8000, generator=Generator(5)).array()
    assert set(np.unique(x[0])) == {1, 2}
    assert set(np.unique(x[1])) == {0, 3}
    assert abs((x[0] == 2).mean() - 0.75) < 0.02
    x = r.multinomial(weights, 2, replacement=False, generator=Generator(5)).array()
    assert sorted(x[0]) == [1, 2]


def test_generator() -> None:
    g = Generator(3)
    assert g.next_offset() == (3, 0)
    assert g.next_offset(4) == (3, 1)
    assert g.get_state() == (3, 5)
    again = pickle.loads(pickle.dumps(g))
    assert again.next_offset() == g.next_offset()
    assert g.manual_seed(9).get_state() == (9, 0)
    assert repr(g) == "Generator(seed=9, offset=0)"
    with ThreadPoolExecutor(4) as pool:
        offsets = list(pool.map(lambda _: g.next_offset()[1], range(1000)))
    assert sorted(offsets) == list(range(1000))
