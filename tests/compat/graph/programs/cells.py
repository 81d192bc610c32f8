"""Cells in graph mode: children, calls, settings."""

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Parameter, Tensor, jit_class
from mindspore.common.api import _cell_graph_executor


def case_jit_class(jit):
    @jit_class
    class Inner:
        def __init__(self, v):
            self.value = v

        def add(self, x):
            return x + self.value

        def __call__(self, y):
            return self.value * y

        def __getitem__(self, i):
            return self.value + i

        def __len__(self):
            return 4

        def __contains__(self, k):
            return k == 1

        def __add__(self, other):
            return self.value + other

        def __eq__(self, other):
            return self.value == other

    obj = Inner(3)

    @jit
    def foo(x):
        o = Inner(5)
        return obj.add(x), obj.value, o(x), o[2], len(o), 1 in o, o + 10, o == 5, Inner(1).value

    return foo(Tensor(2))


def case_jit_class_staticmethod_property(jit):
    class Inner:
        K = 4

        def __init__(self, number):
            self.number = number

        @staticmethod
        def st(x):
            return x + 1

        @classmethod
        def cl(cls, x):
            return x + cls.K

        @property
        def twice(self):
            return self.number * 2

        def act(self, x, y):
            return self.number * (x + y)

    @jit
    def foo(x):
        i = Inner(2)
        return i.st(x), Inner.st(x), i.cl(x), Inner.cl(x), i.twice, i.act(x, 1)

    return foo(Tensor(1))


def case_jit_class_with_context(jit):
    @jit_class
    class Sample:
        def __init__(self):
            self.val = Tensor([5])

        def __enter__(self):
            return self.val

        def __exit__(self, exc_type, exc, tb):
            return False

    @jit
    def foo(x):
        with Sample() as s:
            r = s + x
        return r

    return foo(Tensor([1]))


def case_lazy_inline(jit):
    from mindspore.common import lazy_inline

    class Block(nn.Cell):
        @lazy_inline
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]), name="w")

        def construct(self, x):
            return x * self.w + 1

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bs = nn.CellList([Block() for _ in range(3)])

        def construct(self, x):
            for b in self.bs:
                x = b(x)
            return x

    return jit(Net())(Tensor([1.0]))


def case_compile_cell(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return x + 1

    net = Net()
    net.compile(Tensor([1.0]))
    r = _cell_graph_executor.compile(net, Tensor([1.0]))
    return net(Tensor([1.0])), len(r)


def case_compile_phase(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return x + 1

    net = Net()
    net.set_train()
    phase, has = _cell_graph_executor.compile(net, Tensor([1.0]), phase="train")
    return type(phase).__name__, type(has).__name__


def case_set_inputs(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return x + 1

    net = jit(Net())
    n = Net()
    n.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
    return n(Tensor(np.ones((3, 2)), ms.float32)), n(Tensor(np.ones((1, 2)), ms.float32))


def case_jit_config(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return x + 1

    net = Net()
    net.set_jit_config(ms.JitConfig(jit_level="O1"))
    return net(Tensor([1]))


def case_cell_kwargs(jit):
    class Net(nn.Cell):
        def construct(self, x, *args, y=2, **kwargs):
            return x * y + sum(args) + kwargs.get("z", 0)

    net = jit(Net())
    return net(Tensor(1)), net(Tensor(1), 1, 2, y=3), net(Tensor(1), z=Tensor(5))


def case_tensor_methods(jit):
    @jit
    def foo(x):
        return (
            x.sum(),
            x.mean(0),
            x.max(),
            x.reshape(-1),
            x.astype(ms.int32),
            x.shape,
            x.dtype == ms.float32,
            x.ndim,
            x.size,
            x.T,
            x.view(4),
            x.abs(),
            x.argmax(),
            x.any(),
            x.all(),
            x.squeeze(),
            x.transpose(1, 0),
            x.item(0) if False else 0,
            x.itemsize,
            x.nbytes,
            x.strides,
        )

    return foo(Tensor([[1.0, -2.0], [3.0, 4.0]]))


def case_kwargs_only(jit):
    @jit
    def foo(x, /, y, *, z=3):
        return x + y * z

    return foo(Tensor(1), 2), foo(Tensor(1), y=2, z=Tensor(4))


def case_jit_method(jit):
    class A:
        def __init__(self):
            self.k = 2

        @jit
        def run(self, x):
            return x * self.k

    a = A()
    r = a.run(Tensor(3))
    a.k = 5
    return r, a.run(Tensor(3))


def case_construct_decorated(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")

        @jit
        def construct(self, x):
            return self.fc(x) + self.other(x)

        def other(self, x):
            return x * 2

    return Net()(Tensor([[1.0, 2.0]]))


def case_cell_call_kwargs_inner(jit):
    class In(nn.Cell):
        def construct(self, x, *, scale=1, bias=None):
            x = x * scale
            return x if bias is None else x + bias

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.i = In()

        def construct(self, x):
            return self.i(x), self.i(x, scale=3), self.i(x, bias=x)

    return jit(Net())(Tensor(2))


def case_embedding_switch(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.CellList([nn.Dense(2, 2, weight_init="ones", bias_init="zeros") for _ in range(3)])
            self.act = nn.get_activation("relu")

        def construct(self, x, idx):
            for i, b in enumerate(self.blocks):
                if i in idx:
                    x = self.act(b(x))
            return x, self.blocks[-1].weight.shape

    return jit(Net())(Tensor([[1.0, -2.0]]), (0, 2))


def case_dropout_train(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dp = nn.Dropout(p=0.5)
            self.bn = nn.BatchNorm1d(2)

        def construct(self, x):
            return self.bn(self.dp(x)).shape, self.dp.training, self.bn(x)

    net = Net()
    net.set_train(False)
    return jit(net)(Tensor([[1.0, 2.0], [3.0, 5.0]]))


def case_simple_expression(jit):
    class ExpressionNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.m = 1

        def construct(self, x, y):
            x = x + y
            x += 1
            x -= 2
            t1 = (x, y)
            t2 = [x, y]
            (a, b) = t1
            c = -a
            d = +b
            return (not self.m), a if self.m > 2 else b, t2[0] ** 2, c, d, self.m // 2, 5 % 3

    return jit(ExpressionNet())(Tensor([1.0]), Tensor([2.0]))


def case_insert_child(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            for i in range(2):
                self.insert_child_to_cell(f"l{i}", nn.Dense(2, 2, weight_init="ones", bias_init="zeros"))
            self.insert_param_to_cell("pp", Parameter(Tensor([1.0]), name="pp"))

        def construct(self, x):
            return self.l1(self.l0(x)) + self.pp

    n = Net()
    return jit(n)(Tensor([[1.0, 2.0]])), [p.name for p in n.get_parameters()]


def case_cell_reuse_shared(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
            self.b = self.a

        def construct(self, x):
            return self.b(self.a(x))

    n = Net()
    return (
        jit(n)(Tensor([[1.0, 2.0]])),
        len(n.trainable_params()),
        ms.grad(n, 0, n.trainable_params())(Tensor([[1.0, 2.0]])),
    )


def case_to_float(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(2, 1, weight_init="ones", bias_init="zeros").to_float(ms.float16)

        def construct(self, x):
            return self.fc(x)

    return jit(Net())(Tensor([[1.0, 2.0]]))
