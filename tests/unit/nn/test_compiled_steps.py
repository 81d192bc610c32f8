"""In dynamic mode the third step of an optimizer, and all after it, are native calls with the results of plain ones."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import duograph as ms
from duograph import nn
from duograph.experimental import optim
from duograph.jit.entries import ATTRIBUTE
from duograph.nn.optim import compiled_steps

MAKE = {
    "Adam": lambda p: nn.Adam(p, nn.exponential_decay_lr(0.1, 0.9, 20, 2, 1), weight_decay=0.1),
    "groups": lambda p: nn.Momentum([{"params": p[:1], "lr": 0.5}, {"params": p[1:], "weight_decay": 0.1}], 0.1, 0.9),
    "schedule": lambda p: nn.SGD(p, nn.PolynomialDecayLR(0.5, 0.1, 4, 0.5), momentum=0.5, nesterov=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1),
}


def network(make):
    """Two parameters and their optimizer."""
    values = [np.linspace(-1, 1, 6).reshape(2, 3), np.array([0.5, -0.25, 2.0])]
    weights = [ms.Parameter(ms.Tensor(v, ms.float32), name=f"w{i}") for i, v in enumerate(values)]
    return weights, make(weights)


def gradients(step):
    return tuple(ms.Tensor(np.cos(np.arange(n) + step).reshape(s), ms.float32) for n, s in ((6, (2, 3)), (3, (3,))))


def contents(weights, optimizer):
    return [p.asnumpy().tobytes() for p in (*weights, *optimizer.get_parameters())]


def versions(optimizer):
    """Compiled versions of the steps of an optimizer."""
    return [v for store in vars(optimizer).get(ATTRIBUTE, {}).values() for v in store.compiled]


@pytest.mark.parametrize("name", MAKE)
def test_compiled_steps_are_the_plain_ones_to_the_bit(name, monkeypatch):
    weights, optimizer = network(MAKE[name])
    compiled = []
    for step in range(7):
        assert optimizer(gradients(step))
        compiled.append(contents(weights, optimizer))
    assert versions(optimizer)
    monkeypatch.setattr(compiled_steps, "PLAIN_STEPS", 100)
    weights, optimizer = network(MAKE[name])
    for step in range(7):
        optimizer(gradients(step))
        assert contents(weights, optimizer) == compiled[step]
    assert not versions(optimizer)


def test_settings_and_weights_may_change_in_between():
    results = []
    for plain in (100, 2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled_steps, "PLAIN_STEPS", plain)
            weights, optimizer = network(lambda p: nn.Adam(p, 0.1))
            for step in range(9):
                if step == 4:
                    optimizer.beta1, optimizer.loss_scale = 0.5, 4.0
                if step == 5:
                    optimizer.learning_rate.set_data(ms.Tensor(0.01))
                if step == 6:
                    weights[0].set_data(ms.Tensor(np.ones((2, 3), np.float32)))
                if step == 7:
                    optimizer = copy.deepcopy(optimizer)
                    weights = list(optimizer.parameters)
                optimizer(gradients(step))
            results.append(contents(weights, optimizer))
    assert results[0] == results[1]


def test_optimizers_can_be_pickled_after_compiled_steps():
    _, optimizer = network(lambda p: nn.Momentum(p, 0.1, 0.9))
    for step in range(4):
        optimizer(gradients(step))
    twin = pickle.loads(pickle.dumps(optimizer))
    for o in (optimizer, twin):
        o(gradients(5))
    assert contents([], optimizer) == contents([], twin)


def test_errors_are_those_of_plain_steps():
    messages = []
    for plain in (100, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled_steps, "PLAIN_STEPS", plain)
            weights, optimizer = network(lambda p: nn.Adam(p, 0.1))
            before = contents(weights, optimizer)
            first = gradients(0)[0]
            for wrong in ((first,), (first, ms.Tensor(np.ones((4, 2), np.float32))), (first, None), 3):
                with pytest.raises((RuntimeError, ValueError, TypeError)) as raised:
                    optimizer(wrong)
                messages.append((type(raised.value), str(raised.value).splitlines()[0]))
            assert contents(weights, optimizer)[:2] == before[:2]
    assert messages[:4] == messages[4:]


def test_code_of_the_user_runs_line_by_line():
    seen = []

    class Mine(nn.Momentum):
        def move(self, i, *rest):
            seen.append(i)
            super().move(i, *rest)

    class Falling(nn.LearningRateSchedule):
        def construct(self, step):
            seen.append("rate")
            return 0.1 / (step + 1)

    _, mine = network(lambda p: Mine(p, 0.1, 0.5))
    _, falling = network(lambda p: nn.SGD(p, Falling()))
    for step in range(5):
        mine(gradients(step))
        falling(gradients(step))
    assert seen == [0, 1, "rate"] * 5
    assert not versions(mine) and not versions(falling)


def test_hooks_of_an_optimizer_run_at_every_step():
    seen = []
    _, optimizer = network(lambda p: nn.Momentum(p, 0.1, 0.9))
    optimizer.register_forward_hook(lambda *args: seen.append(1))
    for step in range(5):
        optimizer(gradients(step))
    assert len(seen) == 5
