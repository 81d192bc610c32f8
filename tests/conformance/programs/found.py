"""Programs that random testing (``scripts/fuzz``) found to differ between modes; made small, then fixed."""

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

X, P = T([1.0, -2.0, 3.0]), T([1.0, 2.0])


@program(X, [T([1.0]), T([-1.0])])
def effects_after_paths_that_join_late(x, xs):
    n = len([a for a in xs if a.sum() > 0])
    print((x > 0).sum())
    return x * n


def _asserting(x, y):
    assert x.max() > -1, "p"
    return (y * y).mean() + x.sum()


@program(P, X)
def gradient_of_a_function_with_an_assert(x, y):
    return ms.grad(_asserting, (0, 1))(x, y)


def _leaving_early(x, y):
    a = x.sum() * 2
    if x[0] > 0:
        return a + x[1] * y[0]
    return a * 2


@program(calls=[(P, X), (-P, X)])
def gradient_of_a_function_that_returns_early(x, y):
    return ms.grad(_leaving_early, (0, 1))(x, y)


@program(calls=[(P, X), (-P, X)])
def second_gradient_of_a_function_that_returns_early(x, y):
    return ms.grad(lambda x, y: ms.grad(_leaving_early, (0, 1))(x * x, y)[1].sum(), (0, 1))(x, y)


def _mixed_and(x):
    a = x.sum() * 2
    b = a and float(a)  # a tensor or a number
    return a + x.sum(), b


@program(calls=[(P,), (P * 0,)])
def gradient_around_values_of_different_types(x):
    return ms.grad(_mixed_and, has_aux=True)(x)


@program(calls=[(P,), (P * 9,)], choice=True)
def loop_leaves_a_variable_that_nobody_reads(x):
    a, s = 0, ""
    while x.sum() < 10:
        x = x + 1
        s = f"{x}"
        a = x if x[0] > 3 else 1
    return x


@program(calls=[(P, [P, X]), (P * 9, [P * 9, X])], grad=0)
def loop_replaces_a_list_and_a_dict(x, xs):
    d = {"a": x, "b": 2.0}
    while xs[0].sum() < 10:
        xs = [a + 1 for a in xs]
        d = {n: a * 2 for n, a in d.items()}
    return (xs[0] * d["a"]).sum() * d["b"]


@program(calls=[(P, [P, X]), (P * 9, [P * 9, X])], captured=False, choice=True)
def loop_replaces_a_list_with_two_names(x, xs):
    ys = xs
    while xs[0].sum() < 10:
        xs = [a + 1 for a in xs]
    xs[0] = x
    return xs, ys


@program(calls=[(P, [P, X]), (P * 9, [P * 9, X])])
def loop_writes_to_elements_of_an_argument(x, xs):
    count = x.sum() * 0
    while count < 3:
        count = count + 1
        xs[1] = x * count
        xs[0].add_(1.0)
    return count


TABLE, BOX = {}, type("Box", (), {})()  # each run sets its own values


@program(calls=[(P,), (P * 9,)], TABLE={"last": 0.5}, BOX=type("Box", (), {})())
def loop_is_the_first_to_set_an_attribute(x):
    count = x.sum() * 0
    while count < 3:
        count = count + 1
        TABLE["last"] = x * count
        BOX.extra = x + count
    return BOX.extra + TABLE["last"]


@program(calls=[(P,), (P * 9,)], choice=True)
def printing_before_paths_of_different_types(x):
    assert x[0] > 0
    print(x)
    return x[0].item() if x[0] > 1 else x


@program(P, [P, X], captured=False)
def loop_gives_another_name_to_what_it_writes(x, xs):
    count = xs[0].sum() * 0
    while count < 3:
        count = count + 1
        xs[1] = x
        x[-1] = 5.0
    x[0] = 7.0
    return count


@program(P, captured=False)
def write_after_a_loop_to_what_it_started_with(x):
    y, count = x, x.sum() * 0
    while count > 3:
        count = count + 1
        y = y + 1
    x.add_(1.0)
    return y * 2


@program(P, [P, X])
def texts_show_what_was_there_when_they_were_made(x, xs):
    texts = [f"{x}", "%s" % xs[1], "{0} {d}".format(x.sum(), d=xs), repr(x), str({"a": x})]  # noqa: UP031, UP032
    x[x < 2] = 0.0
    xs[1].add_(1.0)
    xs.append(x)
    return texts, x, xs


M = T([[0.0, 1.0, 2.0], [3.0, -4.0, 5.0]])


@program(M, X, grad=0)
def one_mask_is_asked_for_twice(y, x):
    x = y[y.sum(1) > 3.0].sum() * x
    return y[y.sum(1) > 3.0].sum() * x


@program(calls=[(M, X), (-M, X)], grad=0)
def a_mask_in_a_branch(y, x):
    if y.mean() > 0:
        x = y[y.sum(1) > 3.0].sum() * x
    return x + 1


@program(P)
def an_item_of_a_function_defined_inside_error(x):
    def inner():
        return x

    return inner[1]


@program(calls=[(P, T([0, 1])), (P, T([0, 0])), (P, T([2, 3]))], grad=0)
def a_loop_returns_at_once(x, i):
    count = i.sum()
    while count > 0:
        return (x * x).sum() * 2
    return (x * x).sum()


@program(calls=[(P, T([0, 1])), (P, T([0, 0])), (P, T([2, 3]))], grad=0)
def a_loop_returns_in_the_middle(x, i):
    count = i.sum()
    while count > 0:
        count = count - 1
        x = x * x
        if count == 1:
            return x.sum() * 2
    return x.sum()


@program(calls=[(P, T([0, 1])), (P, T([2, 3]))])
def second_gradient_of_a_loop_that_returns(x, i):
    def inner(x):
        for n in range(4):
            x = x * x
            if x.sum() * n > i.sum():
                return (x * x).sum()
        return x.sum()

    return ms.grad(lambda x: ms.grad(inner)(x).sum())(x)


@program(calls=[(T([[1.0], [2.0], [3.0]]), T([0, 1, 0])), (T([[1.0], [2.0], [3.0]]), T([1, 1, 1]))], grad=0)
def rows_that_an_expert_takes_if_any(x, chosen):
    out = x * 1
    for expert in range(2):
        mine = chosen == expert
        if mine.any():
            rows = ops.nonzero(mine).squeeze(1)
            out = out.index_add(0, rows.astype(ms.int32), x[rows] * x[rows])
    return (out * out).sum()
