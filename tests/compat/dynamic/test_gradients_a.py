"""Gradients, hooks, Parameters, initializers, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.ops as O
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.ops import composite as C
from mindspore.ops import functional as F

from tests.compat.dynamic.support import fails, same

T = Tensor


class GradOfFirstInput(nn.Cell):
    def __init__(self, network, sens_param=True, real_inputs_count=None):
        super().__init__()
        self.grad = C.GradOperation(sens_param=sens_param)
        self.network = network

    def construct(self, *inputs):
        return self.grad(self.network)(*inputs)


class GradAll(nn.Cell):
    def __init__(self, network, sens=True):
        super().__init__()
        self.grad = C.GradOperation(get_all=True, sens_param=sens)
        self.network = network

    def construct(self, *inputs):
        return self.grad(self.network)(*inputs)


class GradParams(nn.Cell):
    def __init__(self, network, sens=False):
        super().__init__()
        self.grad = C.GradOperation(get_by_list=True, sens_param=sens)
        self.network = network
        self.params = ParameterTuple(network.trainable_params())

    def construct(self, *inputs):
        return self.grad(self.network, self.params)(*inputs)


class Mul(nn.Cell):
    def construct(self, x, y):
        return x * y + x


class Lin(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(T([2.0, 3.0], ms.float32), name="w")
        self.b = Parameter(T([1.0, 1.0]), name="b")

    def construct(self, x):
        return x * self.w + self.b


class BP(nn.Cell):
    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return (dout * 10, out + 1)


class BPNest(nn.Cell):
    def __init__(s):
        super().__init__()
        s.n = BP()

    def construct(s, x):
        return s.n(x, x + 1) * 2


class BPBad(nn.Cell):
    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return dout


class BPArgs(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x):
        return (x,)


def test_g1():
    same(GradAll(Mul())(T([1.0, 2]), T([3.0, 4]), T([1.0, 1])), (("Float32", [4.0, 5.0]), ("Float32", [1.0, 2.0])))


def test_g2():
    same(GradAll(Mul(), False)(T([1.0, 2]), T([3.0, 4])), (("Float32", [4.0, 5.0]), ("Float32", [1.0, 2.0])))


def test_g3():
    same(GradOfFirstInput(Mul())(T([1.0, 2]), T([3.0, 4]), T([2.0, 1])), ("Float32", [8.0, 5.0]))


def test_g4():
    same(GradParams(Lin())(T([5.0, 6])), (("Float32", [5.0, 6.0]), ("Float32", [1.0, 1.0])))


def test_g5():
    same(GradParams(Lin(), True)(T([5.0, 6]), T([2.0, 2])), (("Float32", [10.0, 12.0]), ("Float32", [2.0, 2.0])))


def test_g6():
    n = Lin()
    g = C.GradOperation(get_all=True, get_by_list=True)
    same(
        g(n, ParameterTuple(n.trainable_params()))(T([5.0, 6])),
        ((("Float32", [2.0, 3.0]),), (("Float32", [5.0, 6.0]), ("Float32", [1.0, 1.0]))),
    )


def test_g7():
    n = Lin()
    g = C.GradOperation(get_by_list=True)
    same(g(n)(T([5.0, 6])), (("Float32", [5.0, 6.0]), ("Float32", [1.0, 1.0])))


def test_g8():
    same(C.GradOperation()(lambda x: x**3)(T(2.0)), ("Float32", 12.0))


def test_g9():
    g = C.GradOperation()
    same(g(g(lambda x: x**3))(T(2.0)), ("Float32", 12.0))


def test_g10():
    same(C.GradOperation(get_all=True)(lambda x: x**3)(T(2.0)), (("Float32", 12.0),))


def test_err_g1():
    fails(
        lambda: C.GradOperation(get_all=1), TypeError, "For 'GradOperation', the 'get_all' should be bool, but got int"
    )


def test_err_g2():
    fails(
        lambda: C.GradOperation(sens_param="a"),
        TypeError,
        "For 'GradOperation', the 'sens_param' should be bool, but got str",
    )


def test_err_g3():
    fails(
        lambda: C.GradOperation(get_by_list=3),
        TypeError,
        "For 'GradOperation', the 'get_by_list' should be bool, but got int",
    )


def test_err_g5():
    fails(lambda: C.GradOperation()(1)(T(1.0)), TypeError, "The fn should be callable, but got int")


def test_grad():
    f = lambda x, y: x * y * y
    same(ms.grad(f)(T(2.0), T(3.0)), ("Float32", 9.0))
    same(ms.grad(f, 1)(T(2.0), T(3.0)), ("Float32", 12.0))
    same(ms.grad(f, (0, 1))(T(2.0), T(3.0)), (("Float32", 9.0), ("Float32", 12.0)))
    same(ms.value_and_grad(f, (0, 1))(T(2.0), T(3.0)), (("Float32", 18.0), (("Float32", 9.0), ("Float32", 12.0))))


def test_grad_w():
    n = Lin()
    same(ms.grad(n, None, n.trainable_params())(T([1.0, 2])), (("Float32", [1.0, 2.0]), ("Float32", [1.0, 1.0])))
    same(
        ms.grad(n, 0, n.trainable_params())(T([1.0, 2])),
        (("Float32", [2.0, 3.0]), (("Float32", [1.0, 2.0]), ("Float32", [1.0, 1.0]))),
    )
    same(ms.grad(n, 0, n.w)(T([1.0, 2])), (("Float32", [2.0, 3.0]), ("Float32", [1.0, 2.0])))
    same(
        ms.value_and_grad(n, None, n.trainable_params())(T([1.0, 2])),
        (("Float32", [3.0, 7.0]), (("Float32", [1.0, 2.0]), ("Float32", [1.0, 1.0]))),
    )
    same(ms.grad(n, None, n.w, return_ids=True)(T([1.0, 2])), ("w", ("Float32", [1.0, 2.0])))
    same(
        ms.grad(n, (0,), n.trainable_params(), return_ids=True)(T([1.0, 2])),
        ((0, ("Float32", [2.0, 3.0])), (("w", ("Float32", [1.0, 2.0])), ("b", ("Float32", [1.0, 1.0])))),
    )


def test_get_grad():
    n = Lin()
    g = ms.grad(n, (0,), n.trainable_params(), return_ids=True)(T([1.0, 2]))
    same(ms.get_grad(g, 0), ("Float32", [2.0, 3.0]))
    same(ms.get_grad(g, n.w), ("Float32", [1.0, 2.0]))
    same(ms.get_grad(g, n.b), ("Float32", [1.0, 1.0]))


def test_get_grad_err():
    n = Lin()
    g = ms.grad(n, (0,), n.trainable_params(), return_ids=True)(T([1.0, 2]))
    fails(lambda: ms.get_grad(g, 1), RuntimeError, "Can not find the gradient for position or Parameter 1")
    fails(
        lambda: ms.get_grad(g, Parameter(T(1.0), name="zz")),
        RuntimeError,
        "Can not find the gradient for position or Parameter Parameter (name=zz, shape=(), dtype=Fl",
    )
    fails(lambda: ms.get_grad(1, 0), RuntimeError, "Can not find the gradient for position or Parameter 0")


def test_aux():
    def f(x, y):
        return (x * y, x + y, y)

    same(ms.grad(f, 0, has_aux=True)(T(2.0), T(3.0)), (("Float32", 3.0), (("Float32", 5.0), ("Float32", 3.0))))
    same(
        ms.value_and_grad(f, 0, has_aux=True)(T(2.0), T(3.0)),
        ((("Float32", 6.0), ("Float32", 5.0), ("Float32", 3.0)), ("Float32", 3.0)),
    )
    same(ms.grad(f)(T(2.0), T(3.0)), ("Float32", 4.0))


def test_vjp():
    f = lambda x, y: x**3 + y
    out, fn = ms.vjp(f, T([1.0, 2]), T([3.0, 4]))
    same(out, ("Float32", [4.0, 12.0]))
    same(fn(T([1.0, 1])), (("Float32", [3.0, 12.0]), ("Float32", [1.0, 1.0])))


def test_vjp_w():
    n = Lin()
    out, fn = ms.vjp(n, T([1.0, 2.0]), weights=n.trainable_params())
    same(out, ("Float32", [3.0, 7.0]))
    same(fn(T([1.0, 1.0])), ((("Float32", [2.0, 3.0]),), (("Float32", [1.0, 2.0]), ("Float32", [1.0, 1.0]))))


def test_stop():
    same(ms.grad(lambda x: ops.stop_gradient(x) * x)(T(3.0)), ("Float32", 3.0))
    same(ms.grad(lambda x: O.stop_gradient(x * x))(T(3.0)), ("Float32", 0.0))
    same(ms.grad(lambda x: F.stop_gradient(x) + x)(T(2.0)), ("Float32", 1.0))


def test_bprop():
    same(GradAll(BP())(T([1.0, 2]), T([3.0, 4]), T([1.0, 1])), (("Float32", [10.0, 10.0]), ("Float32", [4.0, 9.0])))
    same(ms.grad(BP())(T(1.0), T(2.0)), ("Float32", 10.0))
    same(ms.grad(BP(), (0, 1))(T(1.0), T(2.0)), (("Float32", 10.0), ("Float32", 3.0)))


def test_bprop_nest():
    same(ms.grad(BPNest())(T([1.0, 2.0])), ("Float32", [23.0, 27.0]))


def test_bprop_bad():
    fails(
        lambda: ms.grad(BPBad(), (0, 1))(T([1.0]), T([2.0])),
        RuntimeError,
        "Grad size should lager than forward inputs, but got 1 vs 2",
    )


def test_bprop_args():
    fails(
        lambda: ms.grad(BPArgs())(T([1.0])), TypeError, "BPArgs.bprop() takes 2 positional arguments but 4 were given"
    )


def test_bprop_tuple():
    class N(nn.Cell):
        def construct(self, x, y):
            return (x + y, x * y)

        def bprop(self, x, y, out, dout):
            return (dout[0] * 2, dout[1] * out[1])

    same(ms.grad(lambda a, b: N()(a, b)[1] * 3, (0, 1))(T([1.0]), T([2.0])), (("Float32", [0.0]), ("Float32", [6.0])))


def test_fphook():
    rec = []
    n = Lin()
    h = n.register_forward_pre_hook(lambda c, i: (rec.append(i), (i[0] * 2,))[1])
    a = n(T([1.0, 2.0]))
    h.remove()
    same(a, ("Float32", [5.0, 13.0]))
    same(n(T([1.0, 2])), ("Float32", [3.0, 7.0]))
    same(rec, [(("Float32", [1.0, 2.0]),)])
