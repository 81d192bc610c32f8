"""Long lists of numbers and texts from outside: one guard compares them, natively."""

from __future__ import annotations

import math

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor

X = Tensor(np.arange(4, dtype=np.float32))


def bits(value):
    return value.asnumpy().tobytes()


def test_ten_thousand_numbers_are_one_guard():
    numbers = [float(i) for i in range(10_000)]

    @ms.jit
    def f(x):
        total = 0.0
        for v in numbers:
            total += v
        return x * total

    for _ in range(5):
        assert bits(f(X)) == bits(f.fn(X))
    numbers[:] = [float(i) for i in range(10_000)]  # other objects, the same numbers
    assert bits(f(X)) == bits(f.fn(X))
    (version,) = f.explain().versions
    assert len([g for g in version["guards"] if "10000 numbers" in g]) == 1 and version["native_calls"] >= 3


@pytest.mark.parametrize("other", [7, 7.5, True, None, "7", -0.0, math.nan, 1 << 70, [7.0], Tensor(7.0)])
def test_what_is_changed_is_seen(other):
    held = [0.0, *map(float, range(1, 200))]

    @ms.jit
    def f(x):
        seen = held[7] if type(held[7]) in (int, float) else len(str(type(held[7])))
        return x * seen, math.copysign(1.0, held[0])

    def same():
        for _ in range(2):
            (a, b), (c, d) = f(X), f.fn(X)
            assert bits(a) == bits(c) and b == d

    for _ in range(4):
        same()
    for place in (7, 0) if type(other) is float else (7,):
        before, held[place] = held[place], other
        same()
        held[place] = before
        same()
    held.append(1.0)
    same()
    del held[-2:]
    same()


def test_a_number_that_varies_becomes_an_input():
    held = [float(i) for i in range(100)]

    @ms.jit
    def f(x):
        return x * held[3] + len(held)

    for i in range(12):
        held[3] = i * 0.5
        assert bits(f(X)) == bits(f.fn(X))
    assert len(f.explain().versions) == 2


def test_a_list_that_is_written():
    held, twin = [float(i) for i in range(100)], [float(i) for i in range(100)]

    @ms.jit
    def f(x, values):
        values[5] += 1.0
        values.append(values[0])
        return x * values[5]

    for _ in range(5):
        assert bits(f(X, held)) == bits(f.fn(X, twin))
        assert held == twin
