"""Several features in one program."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.composite as C
import mindspore.ops.functional as F
import mindspore.ops.operations as P
from mindspore import Parameter, ParameterTuple, Tensor, mutable


def case_cell_dict_ops(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.d = nn.CellDict({"a": nn.ReLU(), "b": nn.Tanh()})

        def construct(self, x, k):
            y = self.d[k](x)
            for n, c in self.d.items():
                y = c(y)
            return y, "a" in self.d, len(self.d), list(self.d.keys())

    return jit(Net())(Tensor([0.5]), "b")


def case_tuple_of_params_arith(jit):
    @jit
    def foo(ps, lr):
        return tuple(p - lr * p for p in ps), [p.name for p in ps]

    return foo(ParameterTuple([Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([2.0]), name="b")]), 0.5)


def case_nested_containers_inout(jit):
    @jit
    def foo(t):
        a, b = t
        return {"x": [a["p"] + 1, (b[0], {"q": b[1] * 2})], "y": None}, t

    return foo(({"p": Tensor(1)}, [Tensor(2), Tensor(3)]))


def case_str_loop(jit):
    @jit
    def foo(s, x):
        for c in s:
            if c == "+":
                x = x + 1
            elif c == "*":
                x = x * 2
        return x, s[::-1], s.count("+"), [c.upper() for c in "ab"]

    return foo("+*+*", Tensor(1))


def case_format_spec_tensor(jit):
    @jit
    def foo(x):
        return (
            f"{x.item():.3f}",
            f"{float(x):6.2f}|",
            "%.1f" % float(x),
            "{:.2e}".format(x.item()),
            str(int(x)),
            f"{x > 1}",
            f"{x.shape}",
        )

    return foo(Tensor(2.71828))


def case_bool_ops_scalar_tensor(jit):
    @jit
    def foo(x, a, b):
        if (x > 0 and a) or (not b and x < -5):
            return 1
        if a is True or b is False:
            return 2
        return 3

    return [foo(Tensor(v), a, b) for v in (1, -1, -9) for a in (True, False) for b in (True, False)]


def case_compare_list_tensor_attr(jit):
    @jit
    def foo(x):
        return (
            x.shape == (2,),
            x.shape != (3,),
            x.dtype in (ms.float32, ms.float16),
            x.ndim == 1 and x.size == 2,
            str(x.dtype),
            repr(x.shape),
        )

    return foo(Tensor([1.0, 2.0]))


def case_try_index(jit):
    @jit
    def foo(l, i):
        try:
            return l[i]
        except IndexError:
            return -1

    return foo([1, 2], 1), foo([1, 2], 7)


def case_with_no_grad_like(jit):
    class Ctx:
        def __init__(self, log):
            self.log = log

        def __enter__(self):
            self.log.append("enter")
            return self

        def __exit__(self, t, v, tb):
            self.log.append("exit" if t is None else t.__name__)
            return True

    log = []

    @jit
    def foo(x):
        with Ctx(log) as c:
            x = x + 1
            if x > 3:
                raise ValueError("inside")
            x = x * 10
        return x

    return foo(Tensor(1)), foo(Tensor(5)), log


def case_ops_in_list(jit):
    @jit
    def foo(x):
        fs = [ops.relu, ops.tanh, F.sigmoid, nn.ReLU(), P.Abs()]
        for f in fs:
            x = f(x) + 0.5
        return x

    return foo(Tensor([-1.0, 1.0]))


def case_cast_types(jit):
    @jit
    def foo(x):
        return (
            x.astype(ms.float16),
            x.to(ms.int32),
            ops.cast(x, ms.bool_),
            x.float(),
            x.int(),
            x.half(),
            x.bool(),
            x.long(),
        )

    return foo(Tensor([0.0, 1.6]))


def case_while_grad_param(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(2.0), name="w")

        def construct(self, x, n):
            i = 0
            while i < n:
                x = x * self.w
                if x > 100:
                    break
                i += 1
            return x

    net = Net()

    @jit
    def foo(x, n):
        return ms.value_and_grad(net, 0, net.trainable_params())(x, n)

    return foo(Tensor(1.5), Tensor(3)), foo(Tensor(30.0), Tensor(9))


def case_return_in_nested_for_if(jit):
    @jit
    def foo(x):
        for i in range(3):
            for j in range(3):
                if x * i + j > 4:
                    return x, i, j
        return x, -1, -1

    return foo(Tensor(2)), foo(Tensor(0))


def case_early_return_none_mixed(jit):
    @jit
    def foo(x, t):
        if t is None:
            return
        for v in t:
            if v is None:
                continue
            x = x + v
        return x

    return foo(Tensor(1), None), foo(Tensor(1), (1, None, Tensor(2)))


def case_deep_if_nest(jit):
    @jit
    def foo(a, b, c):
        if a > 0:
            if b > 0:
                if c > 0:
                    r = 1
                else:
                    r = 2
            elif c > 0:
                r = 3
            else:
                r = 4
        else:
            r = 5 if b > 0 else (6 if c > 0 else 7)
        return a * r

    return [foo(Tensor(a), Tensor(b), Tensor(c)) for a in (1, -1) for b in (1, -1) for c in (1, -1)]


def case_ops_switch_case_print(jit):
    @jit
    def foo(x):
        l = [x]
        print("len", len(l), l, (x,), {"x": x.shape})
        y = x if x > 0 else print("neg", x)
        return y

    return foo(Tensor(1)), foo(Tensor(-1))


def case_del_attr(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = 1

        def construct(self, x):
            b = self.a
            del self.a
            return x + b, hasattr(self, "a")

    n = Net()
    return jit(n)(Tensor(1)), hasattr(n, "a")


def case_typing_annotations(jit):
    from typing import List, Optional

    @jit
    def foo(x: Tensor, n: Optional[int] = None, l: "List[int]" = ()) -> Tensor:
        y: Tensor = x + 1
        z: int
        return y if n is None else y * n

    return foo(Tensor(1)), foo(Tensor(1), 3)


def case_docstring_ellipsis(jit):
    @jit
    def foo(x):
        "doc"
        ...
        1 + 1
        x
        if x is not None:
            pass
        return x + 1  # comment

    return foo(Tensor(1))


def case_unicode_semicolons(jit):
    @jit
    def foo(ä):
        β = ä + 1
        γ = "δ"
        return β, γ

    return foo(Tensor(1))


def case_nested_tuple_return_grad(jit):
    def fn(x):
        return (x * 2, (x * 3, [x * 4]))

    @jit
    def foo(x):
        return ms.grad(fn)(x)

    return foo(Tensor([1.0]))


def case_grad_tuple_input(jit):
    def fn(t, y):
        return t[0] * y + t[1][0]

    @jit
    def foo(t, y):
        return ms.grad(fn, (0, 1))(t, y)

    return foo(mutable((Tensor(2.0), (Tensor(3.0),))), Tensor(5.0))


def case_second_order_param(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(3.0), name="w")

        def construct(self, x):
            return self.w * x**3

    net = Net()

    @jit
    def foo(x):
        return ms.grad(ms.grad(net), 0, net.trainable_params())(x)

    return foo(Tensor(2.0))


def case_hypermap_no_match(jit):
    add = C.MultitypeFuncGraph("add_x")

    @add.register("Number", "Number")
    def add_n(x, y):
        return x + y

    @jit
    def foo(x):
        return C.HyperMap()(add, (x,), (x,))

    return foo(Tensor([2.0]))
