"""Functions of the standard library: of numbers of tensors, of objects, of what is made inside."""

import ast
import contextlib
import dataclasses
import datetime as dt
import functools
import importlib
import inspect
import itertools
import math
import os
import pathlib
import random
import types
import uuid
import zlib

from tests.conformance.harness import T, program

X = T([1.0, 2.0, 4.0])
CALLS = [(X,), (T([0.5, 0.25, 2.0]),), (T([3.0, -1.0, 9.0]),)]


@program(calls=CALLS, grad=0)
def functions_of_math(x):
    s = x.sum()
    return x * math.sqrt(abs(s)), math.exp(-float(s)), math.hypot(s, 3), math.isnan(s), math.floor(s / 2), math.ceil(s)


@program(calls=[*CALLS, (T([1.0, -5.0]),), (T([math.nan, 1.0]),)])
def a_function_of_math_error(x):
    return x * math.log(x.sum()) + math.log(2.0, x.max())


@program(calls=[(X,), (T([1000.0]),)])
def an_overflow_of_math_error(x):
    y = x + 1
    return y, math.exp(x.sum())


@program(calls=[(X,), (T([-4.0]),), (X,)])
def a_function_of_math_is_tried(x):
    try:
        root = math.sqrt(x.sum())
    except ValueError:
        root = 0.0
    return x * root


@program(calls=CALLS)
def rounded_to_digits(x):
    return round(float(x.sum()) / 3, 2), round(x.mean().item(), 1), round(int(x.sum() * 77), -1)


@program(calls=[(X, 3), (X, 17), (X, 2**70)])
def a_root_of_whole_numbers(x, n):
    return x * math.isqrt(n), math.isqrt(int(x.sum()))


@program(calls=CALLS)
def what_stands_for_a_function_is_one(x):
    def inside():
        return 1

    return (
        x,
        inspect.isfunction(inside),
        inspect.isfunction(len),
        inspect.isclass(int),
        isinstance(inside, types.FunctionType),
        type(inside) is types.FunctionType,
        inside.__class__ is type(inside),
    )


@program(calls=CALLS)
def a_generator_has_the_name_of_its_function(x):
    def steps():
        yield x

    made, other = steps(), (y for y in [x])
    return next(made) + next(other), made.__name__, made.__qualname__, other.__name__, other.__qualname__


@dataclasses.dataclass(order=True)
class Settings:
    rate: float = 0.5
    steps: int = 2
    names: list = dataclasses.field(default_factory=list)


settings = Settings(0.25, 3, ["a", "b"])


@program(calls=CALLS)
def functions_of_dataclasses(x):
    other = dataclasses.replace(settings, steps=5)
    as_dict = dataclasses.asdict(settings)
    rate, steps, names = dataclasses.astuple(settings)
    return x * other.steps * as_dict["rate"] + rate, steps, names, as_dict, len(dataclasses.fields(settings))


@program(calls=CALLS)
def dataclasses_in_order(x):
    return (
        x * 2 if settings < Settings(0.25, 4) else x,
        settings >= Settings(0.25, 3, ["a", "b"]),
        max(settings, Settings(1.0)).rate,
    )


def _changed(x, rate):
    settings.rate = rate
    return x * dataclasses.asdict(settings)["rate"], dataclasses.replace(settings).rate


@program(calls=[(X, 0.5), (X, 0.75), (X, 0.25)])
def a_dataclass_changes(x, rate):
    return _changed(x, rate)


@program(calls=[(X, 0.5), (X, 0.75)])
def the_dictionary_of_an_object(x, k):
    return x * vars(settings)["steps"] * k


@functools.singledispatch
def scaled(how, x):
    return x


@scaled.register
def _(how: int, x):
    return x * how


@scaled.register
def _(how: list, x):
    return x * len(how)


@program(calls=[(X, 2), (X, [1, 2, 3]), (X, "no"), (X, True)])
def dispatched_by_class(x, how):
    return scaled(how, x) + scaled(2, x)


class Version:
    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number < other.number

    def __index__(self):
        return self.number


versions = [Version(3), Version(1), Version(2)]


@program(calls=CALLS)
def objects_in_order(x):
    return x * sorted(versions)[0].number, max(versions).number, min(versions).number, [5, 6, 7, 8][Version(2)]


@program(calls=CALLS, choice=True)
def objects_in_order_by_tensors(x):
    made = [Version(x[0]), Version(x[1]), Version(x[2])]
    return min(made).number, sorted(made, reverse=True)[0].number


@program(calls=CALLS)
def counted_without_end(x):
    for i in itertools.count(3, 2):
        if x.sum() > 40:
            break
        x = x * 2
    return x, i


@program(calls=CALLS)
def counted_without_end_to_a_return(x):
    for i in itertools.count():
        x = x + 1
        if i >= 5:
            return x * i


@program(calls=CALLS)
def dates_paths_and_names(x):
    day = dt.date(2024, 2, 28) + dt.timedelta(days=2)
    file = pathlib.Path("a") / "b.tar.gz"
    return x * day.day, day.isoformat(), file.name, file.suffix, str(file.parent), uuid.UUID(int=3).hex


@program(calls=CALLS)
def random_numbers_of_a_seed(x):
    made = random.Random(3)
    items = [1, 2, 3, 4, 5]
    made.shuffle(items)
    return x * made.random(), made.randint(1, 6), items, made.choice("abc")


@program(calls=CALLS, captured=False)
def random_numbers_of_the_system(x):
    random.Random()
    return x


@program(calls=CALLS)
def the_environment(x):
    return x * len(os.getenv("DUOGRAPH_NOT_SET", "ab")), os.environ.get("DUOGRAPH_NOT_SET")


@program(calls=CALLS)
def suppressed(x):
    with contextlib.suppress(ValueError):
        x = x * math.sqrt(-abs(x.sum()))
    return x + 1


@program(calls=[*CALLS, (T([100.0, -7.25]),), (T([1e-9]),)])
def functions_of_math_to_the_bit(x):
    a = float(x.sum()) / 3
    b = 1 / (1 + a * a)
    return (
        (math.sin(a), math.cos(a), math.tan(a), math.atan(a), math.sinh(b), math.cosh(b), math.tanh(a), math.asinh(a)),
        (math.acos(b), math.asin(b), math.atanh(b / 2), math.acosh(1 + b), math.exp(-b), math.expm1(b), math.cbrt(a)),
        (math.log(b), math.log2(b), math.log10(b), math.log1p(b), math.sqrt(b), math.pow(b, a), math.pow(2.0, a)),
    )


STEPS = [(X, 1), (X, 2), (X + 1, 2), (X, 1)]
ASKED: list = []


class Numbered:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        ASKED.append(self.number)
        return isinstance(other, Numbered) and self.number == other.number

    __hash__ = None


@program(calls=STEPS, ASKED=[], build=True)
def lists_of_objects_that_compare():
    held = [Numbered(1), Numbered(2), Numbered(1)]

    def f(x, n):
        found = held.index(Numbered(2)), (*held, held[0]).count(held[0])
        made = [Numbered(n), *held]
        made.remove(Numbered(2))
        return x * found[0] + len(made), found[1], [one.number for one in made]

    return f


@contextlib.contextmanager
def _noted(name):
    ASKED.append(name)
    yield name
    ASKED.append(f"-{name}")


class Entered(contextlib.ContextDecorator):
    def __init__(self):
        self.entered = 0

    def __enter__(self):
        self.entered += 1
        return self

    def __exit__(self, *args):
        ASKED.append(self.entered)
        return False


@_noted("a")
def _in_a_context(x, n):
    return x * n


@program(calls=STEPS, ASKED=[], build=True)
def contexts_that_decorate():
    entered = Entered()

    @entered
    def in_an_object(x, n):
        return x + entered.entered

    return lambda x, n: (_in_a_context(x, n) + _in_a_context(x, 1), in_an_object(x, n))


@program(calls=STEPS)
def texts_and_modules(x, n):
    view = types.MappingProxyType({"a": x, "n": n})
    text = str(n).translate(str.maketrans("12", "ab"))
    codes = zlib.crc32(text.encode()), ast.literal_eval(f"[{n}, 'a']"), zlib.decompress(zlib.compress(b"abc"))
    return view["a"] * importlib.import_module("math").pi, __import__("cmath").e, codes, text, dict(view), "b" in view


@program(calls=STEPS, captured=False)
def a_view_of_a_mapping_leaves(x, n):
    return types.MappingProxyType({"a": x * n})["a"], dict(types.MappingProxyType(Missing(a=1))), x - n


class Missing(dict):
    def __getitem__(self, key):
        return 7


@contextlib.contextmanager
def _quiet():
    try:
        yield
    except ValueError:
        ASKED.append("quiet")


@program(calls=[*STEPS, (-X, 1)] * 2, ASKED=[])
def stacks_of_contexts(x, n):
    called = []
    with contextlib.ExitStack() as stack, contextlib.ExitStack() as outer:
        factor = sum([stack.enter_context(_noted(i)) for i in range(n)]) + 1
        outer.enter_context(contextlib.nullcontext())
        entered = stack.enter_context(Entered())
        stack.callback(lambda *args, **kwargs: called.append((args, kwargs)), n, key=x)
        if x.sum() > 0:
            stack.enter_context(_quiet())
            stack.callback(called.append, 1)
        else:
            outer.enter_context(contextlib.suppress(ValueError))
        if n > 1:
            raise ValueError(n)
        x = x * factor
    return x + entered.entered, called


@program(calls=STEPS, ASKED=[], captured=False)
def stacks_that_are_kept_or_fail(x, n):
    with contextlib.ExitStack() as stack:
        stack.enter_context(_noted("kept"))
        kept = stack.pop_all()
    y = x * n
    kept.close()
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(_raises, n)
            stack.enter_context(_noted("left"))
    except ValueError as error:
        return y, error.args


def _raises(n):
    raise ValueError(n)


@functools.total_ordering
class Completed:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        ASKED.append("eq")
        return self.number == other.number

    def __lt__(self, other):
        ASKED.append("lt")
        return self.number < other.number


@program(calls=STEPS, ASKED=[], build=True)
def orders_that_functools_completes():
    needed = Completed(2)

    def f(x, n):
        y = x * 2 if Completed(n) >= needed else x * 3
        best = max(Completed(x.sum()), Completed(x.max()), needed)
        return y, needed <= Completed(n), sorted([needed, Completed(n)], reverse=True)[0].number, best.number * 1

    return f
