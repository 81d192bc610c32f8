"""Functions under `functools.lru_cache`: results from the cache, and calls counted as Python counts them."""

import functools

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn

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


class Holder:
    """Its cached methods have the object among their keys."""

    def __init__(self, scale):
        self.scale = scale

    @functools.cache
    def table(self, n):
        MADE.append((self.scale, n))
        return [i * self.scale for i in range(n)]

    @functools.lru_cache(maxsize=2)
    def few(self, *, plus=0.5):
        MADE.append((self.scale, plus))
        return Tensor([self.scale + plus])

    def uses(self, x):
        return x * self.table(3)[1] + self.few()


class Loud(Holder):
    """What compares and hashes it runs code of the user, which counts."""

    def __eq__(self, other):
        MADE.append("eq")
        return self is other

    def __hash__(self):
        MADE.append("hash")
        return 7


class Lazy(nn.Cell):
    @functools.lru_cache
    def weight(self, n):
        MADE.append(n)
        return Tensor([float(n)])

    def construct(self, x):
        return x * self.weight(3)


ONE, TWO, THREE, LOUD, LAZY = Holder(2.0), Holder(3.0), Holder(4.0), Loud(5.0), Lazy()


def of_a_method(x):
    return x * ONE.table(3)[2] + TWO.table(3)[2]


def of_methods_that_objects_call(x):
    return ONE.uses(x) + TWO.uses(x)


def of_too_many_objects(x):
    return x * ONE.few() + TWO.few() + THREE.few()


def of_an_object_that_compares(x):
    return x * LOUD.table(3)[1] + LOUD.few(plus=2.0)


def of_objects_and_one_that_compares(x):
    return x * ONE.few() + LOUD.few()


def of_an_object_made_inside(x):
    return x * Holder(4.5).table(3)[1]


def of_a_cell(x):
    return LAZY(x) + LAZY.weight(2)


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
    asked, of_a_method, of_methods_that_objects_call, of_too_many_objects, of_an_object_that_compares,
    of_objects_and_one_that_compares, of_an_object_made_inside, of_a_cell,
]  # fmt: skip
WHOLE = [
    numbers, tensors, told_apart, named, in_branches, repeated, of_a_method, of_methods_that_objects_call, of_a_cell,
]  # fmt: skip
CACHED = (table, window, few, fails, Holder.table, Holder.few, Lazy.weight)


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


@pytest.mark.parametrize("fn", WHOLE, ids=lambda f: f.__name__)
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


def test_a_class_that_starts_to_compare():
    class Kept:
        @functools.cache
        def factor(self, n):
            return n * 2.0

    kept, x, hashed = Kept(), Tensor([1.0]), []
    compiled = ms.jit(lambda x: x * kept.factor(3))
    assert [compiled(x).item() for _ in range(3)] == [6.0] * 3
    assert Kept.factor.cache_info()[:2] == (2, 1) and not compiled.explain().breaks
    Kept.__hash__ = lambda self: hashed.append(1) or 3
    assert [compiled(x).item() for _ in range(3)] == [6.0] * 3
    assert len(hashed) == 3 and Kept.factor.cache_info()[:2] == (4, 2)
    del Kept.__hash__
    Kept.factor = lambda self, n: -1.0
    assert compiled(x).item() == -1.0


def test_another_object_is_another_key():
    compiled = ms.jit(lambda x, held: x * held.table(3)[1])
    Holder.table.cache_clear()
    for scale in (1.0, 2.0, 3.0):
        held = Holder(scale)
        assert [compiled(Tensor([1.0]), held).item() for _ in range(3)] == [scale] * 3
    assert Holder.table.cache_info()[:2] == (6, 3)
