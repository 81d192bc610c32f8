"""Compiled training steps update parameters where they are, and nothing else can see that."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops


def network(seed: int = 0):
    """A small network with an optimizer that has state, and a step that trains it."""
    rng = np.random.default_rng(seed)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4))
    for p in net.trainable_params():
        p.set_data(ms.Tensor(rng.standard_normal(p.shape).astype(np.float32)))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    loss = nn.MSELoss()
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def step(x, y):
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    return net, step


def batch(seed: int = 1):
    rng = np.random.default_rng(seed)
    return ms.Tensor(rng.standard_normal((5, 8)).astype(np.float32)), ms.Tensor(np.ones((5, 4), np.float32))


def contents(net):
    return [p.asnumpy().tobytes() for p in net.get_parameters()]


def test_a_step_is_eagers_to_the_bit_and_in_place():
    eager_net, eager_step = network()
    net, step = network()
    step = ms.jit(step)
    memory = [p.array().ctypes.data for p in net.get_parameters()]
    for _ in range(4):
        expected, value = eager_step(*batch()), step(*batch())
        assert value.asnumpy().tobytes() == expected.asnumpy().tobytes()
        assert contents(net) == contents(eager_net)
    assert [p.array().ctypes.data for p in net.get_parameters()] == memory
    (version,) = step.explain().versions
    assert version["in_python"] == [] and version["memory"].startswith("arena of ")


def test_views_of_a_parameter_see_the_update():
    net, step = network()
    weight = net.trainable_params()[0]
    row = weight[0]
    ms.jit(step)(*batch())
    assert row.asnumpy().tobytes() == weight.asnumpy()[0].tobytes()


def test_what_a_step_returns_is_no_parameter():
    weight = ms.Parameter(ms.Tensor(np.ones(4, np.float32)), name="w")

    @ms.jit
    def update(x):
        weight.set_data(weight * 2 + x)
        return weight + 0, weight * 1

    first = update(ms.Tensor(np.zeros(4, np.float32)))
    kept = [t.asnumpy().copy() for t in first]
    update(ms.Tensor(np.zeros(4, np.float32)))
    assert [t.asnumpy().tolist() for t in first] == [k.tolist() for k in kept]
    assert weight.asnumpy().tolist() == [4] * 4


def test_an_input_that_is_the_parameter():
    weight = ms.Parameter(ms.Tensor(np.arange(4, dtype=np.float32)), name="w")

    def update(x):
        ops.assign(weight, weight * 2 + x)
        return x.sum()

    compiled = ms.jit(update)
    assert float(compiled(ms.Tensor(np.ones(4, np.float32)))) == 4
    before = weight.asnumpy().copy()
    view = weight[...]
    compiled(view)
    assert weight.asnumpy().tolist() == (3 * before).tolist()


def test_a_step_that_fails_has_written_as_often_as_in_eager_mode():
    weight = ms.Parameter(ms.Tensor(np.arange(4, dtype=np.float32)), name="w")

    @ms.jit
    def update(index):
        ops.assign(weight, weight * 2)
        return ops.gather(weight, index, 0)

    update(ms.Tensor([1, 2]))
    before = weight.asnumpy().copy()
    with pytest.raises(RuntimeError, match="should be in the range"):
        update(ms.Tensor([1, 9]))
    assert weight.asnumpy().tolist() == (2 * before).tolist()
