"""Lists, dictionaries, tuples, strings, None."""

import mindspore.nn as nn
from mindspore import Tensor


def case_dict_popitem_del(jit):
    @jit
    def foo(x):
        d = {"a": 1, "b": x}
        k, v = d.popitem()
        d |= {"z": 3}
        e = d | {"y": 1}
        return k, v, d, e, [*d], {**e}

    return foo(Tensor(2))


def case_list_sort_cmp(jit):
    @jit
    def foo(x):
        l = [3, 1, 2]
        m = l
        l.sort(reverse=True)
        l += [0]
        m.append(9)
        return l, m, l is m, l == m, min(l), sum(m), l.index(9)

    return foo(Tensor(1))


def case_list_pop_tensor_compare(jit):
    @jit
    def foo(x):
        l = [x, x + 1, x + 2]
        if l.pop() > 2:
            l.insert(1, x * 100)
        return l

    return foo(Tensor(1)), foo(Tensor(-1))


def case_tensor_in_list(jit):
    @jit
    def foo(x):
        return x in [Tensor(1), Tensor(2)], x not in (Tensor(5),)

    return foo(Tensor(2))


def case_slice_tensor_bounds(jit):
    @jit
    def foo(x, a, b):
        return x[a:b], x[a], x[a:]

    return foo(Tensor([1, 2, 3, 4, 5]), Tensor(1), Tensor(3))


def case_cells_in_tuple_attr(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fs = (("relu", nn.ReLU()), ("tanh", nn.Tanh()))
            self.cfg = {"act": nn.ReLU(), "n": 2}

        def construct(self, x):
            for n, f in self.fs:
                if n == "relu":
                    x = f(x)
            for _ in range(self.cfg["n"]):
                x = self.cfg["act"](x) + 1
            return x

    return jit(Net())(Tensor([-1.0, 2.0]))
