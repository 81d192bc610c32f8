"""Finalizers run where the last reference goes, however deep the object is in what a program lets go of."""

from __future__ import annotations

import functools
import weakref

import pytest

import duograph as ms
from duograph import Tensor

ENDED: list = []


class Ending:
    def __del__(self):
        ENDED.append("end")


class Watched:
    """Its end is told to a weak reference."""


class Holder:
    def __init__(self, held):
        self.held = held


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held


def function_of(value):
    return lambda: value


def function_with_its_own_globals(value):
    return eval("lambda: value", {"value": value})


WAYS = {
    "itself": lambda value: value,
    "lists": lambda value: [[[[[[value]]]]]],
    "objects": lambda value: functools.reduce(lambda held, _: Holder(held), range(8), value),
    "slots": lambda value: Slotted(Slotted(value)),
    "key of a dictionary": lambda value: {value: 1},
    "set": lambda value: frozenset([value]),
    "closure": function_of,
    "default": lambda value: lambda x=value: x,
    "globals": function_with_its_own_globals,
    "partial": lambda value: functools.partial(print, value),
    "method": lambda value: Holder(value).__init__,
    "iterator": lambda value: iter([value]),
    "generator": lambda value: (v for v in [value]),
}


def lets_go(x, box):
    box.held = None
    return x * 2, len(ENDED)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("told", ["__del__", "weak reference"])
def test_the_end_of_what_is_dropped_is_seen_at_its_place(way, told):
    compiled, references = ms.jit(lets_go), []
    for fn in (lets_go, compiled, compiled):
        value = Ending() if told == "__del__" else Watched()
        if told != "__del__":
            references.append(weakref.ref(value, lambda _: ENDED.append("end")))
        box = Holder(WAYS[way](value))
        del value
        ENDED.clear()
        assert fn(Tensor([1.0]), box)[1] == 1


def weighed(x, reference):
    found = reference()
    return x * 0 if found is None else x * found.held


def test_a_version_keeps_nothing_that_a_weak_reference_shows():
    compiled, holder = ms.jit(weighed), Holder(Tensor([2.0]))
    reference = weakref.ref(holder)
    assert [compiled(Tensor([1.0]), reference).tolist() for _ in range(2)] == [[2.0], [2.0]]
    del holder
    assert compiled(Tensor([1.0]), reference).tolist() == [0.0]


def emptied(x, items, reference):
    del items[:]
    return x * 2, reference() is None


def replaced(x, items, reference):
    items[:] = [1]
    return x * 2, reference() is None


def multiplied(x, items, reference):
    items *= 0
    return x * 2, reference() is None


def lengthened(x, items, reference):
    items += [1]
    items.clear()
    return x * 2, reference() is None


@pytest.mark.parametrize("program", [emptied, replaced, multiplied, lengthened])
def test_a_version_does_not_keep_what_an_operator_takes_out_of_a_list(program):
    compiled = ms.jit(program)
    for _ in range(2):
        items = [Watched()]
        assert compiled(Tensor([1.0]), items, weakref.ref(items[0]))[1]


def test_what_holds_very_much_is_left_to_python():
    compiled = ms.jit(lets_go)
    compiled(Tensor([1.0]), Holder([[i] for i in range(2000)]))
    assert "holds many others" in str(compiled.explain().fallbacks[0])


@pytest.mark.parametrize("held", [3, [1.0] * 5000, {"a": (1, "b")}, Tensor([1.0]), Holder(Holder([2]))])
def test_what_ends_silently_is_captured(held):
    compiled = ms.jit(lets_go)
    for _ in range(2):
        assert compiled(Tensor([1.0]), Holder(held))[0].tolist() == [2.0]
    assert not compiled.explain().fallbacks


def numbers(x):
    try:
        yield x
        yield x * 2
    finally:
        ENDED.append("end")


def delegating(x):
    yield from numbers(x)


def taken(x, is_read):
    items = delegating(x)
    out = [next(items)]
    if is_read:
        out += [items.throw(KeyError)]
    return out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_generators_end_where_their_program_drops_them(mode):
    compiled = ms.jit(taken, capture_mode=mode)
    with pytest.raises(KeyError):
        compiled(Tensor([1.0]), True)
    given = ms.jit(lambda x, held: x * 2, capture_mode=mode)
    for _ in range(3):
        ENDED.clear()
        compiled(Tensor([1.0]), False)
        assert ENDED == ["end"]
        items = numbers(Tensor([1.0]))
        next(items)
        given(Tensor([1.0]), items)
        del items
        assert ENDED == ["end", "end"]


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: (v,), lambda v: {"a": v}])
def test_what_is_deeper_than_the_stack_is_left_to_python(wrap):
    def f(x, v):
        while not isinstance(v, int):
            (v,) = v.values() if isinstance(v, dict) else v
            x = x + 1
        return x

    compiled, held = ms.jit(f), 1
    assert compiled(Tensor([0.0]), wrap(held)).tolist() == [1.0]
    for _ in range(3000):
        held = wrap(held)
    for _ in range(3):
        assert compiled(Tensor([0.0]), held).tolist() == [3000.0]
