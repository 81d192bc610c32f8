"""Statements other than branches and loops (syntax notes, section 3)."""

import contextlib

from duograph import ops
from tests.conformance.harness import T, program

X = T([1.0, 2.0])

COUNT, TOTAL, LOG, TABLE = 0, 0, [], {}  # each run sets its own values


@program(X)
def chain_and_annotated_assignment(x):
    a = b = x + 1
    c: int = 3
    d: float
    (e, f), [g, h] = (1, 2), [3, 4]
    return a, b, a is b, c, e, f, g, h


@program(X)
def delete_name_error(x):
    y = x
    del y
    return y


@program(X)
def delete_items(x):
    d, l = {"a": 1, "b": 2}, [1, 2, 3]
    del d["a"], l[0]
    return d, l


@program(X, "point")
def match_values(x, what):
    match what:
        case "line":
            return x
        case "point" | "dot":
            return x * 2
        case _:
            return None


@program(calls=[((1, X),), ({"kind": "a", "v": X},), ([1, 2, 3],), (5,), ("s",)])
def match_structure(value):
    match value:
        case (1, t):
            return "pair", t
        case {"kind": str(kind), **rest}:
            return kind, sorted(rest)
        case [first, *others]:
            return first, others
        case int(n) if n > 3:
            return n * 2
        case other:
            return other


@program(X, captured=False)
def try_except(x):
    try:
        y = x[10]
    except IndexError as error:
        return x, type(error).__name__
    return y


@program(X)
def try_else_finally(x):
    order = []
    try:
        y = x + 1
    except ValueError:
        order.append("except")
    else:
        order.append("else")
    finally:
        order.append("finally")
    return y, order


@program(X)
def try_python_exception(x):
    try:
        {}["a"]
    except (KeyError, ValueError) as error:
        return x * 2, str(error)


@program(X)
def try_finally_with_return(x):
    out = []
    try:
        return out, x
    finally:
        out.append(1)


@program(X)
def nested_try(x):
    seen = []
    for i in range(3):
        try:
            if i == 1:
                raise ValueError(i)
            seen.append(i)
        except ValueError as error:
            seen.append(error.args)
            continue
        finally:
            seen.append("f")
    return seen


class Wrong(Exception):
    """An exception of one's own."""

    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


@program(X)
def raise_own_exception_error(x):
    raise Wrong(x.shape[0])


@program(X)
def raise_standard_exception_error(x):
    raise TypeError("always", (3,))


@program(X)
def raise_from_error(x):
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise RuntimeError("outer") from error


@program(X)
def exception_caught_above(x):
    def check(v):
        if v.ndim != 2:
            raise Wrong(7)
        return v

    try:
        return check(x)
    except Wrong as error:
        return error.code


@program(X)
def assert_constant_error(x):
    assert x.ndim == 2, f"rank {x.ndim}"
    return x


@program(X)
def assert_passes(x):
    assert x.ndim == 1
    assert x.sum() > 0
    return x


class Recorder:
    def __init__(self):
        self.events = []

    def __enter__(self):
        self.events.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.events.append(kind.__name__ if kind else "exit")
        return kind is ValueError


@program(X)
def with_class(x):
    recorder = Recorder()
    with recorder as r:
        y = x * 2
        r.events.append("body")
    return y, recorder.events


@program(X)
def with_swallows_exception(x):
    recorder = Recorder()
    with recorder:
        raise ValueError("gone")
    return x, recorder.events


@contextlib.contextmanager
def doubled(x, log):
    log.append("in")
    yield x * 2
    log.append("out")


@program(X)
def with_generator_context(x):
    log = []
    with doubled(x, log) as y, contextlib.nullcontext(3) as n:
        z = y * n
    return z, log


@program(X)
def with_suppress(x):
    with contextlib.suppress(KeyError):
        {}["a"]
    return x


@program(X)
def import_inside(x):
    import math
    from os import path as p

    return x * math.pi, p.join("a", "b")


@program(X, COUNT=1)
def global_write(x):
    global COUNT
    COUNT += 2
    return x * COUNT


@program(calls=[(X,), (X,), (X,)], TOTAL=0)
def global_counter(x):
    global TOTAL
    TOTAL = TOTAL + 1
    return TOTAL, x + TOTAL


@program(X, LOG=["a"])
def global_list(x):
    LOG.append("b")
    LOG.reverse()
    return len(LOG)


@program(X, TABLE={})
def global_dict_of_tensors(x):
    TABLE["x"] = x * 2
    TABLE.setdefault("n", 0)
    return TABLE["x"] + 1


@program(X)
def nonlocal_write(x):
    n = 0

    def step(v):
        nonlocal n, x
        n += 1
        x = x + v
        return n

    return step(1), step(2), n, x


@program(X, captured=False)
def class_inside(x):
    class Scale:
        factor = 3

        def __call__(self, v):
            return v * self.factor

    return Scale()(x)


@program(X)
def docstring_pass_ellipsis(x):
    """A docstring."""
    pass
    ...
    "another string"
    return x


@program(X)
def print_forms(x):
    print("a", 1, 2.5, None, True, (1, "b"), [x.shape], sep="|", end="!\n")
    print()
    print(f"{x.shape[0]:>3}")
    return x


@program(X, captured=False)
def print_tensors(x):
    print(x, x.sum(), [x], x.astype("int32") if False else x > 1)
    y = ops.exp(x * 0)
    print("y =", y)
    return y


@program(X)
def missing_name_error(x):
    return x + undefined_name  # noqa: F821


@program(X)
def missing_attribute_error(x):
    return x.no_such_attribute


@program(X)
def lambda_and_conditional_expression(x):
    f = lambda v, k=2: v * k if k > 1 else v
    return f(x), f(x, k=1), (lambda *a: len(a))(1, 2)


@program(X)
def multiple_targets_and_star(x):
    a, *b, c = range(5)
    [d, e] = x
    return a, b, c, d, e


@program(X)
def comprehension_scopes(x):
    i = 10
    values = [i * i for i in range(3)]
    return i, values, [(a, b) for a in "ab" for b in range(2) if b or a == "a"]


@program(X)
def dict_and_set_comprehensions(x):
    return {k: x * k for k in range(3)}, {n % 3 for n in range(7)}, {k: v for k, v in zip("ab", [1, 2])}


@program(X)
def generator_expression(x):
    g = (x * k for k in range(3))
    first = next(g)
    return first, list(g), sum(n for n in range(4)), any(n > 2 for n in range(4))


def _leaves_finally(x, n, seen):
    for i in range(4):
        try:
            x = x * 2
            if i == n:
                return x + 100
        finally:
            seen.append(i)
            if i == 1 and n == 1:
                continue
            if i > 2:
                break
            x = x + 1
    try:
        return x - 1
    finally:
        if n > 2:
            return x, seen


@program(calls=[(T([1.0, -2.0]), n) for n in range(6)])
def finally_clauses_that_some_paths_leave(x, n):
    seen = []
    return _leaves_finally(x, n, seen), seen


@program(calls=[(T([1.0, -2.0]), n) for n in range(4)])
def finally_clause_that_always_leaves(x, n):
    try:
        x = x * 2
        1 // n
    finally:
        x = x + n
        return x


@program(calls=[(T([1.0, -2.0]), n) for n in range(6)])
def names_inside_of_chained_comparisons(x, n):
    if 0 < (m := n - 1) < 3 and (k := m * 2):
        return x * m + k
    y = 1 if -1 < m < n < 9 else 2
    while 2 < (m := m - 1) < 9:
        x = x * m
    return x * y, m, (n or m) or x, n > 3 and (z := x + 1)


def _matched(value, x, flag):
    match value:
        case 1 | 2 if not flag:
            return x + 1
        case [1, b] if flag:
            return x * b
        case _ if not flag:
            return -x
    return x


@program(calls=[(T([1.0, -2.0]), flag) for flag in (False, True)])
def guards_that_say_not(x, flag):
    return [_matched(value, x, flag) for value in (1, 2, [1, 3], [2, 3], None)]


@program(X, build=True)
def augmented_attribute_of_what_a_call_gives():
    """The object is evaluated once, and its attribute read once: both may have effects."""

    class Told:
        def __init__(self):
            self.__dict__["reads"] = []
            self.__dict__["n"] = 1

        def __getattr__(self, name):
            self.reads.append(name)
            return len(self.reads)

    told, calls = Told(), []
    stack = [told] * 4

    def found():
        calls.append(len(stack))
        return told

    def run(x):
        found().n += 2
        stack.pop().n += 3
        told.missing += 1
        return x * told.n, list(calls), list(told.reads), len(stack)

    return lambda x: (run(x), run(x))


class _Base:
    n = 1


class _Derived(_Base):
    pass


@program(calls=[(X, 1), (X, 2), (X, 1), (X, 2)], captured=False)
def delete_what_a_base_class_has_too(x, k):
    held = _Derived()
    _Derived.n = held.n = k + 4
    if k == 2:
        del _Derived.n
    y = x * _Derived.n
    del held.n
    _Base.m = k
    _Derived.m = 5
    del _Derived.m
    return y, held.n, _Derived.m


@program(calls=[(X, 1), (X * 3, 2)], captured=False)
def endless_loop_with_an_else_between_breaks(x, n):
    out = []
    for i in range(n):
        while True:
            x = x + 1
            if x.sum() > 9:
                break
        else:
            out.append("never")
        out.append(len(f"{id(out)}") * i * 0)
        print("at", i)
    return x, out
