"""Native calls of functions with many versions, and of tensors that are not contiguous."""

from __future__ import annotations

import random

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from tests.unit.growth import growth
from tests.unit.jit.native_calls import bits, f32, is_native, native_hits, warmed

X = f32(1.0, -2.0, 3.0)
BASE = Tensor(np.arange(96, dtype=np.float32).reshape(8, 12) - 40)

# -- many versions -----------------------------------------------------------------------------------------------------


def named(x, name):
    key = f"{name}_{x.shape[0]}"
    return {key: x * 2, "n": len(key)}


def in_turn(names, calls):
    return [names[i % len(names)] for i in range(calls)]


def at_random(names, calls):
    return random.Random(5).choices(names, k=calls)


def one_for_long(names, calls):
    return [names[i // 9 % len(names)] for i in range(calls)]


@pytest.mark.parametrize("order", [in_turn, at_random, one_for_long])
@pytest.mark.parametrize("count", [2, 3, 13, 30])
def test_all_versions_are_native_whatever_the_order_of_calls(order, count):
    function = ms.jit(named)
    names = [f"layer{'x' * k}{k}" for k in range(count)]
    for name in in_turn(names, 12 * count):
        function(X, name)
    before = native_hits(function)
    for name in order(names, 100):
        assert bits(function(X, name)) == bits(named(X, name))
    assert native_hits(function) - before == 100
    assert len(function.explain().versions) == count


def test_versions_that_go_meanwhile_do_no_harm():
    function = ms.jit(named)
    names = [str(k) * (k + 1) for k in range(8)]
    for name in in_turn(names, 60):
        function(X, name)
    for _ in range(4):
        function._own.drop(function._own.compiled[len(function._own.compiled) // 2])
        for name in names:
            assert bits(function(X, name)) == bits(named(X, name))


# -- tensors that are not contiguous -----------------------------------------------------------------------------------

VIEWS = {
    "transposed": lambda x: x.T,
    "columns": lambda x: x[:, 1:7],
    "steps": lambda x: x[::3, ::2],
    "backwards": lambda x: x[::-1, ::-2],
    "one column": lambda x: x[:, 3],
    "repeated": lambda x: ops.broadcast_to(x[2:3], (5, 12)),
    "Fortran": lambda x: Tensor(np.asfortranarray(x.asnumpy())),
    "not aligned": lambda x: Tensor(misaligned(x.asnumpy())),
}


def misaligned(array):
    made = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


@pytest.mark.parametrize("dtype", [ms.float32, ms.int8, ms.bool_, ms.bfloat16, ms.complex64])
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_arguments_of_native_calls(view, dtype):
    def f(x):
        return x.astype(ms.float32) * 2 + 1, x

    x = VIEWS[view](BASE.astype(dtype))
    function = warmed(ms.jit(f), x)
    assert is_native(function, x)
    result = function(x)
    assert bits(result) == bits(f(x))
    assert result[1] is x


def test_a_view_is_read_anew_in_each_call():
    base = BASE.copy()
    x = base[:, ::2]
    function = warmed(ms.jit(lambda x: (x * 2).sum()), x)
    for value in (3.0, 4.0):
        base[:] = value
        assert is_native(function, x)
        assert function(x) == value * 2 * 48


def calls_of_views_and_of_many_versions():
    centred, many = ms.jit(lambda x: x - x.mean()), ms.jit(named)
    wrapped = ms.jit(lambda *args, **kwargs: (args[0] * kwargs["k"], args, kwargs))

    def work():
        for k in range(400):
            centred(BASE[:, ::2])
            many(X, f"layer{k % 20}")
            wrapped(X, k, k=2.0, other=k)

    return work


def test_copies_for_native_calls_are_given_back():
    assert growth(calls_of_views_and_of_many_versions) < 20_000  # not a byte for a call


def reads_beside(x, y):
    y[0] = x[0, 0]
    return x + y[0]


def writes(x, y):
    y.add_(x[0])
    x[0] += 1.0
    return x.sum()


@pytest.mark.parametrize(("function", "native"), [(reads_beside, True), (writes, False)])
def test_what_writes_beside_a_view_is_native_and_what_writes_to_it_is_not(function, native):
    compiled = ms.jit(function)
    for _ in range(6):
        mine, theirs = (BASE.copy(), ops.zeros(8)), (BASE.copy(), ops.zeros(8))
        assert bits((compiled(mine[0].T, mine[1]), mine)) == bits((function(theirs[0].T, theirs[1]), theirs))
    assert (native_hits(compiled) > 0) is native


@pytest.mark.parametrize("view", [lambda a: a[:, ::2], lambda a: a[::-1, ::-2], lambda a: a.T[::2].T])
def test_a_view_that_overlaps_what_is_written_is_led_by_python(view):
    """Two tensors of one array of NumPy's, of which nothing is known but their addresses."""

    def run(function, place):
        array = np.arange(96, dtype=np.float32).reshape(8, 12)
        x, y = Tensor.from_numpy(view(array)), Tensor.from_numpy(array.reshape(-1)[place : place + 8])
        return bits((function(x, y), x, y))

    compiled = warmed(ms.jit(reads_beside), Tensor.from_numpy(view(BASE.asnumpy())), ops.zeros(8))
    for place in (0, 1, 40, 87, 88):
        for _ in range(3):
            assert run(compiled, place) == run(reads_beside, place)


@pytest.mark.parametrize("compiled", ["step", "loss"])
def test_training_on_views_of_the_data(compiled):
    def train(decorated):
        weight = ms.Parameter(ops.ones((6, 1)), name="w")
        loss = ms.jit(lambda x: ((x @ weight - 1) ** 2).mean()) if decorated == "loss" else (
            lambda x: ((x @ weight - 1) ** 2).mean()
        )  # fmt: skip
        gradient = ms.value_and_grad(loss, None, [weight])

        def step(x):
            value, (g,) = gradient(x)
            weight.sub_(0.001 * g)
            return value

        step = ms.jit(step) if decorated == "step" else step
        found = [bits((step(BASE[k % 3 : k % 3 + 4, ::2]), weight)) for k in range(12)]
        outer = {"step": step, "loss": loss}.get(decorated)
        return found, sum(v["native_calls"] for v in outer.explain().versions) if outer is not None else 0

    expected, _ = train("")
    found, native = train(compiled)
    assert found == expected and native >= 9
