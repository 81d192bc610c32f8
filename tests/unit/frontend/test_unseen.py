"""Code of ours that looks at an object of the user must not run what the user's class does about it."""

import duograph as ms
from duograph import Tensor

LOG: list[str] = []


class Noting:
    def __getattribute__(self, name):
        LOG.append(name)
        return object.__getattribute__(self, name)

    @ms.jit
    def double(self, x):
        return x * 2


class Disguised:
    @property
    def __class__(self):
        LOG.append("class")
        return int


class Told:
    def __repr__(self):
        LOG.append("repr")
        return "told"


def second(x, other):
    return x * 2


def test_arguments_are_not_looked_at_in_the_place_of_a_tensor():
    x = Tensor([1.0, 2.0])
    for other in (Noting(), Disguised(), Told()):
        compiled = ms.jit(second)
        LOG.clear()
        for given in (x, other, other, None, other, x, [other], (other, x), {"a": other}):
            assert compiled(x, given).tolist() == [2.0, 4.0]
        assert LOG == []


def test_the_object_of_a_method_is_not_looked_at():
    noting, x = Noting(), Tensor([1.0, 2.0])
    LOG.clear()
    for _ in range(3):
        assert noting.double(x).tolist() == [2.0, 4.0]
    assert LOG == ["double"] * 3


def test_reason():
    compiled = ms.jit(second)
    compiled(Tensor([1.0]), Noting())
    compiled(Tensor([1.0]), Disguised())
    getattribute, disguise = map(str, compiled.explain().fallbacks)
    assert "Noting" in getattribute and "__getattribute__ runs when capture looks at it" in getattribute
    assert "Disguised" in disguise and "__class__" in disguise


def test_a_class_that_becomes_such_a_class():
    class Plain:
        gain = 6

    held = Plain()

    @ms.jit
    def f(x):
        return x * held.gain

    x = Tensor([1.0])
    assert f(x).tolist() == f(x).tolist() == [6.0]
    Plain.__getattribute__ = Noting.__getattribute__
    for _ in range(3):
        LOG.clear()
        assert f(x).tolist() == [6.0]
        assert LOG == ["gain"]
