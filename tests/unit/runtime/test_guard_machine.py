"""The guard machine: every operation holds and fails when it should, whatever it remembers of earlier calls."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from duograph import Parameter, Tensor
from duograph.runtime import cpython
from duograph.runtime.cpython import Unsupported, layout
from duograph.runtime.guard_machine import MOST_REGISTERS, GuardProgram

F32 = np.dtype(np.float32)


def checked(n_args: int, write: Callable[[GuardProgram], None]) -> Callable[..., bool]:
    program = GuardProgram(n_args)
    write(program)
    return program.function()


def test_this_python_has_versions():
    """If not, guards are right all the same, but slow: a new Python deserves a look."""
    assert layout().has_versions or sys.version_info >= (3, 13)


def test_tensors_by_class_dtype_shape_and_layout():
    check = checked(1, lambda p: p.tensor(p.arg(0), Tensor, F32, (2, 3), True))
    array = np.zeros((2, 3), np.float32)
    assert check(Tensor(array))
    for other in (
        Tensor(array.astype(np.float64)), Tensor(array[:1]), Tensor(array.ravel()), Tensor(array.reshape(3, 2)).T,
        Parameter(Tensor(array)), array, None, 3,
    ):  # fmt: skip
        assert not check(other)
    assert not check() and not check(Tensor(array), Tensor(array))


def test_extents_and_layouts_that_may_be_anything():
    check = checked(1, lambda p: p.tensor(p.arg(0), Tensor, F32, (None, 3), None))
    assert check(Tensor(np.zeros((5, 3), np.float32))) and check(Tensor(np.zeros((3, 9), np.float32)).T)
    assert not check(Tensor(np.zeros((3, 5), np.float32)))


@pytest.mark.parametrize("value", [3, "text", b"bytes", 1.5, float("nan"), -0.0, True, None, 1 << 70])
def test_equal_values(value):
    check = checked(1, lambda p: p.equal(p.arg(0), value))
    same = type(value)(str(value)) if type(value) in (int, float) else value
    assert check(same)
    for other in (4, "other", b"", 2.5, 0.0, False, (), 1 << 71):
        assert not check(other)


def test_what_dictionaries_hold():
    held: dict[str, Any] = {"a": 1}
    program = GuardProgram(0)
    program.is_(program.lookup(held, "a"), one := 1)
    program.absent(held, "b")
    check = program.function()
    assert check() and check()
    held["c"] = 3
    assert check()
    held["b"] = 2
    assert not check()
    del held["b"]
    assert check()
    held["a"] = 2
    assert not check()
    del held["a"]
    assert not check()
    held["a"] = one
    assert check()


def test_keys_in_their_order():
    check = checked(1, lambda p: p.keys(p.arg(0), ["a", "b"]))
    held = {"a": 1, "b": 2}
    assert check(held) and check(held) and check({"a b"[:1]: 0, "b": 0})
    held["a"] = 3
    assert check(held)
    held["a"] = held.pop("a")
    assert not check(held)
    for other in ({"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 1, 2: 2}, {}, ["a", "b"], None):
        assert not check(other)


def test_items_of_containers_and_dictionaries_of_objects():
    class Holder:
        pass

    program = GuardProgram(3)
    program.equal(program.at(program.arg(0), 1), 7)
    program.equal(program.key(program.arg(1), "k"), 8)
    program.equal(program.own(program.arg(2), "x"), 9)
    check = program.function()
    holder = Holder()
    holder.x = 9
    assert check([0, 7], {"k": 8}, holder) and check((0, 7), {"k": 8}, holder)
    assert not check([7], {"k": 8}, holder) and not check({0: 0, 1: 7}, {"k": 8}, holder)
    assert not check([0, 7], {}, holder) and not check([0, 7], [8], holder)
    other = Holder()
    assert not check([0, 7], {"k": 8}, other) and not check([0, 7], {"k": 8}, 5)
    other.x = 9
    assert check([0, 7], {"k": 8}, other)
    holder.x = 10
    assert not check([0, 7], {"k": 8}, holder)


def test_what_classes_define():
    class Base:
        def method(self):
            return 1

    class Derived(Base):
        pass

    program = GuardProgram(0)
    program.is_(program.member(Derived, "method"), Base.method)
    check = program.function()
    assert check() and check()
    original = Base.method
    Base.method = lambda self: 2
    assert not check()
    Base.method = original
    assert check()
    Derived.method = lambda self: 3
    assert not check()
    del Derived.method
    assert check()


def test_fields_of_functions_and_closures():
    value = 1

    def function(a=3):
        return a + value

    cell = function.__closure__[0]
    program = GuardProgram(0)
    defaults = program.field(function, cpython.FUNCTION_FIELDS["__defaults__"])
    program.equal(program.at(defaults, 0), 3)
    program.equal(program.cell(cell), 1)
    check = program.function()
    assert check()
    value = 2
    assert not check()
    value = 1
    function.__defaults__ = (4,)
    assert not check()
    function.__defaults__ = None
    assert not check()


def test_lengths_and_classes():
    check = checked(1, lambda p: p.len_(p.arg(0), list, 2))
    assert check([1, 2]) and not check([1]) and not check((1, 2)) and not check(None)


def test_exceptions_are_failures():
    class Angry:
        def __getattr__(self, name):
            raise RuntimeError(name)

    check = checked(1, lambda p: p.is_(p.attr(p.arg(0), "x"), None))
    assert not check(Angry())
    assert not checked(0, lambda p: p.python(lambda: 1 / 0))()


def test_references_are_given_back():
    """Also those of a program in which Python runs, which owns what it has loaded."""
    shared = object()
    held = {"a": shared, "list": [shared]}

    def write(program):
        program.is_(program.lookup(held, "a"), shared)
        program.is_(program.at(program.key(program.arg(0), "list"), 0), shared)
        program.python(lambda d: d is held)

    check = checked(1, write)
    assert check(held)
    before = sys.getrefcount(shared)
    for _ in range(100):
        assert check(held)
        assert not check({"list": [shared]})
    gc.collect()
    assert sys.getrefcount(shared) == before


def test_too_many_values():
    program = GuardProgram(1)
    for _ in range(MOST_REGISTERS):
        program.arg(0)
    with pytest.raises(Unsupported):
        program.arg(0)
