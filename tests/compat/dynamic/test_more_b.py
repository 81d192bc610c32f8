"""Further programs, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore.common.initializer import TruncatedNormal, initializer
from mindspore.ops import composite as C

from tests.compat.dynamic.support import same

T = Tensor

grad_all = C.GradOperation(get_all=True)

grad_sens = C.GradOperation(get_all=True, sens_param=True)

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


class Blk(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(2, 2, "ones")
        self.b = nn.Dense(2, 2, "ones", has_bias=False)

    def construct(self, x):
        return self.b(self.a(x)) + x


class Multi(nn.Cell):
    def construct(self, x, y):
        return (x * y, x + y, x)


def test_list_out_grad():
    same(ms.grad(lambda x: [x, x * 2][1])(T(1.0)), ("Float32", 2.0))
    same(ms.grad(lambda x: {"a": x * 5}["a"])(T(1.0)), ("Float32", 5.0))
    same(ms.grad(lambda x: sum([x, x, x]))(T(1.0)), ("Float32", 3.0))
    same(ms.grad(lambda x: max([x, x * 2]))(T(1.0)), ("Float32", 2.0))
    same(grad_all(lambda *a: a[0] * a[1])(T(2.0), T(3.0)), (("Float32", 3.0), ("Float32", 2.0)))
    same(ms.grad(lambda x: tuple((x * i for i in range(3))))(T(1.0)), ("Float32", 3.0))


def test_multi_out():
    same(grad_all(Multi())(T([1.0, 2.0]), T([3.0, 4.0])), (("Float32", [5.0, 6.0]), ("Float32", [2.0, 3.0])))
    same(
        grad_sens(Multi())(T([1.0]), T([3.0]), (T([1.0]), T([10.0]), T([100.0]))),
        (("Float32", [113.0]), ("Float32", [11.0])),
    )
    same(Multi()(T(1.0), T(2.0)), (("Float32", 2.0), ("Float32", 3.0), ("Float32", 1.0)))


def test_unused():
    same(grad_all(lambda x, y: x * 2)(T([1.0]), T([5.0, 6.0])), (("Float32", [2.0]), ("Float32", [0.0, 0.0])))
    same(ms.grad(lambda x, y: x, (0, 1))(T(1.0), T(2.0)), (("Float32", 1.0), ("Float32", 0.0)))
    same(
        ms.grad(LeNet(), None, LeNet().trainable_params()[:1])(r(1, 1, 6, 6)),
        (
            (
                "Float32",
                [
                    [[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]],
                    [[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]],
                ],
            ),
        ),
    )


def test_hook_chain():
    log = []

    class N(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = nn.ReLU()
            self.b = nn.Sigmoid()

        def construct(self, x):
            return self.b(self.a(x))

    n = N()
    n.a.register_forward_pre_hook(lambda c, i: log.append("pre a"))
    n.a.register_forward_hook(lambda c, i, o: log.append("post a"))
    n.b.register_forward_hook(lambda c, i, o: log.append("post b"))
    n.a.register_backward_hook(lambda c, gi, go: log.append("back a"))
    n.b.register_backward_hook(lambda c, gi, go: log.append("back b"))
    n.b.register_backward_pre_hook(lambda c, go: log.append("backpre b"))
    g = ms.grad(n)(T([1.0]))
    same(g, ("Float32", [0.1966118]))
    same(log, ["pre a", "post a", "post b", "backpre b", "back b", "back a"])


def test_hook_kwargs():
    rec = []

    class N(nn.Cell):
        def construct(self, x, k=2):
            return x * k

    n = N()
    h = n.register_forward_pre_hook(lambda c, a, kw: rec.append((len(a), dict(kw))), with_kwargs=True)
    n(T(1.0), k=5)
    h2 = n.register_forward_hook(lambda c, a, kw, o: o * 2, with_kwargs=True)
    same(n(T(1.0), k=3), ("Float32", 6.0))
    same(rec, [(1, {"k": 5}), (1, {"k": 3})])


def test_initial():
    w = initializer(TruncatedNormal(0.02), (3, 4))
    same(w.shape, (3, 4))
    same(str(w.dtype), "Float32")
    same(Parameter(initializer("zeros", (2,)), name="z"), ("Float32", [0.0, 0.0]))
    same(nn.Dense(2, 3, weight_init=TruncatedNormal(0.02)).weight.shape, (3, 2))


def test_parameters_tuple_grad():
    n = Blk()
    ps = ParameterTuple(n.trainable_params())
    same(C.GradOperation(get_by_list=True, get_all=True)(n, ps)(T([[1.0, 2.0]]))[0], (("Float32", [[5.0, 5.0]]),))
    same([p.name for p in ps], ["a.weight", "a.bias", "b.weight"])
    same(len(C.GradOperation(get_by_list=True, get_all=True)(n)(T([[1.0, 2.0]]))), 2)


def test_gradcell_cached():
    class G(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n
            self.g = C.GradOperation(get_all=True)

        def construct(self, x):
            return self.g(self.n)(x)

    n = nn.Dense(2, 1, "ones")
    g = G(n)
    a = g(T([[1.0, 2.0]]))
    n.weight.set_data(T([[5.0, 6.0]]))
    same(a, (("Float32", [[1.0, 1.0]]),))
    same(g(T([[1.0, 2.0]])), (("Float32", [[5.0, 6.0]]),))


def test_amp():
    n = nn.Dense(2, 2, "ones", "zeros")
    m = ms.amp.auto_mixed_precision(n, "O3") if hasattr(ms, "amp") else n
    same(m(T([[1.0, 2.0]])).dtype, "Float32")
    same(ms.amp.all_finite((T([1.0]),)), ("Bool", True))
    same(ms.amp.StaticLossScaler(8.0).scale(T(1.0)), ("Float32", 8.0))
    same(ms.amp.DynamicLossScaler(8.0, 2, 1).unscale(T(16.0)), ("Float32", 2.0))


def test_model():
    class DS:
        pass

    n = Blk()
    m = ms.Model(n)
    same(m.predict(T([[1.0, 2.0]])).shape, (1, 2))


def test_tensor_api():
    x = r(2, 3)
    same(ms.ops.shape(x), (2, 3))
    same(ops.rank(x), 2)
    same(x.dim(), 2)
    same(x.numel(), 6)
    same(x.nelement(), 6)
    same(x.type(), "Float32")
    same(x.type_as(T([1])), ("Int64", [[0, 0, 0], [0, 0, 0]]))
    same(x.long(), ("Int64", [[0, 0, 0], [0, 0, 0]]))
    same(x.to(ms.int8), ("Int8", [[0, 0, 0], [0, 0, 0]]))
    same(x.reshape_as(r(3, 2)), ("Float32", [[-0.3, -0.2], [-0.1, 0.0], [0.1, 0.2]]))
    same(x.view_as(r(3, 2)), ("Float32", [[-0.3, -0.2], [-0.1, 0.0], [0.1, 0.2]]))
    same(x.sub(1), ("Float32", [[-1.3, -1.2, -1.1], [-1.0, -0.9, -0.8]]))
    same(x.mul(2), ("Float32", [[-0.6, -0.4, -0.2], [0.0, 0.2, 0.4]]))
    same(x.div(2), ("Float32", [[-0.15, -0.1, -0.05], [0.0, 0.05, 0.1]]))
    same(x.add(1), ("Float32", [[0.7, 0.8, 0.9], [1.0, 1.1, 1.2]]))
    same(x.expand(2, 3), ("Float32", [[-0.3, -0.2, -0.1], [0.0, 0.1, 0.2]]))
    same(x.sum((0, 1)), ("Float32", -0.3))
    same(x.logical_not(), ("Bool", [[False, False, False], [True, False, False]]))
    same(x.erfinv(), ("Float32", [[-0.2724627, -0.1791435, -0.08885599], [0.0, 0.08885599, 0.1791435]]))
    same(x.greater_equal(0), ("Bool", [[False, False, False], [True, True, True]]))
    same(x.less_equal(0), ("Bool", [[True, True, True], [True, False, False]]))
    same(x.subtract(1), ("Float32", [[-1.3, -1.2, -1.1], [-1.0, -0.9, -0.8]]))
    same(x.multiply(2), ("Float32", [[-0.6, -0.4, -0.2], [0.0, 0.2, 0.4]]))
    same(x.divide(2), ("Float32", [[-0.15, -0.1, -0.05], [0.0, 0.05, 0.1]]))
    same(x.true_divide(2), ("Float32", [[-0.15, -0.1, -0.05], [0.0, 0.05, 0.1]]))
    same(x.negative(), ("Float32", [[0.3, 0.2, 0.1], [-0.0, -0.1, -0.2]]))
    same(x.positive(), ("Float32", [[-0.3, -0.2, -0.1], [0.0, 0.1, 0.2]]))
    same(x.inplace_update(T([[9.0, 9.0, 9.0]]), 0), ("Float32", [[9.0, 9.0, 9.0], [0.0, 0.1, 0.2]]))
    same(x.squeeze(), ("Float32", [[-0.3, -0.2, -0.1], [0.0, 0.1, 0.2]]))
    same(x.msort(), ("Float32", [[-0.3, -0.2, -0.1], [0.0, 0.1, 0.2]]))
