"""if, while, for, break, continue, return, conditional expressions."""

import mindspore as ms
import mindspore.common.dtype as mstype
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.functional as F
import mindspore.ops.operations as P
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor


def case_simple_if(jit):
    @jit
    def foo(x, y):
        if x > y:
            return x - y
        return x + y

    return foo(Tensor(3), Tensor(2)), foo(Tensor(1), Tensor(2))


def case_if_after_if(jit):
    class Net(nn.Cell):
        def construct(self, x, y):
            out = y
            if x > y:
                out = out + 1
            else:
                out = out * 2
            if x < 2 * y:
                out = out - 3
            return out

    net = jit(Net())
    return net(Tensor([5], mstype.int32), Tensor([2], mstype.int32)), net(
        Tensor([1], mstype.int32), Tensor([2], mstype.int32)
    )


def case_if_elif_else(jit):
    @jit
    def foo(x):
        if x < 0:
            y = x * -1
        elif x == 0:
            y = x + 100
        elif x < 10:
            y = x * 3
        else:
            y = x
        return y

    return [foo(Tensor(i, mstype.float32)) for i in (-3, 0, 5, 20)]


def case_while_simple(jit):
    class Net(nn.Cell):
        def construct(self, x, y, z):
            while x < y:
                x = x + 1
                z = z + x
            return z

    net = jit(Net())
    return net(Tensor(1, mstype.int32), Tensor(5, mstype.int32), Tensor(0, mstype.int32))


def case_while_break_continue(jit):
    @jit
    def foo(x):
        out = Tensor(0, mstype.int32)
        while x < 20:
            x = x + 1
            if x % 2 == 0:
                continue
            if x > 12:
                break
            out = out + x
        return out, x

    return foo(Tensor(0, mstype.int32))


def case_for_enumerate_zip(jit):
    @jit
    def foo(x, y):
        s = 0
        for i, (a, b) in enumerate(zip((x, y, x), [1, 2, 3])):
            s = s + a * b * i
        return s

    return foo(Tensor([1, 2]), Tensor([3, 4]))


def case_for_tensor(jit):
    @jit
    def foo(x):
        r = 0
        for row in x:
            r = r + row * 2
        return r

    return foo(Tensor(np.arange(6).reshape(2, 3), ms.int32))


def case_for_dict_items(jit):
    @jit
    def foo(x):
        d = {"a": x, "b": x * 2, "c": 3}
        out = 0
        keys = ""
        for k, v in d.items():
            out = out + v
            keys = keys + k
        return out, keys, tuple(d.keys()), list(d.values())

    return foo(Tensor([1.0]))


def case_for_break_else(jit):
    @jit
    def foo(x):
        for i in range(5):
            if i == 3:
                break
            x = x + i
        else:
            x = x * 100
        for i in range(2):
            x = x + 1
        else:
            x = x * 10
        return x

    return foo(Tensor(1))


def case_return_in_while(jit):
    @jit
    def foo(x, limit):
        while x < limit:
            x = x + 1
            if x == 4:
                return x * 100
        return x

    return foo(Tensor(1), Tensor(3)), foo(Tensor(1), Tensor(10))


def case_return_in_for(jit):
    @jit
    def foo(x):
        for i in range(5):
            x = x + i
            if x > 4:
                return x, i
        return x, -1

    return foo(Tensor(1)), foo(Tensor(-20))


def case_nested_while(jit):
    @jit
    def foo(x, y):
        out = Tensor(0)
        while x < 3:
            i = Tensor(0)
            while i < y:
                out = out + x * i
                i = i + 1
            x = x + 1
        return out

    return foo(Tensor(0), Tensor(4))


def case_ifexp(jit):
    @jit
    def foo(x, y, flag):
        a = x if flag else y
        b = max(y, x)
        c = 1 if x is None else 2
        return a, b, c

    return foo(Tensor(1), Tensor(2), True), foo(Tensor(5), Tensor(2), False)


def case_ifexp_different_types(jit):
    @jit
    def foo(x):
        return "pos" if x > 0 else None

    return foo(Tensor(1)), foo(Tensor(-1))


def case_logical_and_or(jit):
    @jit
    def foo(x, y):
        if x > 1 and y > 1:
            return x
        if x > 1 or y > 1:
            return y
        if not (x > 0):
            return x + y
        return x * y

    return [foo(Tensor(a), Tensor(b)) for a, b in ((2, 2), (2, 0), (0, 3), (-1, 0), (1, 1))]


def case_chain_compare(jit):
    @jit
    def foo(x):
        if 1 < x < 5:
            return x
        return -x

    return foo(Tensor(3)), foo(Tensor(7))


def case_none_default_if(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bias = None

        def construct(self, x, y=None):
            if self.bias is not None:
                x = x + self.bias
            if y is not None:
                x = x + y
            return x

    net = jit(Net())
    return net(Tensor(1)), net(Tensor(1), Tensor(4))


def case_print_in_if(jit):
    @jit
    def foo(x):
        if x > 0:
            print("positive", x)
        else:
            print("negative", x)
        i = Tensor(0)
        while i < 2:
            print("i", i)
            i = i + 1
        return x

    return foo(Tensor(1)), foo(Tensor(-1))


def case_param_in_while(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(1.0), name="w")

        def construct(self, x):
            i = Tensor(0)
            while i < 3:
                self.w += x
                i += 1
            if self.w > 5:
                self.w -= 1
            return self.w + 0

    net = jit(Net())
    return net(Tensor(1.0)), net(Tensor(1.0)), net.w + 0


def case_cell_list_loop(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Tanh(), nn.ReLU()])
            self.seq = nn.SequentialCell([nn.ReLU(), nn.Sigmoid()])
            self.t = (nn.ReLU(), nn.Tanh())
            self.lst = [nn.ReLU(), nn.Sigmoid()]
            self.d = nn.CellDict({"a": nn.ReLU()})

        def construct(self, x):
            for l in self.layers:
                x = l(x)
            for i in range(len(self.layers)):
                x = self.layers[i](x)
            for l in self.seq:
                x = l(x)
            x = self.t[1](x) + self.lst[-1](x)
            for k in self.d.keys():
                x = self.d[k](x)
            for l in self.layers[1:]:
                x = l(x)
            return x, len(self.seq), self.seq(x)

    return jit(Net())(Tensor([1.0, -2.0]))


def case_parameter_tuple_loop(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([1.0]), name="a")
            self.b = Parameter(Tensor([2.0]), name="b")
            self.ps = ParameterTuple([self.a, self.b])

        def construct(self, x):
            for p in self.ps:
                ops.assign_add(p, x)
            return self.ps[0] + self.ps[1], len(self.ps)

    net = jit(Net())
    return net(Tensor([1.0])), net(Tensor([1.0]))


def case_walrus_match_with(jit):
    @jit
    def foo(x, k):
        if (n := k + 1) > 2:
            x = x + n
        match k:
            case 1:
                x = x * 10
            case 2 | 3:
                x = x * 20
            case _:
                x = x * 30
        return x

    return foo(Tensor(1), 1), foo(Tensor(1), 2), foo(Tensor(1), 9)


def case_while_loop_api(jit):
    @jit
    def foo(x):
        w = ops.WhileLoop()(lambda v: v < 10, lambda v: v * 2, x)
        f = ops.ForiLoop()(0, 4, lambda i, v: v + i, x)
        s = ops.Scan()(lambda c, e: (c + e, c * e), x, [Tensor(1), Tensor(2)])
        return w, f, s

    return foo(Tensor(1))


def case_shape_loop(jit):
    @jit
    def foo(x):
        s = 1
        for d in x.shape:
            s = s * d
        b, *r = x.shape
        return x.reshape(s), x.reshape((b, -1)), ops.shape(x), F.shape(x), P.Shape()(x), x.shape + (1,)

    return foo(Tensor(np.ones((2, 3, 1)), ms.float32))


def case_if_shape(jit):
    @jit
    def foo(x):
        if len(x.shape) == 2 and x.shape[0] > 1:
            return x.sum(axis=1)
        elif x.dtype == ms.int32:
            return x + 1
        return x

    return foo(Tensor(np.ones((2, 3)), ms.float32)), foo(Tensor([1], ms.int32)), foo(Tensor([1.0]))


def case_if_branches_different_shape(jit):
    @jit
    def foo(x, c):
        if c > 0:
            y = ops.concat((x, x))
        else:
            y = x
        return y + 1

    return foo(Tensor([1.0]), Tensor(1)), foo(Tensor([1.0]), Tensor(-1))


def case_if_branch_list_append(jit):
    @jit
    def foo(x):
        l = []
        if x > 0:
            l.append(x)
        else:
            l.append(x * 2)
            l.append(x * 3)
        return l

    return foo(Tensor(1)), foo(Tensor(-1))


def case_if_branch_attr(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(1.0), name="w")
            self.count = 0

        def construct(self, x):
            if x > 0:
                self.w = self.w + x
                self.count = self.count + 1
            else:
                self.w = self.w - x
            return self.w * 1

    net = Net()
    c = jit(net)
    return c(Tensor(1.0)), c(Tensor(-2.0)), net.count, net.w + 0


def case_while_list_carry(jit):
    @jit
    def foo(x):
        l = [x, x + 1]
        t = (x, {"k": x})
        while x < 5:
            l[0] = l[0] + l[1]
            t = (t[0] * 2, {"k": t[1]["k"] + 1})
            x = x + 1
        return l, t

    return foo(Tensor(1))


def case_while_scalar_carry(jit):
    @jit
    def foo(x):
        i = 0
        s = 1.5
        while x > 0:
            x = x - 1
            i += 2
            s = s * 2
        return x, i, s

    return foo(Tensor(3))
