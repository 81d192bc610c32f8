"""`summary`: numbers that can be counted by hand, whatever the mode, and nothing is changed by it."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import nn, ops


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], autouse=True)
def _mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=before)


class Loops(nn.Cell):
    """Calls one layer often, another never."""

    def __init__(self):
        super().__init__()
        self.often = nn.Dense(4, 4, weight_init="ones")
        self.never = nn.Dense(4, 3)
        self.shared = self.often
        self.rnn = nn.LSTM(4, 8)
        self.drop = nn.Dropout(p=0.5)
        self.count = ms.Parameter(ms.Tensor(0.0), name="count", requires_grad=False)

    @ms.jit
    def construct(self, x):
        while x.sum() < 1000:
            x = self.often(x)
            self.count += 1
        return self.drop(self.rnn(x)[0])


def test_a_convolutional_network(capsys):
    net = nn.SequentialCell(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Dense(512, 10))
    found = ms.summary(net, ops.ones((4, 1, 8, 8)))
    text = capsys.readouterr().out
    assert text == f"{found.table}\n"
    print(found)  # once more: the table is there already
    assert len(capsys.readouterr().out.splitlines()) == 1
    by_name = {layer.name: layer for layer in found.layers}
    assert by_name["0"].output == [(4, 8, 8, 8)] and by_name["0"].parameters == 72
    assert by_name["0"].flops == 2 * 72 * 4 * 64 and by_name["4"].flops == 2 * 512 * 10 * 4
    assert found.parameters == 72 + 32 + 5130 and found.trainable == found.parameters - 16
    assert found.parameter_bytes == 4 * found.parameters
    assert found.output_bytes == 4 * (4 * 512 * 4 + 40)
    lines = text.splitlines()
    assert lines[0].split() == ["Layer", "Output", "Parameters", "FLOPs"] and lines[1] == lines[8]
    assert lines[3].startswith("  0: Conv2d ") and "[4, 8, 8, 8]" in lines[3]


def test_control_flow_and_what_it_leaves():
    net = Loops()
    net.set_train()
    state = ms.get_rng_state()
    found = ms.summary(net, ops.ones((2, 3, 4)), verbose=False)
    by_name = {layer.name: layer for layer in found.layers}
    assert by_name["often"].calls == 3 and by_name["often"].flops == 3 * 2 * 16 * 6
    assert by_name["never"].calls == 0 and "not called" in str(found)
    assert by_name["rnn"].flops == 2 * (32 * 4 + 32 * 8) * 6, "four gates"
    assert net.drop.training and float(net.count) == 0 and ms.get_rng_state() == state
    assert not net.often._forward_hooks


def test_a_transposed_convolution():
    found = ms.summary(nn.Conv2dTranspose(2, 3, 3, has_bias=False), ops.ones((1, 2, 5, 5)), verbose=False)
    assert found.flops == 2 * (2 * 3 * 9) * 25


def test_what_is_no_network():
    with pytest.raises(TypeError, match="must be a Cell"):
        ms.summary(lambda x: x, ops.ones(2))
