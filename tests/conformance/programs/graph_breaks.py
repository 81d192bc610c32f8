"""Graph breaks: a statement that cannot be captured, and everything that Python promises around it.

`time.sleep(0)` stands for whatever has effects that nobody knows. What is before and behind it is compiled in parts.
"""

import contextlib
import os
import time

import numpy as np

import duograph as ms
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
    time.sleep(0)
    z = y * y - x
    time.sleep(0)
    return (z * y).sum(), y


@program(calls=CALLS, captured=False)
def a_closure_sees_a_variable_bound_again(x):
    k = 1

    def scaled(v):
        return v * k + x

    y = scaled(x) + x * 3 - x.mean()
    time.sleep(0)
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
    time.sleep(0)
    y = y * count() + x.mean() - c
    return y, c


@program(calls=CALLS, captured=False, COUNT=0)
def a_global_is_written_on_both_sides(x):
    global COUNT
    COUNT = COUNT + 1
    y = x * COUNT + x.mean() - 1
    time.sleep(0)
    COUNT += 10
    return y + COUNT * x - 2


@program(calls=CALLS, captured=False)
def an_unbound_variable_raises_where_it_is_read(x):
    if float(x.sum()) > 1e9:
        late = x
    time.sleep(0)
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
    time.sleep(0)
    del x
    try:
        x  # noqa: B018, F821
    except UnboundLocalError as e:
        message = str(e)
    return y * 2 + y - 1, message


@program(calls=CALLS, captured=False)
def a_walrus_in_a_header(x):
    if (m := float((x * 2 + x.mean() - 1).sum())) > -5:
        time.sleep(0)
        x = x * m + x - 1
    return x, m


# Tensors and containers that have several names -----------------------------------------------------------------------


@program(calls=CALLS, captured=False)
def two_names_of_one_tensor(x):
    a = b = x * 1 + 0 - 0
    time.sleep(0)
    a.add_(1.0)
    c = b * 2 + a - x
    time.sleep(0)
    b.mul_(2.0)
    return a is b, a, c


@program(calls=CALLS, captured=False)
def a_view_is_written_behind_the_break(x):
    y = x[0:1]
    y2 = y * 3 + x.mean() - 1
    time.sleep(0)
    y.add_(1.0)
    z = x * 2 + y2 - x.mean()
    time.sleep(0)
    x[1] = 7.0
    return x, y, z, y + z.sum() * 2 - 1


@program(calls=CALLS, captured=False)
def a_tensor_that_a_branch_chooses_is_written(x):
    y = x if x.sum() > 0 else x * 2
    time.sleep(0)
    y.add_(1.0)
    return x, y


@program(calls=CALLS, captured=False)
def one_dict_in_two_places(x):
    d = {"a": x, "n": 0}
    d["b"] = d["a"] * 2 + x.mean() - 1
    time.sleep(0)
    d["n"] += 1
    d["c"] = d["b"] + d["n"] * x - x.mean()
    both = [d, d]
    time.sleep(0)
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
    time.sleep(0)
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
        time.sleep(0)
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
                time.sleep(0)
                z = y * 2 - x + 1
            case (p, q):
                z = y * p + q * x - 1
            case int(n):
                time.sleep(0)
                z = y - n * x + 2
        found.append(z)
    return found


@program(calls=CALLS, captured=False)
def generators_and_comprehensions(x):
    ws = [x * i + 1 - x.mean() for i in range(3)]
    time.sleep(0)
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
        time.sleep(0)
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
        time.sleep(0)
        1 // 0
        y = y * 100 + 1 - x
    return y * 2 + x - 1


@program(calls=CALLS, captured=False)
def effects_before_an_error(x, log=LOG):
    y = x * 2 + x.mean() - 1
    time.sleep(0)
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
    time.sleep(0)
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
    time.sleep(0)
    return y * y - x


@program(calls=CALLS, grad=0, captured=False)
def a_break_in_what_is_called(x):
    y = x * 2 + x.mean() - 1
    z = helper(y)
    return (z * 2 + y - x.mean()).sum()


# Breaks inside expressions --------------------------------------------------------------------------------------------

ORDER = []


def told(value, name=""):
    """A foreign call: it is seen in which order such calls come."""
    ORDER.append((name, value if isinstance(value, int | float | str) else None))
    time.sleep(0)
    return value


@program(calls=CALLS, captured=False, ORDER=[])
def operands_in_order(x):
    y = (x * 2 + x.mean()) * told(2.0, "a") + (x - 1).sum() * told(3.0, "b") - x
    z = ops.clamp(y * 3, told(-4.0, "c"), told(5.0, "d"))
    return told(z * y - x.mean(), "e") + told(y, "f") * 2


@program(calls=CALLS, captured=False, ORDER=[])
def values_are_those_of_their_time(x):
    k = 1.0

    def other():
        nonlocal k
        k += 1
        time.sleep(0)
        return k

    y = x * k + x.mean() - k * other() + k * x
    return y * k + other() * y.sum() - k, k


SCALE = 2.0


def rescale(v):
    global SCALE
    SCALE = v
    time.sleep(0)
    return 1.0


@program(calls=CALLS, captured=False, SCALE=2.0)
def a_global_is_read_before_the_call_that_writes_it(x):
    y = (x * SCALE + x.mean()) + SCALE * rescale(5.0) + SCALE * x
    return y * SCALE - x.mean() * y


@program(calls=CALLS, captured=False, ORDER=[])
def what_is_evaluated_only_sometimes(x):
    a = x * 2 + x.mean() - 1 if told(True, "test") else told(x, "never")
    b = (a * 3).sum() + a.mean() > 0 and told(1, "and") or told(2, "or")
    c = told(0, "zero") or (a * b - x).mean()
    d = x.sum() > 100 and told(x, "not called")
    return a, b, c, d, (told(1, "left") if bool(x.sum() > 0) else told(2, "right")) * a


@program(calls=[(T([1.0, -2.0]), True), (T([1.0, -2.0]), False)] * 2, captured=False, SCALE=7.0, ORDER=[])
def what_only_later_statements_bind_is_an_error(x, is_early):
    y = (x * 2 + x.mean()).tanh()
    if told(is_early, "a"):
        return y * SCALE + y.exp().sum()  # noqa: F823 - not the global variable
    SCALE = y.exp() * y.mean()
    return y * SCALE


class Truth:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        ORDER.append("asked")
        return self.value


@program(calls=CALLS, captured=False, ORDER=[])
def each_truth_is_asked_once(x):
    y = x * 2 + x.mean() - 1
    if (Truth(True) and told(Truth(False), "a")) or Truth(told(1, "b") > 0):
        y = y * 3 - x + 1
    z = Truth(False) and told(1, "c")
    return y, type(z).__name__, not (Truth(True) and told(Truth(True), "d"))


@program(calls=CALLS, captured=False, ORDER=[])
def a_test_of_a_while(x):
    n, y = 0, x * 2 + x.mean() - 1
    while told(n, "test") < 4 and float((y * y).sum()) < 1e6:
        n += 1
        if n == 2:
            continue
        y = y * 1.5 + x - y.mean()
    while told(n, "second") > 0:
        n -= 2
        y = y - x * 0.5 + y.mean()
    else:
        y = y + 1
    return y, n


@program(calls=CALLS, captured=False, ORDER=[])
def targets_and_augmented_assignments(x):
    d, items = {"k": x * 0, "n": 0}, [0, 0, 0]
    d["k"] += (x * 2 + x.mean()) * told(2.0, "value")
    items[told(1, "index")] = (x * 3).sum() + x.mean() - 1
    d["n"] += told(5, "n")
    x += told(1.0, "x") * (x - x.mean())
    items[0], d[told("z", "key")] = (x * 2).sum() - x.mean(), told(7, "last")
    return d, items, x


@program(calls=CALLS, captured=False, ORDER=[])
def containers_keywords_and_texts(x):
    rest = [told(1, "rest")]
    y = x * 2 + x.mean() - 1
    made = {"a": (y * 3).sum() + 1, told("b", "key"): told(2, "v"), "c": [y.mean() - 1, *rest, told(3, "w")]}
    text = f"{told(4, 'f')}-{float((y * y).sum()):.3f}-{told(2.5, 'g'):{told('.2', 'spec')}}"
    print(*rest, (y * 2 + 1).mean(), sep=told("|", "sep"))
    return made, text, dict(p=(y - x).sum() * 2, q=told(6, "q"), **{"r": told(7, "r")})


@program(calls=CALLS, captured=False, ORDER=[])
def a_step_raises_half_way(x):
    seen = []
    try:
        y = (x * 2 + x.mean() - 1) * told(2.0, "a") + len(told(5, "b")) * x
    except TypeError as e:
        seen.append(str(e))
        y = x * 3 - x.mean() + 1
    finally:
        seen.append(told("finally", "c"))
        z = y * told(2.0, "d") - x.mean() * y
    return y + z, seen


@program(calls=CALLS, captured=False, COUNT=0)
def a_step_gives_other_types(x):
    global COUNT
    COUNT += 1
    y = (x * 2 + x.mean() - 1) * told([2, 2.5, True, np.float32(3.0), x][COUNT % 5], "v") + x
    return y.sum() * told([None, "text", (1, 2)][COUNT % 3], "w") if COUNT % 3 == 3 else (y, told(COUNT % 2 or None))


@program(calls=CALLS, captured=False)
def a_step_changes_its_argument(x):
    def change(v):
        time.sleep(0)
        v.add_(1.0)
        return v

    y = x * 2 + x.mean() - 1
    z = y * 3 + change(y) * y + y.sum() * change(x).mean() + x
    return x, y, z


@program(calls=CALLS, captured=False, ORDER=[])
def comprehensions_lambdas_and_walrus(x):
    f = lambda v: v * told(2.0, "in a lambda") + v.mean()  # noqa: E731
    ys = [f(x * i + 1) - told(i, "in a list") for i in range(3)]
    s = sum((y * 2).sum() * told(1.0, "lazily") for y in ys)
    t = (n := told(4, "walrus")) * (x * 2 + x.mean()) + n
    return ys, s, t, {told(i, "key"): (x * i).sum() for i in range(2)}, n


@program(calls=CALLS, captured=False, grad=0)
def gradients_through_parts(x):
    y = (x * 2 + x.mean()) * told(2.0) + ops.tanh(x) * told(0.5)
    return (y * y).sum() * told(3.0) + y.mean()


# What is called ----------------------------------------------------------------------------------------------------


def forward(x, y):
    h = ops.tanh(x * y + x.mean()) * 2
    time.sleep(0)
    return (h * h - y).sum() + told(1.0), h


gradients = ms.value_and_grad(forward, (0, 1), has_aux=True)


@program(calls=[(X, T([0.5, -1.0, 2.0]))] * 5, captured=False)
def the_function_of_a_gradient(x, y):
    z = x * 2 + y.mean() - 1
    (loss, h), (dx, dy) = gradients(z, y)
    return loss * 2 + h.mean() - 1, dx * 2 - dy + x, ms.grad(lambda v: forward(v, y)[0])(z)


class Meter:
    def __init__(self):
        self.total, self.seen = 0.0, []

    def update(self, value):
        self.seen.append(time.time() > 0)
        scaled = value * 2 + value.mean() - 1
        self.total += float(scaled.sum())
        return scaled * 3 - value


@program(calls=CALLS, captured=False)
def a_method_with_a_break(x):
    meter = Meter()
    y = x
    for _ in range(3):
        y = meter.update(y * 0.5 + x - 1) - x.mean()
    return y, meter.total, sorted(vars(meter)), len(meter.seen)


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner, self.last = Net(), nn.Dense(2, 2, weight_init="ones")

    def construct(self, x):
        y, n = self.inner(x * 2 - x.mean() + 1)
        return ops.tanh(self.last(y)) * told(2.0) + y.mean(), n


@program(T([[1.0, 2.0, 3.0]]), build=True, captured=False, grad=0, choice=True)
def a_cell_in_a_cell():
    net = Outer()
    net.inner.register_forward_hook(lambda cell, args, out: (out[0] * 2, out[1]))
    return net


# Generators ---------------------------------------------------------------------------------------------------------


def parts_of(x, n):
    try:
        for i in range(n):
            y = ops.tanh(x * i + x.mean()) * 2 - x
            got = yield y * y + x - 1
            if got is not None:
                x = x + told(got, "sent")
        return (x * 2 + x.mean() - 1).sum()
    finally:
        ORDER.append("closed")


@program(calls=CALLS, captured=False, ORDER=[])
def a_generator_is_called(x):
    total = x * 0
    for i, part in enumerate(parts_of(x, 4)):
        total = total + part * i - part.mean()
        if i == 2:
            break
    rest = parts_of(total, 3)
    first = next(rest)
    second = rest.send(2.0)
    rest.close()
    return total, first * 2 - second + x, list(ORDER)


@program(calls=CALLS, captured=False, ORDER=[])
def a_generator_passes_on(x):
    def outer(v):
        last = yield from parts_of(v * 2 - v.mean() + 1, 2)
        yield last * v + v.mean() - 1

    made = list(outer(x))
    thrown = parts_of(x, 3)
    next(thrown)
    try:
        thrown.throw(KeyError("thrown"))
    except KeyError as e:
        made.append(str(e))
    return made, told((x * 2).sum() - 1)


# Scopes of their own --------------------------------------------------------------------------------------------------


def noted(v, note=1.0):
    ORDER.append(time.time() and round(float(v.asnumpy().sum()), 3))
    return note


@program(calls=CALLS, captured=False, ORDER=[])
def a_comprehension_has_foreign_calls(x):
    k = "outer"
    parts = [ops.tanh(x * k + x.mean()) * noted(x * k) - x for k in (1.0, 2.0, 3.0) if noted(x, k) != 2.0]
    named = {f"{i}": (p * p + x).sum() * noted(p) for i, (p, *_) in enumerate([(x, 1), (parts[0], 2)])}
    empty = [(v * v).tanh() * noted(v) for v in []]
    return parts, named, empty, k, list(ORDER)


@program(calls=CALLS, captured=False, ORDER=[])
def a_comprehension_raises_half_way(x):
    try:
        made = [ops.tanh(x * k + x.mean()) * noted(x * k) / (1 // k) for k in (1, 0, 2)]
    except ZeroDivisionError as e:
        made = str(e)
    try:
        pairs = [(a * x).tanh() * noted(x) + b for a, b in ((1, 2), (3, 4, 5))]
    except ValueError as e:
        pairs = str(e)
    return made, pairs, list(ORDER), x * 2 + x.mean()


@program(calls=CALLS, captured=False, ORDER=[])
def comprehensions_in_comprehensions(x):
    rows = [[(x * i + j).tanh() * noted(x, 0.5) for j in range(2)] for i in range(2)]
    later = [lambda v, k=k: v * k * noted(v) for k in (2.0, 3.0)]
    return rows, [f(x) for f in later], sum((x * k).tanh() * noted(x) for k in range(3)), list(ORDER)


@program(calls=CALLS, captured=False, ORDER=[])
def a_default_value_is_foreign(x):
    y = ops.tanh(x * 2 + x.mean()) * x

    def scaled(v, by=noted(y, 2.0), *, plus=y.sum() * noted(x)):
        return v * by + plus

    return scaled(y) + scaled(x, 3.0), list(ORDER)


@program(calls=CALLS, captured=False, ORDER=[])
def a_lambda_has_a_foreign_call(x):
    return compiled_lambda(x), list(ORDER)


compiled_lambda = ms.jit(lambda x, k=2.0: ops.tanh(x * k + x.mean()) * noted(x) + (x * x).sum())


@program(calls=CALLS, captured=False)
def a_walrus_is_bound_when_its_statement_raises(x):
    d, values = 0, [1]
    try:
        values[2] = (d := x.mean() + 1) * 2 + x
    except IndexError:
        time.sleep(0)
    y = d * x
    try:
        c = values[5] = (x * x).tanh() + y
    except IndexError:
        time.sleep(0)
    return y * c, d
