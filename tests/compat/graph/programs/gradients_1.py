"""Gradients inside compiled functions."""

import mindspore as ms
import mindspore.common.dtype as mstype
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.composite as C
import mindspore.ops.functional as F
import mindspore.ops.operations as P
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, mutable
from mindspore.ops import GradOperation


def case_while_grad(jit):
    class Net(nn.Cell):
        def construct(self, idx, end, x):
            out = x
            while idx < end:
                out = out * x
                idx = idx + 1
            return out

    class Grad(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net
            self.grad = C.GradOperation(get_all=True)

        def construct(self, *inputs):
            return self.grad(self.net)(*inputs)

    g = jit(Grad(Net()))
    return g(Tensor(0, mstype.int32), Tensor(3, mstype.int32), Tensor([2.0, 3.0], mstype.float32))


def case_while_with_param_grad(jit):
    class MyWhileNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.max = P.ReduceMax()
            self.param = Parameter(Tensor(np.arange(2 * 2 * 2).reshape((2, 2, 2)), ms.float32), name="weight")
            self.zero = Tensor(np.zeros(([2, 2, 2])), ms.float32)

        def construct(self, idx, end, x):
            out = self.zero
            while idx < end:
                part = x[idx, :, :]
                max_num = self.max(part)
                x[idx, :, 0:2] = max_num
                out = out + x + self.param
                idx = idx + 1
            return out

    class GradNet(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net
            self.weights = ParameterTuple(net.trainable_params())

        def construct(self, a, b, c):
            return C.GradOperation(get_by_list=True)(self.net, self.weights)(a, b, c)

    idx = Tensor(np.array(0), dtype=ms.int32)
    end = Tensor(np.array(2), dtype=ms.int32)
    x = Tensor(np.random.RandomState(0).randn(2, 2, 2).astype(np.float32), dtype=ms.float32)
    net = jit(GradNet(MyWhileNet()))
    return net(idx, end, x)


def case_for_in_range_grad(jit):
    class ForNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor(np.array([1.0, 2.0]), ms.float32), name="w")
            self.start, self.end = 0, 3

        def construct(self, x):
            for i in range(self.start, self.end):
                x = x * self.weight + i
            return x

    class G(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n
            self.w = ParameterTuple(n.trainable_params())
            self.g = C.GradOperation(get_all=True, get_by_list=True)

        def construct(self, x):
            return self.g(self.n, self.w)(x)

    return jit(G(ForNet()))(Tensor(np.array([0.5, 1.5]), ms.float32))


def case_mutable_grad(jit):
    def fn(t):
        return t[0] * t[1]

    @jit
    def foo(t):
        return ops.GradOperation()(fn)(t)

    return foo(mutable((Tensor([2.0]), Tensor([3.0]))))


def case_stop_gradient(jit):
    def net(x, y):
        a = ops.stop_gradient(x * y)
        return a * x

    @jit
    def foo(x, y):
        return ops.GradOperation(get_all=True)(net)(x, y)

    return foo(Tensor([2.0]), Tensor([3.0]))


def case_stop_gradient_cell(jit):
    class StopGrad(nn.Cell):
        def __init__(self):
            super().__init__()
            self.stop = P.StopGradient() if hasattr(P, "StopGradient") else F.stop_gradient

        def construct(self, x, y):
            o = x * y
            o = F.stop_gradient(o)
            return o + x

    class G(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n

        def construct(self, x, y):
            return C.GradOperation(get_all=True, sens_param=False)(self.n)(x, y)

    return jit(G(StopGrad()))(Tensor([2.0]), Tensor([3.0]))


def case_custom_bprop(jit):
    class Mul(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return x + 100, y * dout

    class G(nn.Cell):
        def __init__(self):
            super().__init__()
            self.m = Mul()
            self.g = GradOperation(get_all=True)

        def construct(self, x, y):
            return self.g(self.m)(x, y)

    return jit(G())(Tensor([2.0]), Tensor([3.0]))


def case_insert_gradient_of(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.f = P.InsertGradientOf(lambda dx: ops.clip_by_value(dx, Tensor(-1.0), Tensor(1.0)))

        def construct(self, x):
            return self.f(x) * 5

    net = Net()

    @jit
    def foo(x):
        return GradOperation()(net)(x)

    return foo(Tensor([2.0]))


def case_grad_high_order(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return x**4

    class G(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n
            self.g = GradOperation()

        def construct(self, x):
            return self.g(self.n)(x)

    return jit(G(G(Net())))(Tensor([2.0])), jit(G(G(G(Net()))))(Tensor([2.0]))


def case_grad_sens(jit):
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y, x + y

    class G(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = Net()
            self.g = GradOperation(get_all=True, sens_param=True)

        def construct(self, x, y, s):
            return self.g(self.n)(x, y, s)

    return jit(G())(Tensor([2.0]), Tensor([3.0]), (Tensor([1.0]), Tensor([10.0])))


def case_grad_position_weights(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]), name="w")
            self.b = Parameter(Tensor([1.0]), name="b")

        def construct(self, x, y):
            return self.w * x * y + self.b

    net = Net()

    @jit
    def foo(x, y):
        return (
            ops.grad(net, (0, 1), ParameterTuple([net.w, net.b]))(x, y),
            ops.grad(net, 1)(x, y),
            ms.grad(net, grad_position=None, weights=net.w)(x, y),
            ms.value_and_grad(net, 0, weights=[net.w])(x, y),
        )

    return foo(Tensor([2.0]), Tensor([3.0]))


def case_grad_has_aux(jit):
    def fn(x, y):
        return x * y, x + y, y

    @jit
    def foo(x, y):
        return ms.grad(fn, 0, None, has_aux=True)(x, y), ms.value_and_grad(fn, (0, 1), has_aux=True)(x, y)

    return foo(Tensor([2.0]), Tensor([3.0]))


def case_grad_return_ids(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]), name="w")

        def construct(self, x):
            return self.w * x

    net = Net()
    g = ms.grad(net, 0, net.trainable_params(), return_ids=True)

    @jit
    def foo(x):
        return g(x)

    r = foo(Tensor([3.0]))
    return r, ms.get_grad(r, 0), ms.get_grad(r, net.w)


def case_grad_of_unused(jit):
    def fn(x, y):
        return x

    @jit
    def foo(x, y):
        return ms.grad(fn, (0, 1))(x, y)

    return foo(Tensor([1.0]), Tensor([1.0]))


def case_grad_if(jit):
    def fn(x, y):
        if x > y:
            return x * x * y
        return y * y

    @jit
    def foo(x, y):
        return ms.grad(fn, (0, 1))(x, y)

    return foo(Tensor([3.0]), Tensor([2.0])), foo(Tensor([1.0]), Tensor([2.0]))


def case_grad_for_list(jit):
    def fn(x):
        l = []
        for i in range(3):
            l.append(x * i)
        return l[0] + l[1] * l[2]

    @jit
    def foo(x):
        return ms.grad(fn)(x)

    return foo(Tensor([3.0]))


def case_grad_dict_out(jit):
    def fn(x):
        return {"a": x * 2, "b": x * 3}

    @jit
    def foo(x):
        return ms.grad(lambda v: fn(v)["a"] * fn(v)["b"])(x)

    return foo(Tensor([3.0]))


def case_matmul_op_grad(jit):
    def fn(x, w, b):
        return ops.relu(x @ w + b).sum()

    @jit
    def foo(x, w, b):
        return ms.value_and_grad(fn, (0, 1, 2))(x, w, b)

    return foo(
        Tensor(np.ones((2, 3)), ms.float32), Tensor(np.arange(6).reshape(3, 2) - 2, ms.float32), Tensor([0.5, -9.0])
    )


def case_train_step(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")

        def construct(self, x):
            return self.fc(x)

    net = Net()
    opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    loss = nn.MSELoss()

    def forward(x, y):
        l = net(x)
        return loss(l, y), l

    g = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)

    @jit
    def step(x, y):
        (l, _), grads = g(x, y)
        opt(grads)
        return l

    x, y = Tensor(np.ones((2, 3)), ms.float32), Tensor(np.zeros((2, 2)), ms.float32)
    return [step(x, y) for _ in range(3)], net.fc.weight.value() + 0


def case_train_one_step_cell(jit):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    loss = nn.L1Loss()
    t = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.SGD(net.trainable_params(), 0.1))
    t.set_train()
    t = jit(t)
    x, y = Tensor([[1.0, 2.0]]), Tensor([[0.0]])
    return t(x, y), t(x, y), net.weight + 0


def case_forward_value_and_grad(jit):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    f = nn.ForwardValueAndGrad(net, weights=ParameterTuple(net.trainable_params()), get_all=True, get_by_list=True)
    return jit(f)(Tensor([[1.0, 2.0]]))


def case_cell_in_function_grad(jit):
    net = nn.SequentialCell(
        nn.Dense(2, 3, weight_init="ones", bias_init="zeros"),
        nn.ReLU(),
        nn.Dense(3, 1, weight_init="ones", bias_init="zeros"),
    )

    @jit
    def foo(x):
        return ms.grad(net, 0, net.trainable_params())(x)

    return foo(Tensor([[1.0, 2.0]]))


def case_vmap(jit):
    def fn(x, y):
        return x * y + 1

    @jit
    def foo(x, y):
        return ops.vmap(fn, in_axes=(0, None), out_axes=0)(x, y)

    return foo(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))


def case_jvp_vjp(jit):
    def fn(x):
        return x**3

    @jit
    def foo(x, v):
        return ops.jvp(fn, x, v), ms.jacfwd(fn)(x), ms.jacrev(fn)(x)

    return foo(Tensor([1.0, 2.0]), Tensor([1.0, 1.0]))


def case_vjp(jit):
    def fn(x, y):
        return x**3 + y

    @jit
    def foo(x, y, v):
        out, vf = ms.vjp(fn, x, y)
        return out, vf(v)

    return foo(Tensor([1.0, 2.0]), Tensor([1.0, 1.0]), Tensor([1.0, 1.0]))


def case_hooks(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.relu = nn.ReLU()
            self.relu.register_forward_hook(lambda c, i, o: o + 1)
            self.relu.register_forward_pre_hook(lambda c, i: (i[0] * 2,))

        def construct(self, x):
            return self.relu(x)

    return jit(Net())(Tensor([1.0, -1.0]))


def case_hook_backward(jit):
    h = ops.HookBackward(lambda g: (g[0] * 2,))

    def fn(x):
        y = h(x)
        return y * y

    @jit
    def foo(x):
        return ms.grad(fn)(x)

    return foo(Tensor([3.0]))


def case_grad_while_if_break(jit):
    def fn(x):
        y = x
        i = Tensor(0)
        while i < 5:
            i = i + 1
            if i == 2:
                continue
            if i == 4:
                break
            y = y * x
        return y

    @jit
    def foo(x):
        return ms.grad(fn)(x), ms.grad(ms.grad(fn))(x)

    return foo(Tensor(2.0))


def case_grad_closure_capture(jit):
    @jit
    def foo(x, y):
        def inner(z):
            return z * x * y

        return ms.grad(inner)(x)

    return foo(Tensor(2.0), Tensor(3.0))


def case_grad_param_in_if(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(3.0), name="w")

        def construct(self, x):
            if x > self.w:
                return x * self.w
            return x * self.w * self.w

    net = Net()

    @jit
    def foo(x):
        return ms.grad(net, 0, net.trainable_params())(x)

    return foo(Tensor(2.0)), foo(Tensor(4.0))
