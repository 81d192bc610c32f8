"""Paths that join, and paths that must be kept apart."""

import pytest

import duograph as ms
from duograph import ops
from tests.unit.frontend.cases import Cases, name_of

case = Cases()


@case()
def append_in_one_branch(x):
    a = [x]
    if x.sum() > 0:
        a.append(x * 2)
    return a, len(a)


@case()
def dict_order(x):
    d = {}
    if x.sum() > 0:
        d["a"] = 1
        d["b"] = 2
    else:
        d["b"] = 2
        d["a"] = 1
    return d, list(d), x


@case()
def set_in_branches(x):
    s = {1}
    if x.sum() > 0:
        s.add(2)
    else:
        s.discard(1)
    return s, x


@case()
def del_in_branch(x):
    y = x * 2
    if x.sum() > 0:
        del y
    try:
        return y
    except UnboundLocalError as e:
        return x


@case()
def functions_in_branches(x):
    if x.sum() > 0:

        def f(v):
            return v * 2
    else:

        def f(v):
            return v - 2

    return f(x)


@case()
def lambda_in_ifexp(x):
    f = (lambda v: v * 2) if x.sum() > 0 else (lambda v: v - 1)
    return f(x)


@case()
def is_none_across(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    if y is None:
        y = x - 1
    return y


@case()
def many_branches(x):
    n = 0
    for i in range(8):
        if x[0] * i > 3:
            n = n + i
        if x[1] * i < -3:
            n = n - 1
    return n, x


@case()
def many_branches_mixed_types(x):
    n = 0
    y = None
    for i in range(3):
        if x[0] * i > 3:
            y = x
        elif x[1] * i < -3:
            y = i
    return n, y


@case()
def tensor_in_dict_branches(x):
    d = {"a": x}
    if x.sum() > 0:
        d["a"] = d["a"] * 2
        d["b"] = x
    else:
        d["b"] = x * 5
        d["a"] = x
    return d


class State:
    pass


@case()
def tensor_in_object_branches(x):
    o = State()
    o.v = x
    if x.sum() > 0:
        o.v = o.v + 1
        o.w = 3
    else:
        o.w = 4
    return o.v * o.w, o


@case()
def exception_stored(x):
    err = None
    try:
        if x.sum() > 0:
            raise ValueError(1)
    except ValueError as e:
        err = e
    if err is not None:
        return x * 3
    return x


@case()
def state_machine(x):
    state = "start"
    n = 0
    while state != "end":
        if state == "start":
            state = "a" if x.sum() > 0 else "b"
        elif state == "a":
            x = x * 2
            state = "b"
        else:
            x = x + 1
            n += 1
            if n > 2:
                state = "end"
    return x, n


@case()
def bool_ops_values(x):
    a = x.sum() > 0 and x or None
    b = None or x
    c = [] or x
    d = x.sum() and 5
    return a, b, c, d


@case()
def nonlocal_in_branch_and_loop(x):
    n = 0
    t = x

    def bump(k):
        nonlocal n, t
        n += k
        t = t * 2
        return n

    if x.sum() > 0:
        bump(1)
    while t.abs().sum() < 50:
        bump(2)
    return n, t


@case()
def deep_nesting(x):
    def a(v):
        def b(v):
            def c(v):
                if v.sum() > 0:
                    return v * 2
                return v

            return c(v) + c(-v)

        return b(v) * 2

    return a(a(x))


@case()
def random_in_branch(x):
    if x.sum() > 0:
        y = ops.rand(2) + ops.rand(2)
    else:
        y = ops.rand(3)[:2]
    return y + ops.rand(2)


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()


def test_calls_that_do_not_divide_are_no_paths(monkeypatch):
    """A program may have any number of them."""
    monkeypatch.setattr("duograph.frontend.control.regions.MAX_EXPLORED", 8)

    def twice(x):
        return x * 2

    @ms.jit(fullgraph=True)
    def f(x):
        for _ in range(30):
            x = twice(x) - x
        return x

    x = ms.Tensor([1.0, 2.0])
    assert f(x).tolist() == [1.0, 2.0]
