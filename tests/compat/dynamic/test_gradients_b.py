"""Gradients, hooks, Parameters, initializers, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.ops.operations as P
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops.composite import HyperMap

from tests.compat.dynamic.support import fails, same

T = Tensor


class Lin(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(T([2.0, 3.0], ms.float32), name="w")
        self.b = Parameter(T([1.0, 1.0]), name="b")

    def construct(self, x):
        return x * self.w + self.b


add = C.MultitypeFuncGraph("add")


@add.register("Tensor", "Tensor")
def _a1(x, y):
    return x + y


@add.register("Number", "Number")
def _a2(x, y):
    return x * y + 100


@add.register("Tensor", "Number")
def _a3(x, y):
    return x * y


def test_fhook():
    rec = []
    n = Lin()
    h = n.register_forward_hook(lambda c, i, o: (rec.append((i, o)), o * 2)[1])
    a = n(T([1.0, 2.0]))
    h.remove()
    same(a, ("Float32", [6.0, 14.0]))
    same(n(T([1.0, 2])), ("Float32", [3.0, 7.0]))
    same(rec, [((("Float32", [1.0, 2.0]),), ("Float32", [3.0, 7.0]))])


def test_bhook():
    rec = []

    class N(nn.Cell):
        def __init__(s):
            super().__init__()
            s.relu = nn.ReLU()
            s.h = s.relu.register_backward_hook(lambda c, gi, go: (rec.append((gi, go)), None)[1])

        def construct(s, x):
            return s.relu(x + x) * 3

    n = N()
    r = ms.grad(n)(T([1.0, -2.0]))
    n.h.remove()
    same(r, ("Float32", [6.0, 0.0]))
    same(rec, [((("Float32", [3.0, 0.0]),), (("Float32", [3.0, 3.0]),))])


def test_bhook_ret():
    n = nn.ReLU()
    n.register_backward_hook(lambda c, gi, go: (gi[0] * 5,))
    same(ms.grad(lambda x: n(x) * 2)(T([1.0, -1.0])), ("Float32", [10.0, 0.0]))


def test_bprehook():
    n = nn.ReLU()
    n.register_backward_pre_hook(lambda c, go: (go[0] * 5,))
    same(ms.grad(lambda x: n(x) * 2)(T([1.0, -1.0])), ("Float32", [10.0, 0.0]))


def test_hook_err():
    fails(lambda: nn.ReLU().register_forward_hook(1), TypeError, "Expected a callable hook function, but got int.")


def test_hook_err2():
    fails(lambda: nn.ReLU().register_backward_hook("a"), TypeError, "Expected a callable hook function, but got str.")


def test_thook():
    rec = []

    def f(x):
        y = x * 2
        y.register_hook(lambda g: (rec.append(g), g * 3)[1])
        return y * y

    same(ms.grad(f)(T([1.0, 2.0])), ("Float32", [24.0, 48.0]))
    same(rec, [("Float32", [4.0, 8.0])])


def test_thook_rm():
    def f(x):
        y = x * 2
        h = y.register_hook(lambda g: g * 3)
        h.remove()
        return y * y

    same(ms.grad(f)(T([1.0, 2.0])), ("Float32", [8.0, 16.0]))
    same(ms.grad(f)(T([1.0, 2.0])), ("Float32", [8.0, 16.0]))


def test_phook():
    n = Lin()
    h = n.w.register_hook(lambda g: g * 10)
    r = ms.grad(n, None, n.trainable_params())(T([1.0, 2.0]))
    h.remove()
    same(r, (("Float32", [10.0, 20.0]), ("Float32", [1.0, 1.0])))
    same(ms.grad(n, None, n.trainable_params())(T([1.0, 2.0])), (("Float32", [1.0, 2.0]), ("Float32", [1.0, 1.0])))


def test_mfg():
    same(add(T(1.0), T(2.0)), ("Float32", 3.0))
    same(add(1, 2), 102)
    same(add(T(2.0), 5), ("Float32", 10.0))
    fails(
        lambda: add("a", "b"), ValueError, "For 'MultitypeFuncGraph', cannot find fn match given args. Got (sigs, fn):"
    )


def test_hyper():
    h = C.HyperMap(add)
    same(h((T(1.0), T(2.0)), (T(3.0), T(4.0))), (("Float32", 4.0), ("Float32", 6.0)))
    same(h([1, 2], [3, 4]), (103, 108))
    same(h((1, (2, 3)), (4, (5, 6))), (104, (110, 118)))
    same(h((1,), (1, 2)), (101,))
    same(C.HyperMap()(add, (1, 2), (3, 4)), (103, 108))
    same(C.Map(add)((1, 2), (3, 4)), (103, 108))


def test_hyper2():
    h = HyperMap(reverse=True)
    same(h(lambda x: x * 2, (1, 2)), (2, 4))
    same(HyperMap()(F.square, (T(2.0), T(3.0))), (("Float32", 4.0), ("Float32", 9.0)))


def test_partial():
    same(F.partial(lambda x, y: x - y, T(5.0))(T(2.0)), ("Float32", 3.0))
    same(P.Partial()(lambda x, y: x + y, 1)(2), 3)


def test_depend():
    same(F.depend(T(1.0), T(2.0)), ("Float32", 1.0))
    same(P.Depend()(T(1.0), T(2.0)), ("Float32", 1.0))
    same(ops.depend(T([1.0]), T(3)), ("Float32", [1.0]))


def test_zip():
    same(C.normal((2, 2), T(0.0), T(1.0)).shape, (2, 2))


def test_F():
    same(F.shape(T([1.0, 2])), (2,))
    same(F.size(T([1.0, 2.0])), 2)
    same(F.rank(T([[1.0]])), 2)
    same(F.dtype(T(1)), "Int64")
    same(F.tuple_getitem((1, 2), 1), 2)
    same(F.scalar_add(1, 2), 3)
    same(F.scalar_to_tensor(3.0), ("Float32", 3.0))
    same(F.tensor_add(T(1.0), T(2.0)), ("Float32", 3.0))
    same(F.cast(T(1), ms.float32), ("Float32", 1.0))
    same(F.fill(ms.float32, (2,), 3), ("Float32", [3.0, 3.0]))
    same(F.is_(1, 1), True)
    same(F.equal(T(1), T(1)), ("Bool", True))
    same(F.identity(3), 3)
    same(F.tuple_to_array((1, 2)), ("Int32", [1, 2]))
    same(F.make_tuple(1, 2), (1, 2))
    same(F.in_dict("a", {"a": 1}), True)
    same(F.zeros_like(T([1.0])), ("Float32", [0.0]))


def test_p1():
    p = Parameter(T([1.0, 2.0]), name="a", requires_grad=False, layerwise_parallel=True, parallel_optimizer=True)
    same(p, ("Float32", [1.0, 2.0]))
    same(p.name, "a")
    same(p.requires_grad, False)
    same(p.layerwise_parallel, True)
    same(p.parallel_optimizer, True)
    same(p.data, ("Float32", [1.0, 2.0]))
    same(p.shape, (2,))
    same(p.dtype, "Float32")
    same(repr(p), "Parameter (name=a, shape=(2,), dtype=Float32, requires_grad=False)")
    same(p.has_init, False)
    same(p.unique, False)
    same(p.is_init, False)
    same(p.comm_fusion, 1)
    same(p.value(), ("Float32", [1.0, 2.0]))
    same(p.key, -1)
    same(p.cache_enable, False)
    same(p.inited_param, None)
    same(p.cache_shape, [])
    same(p.requires_aggr, True)
