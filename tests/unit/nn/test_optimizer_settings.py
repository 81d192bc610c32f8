"""Settings of optimizers and losses that change between steps count in compiled steps as in dynamic ones."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import nn
from duograph.experimental import optim
from duograph.frontend.session.session import Session

OPTIMIZERS = {
    "Adam": lambda p: nn.Adam(p, 0.125, use_nesterov=True),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 0.125, weight_decay=0.25),
    "AdaMax": lambda p: nn.AdaMax(p, 0.125),
    "Adagrad": lambda p: nn.Adagrad(p, learning_rate=0.125),
    "Adadelta": lambda p: nn.Adadelta(p, 0.125),
    "ASGD": lambda p: nn.ASGD(p, 0.125),
    "FTRL": lambda p: nn.FTRL(p, learning_rate=0.125),
    "Lamb": lambda p: nn.Lamb(p, 0.125),
    "LARS": lambda p: nn.LARS(nn.Momentum(p, 0.125, 0.5), coefficient=0.5),
    "Momentum": lambda p: nn.Momentum(p, 0.125, 0.5, weight_decay=0.25, loss_scale=2.0),
    "ProximalAdagrad": lambda p: nn.ProximalAdagrad(p, learning_rate=0.125),
    "RMSProp": lambda p: nn.RMSProp(p, 0.125, momentum=0.5),
    "Rprop": lambda p: nn.Rprop(p, 0.125),
    "SGD": lambda p: nn.SGD(p, 0.125, momentum=0.5, dampening=0.25),
    "experimental Adam": lambda p: optim.Adam(p, lr=0.125, weight_decay=0.25),
    "experimental AdamW": lambda p: optim.AdamW(p, lr=0.125),
    "experimental SGD": lambda p: optim.SGD(p, lr=0.125, momentum=0.5),
}


def numbers(owner):
    """The settings of an optimizer that are plain numbers, by the places where they are kept."""
    tables = [*getattr(owner, "param_groups", ()), vars(owner)]
    return [(t, k) for t in tables for k, v in t.items() if type(v) is float and not k.startswith("_")]


def halved(optimizer):
    """Halves every number that the optimizer, or the one inside it, keeps."""
    places = numbers(optimizer) + [
        place for v in vars(optimizer).values() if isinstance(v, nn.Optimizer) for place in numbers(v)
    ]
    for table, key in places:
        table[key] = table[key] / 2
    return places


def trained(make, how):
    """A parameter after two steps, a change of all settings, and two more."""
    weight = ms.Parameter(ms.Tensor(np.linspace(-1, 1, 6).reshape(2, 3), ms.float32), name="weight")
    optimizer = make([weight])
    gradient = ms.Tensor(np.linspace(0.5, -0.25, 6).reshape(2, 3), ms.float32)
    step = (lambda g: optimizer((g,))) if how == "dynamic" else ms.jit(lambda g: optimizer((g,)))
    for _ in range(2):
        step(gradient)
    before = weight.asnumpy().copy()
    changed = halved(optimizer)
    for _ in range(2):
        step(gradient)
    assert how == "dynamic" or not step.explain().fallbacks
    return before.tobytes(), weight.asnumpy().tobytes(), changed


GROUPED = [name for name in OPTIMIZERS if name not in ("Adadelta", "FTRL", "LARS", "ProximalAdagrad")]


@pytest.mark.parametrize("name", GROUPED)
def test_steps_with_groups_are_captured(name):
    """Parameters with rates and decays of their own."""
    results = []
    for how in ("dynamic", "compiled"):
        weights = [ms.Parameter(ms.Tensor([1.0, 2.0 + i]), name=f"weight{i}") for i in range(3)]
        groups = [{"params": weights[:2], "lr": 0.5}, {"params": weights[2:], "weight_decay": 0.125}]
        if name.startswith("experimental") or name in ("ASGD", "Rprop"):
            groups[1].pop("weight_decay")
        optimizer = OPTIMIZERS[name](groups)
        step = optimizer if how == "dynamic" else ms.jit(lambda *g, optimizer=optimizer: optimizer(g))
        for i in range(3):
            gradients = [ms.Tensor([0.5, -0.25 * i])] * 3
            step(tuple(gradients)) if how == "dynamic" else step(*gradients)
        if how == "compiled":
            assert not step.explain().fallbacks
        results.append([w.asnumpy().tobytes() for w in weights])
    assert results[0] == results[1]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_settings_may_change_between_steps(name):
    before, after, changed = trained(OPTIMIZERS[name], "dynamic")
    assert changed
    assert trained(OPTIMIZERS[name], "compiled")[:2] == (before, after)


def test_the_reduction_of_a_loss_may_change():
    loss = nn.MSELoss()
    x, y = ms.Tensor([[1.0, 2.0]]), ms.Tensor([[0.5, 4.0]])
    compiled = ms.jit(lambda x, y: loss(x, y))
    assert compiled(x, y) == loss(x, y) == 2.125
    loss.reduction, loss.average = "sum", False
    assert compiled(x, y) == loss(x, y) == 4.25


def test_parameters_are_looked_through_once_per_capture(monkeypatch):
    """Each parameter's update reads the tuples of all parameters and states; capture is linear nevertheless."""
    looks = []
    original = Session._external_tensor
    monkeypatch.setattr(Session, "_external_tensor", lambda *args: looks.append(1) or original(*args))
    counts = []
    for n in (10, 40):
        weights = [ms.Parameter(ms.Tensor([1.0]), name=f"w{i}") for i in range(n)]
        looks.clear()
        step = ms.jit(nn.Adam(weights))
        step(tuple(ms.Tensor([1.0]) for _ in weights))
        counts.append(len(looks))
    assert counts[1] < 5 * counts[0]


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float64], ids=str)
@pytest.mark.parametrize("name", [*OPTIMIZERS, "Momentum with Nesterov", "LARS with clipping"])
def test_every_optimizer_takes_parameters_of_every_float(name, dtype):
    """The rates are float32: what mixes both is computed in the wider dtype, and rounded when it is stored."""
    more = {
        "Momentum with Nesterov": lambda p: nn.Momentum(p, 0.125, 0.5, use_nesterov=True),
        "LARS with clipping": lambda p: nn.LARS(nn.Momentum(p, 0.125, 0.5), use_clip=True),
    }
    results = []
    for how in ("dynamic", "compiled"):
        weight = ms.Parameter(ms.Tensor([1.0, -2.0, 0.5], dtype), name="weight")
        optimizer = (OPTIMIZERS | more)[name]([weight])
        step = (lambda g: optimizer((g,))) if how == "dynamic" else ms.jit(lambda g: optimizer((g,)))
        for i in range(3):
            step(ms.Tensor([0.5, -0.25 * i, 1.0], dtype))
        moved = bool((weight != ms.Tensor([1.0, -2.0, 0.5], dtype)).any())
        assert weight.dtype is dtype and (moved or name == "Adadelta")  # whose first steps are below bfloat16's
        results.append(weight.astype(ms.float64).asnumpy().tobytes())
    assert results[0] == results[1]
