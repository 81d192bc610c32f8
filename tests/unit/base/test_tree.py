"""Flatten and unflatten are inverse, and keep the types of containers."""

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duograph.base import tree
from duograph.base.tree import LEAF, flatten, leaves, map_tree, register_container, unflatten

Point = namedtuple("Point", "x y")


class Typed(NamedTuple):
    a: object
    b: object = 3


@dataclasses.dataclass
class Plain:
    left: object
    right: object = dataclasses.field(default=1, kw_only=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    value: object

    def __post_init__(self):
        assert self.value != "built twice"


class MyList(list):
    pass


def containers(inner):
    key = st.text("abc", max_size=2) | st.integers(0, 3)
    return (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(key, inner, max_size=3)
        | st.dictionaries(key, inner, max_size=3).map(OrderedDict)
        | st.dictionaries(key, inner, max_size=3).map(lambda d: defaultdict(list, d))
        | st.builds(Point, inner, inner)
        | st.builds(Plain, inner, right=inner)
        | st.builds(Frozen, inner)
    )


def same(a, b):
    """Equal, and of the same container types all the way down."""
    return a == b and repr(a) == repr(b)


@given(st.recursive(st.integers() | st.none(), containers))
def test_round_trip(value):
    found, spec = flatten(value)
    assert spec.num_leaves == len(found)
    assert same(unflatten(spec, found), value)
    again = flatten(value)[1]
    assert again == spec and hash(again) == hash(spec)
    assert flatten(map_tree(lambda leaf: object(), value))[1] == spec


def test_leaves_keep_their_identity_and_order():
    a, b, c = object(), MyList([1]), None
    assert [id(x) for x in leaves({"z": a, "b": (b, [c])})] == [id(a), id(b), id(c)]


def test_specs_tell_nestings_apart():
    values = [1, (1,), [1], {"a": 1}, {"b": 1}, OrderedDict(a=1), Point(1, 2), (1, 2), Typed(1, 2), Plain(1), Frozen(1)]
    values += [{"a": 1, "b": 2}, {"b": 2, "a": 1}, (), [], {}]
    specs = [flatten(value)[1] for value in values]
    assert len(set(specs)) == len(values)
    assert specs[0] is LEAF and LEAF.is_leaf()


def test_printed_form():
    spec = flatten(({"w": [1, 2], 3: ()}, Point(1, Plain(2))))[1]
    assert str(spec) == "({'w': [*, *], 3: ()}, Point(x: *, y: Plain(left: *, right: *)))"
    assert str(flatten((1,))[1]) == "(*,)"
    assert repr(LEAF) == "TreeSpec(*)"


def test_default_factory_survives():
    value = unflatten(flatten(defaultdict(list, a=1))[1], [5])
    assert value["new"] == [] and value["a"] == 5


def test_is_leaf():
    found, spec = flatten([(1, 2), [3]], is_leaf=lambda v: isinstance(v, tuple))
    assert found == [(1, 2), 3] and str(spec) == "[*, [*]]"
    assert map_tree(len, [(1, 2)], is_leaf=lambda v: isinstance(v, tuple)) == [2]


def test_map_over_several():
    assert map_tree(lambda a, b: a + b, {"a": (1, 2)}, {"a": (10, 20)}) == {"a": (11, 22)}
    with pytest.raises(ValueError, match="nestings differ"):
        map_tree(max, (1, 2), [1, 2])


def test_wrong_number_of_leaves():
    with pytest.raises(ValueError, match="takes 2 leaves, not 1"):
        unflatten(flatten((1, 2))[1], [1])


def test_a_list_that_contains_itself():
    ring = []
    ring.append(ring)
    with pytest.raises(ValueError, match="contains itself"):
        flatten(ring)


def test_registration(monkeypatch):
    monkeypatch.setattr(tree, "_containers", dict(tree._containers))
    monkeypatch.setattr(tree, "_kinds", {})
    assert leaves([Frozen(1)]) == [1]
    assert leaves(MyList([1, 2])) == [[1, 2]]
    register_container(MyList, lambda v: (list(v), None), lambda data, items: MyList(items))
    found, spec = flatten(MyList([1, 2]))
    assert found == [1, 2] and type(unflatten(spec, found)) is MyList
    assert str(spec) == "MyList(0: *, 1: *)"
