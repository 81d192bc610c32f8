"""The guard machine: every operation holds and fails when it should, whatever it remembers of earlier calls."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from duograph import Parameter, Tensor
from duograph.runtime.guards.program import MOST_REGISTERS, GuardProgram
from duograph.runtime.python import cpython
from duograph.runtime.python.cpython import Unsupported, layout

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


class Small:
    pass


class WithSlots:  # CPython 3.13 makes the dictionary of its objects with their first attribute
    __slots__ = ("__dict__", "slot")


@pytest.mark.parametrize("cls", [Small, WithSlots])
def test_objects_that_lack_a_name(cls):
    program = GuardProgram(1)
    program.owns_no(program.arg(0), "x")
    check = program.function()
    owner = cls()
    assert check(cls()) and check(owner) and check(owner)
    owner.y = 1
    assert check(owner)
    owner.x = 1
    assert not check(owner) and check(cls())
    del owner.x
    assert check(owner) and not check(5)


def holding(program, held, cls):
    """Checks of three dictionaries and two classes, among them what holds for no key."""
    program.holds(held, "a", A)
    program.absent(held, "b")
    program.overrides(held, "c", A)
    with program.about(held):
        program.equal(program.at(program.lookup(held, "numbers"), 1), 2.5)
    program.values(held["inner"], (A, A))
    program.empty(held["none"])
    program.defines(cls, "method", vars(cls.__mro__[1])["method"])
    program.lacking(cls, "other")


A = object()


@pytest.mark.parametrize("versions", [True, False])
def test_groups_about_dictionaries_and_classes(versions, monkeypatch):
    """Each change is noticed, whatever else has changed before, and what is put back holds again."""
    if not versions:
        monkeypatch.setattr(layout(), "has_versions", False)
        monkeypatch.setattr(layout(), "has_class_versions", False)

    class Base:
        def method(self):
            return 1

    class Derived(Base):
        pass

    inner, none = {"x": A, "y": A}, {}
    held = {"a": A, "numbers": (1, 2.5), "inner": inner, "none": none}
    before, method = dict(held), Base.method
    check = checked(0, lambda p: holding(p, held, Derived))
    changes = [
        (lambda: held.update(a=1), False), (lambda: held.pop("a"), False), (lambda: held.update(b=1), False),
        (lambda: held.update(c=1), False), (lambda: held.update(c=A), True), (lambda: held.update(d=1), True),
        (lambda: held.update(numbers=(1, 2.0)), False), (lambda: held.update(numbers=(1, float("2.5"))), True),
        (lambda: held.update(numbers=[1]), False), (lambda: inner.update(z=A), False), (lambda: inner.pop("y"), False),
        (lambda: inner.update(x=1), False), (lambda: none.update(x=1), False),
        (lambda: setattr(Base, "method", len), False), (lambda: setattr(Derived, "method", len), False),
        (lambda: setattr(Derived, "method", method), True), (lambda: setattr(Base, "other", 1), False),
        (lambda: setattr(Base, "another", 1), True),
    ]  # fmt: skip
    for change, holds in changes:
        assert check() and check()
        change()
        assert [check(), check()] == [holds, holds]
        held.clear()
        held.update(before)
        inner.clear()
        inner.update(x=A, y=A)
        none.clear()
        Base.method = method
        for cls, name in ((Derived, "method"), (Base, "other")):
            if name in vars(cls):
                delattr(cls, name)


@pytest.mark.parametrize("versions", [True, False])
def test_a_group_of_which_nothing_is_asked_never_fails(versions, monkeypatch):
    """Whatever changes: all that was assumed of the dictionary, or the class, was assumed of what it holds."""
    if not versions:
        monkeypatch.setattr(layout(), "has_versions", False)
        monkeypatch.setattr(layout(), "has_class_versions", False)

    class Holder:
        pass

    held, inner = {"inner": None}, {"a": A}

    def write(p):
        with p.about(held), p.about(Holder):
            p.holds(inner, "a", A)
        with p.about(Holder):
            pass

    check = checked(0, write)
    assert check() and check()
    held["b"] = Holder.b = 1
    assert check() and check()
    inner["a"] = 1
    assert not check()


def test_a_change_while_a_group_is_checked_is_looked_at_again():
    """A key that compares in Python changes the dictionary after its first item was found to be right."""
    held, changed = {}, []

    class Key:
        def __hash__(self):
            return hash("b")

        def __eq__(self, other):
            if changed == ["armed"]:
                changed.append("changed")
                held["a"] = 1
            return False

    held.update({"a": A, Key(): 0})
    check = checked(0, lambda p: (p.holds(held, "a", A), p.absent(held, "b")))
    changed.append("armed")
    check()
    assert changed == ["armed", "changed"]
    assert not check()


def test_fields_of_objects():
    class Holder:
        pass

    def function():
        return 1

    holder = Holder()
    program = GuardProgram(0)
    own = program.own_dictionary(holder)
    program.fixed(function, cpython.FUNCTION_FIELDS["__code__"], function.__code__)
    program.fixed(holder, cpython.TYPE, Holder)
    check = program.function()
    assert own is vars(holder) and check()
    original, function.__code__ = function.__code__, (lambda: 2).__code__
    assert not check()
    function.__code__ = original
    assert check()
    holder.__class__ = type("Other", (Holder,), {})
    assert not check()
    holder.__class__ = Holder
    assert check()
    holder.x = 1
    assert check()
    holder.__dict__ = {"x": 1}
    assert not check()


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
    angry = Angry()
    before = sys.getrefcount(RuntimeError)
    for _ in range(100):
        assert not check(angry)
    assert sys.getrefcount(RuntimeError) < before + 50, "the exceptions are gone"


def test_what_the_function_in_python_raises_is_its_own():
    """It has dealt with what says that guards do not hold (`GuardSet._judged`)."""
    with pytest.raises(ZeroDivisionError):
        checked(0, lambda p: p.python(lambda: 1 / 0))()


@pytest.mark.parametrize("raised", [TimeoutError, ValueError, KeyboardInterrupt])
def test_an_exception_of_a_signal_handler_is_no_answer(raised):
    class Late:
        def __getattr__(self, name):
            signal.raise_signal(signal.SIGUSR1)
            time.sleep(1)

    def handler(number, frame):
        raise raised("too late")

    check = checked(1, lambda p: p.is_(p.attr(p.arg(0), "x"), None))
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(raised, match="too late"):
            check(Late())
    finally:
        signal.signal(signal.SIGUSR1, before)


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


def test_a_thread_of_little_stack_checks_many_values():
    program, held = GuardProgram(1), object()
    for _ in range(MOST_REGISTERS // 2):
        program.is_(program.const(held), held)
    program.is_(program.arg(0), held)
    check = program.function()
    answers = []
    before = threading.stack_size(64 << 10)
    try:
        thread = threading.Thread(target=lambda: answers.extend((check(held), check(answers), check(held))))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert answers == [True, False, True]


def test_too_many_values():
    program = GuardProgram(1)
    for _ in range(MOST_REGISTERS - 1):
        program.const(None)
    with pytest.raises(Unsupported):
        program.const(None)
