"""``id()``, which tells objects apart, and other questions about objects and the process: by guards, or refused."""

import contextvars
import inspect
import math
import os
import string
import sys
import types
import typing

import numpy as np

from duograph import nn
from tests.conformance.harness import T, program

X = T([1.0, -2.0, 3.5])
CALLS = [(X, n) for n in (2, 3, 2, 4, 3, 5)]


class Thing:
    limit = 3


ONE, OTHER = Thing(), Thing()


@program(calls=CALLS)
def numbers_of_outside_objects(x, n):
    here = {id(ONE): x, id(OTHER): x * n}
    return here[id(OTHER)] + here[id(ONE)], id(ONE) == id(ONE), id(ONE) != id(OTHER), id(x) in here, id(ONE) in [id(x)]


FIRST, SECOND = [1], [1]


@program(calls=[(X, FIRST, SECOND), (X, FIRST, FIRST), (X, SECOND, FIRST), (X, FIRST, SECOND)])
def numbers_of_equal_lists(x, a, b):
    return x * (2 if id(a) == id(b) else 3), len({id(a), id(b), id(a)})


@program(calls=[(X, X), (X, T([1.0, -2.0, 3.5])), (X, X)])
def numbers_of_tensors(x, y):
    z = y
    return x + y, id(x) == id(y), id(z) == id(y), id(x * 1) == id(x)


@program(calls=CALLS, build=True)
def parameters_counted_once():
    net = nn.Dense(3, 2, weight_init="ones")

    def count(x, n):
        seen, total = set(), 0
        for p in [net.weight, net.bias, net.weight]:
            if id(p) not in seen:
                seen.add(id(p))
                total += n
        return net(x[None]) * total

    return count


@program(calls=CALLS)
def a_memo_by_number(x, n):
    memo = {}

    def walk(value):
        if id(value) in memo:
            return memo[id(value)]
        memo[id(value)] = made = [walk(v) for v in value] if isinstance(value, list) else value
        return made

    inner = [x, x * n]
    return walk([inner, inner])


@program(calls=CALLS)
def a_number_is_kept(x, n):
    ONE.at = id(ONE)
    return x * n, ONE.at == id(ONE), [id(ONE)].index(ONE.at)


@program(calls=CALLS, captured=False)
def a_number_is_used_as_one(x, n):
    return x * n, isinstance(id(ONE), int), id(ONE) % 1, len(f"{id(ONE)}") > 3, hash(id(ONE)) == hash(id(ONE))


@program(calls=CALLS, captured=False, build=True)
def numbers_in_outside_tables():
    seen, known = set(), {}

    def look(x, n):
        if id(ONE) not in known:
            known[id(ONE)] = n
        is_new = id(OTHER) not in seen
        seen.add(id(OTHER))
        return x * known[id(ONE)], is_new, len(seen)

    return look


@program(calls=CALLS, captured=False)
def the_number_of_what_is_gone(x, n):
    first = Thing()
    at = id(first)
    first = n
    second = Thing()
    return x * n, at in {id(ONE)}, id(second) == id(ONE)


@program(calls=CALLS)
def a_number_after_paths(x, n):
    kept = id(ONE) if x.sum() > n else id(OTHER)
    while x.sum() < 10:
        x = x + 1
    return x, kept == id(ONE), kept == id(OTHER)


def told(a, b=2, *rest, c=3, **named):
    return a * b + c


@program(calls=CALLS)
def signatures(x, n):
    shown = inspect.signature(told).parameters
    inner = inspect.signature(lambda q, r=n: q).parameters
    only = [name for name, p in shown.items() if p.kind is p.KEYWORD_ONLY]
    defaults = [p.default for p in shown.values() if p.default is not inspect.Parameter.empty]
    return told(x, **{k: n for k in ("b", "z", "c") if k in shown}), only, defaults, inner["r"].default, len(shown)


def changing(a, b=2):
    return a * b


@program(calls=CALLS, captured=False)
def a_signature_that_changes(x, n):
    changing.__defaults__ = (n,) if n != 4 else None
    shown = inspect.signature(changing).parameters
    return x, shown["b"].default is shown["b"].empty, str(inspect.signature(changing))


LEVEL: contextvars.ContextVar[int] = contextvars.ContextVar("LEVEL", default=3)
UNSET: contextvars.ContextVar[int] = contextvars.ContextVar("UNSET")


@program(calls=CALLS)
def a_context_variable(x, n):
    try:
        UNSET.get()
    except LookupError:
        return x * LEVEL.get() + UNSET.get(n)
    return x


@program(calls=CALLS, captured=False)
def a_context_variable_that_is_set(x, n):
    before = LEVEL.set(n)
    try:
        return x * LEVEL.get()
    finally:
        LEVEL.reset(before)


@program(calls=CALLS)
def the_environment(x, n):
    try:
        return x, os.environ["NO_SUCH_NAME"]
    except KeyError as error:
        return x * n, str(error), "PATH" in os.environ, "NO_SUCH_NAME" in os.environ


@typing.runtime_checkable
class Runs(typing.Protocol):
    def run(self): ...


class Runner:
    def run(self):
        return 1


@program(calls=CALLS)
def an_object_of_a_protocol(x, n):
    return x * n if isinstance(Runner(), Runs) else x


@program(calls=CALLS, captured=False)
def an_object_of_no_protocol_any_more(x, n):
    if n == 4:
        Runner.run, Runner.kept = None, Runner.run
    elif n == 5:
        Runner.run = Runner.kept
    return x, isinstance(Runner(), Runs), isinstance(ONE, Runs)


class Meta(type):
    @property
    def size(cls):
        return cls.base * 2


class Sized(metaclass=Meta):
    base = 3


@program(calls=CALLS)
def a_property_of_a_class(x, n):
    return x * Sized.size + n


@program(calls=CALLS)
def errors_of_numpy_ignored(x, n):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = x / 0
        k = float((np.array([1.0, 3.0]) * 2).sum())
    return y, x * k * n


@program(calls=CALLS, captured=False)
def errors_of_numpy_used_otherwise(x, n):
    with np.errstate(all="ignore"):
        a, state = np.array([1.0, 0.0]) / 0, np.geterr()["over"]

    @np.errstate(over="ignore")
    def scaled(v):
        return v * n

    with np.errstate(all="raise"):
        try:
            return scaled(x) * float(np.float64(1) / np.float64(n - 2)), state, float(a[0])
        except FloatingPointError as error:
            return x, str(error)


@program(calls=[*CALLS, (T([math.inf, 1.0]), 2), (T([math.nan, 1.0]), 2), (T([-math.inf]), 3)])
def numbers_that_are_close(x, n):
    s = x.sum().item()
    near = math.isclose(s, n), math.isclose(s, s + 1e-12), math.isclose(s, n, rel_tol=0.5)
    return near, math.isclose(s, math.inf, abs_tol=1e9), math.isclose(s, -s), math.isclose(s, 3, abs_tol=math.inf)


@program(calls=CALLS)
def templates_and_views(x, n):
    view = types.MappingProxyType({"a": x, "b": n})
    text = string.Template("$a ${b}").substitute(a=n, b=sys.intern("q" * 2))
    return text, [v * 2 for v in view.values()], list(view.items())[1]


@program(calls=CALLS, captured=False)
def lines_for_stderr_and_an_error(x, n):
    print("n", n, x, file=sys.stderr, sep="-")
    if n == 3:
        raise ValueError("three")
    print({"k": n}, end="!", file=sys.stderr, flush=True)
    try:
        print("a", file=sys.stderr, sep=n)
    except TypeError as error:
        return x * n, str(error)
