"""Cells: names, attributes, printing, hooks, errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 3)
        self.w = Parameter(Tensor([1.0, 2.0]), name="ww")
        self.k = 3

    def construct(self, x):
        return self.fc(x)


def names(cell):
    return [p.name for p in cell.get_parameters()]


def test_names_follow_the_path_at_insertion():
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Net()
            self.c = nn.SequentialCell(nn.Dense(1, 1), nn.BatchNorm2d(2))

    net = Outer()
    assert names(net) == [
        "a.w", "a.fc.weight", "a.fc.bias", "c.0.weight", "c.0.bias", "c.1.moving_mean", "c.1.moving_variance",
        "c.1.gamma", "c.1.beta",
    ]  # fmt: skip
    assert names(Net()) == ["ww", "fc.weight", "fc.bias"]
    net.update_parameters_name("pre.")
    assert names(net)[0] == "pre.a.w"
    assert names(copy.deepcopy(net)) == names(net)


def test_assigning_a_tensor_to_a_parameter_sets_its_value():
    net = Net()
    held = net.w
    net.w = Tensor([5.0, 6.0])
    assert net.w is held
    assert held.asnumpy().tolist() == [5, 6]
    with pytest.raises(TypeError, match="already exists in network"):
        net.w = 3
    with pytest.raises(TypeError, match="already exists in network"):
        net.fc = 3
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        _ = net.nope
    del net.w
    assert not hasattr(net, "w")


def test_training_starts_false_and_is_set_below():
    net = Net()
    assert net.training is False
    assert net.set_train().fc.training is True


def test_construct_errors_are_pythons():
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        Net()()
    with pytest.raises(AttributeError, match="the method 'construct' is not defined"):
        nn.Cell()(Tensor(1.0))


def test_repr():
    assert repr(nn.SequentialCell(nn.Dense(1, 2), nn.ReLU())) == (
        "SequentialCell(\n  (0): Dense(input_channels=1, output_channels=2, has_bias=True)\n  (1): ReLU()\n)"
    )


def test_forward_hooks():
    net, seen = Net(), []
    pre = net.register_forward_pre_hook(lambda cell, args: (args[0] * 0,))
    post = net.register_forward_hook(lambda cell, args, out: seen.append(out.shape))
    assert np.array_equal(net(Tensor([[1.0, 2.0]])).asnumpy()[0], net.fc.bias.asnumpy())
    assert seen == [(1, 3)]
    pre.remove()
    post.remove()
    net(Tensor([[1.0, 2.0]]))
    assert seen == [(1, 3)]


def test_backward_hooks_and_bprop():
    class Twice(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 10,)

    net, seen = Twice(), []
    x = Tensor([1.0])
    assert ms.grad(net)(x).asnumpy().tolist() == [10]
    handle = net.register_backward_hook(lambda cell, grad_input, grad_output: seen.append(len(grad_input)))
    ms.grad(net)(x)
    assert seen == [1]
    handle.remove()


def test_state_dict_round_trip():
    a, b = Net(), Net()
    b.load_state_dict(a.state_dict())
    assert np.array_equal(a.fc.weight.asnumpy(), b.fc.weight.asnumpy())
    with pytest.raises(RuntimeError, match="Missing key"):
        b.load_state_dict({})


def test_cell_list():
    cells = nn.CellList([nn.ReLU(), nn.Dense(1, 1)])
    cells.insert(0, nn.GELU())
    assert names(cells) == ["2.weight", "2.bias"]
    with pytest.raises(IndexError, match=r"range \[-3, 3\)"):
        _ = cells[9]


@pytest.mark.parametrize("capture", ["ast", "bytecode", "trace"])
def test_a_compiled_cell_as_its_own_construct_calls_the_one_before(capture):
    def made():
        net = nn.Dense(3, 3, weight_init="ones", bias_init="ones")
        net.register_forward_hook(lambda cell, inputs, output: output * 2)
        return net

    x = Tensor(np.ones((2, 3), np.float32))
    want, net = made()(x).asnumpy(), made()
    for _ in range(2):
        net.construct = ms.jit(net, capture_mode=capture)
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            ms.set_context(mode=mode)
            try:
                np.testing.assert_array_equal([net(x).asnumpy() for _ in range(3)], [want] * 3)
            finally:
                ms.set_context(mode=ms.PYNATIVE_MODE)
