"""Gradients inside compiled functions."""

import mindspore as ms
import mindspore.nn as nn
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore.ops import GradOperation


def case_grad_dict_list_inputs(jit):
    def fn(d, l):
        return d["a"] * l[0] + l[1]

    @jit
    def foo(d, l):
        return ms.grad(fn, (0, 1))(d, l)

    return foo({"a": Tensor(2.0)}, [Tensor(3.0), Tensor(4.0)])


def case_param_requires_grad(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(3.0), name="w", requires_grad=False)
            self.v = Parameter(Tensor(3.0), name="v")

        def construct(self, x):
            return x * self.w * self.v

    net = Net()
    net.v.requires_grad = True

    @jit
    def foo(x):
        return (
            ms.grad(net, None, net.trainable_params())(x),
            net.w.requires_grad,
            net.w.name,
            len(net.trainable_params()),
        )

    return foo(Tensor(2.0))


def case_grad_nested_fn_high(jit):
    def f(x):
        return x**3

    def grad(fn):
        def g(x):
            return GradOperation()(fn)(x)

        return g

    @jit
    def foo(x):
        return f(x), grad(f)(x), grad(grad(f))(x), grad(grad(grad(f)))(x)

    return foo(Tensor(2.0))


def case_grad_get_by_list_all(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]), name="w")
            self.z = Parameter(Tensor([3.0]), name="z")

        def construct(self, x, y):
            return (x * self.w + y * self.z) * x

    net = Net()
    out = []
    for kw in (
        {},
        {"get_all": True},
        {"get_by_list": True},
        {"get_all": True, "get_by_list": True},
        {"get_all": True, "get_by_list": True, "sens_param": True},
        {"sens_param": True},
    ):
        op = GradOperation(**kw)

        class G(nn.Cell):
            def __init__(self):
                super().__init__()
                self.net = net
                self.ps = ParameterTuple(net.trainable_params())

            def construct(self, *a):
                if op.get_by_list:
                    return op(self.net, self.ps)(*a)
                return op(self.net)(*a)

        a = (Tensor([5.0]), Tensor([7.0])) + ((Tensor([0.5]),) if kw.get("sens_param") else ())
        out.append(jit(G())(*a))
    return out


def case_grad_non_tensor_out(jit):
    def f(x):
        return x * 2, 3, "s"

    @jit
    def foo(x):
        return ms.grad(lambda v: f(v)[0])(x)

    return foo(Tensor(2.0))


def case_grad_int_input(jit):
    def f(x):
        return x * 2

    @jit
    def foo(x):
        return ms.grad(f)(x)

    return foo(Tensor(2))


def case_grad_scalar_input(jit):
    def f(x, y):
        return x * y

    @jit
    def foo(x, y):
        return ms.grad(f, (0,))(x, y)

    return foo(Tensor(2.0), 3.0)


def case_grad_view_inplace(jit):
    def f(x):
        y = x * 2
        y[0] = y[1] * 3
        z = y.view(-1)
        z.mul_(2)
        return y.sum()

    @jit
    def foo(x):
        return ms.grad(f)(x)

    return foo(Tensor([1.0, 2.0]))


def case_grad_list_mutation(jit):
    def f(x, l):
        l.append(x * 2)
        return l[0] * l[-1]

    @jit
    def foo(x):
        return ms.grad(f, 0)(x, [x])

    return foo(Tensor(3.0))


def case_grad_bprop_dict(jit):
    class Net(nn.Cell):
        def construct(self, x, y):
            return {"out": x * y}

    net = Net()

    @jit
    def foo(x, y):
        return ms.grad(lambda a, b: net(a, b)["out"], (0, 1))(x, y)

    return foo(Tensor(3.0), Tensor(4.0))


def case_bprop_in_nested_cell_second_order(jit):
    class Sq(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (3 * x * x * dout,)

    net = Sq()

    @jit
    def foo(x):
        return ms.grad(net)(x), ms.grad(ms.grad(net))(x)

    return foo(Tensor(3.0))


def case_bprop_with_param(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(5.0), name="w")
            self.internal_params = [self.w]

        def construct(self, x):
            return self.w * x

        def bprop(self, x, out, dout):
            return (self.w * x, {self.w: x * 7})

    net = Net()

    @jit
    def foo(x):
        return ms.grad(net)(x)

    return foo(Tensor(3.0))


def case_custom_function(jit):
    class MySq(nn.Cell):
        def construct(self, x, n):
            return x**n

        def bprop(self, x, n, out, dout):
            return dout * n * 100, None

    net = MySq()

    @jit
    def foo(x):
        return ms.grad(net)(x, 2)

    return foo(Tensor(3.0))
