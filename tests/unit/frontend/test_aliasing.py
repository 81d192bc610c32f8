"""Views, in-place writes and objects that two names share, across branches and loops."""

import pytest

from duograph import Parameter, ops
from tests.unit.frontend.cases import Cases, name_of, tensor

case = Cases()
P = tensor([1.0, 2.0])
N = tensor([-1.0, -2.0])


@case(grad=0)
def view_write_in_branch(x):
    y = x * 1
    v = y[0]
    if x.sum() > 0:
        v.add_(5)
    return y, v


@case()
def view_made_before_written_base_in_branch(x):
    y = x * 1
    v = y[1:]
    if x.sum() > 0:
        y[1] = 7
    else:
        y.mul_(3)
    return v, y


@case()
def view_made_in_branch_written_after(x):
    y = x * 1
    if x.sum() > 0:
        v = y[0]
    else:
        v = y[1]
    v.add_(10)
    return y, v


@case()
def alias_or_copy(x):
    y = x * 1
    if x.sum() > 0:
        z = y
    else:
        z = y * 2
    z.add_(1)
    return y, z


@case()
def view_write_in_while(x):
    y = x * 1
    v = y[0]
    i = 0
    while y.sum() < 20:
        v.add_(3)
        i += 1
    return y, v, i


@case()
def write_arg_in_loop(x):
    while x.sum() < 20:
        x.add_(3)
    return x


@case()
def write_arg_view_in_branch(x):
    if x.sum() > 0:
        x[0].mul_(4)
    return x + 1


@case(
    (
        P,
        P,
    )
)
def same_arg_twice(x, y):
    x.add_(1)
    return x + y


@case(grad=0)
def cond_on_view_then_inplace(x):
    y = x * 2
    v = y[0:1]
    while v.sum() < 10:
        v.add_(1)
        y.mul_(1.5)
        if y.sum() < -100:
            break
    return y.sum() + v.sum()


@case(*[(P, N)])
def swap_args_inplace(x, y):
    t = x * 1
    x.copy_(y) if hasattr(x, "copy_") else x.__setitem__(slice(None), y)
    y[:] = t
    return x, y


@case()
def overlapping_views(x):
    y = ops.cat([x, x, x])
    a = y[0:4]
    b = y[2:6]
    a[:] = b
    b.add_(a)
    c = y.reshape(2, 3)
    c[1] = c[0]
    d = c.T
    d[0, 0] = 100
    return y, a, b, c, d


@case()
def view_of_view_in_loop(x):
    y = ops.cat([x, x]).reshape(2, 2)
    for i in range(2):
        r = y[i]
        for j in range(2):
            r[j : j + 1].add_(i * 2 + j)
    while y.sum().abs() < 100:
        y[0][1:].mul_(3)
        y[1].add_(y[0])
    return y


@case()
def chained_inplace_returns_self(x):
    y = x * 2
    z = y.add_(1).mul_(2)
    return z is y, y, z


@case()
def augmented_targets(x):
    d = {"a": x * 1}
    l = [x * 1, 2]
    t = d["a"]
    d["a"] += 1
    l[0] *= 3
    l[-1] -= 1
    l += [5]
    l[1:2] = [7, 8]
    d |= {"c": 1}
    return d, l, t is d["a"], t


@case(*[(P, [P, P])])
def aliases_in_list_arg(x, l):
    x.add_(1)
    l[0].mul_(2)
    l.append(l[1])
    return x, l


@case()
def list_aliased_across_branches(x):
    a = [x]
    b = a
    if x.sum() > 0:
        b.append(x * 2)
    else:
        b.append(x * 3)
    a.append(x)
    return a, b, a is b


@case()
def list_realiased_in_branch(x):
    a = [x]
    b = [x * 2]
    if x.sum() > 0:
        c = a
    else:
        c = b
    c.append(x)
    return a, b, c


@case()
def swap_in_branch(x):
    a, b = [x], [x * 2]
    if x.sum() > 0:
        a, b = b, a
    a.append(1)
    return a, b


@case()
def tuple_of_lists(x):
    t = ([x], [x * 2])
    a, b = t
    if x.sum() > 0:
        t[0].append(x)
    else:
        t[1].append(x)
    return t, a, b


@case(*[(P,), (N,), (P,)], build=True)
def param_views():
    p = Parameter(tensor([1.0, 2.0, 3.0]), name="q")

    def f(x):
        v = p[1]
        v.add_(x.sum())
        ops.assign(p, p * 2)
        return v, p, p[0]

    return f


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()
