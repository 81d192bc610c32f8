"""Where hashes collide, the order of a set is its history: compiled, it is that of eager, or Python answers."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor

X = Tensor([1.0])


def copied(x, s):
    return x, list(set(s)), list(s.copy()), list(frozenset(s))


def joined(x, s):
    return x, list(s | {16}), list(s & {0, 8, 16, 24}), list(s - {24}), list(s ^ {8})


def grown(x, s):
    made = s.copy()
    made.update([32, 40])
    other = {1, 9}
    other.update(s)
    other |= made
    return x, made, frozenset(made), other


def made_inside(x, s):
    made = set()
    for v in (24, 16, 8, 0, 32):
        made.add(v)
    made.discard(24)
    made.add(24)
    return x, made


def gone_through(x, s):
    return x, [v for v in s], sorted(s), {v: 1 for v in s}, next(iter(s), None)


SETS = {
    "few": ((0, 8, 16), ()),
    "another order": ((16, 8, 0), ()),
    "with gaps": ((0, 16, 8, 24, 32), (24, 32)),
    "at the end of the table": ((31, 23, 15, 7, 0), ()),
    "many": (range(0, 400, 8), ()),
    "many, downwards": (range(392, -8, -8), ()),
    "few that were many": (range(0, 4000, 8), range(32, 4000, 8)),
    "texts": (["b", "a", "c", "d", "e", "f"], ()),
}


def made(elements, without):
    found = set()
    for v in elements:
        found.add(v)
    for v in without:
        found.discard(v)
    return found


@pytest.mark.parametrize("fn", [copied, joined, grown, made_inside, gone_through])
def test_orders_of_sets(fn):
    compiled = ms.jit(fn)
    for _ in range(2):
        for elements, without in SETS.values():
            mine, theirs = made(elements, without), made(elements, without)
            assert str(compiled(X, mine)) == str(fn(X, theirs))
            assert str(mine) == str(theirs)


def test_sets_without_history_are_captured():
    for fn in (copied, joined, gone_through):
        compiled = ms.jit(fn)
        for _ in range(3):
            compiled(X, {1, 2, 3})
        assert len(compiled.explain().versions) == 1 and not compiled.explain().fallbacks
