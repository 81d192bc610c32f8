"""MindSpore's own ``.mindir`` files: what they compute here is what MindSpore computed; what is not read says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.train import mindspore_ir

FILES = np.load(Path(__file__).parent / "mindspore.npz")
NAMES = ("convolutions", "attention", "recurrent", "elements", "branches", "loops", "sizes")


def several(name, kind):
    found = []
    while f"{name}.{kind}{len(found)}" in FILES:
        found.append(FILES[f"{name}.{kind}{len(found)}"])
    return found


@pytest.fixture
def network(tmp_path):
    def make(name):
        path = tmp_path / f"{name}.mindir"
        path.write_bytes(FILES[f"{name}.file"].tobytes())
        return nn.GraphCell(ms.load(str(path)))

    return make


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_mindspore(name, mode, network, monkeypatch):
    ms.set_context(mode=mode)
    try:
        found = network(name)(*[Tensor(array) for array in several(name, "input")])
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    found = found if isinstance(found, tuple) else (found,)
    wanted = several(name, "result")
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted):
        assert got.asnumpy().dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got.asnumpy(), want, rtol=2e-6, atol=2e-6)


def test_sizes_that_are_open(network):
    net = network("sizes")
    x = np.random.default_rng(0).random((5, 3, 9, 7), np.float32)
    rows = [net(Tensor(x[i : i + 1])).asnumpy()[0] for i in range(5)]
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), rows, rtol=1e-5, atol=1e-6)


def test_a_network_that_was_read_can_be_trained(network):
    net = network("attention")
    ids = Tensor(FILES["attention.input0"])
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    grad = ms.value_and_grad(lambda x: (net(x) ** 2).sum(), None, optimizer.parameters)
    losses = []
    for _ in range(5):
        loss, grads = grad(ids)
        optimizer(grads)
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2
    assert {p.name for p in net.get_parameters()} >= {"table.embedding_table", "q.weight", "norm.gamma"}


def test_branches_depend_on_values(network):
    net = network("branches")
    for values in ([1.0, 2.0, 3.0], [-1.0, -2.0, 0.5]):
        x = Tensor(values)
        want = (x * 2 if float(x.sum()) > 0 else x - 1) + 1
        assert (net(x) == want).all()


def test_what_changes_state_is_refused(network):
    with pytest.raises(RuntimeError, match=r"cannot be read: the operator Assign .*changes state"):
        network("assigning")


def test_an_operator_that_is_not_known_is_named(tmp_path):
    data = FILES["branches.file"].tobytes().replace(b"SumExt", b"SumExx")
    path = tmp_path / "other.mindir"
    path.write_bytes(data)
    with pytest.raises(RuntimeError, match=r"cannot be read: the operator SumExx \(Default/SumExx-op0\) is not read"):
        ms.load(str(path))


def test_damaged_files_are_errors():
    data = FILES["loops.file"].tobytes()
    random = np.random.default_rng(0)
    for i in range(200):
        wrong = bytearray(data)
        if i % 2:
            del wrong[random.integers(len(wrong)) :]
        else:
            wrong[random.integers(len(wrong))] ^= 1 << random.integers(8)
        try:
            mindspore_ir.read(bytes(wrong))
        except (ValueError, TypeError, RuntimeError):
            pass


def test_lstm_of_one_bias_and_of_two():
    x, h = ops.ones((4, 1, 3), ms.float32), ops.zeros((1, 1, 2), ms.float32)
    weights = np.linspace(-1, 1, 48, dtype=np.float32)
    lstm = ops.LSTM(3, 2, 1, True, False, 0.0)
    one = lstm(x, h, h, Tensor(weights.reshape(48, 1, 1)))
    two = lstm(x, h, h, Tensor(np.concatenate([weights, np.zeros(8, np.float32)]).reshape(56, 1, 1)))
    assert all((a == b).all() for a, b in zip(one[:3], two[:3]))
    with pytest.raises(ValueError, match="'w' must have 56 elements, but got 50"):
        lstm(x, h, h, ops.ones((50, 1, 1), ms.float32))
