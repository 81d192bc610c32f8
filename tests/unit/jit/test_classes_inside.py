"""Class statements in compiled functions: Python executes them, what stands around them is compiled."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import pytest

import duograph as ms
from duograph import Tensor, nn

X = Tensor([1.0, 2.0, 3.0])
FREE = 2.0
told: list[Any] = []


def work(x):
    return (x * 2).tanh() * x - x.mean()


class Base:
    def __init_subclass__(cls, **named):
        told.append((cls.__name__, cls.__qualname__, cls.__module__, named))


class Meta(type):
    def __new__(cls, name, bases, space, **named):
        space["seen"] = sorted(n for n in space if not n.startswith("__")), named
        return super().__new__(cls, name, bases, space)


def programs():
    free = 2.0

    def plain(x):
        y = work(x)

        class Scaled:
            """By a number."""

            k = free

            def __call__(self, v):
                return v * self.k

        names = Scaled.__qualname__, Scaled.__module__, Scaled.__doc__, Scaled.__call__.__qualname__
        return Scaled()(work(y)), names, getattr(Scaled, "__firstlineno__", 0)

    def tells_its_base(x):
        y = work(x)

        class Part(Base, flag=1):
            z = y

            def get(self):
                return work(self.z)

        y = work(y)
        return Part().get() + y, told[-1]

    def metaclass(x):
        y = work(x)

        class Outer(metaclass=Meta, option=2):
            p = 1

            class Inner:
                q = 2

        class Slots(Outer):
            __slots__ = ("w",)

            def __init__(self, w):
                super().__init__()
                self.w = w

            def get(self):
                return __class__.__qualname__, self.w

        name, value = Slots(y).get()
        return work(value), Outer.seen, Outer.Inner.__qualname__, name

    def raises(x):
        y = work(x)
        try:

            class Broken:
                told.append("begun")
                k = 1 / 0

        except ZeroDivisionError as error:
            return work(y) + 1, str(error)
        return y

    def loop(x):
        outs = []
        for i in range(3):

            class Hidden:
                n = i

                def __init__(self, v):
                    self.__v = v

                def value(self):
                    return self.__v * self.n

            outs.append(Hidden(work(x)).value())
        return work(outs[0] + outs[1] + outs[2]), sorted(vars(Hidden(x)))

    def decorated(x):
        y = work(x)

        @dataclasses.dataclass
        class Pair:
            v: Tensor
            k: float = 2.0

            def scaled(self):
                return work(self.v) * self.k

        class Kind(enum.Enum):
            A = 1

        return Pair(y).scaled(), repr(Kind.A), Pair.__qualname__, Pair.__annotations__

    def rebinds(x):
        k = 3.0

        class Setter:
            nonlocal k
            k = 4.0
            m = k

        return work(x) * k * Setter.m

    def cell(x):
        class Layer(nn.Cell):
            def __init__(self):
                super().__init__()
                self.k = FREE

            def construct(self, v):
                return work(v) * self.k

        return Layer()(work(x)), lambda: 0

    return {fn.__name__: fn for fn in (plain, tells_its_base, metaclass, raises, loop, decorated, rebinds, cell)}


class Owner:
    def method(self, x):
        y = work(x)

        class Inside:
            def get(self, owner):
                return owner._Owner__hidden(y)

        return Inside().get(self), Inside.__qualname__

    def __hidden(self, v):
        return work(v)


PROGRAMS = {**programs(), "method": Owner().method}


def seen(fn):
    """All that can be seen of a call."""
    told.clear()
    found = fn(X)
    shown = [v.asnumpy().tobytes() if isinstance(v, Tensor) else getattr(v, "__qualname__", v)
             for v in (found if isinstance(found, tuple) else (found,))]  # fmt: skip
    return shown, [*told]


@pytest.mark.parametrize("mode", ["ast", "bytecode"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_seen_of_classes(name, mode):
    fn = PROGRAMS[name]
    compiled = ms.jit(fn, capture_mode=mode)
    for _ in range(8):
        assert seen(compiled) == seen(fn)
    assert not compiled.explain().failures


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name):
    def first(fn):
        def value(x):
            found = fn(x)
            return (found[0] if isinstance(found, tuple) else found).sum()

        return value

    fn = PROGRAMS[name]
    compiled = ms.grad(first(ms.jit(fn)))
    for _ in range(4):
        assert compiled(X).asnumpy().tobytes() == ms.grad(first(fn))(X).asnumpy().tobytes()


def test_what_stands_around_is_compiled():
    f = ms.jit(PROGRAMS["plain"])
    for _ in range(8):
        f(X)
    found = f.explain()
    assert [b.reason for b in found.breaks] == ["the statement ClassDef"]
    assert any(part.versions and part.versions[0]["hits"] for part in found.segments)
