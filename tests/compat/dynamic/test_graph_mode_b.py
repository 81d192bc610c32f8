"""Networks and functions in graph mode, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.operations as P
from mindspore import Parameter, ParameterTuple, Tensor, jit
from mindspore.ops import composite as C

from tests.compat.dynamic.support import same

T = Tensor


def G(f):
    """run in graph mode"""
    ms.set_context(mode=ms.GRAPH_MODE)
    return f()


class Bp(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        return (dout * x * 5 + out,)


class HookNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.h = P.HookBackward(lambda g: (g[0] * 2,))
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.h(x * 3))


@jit
def f_grad_nest(x):

    def f(a):
        return a**3

    return (ms.grad(ms.grad(f))(x), ops.grad(f)(x), ms.value_and_grad(f)(x))


class GradNet(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.ps = ParameterTuple(net.trainable_params())
        self.g = C.GradOperation(get_by_list=True, sens_param=True)

    def construct(self, x, s):
        return self.g(self.net, self.ps)(x, s)


class LinN(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(T([[1.0, 2.0], [3.0, 4.0]]), name="w")
        self.b = Parameter(T([1.0, 1.0]), name="b")
        self.mm = P.MatMul()

    def construct(self, x):
        return self.mm(x, self.w) + self.b


class Shared(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(2, 2, "ones")
        self.b = self.a

    def construct(self, x):
        return self.b(self.a(x))


@jit
def f_assign_param_ret(x):
    p = T(5.0)
    p = p + x
    ops.assign(PG, x * 2)
    return (PG + 0, p)


PG = Parameter(T(1.0), name="pg")


@jit
def f_ctrl_flow_dep(x):
    y = x
    if x > 0:
        if x > 10:
            y = y * 2
        else:
            y = y * 3
        y = y + 1
    else:
        y = -y
    return y


@jit
def f_early(x):
    for i in range(10):
        if x > 3:
            return x * 10
        x = x + 1
    return x


@jit
def f_while_else(x):
    i = 0
    while i < 3:
        i += 1
        x = x + i
    return x if i == 3 else -x


@jit
def f_cast_bool(x):
    if x:
        return 1
    return 0


@jit
def f_recursive(x, n):
    if n == 0:
        return x
    return f_recursive_h(x * 2, n - 1)


def f_recursive_h(x, n):
    if n == 0:
        return x
    return f_recursive_h(x + 1, n - 1)


@jit
def f_ops_dyn(x):
    return (ops.unique(x)[0], ops.nonzero(x), x[x > 1])


def test_bprop_graph():
    same(G(lambda: ms.grad(Bp())(T([1.0, 2.0]))), ("Float32", [7.0, 14.0]))
    same(jit(ms.grad(Bp()))(T([3.0])), ("Float32", [21.0]))


def test_hook_graph():
    same(ms.grad(HookNet())(T([1.0, -1.0])), ("Float32", [6.0, 0.0]))


def test_grad_nest():
    same(f_grad_nest(T(2.0)), (("Float32", 12.0), ("Float32", 12.0), (("Float32", 8.0), ("Float32", 12.0))))
    same(ms.grad(lambda x: f_grad_nest(x)[1])(T(2.0)), ("Float32", 12.0))


def test_gradnet():
    same(
        G(lambda: GradNet(LinN())(T([[1.0, 2.0]]), T([[1.0, 1.0]]))),
        (("Float32", [[1.0, 1.0], [2.0, 2.0]]), ("Float32", [1.0, 1.0])),
    )
    same(
        GradNet(LinN())(T([[1.0, 2.0]]), T([[1.0, 1.0]])),
        (("Float32", [[1.0, 1.0], [2.0, 2.0]]), ("Float32", [1.0, 1.0])),
    )


def test_shared():
    same(G(lambda: [p.name for p in Shared().trainable_params()]), ["b.weight", "b.bias"])


def test_assign_param():
    same(f_assign_param_ret(T(2.0)), (("Float32", 4.0), ("Float32", 7.0)))
    same(PG, ("Float32", 4.0))


def test_cfd():
    same([f_ctrl_flow_dep(T(v)) for v in (-1.0, 5.0, 20.0)], [("Float32", 1.0), ("Float32", 16.0), ("Float32", 41.0)])
    same(
        [ms.grad(f_ctrl_flow_dep)(T(v)) for v in (-1.0, 5.0, 20.0)],
        [("Float32", -1.0), ("Float32", 3.0), ("Float32", 2.0)],
    )


def test_early():
    same(f_early(T(0.0)), ("Float32", 40.0))
    same(f_early(T(-20.0)), ("Float32", -10.0))
    same(ms.grad(f_early)(T(0.0)), ("Float32", 10.0))


def test_while_else():
    same(f_while_else(T(0.0)), ("Float32", 6.0))


def test_cast_bool():
    same(f_cast_bool(T(1)), 1)
    same(f_cast_bool(T(0)), 0)
    same(f_cast_bool([]), 0)
    same(f_cast_bool([1]), 1)
    same(f_cast_bool(""), 0)
    same(f_cast_bool(None), 0)
    same(f_cast_bool({}), 0)
    same(f_cast_bool(0.0), 0)


def test_recursive():
    same(f_recursive(T(1.0), 3), ("Float32", 4.0))
    same(f_recursive(T(1.0), T(3)), ("Float32", 4.0))


def test_jitmethod():
    class N(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(T(3.0), name="w")

        @jit
        def construct(self, x):
            return x * self.w

    n = N()
    same(n(T(2.0)), ("Float32", 6.0))
    same(ms.grad(n, None, n.trainable_params())(T(2.0)), (("Float32", 2.0),))


def test_jitmethod2():
    class N(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = 3

        @jit
        def helper(self, x):
            return x * self.w

        def construct(self, x):
            return self.helper(x) + 1

    n = N()
    same(n(T(2.0)), ("Float32", 7.0))
    same(ms.grad(n)(T(2.0)), ("Float32", 3.0))


def test_jit_of_cell():
    n = LinN()
    same(jit(n)(T([[1.0, 2.0]])), ("Float32", [[8.0, 11.0]]))
    same(jit(n.construct)(T([[1.0, 2.0]])), ("Float32", [[8.0, 11.0]]))


def test_set_inputs():
    n = LinN()
    n.set_inputs(T(shape=[None, 2], dtype=ms.float32))
    same(G(lambda: n(T([[1.0, 2.0]]))), ("Float32", [[8.0, 11.0]]))
    same(G(lambda: n(T([[1.0, 2.0], [3.0, 4.0]]))), ("Float32", [[8.0, 11.0], [16.0, 23.0]]))


def test_compile():
    n = LinN()
    ms.set_context(mode=ms.GRAPH_MODE)
    same(n.compile(T([[1.0, 2.0]])), None)
    same(n(T([[1.0, 2.0]])), ("Float32", [[8.0, 11.0]]))


def test_ops_dyn():
    same(f_ops_dyn(T([1, 2, 2, 0])), (("Int64", [1, 2, 0]), ("Int64", [[0], [1], [2]]), ("Int64", [2, 2])))
