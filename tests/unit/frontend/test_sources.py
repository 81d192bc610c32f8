"""Sources load what they name, and the generated check of guards says what the interpretive one says."""

from __future__ import annotations

import types

import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn
from duograph.frontend.guards.guard import GuardSet
from duograph.frontend.rules import sources
from duograph.frontend.rules.facts import cell_facts, tensor_facts
from duograph.frontend.rules.sources import Pin


class Thing:
    def __init__(self, **held):
        vars(self).update(held)


X = sources.arg(0, "x")


def test_sources_load_and_print():
    thing = Thing(items=[1, {"k": 5}])
    namespace = {"g": 7}
    variable = types.CellType(3)
    found = {
        "x": X,
        "x.items": sources.attr(X, "items"),
        "x.items[1]['k']": sources.item(sources.item(sources.attr(X, "items"), 1), "k"),
        "global g": sources.global_(namespace, "g"),
        "closure variable v": sources.cell(variable, "v"),
        "<Thing>": sources.pinned(thing),
    }
    assert [str(s) for s in found.values()] == list(found)
    loaded = [s.load([thing]) for s in found.values()]
    assert loaded == [thing, thing.items, 5, 7, 3, thing]


def test_sources_are_equal_by_identity_of_what_they_pin():
    assert sources.pinned([]) != sources.pinned([])
    held = []
    assert sources.pinned(held) == sources.pinned(held)


OTHER = Thing()
FACTS = [  # check, expected, a value that fits, a value that does not, words of the reason
    ("equal", 3, 3, 4, "x was 3, is 4"),
    ("equal", 1, 1, True, "x was 1, is True"),
    ("equal", 0.0, 0.0, -0.0, "x was 0.0, is -0.0"),
    ("equal", float("nan"), float("nan"), 1.0, "x was nan, is 1.0"),
    ("equal", "a", "a", "b", "x was 'a', is 'b'"),
    ("equal", None, None, 0, "x was None, is 0"),
    ("equal", ms.float32, ms.float32, ms.float16, "x was mindspore.float32, is mindspore.float16"),
    ("equal", slice(1, 2), slice(1, 2), slice(1, 3), "x was slice(1, 2, None), is slice(1, 3, None)"),
    ("is", Pin(OTHER), OTHER, Thing(), "x was another object"),
    ("type", list, [], (), "x was <class 'list'>, is ()"),
    ("len", 2, [1, 2], [1], "length of x was 2, is 1"),
    ("keys", ["a", "b"], {"a": 1, "b": 2}, {"b": 1, "a": 2}, "x was"),
    ("elements", {1, 2}, {2, 1}, {1}, "x was"),
    ("no item", "k", {}, {"k": 1}, "x had no 'k', now it has"),
    ("no attribute", "k", Thing(), Thing(k=1), "x had no 'k', now it has"),
    ("no own attribute", "k", Thing(), Thing(k=1), "x had no 'k', now it has"),
    ("no value", "k", Thing(), Thing(k=1), "x had no 'k', now it has"),
    ("tensor", tensor_facts(Tensor([1.0])), Tensor([5.0]), Tensor([1.0, 2.0]), "x was Tensor"),
    ("tensor", tensor_facts(Tensor([1.0])), Tensor([5.0]), Tensor([1]), "x was Tensor"),
    ("tensor", tensor_facts(Tensor([1.0])), Tensor([5.0]), Parameter(Tensor([1.0])), "x was Tensor"),
    ("tensor", tensor_facts(Tensor([1.0])), Tensor([5.0]), 1.0, "is 1.0"),
]


@pytest.mark.parametrize(("check", "expected", "fits", "differs", "reason"), FACTS, ids=lambda v: str(v)[:20])
def test_every_kind_of_guard(check, expected, fits, differs, reason):
    guards = GuardSet()
    guards.add(X, check, expected)
    (guard,) = guards.guards
    assert guards.check([fits]) and guard.holds([fits])
    assert not guards.check([differs]) and not guard.holds([differs])
    missed, words = guards.first_miss([differs])
    assert missed is guard and reason in words
    assert "x" in str(guard)


def test_cells_are_guarded_by_hooks_and_computing_dtype():
    cell = nn.ReLU()
    guards = GuardSet()
    guards.add(X, "cell", cell_facts(cell))
    assert guards.check([cell])
    handle = cell.register_forward_hook(lambda cell, inputs, output: None)
    assert not guards.check([cell]) and guards.first_miss([cell])[0] is guards.guards[0]
    handle.remove()
    assert guards.check([cell])


def test_what_cannot_be_read_does_not_hold():
    guards = GuardSet()
    guards.add(sources.attr(sources.item(X, "a"), "b"), "equal", 1)
    for value in ({}, {"a": 3}, None, 5):
        assert not guards.check([value])
        assert "can no longer be read" in guards.first_miss([value])[1]
    assert guards.check([{"a": Thing(b=1)}])


def test_the_same_tensor_twice():
    guards = GuardSet()
    one, two = sources.arg(0, "x"), sources.arg(1, "y")
    guards.same_objects[one, two] = None
    t = Tensor([1.0])
    assert guards.check([t, t]) and not guards.check([t, Tensor([1.0])])
    assert guards.first_miss([t, Tensor([1.0])])[1] == "x and y were the same tensor"


def test_two_objects_that_become_one():
    guards = GuardSet()
    one, two = sources.arg(0, "x"), sources.arg(1, "y")
    guards.other_objects[one, two] = None
    same: list[int] = []
    for _ in range(2):  # one by one, then natively
        assert guards.check([[], []]) and not guards.check([same, same])
    assert guards.first_miss([same, same])[1] == "x and y were different objects"


@pytest.mark.parametrize("other", [{True: 0}, {1.0: 0}, {2: 0}, {1: 0, 2: 0}, {}])
@pytest.mark.parametrize("check", ["keys", "elements"])
def test_keys_are_told_apart_from_equal_ones(check, other):
    guards = GuardSet()
    guards.add(X, check, [1])
    for _ in range(2):
        assert guards.check([{1: 5}]) and not guards.check([other])


def test_the_first_miss_is_told():
    guards = GuardSet()
    for i, name in enumerate("abc"):
        guards.add(sources.arg(i, name), "equal", i)
    assert guards.first_miss([0, 7, 8])[1] == "b was 1, is 7"
    assert len(guards.guards) == 3


def test_guards_are_not_repeated():
    guards = GuardSet()
    for _ in range(3):
        guards.add(X, "equal", 1)
        guards.add(X, "keys", ["a"])
    assert len(guards.guards) == 2
