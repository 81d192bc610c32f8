"""Sizes that only run time tells: selections, unique values and run-time slices after branches, loops, ``match``; their
gradients. Every program is called with several hits, one hit and none."""

import numpy as np

import duograph as ms
from duograph import Parameter, ops
from tests.conformance.harness import T, program

LOG: list = []
CALLS = [
    (T([7.0, 8.0]), T([2.0, 1.0])),
    (T([1.0, 1.5]), T([-1.0, 1.0])),
    (T([-1.0, 0.0]), T([-1.0, -1.0])),
    (T([0.5, 2.0]), T([2.0, 1.0])),
]


@program(calls=CALLS)
def selection_after_a_break_with_a_chained_comparison(y, w):
    for _ in range(2):
        if 0 < y.sum() < 3:
            break
    return ops.masked_select(y, w > 0)


@program(calls=CALLS)
def selection_on_both_sides_of_a_branch(y, w):
    z = ops.masked_select(y, w > 0) if y.sum() > 1 else ops.masked_select(y * 2, w < 0)
    return z * 2, z.sum()


@program(calls=CALLS)
def slices_on_both_sides_of_a_branch(y, w):
    n = int((w > 0).sum())
    z = y[:n] if y.sum() > 1 else y[n:]
    return z * 2, z.shape[0], z + z


@program(calls=CALLS)
def selection_after_match(y, w):
    match int((w > 0).sum()):
        case 0:
            z = ops.masked_select(y, w > 0)
        case 1:
            z = ops.masked_select(y, y > 0)
        case _:
            z = ops.masked_select(y * 3, y > 0)
    return z, ops.masked_select(z, z > 1)


@program(calls=CALLS)
def unique_of_one_of_two(y, w):
    values, places = ops.unique(y) if y.sum() > 3 else ops.unique(w)
    return values, places, values[places], ops.ones_like(values) + values


@program(calls=CALLS)
def a_list_of_coordinates_up_to_a_break(y, w):
    found = []
    for i in range(3):
        z = ops.nonzero(y > i)
        if z.shape[0] == 0:
            break
        found.append(z)
    return found


@program(calls=CALLS)
def a_loop_whose_value_shrinks(y, w):
    i, z = 0, y
    while i < int((w > 0).sum()) + 1:
        z = ops.masked_select(z, z > 0) * 2
        i += 1
    return z, z.sum(), ops.masked_select(z, z > 3)


@program(calls=CALLS)
def a_loop_whose_value_grows_up_to_a_break(y, w):
    s, k = y, 0
    while s.sum() < 20 and k < 6:
        k += 1
        s = ops.concat((s, ops.masked_select(y, w > 0) + 1))
        if s.shape[0] > 8:
            break
    return s, ops.masked_select(s, s > 2)


def _of_positive(a):
    return ops.masked_select(a, a > 0)


def _or_of_the_opposite(a):
    return _of_positive(a) if a.sum() > 0 else _of_positive(-a)


@program(calls=CALLS)
def one_function_twice(y, w):
    p, q = _or_of_the_opposite(y), _or_of_the_opposite(w)
    return p, q, ops.concat((p, q)), p.sum() * q.sum()


@program(calls=CALLS)
def early_returns_of_different_sizes(y, w):
    if y.sum() > 3:
        return ops.masked_select(y, w > 0)
    if w.sum() > 0:
        return y[int((w > 0).sum()) :]
    return y


@program(calls=CALLS)
def writes_to_slices(y, w):
    y = y + 0
    n = int((w > 0).sum())
    y[:n] = 5
    if y.sum() > 8:
        y[n:] = 3
    return y, y[:n].sum()


@program(calls=CALLS)
def gradient_where_no_row_may_be_left(y, w):
    x = ops.stack((y, w, y - w))

    def loss(w):
        rows = ops.nonzero((x > 1).any(axis=1)).reshape(-1)
        return (x[rows] * w).sum() if rows.shape[0] > 0 else w.sum()

    return ms.grad(loss)(w)


def _chosen(y, w):
    n = int((w > 0).sum())
    if 0 < y.sum() < 3:
        return (ops.masked_select(y, w > 0) ** 2).sum()
    return (y[:n] ** 3).sum()


@program(calls=CALLS, grad=0)
def gradient_of_sizes_in_branches(y, w):
    return _chosen(y, w)


@program(calls=CALLS)
def second_gradient_after_a_break(y, w):
    def loss(y):
        for _ in range(2):
            if 0 < y.sum() < 3:
                break
            y = y * 1.5
        z = ops.masked_select(y, w > 0)
        return (z * z).sum()

    return ms.grad(loss)(y), ms.grad(lambda y: ms.grad(loss)(y).sum())(y)


@program(calls=CALLS)
def gradient_of_a_slice_that_a_branch_scales(y, w):
    def loss(y):
        z = y[: int((w > 0).sum())]
        if int((w > 0).sum()) > 1:
            z = z * 2
        return (z * z).sum()

    return ms.grad(loss)(y)


@program(calls=CALLS)
def gradient_of_selections_in_a_loop(y, w):
    def loss(y):
        i, total = 0, y.sum()
        while i < int((w > 0).sum()) + 1:
            z = ops.masked_select(y, y > i)
            total = total + (z * z).sum()
            i += 1
        return total

    return ms.grad(loss)(y)


@program(calls=CALLS)
def gradient_of_a_loop_whose_value_shrinks(y, w):
    def loss(y):
        i, z = 0, y
        while i < int((w > 0).sum()) + 1:
            z = ops.masked_select(z, z > i - 1) * z.sum()
            i += 1
        return (z * z).sum()

    return ms.grad(loss)(y)


@program(calls=CALLS)
def gradient_of_an_argument_written_in_a_branch(y, w):
    y = ops.masked_select(y, w > 0) if y.sum() > 3 else ops.masked_select(y, w < 0)
    return ms.grad(lambda a: (a * a).sum())(y)


@program(calls=CALLS, captured=False)
def the_largest_of_nothing(y, w):
    z = ops.masked_select(y, w > 0)
    try:
        z.max()
    except ValueError:
        return y - 1
    return z * 2


@program(calls=CALLS, captured=False)
def the_place_of_the_largest_of_nothing_error(y, w):
    z = y[: int((w > 0).sum())]
    z.argmax()
    return z + 1


@program(calls=CALLS)
def two_early_returns_of_a_loop(y, w):
    k = 0
    while k < 4:
        z = ops.masked_select(y, w > k - 1)
        if z.sum() < 3:
            return z * 2
        if z.sum() < 9:
            return ops.concat((z, y))
        k += 1
    return y


@program(calls=CALLS)
def only_the_size_is_read(y, w):
    z = ops.masked_select(y, w > 0) if y.sum() > 1 else y[int((w > 0).sum()) :]
    return ops.ones_like(z), ms.grad(lambda y: ops.masked_select(y, w > 0).sum())(y)


@program(calls=CALLS)
def sums_of_selections_of_two_masks(y, w):
    a, b = y[y > 0], w[w > 0]
    if a.shape[0] != b.shape[0]:
        return a, b
    c = a + b
    return c, c * ops.ones_like(c)


@program(calls=[(T([1.0, 2.0, 3.0]), T(1.0)), (T([1.0, 2.0, 3.0]), T(2.0)), (T([1.0, 2.0, 3.0]), T(9.0))], grad=0)
def gradient_of_paths_with_results_of_their_own(x, n):
    y = ops.masked_select(x, x > n)
    if y.shape[0] > 1:
        return y.sum()
    return y


@program(calls=[(T([1.0, 0.0]), 7)] * 3, build=True)
def a_parameter_is_written_before_a_size_is_checked():
    """Found by fuzzing: the check failed after the parameter had been overwritten, and the call was repeated."""
    gain = Parameter(ms.Tensor([1.5, -0.5]), name="gain")

    def step(x, n):
        found = ops.abs(ops.nonzero(x).reshape(-1))
        gain.mul_(3.0)
        return ops.broadcast_to(found, (2, n)), gain * 1

    return step


@program(calls=[(T([4, 5, 4]), T(0)), (T([4, 4, 4]), T(2)), (T([4, 5, 6]), T(0))])
def what_was_overwritten_tells_the_size_on_one_of_two_paths(x, s):
    """Found by fuzzing: nobody reads the unique values, but their number is the size of the result."""
    found = ops.unique(x)[0]
    found.fill_(0)
    if s:
        return "none"
    return found


@program(
    calls=[(T([1.0, -2.0, 0.25]), T([-3.5, 1.0])), (T([1.0, 1.0, 0.25]), T([1.5, 1.0])), (T([]), T([1.5]))], build=True
)
def one_selection_after_paths_that_do_not_join():
    """Found by fuzzing: both paths find the size under one name, and each leaves the other's result undefined."""
    gain = Parameter(ms.Tensor(1.5), name="gain")

    def step(x, y):
        found = [row for row in [y + 1] if row.sum() > 1]
        gain.mul_(0.5)
        return ops.unique(x)[0], found, gain * 1

    return step


@program(calls=[(T([0.75, 1.75, 2.5, 0.0]), -1), (T([0.75, 1.75, 2.5, 0.0]), 2)], LOG=[])
def sizes_that_do_not_fit_a_place_that_nobody_reads_raise_in_order(x, n):
    """Found by fuzzing: the sum had been typed with the size of the place, so nothing compared them again."""
    many = ops.masked_select(x, x > n)
    LOG.append("before")
    few = ops.unique(x)[0]
    try:
        few[:1].add_(many)
    except ValueError:
        LOG.append("raised")
    else:
        LOG.append("after")


@program(T([1.5, 2.5]), T([0, 0]), 1)
def two_endings_of_which_one_has_no_size(w, x, n):
    """The paths are decided by constants only once they are optimised: what one lacks is undefined before it is known
    how large it would be."""
    try:
        x = ops.nonzero(ms.Tensor([True, False]) ^ ms.Tensor([True, False])).reshape(-1)
        held = dict(a=x, b=w)
        for _ in range(n):
            print(str(w.dtype))
    except TypeError:
        pass
    v = w[-1:]
    v.mul_(2)
    found = dict(held)["a"]
    try:
        if (ms.Tensor([True, False]) | ms.Tensor([True, False])).any():
            raise ValueError(n)
        v += 1
    except RuntimeError:
        pass
    except ValueError:
        n = 0
        return found, x, v, n
    return v, found, x, w


@program(calls=[(T([1.0, 0.0]),), (T([2.0, 3.0]),)])
def a_size_that_only_an_overwritten_value_has_told(x):
    where = ops.nonzero(x).reshape(-1)
    print(ms.Tensor(2) or 3)
    where.zero_()
    return where[0]


def _loss_after_a_break(y, w):
    for _ in range(2):
        if 0 < y.sum() < 3:
            break
        y = y * 1.5
    z = ops.masked_select(y, w > 0)
    return (z * z).sum()


@program(calls=[(T([1, 2, 3], ms.int32), T([1, 0, 1], ms.int32)), (T([1, 0, 0], ms.int32), T([0, 0, 0], ms.int32))])
def second_gradient_of_integers_whose_selection_nobody_reads(y, w):
    return ms.grad(lambda y: ms.grad(_loss_after_a_break)(y, w).sum())(y)


def _number_or_tensor(x):
    a = x.sum() * 2
    return a + x.sum(), a and float(a)


@program(calls=[(T([1, 2, 3], ms.int32),), (T([1, 2], ms.int32),), (T([0, 0], ms.int32),), (T([0, 0, 0], ms.int32),)])
def gradient_whose_size_only_an_undefined_value_names(x):
    return ms.grad(_number_or_tensor, has_aux=True)(x)


def _halved(x):
    return x if x.sum() < 1 else _halved(x / 2) * 1.5


@program(calls=CALLS[:2], grad=0)
def gradient_of_a_decision_by_zeros_of_a_size_that_the_run_tells(y, w):
    """Found by fuzzing: no value decides, but a size does, so the decision is no constant."""
    found = y[y > 0]
    found.zero_()
    return _halved(found)


@program(calls=[(T([1.0] * n), T([1.0, 2.0]), T([float(n), 0.0])) for n in (1, 2, 3, 4)])
def selection_in_a_branch_to_which_an_argument_only_tells_its_size(z, y, w):
    """Found by fuzzing: nobody gave the branch the argument."""
    if y.sum() < 6:
        return ops.ones_like(z), ops.masked_select(y, w > 2)
    return z, y


EMPTY = T(np.zeros((2, 0), np.float32))
COUNTS = [(x, T(n)) for x in (EMPTY, T(np.arange(6, dtype=np.float32).reshape(2, 3))) for n in (0, 1, 2, -1)]


@program(calls=COUNTS)
def one_of_so_many_error(x, n):
    return x[: int(n)][0]


@program(calls=COUNTS)
def one_of_so_many_is_written_error(x, n):
    y = x * 1
    y[: int(n)][-1] += 1
    return y


@program(calls=COUNTS)
def one_of_so_many_or_what_is_said(x, n):
    try:
        if x[: int(n)][0]:
            return 1
    except (IndexError, ValueError) as error:
        return type(error).__name__
    return 2


@program(calls=[(T([0.0, 3.0]),), (T([2.0, 3.0]),), (T([5.0, 0.0]),), (T([2.0, 3.0]),)], captured=False)
def gradients_of_what_may_be_broadcast(x):
    def branching(y):
        return (y + y[y > 1]).sum() if y.max() > 4 else (y * y[y > 1]).sum()

    return ms.grad(lambda y: (y + y[y > 1]).sum())(x), ms.grad(branching)(x)
