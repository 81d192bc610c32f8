"""Parameters, attributes, prints: what a program does besides computing."""

import copy

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.functional as F
import mindspore.ops.operations as P
from mindspore import Parameter, Tensor, jit_class


def case_augassign_all(jit):
    @jit
    def foo(x, y):
        a = x
        a += y
        a -= 1
        a *= 3
        a /= 2
        b = 7
        b //= 2
        b %= 2
        b **= 3
        b <<= 2
        b |= 1
        b &= 7
        b ^= 2
        b >>= 1
        return a, b

    return foo(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))


def case_augassign_list_tuple_str(jit):
    @jit
    def foo():
        a = [1]
        a += [2]
        b = (1,)
        b += (3, 4)
        c = "x"
        c += "y"
        c *= 2
        a *= 2
        return a, b, c

    return foo()


def case_list_global(jit):
    @jit
    def foo():
        G_LIST.append(3)
        G_LIST.reverse()
        return G_LIST

    G_LIST.clear()
    G_LIST.extend([1, 2])
    r = foo()
    return r, G_LIST, r is G_LIST


G_LIST = [1, 2]


def case_print(jit):
    @jit
    def foo(x):
        print("x:", x)
        print(x + 1, "a", 1, (1, 2), [x], {"k": x}, None, True, 1.5, sep="|")
        print()
        return x

    return foo(Tensor([1, 2]))


def case_isinstance_param(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0]), name="w")

        def construct(self, x):
            return (
                isinstance(self.w, Parameter),
                isinstance(self.w, Tensor),
                isinstance(x, Parameter),
                isinstance(self, nn.Cell),
            )

    return jit(Net())(Tensor(1))


def case_builtin_getattr_hasattr(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = 3

        def construct(self, x):
            m = getattr(x, "sum")
            return (
                getattr(self, "a"),
                getattr(self, "b", 7),
                hasattr(self, "a"),
                hasattr(self, "zz"),
                m(),
                getattr(x, "shape"),
                hasattr(x, "nope"),
                hasattr(x, "mean"),
            )

    return jit(Net())(Tensor([1, 2]))


def case_jit_class_attr_set(jit):
    @jit_class
    class Inner:
        def __init__(self):
            self.x = 1

        def bump(self, v):
            self.x = self.x + v
            return self.x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def construct(self, y):
            self.inner.bump(2)
            return self.inner.x + y

    net = jit(Net())
    return net(Tensor(1)), net(Tensor(1)), net.inner.x


def case_param_assign(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(5, ms.int32), name="w")
            self.assign = P.Assign()

        def construct(self, x):
            self.assign(self.w, x)
            y = self.w + 1
            self.w = self.w + 10
            ops.assign_add(self.w, x)
            F.assign_sub(self.w, Tensor(1, ms.int32))
            return self.w, y

    net = jit(Net())
    r = net(Tensor(2, ms.int32))
    return [x + 0 for x in r], net(Tensor(3, ms.int32))[1], net.w + 0


def case_depend(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(1.0), name="w")
            self.depend = P.Depend()

        def construct(self, x):
            a = P.Assign()(self.w, x)
            x = self.depend(x, a)
            y = F.depend(x, a)
            return x + y

    return jit(Net())(Tensor(4.0))


def case_ops_print(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.print = P.Print()

        def construct(self, x):
            self.print("TENSOR IN CONSTRUCT:", x)
            ops.print_(x)
            return x

    return jit(Net())(Tensor([1, 2]))


def case_set_train(jit):
    class Net(nn.Cell):
        def construct(self, x):
            if self.training:
                return x + 1
            return x - 1

    net = jit(Net())
    a = net(Tensor(1))
    net.set_train()
    b = net(Tensor(1))
    net.set_train(False)
    return a, b, net(Tensor(1))


def case_cell_attr_changes(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 1

        def construct(self, x):
            self.k = self.k + 1
            self.seen = x
            return x * self.k

    net = jit(Net())
    return net(Tensor(1)), net(Tensor(1)), net.k, net.seen


def case_params_iter_inside(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(2, 2, weight_init="ones")

        def construct(self, x):
            s = 0
            for p in self.trainable_params():
                s = s + p.sum() if p.ndim == 2 else s
            names = [n for n, _ in self.parameters_and_names()]
            return s + x.sum(), names

    return jit(Net())(Tensor([1.0]))


def case_del_global_nonlocal(jit):
    @jit
    def foo(x):
        global GV
        GV = GV + 1
        a = x + GV
        b = [1, 2, 3]
        del b[0]
        d = {"a": 1, "b": 2}
        del d["a"]
        return a, b, d

    global GV
    GV = 1
    return foo(Tensor(1)), foo(Tensor(1)), GV


GV = 1


def case_global_changes(jit):
    global GV

    @jit
    def foo(x):
        return x * GV

    GV = 2
    a = foo(Tensor(3))
    GV = 5
    return a, foo(Tensor(3))


def case_nested_list_inplace(jit):
    @jit
    def foo(x):
        l = [[1, 2], [x]]
        m = l[0]
        m.append(3)
        l[1][0] = l[1][0] + 1
        n = copy.deepcopy(l)
        n[0].clear()
        return l, m, n, l[0] is m

    return foo(Tensor(1))


def case_print_format(jit):
    @jit
    def foo(x, y):
        print(f"x={x}, y={y:.2f}, {x.shape} {x.dtype}")
        print("a {} b {k}".format(x, k=y))
        print("%s and %d" % (x, 3))
        print("v", x, end="!\n")
        print({"a": x, "l": [x, (1, x)]}, "s", ("s",), ms.float32)
        return x

    return foo(Tensor([1.5, 2.0]), 3.14159)


def case_set_attr_tensor_list(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cache = []
            self.d = {}

        def construct(self, x):
            self.cache.append(x)
            self.d["last"] = x * 2
            return sum(self.cache)

    net = Net()
    c = jit(net)
    return c(Tensor(1)), c(Tensor(2)), net.cache, net.d


def case_input_unchanged_views(jit):
    @jit
    def foo(x):
        y = x[0]
        y += 1
        z = x.view(-1)
        z.mul_(2)
        return y, z

    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    r = foo(x)
    return r, x


def case_inplace_ops(jit):
    @jit
    def foo(x, y):
        x.add_(y)
        x.mul_(2)
        x[0] = 0
        x.copy_(x + 1)
        return x

    x = Tensor([1.0, 2.0])
    return foo(x, Tensor([1.0, 1.0])), x


def case_assign_slice_multi(jit):
    @jit
    def foo(x):
        a = b = c = x
        a, b = b + 1, a + 2
        c, (d, *e) = 1, (2, 3, 4)
        x[0], x[1] = x[1], x[0]
        return a, b, c, d, e, x

    return foo(Tensor([1, 2]))


def case_dict_assign(jit):
    class DictNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dic = {"Tensor": Tensor([1.0]), "scalar": 4, (1, 2): "t"}

        def construct(self, y):
            x = self.dic["Tensor"] + y
            self.dic["new"] = x
            return x, self.dic["scalar"], self.dic[(1, 2)], len(self.dic)

    n = DictNet()
    c = jit(n)
    return c(Tensor([1.0])), c(Tensor([2.0])), n.dic["new"]


def case_param_same_name(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor(1.0), name="w")
            self.b = Parameter(Tensor(2.0), name="w")

        def construct(self, x):
            return self.a + self.b + x

    return jit(Net())(Tensor(1.0))


def case_param_assign_dtype(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([1.0], ms.float32), name="w")

        def construct(self, x):
            ops.assign(self.a, x)
            return self.a + 0

    return jit(Net())(Tensor([2], ms.int32))


def case_param_assign_shape(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([1.0], ms.float32), name="w")

        def construct(self, x):
            ops.assign(self.a, x)
            return self.a + 0

    return jit(Net())(Tensor([2.0, 3.0]))


def case_side_effect_order(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor([1.0]), name="p")

        def construct(self, x):
            print("before", self.p)
            ops.assign(self.p, x)
            a = self.p * 2
            print("after", self.p)
            ops.assign_add(self.p, x)
            b = self.p * 2
            if x > 0:
                ops.assign(self.p, b)
                print("in if", self.p)
            return a, b, self.p + 0

    n = jit(Net())
    return n(Tensor([2.0])), n(Tensor([-2.0]))


def case_print_tensor_types(jit):
    @jit
    def foo(a, b, c, d):
        print(a)
        print(b, c)
        print(d, a.dtype, a.shape)
        print((a, b), [c], {"k": d})
        print("%s" % a, "{}".format(b), f"{c}", str(d))
        return a

    return foo(Tensor([[1.0, 2.5]], ms.float16), Tensor(True), Tensor([1], ms.int8), Tensor(3.5))


def case_set_data_between(jit):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    c = jit(net)
    a = c(Tensor([[1.0, 2.0]]))
    net.weight.set_data(Tensor([[5.0, 5.0]]))
    b = c(Tensor([[1.0, 2.0]]))
    net.weight = Parameter(Tensor([[7.0, 7.0]]), name="w2")
    return a, b, c(Tensor([[1.0, 2.0]]))


def case_load_param_between(jit):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    c = jit(net)
    a = c(Tensor([[1.0, 2.0]]))
    ms.load_param_into_net(net, {"weight": Parameter(Tensor([[3.0, 3.0]]), name="weight")})
    return a, c(Tensor([[1.0, 2.0]]))
