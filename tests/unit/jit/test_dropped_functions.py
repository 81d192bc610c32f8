"""Compiled functions that are dropped: nothing of them stays, however many there have been."""

from __future__ import annotations

import gc
import itertools
import time
import types
import weakref
from textwrap import dedent

import pytest

import duograph as ms
from duograph import Tensor, nn
from duograph.jit import shared
from tests.unit.growth import growth

X = Tensor([1.0, 2.0, 3.0])


def run(text: str, number: int):
    """What the function ``f`` of a text is, in which ``{i}`` is a number: another code each time."""
    namespace = {"ms": ms, "nn": nn, "time": time}
    exec(text.replace("{i}", str(number)), namespace)
    return namespace["f"]


TEXTS = {
    "lambda": "f = ms.jit(lambda x: x * 2 - {i} + {i})",
    "function": "@ms.jit\ndef f(x):\n    y{i} = x * 2\n    return y{i} + 1",
    "function that calls others": """
        def helper{i}(x):
            return x * 2
        class Scale:
            def __call__(self, x):
                return helper{i}(x) + 1
        scale = Scale()
        f = ms.jit(lambda x: scale(x))
    """,
    "gradient": "def g{i}(x):\n    return (x * x).sum()\nf = ms.jit(ms.grad(g{i}))",
    "gradient of a compiled function": "@ms.jit\ndef g{i}(x):\n    return (x * x).sum()\nf = ms.grad(g{i})",
    "loop": "@ms.jit\ndef f(x):\n    k{i} = 0\n    while x.sum() < 50:\n        x, k{i} = x * 2, 1\n    return x",
    "branch": "@ms.jit\ndef f(x):\n    a{i} = x * 2 if x.sum() > 0 else x * 3\n    return a{i} + 1",
    "function that is cut": """
        @ms.jit
        def f(x):
            y{i} = (x * 2).tanh() * x + 1
            time.sleep(0)
            return (y{i} * y{i} + x).sum() - y{i}
    """,
    "function that is plain": "@ms.jit\ndef f(x):\n    y{i} = float(x.asnumpy().sum())\n    return y{i}",
    "from bytecode": "@ms.jit(capture_mode='bytecode')\ndef f(x):\n    y{i} = x * 2\n    return y{i} + 1",
    "machine code of its own": "f = ms.jit(lambda x: ((x * {i}.5).tanh() * x).sum() * {i}.25)",
    "class of Cells": "class C{i}(nn.Cell):\n    def construct(self, x):\n        return x * 2\nf = ms.jit(C{i}())",
}


def codes_of(value) -> list[types.CodeType]:
    """The codes that the texts above have made to get ``value``."""
    namespace = next(v for v in gc.get_objects() if type(v) is dict and v.get("f") is value and "ms" in v)
    found = [getattr(v, "fn", v) for v in namespace.values()]
    codes = [v.__code__ for v in found if type(v) is types.FunctionType]
    codes += [m.__code__ for v in found if type(v) is type for m in vars(v).values() if type(m) is types.FunctionType]
    return [c for c in codes if c.co_filename == "<string>"]


@pytest.mark.parametrize("name", TEXTS)
def test_the_code_of_a_dropped_function_goes(name):
    alive = []
    for number in range(4):
        f = run(dedent(TEXTS[name]), number)
        f(X), f(X)
        alive += [weakref.ref(code) for code in codes_of(f)]
    assert len(alive) >= 4
    del f
    gc.collect()
    if name == "class of Cells":  # versions for other instances of the latest ones are kept
        shared.forget()
        gc.collect()
    assert [code() for code in alive if code() is not None] == []


def test_of_codes_with_one_function_only_the_latest_have_versions_for_others():
    alive = []
    for number in range(shared.MOST_SINGLE + 20):
        f = eval(f"ms.jit(lambda x: x * 2 - {number % 3})", globals())
        f(X)
        alive.append(weakref.ref(f.fn.__code__))
    del f
    gc.collect()
    assert sum(code() is not None for code in alive) <= shared.MOST_SINGLE


def test_codes_with_several_functions_are_kept_longer():
    def made():
        return ms.jit(lambda x: x * 2 + 1)

    made()(X), made()(X)
    for number in range(shared.MOST_SINGLE + 20):
        eval(f"ms.jit(lambda x: x * 2 - {number % 3})", globals())(X)
    assert made().stats["versions"] == 0
    f = made()
    f(X)
    (version,) = f.explain().versions
    assert version["hits"] == 1
    assert len(shared._found) <= shared.MOST_SINGLE + shared.MOST_OWNERS


def test_an_address_that_is_used_again_finds_no_versions(monkeypatch):
    """What is kept is found by addresses of codes, which are used again when codes are gone."""
    monkeypatch.setattr(shared, "MOST_SINGLE", 2)
    addresses = []
    for number in range(40):
        f = eval(f"ms.jit(lambda x: x * 2 - {number % 5})", globals())
        assert f._shared.owner is f.fn.__code__
        assert f._shared.entries == ()
        assert f(X).tolist() == [v * 2 - number % 5 for v in (1.0, 2.0, 3.0)]
        addresses.append(id(f.fn.__code__))
        del f
        if number % 4 == 0:
            gc.collect()
    assert len(set(addresses)) < len(addresses)  # else this has shown nothing


def test_a_function_that_gets_another_code_finds_the_versions_of_that():
    f = ms.jit(lambda x: x * 2)
    f(X)
    before = f._shared
    f.fn.__code__ = (lambda x: x * 3).__code__
    assert f(X).tolist() == [3.0, 6.0, 9.0]
    assert f._shared is not before
    assert f._shared.owner is f.fn.__code__


@pytest.mark.parametrize("name", ["function", "gradient of a compiled function", "loop", "function that is cut"])
def test_memory_is_flat(name):
    assert growth(drops, name, 25) < 25 * 640  # each holds more than 10 KiB


def test_machine_code_is_given_back():
    assert growth(drops, "machine code of its own", 10) < 10 * 640  # loop IR, code and its mappings: 100 KiB each


def test_the_collector_comes_to_dropped_functions_by_itself():
    """Compilations keep it from starting, and start it at their ends."""
    alive = []
    for number in range(150):
        f = run(TEXTS["lambda"], number)
        f(X)
        alive.append(weakref.ref(f.fn.__code__))
    assert sum(code() is not None for code in alive) < 120


def drops(name, each):
    text, numbers = dedent(TEXTS[name]), iter(range(10_000))
    differs = name == "machine code of its own"

    def work(count: int = each) -> None:
        for number in itertools.islice(numbers, count):
            f = run(text + f"  # {number}", number if differs else 0)
            f(X), f(X)

    work(125)  # tables of all codes have their size
    return work
