"""Functions, closures, arguments and scopes."""

import functools

import pytest

from tests.unit.frontend.cases import Cases, name_of, tensor

case = Cases()
P = tensor([1.0, 2.0])
N = tensor([-1.0, -2.0])
G = 0


@case(captured=False)
def closures_in_loop(x):
    fs = []
    for i in range(3):
        fs.append(lambda v: v * i)
    return [f(x) for f in fs]


@case()
def closures_in_loop_default(x):
    fs = []
    for i in range(3):
        fs.append(lambda v, i=i: v * i)
    return [f(x) for f in fs]


@case()
def star_args(x):
    def f(a, *b, c=3, **d):
        return a + sum(b) * c + d.get("e", 0)

    t = (x, x)
    return f(*t, *[x], c=x, **{"e": x * 7}), f(x), f(*t)


@case(*[(P,), (P,), (N,)])
def mutable_default(x):
    def f(v, acc=[]):
        acc.append(v)
        return len(acc), acc[-1]

    f(x)
    return f(x)


def outer_default(v, acc=[]):
    acc.append(v)
    return len(acc)


@case(*[(P,), (P,), (N,)])
def mutable_default_of_global_function(x):
    outer_default(x)
    n = outer_default(x * 2)
    return n % 2


@case()
def shadowed_builtins(x):
    sum = lambda v: v * 100
    len = 3
    list = [x]
    return sum(x), len, list


@case()
def comprehension_scope(x):
    i = 10
    a = [x * i for i in range(3)]
    b = {i: x for i in range(2)}
    return a, b, i


@case()
def walrus_in_comprehension(x):
    a = [(last := x * k) for k in range(3)]
    if (n := x.sum()) > 0:
        last = last + n
    return a, last, n


def make_adders(x):
    return [lambda v, k=k: v + x * k for k in range(2)]


@case()
def closures(x):
    fs = make_adders(x)
    g = functools.partial(fs[1], k=5)
    return g(x), list(map(fs[0], [x, x])), fs[1](x)


@case(captured=False)
def returned_closure_called_outside(x):
    def h(v):
        return v + x

    return h(x), h


@case()
def class_scoping(x):
    y = 3

    def outer():
        y = 4

        def inner():
            nonlocal y
            y += 1
            return y

        inner()
        return y

    return outer(), y, x


@case()
def starred_assign(x):
    a, *b, c = [x, 1, 2, x * 2]
    (d, (e, *f)) = 1, (2, 3)
    for i, (j, k) in enumerate([(1, 2), (3, 4)]):
        pass
    [p, q] = x
    return a, b, c, d, e, f, i, j, k, p, q


@case()
def chained(x):
    a = b = [x]
    b.append(1)
    c = d = x * 1
    c += 1
    return a, c is d, d, 1 < 2 < 3, (0 < x.sum() < 10)


@case()
def kwonly_posonly(x):
    def f(a, /, b, *, c=1, **k):
        return a * b + c, sorted(k)

    try:
        f(a=1, b=2)
    except TypeError:
        pass
    return f(x, 2, c=x), f(x, b=3, a=1, z=2)


@case()
def names_of_positions_among_keywords(x):
    def f(a=5, /, b=1, **k):
        return a * b * x, list(k.items())

    return f(a=1, b=2), f(3, z=4, a=1, y=2), f(2)


@case()
def unpack_dict_order(x):
    def f(**k):
        return list(k)

    return f(b=1, **{"a": x}, c=2), {**{"x": 1}, "y": x, **{"x": 3}}


@case()
def global_stmt_in_nested(x):
    def f():
        global G
        G = 5

        def g():
            return G

        return g()

    return f(), x


@case(captured=False)
def sort_by_tensor_key(x):
    l = [x * 3, x, x * 2]
    return sorted(l, key=lambda t: float(t.sum())), max(l, key=lambda t: t.sum())


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()
