"""A leak is seen, whatever leaks; and what does not leak does not grow."""

from __future__ import annotations

import ctypes
import os

import numpy as np
import pytest

import duograph as ms
from tests.unit.growth import growth

CALLS = 1000
X = ms.Tensor(np.ones(256, np.float32))  # 1 KiB
kept: list[object] = []


def calls(leak):
    """A thousand calls of a compiled function, and a leak of 1 KiB with each."""
    f = ms.jit(lambda x: x * 2 + 1)

    def work():
        for _ in range(CALLS):
            f(X)
            leak()

    return work


def none():
    pass


def of_python():
    kept.append(bytes(1024))


def of_the_allocator():
    kept.append(X + 1)


def of_the_c_library():
    ctypes.CDLL(None).malloc(ctypes.c_size_t(1024))


@pytest.mark.parametrize("leak", [of_python, of_the_allocator, of_the_c_library])
def test_a_leak_of_1_kib_per_call_is_seen(leak):
    assert CALLS * 1000 <= growth(calls, leak) < CALLS * 1500  # a little of what was there before may be given back


def test_nothing_else_is():
    assert growth(calls, none) < 1024


# -- each way that a call can go ---------------------------------------------------------------------------------------


class Net(ms.nn.Cell):
    def construct(self, x):
        return x * 2 + 1


def cut(x):
    y = x * 2
    os.getpid()
    return y + 1


def plain(x):
    return ms.Tensor(x.asnumpy() * 2)


WAYS = {
    "a function that is cut": lambda: ms.jit(cut),
    "plain Python": lambda: ms.jit(plain),
    "the interpreter": lambda: ms.jit(lambda x: x * 2 + 1, backend="interpreter"),
    "a signature": lambda: ms.jit(lambda x: x * 2 + 1, input_signature=X),
    "a Cell in dynamic mode": Net,
    "a Cell in graph mode": lambda: (ms.set_context(mode=ms.GRAPH_MODE), Net())[1],
    "a gradient": lambda: ms.grad(lambda x: (x * x).sum()),
    "a compiled function under a gradient": lambda: ms.grad(ms.jit(lambda x: (x * x + 1).sum())),
}


def way(name):
    """Calls that go one way."""
    f = WAYS[name]()

    def work():
        for _ in range(CALLS):
            f(X)

    return work


@pytest.mark.parametrize("name", WAYS)
def test_no_way_of_a_call_leaks(name):
    """Less than a fiftieth of what the planted leaks lose."""
    assert growth(way, name) < CALLS * 20
