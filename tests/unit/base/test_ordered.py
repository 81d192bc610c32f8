"""Ordered collections and graph orders."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duograph.base.ordered import (
    CycleError,
    OrderedSet,
    Worklist,
    postorder,
    reachable,
    strongly_connected,
    topological_sort,
)


@given(st.lists(st.tuples(st.sampled_from(["add", "discard"]), st.integers(0, 9))))
def test_ordered_set_is_a_dict_of_keys(steps):
    subject, model = OrderedSet(), {}
    for verb, item in steps:
        getattr(subject, verb)(item)
        if verb == "add":
            model.setdefault(item)
        else:
            model.pop(item, None)
        assert list(subject) == list(model) and len(subject) == len(model)
        assert list(reversed(subject)) == list(reversed(model))


def test_ordered_set_operations():
    a, b = OrderedSet("bca"), OrderedSet("cxb")
    assert list(a | b) == list("bcax") and list(a & b) == list("cb") and list(a - b) == ["a"]
    assert a != OrderedSet("abc") and a == {"a", "b", "c"} and a == OrderedSet("bca")
    assert a.pop() == "a" and a.pop_first() == "b" and list(a) == ["c"]
    a.update("zc")
    copy = a.copy()
    a.clear()
    assert repr(copy) == "OrderedSet(['c', 'z'])" and not a
    for empty in (a.pop, a.pop_first):
        with pytest.raises(KeyError):
            empty()
    with pytest.raises(TypeError):
        hash(a)


def test_worklist_holds_each_item_once():
    work, done = Worklist([1, 2, 1]), []
    for item in work:
        done.append(item)
        if item < 3:
            work.add(item + 1)
    assert done == [1, 2, 3] and len(work) == 0
    with pytest.raises(IndexError):
        work.take()


DIAMOND = {"d": ["b", "c"], "b": ["a"], "c": ["a"], "a": []}


def test_postorder():
    assert postorder(["d"], DIAMOND.__getitem__) == ["a", "b", "c", "d"]
    assert postorder(["c", "d"], DIAMOND.__getitem__) == ["a", "c", "b", "d"]
    assert postorder([], DIAMOND.__getitem__) == []


def test_postorder_is_not_recursive():
    assert len(postorder([100_000], lambda n: [n - 1] if n else [])) == 100_001


def test_cycles():
    ring = {1: [2], 2: [3], 3: [2]}
    with pytest.raises(CycleError, match="cycle: 2 -> 3 -> 2") as caught:
        postorder([1], ring.__getitem__)
    assert caught.value.cycle == [2, 3]
    assert postorder([1], ring.__getitem__, allow_cycles=True) == [3, 2, 1]


def test_topological_sort_keeps_order_and_skips_strangers():
    assert topological_sort("dab", DIAMOND.__getitem__) == ["a", "b", "d"]
    assert topological_sort([3, 1, 2], lambda n: []) == [3, 1, 2]


def test_reachable_is_breadth_first():
    assert list(reachable(["d"], DIAMOND.__getitem__)) == ["d", "b", "c", "a"]


def graphs():
    edge = st.tuples(st.integers(0, 7), st.integers(0, 7))
    return st.lists(edge).map(lambda edges: {n: [b for a, b in edges if a == n] for n in range(8)})


@given(graphs())
def test_strongly_connected_against_reachability(graph):
    reach = {n: set(reachable([n], graph.__getitem__)) for n in graph}
    components = strongly_connected(graph, graph.__getitem__)
    assert sorted(n for c in components for n in c) == sorted(graph)
    where = {n: i for i, c in enumerate(components) for n in c}
    for a in graph:
        for b in graph:
            assert (where[a] == where[b]) == (b in reach[a] and a in reach[b])
            if b in reach[a]:
                assert where[b] <= where[a]


@given(graphs(), st.randoms())
def test_postorder_of_random_dags(graph, rng: random.Random):
    dag = {n: [m for m in edges if m < n] for n, edges in graph.items()}
    roots = list(dag)
    rng.shuffle(roots)
    order = postorder(roots, dag.__getitem__)
    assert sorted(order) == sorted(dag)
    assert all(order.index(m) < order.index(n) for n in dag for m in dag[n])
