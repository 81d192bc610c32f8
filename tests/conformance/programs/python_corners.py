"""Corners of Python's own semantics: what a protocol takes, what is looked up where, and who sees which error."""

import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import math
import typing

from tests.conformance.harness import T, program

X, N = T([1.0, -2.0, 3.0]), T([-1.0, -2.0])
LOG = []


# Writes of one call, replayed together --------------------------------------------------------------------------------


@program(calls=[(X, [[1]], [["a"]]), (X, [[]], [[2]])])
def outside_lists_that_change_places(x, a, b):
    a[0], b[0] = b[0], a[0]
    a[0].append(1)
    b[0].append(2)
    return x, a[0]


@program(calls=[(X, {"a": [1]}), (X, {"a": []})])
def a_list_that_moves_within_its_dict(x, d):
    inner = d["a"]
    inner.append(x.shape[0])
    d["b"], d["a"] = inner, 5
    return inner


class Registered:
    members = []
    scale = 2

    def __init__(self, value):
        self.members.append(value)


@program(calls=[(X, 1), (X, 2), (X, 2.5)])
def a_list_of_a_class_by_way_of_a_new_instance(x, n):
    found = [Registered(n), Registered(x)][0]
    size, last = len(found.members), found.members[-2]
    Registered.members.clear()
    return x * found.scale, size, last


class Single:
    only = None

    def __new__(cls, value):
        if cls.only is None:
            cls.only = super().__new__(cls)
        return cls.only

    def __init__(self, value):
        self.value = value


@program(calls=[(X, 1), (X, 2), (X, 3)], captured=False)
def a_new_that_gives_an_object_from_outside(x, n):
    return Single(n).value, Single(n + 1).value, x


# Effects of what Python calls by itself -------------------------------------------------------------------------------


class Logged:
    def __init__(self, gives=None):
        self.gives = gives

    @property
    def none(self):
        LOG.append("read")
        return self.gives


LOGGED = Logged()


@program(X, LOG=[])
def hasattr_reads_once(x):
    return hasattr(LOGGED, "none"), hasattr(LOGGED, "nothing"), x


def _count(n):
    for i in range(n):
        LOG.append(i)
        yield i


@program(calls=[(X, 1), (X, 2), (X, 9)], LOG=[])
def unpacking_takes_one_item_too_many(x, n):
    try:
        a, b = _count(n)
    except ValueError as error:
        return str(error)
    return a, b, x


def _failing():
    yield 1
    raise TypeError("of the generator")


@program(X)
def unpacking_hands_on_what_the_iterator_raises(x):
    try:
        _a, _b = _failing()
    except TypeError as error:
        return str(error), x


def _ticks():
    LOG.append(len(LOG))
    return len(LOG) % 5


@program(calls=[(X, 3), (X, 0)], LOG=[])
def iter_until_a_sentinel(x, n):
    return list(iter(_ticks, n)), x


@functools.lru_cache(maxsize=1)
def _noted(n):
    LOG.append(n)
    return n * 2


@program(calls=[(X,), (N,), (X,)], LOG=[], captured=False)
def cached_function_with_an_effect_on_one_path(x):
    _noted.cache_clear()
    return x * _noted(3) if x.sum() > 0 else x


class Renamed(Exception):
    def __new__(cls, *args):
        LOG.append(args)
        return super().__new__(cls, "changed")


@program(calls=[(X, 1), (X, 2), (X, 3)], LOG=[], captured=False)
def exception_with_its_own_new(x, n):
    try:
        raise Renamed(n)
    except Renamed as error:
        return error.args, x


class Dropped:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        LOG.append(self.n)


@program(calls=[(X, 1), (X, 2)], LOG=[], captured=False)
def object_with_a_finaliser(x, n):
    Dropped(n)
    LOG.append("after")
    return x


# What protocols take --------------------------------------------------------------------------------------------------


class Negative:
    def __len__(self):
        return -1


class Number:
    def __bool__(self):
        return 1

    def __str__(self):
        return 5

    def __repr__(self):
        return None


@program(calls=[(X, k) for k in range(5)], captured=False)
def special_method_that_gives_something_else_error(x, k):
    if k == 0:
        return len(Negative())
    if k == 1:
        return bool(Negative())
    if k == 2:
        return "true" if Number() else "false"
    return f"{Number()!r}" if k == 3 else str(Number())


@program(calls=[(X, k) for k in (0, 1, 1.0, 2.0, True, 2.5)], captured=False)
def index_that_is_a_float(x, k):
    try:
        return [1, 2, 3][k], (4, 5, 6)[k], x
    except TypeError as error:
        return str(error)


@program(calls=[(X, T(2)), (X, T(2.0)), (X, T(True))], captured=False)
def range_of_a_tensor(x, t):
    try:
        return [i for i in range(t)]
    except TypeError as error:
        return str(error)


@program(calls=[(X, ["a"], ""), (X, [1], 2), (X, [b"a"], b"")], captured=False)
def sum_of_texts(x, values, start):
    try:
        return sum(values, start)
    except TypeError as error:
        return str(error)


@program(calls=[(X, [0.1] * 10, 0), (X, [1e16, 1.0, -1e16], 1), (X, [1, True, 0.1, 2**60], 0.5), (X, [], 2)])
def sum_of_floats_adds_up_rounding_errors(x, values, start):
    return sum(values), sum(values, start), sum([*values, x]), sum([x, *values]), x * sum(values)


@program(calls=[(X, 0.1, 0.2), (X, 1e16, 1.0), (X, 0.3, 2), (X, 1, 2)], captured=False)
def sum_of_floats_known_at_run_time(x, a, b):
    return sum([a, b, -a]), sum([a, b], 0.1), sum(v.item() for v in x) + b


@program(calls=[(X, k) for k in range(6)], captured=False)
def built_in_functions_with_wrong_arguments(x, k):
    try:
        if k == 0:
            len()
        if k == 1:
            max(1, 2, default=3)
        if k == 2:
            list(1, 2)
        if k == 3:
            list(map(len))
        if k == 4:
            sorted([1], 2)
        if k == 5:
            isinstance(1)
    except TypeError as error:
        return str(error)


def _called(a, /, b, *, c=1):
    return a


@program(calls=[(X, 1), (X, 2), (X, 3)])
def messages_of_wrong_calls(x, n):
    def inner(a, b):
        return a

    found = []
    for call in (
        lambda: _called(1),
        lambda: _called(1, 2, 3, 4),
        lambda: _called(1, 2, d=n),
        lambda: _called(b=2),
        lambda: inner(n),
    ):
        try:
            call()
        except TypeError as error:
            found.append(str(error))
    return found, x


# Attributes -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


class Named(typing.NamedTuple):
    a: int = 1


FROZEN, NAMED = Frozen(), Named()


@program(calls=[(X, k) for k in range(7)], captured=False)
def attributes_that_cannot_be_set(x, k):
    try:
        if k == 0:
            LOGGED.none = 1
        if k == 1:
            FROZEN.a = 2
        if k == 2:
            NAMED.a = 2
        if k == 3:
            k.real = 5
        if k == 4:
            del Registered(1).scale
        if k == 5:
            None.a = 1
        if k == 6:
            del FROZEN.a
    except AttributeError as error:
        return type(error).__name__
    finally:
        Registered.members.clear()


class Hooked:
    @property
    def missing(self):
        raise AttributeError("inside")

    def __getattr__(self, name):
        return f"hook {name}"


HOOKED = Hooked()


@program(X, captured=False)
def getattr_hook_after_a_property(x):
    return HOOKED.missing, getattr(HOOKED, "missing", 1), x


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


@program(calls=[(X, 1), (X, 2)])
def flags_are_kept_by_their_class(x, n):
    both = Access.READ | Access.RUN
    return both, ~both, Access.WRITE in both, x * both.value


# Exceptions -----------------------------------------------------------------------------------------------------------


def _again():
    raise  # noqa: PLE0704 - what its caller handles


@program(calls=[(X, 0), (X, 1)], captured=False)
def raise_in_a_helper_of_an_except_clause(x, n):
    try:
        try:
            1 // n
        except ZeroDivisionError:
            _again()
    except ZeroDivisionError as error:
        return str(error)
    return x


@program(calls=[(X, k) for k in range(4)])
def causes_of_exceptions(x, k):
    try:
        raise ValueError(k) from [KeyError, None, KeyError(3), 5][k]
    except (ValueError, TypeError) as error:
        return repr(error), repr(error.__cause__), error.__suppress_context__


@program(calls=[(X, k) for k in range(3)])
def except_clauses_that_name_no_class(x, k):
    try:
        try:
            x[7]
        except [5, (KeyError, "a"), IndexError][k]:
            return "caught"
    except TypeError as error:
        return str(error)


def _left_by_finally(n):
    try:
        yield 1
        1 // n
    finally:
        return 5  # noqa: B012


@program(calls=[(X, 1), (X, 0)], captured=False)
def generator_that_returns_in_finally(x, n):
    return list(_left_by_finally(n)), x


# Identity and patterns ------------------------------------------------------------------------------------------------


@program(calls=[(X, 1), (X, 9), (N, 0)])
def identity_of_a_truth_value(x, n):
    above = bool(x.sum() > n)
    return above is True, above is not True, above is False, above is None


@program(calls=[(X, 1), (X, 9)])
def pattern_of_a_truth_value(x, n):
    match bool(x.sum() > n):
        case True:
            return "above", x
        case False:
            return "below"


@program(calls=[(X, math.nan), (X, float("inf") - float("inf")), (X, 1.0), (X, math.nan)])
def a_nan_is_found_by_its_identity(x, v):
    return v in [math.nan], [v] == [math.nan], {math.nan: 1}.get(v), v in [v], x


@program(calls=[(X, [1, 2]), (X, collections.deque([1, 2])), (X, "ab"), (X, {"a": 1})], captured=False)
def patterns_of_sequences(x, value):
    match value:
        case [a, *rest]:
            return a, rest
        case {"a": a}:
            return a
    return x


class Pair:
    __match_args__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 1, 2


PAIR = Pair()


@program(calls=[(X, 0), (X, 1)], captured=False)
def patterns_with_too_many_positions(x, k):
    try:
        if k == 0:
            match PAIR:
                case Pair(a, b, c):
                    return a, b, c
        match PAIR:
            case Pair(1, a=2):
                return "both"
    except TypeError as error:
        return str(error)
    return x


def _depth(n):
    return 0 if n == 0 else 1 + _depth(n - 1)


@program(calls=[(X, 3), (X, 300), (X, 10**6)], captured=False)
def recursion_deeper_than_capture_goes(x, n):
    try:
        return _depth(n), x
    except RecursionError:
        return "deep"


@program(X, {"a": 1}, captured=False)
def container_that_holds_itself(x, d):
    d["d"] = d
    try:
        return len(copy.deepcopy(d)["d"]["d"]), x
    except RecursionError:
        return "deep"
    finally:
        del d["d"]


def _goes_on_after_all(n):
    try:
        yield 1
        1 // n
    except ArithmeticError:
        yield 2
    with contextlib.suppress(ZeroDivisionError):
        yield 3
        1 // n
    yield 4


@program(calls=[(X, 1), (X, 2), (X, 3), (X, 0), (X, 4)])
def generator_that_catches_what_it_raises(x, n):
    return list(_goes_on_after_all(n)), x


class Rewinding:
    """An iterator that begins again whenever its iterator is asked for."""

    def __init__(self, n):
        self.n, self.at = n, 0

    def __iter__(self):
        print("iter at", self.at)
        self.at = 0
        return self

    def __next__(self):
        if self.at >= self.n:
            raise StopIteration
        self.at += 1
        return self.at


@program(calls=[(T([1.0, 2.0]), 3), (T([0.5, 2.0]), 4), (T([0.5, 2.0]), 1)])
def rests_of_iterators_that_rewind_error(x, n):
    first, *rest = Rewinding(n)
    *most, last = Rewinding(n)
    a, *middle, b = Rewinding(n + 1)
    (c, d), *others = [Rewinding(2), x]
    one, two, *none = Rewinding(n)
    return x * first, rest, most, last, a, middle, b, c, d, others, one, two, none
