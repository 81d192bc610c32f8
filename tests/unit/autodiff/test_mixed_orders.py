"""Gradients of high order through parts that are compiled one by one: the bits of the program that is not compiled."""

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.autodiff import control


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Dense(1, 8), nn.Dense(8, 1)

    def construct(self, x):
        return self.last(ops.tanh(self.first(x[:, None])))


def derivative(net, order):
    f = net
    for _ in range(order - 1):
        f = ms.grad(lambda x, f=f: f(x).sum())
    return ms.grad(lambda x: (f(x) ** 2).mean(), None, net.trainable_params())


@pytest.fixture
def graph_mode():
    yield lambda: ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_cells_compiled_one_by_one(order, graph_mode):
    """A residual that is an output too is one variable: what its uses contribute is added up in program order."""
    ms.set_seed(1)
    net = Net()
    x = Tensor(np.linspace(-1, 1, 5).astype(np.float32))
    expected = [g.asnumpy() for g in derivative(net, order)(x)]
    graph_mode()
    found = [g.asnumpy() for g in derivative(net, order)(x)]
    assert [g.tobytes() for g in found] == [g.tobytes() for g in expected]


@pytest.mark.parametrize("part", [lambda z: z.reshape(3, 1) * z.reshape(1, 3), lambda z: z[1:] * z[:2] * z[0]])
def test_a_view_that_the_gradient_needs_must_not_be_overwritten(part):
    """What the gradient reads of an argument is lost with it, though the compiled part gives it as a value."""

    def program(part):
        def loss(x):
            z = x * 1.0
            y = part(z)
            z[0] = 2.0
            return y.sum() + z.sum()

        return ms.grad(loss)

    for made in (part, ms.jit(part)):
        with pytest.raises(RuntimeError, match="modified in place"):
            program(made)(Tensor([1.0, 2.0, 3.0]))


def growing(x):
    s, k = x, 0
    while k < int((x > 0).sum()):
        s = ops.concat((s, s[:1] * x[0]))
        k += 1
        if s.sum() > 9:
            break
    return (s * s * s).sum()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_loop_whose_value_grows(order):
    x = Tensor([0.5, -1.0, 2.0])
    results = []
    for part in (growing, ms.jit(growing)):
        f = part
        for _ in range(order):
            f = ms.grad(lambda x, f=f: f(x).sum())
        results.append([f(x).asnumpy().tobytes(), ms.jit(f)(x).asnumpy().tobytes()])
    assert results[0] == results[1] and len(set(results[0])) == 1


def test_a_view_of_another_part_may_be_overwritten():
    def program(part):
        def loss(x):
            z = x * 1.0
            y = part(z)
            z[2] = 2.0
            return y.sum() + z.sum()

        return ms.grad(loss)

    def part(z):
        return z[:2] * z[:2]

    x = Tensor([1.0, 2.0, 3.0])
    assert program(ms.jit(part))(x).asnumpy().tolist() == program(part)(x).asnumpy().tolist()


def test_an_output_that_the_gradient_needs_must_not_be_overwritten():
    """As in eager mode, whoever computed it."""

    def program(part):
        def loss(x):
            y = part(x)
            z = y * 2
            y[0] = 3.0
            return z.sum()

        return ms.grad(loss)

    x = Tensor([1.0, 2.0])
    for part in (ops.tanh, ms.jit(lambda x: ops.tanh(x))):
        with pytest.raises(RuntimeError, match="modified in place"):
            program(part)(x)


def _paths_kept_apart(x, y):
    a = y * 1
    if x.sum() > 0:
        a = y[::-1] * x
    b = y * 1
    if y.sum() > 0:
        b = b * 2
    b[1:].add_(a[:2])
    return a


@pytest.mark.parametrize("planted", [False, True])
def test_paths_that_record_differently_are_left_to_python(planted, monkeypatch):
    """The planted fault: each path makes the forward graphs of the first branch anew, so they differ in their tags."""
    if planted:
        made = control._forward_graphs

        def anew(sides):
            sides[0].conds.clear()
            return made(sides)

        monkeypatch.setattr(control, "_forward_graphs", anew)
    gradient = ms.grad(_paths_kept_apart, (0, 1))
    compiled = ms.jit(gradient)
    x, y = Tensor([1.0, -2.0, 3.0]), Tensor([0.5, 1.0, -0.5])
    for found, expected in zip(compiled(x, y), gradient(x, y), strict=True):
        assert found.asnumpy().tolist() == expected.asnumpy().tolist()
    reasons = [f.reason for f in compiled.explain().fallbacks]
    assert ["recorded differently" in r for r in reasons] == [True] * planted, reasons
