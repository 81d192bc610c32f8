"""Iterators, arrays and the like, whose state cannot be put back: on several paths nothing is wrong."""

import itertools
import random

import numpy as np
import pytest

import duograph as ms
from tests.unit.frontend.cases import Cases, name_of

case = Cases()


@case()
def gen(x):
    def g():
        a = 1
        while a < 5:
            yield x * a
            a *= 2

    return sum(g(), x), list(g())


@case()
def gen_send(x):
    def g():
        total = x * 0
        while True:
            v = yield total
            if v is None:
                return
            total = total + v

    it = g()
    next(it)
    out = [it.send(x), it.send(x * 2)]
    return out


@case(captured=False)
def iterator_shared_by_regions(x):
    it = iter([x, x * 2, x * 3, x * 4])

    def g():
        a = next(it)
        if a.sum() > 0:
            return a
        return a * 2

    return g() + g()


@case(captured=False)
def iterator_consumed_in_branches(x):
    it = iter([1, 2, 3])
    if x.sum() > 0:
        y = sum(it)
    else:
        y = sum(it) * 2
    return x * y


@case(captured=False)
def generator_consumed_in_branches(x):
    def gen():
        yield x
        yield x * 2

    it = gen()
    if x.sum() > 0:
        a, b = it
    else:
        b, a = it
    return a - b


@case(captured=False)
def zip_consumed_in_branches(x):
    it = zip([1, 2], [x, x])
    if x.sum() > 0:
        y = [b * a for a, b in it]
    else:
        y = [b - a for a, b in it]
    return y


@case(captured=False)
def native_consumes_in_branches(x):
    it = zip(["a", "b"], [1, 2])
    if x.sum() > 0:
        d = dict(it)
    else:
        d = dict(it)
    return d, x


@case(captured=False)
def extend_consumes_in_branches(x):
    it = (k for k in range(3))
    a = []
    if x.sum() > 0:
        a.extend(it)
    else:
        a.extend(it)
    return a, x


@case(captured=False)
def count_iterator(x):
    c = itertools.count()
    n = next(c)
    if x.sum() > 0:
        y = x * (n + 1)
    else:
        y = x
    return y, next(c)


@case(captured=False)
def bytearray_in_branches(x):
    d = bytearray(b"a")
    if x.sum() > 0:
        d.append(98)
    else:
        d.append(99)
    return bytes(d), x


@case()
def numpy_inside(x):
    a = np.zeros(3)
    b = a[1:]
    b[0] = 5
    if x.sum() > 0:
        y = x * float(a[1])
    else:
        y = x
    return y, a


@case(captured=False)
def numpy_in_branch(x):
    a = np.arange(3)
    b = a[1:]
    if x.sum() > 0:
        b[0] = 5
        a.sort()
    else:
        b.fill(7)
    return a, x


@case(captured=False, build=True)
def numpy_outside():
    a = np.arange(3)

    def f(x):
        a[0] += 1
        return x * int(a[0])

    return f


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()


GENERATOR = np.random.default_rng(3)
DRAW, BITS = GENERATOR.random, GENERATOR.bit_generator.random_raw


@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.rand(),
        lambda: np.random.randint(1 << 30),
        lambda: float(np.random.randn(2).astype(np.float32)[0]),
        lambda: DRAW(),
        lambda: BITS(),
        lambda: random.random(),
        lambda: random.choice(range(1 << 30)),
    ],
)
@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_generators_behind_methods_that_were_bound_outside_are_outside_objects(draw, mode):
    seen = []

    @ms.jit(capture_mode=mode)
    def f(x):
        number = draw()
        seen.append(number)
        return x * 2

    for _ in range(8):
        f(ms.Tensor([1.0]))
    assert len(set(seen)) == len(seen) == 8
