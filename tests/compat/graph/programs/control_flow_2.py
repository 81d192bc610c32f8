"""if, while, for, break, continue, return, conditional expressions."""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor


def case_while_else(jit):
    @jit
    def foo(x):
        while x < 5:
            x = x + 2
            if x == 4:
                break
        else:
            x = x + 100
        return x

    return foo(Tensor(0)), foo(Tensor(1))


def case_for_range_tensor(jit):
    @jit
    def foo(n, x):
        for i in range(n):
            x = x + i
        return x

    return foo(Tensor(4), Tensor([1.0]))


def case_while_in_cell_method(jit):
    class Net(nn.Cell):
        def step(self, x):
            while x < 10:
                x = self.inc(x)
            return x

        def inc(self, x):
            if x > 5:
                return x + 3
            return x + 2

        def construct(self, x):
            y = self.step(x)
            return y * 2

    return jit(Net())(Tensor(1))


def case_str_compare_tensor_if(jit):
    @jit
    def foo(x, mode):
        if mode == "relu":
            return ops.relu(x)
        elif mode in ("tanh", "sig"):
            return ops.tanh(x)
        raise ValueError(f"bad mode {mode}")

    return foo(Tensor([-1.0]), "relu"), foo(Tensor([-1.0]), "sig")


def case_fn_in_branch(jit):
    @jit
    def foo(x):
        if x > 0:
            f = ops.relu
        else:
            f = ops.abs
        return f(x) + 1

    return foo(Tensor(2.0)), foo(Tensor(-2.0))


def case_closure_in_loop(jit):
    @jit
    def foo(x):
        fs = []
        for i in range(3):
            fs.append(lambda v, i=i: v + i)
        gs = [lambda v: v * i for i in range(3)]
        return [f(x) for f in fs], [g(x) for g in gs]

    return foo(Tensor(1))


def case_string_return_branch(jit):
    @jit
    def foo(x):
        if x > 0:
            return "yes"
        return "no"

    return foo(Tensor(1)), foo(Tensor(-1))


def case_none_branch_var(jit):
    @jit
    def foo(x):
        y = None
        if x > 0:
            y = x * 2
        if y is None:
            return -x
        return y

    return foo(Tensor(1)), foo(Tensor(-1))


def case_if_and_none(jit):
    @jit
    def foo(x, y=None, z=()):
        if y and z:
            return 1
        if not z and y is None or x > 3:
            return 2
        return 3

    return foo(Tensor(1)), foo(Tensor(1), 1, (2,)), foo(Tensor(7), 1)


def case_tensor_and_or_value(jit):
    @jit
    def foo(x, y):
        a = x and y
        b = x or y
        c = not x
        return a, b, c

    return foo(Tensor(0), Tensor(5)), foo(Tensor(2), Tensor(0))


def case_while_true_break(jit):
    @jit
    def foo(x):
        n = 0
        while True:
            x = x * 2
            n += 1
            if x > 50:
                break
            if n > 20:
                return x - 1, n
        return x, n

    return foo(Tensor(3)), foo(Tensor(0))


def case_while_const(jit):
    @jit
    def foo(x):
        i = 0
        while i < 3:
            x = x + i
            i += 1
        while False:
            x = x * 1000
        return x, i

    return foo(Tensor(1))


def case_for_over_cells_with_break(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.ls = nn.CellList([nn.Dense(2, 2, weight_init="ones", bias_init="zeros") for _ in range(4)])

        def construct(self, x):
            for i, l in enumerate(self.ls):
                x = l(x)
                if x.sum() > 20:
                    break
            return x, i

    n = jit(Net())
    return n(Tensor([[1.0, 1.0]])), n(Tensor([[100.0, 1.0]]))


def case_for_large(jit):
    @jit
    def foo(x):
        for i in range(3000):
            x = x + 1
        return x

    return foo(Tensor(0))


def case_while_inplace(jit):
    @jit
    def foo(x, n):
        i = 0
        while i < n:
            x[i] = x[i - 1] + 1
            i += 1
        return x

    return foo(Tensor([0.0, 0.0, 0.0]), Tensor(3))


def case_for_nested_break_continue(jit):
    @jit
    def foo(x):
        out = []
        for i in range(4):
            if i == 1:
                continue
            for j in range(4):
                if j > i:
                    break
                if x > 2:
                    out.append(x * i + j)
                else:
                    continue
        return out

    return foo(Tensor(3)), foo(Tensor(1))
