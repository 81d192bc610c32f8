"""experimental.optim: values against MindSpore's, schedules, graphs, groups, errors."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import mint, nn
from duograph.experimental import optim
from duograph.experimental.optim import lr_scheduler


def parameter(name="w"):
    return ms.Parameter(ms.Tensor(np.array([1.0, 2.0, -3.0], np.float32)), name=name)


def moved(optimizer_class, steps=4, **settings):
    p = parameter()
    optimizer = optimizer_class([p], **settings)
    for i in range(steps):
        assert optimizer((ms.Tensor(np.array([0.5 * (i + 1), -1.0, 2.0 - i], np.float32)),)) is True
    return p.asnumpy()


@pytest.mark.parametrize(
    ("cls", "settings", "expected"),
    [
        (optim.SGD, {"lr": 0.1, "momentum": 0.9}, [0.07204989, 2.9048998, -3.8588002]),
        (
            optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
            [-0.4274956, 2.9443603, -3.5683153],
        ),
        (optim.Adam, {"lr": 0.1}, [0.61164105, 2.3999996, -3.2953932]),
        (optim.AdamW, {"lr": 0.1, "amsgrad": True}, [0.6082355, 2.3914123, -3.2828171]),
        (optim.AdamW, {"lr": 0.1, "maximize": True}, [1.3837767, 1.592612, -2.6931827]),
        (optim.ASGD, {"lr": 0.1, "weight_decay": 0.1}, [0.46554494, 2.3151448, -3.0737362]),
        (optim.Adadelta, {}, [0.982253, 2.013052, -3.0030894]),
        (optim.Adagrad, {"lr": 0.1, "weight_decay": 0.1}, [0.66204375, 2.2767553, -3.0631359]),
        (optim.Adamax, {}, [0.993778, 2.0080004, -3.0047767]),
        (optim.NAdam, {"lr": 0.1, "weight_decay": 0.1}, [0.6076267, 2.3282971, -3.0750616]),
        (optim.RAdam, {}, [0.9963861, 2.0039997, -3.0047722]),
        (optim.RMSprop, {"momentum": 0.9, "centered": True}, [0.18037352, 2.7030017, -3.4269838]),
        (optim.Rprop, {}, [0.94632, 2.0536802, -3.01]),
        (mint.optim.SGD, {"lr": 0.1, "momentum": 0.9}, [0.07204989, 2.9048998, -3.8588002]),
    ],
)  # fmt: skip
def test_values(cls, settings, expected):
    np.testing.assert_allclose(moved(cls, **settings), expected, rtol=3e-6)


@pytest.mark.parametrize("cls", [optim.SGD, optim.Adam, optim.AdamW, optim.Rprop, optim.RAdam])
def test_same_bits_in_a_graph(cls):
    def train(compiled):
        ms.set_seed(1)
        net = nn.Dense(3, 2)
        optimizer = cls(net.trainable_params(), lr=0.1)
        schedule = lr_scheduler.StepLR(optimizer, 2)
        x = ms.Tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))
        grad = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

        def step(x):
            loss, grads = grad(x)
            optimizer(grads)
            schedule.step()
            return loss

        run = ms.jit(step) if compiled else step
        return [float(run(x)) for _ in range(5)], float(optimizer.param_groups[0]["lr"])

    assert train(True) == train(False)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda o: lr_scheduler.StepLR(o, 2), [0.1, 0.01, 0.01, 0.001]),
        (lambda o: lr_scheduler.LinearLR(o), [0.04666667, 0.06, 0.07333333, 0.08666667]),
        (lambda o: lr_scheduler.ExponentialLR(o, 0.9), [0.09, 0.081, 0.0729, 0.06561]),
        (lambda o: lr_scheduler.PolynomialLR(o, 4, 2.0), [0.05625, 0.025, 0.00625, 0.0]),
        (lambda o: lr_scheduler.LambdaLR(o, lambda e: 1 / (1 + e)), [0.05, 0.0333333, 0.025, 0.02]),
        (lambda o: lr_scheduler.MultiplicativeLR(o, lambda e: 0.95), [0.095, 0.09025, 0.0857375, 0.0814506]),
        (lambda o: lr_scheduler.MultiStepLR(o, [2, 2, 3], 0.5), [0.1, 0.025, 0.0125, 0.0125]),
        (lambda o: lr_scheduler.ConstantLR(o, 0.5, 3), [0.05, 0.05, 0.1, 0.1]),
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 3, 0.01), [0.0775, 0.0325, 0.01, 0.0325]),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, 2, 0.01), [0.055, 0.1, 0.0868198, 0.055]),
        (lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 2, 3, "triangular2"), [0.055, 0.1, 0.07, 0.04]),
        (
            lambda o: lr_scheduler.SequentialLR(
                o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.9)], [2]
            ),
            [0.01, 0.1, 0.09, 0.081],
        ),
    ],
)
def test_schedules(make, expected):
    optimizer = optim.SGD([parameter()], 0.1)
    schedule = make(optimizer)
    rates = []
    for _ in range(4):
        schedule.step()
        rates.append(float(schedule.get_last_lr()[0]))
    np.testing.assert_allclose(rates, expected, rtol=1e-5, atol=1e-8)


def test_plateau():
    optimizer = optim.SGD([parameter()], 0.1)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, "min", 0.5, patience=1)
    rates = []
    for loss in (1.0, 0.9, 0.9, 0.9, 0.5, 0.6):
        schedule.step(loss)
        rates.append(round(float(schedule.get_last_lr()[0]), 4))
    assert rates == [0.1, 0.1, 0.1, 0.05, 0.05, 0.05]


def test_groups():
    a, b, c = parameter("a"), parameter("b"), parameter("c")
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": [b], "weight_decay": 0.1}], 0.1)
    optimizer.add_param_group({"params": [c], "lr": 1.0})
    ones = ms.ops.ones(3)
    optimizer((ones, ones, ones))
    np.testing.assert_allclose(a.asnumpy(), [0.5, 1.5, -3.5])
    np.testing.assert_allclose(b.asnumpy(), [0.89, 1.88, -3.07], rtol=1e-6)
    np.testing.assert_allclose(c.asnumpy(), [0, 1, -4])
    optimizer.param_groups[0]["lr"] = 0.0
    optimizer((ones, ones, ones))
    np.testing.assert_allclose(a.asnumpy(), [0.5, 1.5, -3.5])
    assert "Parameter Group 2" in repr(optimizer)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda p: optim.SGD([], 0.1), ValueError, "must not be empty"),
        (lambda p: optim.SGD(3, 0.1), TypeError, "must be Iterable type"),
        (lambda p: optim.SGD([p], -0.1), ValueError, "Invalid learning rate: -0.1"),
        (lambda p: optim.SGD([p], 0.1, momentum=-1.0), ValueError, "Invalid momentum value"),
        (lambda p: optim.SGD([{"params": [p]}, {"params": [p]}], 0.1), ValueError, "more than one parameter group"),
        (lambda p: optim.Adam([p], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0"),
        (lambda p: optim.Adam([p], eps=-1.0), ValueError, "Invalid epsilon value"),
        (lambda p: lr_scheduler.StepLR(3, 2), TypeError, "int is not an Optimizer"),
        (lambda p: lr_scheduler.StepLR(optim.SGD([p], 0.1), 2, 0.1, 3), KeyError, "initial_lr"),
        (lambda p: lr_scheduler.LambdaLR(optim.SGD([p], 0.1), [abs, abs]), ValueError, "Expected 1 lr_lambdas"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make(parameter())


@pytest.mark.parametrize("compiles", [False, True])
def test_rates_of_groups_may_be_set_to_numbers(compiles):
    net = nn.Dense(2, 1)
    optimizer = optim.SGD(net.trainable_params(), lr=0.1)
    schedules = [optim.lr_scheduler.StepLR(optimizer, 2, 0.5), optim.lr_scheduler.ReduceLROnPlateau(optimizer)]
    gradient = ms.value_and_grad(net, None, optimizer.parameters)

    def step(x):
        optimizer(gradient(x)[1])

    step = ms.jit(step) if compiles else step
    rates = []
    for i in range(6):
        if i == 2:
            optimizer.param_groups[0]["lr"] = 1.0
        before = net.bias.asnumpy().copy()
        step(ms.Tensor([[1.0, 2.0]]))
        rates.append(float(before[0] - net.bias.asnumpy()[0]))
        schedules[0].step()
        schedules[1].step(ms.Tensor(0.5))
    assert np.allclose(rates, [0.1, 0.1, 1.0, 1.0, 0.5, 0.5])
    assert [rate.item() for rate in schedules[0].get_last_lr()] == [0.25]
