"""Programs that random testing (``scripts/fuzz``) found to differ between modes; made small, then fixed."""

import copy
import functools
import operator

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


@program(calls=[(T([1, 2], ms.uint8), n) for n in (1, 3, -2, 300, 2**40 + 5, 2**70 + 1)])
def numbers_known_at_run_time_wrap(x, n):
    return x + n, x < n


SEEN = []


@program(T([2.0, 3.0]), SEEN=[])
def generator_that_cleans_up_within_vmap(x):
    def numbers(n):
        for i in range(n):
            try:
                yield i
            finally:
                SEEN.append(i)

    return ms.vmap(lambda row: row * sum(numbers(3)))(x), len(SEEN)


@program(X)
def a_print_before_two_paths_of_which_one_was_typed_earlier(x):
    """The first path noted that late sizes were assumed, the second found the node there and noted nothing."""
    found = abs(ops.nonzero(x).reshape(-1))
    (found // 2).argmax()
    print(x)
    assert T(0.5), x
    return x


@program(X)
def a_print_of_fresh_tuples_before_two_paths(x):
    """What is printed is made anew on each path; it is one print."""
    print(list(zip([2])), {(1, 2.5): x, "k": 1j}, slice(1, None))
    if x.sum() > 0:
        return x + 1
    return x - 1


class Counting:
    def __init__(self, n):
        self.left = n

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.left


class NoIterator:
    def __iter__(self):
        return 3


@program(calls=[(X, 2), (X, 4), (X, 0)])
def functions_that_end_the_iteration_they_are_called_in(x, n):
    def below(value):
        if value >= n:
            raise StopIteration
        return value * x

    it = Counting(3)
    found = [list(map(below, range(3))), list(filter(lambda v: below(v) is not None, range(3)))]
    found += [iter(it) is it, next(it), list(it), next(it, None), type(map(below, [])).__name__]
    for loop in (lambda: iter(NoIterator()), lambda: list(NoIterator()), lambda: [below(v) for v in range(9)]):
        try:
            found.append(loop())
        except (TypeError, StopIteration) as error:
            found.append(type(error).__name__)
    return found


W3 = ms.Parameter(T([1.0, 2.0, 0.5]), name="w3")


@program(calls=[(P,), (-P,)])
def a_size_that_only_a_decision_depends_on(x):
    found = ms.grad(lambda a: ops.masked_select(a, a > 1).sum())(W3).sum()
    if found:
        return 1
    return 2


@program(X)
def a_loop_that_ends_by_a_size_that_nobody_else_reads(x):
    n = 0
    while ops.ones_like(ops.masked_select(x, x > n)).sum() > 0:
        n += 1
    return n


@program(X, True)
def a_list_of_tuples_is_printed_before_a_decision(x, flag):
    print(list(zip([2])), dict(a=[x, (flag, "b")]), {1: (2, 3)}, [print, Ellipsis, int])
    assert ms.Tensor(2), flag
    print(x)
    if x.sum() > 1:
        x = x * 2
    return x


@program(calls=[(P, 3), (P, 1), (-P, 0), (P, 1)], captured=False)
def prints_of_a_loop_that_raises_half_way_error(x, n):
    for i in range(4):
        print("step", i)
        if x[i % 2] > n:
            raise ValueError(f"at {i}")
    return x


@program(calls=[(P, {0: 2}), (P, {0: 2, 1: 3}), (P * 9, {})], captured=False)
def a_lookup_that_fails_in_some_iterations(x, table):
    i = 0
    while x.sum() < 50:
        print("i", i)
        try:
            x = x * table[i]
        except KeyError as error:
            print("missing", error)
            x = x + 10
        finally:
            print("finally")
        i += 1
    return x, i


@program(calls=[(P, 3), (P * 0.1, 1), (P, 20), (P * 0.1, 2)], captured=False)
def a_division_that_fails_in_a_late_iteration_error(x, k):
    i = 0
    while x.sum() < 50:
        print("a", i)
        x = x * (10 // (k - i))
        print("b", x)
        i += 1
    return x


@program(calls=[(P, T(1)), (P, T(7)), (P, T(0))], captured=False)
def prints_around_an_index_that_is_caught(x, i):
    try:
        print("before")
        y = x[i]
        print("after", y)
    except IndexError as error:
        print("caught", type(error).__name__)
        y = x.sum()
    else:
        print("else")
    return y


@program(calls=[(1, T([-1, 1, -3])), (-2, T([0, 1, 2])), (4, T([3, 1, 2]))])
def a_print_after_recursion_and_before_a_decision(n, x):
    """The recursive function is another object on each path; it is one function of the graph."""

    def shifted(k, a):
        return a if k < 1 else shifted(k - 1, a - a.sum())

    y = shifted(n % 5, x)
    print(y.sum())
    return [n, y, 7][n % 3]


@program(calls=[(T(3.0), X), (T(-3.0), X)])
def recursive_functions_of_one_name_on_two_paths(x, y):
    if x > 0:

        def power(k, a):
            return a if a.sum() > k else power(k, a * 2)
    else:

        def power(k, a):
            return a if a.sum() > k else power(k, a + 1)

    print("first")
    if y.sum() > 1:
        print("second")
    return power(20, y)


@program(X, T([0.5, 1.0, -0.5]))
def a_gradient_that_is_a_constant_and_a_sum(x, y):
    """One number for all elements, computed from a sum and ones: it is written for each of them."""
    g, h = ms.grad(lambda x, y: y * y * x.sum() + x, (0, 1))(x, y)
    return g, h, ops.ones_like(x) * (y * y).sum()


def _paths_kept_apart(x, y):
    a = y * 1
    if x.sum() > 0:
        a = y[::-1] * x
    b = y * 1
    if y.sum() > 0:
        b = b * 2
    b[1:].add_(a[:2])
    return a


PATHS = [(X, X), (-X, X), (X, -X), (-X, -X)]


@program(calls=PATHS)
def gradient_of_a_branch_before_paths_that_are_kept_apart(x, y):
    """What comes before the second decision is captured once per path, and is one thing for the tape."""
    return ms.grad(_paths_kept_apart, (0, 1))(x, y)


@program(calls=PATHS)
def second_gradient_of_a_branch_before_paths_that_are_kept_apart(x, y):
    def norm(x, y):
        g, h = ms.grad(_paths_kept_apart, (0, 1))(x, y)
        return g * h + h * x

    return ms.grad(norm, (0, 1))(x, y)


@program(calls=PATHS)
def gradients_before_paths_that_are_kept_apart(x, y):
    def total(x, y):
        g, h = ms.grad(_paths_kept_apart, (0, 1))(x, y)
        b = g * 1
        if h.sum() > 0:
            b = b * 2
        b[1:].add_(h[:2])
        return g * h + b

    return ms.grad(total, (0, 1))(x, y)


WIDE: list[int] = []


@program(calls=[(2**63, 1), (-2, 1), (-2, -1), (2**63, 1), (-(2**63) - 1, 1)])
def a_number_of_more_than_64_bits_is_compared(n, m):
    """The effect makes ``n`` a constant: it lost its upper bits in machine code."""
    try:
        if m > n:
            return m
    finally:
        WIDE.append({n})
    del WIDE[:]
    return 0


@program(calls=[(X, T([2, 0])), (X, T([0, 0])), (-X, T([0, 2]))])
def gradient_of_a_selection_on_one_path(x, w):
    """A node was placed before one of its operands, because another operand names a size (`Graph.nodes`)."""
    assert not w.all()
    return ms.grad(lambda a: ops.masked_select(a, a > -1.5).sum())(x)


MADE: list = []


@program(P)
def equal_constants_are_tensors_of_their_own(x):
    """Each ``Tensor([1.0])`` is another object with memory of its own: a write to one does not show in the others."""
    MADE.clear()
    for _ in range(3):
        MADE.append((ms.Tensor([1.0]), 1))
    MADE[0][0].add_(1)
    first, second = ms.Tensor([3.0]), ms.Tensor([3.0])
    return first, second, x, [m[0] for m in MADE]


@program(P)
def equal_constants_that_are_returned_share_nothing(x):
    return ops.zeros((2,)), ms.Tensor([0.0, 0.0]), ms.Tensor([0.0, 0.0]), x


CHOOSING = [(T([1.0]), T([2.0]), T([s])) for s in (2, 0, -1, 3)]


@program(calls=CHOOSING)
def which_tensor_a_branch_chose(x, w, s):
    y = x if s.sum() > 0 else w
    z = [x] if s.sum() > 0 else [w]
    return y is x, w is not y, z[0] is x, [t is x for t in (y,)], {x: 1, w: 2}[y], len({x, y, w}), y in [x]


@program(calls=CHOOSING)
def which_tensor_is_asked_of_functions(x, w, s):
    y = x if s.sum() > 0 else w
    match y:
        case _ if y is w:
            found = 3
        case _:
            found = 4
    return operator.is_(y, x), operator.is_not(y, x), found, (1, [y]) == (1, [x])


@program(calls=CHOOSING, captured=False)
def which_tensor_a_loop_left(x, w, s):
    y, z, k, seen = x, x, 0, 0
    while k < s.sum():
        seen += z is x
        y, z, k = w, z + 1, k + 1
    return y is w, z is x, seen, k


@program(calls=CHOOSING, captured=False)
def which_tensor_a_recursive_function_gave(x, w, s):
    def last(n, a):
        return a if n < 1 else last(n - 1, a + n)

    y = last(s.sum().item(), x)
    return y is x, {x: 5}.get(y, 0), y


@program(calls=CHOOSING[:2], captured=False)
def writing_to_what_a_recursive_function_gave(x, w, s):
    """It may be the argument, or what a closure holds: writes to one show in the other."""

    def last(n, a):
        return a if n < 1 else last(n - 1, a + n)

    def outer(n, a):
        return w if n < 1 else outer(n - 1, a + n)

    y = last(s.sum().item(), x)
    y.add_(1)
    z = outer(s.sum().item(), x * 2)
    w.add_(1)
    return x * 1, y * 1, z * 1


@program(calls=[(T(1),), (T(3),), (T(5),)])
def ranges_of_run_time_bounds_are_ranges(n):
    r = range(n)
    print(r, {"r": range(1, n)})
    return r, [range(n, 2 * n)], type(r) is range, isinstance(r, range), r.stop


@program(calls=[(T(0),), (T(3),), (T(5),)], captured=False)
def ranges_of_run_time_bounds_are_looked_into(n):
    return len(range(n)), bool(range(n)), range(n) == range(3), f"{range(n)}", list(range(n)), {range(n): 1}


def _passing_and_flat(x):
    """``x`` is passed on, and a result to which no gradient flows is made under a condition."""
    y = x
    if x.sum() > 1:
        y = ops.floor(x)
    elif ops.ones((2,)).astype(ms.bool_).all():
        y = ops.ceil(x) * 2
    return x, y, x * x


@program(calls=[(P,), (-P,), (P / 8,)], grad=0)
def gradient_beside_a_branch_that_adds_nothing_to_it(x):
    """What had been added up elsewhere was handed through the branch, whose condition was not saved for that."""
    return ms.jit(_passing_and_flat)(x)


@program(calls=[(P,), (-P,), (P / 8,)])
def second_gradient_beside_a_branch_that_adds_nothing_to_it(x):
    def norm(x):
        a, b, c = ms.jit(_passing_and_flat)(x)
        return a.sum() + b.sum() * c.sum()

    return ms.grad(lambda x: (ms.grad(norm)(x) ** 2).sum())(x)


@program(calls=[(n,) for n in (0, 5, 7, 1, 9)])
def the_test_of_a_loop_takes_decisions(n):
    """A decision within the test was taken for one of the code around the loop."""
    k = m = 0
    while k < 2 and n < [k, n, 7][k % 3] <= n:
        k += 1
    while m < n and [m, n, 7][m % 3] < 5:
        m += 1
    return k, m


@program(calls=[(P, n) for n in (7, 1 << 31, 1 << 63, -(1 << 63) - 1, (1 << 64) + 1, -1)])
def a_bound_of_more_than_64_bits(x, n):
    """The interpreter's kernels were handed its lower 64 bits."""
    x[:n] = n
    return x, x[-n:], n


@program(calls=[(T([[1.0, -2.0], [3.0, 0.5]]), -2), (T([[1.0, 2.0], [3.0, 0.5]]), 2)], grad=0)
def gradient_of_a_view_that_was_written_through(x, n):
    """The tape knows it as what was written; as a part of its storage it gave ``-0.0`` where eager mode gives 0."""
    y = x * n
    row = y[0]
    row[...] = n
    return row


@program(calls=[(X, 1 << 40), (X, 1 << 62), (X, 1 << 63)])
def an_unused_result_that_no_memory_can_hold_error(x, n):
    ms.mint.diag_embed(x, n)
    return x


@program(calls=[(X, 0), (T([1.0, 2.0]), 1 << 31), (T([1.0]), 1 << 31)], captured=False)
def an_unused_result_of_a_size_that_varies_error(x, n):
    """However small the size turns out to be, there is no memory for it."""
    ms.mint.diag_embed(x, n)
    return x * 2


@program(calls=[(T([[0.3, -2.0, 1.7], [3.1, 0.5, -0.7]]),), (T([[0.4, 2.0, 1.7], [3.2, 0.5, -0.7]]),)], grad=0)
def gradient_of_a_view_that_is_used_too(x):
    """What flows into the view is added up there, before it becomes part of what flows into ``x``."""
    v = x[::-1]
    return ops.sin(v), ops.sin(v) * 3, v


@program(calls=[(T([[0.3, -2.0, 1.7], [3.1, 0.5, -0.7]]),), (T([[0.4, 2.0, 1.7], [3.2, 0.5, -0.7]]),)], grad=0)
def gradient_of_a_view_whose_base_is_used_later(x):
    v = x.T
    return ops.sin(x), ops.cos(x), v


def _written_to_itself(a):
    a.copy_(a)
    return (a * a).sum()


@program(calls=[(T([5.0, 2.0]),), (T([1.0, -2.0]),)])
def gradient_where_a_tensor_is_written_to_itself(x):
    """What the view shows was asked for again after it had been noted as written: no tape watched that."""
    x.copy_(x)
    return ms.grad(_written_to_itself)(x), ms.grad(lambda a: (ops.assign(a, a) * a).sum())(x * 1)


@program(calls=[(P,), (P,)], captured=False)
def a_number_of_more_than_64_bits_is_computed_from_constants(x):
    """Folding made it a constant, of which machine code took the lower 64 bits."""
    return int(float(ms.Tensor(0.5)) * 1e300), int(float(ms.Tensor(2.0)) * 1e18) * 100 > 5, x


@program(T([[[0.5, -1.0, 2.0, 0.0]], [[1.0, 0.0, -0.5, 3.0]], [[0.0, 2.0, 1.0, -1.0]]]), grad=0)
def gradient_of_an_op_with_two_results_that_may_raise(x):
    """What keeps its exception has all its results as one operand, which no gradient graph could hold."""
    lengths = T([3], ms.int32)
    return ops.ctc_loss(ops.log_softmax(x), T([[1]], ms.int32), lengths, lengths - 2)[0]


def _made_inside(x, y):
    p = ms.Parameter(x * y, "p")
    q = ms.Parameter(x, "q", requires_grad=False)
    ops.ScatterSub()(q, T([0, 1], ms.int32), y)
    p[0] = y[1]
    p.add_(y)
    return (p * q * x).sum() + (p.value() * y).sum()


@program(calls=[(P, P + 1), (P, -P)], grad=(0, 1))
def gradients_end_at_a_parameter_made_inside(x, y):
    """Eager mode copies what it is made of; in a graph the copy passed them."""
    return _made_inside(x, y)


@program(calls=[(P, P + 1), (P, -P)], captured=False)
def gradients_inside_end_at_a_parameter_made_inside(x, y):
    return ms.grad(_made_inside, (0, 1))(x, y), ms.grad(lambda a: (copy.deepcopy([a])[0] * a).sum())(x)


@program(calls=[(P, 0), (P, 1), (P, 2), (P, 0)], captured=False)
def nothing_to_map_over(x, n):
    """Eager mode took a batch without elements for none; compiled code, for any number, computed nothing."""
    return ms.vmap(lambda a: a * 2 + 1)((x + x.mean())[n:])


@program(calls=[(X,), (T([3.0, 2.0, 1.5]),), (T([0.5, 0.25, 2.0]),)], grad=0)
def what_a_mask_takes_is_broadcast(x):
    """One element or all, known at run time: the gradient sums over the axis, or not. It read beside the data."""
    return x * x[x > 1][:1] + x[x > 1].sum()


@program(calls=[(X, 2.5), (T([3.0, 2.0, 1.5]), 1.0)], grad=0)
def a_selection_is_broadcast(x, low):
    return x - x[x > low].exp()


@program(calls=[(X, 0.5), (X, 2.5), (X, -5.0)], grad=0)
def what_two_masks_take_is_broadcast(x, low):
    return x[x > low] - x[x > 2].exp()


@program(calls=[(T([]),), (X,)], captured=False)
def no_array_has_the_shape_error(x):
    """Without elements, with extents that NumPy cannot count; nobody reads it."""
    return (x[:0].reshape((2**63, -1)), x + 1)[1]


@program(calls=[(X,), (X,)], captured=False)
def a_view_without_addresses_error(x):
    return (x.sum().broadcast_to((2**62,)), x + 1)[1]


def _added(a, b):
    return a + b


@program(calls=[(X, 2), (T([5.0, 0.5, 1.0]), 3), (X, 2)])
def what_a_partial_made_inside_holds(x, n):
    """Reading it took the partial for one from outside: what capture had in hand left the program."""
    made = functools.partial(functools.partial(_added, x * n), 1.5)
    first = made.func is _added, len(made.args), made.args[0]
    named = functools.partial(_added, b=x + n)
    return first, named.keywords["b"], made(), made.args


@program(calls=[(X, 2), (T([5.0, 0.5, 1.0]), 3), (X, 2)])
def what_a_slice_made_inside_holds(x, n):
    made = slice(int(x.min()) - n, None)
    return x[made], made.start, made.step, made
