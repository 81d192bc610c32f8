"""Guards read attributes as they were found: no code of the user answers where the attribute is gone meanwhile."""

from __future__ import annotations

import functools

import pytest

import duograph as ms
from duograph import Tensor

MODES = [None, "ast", "bytecode", "trace"]


class Cached:
    def __init__(self):
        self.gain = 1

    @functools.cached_property
    def doubled(self):
        return self.gain * 2


class Lazy:
    def __init__(self, fn):
        self.fn = fn

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, held, owner=None):
        held.__dict__[self.name] = made = self.fn(held)
        return made


class WithLazy:
    def __init__(self):
        self.gain = 1

    @Lazy
    def doubled(self):
        return self.gain * 2


class Hooked:
    def __init__(self):
        self.gain = 1

    def __getattr__(self, name):
        if name != "doubled":
            raise AttributeError(name)
        self.doubled = self.gain * 2
        return self.doubled


def step(held, x):
    held.gain = held.gain * 3
    return x * held.doubled


def _compiled(function, mode):
    return function if mode is None else ms.jit(function, capture_mode=mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [Cached, WithLazy, Hooked])
def test_what_is_kept_is_dropped(kind, mode):
    held, compiled = kind(), _compiled(step, mode)
    for call, expected in enumerate([6, 6, 54, 54, 486, 1458]):
        if call in (2, 4, 5):
            del held.doubled
        assert compiled(held, Tensor([1.0])).tolist() == [expected]
        assert (held.gain, held.doubled) == (3 ** (call + 1), expected)


@pytest.mark.parametrize("mode", MODES)
def test_an_attribute_of_a_class_becomes_a_property(mode):
    log = []

    class Held:
        gain = 3

    held, compiled = Held(), _compiled(lambda x: x * held.gain, mode)
    for call in range(6):
        if call == 3:
            Held.gain = property(lambda self: log.append("read") or 4)
        assert compiled(Tensor([1.0])).tolist() == [3.0 if call < 3 else 4.0]
        assert len(log) == max(0, call - 2)


@pytest.mark.parametrize("mode", MODES)
def test_an_attribute_of_a_class_is_hidden_and_shown_again(mode):
    class Held:
        gain = 3

    held, compiled = Held(), _compiled(lambda h, x: x * h.gain, mode)
    for call in range(12):
        if call % 4 == 2:
            held.gain = call
        elif call % 4 == 0:
            vars(held).clear()
        if call == 8:
            Held.gain = 5
        own = vars(held).get("gain", Held.gain)
        assert compiled(held, Tensor([1.0])).tolist() == [own]
