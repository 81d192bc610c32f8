"""What a compiled call was given lives no longer than in eager mode: whoever captures lets go of it before the program
goes on, whether that worked, was cut, started again or was refused.

(The guards of a version, or of that of a part, hold the object that it was made for, until a second one shows that it
varies; not so where the program waits for the object's end, as one whose class has ``__del__`` does.)
"""

from __future__ import annotations

import functools
import gc
import weakref

import pytest

import duograph as ms
from duograph import nn


class Thing:
    def __init__(self):
        self.scale = 2.0


def captured(x, thing):
    return x * thing.scale


def on_two_paths(x, thing):
    if x.sum() > 0:
        return x * thing.scale
    return x - thing.scale


def cut(x, thing):
    y = x * thing.scale
    print(y)
    return y + 1


def refused(x, thing):
    vars(thing)[str(x)] = None
    return x


def half_captured(x, thing):
    for name in list(vars(thing)):
        if x.sum() > 3:
            setattr(thing, name + str(len(name)), locals())
    return x


def raising(x, thing):
    y = x * thing.scale
    raise ValueError(str(thing.scale))


def differentiated(x, thing):
    return ms.grad(lambda a: (a * a * thing.scale).sum())(x)


def left_half_way(x, thing):
    def pieces():
        try:
            yield x * thing.scale
            yield x
        finally:
            thing.scale += 1

    first = pieces()
    y = next(first)
    if x.sum() > 0:
        y = y + 1
    else:
        first.throw(KeyError("x"))
    return y


class Net(nn.Cell):
    def construct(self, x, thing):
        return x * thing.scale


@pytest.mark.parametrize("is_enabled", [True, False], ids=["collector on", "collector off"])
@pytest.mark.parametrize(
    "program",
    [captured, on_two_paths, cut, refused, half_captured, raising, differentiated, left_half_way, Net()],
    ids=lambda p: getattr(p, "__name__", "cell"),
)
def test_an_argument_is_dropped_when_its_last_user_is(program, is_enabled):
    compiled = ms.jit(program)
    gc.collect()
    (gc.enable if is_enabled else gc.disable)()
    try:
        for number, values in enumerate(([1.0, 2.0], [1.0, 3.0], [-1.0, 0.5], [1.0, 2.0])):
            thing = Thing()
            alive = weakref.ref(thing)
            try:
                compiled(ms.Tensor(values), thing)
            except (ValueError, KeyError) as error:
                error.__traceback__ = None
            vars(thing).clear()
            del thing
            assert alive() is None or number < 2
    finally:
        gc.enable()


ENDED = []


class Telling(Thing):
    def __del__(self):
        ENDED.append(type(self).__name__)


class TellingWithSlots:
    __slots__ = ("scale",)

    def __init__(self):
        self.scale = 2.0

    __del__ = Telling.__del__


class Holder:
    def __init__(self):
        self.held = Telling()


class TellingNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([1.0, 2.0]))

    def construct(self, x):
        return x * self.weight

    __del__ = Telling.__del__


class WithMethod(Telling):
    def scaled(self, x):
        return x * self.scale


def finalized():
    thing = Thing()
    weakref.finalize(thing, ENDED.append, "finalized")
    return thing


def a_closure():
    thing = Telling()
    return lambda x: x * thing.scale


def calling(x, thing):
    return thing(x)


def reading_what_it_holds(x, thing):
    return x * thing.held.scale


def reading_an_item(x, things):
    return x * things[0].scale


def reading_nothing(x, thing):
    return x * 2


def writing(x, thing):
    thing.last = x * 2
    return thing.last * thing.scale


def hashing(x, thing):
    return x * len({thing: 1})


def failing(x, thing):
    return x * thing.missing


def raising_from_another(x, thing):
    try:
        return x * thing.missing
    except AttributeError as error:
        raise ValueError from error


WAITING = [
    (program, make)
    for program in (captured, on_two_paths, cut, differentiated, raising, writing, hashing, failing,
                    raising_from_another, reading_nothing)
    for make in (Telling, TellingWithSlots, finalized)
    if program is not writing or make is not TellingWithSlots
] + [
    (reading_what_it_holds, Holder), (reading_nothing, Holder), (reading_an_item, lambda: [Telling()]),
    (calling, TellingNet), (calling, a_closure), (calling, lambda: WithMethod().scaled),
    (calling, lambda: functools.partial(captured, thing=Telling())),
]  # fmt: skip


def ends(program, make):
    """How many ends were told while each of several objects was given to some calls, and when it had been dropped."""
    found = []
    for values in ([1.0, 2.0], [-1.0, 0.5], [1.0, 2.0]):
        thing = make()
        ENDED.clear()
        for _ in range(3):
            try:
                program(ms.Tensor(values), thing)
            except (ValueError, AttributeError) as error:
                error.__traceback__ = None
        before = len(ENDED)
        del thing
        found.append((before, len(ENDED)))
    return found


@pytest.mark.parametrize(("program", "make"), WAITING, ids=lambda p: getattr(p, "__name__", "made"))
def test_the_end_of_what_tells_of_it_is_told_when_eager_mode_tells_it(program, make):
    compiled = ms.jit(program)
    gc.collect()
    gc.disable()
    try:
        expected = ends(program, make)
        assert ends(compiled, make) == expected
    finally:
        gc.enable()
    assert not compiled.explain().failures


def test_a_program_of_such_objects_is_compiled_for_all_of_them():
    compiled = ms.jit(captured)
    ends(compiled, Telling)
    assert len(compiled.explain().versions) == 1 and not compiled.explain().fallbacks
