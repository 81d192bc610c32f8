"""A loss that is NaN: `Model` and `LossMonitor` name the operator, the line and the layer that made it."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from duograph.core.launchable import is_paused
from duograph.train import diagnosis


class Log(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3, weight_init="zeros", bias_init="ones")

    def construct(self, x):
        return ops.log(self.fc(x) - ops.relu(x.max() - 2.5) * 100.0)


class Root(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3, weight_init="zeros", bias_init="zeros")

    def construct(self, x):
        return ops.sqrt(self.fc(x))  # 0: finite, with an infinite gradient


def batches(n=12, **bad):
    x = np.linspace(0, 1, n * 8).reshape(n, 2, 4).astype(np.float32)
    for where, value in bad.items():
        x[int(where.removeprefix("at"))] = value
    return [(ms.Tensor(row), ms.Tensor(np.ones((2, 3), np.float32))) for row in x]


def model_of(net):
    return ms.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-4))


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["dynamic", "graph"])
def mode(request):
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def stopped(net, data):
    with pytest.raises(ValueError, match="loss is NAN or INF") as raised:
        model_of(net).train(1, data, callbacks=[ms.LossMonitor(0)])
    assert not is_paused()
    return "\n".join(raised.value.__notes__)


@pytest.mark.parametrize("step", [0, 3, 11])
def test_made_in_the_forward_pass(mode, step):
    told = stopped(Log(), batches(**{f"at{step}": 3.0}))
    assert told.startswith("the result of 'log' has 6 NaN among 6 elements")
    assert "(in the layer 'Log')" in told
    assert "return ops.log(self.fc(x) - ops.relu(x.max() - 2.5) * 100.0)" in told
    assert ("(with the parameters of 3 steps before)" in told) is (step == 11)


def test_made_by_the_gradient_of_the_step_before(mode):
    told = stopped(Root(), batches())
    assert told.startswith("the gradient of 'sqrt' has 6 Inf among 6 elements")
    assert "return ops.sqrt(self.fc(x))" in told


def test_made_by_the_data(mode):
    assert stopped(Log(), batches(at2=np.nan)) == "column 0 of the batch itself has 8 NaN or Inf among 8 elements"


def test_a_warning_without_a_monitor(caplog):
    with caplog.at_level(logging.WARNING, "duograph.numerics"):
        model_of(Root()).train(2, batches())
    (record,) = caplog.records
    assert record.message.startswith("In epoch: 1 step: 2, loss is nan.\nthe gradient of 'sqrt'")


def test_nothing_is_changed_by_the_look(monkeypatch):
    def trained(watched):
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Dense(4, 3), nn.Dropout(p=0.5))
        optimizer = nn.Adam(net.trainable_params(), 1e-2)
        if not watched:
            monkeypatch.setattr("duograph.train.model._is_fine", lambda outputs: True)
        ms.Model(net, nn.MSELoss(), optimizer).train(1, batches(at5=1e30)[:6])
        held = [p.asnumpy().tobytes() for p in (*net.get_parameters(), *optimizer.get_parameters())]
        return held, ops.rand(3).tolist()

    assert trained(watched=True) == trained(watched=False)


def test_what_cannot_be_repeated_is_said(monkeypatch):
    monkeypatch.setattr(diagnosis, "MOST_BYTES", 0)
    assert "DUOGRAPH_CHECK_NUMERICS=raise" in stopped(Log(), batches(at1=3.0))
