"""Objects with slots, which the program has made, are made anew in each call, as all others are."""

import dataclasses

import pytest

import duograph as ms
from duograph import Tensor


class Slots:
    __slots__ = ("first", "second")

    def __init__(self, first, second):
        self.first, self.second = first, second


class Told(Slots):
    __slots__ = ()

    def __new__(cls, first, second):
        return super().__new__(cls)


def test_each_call_makes_another_object():
    compiled = ms.jit(lambda *values: Slots(*values))
    made = [compiled([n], Tensor([n])) for n in (1, 1, 2, 3, 1)]
    assert [one.first for one in made] == [[1], [1], [2], [3], [1]]
    assert [one.second.item() for one in made] == [1, 1, 2, 3, 1]
    assert len(set(map(id, made))) == 5 and not compiled.explain().fallbacks


@pytest.mark.parametrize("options", [{}, {"slots": True}, {"frozen": True, "slots": True}], ids=str)
def test_a_dataclass_holds_any_object(options):
    """Also one that has something to say about comparisons; nobody compares."""
    pair = dataclasses.make_dataclass("Pair", ["first", ("second", object, 2)], **options)

    def held(x):
        one = pair(Slots(x, Equal()))
        return pair(one, Equal()).first is one, pair(one, pair(x)), x * 2

    same, made, _ = ms.jit(held, fullgraph=True)(Tensor([1]))
    assert same and made.first.first.first.item() == made.second.first.item() == 1 and made.second.second == 2


class Equal:
    def __eq__(self, other):
        raise AssertionError

    __hash__ = None


def test_a_slot_that_is_empty_stays_empty():
    def emptied(x):
        one = Slots.__new__(Slots)
        one.first = x * 2
        return one

    assert not hasattr(ms.jit(emptied)(Tensor([1])), "second")


def test_the_reason_is_named():
    compiled = ms.jit(lambda value: Told(value, 1))
    assert compiled("text").first == "text"
    assert "class 'Told', whose __new__ takes arguments, leaves it" in str(compiled.explain().fallbacks[0])
