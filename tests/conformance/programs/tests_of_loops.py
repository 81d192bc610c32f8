"""Tests of loops that change something: each of them runs as often as in eager mode."""

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

X = [(T([1.0, 2.0]),), (T([0.5, -1.0]),), (T([30.0, 1.0]),)]
COUNT = 0
WEIGHT = T([0.0])


def _counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


@program(calls=X, choice=True, grad=0)
def a_counter_in_a_closure(x):
    count = _counter()
    while x.sum() < 10 + count():
        x = x * 1.5 + 1
    return x, count()


@program(calls=X, choice=True, COUNT=0)
def a_global_counter(x):
    global COUNT

    def below(limit):
        global COUNT
        COUNT += 1
        return x.sum() < limit

    while below(12):
        x = x + 1
    return x, COUNT


@program(calls=X, choice=True, grad=0)
def an_assignment_in_the_test(x):
    k = 0
    while (k := k + 1) + x.sum() < 20:
        x = x + 1
    return x, k


@program(calls=X, choice=True)
def an_in_place_operation(x):
    y = x * 1
    while y.add_(1.0).sum() < 15:
        x = x * 2
    return x, y


@program(calls=X, choice=True, WEIGHT=T([0.0]))
def a_tensor_outside(x):
    while WEIGHT.add_(1.0).sum() + x.sum() < 9:
        x = x * 2
    return x


@program(calls=X, choice=True)
def a_list_that_shrinks_and_grows(x):
    seen = [0.0]

    def look():
        seen[0] = seen[0] + 1.0
        return x.sum() * seen[0]

    while look() < 30:
        x = x + 1
    return x, seen


@program(calls=X, choice=True)
def printing(x):
    def said(value):
        print("asked", value)
        return value

    while said(x.sum()) < 9:
        x = x + 2
    return x


@program(calls=X, choice=True)
def in_the_body_of_another_loop(x):
    count = _counter()
    for _ in range(3):
        while x.sum() < 10 + count():
            x = x + 1
        x = x - 4
    return x, count()


@program(calls=X, choice=True)
def after_a_peeled_iteration(x):
    count = _counter()
    y = 0
    while x.sum() < 10 + count():
        y = x + y
        x = x + 2
    return x, y, count()


@program(calls=X, choice=True)
def with_an_else(x):
    k = 0
    while (k := k + 1) * x.sum() < 40:
        if k > 6:
            break
    else:
        x = x + 100
    return x, k


@program(calls=X, choice=True, captured=False)
def in_a_comprehension_and_a_generator(x):
    count = _counter()

    def halves(y):
        while y.sum() > 1 + count():
            y = y / 2
            yield y

    return [h * 2 for h in halves(x)], count()


ROUTES = [(T([[1.0, 2.0], [3.0, -4.0], [0.5, 6.0]]), T(places)) for places in ([0, 2, 2], [1, 1, 1], [3, 0, 5])]
EXPERTS = [T([[1.0 + i, -1.0], [0.5, float(i)]]) for i in range(8)]


@program(calls=ROUTES, grad=0)
def iterations_that_are_skipped(x, places):
    out = ops.zeros_like(x)
    for number, expert in enumerate(EXPERTS):
        chosen = places == number
        if chosen.sum() == 0:
            continue
        out = out + (x @ expert) * chosen.astype(x.dtype)[:, None]
    return out


@program(calls=ROUTES)
def rows_chosen_by_iterations_that_are_skipped(x, places):
    out = ops.zeros_like(x)
    for number, expert in enumerate(EXPERTS):
        (rows,) = ops.nonzero(places == number, as_tuple=True)
        if rows.shape[0] == 0:
            continue
        out = out.index_add(0, rows.astype(ms.int32), x[rows] @ expert)
    else:
        out = out * 2
    return out


@program(calls=X, choice=True, captured=False)
def skipped_and_left_early(x):
    kept = 0
    for i in range(6):
        if x.sum() < i:
            x = x + i
            continue
        if i == 4 and x.min() > 20:
            return x * 100
        for k in range(2):
            if x.max() > 5 * k + i:
                continue
            x = x * 2
        if x.sum() > 25:
            break
        kept += 1
        x = x - 1
    else:
        x = -x
    return x, kept


@program(calls=X, choice=True)
def skipped_in_a_loop_whose_end_is_known(x):
    i = 0
    while i < 5:
        i += 1
        if x[0] > i:
            x = x - 2
            continue
        try:
            if x[1] > i:
                continue
            x = x * 1.5
        finally:
            x = x + 0.25
    return x, i
