"""Functions, closures, recursion, generators (syntax notes, section 4; control-flow notes, section 5)."""

import functools
import itertools
import math
import operator

from duograph import ops
from tests.conformance.harness import T, program

X, Y = T([1.0, 2.0]), T([3.0, 4.0])


def scale(x, by=2, *rest, offset=0, **more):
    """Every kind of parameter but one."""
    return x * by + offset + sum(rest) + sum(more.values())


@program(X, grad=0)
def defaults_and_keywords(x):
    return scale(x) + scale(x, 3) + scale(x, 3, 4, 5, offset=1, z=7) + scale(by=1, x=x)


@program(X)
def call_with_star_arguments(x):
    args, kwargs = (x, 2), {"offset": 5}
    return scale(*args, **kwargs), scale(*[x], *(3, 4)), scale(x, **{"by": 1}, **{"q": 2})


def positional(a, b, /, c, *, d=1):
    return a + b * 2 + c * 3 + d * 4


@program(X)
def positional_only(x):
    return positional(x, 1, 2), positional(x, 1, c=2, d=3)


@program(X)
def wrong_arguments_error(x):
    return positional(x, c=1)


@program(X, grad=0)
def nested_function(x):
    def inner(v):
        return v * x + 1

    return inner(x) + inner(2)


@program(X)
def closure_by_reference(x):
    n = 1

    def read():
        return n

    first = read()
    n = 5
    return first, read(), x


@program(X)
def closures_in_a_loop_see_the_last_value(x):
    fs = [lambda: i for i in range(3)]
    gs = [lambda i=i: i for i in range(3)]
    return [f() for f in fs], [g() for g in gs], x


@program(X)
def three_levels_of_closures(x):
    def a(u):
        def b(v):
            def c(w):
                return x + u + v + w

            return c

        return b

    return a(1)(2)(3)


@program(X)
def counter_closure(x):
    def make():
        count = 0

        def step():
            nonlocal count
            count += 1
            return count

        return step

    one, two = make(), make()
    return one(), one(), two(), one(), x


@program(X, captured=False)
def function_is_returned(x):
    def add(v, n=2):
        return v + n

    return add


@program(X, ops.relu)
def operator_as_argument(x, fn):
    return fn(x - 1.5), (lambda f, v: f(f(v)))(fn, x)


@program(X, grad=0)
def higher_order(x):
    def compose(f, g):
        return lambda v: f(g(v))

    return compose(lambda v: v * v, lambda v: v + 1)(x)


@program(X, grad=0)
def partial_functions(x):
    f = functools.partial(scale, offset=3)
    g = functools.partial(scale, x, 2)
    return f(x, 2) + g()


@program(X)
def reduce_and_operator(x):
    total = functools.reduce(lambda a, b: a + b, [x, x * 2, x * 3])
    return total, operator.add(x, 1), operator.itemgetter(1)([1, 2]), functools.reduce(operator.mul, [1, 2, 3], x)


@program(X)
def itertools_functions(x):
    return (
        list(itertools.chain([x], [x + 1])), list(itertools.product("ab", [1])), list(itertools.accumulate([1, 2, 3])),
        list(itertools.islice(itertools.count(2), 3)), list(itertools.zip_longest([1, 2], [3])),
    )  # fmt: skip


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs) * 10

    return wrapper


@logged
def decorated(x):
    return x + 1


@program(X, grad=0)
def decorated_callee_runs_the_wrapper(x):
    return decorated(x)


@functools.lru_cache
def cached(n):
    return n * n


@program(calls=[(X, False), (X, False), (X, True)], captured=False)
def cached_callee_counts_its_calls(x, asked):
    if asked:
        info = cached.cache_info()
        cached.cache_clear()
        return info
    return x * cached(3) + cached(3)


SEEN = []


@functools.lru_cache(maxsize=2)
def recent(n):
    return n + len(SEEN)


@program(calls=[(X, 1), (X, 2), (X, 1), (X, 3), (X, 1), (X, 2), (X, 0)], captured=False, SEEN=[])
def cached_callee_forgets_what_was_used_least(x, n):
    SEEN.append(n)
    if n == 0:
        info = recent.cache_info()
        recent.cache_clear()
        return x, info
    return x * recent(n), recent(1)


_root = functools.lru_cache(math.sqrt)


@program(calls=[(X, False), (X, False), (X, True)], captured=False)
def cached_builtin_function_counts_its_calls(x, asked):
    if asked:
        info = _root.cache_info()
        _root.cache_clear()
        return info
    return x * _root(4.0) * _root(4.0)


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


@program(X)
def recursion_constant(x):
    return x * factorial(5)


@program(T(5), captured=False)
def recursion_fact_tensor(n):
    return factorial(n)


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@program(T(10))
def fibonacci_tensor(n):
    return fibonacci(n)


@program(X)
def fibonacci_constant(x):
    return fibonacci(10), x


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@program(calls=[(T(4),), (T(7),)])
def mutual_recursion(n):
    return is_even(n)


def power_tower(x, n):
    if n == 0:
        return x
    return power_tower(x * x, n - 1) + x


@program(T(1.1), 3, grad=0)
def recursion_with_gradient(x, n):
    return power_tower(x, n)


def halve(x):
    if x.sum() < 1:
        return x
    return halve(x / 2) * 1.5


@program(T([8.0, 3.0]), grad=0)
def recursion_on_value_with_gradient(x):
    return halve(x)


def endless(x):
    return endless(x + 1)


@program(X, captured=False)
def infinite_recursion_error(x):
    return endless(x)


def pairs(x):
    for i in range(3):
        received = yield i, x * i
        if received:
            yield "got", received


@program(X)
def generator_function(x):
    return [p for p in pairs(x)], next(pairs(x)), sum(i for i, _ in pairs(x))


@program(X)
def generator_send_and_close(x):
    g = pairs(x)
    first = next(g)
    reply = g.send("hello")
    g.close()
    return first, reply, list(g)


def flatten(items):
    for item in items:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item


@program(X)
def generator_yield_from(x):
    return list(flatten([1, [x, [3]], 4]))


@program(X)
def map_filter_zip(x):
    return (
        list(map(lambda v: v * 2, [x, 1])), list(filter(None, [0, 1, 2])), list(filter(lambda n: n > 1, [1, 2])),
        list(zip([1, 2], "ab")), list(map(lambda a, b: a + b, [1, 2], [3, 4])), list(enumerate("ab", 1)),
    )  # fmt: skip


@program(X)
def early_return_none(x):
    def f(v):
        if v is None:
            return
        return v * 2

    return f(None), f(x)


@program(X)
def mutable_default_argument(x):
    def f(v, acc=[]):
        acc.append(v)
        return len(acc)

    return f(1), f(2), f(3), x


@program(X)
def default_evaluated_once(x):
    n = 2

    def f(v, k=n):
        return v * k

    n = 100
    return f(x)


@program(X)
def recursion_inside(x):
    def depth(t):
        return 1 + max([depth(i) for i in t], default=0) if isinstance(t, list) else 0

    return depth([1, [2, [3]]]), x


@program(X, build=True)
def closure_over_tensor():
    weight = T([2.0, 5.0])

    def f(x):
        return x * weight

    return f


@program(calls=[(X,), (X,)], build=True)
def closure_state_between_calls():
    state = {"n": 0}

    def f(x):
        state["n"] += 1
        return x * state["n"]

    return f


@program(X, build=True)
def lambda_program():
    return lambda x, k=3: x * k


@program(X, build=True)
def partial_program():
    return functools.partial(scale, by=4)


class Model:
    """A plain class with every kind of member."""

    factor = 3

    def __init__(self, bias):
        self.bias = bias
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.apply(x)

    def apply(self, x):
        return x * self.factor + self.bias

    @property
    def double(self):
        return self.bias * 2

    @staticmethod
    def twice(x):
        return x * 2

    @classmethod
    def plain(cls):
        return cls(0)

    def __add__(self, other):
        return Model(self.bias + other.bias)

    def __eq__(self, other):
        return self.bias == other.bias

    def __bool__(self):
        return self.bias > 0


class Deeper(Model):
    def apply(self, x):
        return super().apply(x) + self.double


@program(X, grad=0)
def plain_class_inside(x):
    m = Model(1)
    d = Deeper(2)
    return m(x) + d(x) + Model.twice(x) + Model.plain()(x) + (m + d).bias


@program(X)
def plain_class_protocols(x):
    m = Model(1)
    return m == Model(1), bool(Model(0)), m.calls, Deeper.factor, isinstance(Deeper(1), Model), type(m).__name__


@program(X, Model(5))
def instance_argument_is_changed(x, m):
    m.bias = 7
    m.extra = x
    return m(x)


@program(calls=[(X,), (X,)], build=True)
def bound_method_program():
    return Model(2).__call__


@program(X)
def instance_with_tensor(x):
    m = Model(x * 2)
    m.bias = m.bias + 1
    return m(x), m.bias


@program(X)
def setattr_getattr(x):
    m = Model(1)
    setattr(m, "bias", 4)
    return getattr(m, "bias"), getattr(m, "nope", 9), hasattr(m, "nope"), hasattr(m, "bias"), x


def _keeps(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        """Of the wrapper.

        deep
        """
        return fn(*args) * 2

    return wrapper


@program(T([1.0, -2.0]))
def docstrings_of_what_is_defined_inside(x):
    def several(y):
        """First

            deep
        end
        """
        return y

    def none(y):
        return y

    def text(y):
        f"no {y}"
        return y

    @_keeps
    def wrapped(y):
        "of the function"
        return y

    return wrapped(x), [fn.__doc__ for fn in (several, none, text, wrapped, lambda: "no")]


@program(T([1.0, -2.0]), captured=False)
def docstrings_of_a_class_made_inside(x):
    class Made:
        "of the class"

        def method(self):
            "of the method"
            return x * 2

    made = Made()
    return made.method(), Made.__doc__, Made.method.__doc__, made.method.__doc__
