"""Functions of Python that hand objects on ask nothing of them: one version serves objects that are new in each call,
and keeps none of them."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import operator
import weakref

import pytest

import duograph as ms
from duograph import Tensor, ops

X = Tensor([1.0, 2.0])


@dataclasses.dataclass
class Item:
    x: Tensor
    weight: float


def has(table, items):
    return X * 2 if "a" in table else X


def lacks(table, items):
    return X * len(items) if "q" not in table else X


def deleted_if_there(table, items):
    if "a" in table:
        del table["a"]
    table["b"] = X
    return table["b"] * 1


def copied(table, items):
    other = dict(table)
    other["c"] = X
    return other["a"].x * len(other)


def copied_with_more(table, items):
    return dict(table, c=X)["c"] * 2


def united(table, items):
    return (table | {"c": X})["a"].x * 2


def updated_in_place(table, items):
    table |= {"c": X}
    return table["c"] * table["a"].weight


def backwards(table, items):
    return [item.x for item in reversed(items)][0] + X


def chained(table, items):
    return sum(item.x for item in itertools.chain(items, table.values()))


def sliced(table, items):
    return sum(item.x for item in itertools.islice(items, 1, None))


def in_pairs(table, items):
    return sum(a.x * b.weight for a, b in itertools.pairwise(items))


def combined(table, items):
    pairs = [*itertools.combinations(items, 2), *itertools.product(items, [items[0]])]
    return sum((a.x - b.x * 2) for a, b in pairs)


def of_two_lengths(table, items):
    return [a.x if b is None else a.x * b for a, b in itertools.zip_longest(items, [2])]


@pytest.mark.parametrize("capture", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize(
    "program",
    [
        *(has, lacks, deleted_if_there, copied, copied_with_more, united, updated_in_place, backwards, chained),
        *(sliced, in_pairs, combined, of_two_lengths),
    ],
)
def test_objects_that_are_handed_on_are_known_by_what_they_hold(program, capture):
    def outcome(called, k):
        items = [Item(X * (k + j), 1.0 + j) for j in range(3)]
        table = {"a": Item(X - k, 2.0), "z": items[0]}
        result = called(table, items)
        return str(result), list(table), [weakref.ref(held) for held in (*items, *table.values()) if held is not X]

    compiled = ms.jit(program, capture_mode=capture)
    for k in range(5):
        text, keys, references = outcome(compiled, k)
        assert (text, keys) == outcome(program, k)[:2]
        assert k == 0 or all(reference() is None for reference in references)
    told = compiled.explain()
    assert len(told.versions) <= 2 and not told.fallbacks and not told.breaks


class Own:
    """Its elements are made by code of the user's."""

    def __init__(self, seen):
        self.seen = seen

    def __iter__(self):
        self.seen.append("iter")
        return iter([X, X * 2])

    def __reversed__(self):
        self.seen.append("reversed")
        return iter([X * 3])


@pytest.mark.parametrize("through", [itertools.chain, reversed, lambda o: itertools.islice(o, 1)])
def test_iteration_of_the_users_own_is_seen(through):
    def f(own):
        return sum(ops.tanh(x) for x in through(own))

    compiled = ms.jit(f)
    for _ in range(4):
        mine, theirs = [], []
        assert str(compiled(Own(mine))) == str(f(Own(theirs)))
        assert mine == theirs


def scaled(x, by, plus=0.0):
    return x * by + plus


STAGES = [functools.partial(scaled, by=2.0), functools.partial(scaled, by=0.5, plus=1.0)]
LISTS_OF_PARTIALS = {
    "repeated": lambda: STAGES * 2,
    "joined": lambda: STAGES + STAGES,
    "extended": lambda: operator.iadd([], STAGES),
    "filtered": lambda: list(filter(None, STAGES)),
    "reversed": lambda: list(reversed(STAGES)),
    "queued": lambda: collections.deque(STAGES),
    "chained": lambda: itertools.chain(STAGES, STAGES),
}


@pytest.mark.parametrize("capture", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("name", LISTS_OF_PARTIALS)
def test_partial_objects_from_outside_are_handed_on(name, capture):
    def f(x):
        for stage in LISTS_OF_PARTIALS[name]():
            x = stage(x)
        return x

    compiled = ms.jit(f, capture_mode=capture, fullgraph=True)
    assert [compiled(X).tolist() for _ in range(3)] == [f(X).tolist()] * 3
