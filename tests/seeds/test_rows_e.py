"""Rows E1 to E14: one automatic differentiation for both modes."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.seeds.conftest import run_duograph

both_modes = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])

X = Tensor([[0.8, 0.6, 0.2], [1.8, 1.3, 1.1]], dtype=ms.float32)
Y = Tensor([[0.11, 3.3, 1.1], [1.1, 0.2, 1.4], [1.1, 2.2, 0.3]], dtype=ms.float32)


class Net(nn.Cell):
    def __init__(self, z=1.0):
        super().__init__()
        self.matmul = ops.MatMul()
        self.z = Parameter(Tensor(np.array([z], np.float32)), name="z")

    def construct(self, x, y):
        x = x * self.z
        return self.matmul(x, y)


class GradNet(nn.Cell):
    def __init__(self, net, transform):
        super().__init__()
        self.net = net
        self.transform = transform

    def construct(self, x, y):
        gradient_function = self.transform(self.net)
        return gradient_function(x, y)


@both_modes
def test_e1_e2_grad_operation_inside_construct(mode):
    ms.set_context(mode=mode)
    output = GradNet(Net(), ops.GradOperation())(X, Y)
    np.testing.assert_allclose(output.asnumpy(), [[4.5099998, 2.7, 3.6000001]] * 2, rtol=1e-5)


@both_modes
def test_e2_e3_grad_inside_construct(mode):
    ms.set_context(mode=mode)
    output = GradNet(Net(2.0), ms.grad)(X, Y)
    np.testing.assert_allclose(output.asnumpy(), [[9.02, 5.4, 7.2000003]] * 2, rtol=1e-5)


@both_modes
def test_e4_second_input(mode):
    ms.set_context(mode=mode)
    net = Net(2.0)
    expected = 2 * X.asnumpy().T @ np.ones((2, 3))
    np.testing.assert_allclose(ms.grad(net, 1)(X, Y).asnumpy(), expected, rtol=1e-6)
    dx, dy = ops.GradOperation(get_all=True)(net)(X, Y)
    assert dy.asnumpy().tobytes() == ms.grad(net, 1)(X, Y).asnumpy().tobytes()
    assert dx.asnumpy().tobytes() == ms.grad(net)(X, Y).asnumpy().tobytes()


def test_e5_value_and_grad():
    net = Net(2.0)
    value, gradient = ms.value_and_grad(net)(X, Y)
    assert value.shape == (2, 3) and gradient.shape == X.shape
    (value, aux), (dz,) = ms.value_and_grad(lambda x, y: (net(x, y), x), None, [net.z], has_aux=True)(X, Y)
    assert aux is X or aux.asnumpy().tobytes() == X.asnumpy().tobytes()
    np.testing.assert_allclose(dz.asnumpy(), [(X.asnumpy() @ Y.asnumpy()).sum()], rtol=1e-6)
    ids = ms.grad(net, (0, 1), return_ids=True)(X, Y)
    assert [pair[0] for pair in ids] == [0, 1]


def test_e7_gradients_have_the_same_bits():
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Sigmoid(), nn.Dense(4, 2), nn.LogSoftmax())
    bits = set()
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        bits.add(b"".join(g.asnumpy().tobytes() for g in ms.grad(net, None, net.trainable_params())(X)))
    bits.add(b"".join(g.asnumpy().tobytes() for g in ms.grad(ms.jit(net), None, net.trainable_params())(X)))
    assert len(bits) == 1


RULE = """
import mindspore as ms
from mindspore import nn, ops
from {path} import bprop_getters, P, binop_grad_common

def mul(x, y):
    return ops.Mul()(x, y)

x, y = ms.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), ms.Tensor([7.0, 8.0, 9.0])
compiled = ms.jit(mul)
before = [ms.grad(f, (0, 1))(x, y) for f in (mul, compiled)]

@bprop_getters.register(ops.Mul)
def get_bprop_mul(self):
    mul_func = P.Mul()

    def bprop(x, y, out, dout):
        bc_dx = mul_func(y, dout) * 100
        bc_dy = mul_func(x, dout) * 100
        return binop_grad_common(x, y, bc_dx, bc_dy)

    return bprop

for (dx, dy), f in zip(before, (mul, compiled)):
    ex, ey = ms.grad(f, (0, 1))(x, y)
    print((ex == dx * 100).all(), (ey == dy * 100).all(), ex.shape == x.shape, ey.shape == y.shape)
"""


@pytest.mark.parametrize("path", ["mindspore.ops._grad.grad_base", "mindspore.ops._grad_experimental.grad_base"])
def test_e8_e9_own_rules_for_operators(path):
    assert run_duograph("-c", RULE.format(path=path)) == "True True True True\n" * 2


@both_modes
def test_e10_bprop_of_a_cell(mode):
    class Clipped(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (x * 0 + out + dout,)

    ms.set_context(mode=mode)
    assert ms.grad(Clipped())(Tensor([2.0, 3.0])).asnumpy().tolist() == [5.0, 10.0]


class ForNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x):
        for _ in range(3):
            x = x + self.z
        return x


@both_modes
def test_e11_control_flow(mode):
    ms.set_context(mode=mode)
    net, x = ForNet(), Tensor([1.0, 2.0, 3.0])
    dx, (dz,) = ms.grad(net, 0, [net.z])(x)
    assert dx.asnumpy().tolist() == [1.0, 1.0, 1.0] and dz.asnumpy().tolist() == [9.0]


@both_modes
def test_e12_containers_take_part(mode):
    class Net(nn.Cell):
        def construct(self, a):
            return a, ({"a": a, "b": 2}, (1, 2))

    ms.set_context(mode=mode)
    assert ms.grad(Net())(Tensor([1.0])).asnumpy().tolist() == [2.0]


def test_e14_the_same_tensor_twice():
    def f(a, b):
        return (a * b).sum()

    x = Tensor([1.0, 2.0])
    for fn in (f, ms.jit(f)):
        da, db = ms.grad(fn, (0, 1))(x, x)
        assert da.asnumpy().tolist() == db.asnumpy().tolist() == [1.0, 2.0]
