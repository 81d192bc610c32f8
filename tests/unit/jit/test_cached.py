"""Functions under `functools.lru_cache`: results from the cache, and calls counted as Python counts them."""

import functools

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor

MADE = []


@functools.lru_cache(maxsize=None)
def table(n, scale=1.0):
    MADE.append(n)
    return [i * scale for i in range(n)]


@functools.lru_cache
def window(n):
    MADE.append(n)
    return Tensor(np.linspace(0, 1, n, dtype=np.float32))


@functools.lru_cache(maxsize=2, typed=True)
def few(n, *, plus=0):
    MADE.append(n)
    return n * 2.5 + plus


@functools.cache
def fails(n):
    MADE.append(n)
    raise ValueError(f"no {n}")


def numbers(x):
    return x * table(4)[2] + table(4, scale=2.0)[1]


def tensors(x):
    return x * window(3) + window(3)[0]


def told_apart(x):
    return x * few(1) + few(1.0)


def named(x):
    return x * few(2, plus=3)


def too_many(x):
    return x * few(1) + few(2) + few(3)


def in_branches(x):
    if x.sum() > 0:
        return x * table(3)[1]
    return x * table(2)[1] + few(7)


def in_loops(x):
    while x.sum() < 20:
        x = x * x + table(3)[2]
    return x


def repeated(x):
    for i in range(3):
        x = x + table(3)[i]
    return x


def changed(x):
    kept = table(3)
    kept[0] += 1.0
    return x * kept[0]


def caught(x):
    try:
        return x * fails(1)
    except ValueError as error:
        return x * len(str(error))


def printed(x):
    print("before")
    y = x * table(5)[4]
    print("after")
    return y


def cleared(x):
    table.cache_clear()
    return x * table(3)[1]


def asked(x):
    y = x * table(3)[1]
    return y + table.cache_info().hits


PROGRAMS = [
    numbers, tensors, told_apart, named, too_many, in_branches, in_loops, repeated, changed, caught, printed, cleared,
    asked,
]  # fmt: skip
CACHED = (table, window, few, fails)


def story(fn, clears):
    """What ten calls give, and what the caches say after each."""
    for one in CACHED:
        one.cache_clear()
    MADE.clear()
    told = []
    for turn in range(10):
        if clears and turn in (4, 7):
            for one in CACHED:
                one.cache_clear()
        x = Tensor(np.array([1, -2, 3] if turn % 3 else [-1, -2, -1], np.float32))
        told.append((fn(x).asnumpy().tobytes(), [one.cache_info() for one in CACHED], list(MADE)))
    return told


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("clears", [False, True], ids=["kept", "cleared"])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_results_and_counts_are_those_of_python(fn, clears, mode):
    want = story(fn, clears)
    assert story(ms.jit(fn, capture_mode=mode), clears) == want


@pytest.mark.parametrize("fn", [numbers, tensors, told_apart, named, in_branches, repeated], ids=lambda f: f.__name__)
def test_they_are_captured_whole(fn):
    compiled = ms.jit(fn)
    story(compiled, False)
    assert not compiled.explain().breaks
    story(ms.jit(fn, fullgraph=True), False)


def test_what_is_cached_anew_is_another_tensor():
    scale = [1.0]

    @functools.cache
    def weight():
        return Tensor([scale[0]] * 2)

    compiled = ms.jit(lambda x: x * weight())
    x = Tensor([1.0, 2.0])
    assert [compiled(x).asnumpy().tolist() for _ in range(3)] == [[1.0, 2.0]] * 3
    scale[0] = 3.0
    assert compiled(x).asnumpy().tolist() == [1.0, 2.0]
    weight.cache_clear()
    assert [compiled(x).asnumpy().tolist() for _ in range(3)] == [[3.0, 6.0]] * 3
    assert weight.cache_info()[:2] == (2, 1)


def test_gradients_flow_past_them():
    window.cache_clear()
    grad = ms.jit(ms.grad(lambda x: (x * window(3)).sum()))
    for _ in range(3):
        assert grad(Tensor([1.0, 2.0, 3.0])).asnumpy().tolist() == [0.0, 0.5, 1.0]
    assert window.cache_info()[:2] == (2, 1)
