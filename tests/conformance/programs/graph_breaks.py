"""Graph breaks: a statement that cannot be captured, and everything that Python promises around it.

`time.time()` stands for whatever has effects that nobody knows. What is before and behind it is compiled in parts.
"""

import contextlib
import os
import time

import numpy as np

from duograph import Tensor, nn, ops
from tests.conformance.harness import T, program

X = T([1.0, 2.0, 3.0])
CALLS = [(X,), (T([-1.0, -2.0, -3.0]),), (X,), (T([4.0, 5.0, 6.0]),), (X,)]
LOG = []
COUNT = 0

# Variables ------------------------------------------------------------------------------------------------------------


@program(calls=CALLS, grad=0, captured=False)
def values_go_from_part_to_part(x):
    y = x * 2 + x.mean() - 1
    time.time()
    z = y * y - x
    time.time()
    return (z * y).sum(), y


@program(calls=CALLS, captured=False)
def a_closure_sees_a_variable_bound_again(x):
    k = 1

    def scaled(v):
        return v * k + x

    y = scaled(x) + x * 3 - x.mean()
    time.time()
    k = 5
    z = scaled(y) + y * 2 - y.sum()
    return z, scaled(x)


@program(calls=CALLS, captured=False)
def a_closure_binds_a_variable(x):
    c = 0

    def count():
        nonlocal c
        c += 1
        return c

    y = x * count() + x.mean() - 1
    time.time()
    y = y * count() + x.mean() - c
    return y, c


@program(calls=CALLS, captured=False, COUNT=0)
def a_global_is_written_on_both_sides(x):
    global COUNT
    COUNT = COUNT + 1
    y = x * COUNT + x.mean() - 1
    time.time()
    COUNT += 10
    return y + COUNT * x - 2


@program(calls=CALLS, captured=False)
def an_unbound_variable_raises_where_it_is_read(x):
    if float(x.sum()) > 1e9:
        late = x
    time.time()
    r = x
    try:
        r = x * 2 + x.mean() - x
        r = r + late
    except NameError as e:
        return str(e), r
    return r


@program(calls=CALLS, captured=False)
def a_deleted_variable(x):
    y = x * 2 + x.mean() - 1
    time.time()
    del x
    try:
        x  # noqa: B018, F821
    except UnboundLocalError as e:
        message = str(e)
    return y * 2 + y - 1, message


@program(calls=CALLS, captured=False)
def a_walrus_in_a_header(x):
    if (m := float((x * 2 + x.mean() - 1).sum())) > -5:
        time.time()
        x = x * m + x - 1
    return x, m


# Tensors and containers that have several names -----------------------------------------------------------------------


@program(calls=CALLS, captured=False)
def two_names_of_one_tensor(x):
    a = b = x * 1 + 0 - 0
    time.time()
    a.add_(1.0)
    c = b * 2 + a - x
    time.time()
    b.mul_(2.0)
    return a is b, a, c


@program(calls=CALLS, captured=False)
def a_view_is_written_behind_the_break(x):
    y = x[0:1]
    y2 = y * 3 + x.mean() - 1
    time.time()
    y.add_(1.0)
    z = x * 2 + y2 - x.mean()
    time.time()
    x[1] = 7.0
    return x, y, z, y + z.sum() * 2 - 1


@program(calls=CALLS, captured=False)
def a_tensor_that_a_branch_chooses_is_written(x):
    y = x if x.sum() > 0 else x * 2
    time.time()
    y.add_(1.0)
    return x, y


@program(calls=CALLS, captured=False)
def one_dict_in_two_places(x):
    d = {"a": x, "n": 0}
    d["b"] = d["a"] * 2 + x.mean() - 1
    time.time()
    d["n"] += 1
    d["c"] = d["b"] + d["n"] * x - x.mean()
    both = [d, d]
    time.time()
    both[0]["z"] = x * 2 + x - 1
    return both[0] is both[1], d, sorted(d)


# Flow -----------------------------------------------------------------------------------------------------------------


@program(calls=CALLS, captured=False)
def a_loop_with_continue_and_break(x):
    total, seen = 0, []
    for i in range(5):
        if i == 2:
            continue
        y = x * i + total - x.mean() * 2
        os.getpid()
        total = total + (y * y).sum() + y.mean()
        seen.append(total)
        if i == 3:
            break
    else:
        LOG.append("never")
    return seen, total, i


@program(calls=CALLS, captured=False)
def a_while_loop(x):
    n = 0
    while n < 3:
        x = x * 1.5 + n - x.mean() * 0.1
        os.getpid()
        n += 1
        x = x - x.sum() * 0.01 + x * x * 0.01
    return x, n


@program(calls=CALLS, captured=False)
def returns_of_several_kinds(x):
    y = x * 2 + x.mean() - 1
    time.time()
    if y.sum() > 0:
        z = y * 3 - x + 2
        if z.sum() > 30:
            return "big", z
        return z * 2 - x * 4, y
    return y * y + x - 3


@program(calls=CALLS, captured=False)
def a_return_from_inner_loops(x):
    for i in range(3):
        y = x + i * x - x.mean()
        time.time()
        for j in range(3):
            z = y * j - x + y.mean()
            if float(z.sum()) > 5:
                return z, i, j
    return x


@program(calls=CALLS, captured=False)
def cases_of_a_match(x):
    found = []
    for case in ("a", 3, (1, 2)):
        y = x * 2 + x.mean() - 1
        match case:
            case str():
                time.time()
                z = y * 2 - x + 1
            case (p, q):
                z = y * p + q * x - 1
            case int(n):
                time.time()
                z = y - n * x + 2
        found.append(z)
    return found


@program(calls=CALLS, captured=False)
def generators_and_comprehensions(x):
    ws = [x * i + 1 - x.mean() for i in range(3)]
    time.time()
    s = sum(w.sum() for w in ws)
    return s, [(w * s).sum() for w in ws]


# Exceptions -----------------------------------------------------------------------------------------------------------


@program(calls=CALLS, captured=False)
def a_handler_sees_how_far_it_came(x):
    step = 0
    try:
        step = 1
        a = x * 2 + 1 - x.mean()
        step = 2
        b = a * 3 - x + 1
        os.getpid()
        step = 3
        b + Tensor([1.0, 2.0, 3.0, 4.0, 5.0])
        step = 4
    except ValueError as e:
        return step, type(e).__name__, a, b
    return None


@program(calls=CALLS, captured=False)
def all_clauses_of_a_try(x):
    seen = []
    y = x * 2 + 1 - x.mean()
    try:
        z = y * 3 + x - 2
        time.time()
        w = z / 2 + y * x
        if float(w.sum()) > 0:
            raise ValueError("positive")
    except ValueError as e:
        seen.append(str(e))
        w = y - 1 + x * 2
    else:
        seen.append("else")
    finally:
        seen.append("finally")
        u = y * y + x - y
    return w + u + z, seen


@program(calls=CALLS, captured=False)
def a_manager_swallows_an_exception(x):
    with contextlib.suppress(ZeroDivisionError):
        y = x * 2 + x.mean() - 1
        time.time()
        1 // 0
        y = y * 100 + 1 - x
    return y * 2 + x - 1


@program(calls=CALLS, captured=False)
def effects_before_an_error(x, log=LOG):
    y = x * 2 + x.mean() - 1
    time.time()
    print("before", y)
    log.append(1)
    z = y * 3 - x
    z = z + Tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    log.append(2)
    return z


# Values that leave and come back --------------------------------------------------------------------------------------


@program(calls=CALLS, captured=False)
def arrays_and_numbers_of_numpy(x):
    a = x.asnumpy() * 2
    y = x + Tensor(a) - x.mean()
    b = float(np.percentile(y.asnumpy(), 50))
    z = y * b + x * 2 - b
    c = np.sort(z.asnumpy())
    return Tensor(c) + z * 2 - x, a.tolist()


@program(calls=CALLS, captured=False)
def random_numbers_in_order(x):
    y = ops.dropout(x, 0.5) + x * 2 - x.mean()
    time.time()
    return ops.dropout(y, 0.5) + y * 2 - 1


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(3, 4, weight_init="ones"), nn.Dense(4, 2, weight_init="ones")
        self.history = []

    def construct(self, x):
        y = ops.relu(self.a(x))
        y = y - y.mean()
        self.history.append(time.time() > 0)
        return ops.tanh(self.b(y)) * 2, len(self.history)


@program(T([[1.0, 2.0, 3.0]]), build=True, captured=False)
def a_cell():
    return Net()


@program(T([[1.0, 2.0, 3.0]]), build=True, captured=False)
def a_cell_with_a_hook():
    net = Net()
    net.register_forward_hook(lambda cell, args, out: (out[0] + 1, out[1]))
    return net


def helper(x):
    y = x * 3 + x.mean() - 1
    time.time()
    return y * y - x


@program(calls=CALLS, grad=0, captured=False)
def a_break_in_what_is_called(x):
    y = x * 2 + x.mean() - 1
    z = helper(y)
    return (z * 2 + y - x.mean()).sum()
