"""Arguments and outside objects that are new at each call: one version serves them all, whatever they hold, and keeps
none of them alive. Numbers in them that vary become inputs."""

from __future__ import annotations

import datetime as dt
import functools
import gc
import pathlib
import time
import types
import uuid
import weakref
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from tests.unit.jit.native_calls import bits, native_hits

CALLS = 30
MODES = ["ast", "bytecode", "trace"]
Named = namedtuple("Named", "x k")


class Plain:
    def __init__(self, x, k):
        self.x, self.k = x, k

    def times(self, v):
        return v * self.k + self.x


class Slots:
    __slots__ = ("k", "x")

    def __init__(self, x, k):
        self.x, self.k = x, k


@dataclass
class Data:
    x: object
    k: object


@dataclass(slots=True)
class SlottedData:
    x: object
    k: object


class Layer(nn.Cell):
    def __init__(self, x, k):
        super().__init__()
        self.k, self.x = k, ms.Parameter(x)

    def construct(self, v):
        return ops.tanh(v * self.k + self.x)


def times_of(k):
    return lambda v: v * k


def t(i):
    return ms.Tensor(np.array([i, 1, 2], np.float32))


def work(x):
    return ops.tanh(x * 2 + x.mean()) * x - x.sum()


def read(b):
    return work(b.x) * b.k


def call(x, f):
    return work(x) + f(x)


HOLDERS = {
    "object": Plain, "slots": Slots, "dataclass": Data, "dataclass with slots": SlottedData, "named tuple": Named,
    "namespace": lambda x, k: types.SimpleNamespace(x=x, k=k),
}  # fmt: skip
FUNCTIONS = {
    "closure": lambda x, k: times_of(k),
    "lambda": lambda x, k: lambda v: v * 3 + 1,
    "default": lambda x, k: lambda v, k=k: v * k,
    "partial": lambda x, k: functools.partial(ops.mul, x),
    "partial of a closure": lambda x, k: functools.partial(times_of(k)),
    "bound method": lambda x, k: Plain(x, k).times,
    "Cell": Layer,
}


def outcome(run, fn, make):
    """What ``run`` gives for new arguments, `CALLS` times, and which of them are still alive at the end."""
    found, made = [], []
    for i in range(CALLS):
        args = make(i)
        found.append((bits(run(*args)), bits(fn(*args))))
        if i > CALLS // 2:
            made += [weakref.ref(a) for a in args if type(a).__weakrefoffset__]
        del args
    gc.collect()
    return found, [type(m()).__name__ for m in made if m() is not None]


def check(fn, make, versions=1):
    run = ms.jit(fn)
    found, alive = outcome(run, fn, make)
    assert all(a == b for a, b in found)
    told = run.explain()
    assert (len(told.versions), told.fallbacks, alive) == (versions, [], []), str(told)
    assert native_hits(run) >= CALLS - 6


@pytest.mark.parametrize("kind", HOLDERS)
@pytest.mark.parametrize("within", ["itself", "list", "dict", "object", "slots"])
def test_holders_of_tensors_and_numbers(kind, within):
    make = HOLDERS[kind]
    wrapped = {
        "itself": (read, lambda b: b),
        "list": (lambda b: read(b[1]) + b[0], lambda b: [t(1), b]),
        "dict": (lambda b: read(b["b"]), lambda b: {"a": 1, "b": b}),
        "object": (lambda b: read(b.x) + b.k, lambda b: Plain(b, 2)),
        "slots": (lambda b: read(b.x) + b.k, lambda b: Slots(b, 2)),
    }
    fn, wrap = wrapped[within]
    check(fn, lambda i: (wrap(make(t(i), 1.5)),))


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_functions_and_what_is_called(kind):
    check(call, lambda i: (t(i), FUNCTIONS[kind](t(i + 1), 1.5)))


@pytest.mark.parametrize("kind", ["object", "slots", "dataclass", "dataclass with slots", "namespace"])
def test_a_number_that_varies_in_new_objects_is_an_input(kind):
    check(read, lambda i: (HOLDERS[kind](t(i), 0.5 + i),), versions=2)


def test_a_number_that_varies_in_new_closures_is_an_input():
    check(call, lambda i: (t(i), times_of(0.5 + i)), versions=2)


def test_a_number_of_another_class_or_a_text_makes_a_version_of_its_own():
    run = ms.jit(lambda b: work(b.x) * (b.k if b.name == "a" else 2))

    def make(i, k, name):
        b = Plain(t(i), k)
        b.name = name
        return b

    for i in range(12):
        for k, name in ((1.5 + i, "a"), (i, "a"), (0.5, "b")):
            assert bits(run(make(i, k, name))) == bits(run.__wrapped__(make(i, k, name)))
    assert not run.explain().fallbacks


def test_outside_objects_that_are_replaced():
    class Held:
        pass

    held = Held()

    def fn(x):
        return work(x) * held.b.k + held.f(held.b.x)

    def make(i):
        held.b, held.f = Slots(t(i), 1.5), times_of(2.5)
        return (t(i),)

    run = ms.jit(fn)
    found, _ = outcome(run, fn, make)
    assert all(a == b for a, b in found) and len(run.explain().versions) == 1


@pytest.mark.parametrize("kind", ["object", "slots", "namespace"])
def test_what_python_makes_between_segments_is_read_by_the_next(kind):
    make = HOLDERS[kind]

    def fn(x):
        y = work(x)
        b = make(y, float(time.time() > 0) * 1.5)
        return work(b.x) * b.k

    run = ms.jit(fn)
    for i in range(CALLS):
        assert bits(run(t(i))) == bits(fn(t(i)))
    assert [len(s.versions) for s in run.explain().segments] == [1, 1]
    assert all(s.versions[0]["hits"] >= CALLS - 6 for s in run.explain().segments)


def test_which_object_it_is_matters_where_the_program_asks():
    one, two = Slots(t(1), 2.0), Slots(t(1), 2.0)
    run = ms.jit(lambda held, b: work(b.x) * (3 if b is held[0] else 1) * (2 if b in held else 1))
    for _ in range(3):
        for held, b in (([one, two], one), ([two, one], one), ([one], two), ([Slots(t(1), 2.0)], one)):
            assert bits(run(held, b)) == bits(run.__wrapped__(held, b))


# ---- attributes that are written ------------------------------------------------------------------------------------


def keeps(c):
    c.h = work(c.x)
    c.k = c.k + 1
    return c.h * 2


def keeps_in_both(a, b):
    a.x = work(b.x)
    b.k = a.x + b.x
    return a.x + b.x


HELD = Plain(t(5), 3)


def keeps_beside_held(c):
    c.x = work(c.x)
    HELD.x = HELD.x + c.x
    return HELD.x + c.x


def contents(*objects):
    return [[bits(value) for name in ("h", "k", "x") if (value := getattr(o, name, None)) is not None] for o in objects]


class OpenSlots(Slots):
    __slots__ = ("h",)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cls", [Plain, Data, OpenSlots, types.SimpleNamespace])
def test_attributes_of_new_objects_are_written(cls, mode):
    compiled = ms.jit(keeps, capture_mode=mode)
    for i in range(CALLS):
        ours, theirs = (cls(x=t(i), k=7) for _ in range(2))
        assert bits(compiled(ours)) == bits(keeps(theirs)) and contents(ours) == contents(theirs)
    assert len(compiled.explain().versions) == 1


@pytest.mark.parametrize("mode", MODES)
def test_objects_that_are_written_are_not_taken_for_others(mode):
    """Two at one time, one at another; and one that the program knows by name."""
    both, beside = ms.jit(keeps_in_both, capture_mode=mode), ms.jit(keeps_beside_held, capture_mode=mode)
    for i in range(12):
        one, two = (
            (lambda a: (a, a))(Plain(t(i), 2)) if i % 3 == 2 else (Plain(t(i), 2), Plain(t(i + 1), 2)) for _ in range(2)
        )
        assert bits(both(*one)) == bits(keeps_in_both(*two)) and contents(*one) == contents(*two)
        found = []
        for f in (beside, keeps_beside_held):
            HELD.x = t(i)
            given = HELD if i % 3 == 2 else Plain(t(i), 2)
            found.append((bits(f(given)), contents(given, HELD)))
        assert found[0] == found[1]


class Tells:
    ends: list[str] = []

    def __del__(self):
        Tells.ends.append("end")


def test_what_a_write_drops_may_tell_of_its_end():
    compiled = ms.jit(keeps)
    for i in range(12):
        given = Plain(t(i), 2)
        if i % 3 == 2:
            given.h = Tells()
        before = len(Tells.ends)
        assert bits(compiled(given)) == bits(keeps(Plain(t(i), 2)))
        assert len(Tells.ends) - before == (i % 3 == 2)


FIRST = dt.date(2024, 1, 5)


def asks_a_date(x, day):
    weight = day.weekday() + (day + dt.timedelta(days=1)).day
    return (x * weight).sum(), day.isoformat(), day


def computes_with_a_decimal(x, held):
    return x * float(held.k) + 1, str(held.k), held.k * 2


def tells_dates_apart(x, day):
    return x * (2 if day is FIRST else 3), day == FIRST


def asks_a_path(x, path):
    return x * len(path.parts), path.with_suffix(".b").name, path


def asks_a_uuid(x, number):
    return x * (number.int % 5), str(number), number


def asks_for_an_offset(x, zone):
    return x * zone.utcoffset(None).total_seconds(), str(zone), zone


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("fn", "make", "versions"),
    [
        (asks_a_path, lambda i: pathlib.PurePosixPath("/a", f"{i % 2}.txt"), 2),
        (asks_a_path, lambda i: pathlib.Path("/a", f"{i % 2}.txt"), 2),
        (asks_a_uuid, lambda i: uuid.UUID(int=7 + i % 2), 2),
        (asks_for_an_offset, lambda i: dt.timezone(dt.timedelta(hours=1 + i % 2)), 2),
        (asks_a_date, lambda i: dt.date(2024, 1, 5 + i % 3), 3),
        (computes_with_a_decimal, lambda i: Plain(0, Decimal("1.50" if i % 2 else "1.5")), 2),
        (tells_dates_apart, lambda i: FIRST if i % 2 else dt.date(2024, 1, 5), None),
    ],
)
def test_objects_that_are_equal_and_never_change(fn, make, versions, mode):
    compiled = ms.jit(fn, capture_mode=mode)
    computes_with_a_decimal(t(0), Plain(0, Decimal(1)))  # flags of its arithmetic are set from here on
    for i in range(8):
        given = make(i)
        found, wanted = compiled(t(i), given), fn(t(i), given)
        assert bits(found[0]) == bits(wanted[0]) and found[1:] == wanted[1:]
        assert fn in (computes_with_a_decimal, tells_dates_apart) or found[2] is given
    assert versions is None or len(compiled.explain().versions) == versions


class Zone(dt.tzinfo):
    asked = 0

    def utcoffset(self, when):
        Zone.asked += 1
        return dt.timedelta(hours=Zone.asked)


def asks_a_zone(x, when):
    return x * 2, when.utcoffset()


@pytest.mark.parametrize("mode", MODES)
def test_zones_of_the_user_are_asked_by_python(mode):
    compiled = ms.jit(asks_a_zone, capture_mode=mode)
    Zone.asked = 0
    for i in range(12):
        when = dt.datetime(2024, 1, 1, tzinfo=Zone())
        assert compiled(t(i), when)[1] == dt.timedelta(hours=i + 1)
