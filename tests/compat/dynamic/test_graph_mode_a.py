"""Networks and functions in graph mode, as MindSpore 2.10 has them."""

import functools
import math
import operator
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import mindspore as ms
import mindspore.common.dtype as mstype
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.operations as P
import numpy as np
from mindspore import Parameter, Tensor, jit, mutable
from mindspore.ops import composite as C

from tests.compat.dynamic.support import same

T = Tensor

grad_all = C.GradOperation(get_all=True)


def G(f):
    """run in graph mode"""
    ms.set_context(mode=ms.GRAPH_MODE)
    return f()


class ForwardNet(nn.Cell):
    def __init__(self, max_cycles=10):
        super().__init__()
        self.max_cycles = max_cycles
        self.i = T(np.array(0), mstype.int32)
        self.zero = T(np.array(0), mstype.int32)
        self.weight = Parameter(T(np.array(0), mstype.int32))

    def construct(self, x, y):
        i = self.i
        out = self.zero
        while i < self.max_cycles:
            self.weight = i
            if out <= 20:
                self.weight = out
                out = x * y + out
            i = i + 1
        if out >= 30:
            self.weight = out - 30
        return (out, self.weight)


class BackwardNet(nn.Cell):
    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.forward_net = net
        self.grad = C.GradOperation(get_all=True)

    def construct(self, *inputs):
        return self.grad(self.forward_net)(*inputs)


class CtrlWhile(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter(T(np.array(2.0), ms.float32), name="p")
        self.a = P.AssignAdd()

    def construct(self, x, n):
        out = x
        while n > 0:
            out = out * self.p
            n = n - 1
            if out > 20:
                break
        return out


class IfInFor(nn.Cell):
    def __init__(self):
        super().__init__()
        self.add = P.Add()

    def construct(self, x, y):
        out = x
        for i in range(4):
            if i % 2 == 0:
                out = self.add(out, y)
            else:
                out = out * 2
            if out.sum() > 50:
                return out
        return out + 100


@jit
def f_nested_ctrl(x, y):
    while x < y:
        if x > 2:
            for i in range(2):
                x = x + i
                if x > 4:
                    break
        x = x + 1
    return x


@jit
def f_and_or(x, y):
    if x > 1 and y < 3 or not x > 5:
        return x + y
    return x - y


@jit
def f_none_ret(x):
    if x > 1:
        return None
    return None


@jit
def f_no_return(x):
    y = x + 1


@jit
def f_np_funcs(x):
    a = x.asnumpy()
    b = np.concatenate([a, a])
    c = np.mean(b)
    d = np.expand_dims(a, 0)
    return (
        Tensor(b),
        Tensor(c),
        Tensor(d),
        Tensor(np.maximum(a, 1.5)),
        Tensor(np.zeros_like(a)),
        Tensor(a.astype(np.int32)),
    )


@jit
def f_np_const():
    return (
        Tensor(np.arange(3)),
        Tensor(np.eye(2, dtype=np.float32)),
        Tensor(np.linspace(0, 1, 3)),
        Tensor(np.random.RandomState(0).rand(2)),
        Tensor([math.sqrt(4.0), math.pi]),
    )


@jit
def f_math(x):
    return (math.floor(2.7), math.ceil(2.1), math.pow(2, 3), math.sqrt(16), math.log(math.e), x * math.pi)


Point = namedtuple("Point", ["x", "y"])


@jit
def f_namedtuple(a):
    p = Point(a, 2)
    return (p.x + p.y, p[1], p)


@jit
def f_namedtuple_arg(p):
    return p.x * p.y


@jit
def f_od():
    d = OrderedDict()
    d["b"] = 1
    d["a"] = 2
    return d


@jit
def f_partial(x):
    g = functools.partial(operator.add, 3)
    return (g(x), functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]))


@dataclass
class DC:
    a: int
    b: float = 2.0


@jit
def f_dc(x):
    d = DC(1)
    return x + d.a + d.b


class Base(nn.Cell):
    def __init__(self):
        super().__init__()
        self.k = 2

    def construct(self, x):
        return self.calc(x) * self.k

    def calc(self, x):
        return x


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.k = 5

    def calc(self, x):
        return super().calc(x) + 1

    def construct(self, x):
        return super().construct(x) + 100


class KwNet(nn.Cell):
    def construct(self, x, *args, scale=1, **kw):
        for a in args:
            x = x + a
        for k in kw:
            x = x + kw[k]
        return x * scale


class ContNet(nn.Cell):
    def construct(self, t, l, d):
        return (t[0] + t[1] * l[0] + d["a"], (t, l, d))


class MutNet(nn.Cell):
    def construct(self, t):
        return t[0] * t[1]


@jit
def f_list_ops(x):
    l = [1, x, "s"]
    l.append((2, 3))
    l[1] = l[1] + 1
    m = l + [5]
    n = [0] * 3
    m.extend((7, 8))
    return (l, m, n, len(m), l[-1], l.index(1), [[1, 2], [3]][0][1])


GL = [1, 2, 3]


@jit
def f_glist():
    GL.append(4)
    return GL


@jit
def f_list_inplace(l):
    l[0] = 9
    l.append(T(1.0))
    return l


@jit
def f_list_while():
    l = []
    i = 0
    while i < 3:
        l.append(i * 2)
        i += 1
    return (l, [v for v in l if v > 0], sum(l), max(l))


@jit
def f_dict_comp(x):
    return ({k: v * 2 for k, v in zip(("a", "b"), (1, x))}, {i: i * i for i in range(3) if i % 2 == 0})


@jit
def f_dict_nest(x):
    d = {"a": {"b": [x, 1]}}
    d["a"]["b"][1] = 5
    d["a"]["c"] = x
    return d


@jit
def f_isinst(x, y):
    return (
        isinstance(x, (int, float)),
        isinstance(x, Tensor),
        isinstance(y, (list, tuple)),
        isinstance(None, type(None)),
        type(3) == int,
        callable(len) if False else 1,
    )


@jit
def f_in(x, y):
    return (x in y, x not in y, y.index(x) if x in y else -1)


@jit
def f_tensor_in(x):
    return (x.shape[0] in (2, 3), x.dtype in (ms.float32, ms.float16), x.dtype == ms.float32, x.ndim == 1)


@jit
def f_int_float(x):
    return (int(x), float(x), bool(x), int("12"), float("1.5"), str(1.5), int(True))


@jit
def f_zero_loop(x):
    for i in range(0):
        x = x + 1
    for j in []:
        x = x + 100
    while False:
        x = x + 1
    return x


@jit
def f_tuple_unpack_loop(x):
    a, b = (x, x * 2)
    for i in range(3):
        a, b = (b, a + b)
    return (a, b)


@jit
def f_lambda_list(x):
    fs = [lambda a: a + 1, lambda a: a * 2]
    return ([f(x) for f in fs], (lambda *a: sum(a))(1, 2, 3))


@jit
def f_pass_ell(x):
    if x.shape == (1,):
        pass
    else:
        ...
    return x


@jit
def f_tensor_methods(x):
    return (
        x.abs().sum(),
        x.max(),
        x.min(),
        x.argmax(),
        x.astype(ms.float16),
        x.reshape(2, 1),
        x.expand_dims(0),
        x.T,
        x.mean(0),
        x.view(2, 1).shape,
        x.item() if False else x[0].item() if False else 0,
        x.any(),
        x.all(),
        x.copy(),
        x.sum(axis=0),
        x.clip(1, 1.5),
        x.broadcast_to((2, 2)),
    )


@jit
def f_shape_unpack(x):
    n, c = x.shape
    return (x.reshape(c, n), n * c, ops.zeros((n, c)), x.reshape(-1, x.shape[0] * x.shape[1]))


@jit
def f_enum(xs):
    s = 0
    for i, v in enumerate(xs):
        s = s + i * v
    for i, v in enumerate(xs, 5):
        s = s + i
    for a, b in zip(xs, xs[1:]):
        s = s + a * b
    for v in reversed(xs):
        s = s * 2 + v
    return s


def test_fwdnet():
    same(
        G(lambda: BackwardNet(ForwardNet(3))(T(np.array(7), mstype.int32), T(np.array(20), mstype.int32))),
        (("Int32", 20), ("Int32", 7)),
    )


def test_while_grad():
    same(G(lambda: ms.grad(CtrlWhile(), 0)(T(1.5), T(4))), ("Float32", 16.0))
    same(
        G(lambda: [ms.grad(n, None, n.trainable_params())(T(1.5), T(3)) for n in [CtrlWhile()]]), [(("Float32", 18.0),)]
    )
    same(G(lambda: CtrlWhile()(T(1.5), T(9))), ("Float32", 24.0))


def test_ifinfor():
    same(G(lambda: IfInFor()(T([1.0, 2.0]), T([3.0, 4.0]))), ("Float32", [22.0, 32.0]))
    same(
        G(lambda: grad_all(IfInFor())(T([1.0, 2.0]), T([3.0, 4.0]))), (("Float32", [4.0, 4.0]), ("Float32", [6.0, 6.0]))
    )
    same(
        G(lambda: grad_all(IfInFor())(T([10.0, 20.0]), T([3.0, 4.0]))),
        (("Float32", [2.0, 2.0]), ("Float32", [2.0, 2.0])),
    )


def test_nested_ctrl():
    same(f_nested_ctrl(T(0), T(9)), ("Int64", 9))
    same(f_nested_ctrl(T(5), T(3)), ("Int64", 5))
    same(ms.grad(lambda a, b: f_nested_ctrl(a, b) * 2)(T(0.0), T(9.0)), ("Float32", 2.0))


def test_and_or():
    same(f_and_or(T(2.0), T(2.0)), ("Float32", 4.0))
    same(f_and_or(T(6.0), T(4.0)), ("Float32", 2.0))
    same(f_and_or(T(6.0), T(1.0)), ("Float32", 7.0))


def test_none_ret():
    same(f_none_ret(T(2.0)), None)


def test_no_return():
    same(f_no_return(T(2.0)), None)


def test_np_funcs():
    same(
        f_np_funcs(T([1.0, 2.0])),
        (
            ("Float32", [1.0, 2.0, 1.0, 2.0]),
            ("Float32", 1.5),
            ("Float32", [[1.0, 2.0]]),
            ("Float32", [1.5, 2.0]),
            ("Float32", [0.0, 0.0]),
            ("Int32", [1, 2]),
        ),
    )


def test_np_const():
    same(
        f_np_const(),
        (
            ("Int64", [0, 1, 2]),
            ("Float32", [[1.0, 0.0], [0.0, 1.0]]),
            ("Float64", [0.0, 0.5, 1.0]),
            ("Float64", [0.5488135, 0.7151894]),
            ("Float32", [2.0, 3.141593]),
        ),
    )


def test_math():
    same(f_math(T(1.0)), (2, 3, 8.0, 4.0, 1.0, ("Float32", 3.141593)))


def test_namedtuple():
    same(f_namedtuple(T(1.0)), (("Float32", 3.0), 2, (("Float32", 1.0), 2)))


def test_namedtuple_arg():
    same(f_namedtuple_arg(Point(T(2.0), T(3.0))), ("Float32", 6.0))


def test_od():
    same(f_od(), {"b": 1, "a": 2})


def test_partial():
    same(f_partial(T(1.0)), (("Float32", 4.0), 24))


def test_dc():
    same(f_dc(T(1.0)), ("Float32", 4.0))


def test_inherit():
    same(G(lambda: Derived()(T(1.0))), ("Float32", 110.0))
    same(Derived()(T(1.0)), ("Float32", 110.0))


def test_kw():
    same(G(lambda: KwNet()(T(1.0), T(2.0), T(3.0), scale=2, z=T(4.0))), ("Float32", 20.0))
    same(KwNet()(T(1.0), scale=3), ("Float32", 3.0))


def test_cont():
    same(
        G(lambda: ContNet()((T(1.0), T(2.0)), [T(3.0), 4], {"a": T(5.0)})),
        (("Float32", 12.0), ((("Float32", 1.0), ("Float32", 2.0)), [("Float32", 3.0), 4], {"a": ("Float32", 5.0)})),
    )
    same(
        ContNet()((T(1.0), T(2.0)), [T(3.0), 4], {"a": T(5.0)}),
        (("Float32", 12.0), ((("Float32", 1.0), ("Float32", 2.0)), [("Float32", 3.0), 4], {"a": ("Float32", 5.0)})),
    )


def test_mut():
    same(G(lambda: grad_all(MutNet())(mutable((T(2.0), T(3.0))))), ((("Float32", 3.0), ("Float32", 2.0)),))
    same(G(lambda: grad_all(MutNet())(mutable([T(2.0), T(3.0)]))), ([("Float32", 3.0), ("Float32", 2.0)],))


def test_list_ops():
    same(
        f_list_ops(T(1.0)),
        ([1, ("Float32", 2.0), "s", (2, 3)], [1, ("Float32", 2.0), "s", (2, 3), 5, 7, 8], [0, 0, 0], 7, (2, 3), 0, 2),
    )


def test_glist():
    r = f_glist()
    same(r, [1, 2, 3, 4])


def test_list_inplace():
    l = [1, 2]
    r = f_list_inplace(l)
    same(r, [9, 2, ("Float32", 1.0)])


def test_list_while():
    same(f_list_while(), ([0, 2, 4], [2, 4], 6, 4))


def test_dict_comp():
    same(f_dict_comp(T(1.0)), ({"a": 2, "b": ("Float32", 2.0)}, {0: 0, 2: 4}))


def test_dict_nest():
    same(f_dict_nest(T(1.0)), {"a": {"b": [("Float32", 1.0), 5], "c": ("Float32", 1.0)}})


def test_isinst():
    same(f_isinst(3, [1]), (True, False, True, True, True, 1))
    same(f_isinst(T(1.0), (1,)), (False, True, True, True, True, 1))
    same(f_isinst(2.5, {}), (True, False, False, True, True, 1))


def test_in():
    same(f_in(1, [1, 2]), (True, False, 0))
    same(f_in(3, (1, 2)), (False, True, -1))
    same(f_in("a", ("a", "b")), (True, False, 0))


def test_tensor_in():
    same(f_tensor_in(T([1.0, 2.0])), (True, True, True, True))


def test_int_float():
    same(f_int_float(3), (3, 3.0, True, 12, 1.5, "1.5", 1))
    same(f_int_float(2.7), (2, 2.7, True, 12, 1.5, "1.5", 1))
    same(f_int_float(T(5.0)), (5, 5.0, True, 12, 1.5, "1.5", 1))


def test_zero_loop():
    same(f_zero_loop(T(1.0)), ("Float32", 1.0))


def test_tuple_unpack_loop():
    same(f_tuple_unpack_loop(T(1.0)), (("Float32", 5.0), ("Float32", 8.0)))


def test_closure():
    k = T(3.0)

    def mk(n):

        def g(x):
            return x * n + k

        return g

    same(jit(mk(2))(T(1.0)), ("Float32", 5.0))
    same(jit(mk(4))(T(1.0)), ("Float32", 7.0))


def test_lambda_list():
    same(f_lambda_list(T(3.0)), ([("Float32", 4.0), ("Float32", 6.0)], 6))


def test_pass_ell():
    same(f_pass_ell(T([1.0])), ("Float32", [1.0]))


def test_tensor_methods():
    same(
        f_tensor_methods(T([1.0, 2.0])),
        (
            ("Float32", 3.0),
            ("Float32", 2.0),
            ("Float32", 1.0),
            ("Int64", 1),
            ("Float16", [1.0, 2.0]),
            ("Float32", [[1.0], [2.0]]),
            ("Float32", [[1.0, 2.0]]),
            ("Float32", [1.0, 2.0]),
            ("Float32", 1.5),
            (2, 1),
            0,
            ("Bool", True),
            ("Bool", True),
            ("Float32", [1.0, 2.0]),
            ("Float32", 3.0),
            ("Float32", [1.0, 1.5]),
            ("Float32", [[1.0, 2.0], [1.0, 2.0]]),
        ),
    )


def test_shape_unpack():
    same(
        f_shape_unpack(T(np.ones((2, 3), np.float32))),
        (
            ("Float32", [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]),
            6,
            ("Float32", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
            ("Float32", [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]),
        ),
    )


def test_enum():
    same(f_enum((1, 2, 3)), 289)
    same(f_enum([T(1.0), T(2.0)]), ("Float32", 65.0))
