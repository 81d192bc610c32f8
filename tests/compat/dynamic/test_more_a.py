"""Further programs, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor
from mindspore.ops import composite as C

from tests.compat.dynamic.support import same

T = Tensor

grad_all = C.GradOperation(get_all=True)

r = lambda *s: T((np.arange(np.prod(s)).reshape(s) / 10 - 0.3).astype(np.float32))


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 3, pad_mode="valid", weight_init="ones")
        self.fc = nn.Dense(8, 3, weight_init="ones", bias_init="zeros")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flat = nn.Flatten()

    def construct(self, x):
        return self.fc(self.flat(self.pool(self.relu(self.conv1(x)))))


class BNNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm2d(2, momentum=0.9)
        self.c = nn.Conv2d(2, 2, 1, weight_init="ones")

    def construct(self, x):
        return self.c(self.bn(x))


class Blk(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(2, 2, "ones")
        self.b = nn.Dense(2, 2, "ones", has_bias=False)

    def construct(self, x):
        return self.b(self.a(x)) + x


def test_lenet():
    n = LeNet()
    o = nn.Momentum(filter(lambda p: p.requires_grad, n.get_parameters()), 0.01, 0.9)
    l = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    s = nn.TrainOneStepCell(nn.WithLossCell(n, l), o)
    s.set_train()
    same(
        [s(r(2, 1, 6, 6), T([0, 2], ms.int32)) for _ in range(3)],
        [("Float32", 1.098612), ("Float32", 10.4976), ("Float32", 8.191736)],
    )
    same(n.fc.bias.value(), ("Float32", [0.01901666, -0.009033334, -0.009983333]))


def test_bn_train():
    n = BNNet().set_train()
    g = ms.grad(n, None, n.trainable_params())(r(2, 2, 2, 2))
    same(
        g,
        (
            ("Float32", [-5.740279e-07, 1.148056e-06]),
            ("Float32", [16.0, 16.0]),
            ("Float32", [[[[0.0]], [[9.536743e-07]]], [[[0.0]], [[9.536743e-07]]]]),
        ),
    )
    same(n.bn.moving_mean.value(), ("Float32", [0.025, 0.065]))
    same(n.bn.moving_variance.value(), ("Float32", [0.9197143, 0.9197143]))


def test_freeze():
    n = Blk()
    for p in n.a.get_parameters():
        p.requires_grad = False
    g = ms.grad(n, None, n.trainable_params())(T([[1.0, 2.0]]))
    same([p.name for p in n.trainable_params()], ["b.weight"])


def test_grad_of_op():
    same(
        grad_all(ops.matmul)(r(2, 3), r(3, 2)),
        (("Float32", [[-0.5, -0.1, 0.3], [-0.5, -0.1, 0.3]]), ("Float32", [[-0.3, -0.3], [-0.1, -0.1], [0.1, 0.1]])),
    )
    same(ms.grad(ops.softmax)(r(3)), ("Float32", [0.0, 0.0, 0.0]))
    same(grad_all(nn.ReLU())(r(5)), (("Float32", [0.0, 0.0, 0.0, 0.0, 1.0]),))
    same(grad_all(ops.pow)(T([2.0]), T([3.0])), (("Float32", [12.0]), ("Float32", [5.545177])))
    same(grad_all(ops.maximum)(T([1.0, 2.0]), T([2.0, 2.0])), (("Float32", [0.0, 0.5]), ("Float32", [1.0, 0.5])))
    same(grad_all(ops.minimum)(T([1.0, 2.0]), T([2.0, 2.0])), (("Float32", [1.0, 0.5]), ("Float32", [0.0, 0.5])))
    same(ms.grad(ops.abs)(T([-1.0, 0.0, 2.0])), ("Float32", [-1.0, 0.0, 1.0]))
    same(ms.grad(ops.sqrt)(T([4.0, 0.0])), ("Float32", [0.25, float("inf")]))
    same(ms.grad(ops.relu)(T([-1.0, 0.0, 1.0])), ("Float32", [0.0, 0.0, 1.0]))
    same(ms.grad(ops.log)(T([1.0, 2.0])), ("Float32", [1.0, 0.5]))
    same(ms.grad(lambda x: x.max())(T([1.0, 3.0, 3.0])), ("Float32", [0.0, 0.5, 0.5]))
    same(ms.grad(lambda x: x.min())(T([1.0, 3.0, 1.0])), ("Float32", [0.5, 0.0, 0.5]))
    same(ms.grad(lambda x: x.prod())(T([2.0, 3.0, 4.0])), ("Float32", [12.0, 8.0, 6.0]))
    same(ms.grad(lambda x: x.norm())(T([3.0, 4.0])), ("Float32", [0.6, 0.8]))
    same(ms.grad(lambda x: x.std())(T([3.0, 4.0, 8.0])), ("Float32", [-0.3086067, -0.1543034, 0.4629101]))
    same(ms.grad(lambda x: x.var())(T([3.0, 4.0, 8.0])), ("Float32", [-1.333333, -0.6666667, 2.0]))
    same(ms.grad(lambda x: ops.clip_by_value(x, 0, 1))(T([-1.0, 0.5, 1.0, 2.0])), ("Float32", [0.0, 1.0, 0.5, 0.0]))
    same(ms.grad(lambda x: ops.clamp(x, 0, 1))(T([-1.0, 0.5, 1.0, 2.0])), ("Float32", [0.0, 1.0, 1.0, 0.0]))
    same(ms.grad(lambda x: x.sort()[0][0])(T([2.0, 1.0])), ("Float32", [-0.0, 1.0]))
    same(ms.grad(lambda x: ops.topk(x, 1)[0])(T([2.0, 5.0])), ("Float32", [0.0, 1.0]))
    same(ms.grad(lambda x: ops.where(x > 0, x, -x * 2))(T([1.0, -1.0])), ("Float32", [1.0, -2.0]))
    same(ms.grad(lambda x: ops.concat((x, x * 2)))(T([1.0])), ("Float32", [3.0]))
    same(ms.grad(lambda x: ops.stack((x, x * 2)).sum())(T([1.0])), ("Float32", [3.0]))
    same(ms.grad(lambda x: ops.split(x, 1)[1] * 3)(T([1.0, 2.0])), ("Float32", [0.0, 3.0]))
    same(ms.grad(lambda x: ops.gather(x, T([0, 0, 1]), 0).sum())(T([1.0, 2.0])), ("Float32", [2.0, 1.0]))
    same(ms.grad(lambda x: ops.tile(x, (3,)).sum())(T([1.0, 2.0])), ("Float32", [3.0, 3.0]))
    same(ms.grad(lambda x: ops.cumsum(x, 0).sum())(T([1.0, 2.0])), ("Float32", [2.0, 1.0]))
    same(ms.grad(lambda x: ops.sigmoid(x))(T([0.0])), ("Float32", [0.25]))
    same(ms.grad(ops.tanh)(T([0.5])), ("Float32", [0.7864477]))
    same(ms.grad(ops.gelu)(T([0.5])), ("Float32", [0.8674951]))
    same(ms.grad(ops.floor)(T([0.5])), ("Float32", [0.0]))
    same(ms.grad(ops.round)(T([0.5])), ("Float32", [0.0]))
    same(ms.grad(ops.sign)(T([0.5])), ("Float32", [0.0]))
    same(grad_all(ops.div)(T([1.0]), T([2.0])), (("Float32", [0.5]), ("Float32", [-0.25])))
    same(
        grad_all(ops.floor_div if hasattr(ops, "floor_div") else ops.floor_divide)(T([5.0]), T([2.0])),
        (("Float32", [0.0]), ("Float32", [0.0])),
    )
    same(grad_all(ops.fmod)(T([5.0]), T([3.0])), (("Float32", [1.0]), ("Float32", [-1.0])))
    same(grad_all(ops.atan2)(T([1.0]), T([2.0])), (("Float32", [0.4]), ("Float32", [-0.2])))
    same(
        grad_all(lambda a, b: a @ b)(r(2, 2), r(2)),
        (("Float32", [[-0.3, -0.2], [-0.3, -0.2]]), ("Float32", [-0.4, -0.2])),
    )
    same(
        grad_all(ops.dot)(r(2, 2), r(2, 2)),
        (("Float32", [[-0.5, -0.1], [-0.5, -0.1]]), ("Float32", [[-0.4, -0.4], [-0.2, -0.2]])),
    )
    same(
        grad_all(ops.bmm)(r(1, 2, 2), r(1, 2, 2)),
        (("Float32", [[[-0.5, -0.1], [-0.5, -0.1]]]), ("Float32", [[[-0.4, -0.4], [-0.2, -0.2]]])),
    )
    same(ms.grad(lambda x: x.T @ x)(r(2, 1)), ("Float32", [[-0.6], [-0.4]]))
    same(ms.grad(lambda x: ops.broadcast_to(x, (3, 2)).sum())(r(2)), ("Float32", [3.0, 3.0]))
    same(ms.grad(lambda x: ops.pad(x, (1, 1)).sum())(r(2)), ("Float32", [1.0, 1.0]))
    same(ms.grad(lambda x: ops.flip(x, (0,)) * T([1.0, 2.0]))(r(2)), ("Float32", [2.0, 1.0]))
    same(ms.grad(lambda x: ops.masked_fill(x, x > 0, 0.0))(T([1.0, -1.0])), ("Float32", [0.0, 1.0]))
    same(ms.grad(lambda x: ops.logsumexp(x, 0))(T([1.0, 2.0])), ("Float32", [0.2689411, 0.7310589]))
    same(ms.grad(lambda x: ops.l1_loss(x, T([0.0, 0.0])))(T([1.0, -2.0])), ("Float32", [0.5, -0.5]))
    same(
        ms.grad(lambda x: ops.cross_entropy(x, T([1], ms.int32)))(T([[1.0, 2.0]])),
        ("Float32", [[0.2689411, -0.2689411]]),
    )
    same(ms.grad(ops.erf)(T([0.5])), ("Float32", [0.8787823]))
    same(ms.grad(ops.reciprocal)(T([2.0])), ("Float32", [-0.25]))
    same(ms.grad(ops.rsqrt)(T([4.0])), ("Float32", [-0.0625]))
    same(ms.grad(ops.square)(T([3.0])), ("Float32", [6.0]))
    same(ms.grad(ops.exp)(T([1.0])), ("Float32", [2.71828]))
    same(ms.grad(ops.expm1)(T([1.0])), ("Float32", [2.718282]))
    same(ms.grad(ops.asin)(T([0.5])), ("Float32", [1.154701]))
    same(ms.grad(ops.silu)(T([0.5])), ("Float32", [0.7399613]))
    same(ms.grad(ops.hardswish)(T([0.5, 3.0, -3.0])), ("Float32", [0.6666667, 1.5, -0.5]))
    same(ms.grad(ops.elu)(T([-0.5])), ("Float32", [0.6065307]))
    same(ms.grad(ops.leaky_relu)(T([-0.5])), ("Float32", [0.2]))
    same(ms.grad(ops.log_softmax)(T([1.0, 2.0])), ("Float32", [0.4621162, -0.4621201]))


def test_bcast_grad():
    same(
        grad_all(lambda a, b: a * b)(r(2, 3), r(3)),
        (("Float32", [[-0.3, -0.2, -0.1], [-0.3, -0.2, -0.1]]), ("Float32", [-0.3, -0.1, 0.1])),
    )
    same(grad_all(lambda a, b: a + b)(r(2, 1), r(1, 3)), (("Float32", [[3.0], [3.0]]), ("Float32", [[2.0, 2.0, 2.0]])))
    same(grad_all(lambda a, b: a / b)(r(2, 2), T(2.0)), (("Float32", [[0.5, 0.5], [0.5, 0.5]]), ("Float32", 0.15)))
    same(grad_all(lambda a, b: a - b)(T(1.0), r(2)), (("Float32", 2.0), ("Float32", [-1.0, -1.0])))
    same(grad_all(lambda a: a * 3 + 1 - a / 2)(r(2)), (("Float32", [2.5, 2.5]),))
    same(grad_all(lambda a: 2**a)(T([1.0])), (("Float32", [1.386294]),))
    same(grad_all(lambda a: 1 / a)(T([2.0])), (("Float32", [-0.25]),))
    same(grad_all(lambda a: -a)(r(2)), (("Float32", [-1.0, -1.0]),))
    same(grad_all(lambda a: a**2 * a**0.5)(T([4.0])), (("Float32", [20.0]),))
    same(grad_all(lambda a: a % 3)(T([4.0])), (("Float32", [1.0]),))
    same(grad_all(lambda a: a // 3)(T([4.0])), (("Float32", [0.0]),))


def test_dtype_grad():
    same(ms.grad(lambda x: x.astype(ms.float16) * 2)(T([1.5])), ("Float32", [2.0]))
    same(ms.grad(lambda x: x * 2)(T([1.5], ms.float16)), ("Float16", [2.0]))
    same(ms.grad(lambda x: x * x)(T([1.5], ms.float64)), ("Float64", [3.0]))
    same(ms.grad(lambda x: x * T([2], ms.int32))(T([1.5])), ("Float32", [2.0]))
    same(grad_all(lambda x, y: x * y)(T([1.5], ms.float16), T([2.0])), (("Float16", [2.0]), ("Float32", [1.5])))
    same(ms.grad(lambda x: x.astype(ms.int32) * 1.0)(T([2.7])), ("Float32", [1.0]))


def test_control_grad():
    def f(x, n):
        for i in range(n):
            if x > 2:
                x = x * 2
            else:
                x = x + 1
        return x

    same(ms.grad(f)(T(1.0), 4), ("Float32", 4.0))
    same(ms.grad(f)(T(3.0), 2), ("Float32", 4.0))
    same(ms.value_and_grad(f)(T(0.0), 0), (("Float32", 0.0), ("Float32", 1.0)))
