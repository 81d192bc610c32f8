"""Rows B1 to B16: the models of the seeds, and what they imply."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops

MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]
both_modes = pytest.mark.parametrize("mode", MODES, ids=["pynative", "graph"])


def network(**dense):
    return nn.SequentialCell(
        nn.Flatten(), nn.Dense(28 * 28, 512, **dense), nn.ReLU(), nn.Dense(512, 512, **dense), nn.ReLU(),
        nn.Dense(512, 10, **dense),
    )  # fmt: skip


@both_modes
def test_b1_network(mode):
    ms.set_context(mode=mode)
    output = network()(Tensor(np.ones([64, 1, 28, 28]).astype(np.float32)))
    assert output.shape == (64, 10) and output.dtype == ms.float32
    assert (output.asnumpy() == output.asnumpy()[0]).all()


def test_b2_float64_and_astype_with_numpy_dtypes():
    x = Tensor(np.ones([2, 1]))
    assert x.dtype == ms.float64
    y = x.astype(np.float32)
    assert str(y.dtype) == "Float32" and x.astype(ms.float32).dtype == y.dtype


def test_b3_any_names():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.faltten = nn.Flatten()

        def construct(self, input):
            return self.faltten(input)

    assert Net()(Tensor(np.ones((2, 3, 4), np.float32))).shape == (2, 12)


def test_b4_string_initialisers():
    layer = nn.Dense(400, 500, weight_init="normal", bias_init="zeros")
    weight = layer.weight.asnumpy()
    assert not layer.bias.asnumpy().any()
    assert abs(weight.std() - 0.01) < 1e-3 and abs(weight.mean()) < 1e-3


def test_b5_softmax():
    rows = nn.Softmax(axis=-1)(Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)))
    np.testing.assert_allclose(rows.asnumpy().sum(-1), 1, rtol=1e-6)


def test_b6_all_rows_are_printed():
    t = Tensor(np.random.default_rng(0).normal(size=(64, 10)).astype(np.float32))
    assert str(t) == str(t.asnumpy()) and "..." not in str(t)


@pytest.mark.parametrize(("operator", "text"), [(ops.Add, "[5. 7. 9.]"), (ops.Mul, "[ 4. 10. 18.]")])
@both_modes
def test_b7_b8_member_primitives(operator, text, mode):
    class Net(nn.Cell):
        """自定义网络"""

        def __init__(self):
            super().__init__()
            self.operator = operator()

        def construct(self, x, y):
            """定义执行代码"""
            return self.operator(x, y)  # 注释

    ms.set_context(mode=mode)
    x, y = (Tensor(np.array(v).astype(np.float32)) for v in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    assert str(Net()(x, y)) == text


def test_b9_function_mul():
    x, y = (Tensor(np.array(v).astype(np.float32)) for v in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    assert str(ops.mul(x, y).asnumpy()) == "[ 4. 10. 18.]"


def test_b10_function_add():
    ones = Tensor(np.ones([1, 3, 3, 4]).astype(np.float32))
    block = "[[2. 2. 2. 2.]\n   [2. 2. 2. 2.]\n   [2. 2. 2. 2.]]"
    assert str(ops.add(ones, ones).asnumpy()) == f"[[{block}\n\n  {block}\n\n  {block}]]"


class ForNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x):
        for _ in range(3):
            x = x + self.z
        return x


@both_modes
def test_b11_for_loop(mode):
    ms.set_context(mode=mode)
    assert str(ForNet()(Tensor(np.array([1.0, 2.0, 3.0]).astype(np.float32)))) == "[4. 5. 6.]"


class AddMulMul(nn.Cell):
    def __init__(self):
        super().__init__()
        self.param = Parameter(Tensor(0.5, ms.float32))

    @ms.jit
    def construct(self, x):
        x = x + x
        x = x * self.param
        return x * x


class Mixed(nn.Cell):
    """Dynamic outside, compiled inside."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, kernel_size=2, stride=1, padding=0, weight_init="ones", pad_mode="valid")
        self.bn = nn.BatchNorm2d(2, momentum=0.99, eps=0.00001, gamma_init="ones")
        self.relu = nn.ReLU()
        self.add_mul_mul = AddMulMul()

    def construct(self, x):
        return self.relu(self.add_mul_mul(self.bn(self.conv(x))))


INPUTS = Tensor(np.ones([1, 1, 2, 2]).astype(np.float32))


@both_modes
def test_b12_mixed_network(mode):
    ms.set_context(mode=mode)
    assert str(Mixed()(INPUTS)) == "[[[[15.99984]]\n\n  [[15.99984]]]]"


def test_b13_cells_start_in_evaluation_mode():
    net = Mixed()
    assert net.training is False and net.bn.training is False


@both_modes
def test_b14_gradients_through_the_mixed_network(mode):
    ms.set_context(mode=mode)
    net = Mixed()
    np.testing.assert_allclose(ms.grad(net)(INPUTS).asnumpy(), np.full((1, 1, 2, 2), 15.99984), rtol=1e-5)
    weights = net.trainable_params()
    gradients = dict(zip([p.name for p in weights], ms.grad(net, None, weights)(INPUTS), strict=True))
    expected = {"conv.weight": 7.99992, "bn.gamma": 31.99968, "bn.beta": 7.99996, "add_mul_mul.param": 127.99872}
    for name, value in expected.items():
        np.testing.assert_allclose(gradients[name].asnumpy(), value, rtol=1e-5, err_msg=name)


def test_b15_parameter_names():
    assert sorted(p.name for p in Mixed().get_parameters()) == sorted(
        ["conv.weight", "bn.moving_mean", "bn.moving_variance", "bn.gamma", "bn.beta", "add_mul_mul.param"]
    )


def losses(decorate):
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Flatten(), nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3))
    loss_fn, optimizer = nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9)

    def forward_fn(data, label):
        logits = net(data)
        return loss_fn(logits, label), logits

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

    @decorate
    def train_step(data, label):
        (loss, _), grads = grad_fn(data, label)
        optimizer(grads)
        return loss

    rng = np.random.default_rng(0)
    data = Tensor(rng.normal(size=(5, 2, 3)).astype(np.float32))
    label = Tensor(np.array([0, 1, 2, 1, 0], np.int32))
    steps = [train_step(data, label).asnumpy() for _ in range(5)]
    return np.array(steps), [p.asnumpy() for p in net.get_parameters()]


def test_b16_train_step():
    reference, weights = losses(lambda fn: fn)
    assert (np.diff(reference) < 0).all(), "it learns"
    compiled, compiled_weights = losses(ms.jit)
    assert compiled.tobytes() == reference.tobytes()
    for a, b in zip(weights, compiled_weights, strict=True):
        assert a.tobytes() == b.tobytes()
