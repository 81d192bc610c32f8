"""Attributes that some paths set or delete: on the others the owner stays without them, and inherits."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor

MODES = [{}, {"jit_level": "O0"}, {"backend": "interpreter"}]


def world():
    class Base:
        factor = 2
        limit = 5

    class Box(Base):
        pass

    box = Box()
    box.value = 1

    def set_on_the_object(x, n):
        if x.sum() > 3:
            box.factor = n
        return x * box.factor

    def set_on_the_class(x, n):
        if x.sum() > 3:
            Box.factor = n
        return x * box.factor

    def deleted(x, n):
        if x.sum() > 3:
            if "value" in vars(box):
                del box.value
        else:
            box.value = n
        return x

    def new_on_one_path(x, n):
        if x.sum() > 3:
            box.extra = n
        return x + getattr(box, "extra", 0)

    def in_a_loop(x, n):
        while x.sum() < 3:
            box.limit = n
            x = x + 1
        return x * box.limit

    def on_both_paths(x, n):
        if x.sum() > 3:
            box.factor = n
        else:
            box.factor = n + 1
        return x * box.factor

    def method_on_the_class(x, n):
        Box.twice = lambda self, y: y * n
        return box.twice(x)

    def special_method_on_the_class(x, n):
        Box.__len__ = lambda self: n + 1
        return x * len(box)

    def deleted_and_inherited(x, n):
        box.factor = n
        y = x * box.factor
        del box.factor
        return y * box.factor

    def read_from_a_derived_class(x, n):
        Base.factor = n
        return x * Box.factor

    def shown():
        own = [
            {k: v for k, v in vars(o).items() if not k.startswith("__") and not callable(v)} for o in (box, Box, Base)
        ]
        return own, box.factor, box.limit

    functions = [set_on_the_object, set_on_the_class, deleted, new_on_one_path, in_a_loop, on_both_paths]
    functions += [method_on_the_class, special_method_on_the_class, deleted_and_inherited, read_from_a_derived_class]
    return Base, shown, functions


NAMES = [f.__name__ for f in world()[2]]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_same_as_eager(name, mode):
    histories = []
    for compiling in (lambda f: f, ms.jit(**mode)):
        base, shown, functions = world()
        f = compiling(next(f for f in functions if f.__name__ == name))
        history = []
        for n, value in enumerate((1.0, 0.5, 1.0, 5.0, 0.25, 5.0, 1.0)):
            base.limit = n
            history.append((f(Tensor([value]), n).tolist(), shown()))
        histories.append(history)
    assert histories[0] == histories[1]
