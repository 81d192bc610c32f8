"""Exceptions are effects: they come where eager's come, whether anybody reads the result or not, and once.

Numbers vary from call to call, so that they become inputs of the program; the first call is never the one that raises.
"""

import contextlib
import dataclasses

import duograph as ms
from duograph import Tensor, ops
from tests.conformance.harness import T, program

X = T([1.0, 2.0, 3.0])
NUMBERS = [(X, k) for k in (2, 1, 3, 0, 5, -1, 9, 2)]
SIGNS = [(X, 2), (-X, 2), (X, 3), (-X, 3), (X, 1)]

LOG, TABLE, COUNT = [], {}, 0  # each run sets its own values


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 0, []


class Noting:
    def __init__(self):
        object.__setattr__(self, "log", [])

    def __setattr__(self, name, value):
        self.log.append(name)
        object.__setattr__(self, name, value)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: list


@program(calls=NUMBERS)
def unused_division_error(x, k):
    1 // k
    return x * 2


@program(calls=NUMBERS)
def caught_division_of_an_unused_result(x, k):
    try:
        k // 0 if k == 5 else k % (k - 3)
    except ZeroDivisionError:
        k = k + 1
    return x * 1, k


@program(calls=NUMBERS)
def unused_divmod_error(x, k):
    divmod(k, k - 3)
    return x + k


@program(calls=NUMBERS)
def unused_shift_error(x, k):
    1 << k
    return x * (8 >> k)


@program(calls=NUMBERS, captured=False)
def power_of_another_kind(x, k):
    return 2 ** (k - 1), x * 2 ** (k - 1), (k - 4) ** 0.5


@program(calls=NUMBERS)
def unused_element_error(x, k):
    x[k]
    return x + 1


@program(calls=NUMBERS)
def caught_element(x, k):
    try:
        x[k]
    except IndexError:
        k = 0
    return x * k


@program(calls=NUMBERS)
def write_to_an_unused_tensor_error(x, k):
    y = x * 2
    y[k] = 0
    return x


@program(calls=[(X, T([1])), (X, T([2])), (X, T([9])), (X, T([0]))])
def unused_gather_error(x, i):
    ops.gather(x, i, 0)
    return x - 1


@program(calls=[(X, 2.0), (X, 3.0), (X, float("nan")), (X, float("inf")), (X, 4.0)])
def unused_conversion(x, k):
    try:
        int(k)
    except ValueError:
        return "nan", x
    except OverflowError:
        return "inf", x
    return "fine", x


@program(calls=[(X,), (X / 0,), (X * float("nan"),), (X,)])
def unused_conversion_of_a_tensor_error(x):
    int(x.sum())
    return x * 0


@program(calls=NUMBERS)
def look_ups_error(x, k):
    return x, "abcdef"[k], {0: 1, 1: 2, 2: 3, 3: 4}[k], [1, 2, 3, 4][k]


@program(calls=NUMBERS, LOG=[])
def effects_around_an_exception_error(x, k):
    LOG.append("in")
    print("before", k)
    y = 10 // k
    print("after", y)
    LOG.append(y)
    return x * y


@program(calls=NUMBERS, LOG=[])
def every_clause(x, k):
    try:
        LOG.append("try")
        print("try", k)
        y = 10 // k
        print("fine", y)
    except ZeroDivisionError as error:
        print("caught", error)
        y = -1
        LOG.append("except")
    else:
        LOG.append("else")
    finally:
        print("finally")
        LOG.append("finally")
    return x * y


@program(calls=NUMBERS, LOG=[])
def nested_handlers(x, k):
    try:
        try:
            return x[k]
        finally:
            LOG.append("inner")
    except IndexError as error:
        try:
            1 // (k - 9)
        except ZeroDivisionError as second:
            return type(second.__context__).__name__, x
        return type(error).__name__, x
    finally:
        LOG.append("outer")


@program(calls=NUMBERS, LOG=[])
def suppressed(x, k):
    with contextlib.suppress(ZeroDivisionError):
        LOG.append(10 // k)
    return x


@program(calls=NUMBERS, LOG=[])
def assertions_error(x, k):
    LOG.append(1)
    assert k > 0, f"k={k}"
    assert (x * k < 20).all(), "large"
    return x


@program(calls=NUMBERS)
def in_a_loop_error(x, k):
    y = x * 2
    while x.sum() < 50:
        x = x * 2
        y[k]
        int(y.sum())
    return x


@program(calls=NUMBERS, choice=True)
def in_the_test_of_a_loop_error(x, k):
    while x[k] < 50 and 100 // k > 1:
        x = x * 2
    return x


@program(calls=[(X, 2), (-X, 2), (X, 3), (-X, 0), (X, 0), (-X, 9), (X, 9)], choice=True)
def in_one_branch_error(x, k):
    if x.sum() > 0:
        x[k]
        y = x
    else:
        6 // k
        y = -x
    return y


@program(calls=NUMBERS)
def in_recursion_error(x, k):
    def times(n, v):
        v[k]
        return v if n <= 0 else times(n - 1, v * 2)

    return times(2, x)


@program(calls=NUMBERS, grad=0)
def in_a_gradient_error(x, k):
    x[k]
    return (x * x).sum() + x[0] * k


@program(calls=NUMBERS)
def around_an_inner_gradient_error(x, k):
    def loss(v):
        v[k]
        return (v * v * v).sum()

    return ms.grad(loss)(x)


@program(calls=NUMBERS)
def formats_that_no_number_fits_error(x, k):
    if k == 3:
        f"{k:zz}"
    return x, f"{k:>4d}"


@program(calls=SIGNS, choice=True, TABLE={"log": [], "n": 0})
def effects_after_a_fork(x, k):
    def inner(q):
        return q, x[...].T

    v = inner(x)[1]
    total = int(x.sum())
    if total > 1:
        v = ops.count_nonzero(v) + x
    TABLE["log"].append(total)
    TABLE["n"] += k
    return v


@program(calls=SIGNS, TABLE={})
def containers_first_met_on_one_path(x, k):
    if x.sum() > 0:
        TABLE.setdefault("a", []).append(k)
        y = None
    else:
        y = x
    TABLE.setdefault("b", []).append(k)
    return y


@program(calls=SIGNS, COUNT=0)
def global_counter_on_paths(x, k):
    global COUNT
    COUNT += 1
    if x.sum() > 3:
        COUNT += 10
        return None
    return x, COUNT


@program(calls=SIGNS)
def slots_on_paths(x, k):
    s = Slots()
    if x.sum() > 0:
        s.a = 1
        s.b.append(1)
        y = x
    else:
        s.a = 2
        s.b.append(2)
        y = None
    return s.a, s.b, y


@program(calls=SIGNS, build=True)
def attribute_hook_of_the_user():
    kept = Noting()

    def f(x, k):
        if x.sum() > 0:
            kept.z = k
        else:
            kept.y = x.sum()
        return len(kept.log), kept.log

    return f


@program(calls=SIGNS)
def frozen_fields(x, k):
    made = Frozen(k, [])
    if x.sum() > 0:
        object.__setattr__(made, "a", 5)
        made.b.append(1)
    return made.a, made.b


@program(calls=[(T([1.0]), 2), (T([4.0]), 3), (T([9.0]), 3)], LOG=[])
def effects_in_the_test_of_a_loop(x, k):
    n = 0
    while (y := (x * 2).sum()) < 20:
        x = x + 1
        n += 1
        print("at", n)
    LOG.append(n)
    return y


@program(calls=NUMBERS, LOG=[], captured=False)
def recursion_with_effects(x, k):
    def down(n):
        LOG.append(n)
        return 0 if n <= 0 else down(n - 1) + 1

    return down(k), x


@program(calls=NUMBERS)
def exception_with_a_run_time_message_error(x, k):
    if k == 3:
        raise ValueError(f"bad {k}", Tensor([1.0]).sum())
    return x[k - 1]


@program(calls=[(T([1.0, 2.0]), 2), (T([3.0, 2.0]), 3), (T([5.0, 2.0]), 1), (T([7.0, 2.0]), 4)])
def write_after_an_error(x, k):
    y = 0 ** (k - 2)
    x[1] = 1
    return y


@program(calls=NUMBERS, captured=False)
def texts_as_keys(x, k):
    return {f"{k}": k, repr(x): 1}


@program(calls=[(X, 1), (X, 2), (X, 7), (X, 0)])
def unused_element_before_a_print_error(x, k):
    x[T([1, 1]) + k]
    print(x, end=";")


@program(calls=NUMBERS)
def element_used_after_a_print_error(x, k):
    y = x[k]
    print("between", k)
    if x.sum() > 0:
        z = 12 // k
        print("in the branch")
    return y * z


@program(calls=[(X, T(3.0)), (-X, T(3.0)), (X, T(0.0)), (-X, T(0.0))], COUNT=0, TABLE={})
def writes_of_one_path_are_none_of_the_others(x, y):
    global COUNT
    kept = [2]
    try:
        if not y:
            raise ValueError
    except ValueError:
        y.add_(5)
        COUNT = 7
        TABLE[1] = 2
    if x.sum() > 0:
        kept[0] = x
        COUNT += 1
    if x[0] > 0:
        kept[0] = 1


@program(calls=[(X, T(3.0)), (-X, T(3.0)), (X, T(0.0)), (-X, T(0.0))], grad=0)
def gradients_through_nested_paths(x, y):
    z = x * 2
    if y > 0:
        if x.sum() > 0:
            z = z * x
        else:
            z = z + x
    else:
        z = x * x * y if x[0] > 0 else x
    return (z * z).sum()


@program(X)
def prints_in_a_loop_before_an_error(x):
    n = 0
    while x.sum() < 1000:
        print("at", n, x)
        x = x * 2
        n += 1
        x[n]
    return x


def told(step, n, k):
    """What ends a loop of the graph, with what it holds besides its arguments."""
    try:
        while n > 0:
            n = n - 1
            if n == 1:
                step(n, k)
    except (AttributeError, ValueError, StopIteration) as error:
        cause = error.__cause__
        held = getattr(error, "obj", None), getattr(error, "value", None), getattr(cause, "args", None)
        return type(error).__name__, error.args, held
    return n * 1


COUNTED = [(T(2), 3), (T(0), 4), (T(1), 5), (T(3), 6), (T(3), 7)]


@program(calls=COUNTED)
def an_attribute_that_a_number_lacks_in_a_loop(n, k):
    return told(lambda n, k: (n * k % 3).nothing, n, k)


@program(calls=COUNTED)
def an_attribute_that_an_int_lacks_in_a_loop(n, k):
    return told(lambda n, k: (k % 3).nothing, n, k)


@program(calls=COUNTED)
def an_error_from_another_in_a_loop(n, k):
    def step(n, k):
        raise ValueError(k) from KeyError(n * k)

    return told(step, n, k)


@program(calls=COUNTED)
def a_generator_that_ends_in_a_loop(n, k):
    def given():
        yield 1
        return n * k

    def step(n, k):
        g = given()
        next(g), next(g)

    return told(step, n, k)


@program(calls=COUNTED)
def an_attribute_that_an_int_lacks_error(n, k):
    while n:
        (k % 3).nothing
        n = n - 1
    return n * 1


@program(calls=COUNTED)
def an_error_from_another_error(n, k):
    while n:
        if n == 1:
            raise ValueError(k) from KeyError(n * k)
        n = n - 1
    return n * 1
