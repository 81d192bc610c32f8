"""A line that cannot be captured in what a gradient is taken of costs that line: around it, forward and backward are
compiled, in nested layers, in loops over them, with hooks, and for gradients of gradients."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from duograph.jit import policy
from tests.unit.jit.native_calls import bits

log = logging.getLogger(__name__)


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    monkeypatch.setattr(policy, "FEWEST", 5)


def t(*shape, seed=0):
    return ms.Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


class Block(nn.Cell):
    def __init__(self, is_told):
        super().__init__()
        self.norm, self.up, self.down, self.is_told = nn.LayerNorm((4,)), nn.Dense(4, 6), nn.Dense(6, 4), is_told

    def construct(self, x):
        h = ops.gelu(self.up(self.norm(x)))
        if self.is_told:
            log.info("mean %s", h.asnumpy().mean())
        return x + self.down(h)


class Chain(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Block(i != 1) for i in range(3)])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Last(nn.Cell):
    """Keeps a number of what it computes."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.last = nn.Dense(4, 4), nn.Dense(4, 4), None

    def construct(self, x):
        h = ops.tanh(self.a(ops.tanh(self.a(x) * 2)) + x)
        self.last = h.asnumpy().mean()
        return self.b(h)


class Opens(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Last()

    def construct(self, x):
        y = ops.tanh(x * x + x.mean()) * x
        with open("/dev/null", "w") as file:
            file.write(str(y.shape))
        return self.inner(y)


WAYS = ["value_and_grad", "grad", "TrainOneStepCell", "GradOperation", "made within", "second order"]
NETS = {
    "loop": Chain,
    "layer of many": lambda: nn.SequentialCell([Block(False), Block(True), Block(False)]),
    "attribute": Last,
    "file": Opens,
}


def steps(net):
    """Ways to train ``net``, which give all that they change."""
    parameters = list(net.trainable_params())
    optimizer = nn.Momentum(parameters, 0.1, 0.9)
    loss_of = nn.WithLossCell(net, nn.MSELoss())
    gradient = ms.value_and_grad(lambda x, y: loss_of(x, y), None, parameters)
    of_input = ms.grad(lambda x: (ops.tanh(net(x)) ** 2).sum())
    second = ms.grad(lambda x: (of_input(x) ** 2).sum())
    operation = ops.GradOperation(get_all=True, get_by_list=True)
    train = nn.TrainOneStepCell(loss_of, optimizer)

    def step(x, y):
        loss, gradients = gradient(x, y)
        optimizer(gradients)
        return loss, gradients

    return {
        "value_and_grad": step,
        "grad": lambda x, y: of_input(x),
        "TrainOneStepCell": lambda x, y: train(x, y),
        "GradOperation": lambda x, y: operation(loss_of, parameters)(x, y),
        "made within": lambda x, y: ms.value_and_grad(loss_of, None, parameters)(x, y),
        "second order": lambda x, y: second(x),
    }


def led(function):
    """Calls that what `function` is compiled into has answered."""
    return function.answered


@pytest.mark.parametrize(
    "way", ["value_and_grad", "grad", "TrainOneStepCell", "GradOperation", "made within", "second order"]
)
@pytest.mark.parametrize("kind", NETS)
def test_forward_and_backward_are_compiled_around_a_break(kind, way):
    found = []
    for compiled in (False, True):
        ms.set_seed(3)
        net = NETS[kind]()
        step = steps(net)[way]
        run = ms.jit(step) if compiled else step
        results = [bits(run(t(5, 4, seed=i), t(5, 4, seed=9))) for i in range(8)]
        found.append((results, bits([*net.get_parameters()]), [c.last for c in net.cells() if hasattr(c, "last")]))
    assert str(found[0]) == str(found[1])
    assert run.explain().breaks
    assert led(run) >= 4, str(run.explain())


@pytest.mark.parametrize("hook", ["register_forward_hook", "register_forward_pre_hook", "register_backward_hook"])
def test_cells_with_hooks_are_cut(hook):
    found = []
    for compiled in (False, True):
        ms.set_seed(3)
        seen = []
        net = Chain()
        getattr(net.blocks[1], hook)(lambda *values, seen=seen: seen.append(len(values)))
        step = steps(net)["value_and_grad"]
        run = ms.jit(step) if compiled else step
        found.append(([bits(run(t(5, 4, seed=i), t(5, 4, seed=9))) for i in range(8)], len(seen)))
    assert found[0] == found[1] and found[0][1] == 8
    assert led(run) >= 4


class Deep(nn.Cell):
    """Much in front of a break, or little."""

    def __init__(self, depth):
        super().__init__()
        self.layers, self.head = nn.CellList([nn.Dense(4, 4) for _ in range(depth)]), nn.Dense(4, 4)

    def construct(self, x):
        h = x
        for layer in self.layers:
            h = ops.tanh(layer(h) * x) + h
        log.info("mean %s", h.asnumpy().mean())
        return self.head(h)


@pytest.mark.parametrize(("depth", "is_small"), [(8, False), (1, True)])
def test_a_cut_is_small_if_all_that_is_compiled_saves_less_than_the_cuts_cost(monkeypatch, depth, is_small):
    """The segments of the function itself are small in either case: what it calls decides."""
    monkeypatch.setattr(policy, "RARELY", 8)
    net = Deep(depth)
    parameters = list(net.trainable_params())
    plain = ms.value_and_grad(lambda x: net(x).sum() * 2, None, parameters)
    gradient = ms.jit(plain)
    for _ in range(4 * policy.RARELY):
        gradient(t(5, 4))
    before = led(gradient)
    for i in range(policy.RARELY):
        assert bits(gradient(t(5, 4, seed=i))) == bits(plain(t(5, 4, seed=i)))
    assert (led(gradient) == before) is is_small


def test_a_skeleton_that_only_calls_a_variable_is_kept_if_that_is_compiled():
    net = Chain()
    run = ms.jit(net)
    for i in range(4):
        assert bits(run(t(5, 4, seed=i))) == bits(net(t(5, 4, seed=i)))
    assert led(run) > 0

    @ms.jit
    def plain(name):
        return name.startswith("a") and eval("1")

    assert [plain("a") for _ in range(4)] == [1] * 4
    assert plain.cut is None or plain.cut.skeleton is None
