"""Functions, closures, tensors, indexing."""

import contextlib
import functools
from functools import partial, reduce

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.composite as C
import mindspore.ops.functional as F
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, mutable
from mindspore.ops import constexpr
from mindspore.ops.primitive import _primexpr


def case_closure(jit):
    @jit
    def foo(x):
        k = 3

        def inner(y):
            nonlocal k
            k = k + 1

            def deeper(z):
                return z + k + x

            return deeper

        a = inner(1)
        b = inner(2)
        return a(1), b(2), k

    return foo(Tensor(10))


def case_closure_recursive(jit):
    @jit
    def foo(n):
        def fact(m):
            if m <= 1:
                return 1
            return m * fact(m - 1)

        return fact(n)

    return foo(5)


def case_recursive_tensor(jit):
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    @jit
    def foo(n):
        return fib(n)

    return foo(Tensor(7, ms.int32))


def case_lambda(jit):
    @jit
    def foo(x):
        f = lambda a, b=2: a * b
        fs = [lambda v: v + 1, lambda v: v * 2]
        return f(x), f(x, 3), (lambda: 5)(), fs[0](x), fs[1](x)

    return foo(Tensor(4))


def case_partial(jit):
    def add(x, y, z=1):
        return x + y * z

    @jit
    def foo(x):
        p = partial(add, 3)
        q = F.partial(add, x)
        return p(x), q(2), partial(add, z=10)(x, 1), ops.partial(add, 1)(x)

    return foo(Tensor(2))


def case_reduce(jit):
    @jit
    def foo(x):
        return reduce(lambda a, b: a + b, [x, x, x]), reduce(lambda a, b: a * b, (1, 2, 3), 10)

    return foo(Tensor(2))


def case_hypermap(jit):
    add = C.MultitypeFuncGraph("add")

    @add.register("Number", "Number")
    def add_n(x, y):
        return x + y

    @add.register("Tensor", "Tensor")
    def add_t(x, y):
        return x * y

    hm = C.HyperMap()
    hm2 = C.HyperMap(add)

    @jit
    def foo(x):
        return hm(add, (1, 2), (3, 4)), hm2((x, (x, 2)), (x, (x, 3))), hm(F.partial(add, 5), (1, 2))

    return foo(Tensor([2.0]))


def case_map(jit):
    mp = C.Map()
    sq = C.MultitypeFuncGraph("square")

    @sq.register("Tensor")
    def sq_t(x):
        return F.square(x)

    @sq.register("Number")
    def sq_n(x):
        return x * x

    @jit
    def foo(x):
        return mp(sq, (x, x)), C.Map(sq)((x, 3))

    return foo(Tensor([2.0, 3.0]))


def case_multitype_direct(jit):
    f = C.MultitypeFuncGraph("leaf")

    @f.register("Tensor", "Number")
    def a(x, y):
        return x + y

    @f.register("Tensor", "Tuple")
    def b(x, y):
        return x + len(y)

    @f.register("Tensor", "None")
    def c(x, y):
        return x

    @f.register("String", "Bool")
    def d(x, y):
        return x

    @jit
    def foo(x):
        return f(x, 1), f(x, (1, 2)), f(x, None), f("s", True)

    return foo(Tensor([2.0]))


def case_mutable(jit):
    @jit
    def foo(x, t):
        return x + t[0] * t[1]

    return foo(Tensor(1), mutable((2, Tensor(3)))), foo(Tensor(1), mutable((5, Tensor(3))))


def case_mutable_inside(jit):
    @jit
    def foo(x):
        t = mutable((1, 2, x))
        s = mutable(3)
        return t[0] + s, t[2]

    return foo(Tensor(5))


def case_mutable_dynamic_len(jit):
    @jit
    def foo():
        t = mutable((1, 2, 3), True)
        s = 0
        for i in range(3):
            s = s + t[i]
        return s

    return foo()


def case_constexpr(jit):
    @constexpr
    def get_shape(n):
        return tuple([n] * 2)

    @jit
    def foo(x):
        return ops.zeros(get_shape(x.shape[0]), ms.float32)

    return foo(Tensor([1, 2]))


def case_constexpr_tensor(jit):
    @constexpr
    def make():
        return Tensor([1, 2], ms.int32)

    @jit
    def foo(x):
        return make() + x

    return foo(Tensor([1, 2], ms.int32))


def case_tensor_setitem_mask(jit):
    @jit
    def foo(x):
        x[x > 2] = 0
        x[[0, 1]] = x[[1, 0]]
        return x, x[x == 0]

    return foo(Tensor([1.0, 2.0, 3.0, 4.0]))


def case_tensor_getitem_all(jit):
    @jit
    def foo(x, i, m):
        return (
            x[0],
            x[-1, 1],
            x[::2],
            x[::-1],
            x[:, None],
            x[..., 1:],
            x[i],
            x[i, 0],
            x[m],
            x[[0, 2]],
            x[True],
            x[None],
            x[0:0],
        )

    return foo(Tensor(np.arange(6).reshape(3, 2), ms.int32), Tensor([0, 2]), Tensor([True, False, True]))


def case_tensor_inside(jit):
    @jit
    def foo(x):
        return Tensor([1, 2], ms.float32) + x, ms.tensor(x.shape), Tensor(3), ms.Tensor([[x[0], x[1]]]), Tensor(x)

    return foo(Tensor([1.0, 2.0]))


def case_hypermap_partial_opt(jit):
    opt = C.MultitypeFuncGraph("opt")

    @opt.register("Tensor", "Tensor", "Tensor")
    def _opt(lr, p, g):
        return F.depend(True, F.assign_sub(p, lr * g))

    class Opt(nn.Cell):
        def __init__(self, params):
            super().__init__()
            self.params = ParameterTuple(params)
            self.hm = C.HyperMap()
            self.lr = Tensor(0.1, ms.float32)

        def construct(self, grads):
            return self.hm(F.partial(opt, self.lr), self.params, grads)

    ps = [Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([2.0, 3.0]), name="b")]
    o = jit(Opt(ps))
    r = o((Tensor([1.0]), Tensor([1.0, 2.0])))
    return r, ps[0] + 0, ps[1] + 0


def case_star_calls(jit):
    def add(*args, **kw):
        return sum(args) + kw.get("k", 0)

    @jit
    def foo(x):
        t = (x, 2)
        d = {"k": 5}
        return add(*t), add(*t, *[1], **d), add(**{"k": x}), [*t, 4], {**d, "z": 1}, (*t,)

    return foo(Tensor(1))


def case_default_tensor(jit):
    @jit
    def foo(x, y=Tensor([1, 2]), z=(1, 2), w=None):
        return x + y + z[0]

    return foo(Tensor([1, 1])), foo(Tensor([1, 1]), Tensor([3, 3]))


def case_import_inside(jit):
    @jit
    def foo(x):
        import math as m
        from functools import reduce as r

        return x * m.floor(2.5) + r(lambda a, b: a + b, [1, 2])

    return foo(Tensor(3))


def case_generator(jit):
    def gen(x, n):
        for i in range(n):
            yield x * i

    @jit
    def foo(x):
        s = 0
        for v in gen(x, 3):
            s = s + v
        g = (i * 2 for i in (1, 2))
        return s, next(g), list(g)

    return foo(Tensor(3))


def case_decorated_callee(jit):
    def deco(f):
        @functools.wraps(f)
        def w(*a, **k):
            return f(*a, **k) + 100

        return w

    @deco
    def inner(x):
        return x * 2

    @jit
    def foo(x):
        return inner(x)

    return foo(Tensor(3))


def case_nested_jit(jit):
    @jit
    def inner(x):
        return x * 2

    @jit
    def foo(x):
        y = inner(x)
        if y > 3:
            return inner(y)
        return y

    return foo(Tensor(3)), foo(Tensor(1))


def case_select_where(jit):
    @jit
    def foo(c, x, y):
        return ops.select(c, x, y), ops.where(c, x, y), ops.switch_case if False else 1

    return foo(Tensor([True, False]), Tensor([1, 2]), Tensor([3, 4]))


def case_type_promotions(jit):
    @jit
    def foo(i, f, h, b):
        return (
            i + f,
            i * h,
            b + i,
            f / i,
            i / 2,
            i // 2,
            f % 2,
            i**2,
            b & True if False else b,
            2 - f,
            -i,
            ~b,
            i + 1.5,
            i > f,
        )

    return foo(Tensor([3], ms.int32), Tensor([2.5], ms.float32), Tensor([1.5], ms.float16), Tensor([True]))


def case_scalar_ops(jit):
    @jit
    def foo(a, b):
        return (
            a + b,
            a - b,
            a * b,
            a / b,
            a // b,
            a % b,
            a**b,
            -a,
            +a,
            not a,
            a > b,
            a == b,
            a & b,
            a | b,
            a ^ b,
            a << 1,
            ~a,
            a and b,
            a or b,
            min(a, b),
        )

    return foo(7, 2), foo(-7, 2)


def case_context_manager(jit):
    log = []

    @contextlib.contextmanager
    def cm(v):
        log.append("in")
        yield v + 1
        log.append("out")

    @jit
    def foo(x):
        with cm(x) as y, cm(y) as z:
            r = y * z
        return r

    return foo(Tensor(1)), log


def case_random_same(jit):
    @jit
    def foo(x):
        return ops.standard_normal((2,)).shape, ops.dropout(x, p=0.0)

    return foo(Tensor([1.0]))


def case_tensor_iter_unpack(jit):
    @jit
    def foo(x):
        a, b = x
        (c, d), e = x, 1
        return a, b, c + d, [i for i in x], tuple(x), x in [1] if False else 0

    return foo(Tensor([[1, 2], [3, 4]]))


def case_return_nothing_and_pass(jit):
    @jit
    def foo():
        """doc"""
        pass

    return foo()


def case_recursion_depth(jit):
    def down(n, x):
        if n == 0:
            return x
        return down(n - 1, x + 1)

    @jit
    def foo(x):
        return down(50, x)

    return foo(Tensor(1))


def case_primexpr(jit):
    @_primexpr
    def calc(s):
        if s[0] > 1:
            return s[0] * 2
        return 1

    @jit
    def foo(x):
        return calc(x.shape)

    return foo(Tensor([1, 2, 3]))


def case_fn_as_arg(jit):
    def apply(f, x, n):
        for _ in range(n):
            x = f(x)
        return x

    @jit
    def foo(x, f):
        return apply(f, x, 2), apply(ops.relu, x, 1), apply(lambda v: v - 5, x, 3)

    return foo(Tensor([1.0]), ops.exp)


def case_fn_table(jit):
    table = {"a": ops.relu, "b": lambda v: v * 2}

    @jit
    def foo(x, k):
        return table[k](x), [f(x) for f in table.values()]

    return foo(Tensor([-1.0]), "b")


def case_return_function(jit):
    @jit
    def foo(x):
        return ops.relu

    return foo(Tensor(1.0))(Tensor([-1.0]))
