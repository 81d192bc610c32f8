"""Functions with gradients of their own and odds and ends, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Parameter, ops
from mindspore import Tensor as T

from tests.compat.dynamic.support import fails, same


class Fn(ms._Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.k = 3
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (g * y * ctx.k, g * x)


class Fn2(ms._Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.n = n
        return (x * n, x + 1)

    @staticmethod
    def backward(ctx, g1, g2):
        return (g1 * ctx.n + g2, None)


class Fn3(ms._Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return (g, g)


def test_1():
    same(Fn.apply(T([1.0]), T([2.0])), ("Float32", [2.0]))
    same(ms.grad(lambda a, b: Fn.apply(a, b), (0, 1))(T([1.0]), T([2.0])), (("Float32", [6.0]), ("Float32", [1.0])))


def test_2():
    same(ms.grad(lambda a: sum(Fn2.apply(a, 5)))(T([1.0])), ("Float32", [6.0]))
    same(Fn2.apply(T([1.0]), 3), (("Float32", [3.0]), ("Float32", [2.0])))


def test_3():
    same(ms.grad(lambda a: Fn3.apply(a))(T([1.0])), ("Float32", [1.0]))


def test_needs():
    rec = []

    class F(ms._Function):
        @staticmethod
        def forward(ctx, x, y):
            rec.append(ctx.needs_input_grad)
            return x * y

        @staticmethod
        def backward(ctx, g):
            return (g, g)

    ms.grad(lambda a: F.apply(a, T([3.0])))(T([1.0]))
    same(rec, [(True, False)])


def test_nograd():
    from mindspore import _no_grad

    def f(x):
        with _no_grad():
            y = x * x
        return y + x

    same(ms.grad(f)(T([3.0])), ("Float32", [1.0]))


def test_ptuple():
    p, q = (Parameter(T([1.0]), name="a"), Parameter(T([1.0]), name="a"))
    same(ms.ParameterTuple([p, p]), (("Float32", [1.0]), ("Float32", [1.0])))
    fails(
        lambda: ms.ParameterTuple([p, q]),
        ValueError,
        "The value Parameter (name=a, shape=(1,), dtype=Float32, requires_grad=True) , its name 'a'",
    )
    same(ms.ParameterTuple([Parameter(T([1.0])), Parameter(T([1.0]))]), (("Float32", [1.0]), ("Float32", [1.0])))
    fails(
        lambda: ms.ParameterTuple((p for p in [1])),
        TypeError,
        "For ParameterTuple initialization, ParameterTuple input should be 'Parameter' collection, ",
    )
    fails(
        lambda: ms.ParameterTuple(Parameter(T([1.0, 2.0]), name="b")),
        TypeError,
        "For ParameterTuple initialization, ParameterTuple input should be 'Parameter' collection, ",
    )


def test_focal():
    same(
        nn.FocalLoss()(T(np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32)), T([[1], [2]], ms.int32)),
        ("Float32", 0.3739299),
    )
    same(
        nn.FocalLoss(weight=T([1.0, 2, 3]), gamma=2.0, reduction="mean")(
            T(np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32)), T([[1], [0]], ms.int32)
        ),
        ("Float32", 1.019886),
    )
    same(nn.FocalLoss()(T(np.ones((2, 3), np.float32)), T(np.ones((2, 3), np.float32))), ("Float32", 0.4882706))


def test_optret():
    p = Parameter(T([1.0]), name="p")
    q = Parameter(T([1.0]), name="q")
    same(nn.SGD([p, q], 0.1)((T([1.0]), T([1.0]))), (True, True))
    same(nn.Momentum([p, q], 0.1, 0.9)((T([1.0]), T([1.0]))), (True, True))
    same(nn.Adam([p, q], 0.1)((T([1.0]), T([1.0]))), (True, True))
    same(nn.AdamWeightDecay([p, q], 0.1)((T([1.0]), T([1.0]))), (True, True))
    same(nn.RMSProp([p], 0.1)((T([1.0]),)), (True,))
    same(nn.Adagrad([p], 0.1)((T([1.0]),)), (True,))


def test_tofloat():
    same(
        nn.Dense(3, 2, "ones", "zeros").to_float(ms.float16)(T(np.arange(6).reshape(2, 3).astype(np.float32))),
        ("Float16", [[3.0, 3.0], [12.0, 12.0]]),
    )


def test_getlr():
    p = Parameter(T([1.0]), name="p")
    same(nn.SGD([p], 0.1).get_lr(), ("Float32", 0.1))
    same(nn.SGD([p], 0.1).learning_rate, ("Float32", 0.1))
    same(nn.Momentum([p], 0.1, 0.9, 0.01).get_weight_decay(), ("Float32", 0.01))
    same(nn.SGD([p], [0.1, 0.2]).get_lr(), ("Float32", 0.1))
    same(nn.SGD([p], nn.ExponentialDecayLR(0.1, 0.9, 2)).get_lr(), ("Float32", 0.1))


def test_fill2():
    same(T([1.0, 2.0]).fill(3), ("Float32", [3.0, 3.0]))
    same(T([[1.0, 2.0]]).fill_diagonal(5.0), ("Float32", [[5.0, 2.0]]))
    same(T([3.0, 4.0]).cumsum(), ("Float32", [3.0, 7.0]))
    same(T([[3.0, 4.0]]).cumsum(), ("Float32", [3.0, 7.0]))
    same(T([True, False]).cumsum(0), ("Int32", [1, 1]))


def test_bincountdt():
    same(T([1, 1, 2]).bincount().dtype, "Float32")
    same(ops.bincount(T([1, 1, 2])).dtype, "Float32")
    same(T([1, 1, 2]).bincount(T([0.5, 0.5, 1])).dtype, "Float32")
    same(T([[1.0, 2]]).cummax(1), (("Float32", [[1.0, 2.0]]), ("Int64", [[0, 1]])))


def test_maxinit():
    same(T([1.0, 2.0]).max(axis=0, initial=9.0), ("Float32", 9.0))
    same(T([[1.0, 2.0]]).max(axis=0, initial=1.5), ("Float32", [1.5, 2.0]))
    same(T([[1.0, 2.0]]).min(axis=1, initial=0.5), ("Float32", [0.5]))


def test_takeclip():
    x = T(np.arange(6).reshape(2, 3).astype(np.float32))
    same(x.take(T([-7]), mode="wrap"), ("Float32", [5.0]))
    same(x.take(T([9])), ("Float32", [5.0]))
    same(x.take(T([1, 5]), axis=1, mode="clip"), ("Float32", [[1.0, 2.0], [4.0, 5.0]]))


def test_proderr():
    same(T([[1.0, 2.0]]).prod(0), ("Float32", [1.0, 2.0]))
    same(T([[1.0, 2.0]]).prod(dim=0, keepdim=True), ("Float32", [[1.0, 2.0]]))
