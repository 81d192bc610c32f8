"""Small models and algorithms, classes of Cells."""

import functools

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.composite as C
import mindspore.ops.functional as F
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor


def case_lstm_step_loop(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.full((2, 2), 0.5), ms.float32), name="w")

        def construct(self, xs, h):
            outs = []
            for i in range(xs.shape[0]):
                h = ops.tanh(xs[i] @ self.w + h)
                outs.append(h)
            return ops.stack(outs, axis=0), h

    net = Net()
    return jit(net)(Tensor(np.ones((3, 1, 2)), ms.float32), Tensor(np.zeros((1, 2)), ms.float32)), ms.grad(
        lambda a, b: net(a, b)[1].sum(), (0, 1)
    )(Tensor(np.ones((3, 1, 2)), ms.float32), Tensor(np.zeros((1, 2)), ms.float32))


def case_beam_search(jit):
    @jit
    def foo(logits, k):
        scores, idx = ops.topk(logits, k)
        best = []
        for i in range(k):
            if scores[i] > 0.5:
                best.append((idx[i], scores[i]))
        return best, len(best)

    return foo(Tensor([0.1, 0.9, 0.6]), 2)


def case_newton(jit):
    @jit
    def foo(x):
        y = x
        n = 0
        while ops.abs(y * y - x) > 1e-4:
            y = 0.5 * (y + x / y)
            n += 1
            if n >= 50:
                break
        return y, n

    return foo(Tensor(2.0)), foo(Tensor(9.0))


def case_collatz(jit):
    @jit
    def foo(x):
        steps = 0
        while x != 1:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            steps += 1
        return steps

    return foo(Tensor(6)), foo(Tensor(27))


def case_gcd(jit):
    @jit
    def foo(a, b):
        while b != 0:
            a, b = b, a % b
        return a

    return foo(Tensor(48), Tensor(18))


def case_bubble(jit):
    @jit
    def foo(x):
        n = x.shape[0]
        for i in range(n):
            for j in range(n - 1 - i):
                if x[j] > x[j + 1]:
                    x[j], x[j + 1] = x[j + 1] + 0, x[j] + 0
        return x

    return foo(Tensor([3, 1, 2, 5, 4]))


def case_fizz(jit):
    @jit
    def foo(n):
        out = []
        for i in range(1, n + 1):
            if i % 15 == 0:
                out.append("FizzBuzz")
            elif i % 5 == 0:
                out.append("Buzz")
            elif i % 3 == 0:
                out.append("Fizz")
            else:
                out.append(str(i))
        return " ".join(out)

    return foo(15)


def case_stateful_counter(jit):
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = Parameter(Tensor(0, ms.int32), name="n", requires_grad=False)
            self.hist = []

        def construct(self, x):
            self.n += 1
            self.hist.append(self.n.value() + 0 if False else self.n + 0)
            return x * self.n

    c = Counter()
    f = jit(c)
    return f(Tensor(2)), f(Tensor(2)), c.n + 0, len(c.hist), c.hist[-1]


def case_ema(jit):
    class EMA(nn.Cell):
        def __init__(self):
            super().__init__()
            self.m = Parameter(Tensor([0.0]), name="m", requires_grad=False)

        def construct(self, x):
            if self.training:
                ops.assign(self.m, 0.9 * self.m + 0.1 * x)
            return x - self.m

    e = EMA()
    f = jit(e)
    a = f(Tensor([1.0]))
    e.set_train()
    b = f(Tensor([1.0]))
    return a, b, e.m + 0


def case_mixture_switch(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.experts = nn.CellList(
                [
                    nn.Dense(2, 2, weight_init="ones", bias_init=i)
                    if False
                    else nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
                    for i in range(3)
                ]
            )

        def construct(self, x):
            out = 0
            for i, e in enumerate(self.experts):
                gate = ops.cast(x.sum() > i, ms.float32)
                out = out + gate * e(x)
            return out

    net = Net()
    return jit(net)(Tensor([[1.0, 0.5]])), ms.grad(net, 0, net.trainable_params())(Tensor([[1.0, 0.5]]))


def case_gan_step(jit):
    g = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
    d = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
    og, od = nn.SGD(g.trainable_params(), 0.1), nn.Adam(d.trainable_params(), 0.1)

    def dl(z, r):
        return (d(g(z)) - d(r)).mean()

    def gl(z):
        return -d(g(z)).mean()

    gd, gg = ms.value_and_grad(dl, None, od.parameters), ms.value_and_grad(gl, None, og.parameters)

    @jit
    def step(z, r):
        l1, gr = gd(z, r)
        od(gr)
        l2, gr2 = gg(z)
        og(gr2)
        return l1, l2

    z, r = Tensor([[1.0]]), Tensor([[3.0]])
    return step(z, r), step(z, r), g.weight + 0, d.weight + 0


def case_grad_accumulation(jit):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    acc = ParameterTuple(
        [Parameter(ops.zeros_like(p), name="acc_" + p.name, requires_grad=False) for p in net.trainable_params()]
    )
    gf = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    hm = C.HyperMap()
    add = C.MultitypeFuncGraph("acc_add")

    @add.register("Tensor", "Tensor")
    def _add(a, g):
        return F.assign_add(a, g)

    @jit
    def step(x):
        l, g = gf(x)
        hm(add, acc, g)
        return l

    step(Tensor([[1.0, 2.0]]))
    step(Tensor([[3.0, 4.0]]))
    return [a + 0 for a in acc]


def case_clip_global(jit):
    @jit
    def foo(a, b):
        return ops.clip_by_global_norm((a, b), 1.0), C.clip_by_value(a, -1.0, 1.0)

    return foo(Tensor([3.0]), Tensor([4.0]))


def case_loss_scale(jit):
    scaler = ms.amp.StaticLossScaler(4.0)
    net = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")

    def fwd(x):
        return scaler.scale(net(x).sum())

    gf = ms.value_and_grad(fwd, None, net.trainable_params())

    @jit
    def step(x):
        l, g = gf(x)
        g = scaler.unscale(g)
        return scaler.unscale(l), g, ms.amp.all_finite(g)

    return step(Tensor([[2.0]]))


def case_jit_wrap_lambda(jit):
    f = jit(lambda x, y=2: x * y)
    return f(Tensor(3)), f(Tensor(3), 5)


def case_partial_jitted(jit):
    def base(a, b, c=1):
        return a * b + c

    f = jit(functools.partial(base, 2)) if False else jit(lambda b, c=1: functools.partial(base, 2)(b, c=c))
    return f(Tensor(3)), f(Tensor(3), c=4)


def case_static_method_jit(jit):
    class A:
        @staticmethod
        @jit
        def f(x):
            return x + 1

    return A.f(Tensor(1)), A().f(Tensor(2))


def case_property_cell(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self._k = 2

        @property
        def k(self):
            return self._k * 3

        @staticmethod
        def helper(x):
            return x + 1

        @classmethod
        def chelper(cls, x):
            return x + len(cls.__name__)

        def construct(self, x):
            return self.helper(x) * self.k + Net.helper(x) + self.chelper(x)

    return jit(Net())(Tensor(1))


def case_inherit_construct(jit):
    class Base(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n

        def body(self, x):
            raise NotImplementedError("body")

        def construct(self, x):
            for _ in range(self.n):
                x = self.body(x)
            return x

    class A(Base):
        def body(self, x):
            return x + 1

    class B(A):
        def body(self, x):
            return super().body(x) * 2

    return jit(A(2))(Tensor(1)), jit(B(3))(Tensor(1))


def case_abstract_body(jit):
    class Base(nn.Cell):
        def body(self, x):
            raise NotImplementedError("body")

        def construct(self, x):
            return self.body(x)

    return jit(Base())(Tensor(1))


def case_mixin_call(jit):
    class Scale:
        def scale(self, x):
            return x * self.s

    class Net(nn.Cell, Scale):
        def __init__(self):
            super().__init__()
            self.s = 4

        def construct(self, x):
            return self.scale(x)

    return jit(Net())(Tensor(2))


def case_getattr_dynamic(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.l0, self.l1 = nn.ReLU(), nn.Tanh()
            for i in range(2):
                setattr(self, f"d{i}", nn.Dense(2, 2, weight_init="ones", bias_init="zeros"))

        def construct(self, x):
            for i in range(2):
                x = getattr(self, f"l{i}")(getattr(self, "d" + str(i))(x))
            return x

    return jit(Net())(Tensor([[0.1, 0.2]]))
