"""Python syntax and builtins under jit, as MindSpore 2.10 has them."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops
from mindspore.ops import composite as C
from mindspore.ops import functional as F

from tests.compat.dynamic.support import fails, same

T = Tensor


@jit
def f_aug(x):
    y = x
    y += 1
    y *= 2
    y -= 3
    y /= 2
    a = 7
    a //= 2
    a **= 2
    a %= 5
    b = 6
    b &= 3
    b |= 8
    b ^= 1
    b <<= 1
    b >>= 2
    return (y, a, b)


@jit
def f_setitem(x):
    x[0] = 5
    x[1:] = 0
    return x


@jit
def f_index(x):
    return (x[0], x[..., 1], x[:, None].shape, x[[0, 1]], x[x > 2], x[T([1])], x[-1, ::2], x[True].shape)


@jit
def f_none():
    return None


@jit
def f_ret_mixed(x):
    return (1, 2.5, "s", None, True, (x, [x, {"k": x}]))


@jit
def f_scalar(x, y):
    return (x + y, x * y, x / y, x // y, x % y, x**y, -x, x > y)


@jit_class
class JC:
    def __init__(self, v):
        self.v = v

    def __call__(self, x):
        return x * self.v

    def add(self, x):
        return x + self.v

    @staticmethod
    def st(x):
        return x + 10

    @property
    def prop(self):
        return self.v * 2


jc = JC(3)


@jit
def f_jc(x):
    return (jc(x), jc.add(x), jc.v, JC.st(x))


@jit
def f_jc2(x):
    o = JC(4)
    return (o(x), o.add(x), o.v)


@jit
def f_jc3(x):
    o = JC(x)
    return o.add(1)


class Plain:
    def __init__(self):
        self.x = 5
        self.t = T([1.0, 2.0])

    def m(self, y):
        return y + self.x


pl = Plain()


@jit
def f_plain(x):
    return (pl.x, pl.t + x, pl.m(x))


class NetIf(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(T([2.0]), name="w")
        self.flag = True
        self.n = 3

    def construct(self, x):
        if self.flag:
            x = x * self.w
        for _ in range(self.n):
            x = self.helper(x)
        return x

    def helper(self, x):
        return x + 1


class NetAttr(nn.Cell):
    def __init__(self):
        super().__init__()
        self.v = 1

    def construct(self, x):
        self.v = self.v + 1
        return x * self.v


class NetList(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cl = nn.CellList([nn.ReLU(), nn.Tanh()])
        self.seq = nn.SequentialCell(nn.ReLU(), nn.Sigmoid())
        self.d = {"a": 1, "b": 2}
        self.l = [1, 2]

    def construct(self, x):
        for c in self.cl:
            x = c(x)
        for i, c in enumerate(self.cl):
            x = c(x) + i
        for k in self.d:
            x = x + self.d[k]
        return (self.seq(x), self.cl[0](x), self.d["a"], len(self.cl))


@jit
def f_grad_in(x, y):

    def g(a, b):
        return a * a * b

    return (ms.grad(g)(x, y), ms.grad(g, (0, 1))(x, y), ms.value_and_grad(g)(x, y))


_go = C.GradOperation(get_all=True)


def _sq(x, y):
    return x * x * y


@jit
def f_grad_in2(x, y):
    return _go(_sq)(x, y)


@jit
def f_globals():
    global GLB
    return GLB + 1


GLB = 4


@jit
def f_unpack(x):
    a, (b, c) = x
    a, b = (b, a)
    d, *e = [1, 2, 3]
    return (a, b, c, d, e)


@jit
def f_recur(n):
    if n <= 1:
        return 1
    return n * f_recur_h(n - 1)


def f_recur_h(n):
    if n <= 1:
        return 1
    return n * f_recur_h(n - 1)


@jit
def f_attr_err(x):
    return x.abcde


@jit
def f_branch_shape(x, y):
    if y > 0:
        r = x
    else:
        r = x[0]
    return r


@jit
def f_lambda_map(x):
    return (
        ops.HyperMap()(lambda a: a * 2, (x, x + 1))
        if False
        else F.hyper_map
        if False
        else C.HyperMap()(F.square, (x, x))
    )


@jit
def f_tensor_create():
    return (Tensor([1, 2]), Tensor(3, ms.float32), ms.tensor(2.5), ops.ones((2,), ms.int32), Tensor(np.ones(2)))


@jit
def f_type(x):
    return (x.dtype, x.shape, x.ndim, x.size, type(x) == Tensor)


@jit
def f_getattr(x):
    return (getattr(x, "shape"), getattr(pl, "x"), getattr(pl, "zz", 7), hasattr(pl, "x"), hasattr(x, "abc"))


@jit
def f_inner_while(x):
    i = 0
    while i < 3:
        j = T(0)
        while j < 2:
            x = x + i * j
            j += 1
        i += 1
    return x


@jit
def f_range():
    return (
        list(range(5)),
        tuple(range(1, 6, 2)),
        list(range(3, 0, -1)),
        [i for i in reversed([1, 2])],
        list(enumerate([5, 6], 1)),
    )


@jit
def f_slice():
    s = slice(0, 2)
    x = [1, 2, 3]
    return (x[s], Tensor([1, 2, 3])[s])


@jit
def f_matmul(x):
    return (x @ x, x.T, x.mean(), x.astype(ms.int32), x.view(-1))


def test_aug():
    same(f_aug(T(5.0)), (("Float32", 4.5), 4, 5))


def test_setitem():
    a = T([1.0, 2.0, 3.0])
    r = f_setitem(a)
    same(r, ("Float32", [5.0, 0.0, 0.0]))


def test_index():
    same(
        f_index(T([[1.0, 2.0], [3.0, 4.0]])),
        (
            ("Float32", [1.0, 2.0]),
            ("Float32", [2.0, 4.0]),
            (2, 1, 2),
            ("Float32", [[1.0, 2.0], [3.0, 4.0]]),
            ("Float32", [3.0, 4.0]),
            ("Float32", [[3.0, 4.0]]),
            ("Float32", [3.0]),
            (1, 2, 2),
        ),
    )


def test_none():
    same(f_none(), None)


def test_ret_mixed():
    same(
        f_ret_mixed(T(1.0)), (1, 2.5, "s", None, True, (("Float32", 1.0), [("Float32", 1.0), {"k": ("Float32", 1.0)}]))
    )


def test_scalar():
    same(f_scalar(5, 2), (7, 10, 2.5, 2, 1, 25, -5, True))
    same(f_scalar(5.0, 2), (7.0, 10.0, 2.5, 2.0, 1.0, 25.0, -5.0, True))
    same(f_scalar(mutable(5), 2), (7, 10, 2.5, 2, 1, 25, -5, True))


def test_jc():
    same(f_jc(T(2.0)), (("Float32", 6.0), ("Float32", 5.0), 3, ("Float32", 12.0)))


def test_jc2():
    same(f_jc2(T(2.0)), (("Float32", 8.0), ("Float32", 6.0), 4))


def test_jc3():
    same(f_jc3(3), 4)


def test_plain():
    same(f_plain(T([1.0, 1.0])), (5, ("Float32", [2.0, 3.0]), ("Float32", [6.0, 6.0])))


def test_netif():
    ms.set_context(mode=ms.GRAPH_MODE)
    n = NetIf()
    same(n(T([1.0])), ("Float32", [5.0]))
    same(ms.grad(n, None, n.trainable_params())(T([1.0])), (("Float32", [1.0]),))


def test_netattr():
    ms.set_context(mode=ms.GRAPH_MODE)
    n = NetAttr()
    a = n(T([1.0]))
    same(a, ("Float32", [2.0]))
    same(n.v, 2)


def test_netlist():
    ms.set_context(mode=ms.GRAPH_MODE)
    same(NetList()(T([1.0, -1.0])), (("Float32", [0.9904538, 0.9820138]), ("Float32", [4.642015, 4.0]), 1, 2))


def test_grad_in():
    same(
        f_grad_in(T(2.0), T(3.0)),
        (("Float32", 12.0), (("Float32", 12.0), ("Float32", 4.0)), (("Float32", 12.0), ("Float32", 12.0))),
    )


def test_grad_in2():
    same(f_grad_in2(T(2.0), T(3.0)), (("Float32", 12.0), ("Float32", 4.0)))


def test_globals():
    same(f_globals(), 5)


def test_nonlocal():
    def outer(x):
        c = 0

        def inner():
            nonlocal c
            c = c + 1
            return c

        inner()
        inner()
        return x + c

    same(outer(T(1.0)), ("Float32", 3.0))


def test_unpack():
    same(f_unpack((1, (2, 3))), (2, 1, 3, 1, [2, 3]))


def test_recur():
    same(f_recur(5), 120)


def test_attr_err():
    fails(lambda: f_attr_err(T(1.0)), AttributeError, "'Tensor' object has no attribute 'abcde'")


def test_branch_shape():
    same(f_branch_shape(T([1.0, 2.0]), T(1)), ("Float32", [1.0, 2.0]))
    same(f_branch_shape(T([1.0, 2.0]), T(-1)), ("Float32", 1.0))


def test_lambda_map():
    same(f_lambda_map(T(3.0)), (("Float32", 9.0), ("Float32", 9.0)))


def test_tensor_create():
    same(
        f_tensor_create(),
        (("Int64", [1, 2]), ("Float32", 3.0), ("Float32", 2.5), ("Int32", [1, 1]), ("Float64", [1.0, 1.0])),
    )


def test_type():
    same(f_type(T([1.0, 2.0])), ("Float32", (2,), 1, 2, True))


def test_getattr():
    same(f_getattr(T([1.0])), ((1,), 5, 7, True, False))


def test_inner_while():
    same(f_inner_while(T(1)), ("Int64", 4))


def test_range():
    same(f_range(), ([0, 1, 2, 3, 4], (1, 3, 5), [3, 2, 1], [2, 1], [(1, 5), (2, 6)]))


def test_slice():
    same(f_slice(), ([1, 2], ("Int64", [1, 2])))


def test_matmul():
    same(
        f_matmul(T([[1.0, 2.0], [3.0, 4.0]])),
        (
            ("Float32", [[7.0, 10.0], [15.0, 22.0]]),
            ("Float32", [[1.0, 3.0], [2.0, 4.0]]),
            ("Float32", 2.5),
            ("Int32", [[1, 2], [3, 4]]),
            ("Float32", [1.0, 2.0, 3.0, 4.0]),
        ),
    )


def test_jit_args3():
    @jit(capture_mode="bytecode")
    def f(x):
        if x > 0:
            return x + 1
        return x

    same(f(T(1.0)), ("Float32", 2.0))


def test_jit_args4():
    @jit(jit_level="O0", backend="ms_backend")
    def f(x):
        return x + 1

    same(f(T(1.0)), ("Float32", 2.0))


def test_jit_args5():
    @jit(input_signature=(Tensor(shape=[None], dtype=ms.float32),))
    def f(x):
        return x + 1

    same(f(T([1.0])), ("Float32", [2.0]))


def test_jit_old():
    @ms.jit(mode="PSJit")
    def f(x):
        return x + 1

    same(f(T(1.0)), ("Float32", 2.0))
