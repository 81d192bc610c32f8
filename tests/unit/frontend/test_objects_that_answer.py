"""Objects whose ``__getattr__`` sees every question, or answers every one: nothing of ours asks them.

Mocks, proxies and lazy objects do so. A question of the capture would run their code once more than eager mode does,
and an answer to it ("yes, I have a ``construct``") would make them something that they are not.
"""

from __future__ import annotations

import collections
import contextlib
import io
import os
import types
import unittest.mock

import pytest

import duograph as ms
from duograph import ops

ASKED = collections.Counter()


class Listens:
    def __getattr__(self, name):
        ASKED[name] += 1
        raise AttributeError(name)


class ListensWithSlots:
    __slots__ = ("held",)
    __getattr__ = Listens.__getattr__


class Answers:
    def __getattr__(self, name):
        ASKED[name] += 1
        return "x"


class ListensWithSlot(Listens):
    __slots__ = ("q",)


class SeesAll:
    def __getattribute__(self, name):
        ASKED[name] += 1
        return object.__getattribute__(self, name)


def callable_of(cls):
    return type(f"Callable{cls.__name__}", (cls,), {"__call__": lambda self, x: x + 1})


KINDS = [Listens, ListensWithSlots, Answers, SeesAll, *map(callable_of, (Listens, Answers, SeesAll))]


def entered(x, o):
    with o:
        return x


def kept(x, o):
    o.q = x
    return x


USES = {
    "returned": lambda x, o: (x + 1, o),
    "in a list": lambda x, o: [x * 2, o],
    "called": lambda x, o: o(x) * 2,
    "a missing attribute": lambda x, o: (x, getattr(o, "foo", 1)),
    "hasattr": lambda x, o: (x, hasattr(o, "foo")),
    "its class": lambda x, o: x if isinstance(o, Listens) else type(o),
    "compared": lambda x, o: x if o == 3 or o is None else x * 2,
    "its truth": lambda x, o: x if o else x * 2,
    "looked for": lambda x, o: (x, o in [1, 2]),
    "a key": lambda x, o: {o: x},
    "an operand": lambda x, o: x + o,
    "an operand of an operator": lambda x, o: ops.add(x, o),
    "an index": lambda x, o: x[o],
    "a tensor": lambda x, o: ms.Tensor(o),
    "iterated over": lambda x, o: [x for _ in o],
    "its length": lambda x, o: x * len(o),
    "entered": entered,
    "written": kept,
}


def shown(fn, kind):
    """Class of result and what was asked, for three calls."""
    found = []
    o = kind()
    for _ in range(3):
        ASKED.clear()
        try:
            result = type(fn(ms.Tensor([1.0, 2.0]), o)).__name__
        except Exception as error:  # noqa: BLE001 - whatever a program raises
            result = type(error).__name__
        found.append((result, dict(ASKED)))
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("use", USES)
def test_nothing_of_ours_asks(use, kind):
    program = USES[use]
    assert shown(ms.jit(program), kind) == shown(program, kind)

    def from_outside(mode):
        return lambda x, o: mode(lambda y: program(y, o))(x)

    assert shown(from_outside(ms.jit), kind) == shown(from_outside(lambda fn: fn), kind)


def deleted(x, o):
    o.q = 2.0
    del o.q
    return x


def deleted_and_read(x, o):
    o.q = 2.0
    del o.q
    return x, o.q


def set_on_a_path(x, o):
    if x.sum() > 0:
        o.q = 2.0
    return x


def set_in_a_loop(x, o):
    i = 0
    while (x * x).sum() < 30:
        x = x * 2
        o.q = i
        i = i + 1
    return x


def held_by_a_new_object(x, o):
    new = types.SimpleNamespace(o=o)
    new.p = o
    return x * 2, new.p is o


class AnswersWithASlot(Answers):
    __slots__ = ("q",)


@pytest.mark.parametrize("kind", [Listens, ListensWithSlot, Answers, AnswersWithASlot, SeesAll])
@pytest.mark.parametrize("program", [deleted, deleted_and_read, set_on_a_path, set_in_a_loop, held_by_a_new_object])
def test_what_is_written_is_not_asked_for(program, kind):
    def run(fn):
        found = []
        for x in (1.0, -1.0, 9.0):
            o = kind()
            ASKED.clear()
            try:
                result = str(fn(ms.Tensor([x]), o))
            except Exception as error:  # noqa: BLE001 - whatever a program raises
                result = repr(error)
            found.append((result, dict(ASKED), {k: v for k, v in vars(o).items() if k == "q"}))
        return found

    assert run(ms.jit(program)) == run(program)


def test_explanations_ask_no_object():
    class Held(Answers):
        factor = 2.0

    def program(x):
        return x * o.factor

    o = Held()
    compiled = ms.jit(program)
    compiled(ms.Tensor([1.0]))
    ASKED.clear()
    assert "<Held>.factor == 2.0" in str(compiled.explain())
    assert not ASKED


NAMESAKE = SeesAll()


def test_a_namesake_of_what_looks_at_frames_is_not_asked():
    def program(x):
        print("a graph break")
        return NAMESAKE.stack(x) if x is None else x * 2

    def run(fn):
        ASKED.clear()
        with contextlib.redirect_stdout(io.StringIO()):
            return fn(ms.Tensor([1.0, 2.0])).asnumpy().tolist(), dict(ASKED)

    compiled = ms.jit(program)
    assert [run(compiled) for _ in range(3)] == [run(program)] * 3


def test_a_callable_object_that_answers_is_no_cell():
    class Program(Answers):
        def __getattr__(self, name):
            if name[:2] == "__":  # `functools` asks for these when it is decorated
                raise AttributeError(name)
            return super().__getattr__(name)

        def __call__(self, x):
            with open(os.devnull):  # a graph break
                return x * 2

    ASKED.clear()
    compiled = ms.jit(Program())
    assert [compiled(ms.Tensor([1.0, 2.0])).asnumpy().tolist() for _ in range(3)] == [[2.0, 4.0]] * 3
    assert not ASKED


def test_a_mock_is_no_cell_and_no_symbol():
    def program(x):
        mock.seen(x.shape)
        return mock, x * 2, mock.call_count

    def run(fn):
        result, doubled, count = fn(ms.Tensor([1.0, 2.0]))
        return result is mock, doubled.asnumpy().tolist(), count, mock.mock_calls

    mock = unittest.mock.MagicMock()
    want = [run(program), run(program)]
    mock = unittest.mock.MagicMock()
    compiled = ms.jit(program)
    with contextlib.redirect_stdout(io.StringIO()):
        assert [run(compiled), run(compiled)] == want
