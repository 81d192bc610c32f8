"""What is left to do when native code has run: one function for each path gives what the recipes give."""

from __future__ import annotations

import collections
import math
import types
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor
from duograph.frontend.programs import conclusion as concluding


@dataclass
class State:
    x: object
    k: int = 0
    more: list = field(default_factory=list)


Pair = collections.namedtuple("Pair", "a b")


class Loose:
    pass


class Counts:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "sets", getattr(self, "sets", 0) + 1)


def t(i):
    return Tensor(np.array([i, 1, 2], np.float32))


def results(x, world):
    both = [x * 2]
    return {"a": both, "b": both, 3: (x.sum(), Pair(x, both))}, replace(State(x), k=4, more=[both]), {1, 2}


def texts(x, world):
    total = float(x.sum())
    return f"{total:.3f}", "of %d" % int(total), collections.OrderedDict(b=x, a=x * 2), collections.deque([x])


def attributes(x, world):
    world.first, world.second = x * 2, [x]
    del world.second
    world.n = world.n + 1
    return world.n


def hooked(x, world):
    world.counts.first = x
    world.counts.second = x * 2
    return world.counts.sets


def containers(x, world):
    world.log.append(float(x.sum()))
    world.seen.add(3)
    world.table["last"] = x
    world.window.appendleft(x.mean())
    world.held["k"] = world.held.get("k", 0) + 1
    return len(world.held)


def itself(x, world):
    made = [x * 2]
    made.append(made)
    return made


def nonlocal_and_branches(x, world):
    if x.sum() > 4:
        world.n = 5
        return State(x)
    world.log.append("low")
    return Pair(x, {"k": math.isnan(float(x.sum()))})


def make_world():
    return types.SimpleNamespace(
        n=0, log=[], seen=set(), table={}, window=collections.deque(maxlen=3), held={}, counts=Counts()
    )


def shown(value, seen=()):
    if id(value) in seen:
        return "itself"
    seen = (*seen, id(value))
    if isinstance(value, Tensor):
        return value.asnumpy().tobytes()
    if isinstance(value, dict):
        return type(value).__name__, [(k, shown(v, seen)) for k, v in value.items()]
    if isinstance(value, list | tuple | set | collections.deque):
        return type(value).__name__, [shown(v, seen) for v in value]
    if isinstance(value, State | Counts | types.SimpleNamespace):
        return type(value).__name__, shown(vars(value), seen)
    return type(value).__name__, repr(value)


PROGRAMS = [results, texts, attributes, hooked, containers, itself, nonlocal_and_branches]


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_results_and_writes_are_those_of_plain_python(program, mode):
    compiled, ours, theirs = ms.jit(program, capture_mode=mode), make_world(), make_world()
    for i in range(9):
        assert shown(compiled(t(i % 5), ours)) == shown(program(t(i % 5), theirs))
        assert shown(ours) == shown(theirs)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_only_what_holds_itself_goes_through_recipes(program, monkeypatch):
    written, known = [], concluding._Conclusion.function

    def function(self, is_final):
        written.append(False)
        made = known(self, is_final)
        written[-1] = True
        return made

    monkeypatch.setattr(concluding._Conclusion, "function", function)
    compiled, world = ms.jit(program), make_world()
    for i in range(9):
        compiled(t(i % 5), world)
    assert written and all(written) == (program is not itself)


class Refuses:
    def __setattr__(self, name, value):
        raise KeyError(name)


def test_what_the_world_raises_is_raised():
    def f(x, world):
        world.log.append(1)
        world.other.value = x
        return x * 2

    for run in (f, ms.jit(f)):
        for _ in range(4):
            world = types.SimpleNamespace(log=[], other=Refuses())
            with pytest.raises(KeyError):
                run(t(1), world)
            assert world.log == [1]
