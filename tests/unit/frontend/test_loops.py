"""Loops: unrolled, compiled, peeled; every way to leave them."""

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, nn, ops
from tests.unit.frontend.cases import Cases, name_of, tensor

case = Cases()
P = tensor([1.0, 2.0])
N = tensor([-1.0, -2.0])
LOG = []


@case()
def while_else_return(x):
    i = 0
    while x.abs().sum() < 100:
        x = x * 2
        i += 1
        if x.sum() < -50:
            return "low", x
    else:
        return "high", x, i
    return None


@case(*[(tensor(3),), (tensor(0),), (tensor(40),)])
def nested_loops_return(n):
    i = n * 0
    while i < n:
        j = n * 0
        while j < n:
            if i * j == 12:
                return i, j
            j = j + 1
        i = i + 1
    return i, n


@case(*[(tensor([[1.0, 2.0], [3.0, 4.0]]),), (tensor([[-1.0, 2.0], [3.0, 4.0]]),)])
def rows_break(x):
    total = x[0] * 0
    for row in x:
        if row.sum() > 2:
            break
        total = total + row
    else:
        total = total * 0 - 1
    return total, row


@case(*[(tensor([1.0, 2.0, 3.0, 4.0, 5.0] * 10),)])
def rows_many(x):
    total = 0.0
    for i, v in enumerate(x):
        total = total + v * i
    return total


@case()
def random_in_loop(x):
    while x.abs().sum() < 20:
        x = x + ops.rand(2) * 5
    return x, ops.rand(1)


@case()
def swap_in_loop(x):
    a, b = x, x * 3
    i = 0
    while a.abs().sum() < 40:
        a, b = b, a + b
        i = i + 1
    return a, b, i


@case()
def type_changes_in_loop(x):
    y = 0
    while x.abs().sum() < 40:
        y = y + x.sum()
        x = x * 2
    return y


@case()
def first_assigned_in_loop(x):
    while x.abs().sum() < 40:
        z = x * 3
        x = x * 2
    return z, x


@case(captured=False)
def growing_in_loop(x):
    a = []
    while x.abs().sum() < 40:
        a.append(x)
        x = x * 2
    return a


@case(captured=False)
def shape_grows_in_loop(x):
    while x.abs().sum() < 40:
        x = ops.cat([x, x])
    return x, x.shape


@case()
def tensor_condition_in_try_loop(x):
    n = 0
    while True:
        try:
            n += 1
            x = x * 2
            if x.abs().sum() > 30:
                raise StopIteration
        except StopIteration:
            break
        finally:
            x = x + 1
    return x, n


@case()
def try_in_loop(x):
    n = []
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                raise KeyError(i)
            n.append(i)
        except KeyError as e:
            n.append(e.args[0] * 10)
            break
        else:
            n.append("else")
        finally:
            n.append("fin")
    else:
        n.append("never")
    return n, x


@case()
def try_finally_return(x):
    def f():
        try:
            return x * 2
        finally:
            LOG.append(1)

    def g():
        try:
            return x * 2
        finally:
            return x * 3

    def h():
        for i in range(3):
            try:
                if x.sum() > 0:
                    continue
                return x
            finally:
                break
        return x * 9

    return f(), g(), h()


@case()
def break_in_finally_loop(x):
    n = 0
    while n < 10:
        try:
            n += 1
            if x.sum() > n:
                return x * n
        finally:
            if n > 5:
                break
    return x, n


@case(grad=0, captured=False)
def grad_while_views(x):
    y = x * 1
    i = 0
    while i < 3 and y.sum() < 50:
        y[0] = y[1] * x[0]
        y = y + x
        i += 1
    return y.sum()


class ParamLoop(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter(tensor([1.0]), name="p")
        self.n = 0

    def construct(self, x):
        while self.p < 20:
            self.p = self.p + x.sum() * 0 + 2
            self.n += 1
        y = self.p * x
        self.p = self.p * 0
        return y, self.p, self.n


@case(*[(P,), (N,), (P,)], build=True)
def param_in_loop():
    return ParamLoop()


@case((P,), (tensor([30.0, 40.0]),))
def shapes_that_only_an_unrolled_loop_knows(x):
    n = 0
    while True:
        x, n = x / 2, n + 1
        if x.sum() < 1 or n == 3:
            break
    return x, ms.Tensor(np.arange(n))


@case((P,), (tensor([30.0, 40.0]),))
def names_first_set_in_an_endless_loop(x):
    while True:
        half = x / 2
        if half.sum() < 1:
            return half, x
        x = half - 0.125


def test_an_endless_loop_that_a_tensor_ends_is_one_loop():
    def root(a):
        x = a
        while True:
            y = (x + a / x) / 2
            if (x - y).abs() < 1e-6:
                return y
            x = y

    f = ms.jit(root, fullgraph=True)
    assert f(tensor(2.0)) == root(tensor(2.0))
    graph = f.explain().versions[0]["graph"]
    assert graph.count("= while_loop(") == 1 and graph.count("= div(") <= 2


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()
