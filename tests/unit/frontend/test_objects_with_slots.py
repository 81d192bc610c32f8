"""Objects without a dictionary are made anew in each call, as all others: no recipe can make them, so none are kept."""

import duograph as ms
from duograph import Tensor


class Slots:
    __slots__ = ("first", "second")

    def __init__(self, first, second):
        self.first, self.second = first, second


def test_each_call_makes_another_object():
    compiled = ms.jit(lambda *values: Slots(*values))
    made = [compiled([n], Tensor([n])) for n in (1, 1, 2, 3, 1)]
    assert [one.first for one in made] == [[1], [1], [2], [3], [1]]
    assert [one.second.item() for one in made] == [1, 1, 2, 3, 1]
    assert len(set(map(id, made))) == 5


def test_the_reason_is_named():
    compiled = ms.jit(lambda value: Slots(value, 1))
    assert compiled("text").first == "text"
    assert "class 'Slots', which has slots, leaves the program" in str(compiled.explain().fallbacks[0])
