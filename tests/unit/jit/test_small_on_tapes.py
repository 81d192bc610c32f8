"""Compiled functions of a few ops run op by op while tapes record, where a call of its own costs more than the ops."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from duograph.jit import policy
from tests.unit.jit.native_calls import bits, warmed


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    monkeypatch.setattr(policy, "FEWEST", 5)


def t(*shape, seed=0):
    return ms.Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def led(f):
    """Calls that versions of ``f`` have answered."""
    return sum(e.hits for store in f._stores() for e in store.compiled)


def test_a_small_function_is_compiled_for_calls_and_runs_op_by_op_for_gradients():
    f = ms.jit(lambda x, y: ops.tanh(x * y) + 1)
    wanted = ms.grad(lambda x, y: ops.tanh(x * y) + 1, (0, 1))(t(3), t(3, seed=1))
    assert bits(ms.grad(f, (0, 1))(t(3), t(3, seed=1))) == bits(wanted)
    assert led(f) == 0
    warmed(f, t(3), t(3))
    assert led(f) == 3
    assert bits(ms.grad(f, (0, 1))(t(3), t(3, seed=1))) == bits(wanted)
    assert led(f) == 3


@pytest.mark.parametrize(
    ("fn", "x"),
    [
        (lambda x: ((x.tanh() * x).exp() + x).sigmoid(), t(3)),
        (lambda x: x.tanh() * x, t(300, 300)),
        (lambda x: x * 2 if x.sum() > 0 else x, t(3)),
    ],
    ids=["many ops", "much data", "paths"],
)
def test_what_is_compiled_for_gradients(fn, x):
    f = ms.jit(fn)
    assert [bits(ms.grad(f)(x)) for _ in range(4)] == [bits(ms.grad(fn)(x))] * 4
    assert led(f) > 0


def test_a_function_with_a_large_version_is_not_small():
    f = ms.jit(lambda x, n: x if n == 0 else ((x.tanh() * n).exp() + x).sigmoid() * x)
    ms.grad(f)(t(3), 0)
    assert f._own.is_small
    f(t(3), 1)
    assert not f._own.is_small


def test_small_cells_in_graph_mode():
    net = nn.Dense(4, 4)
    gradient = ms.value_and_grad(lambda x: net(net(x)).sum(), 0, net.trainable_params())
    wanted = bits(gradient(t(2, 4)))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert [bits(gradient(t(2, 4))) for _ in range(4)] == [wanted] * 4
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_wrong_arguments_and_errors_of_the_program_are_the_same():
    f = ms.jit(lambda x, i: x[i])
    ms.grad(f)(t(3), ms.Tensor(1))
    with pytest.raises(TypeError):
        ms.grad(f)(t(3))
    with pytest.raises(IndexError):
        ms.grad(f)(t(3), ms.Tensor(5))
