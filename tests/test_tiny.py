"""The whole product in ten seconds."""

from __future__ import annotations

import numpy as np

import duograph as ms
from duograph import Tensor, nn, ops
from tests.seeds.conftest import run_duograph


def test_eager():
    x = Tensor([1.0, 2.0, 3.0])
    assert str(x * 2 + 1) == "[3. 5. 7.]"


def test_jit_with_control_flow():
    def f(x):
        while x.sum() < 100:
            x = x * 2 if x[0] > 1 else x + 1
        return x

    x, compiled = Tensor([1.0, 5.0]), ms.jit(f)
    assert compiled(x).asnumpy().tobytes() == f(x).asnumpy().tobytes()
    assert ms.grad(compiled)(x).asnumpy().tobytes() == ms.grad(f)(x).asnumpy().tobytes()
    assert not compiled.explain().fallbacks


def test_a_network_learns_the_same_in_three_modes():
    rng = np.random.default_rng(0)
    x = Tensor(rng.normal(size=(32, 4)).astype(np.float32))
    y = Tensor((x.asnumpy().sum(1) > 0).astype(np.int32))

    def train(mode):
        ms.set_seed(1)
        net = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 2))
        loss_fn, optimizer = nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.05)
        if mode == "graph":
            ms.set_context(mode=ms.GRAPH_MODE)
            step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer)
        else:
            value_and_grad = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, optimizer.parameters)

            def step(a, b):
                loss, grads = value_and_grad(a, b)
                optimizer(grads)
                return loss

            step = ms.jit(step) if mode == "jit" else step
        try:
            losses = [step(x, y).asnumpy() for _ in range(10)]
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
        return np.array(losses), b"".join(p.asnumpy().tobytes() for p in net.get_parameters())

    losses, weights = train("dynamic")
    assert losses[-1] < losses[0] * 0.8
    for mode in ("jit", "graph"):
        other_losses, other_weights = train(mode)
        assert other_losses.tobytes() == losses.tobytes() and other_weights == weights, mode


def test_views_and_in_place():
    x = ops.zeros((2, 3))
    x[0][1] = 5
    x.T[2].add_(1)
    assert x.asnumpy().tolist() == [[0, 5, 1], [0, 0, 1]]


def test_a_mindspore_program_runs_unmodified():
    code = "import mindspore as ms\nfrom mindspore import ops\nprint(ops.relu(ms.Tensor([-1.0, 2.0])))"
    assert run_duograph("-c", code) == "[0. 2.]\n"
