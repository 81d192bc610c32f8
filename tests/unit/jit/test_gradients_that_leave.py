"""Gradients that are taken elsewhere than where they were made: gradient functions that leave compiled code, and the
function that `vjp` gives, called within compiled code, or under vmap."""

from __future__ import annotations

import time

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from tests.unit.jit.native_calls import bits

CALLS = 6
X = ms.Tensor(np.array([0.25, 1, -2], np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = ms.Parameter(X * 1, name="p")

    def construct(self, x):
        y = ops.tanh(x) * self.p + x.exp() * ops.sin(x)
        return (ops.cos(y) - ops.tanh(y)).sum()


outside = Net()
parameters = list(outside.trainable_params())


def wave(x):
    y = ops.tanh(x) * ops.sin(x)
    return y * ops.cos(y)


def of_new_cell(x):
    net = Net()
    return ms.value_and_grad(net, None, net.trainable_params())


def with_one_parameter(x):
    net = Net()
    return ms.grad(net, 0, net.p), net


def of_operation(x):
    net = Net()
    return ops.GradOperation(get_all=True, get_by_list=True)(net, ms.ParameterTuple(net.trainable_params()))


def of_operation_without_list(x):
    net = Net()
    return ops.GradOperation(get_by_list=True)(net)


def of_cell_from_outside(x):
    return ms.value_and_grad(outside, None, outside.trainable_params(), return_ids=True)


def with_list_from_outside(x):
    return ms.value_and_grad(outside, 0, parameters)


@pytest.mark.parametrize(
    "make",
    [of_new_cell, with_one_parameter, of_operation, of_operation_without_list, of_cell_from_outside,
     with_list_from_outside],
)  # fmt: skip
def test_a_gradient_that_leaves_is_about_the_parameters_that_leave_with_it(make):
    def taken(made):
        return [bits(f(X)) for f in (made if isinstance(made, tuple) else (made,))]

    run = ms.jit(make)
    wanted = taken(make(X))
    for _ in range(CALLS):
        assert taken(run(X)) == wanted
    assert run.explain().versions


def test_a_cell_that_is_made_and_trained_around_a_break():
    class Logged(Net):
        def construct(self, x):
            y = ops.tanh(x) * self.p + x.exp() * ops.sin(x)
            time.sleep(0)
            return (ops.cos(y) - ops.tanh(y)).sum()

    def step(x):
        net = Logged()
        return ms.value_and_grad(net, None, net.trainable_params())(x)

    run = ms.jit(step)
    for _ in range(CALLS):
        assert bits(run(X)) == bits(step(X))


RATES = {"one": 0.1, "list": [0.1, 0.2, 0.3], "tensor": ms.Tensor([0.3, 0.1]), "schedule": None}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_an_optimizer_that_is_made_leaves_with_its_rates(rate, decay):
    def step(x):
        net = Net()
        rates = nn.ExponentialDecayLR(0.1, 0.9, 2) if rate == "schedule" else RATES[rate]
        optimizer = nn.SGD(net.trainable_params(), rates, weight_decay=decay)
        time.sleep(0)
        train = nn.TrainOneStepCell(net, optimizer)
        return [train(x) for _ in range(3)], net.p * 1

    run = ms.jit(step)
    for _ in range(CALLS):
        assert bits(run(X)) == bits(step(X))
    assert not run.explain().failures


def broken(x):
    out, pull = ms.vjp(wave, x)
    time.sleep(0)
    return out, pull(x), pull(x * 2)


def mapped(x):
    _, pull = ms.vjp(wave, x)
    return ms.vmap(lambda c: pull(c)[0])(ops.stack([x, x * 2]))


def second(x):
    return ms.grad(lambda z: (ms.vjp(wave, z)[1](z)[0] ** 2).sum())(x)


@pytest.mark.parametrize("fn", [broken, mapped, second])
def test_vjp_around_breaks_and_vmap(fn):
    run = ms.jit(fn)
    for _ in range(CALLS):
        assert bits(run(X)) == bits(fn(X))


def test_the_function_of_a_vjp_is_called_in_compiled_code_and_under_vmap():
    jacobian = ms.jacrev(wave)(X)
    call = ms.jit(lambda pull, c: pull(c)[0])
    for _ in range(CALLS):
        out, pull = ms.vjp(wave, X)
        assert bits(call(pull, X)) == bits(pull(X)[0])
        rows = ms.vmap(lambda c, pull=pull: pull(c)[0])(ms.Tensor(np.eye(3, dtype=np.float32)))
        np.testing.assert_array_equal(rows.asnumpy(), jacobian.asnumpy())


def test_a_vjp_that_was_taken_under_vmap_gives_no_gradient_after_it():
    kept = []
    ms.vmap(lambda x: (kept.append(ms.vjp(wave, x)[1]), x)[1])(ops.stack([X, X]))
    with pytest.raises(RuntimeError, match="recorded outside"):
        kept[0](X)
