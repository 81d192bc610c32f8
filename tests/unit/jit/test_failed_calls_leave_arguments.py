"""A compiled call that raises leaves its arguments, and Parameters, as plain Python leaves them."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops

MODES = [{}, {"jit_level": "O0"}, {"backend": "interpreter"}]


def unused_power(x, n):
    v = 0 ** (n - 5)
    x[1] = 1
    return v


def element(x, n):
    v = x[n]
    x.add_(1)
    return v


def rows(x, n):
    v = ops.gather(x, Tensor([0, 0]) + n, 0)
    x.mul_(2)
    return v


def unused_division(x, n):
    10 // n
    x.mul_(2)
    return x + n


def written_before(x, n):
    x.add_(1)
    v = 10 // n
    x.mul_(v)
    return x[n]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [unused_power, element, rows, unused_division, written_before])
def test_arguments_after_an_exception(f, mode):
    compiled = ms.jit(f, **mode)
    for n in (1, 2, 1, 7, 0, 2, 9, 0, -9, 1, 3, 1, 1, 1, 0, 4, 9, 2):
        shown = []
        for g in (f, compiled):
            x = Tensor([1.0, 2.0, 3.0])
            try:
                result = str(g(x, n))
            except (ArithmeticError, IndexError, RuntimeError) as error:
                result = type(error).__name__
            shown.append((result, x.tolist()))
        assert shown[0] == shown[1], n


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_parameters_after_a_label_out_of_range(mode):
    """The loss of a training step raises: no Parameter, and no moment of the optimizer, may have moved."""

    def train(compiling):
        ms.set_seed(1)
        net = nn.Dense(3, 4)
        optimizer = nn.Adam(net.trainable_params(), 0.1)
        held = Parameter(Tensor(0.0), name="held")
        loss_and_slopes = ms.value_and_grad(
            lambda x, i: -ops.gather(ops.log_softmax(net(x)), i, 1).sum(), None, optimizer.parameters
        )

        def step(x, i):
            ops.assign_add(held, ops.ones(()))
            loss, slopes = loss_and_slopes(x, i)
            optimizer(slopes)
            return loss

        step = compiling(step)
        x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
        shown = []
        for i in (0, 3, 7, 1, 9, 2):
            try:
                shown.append(step(x, Tensor([0, i])).tolist())
            except (IndexError, RuntimeError, ValueError) as error:
                shown.append(type(error).__name__)
            shown.append([p.tolist() for p in (held, *optimizer.get_parameters(), *net.get_parameters())])
        return shown

    expected = train(lambda step: step)
    assert [one for one in expected if isinstance(one, str)]
    assert train(lambda step: ms.jit(step, **mode)) == expected
