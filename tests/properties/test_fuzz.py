"""The fuzzer itself: a mode with a planted fault is found, named and made small."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import time

import pytest

import duograph as ms
from duograph.core.op import state
from tests.conformance import harness
from tests.fuzz import arguments, mutants, observe, relatives, shrink, surface, writer
from tests.unit.runtime.processes import python

PROGRAM = """\
import duograph as ms
from duograph.core.op import state
from duograph import Tensor
LOG = []
SCALE = 1

def between(n):
    global SCALE
    SCALE = n

def inputs():
    return [(Tensor([1.0, 2.0]), 1), (Tensor([3.0]), 5), (Tensor([1.0, 2.0]), 2)]

def f(x, n):
    y = x * SCALE
    if n > 3:
        LOG.append(n)
        y = y + 1
    print(n)
    for a in range(n):
        y = y * 2
    return y
"""


def wrong_result(fn):
    return lambda x, n: fn(x, n) * (1 if n < 5 else 2)


def wrong_class(fn):
    def call(x, n):
        result = fn(x, n)
        return result if n < 5 else result.asnumpy()

    return call


def lost_exception(fn):
    def call(x, n):
        if n == 5:
            raise ValueError("planted")
        return fn(x, n)

    return call


def repeated_effect(fn):
    def call(x, n):
        if n == 5:
            fn(x, n)
        return fn(x, n)

    return call


def written_argument(fn):
    def call(x, n):
        result = fn(x, n)
        if n == 5:
            x.add_(1)
        return result

    return call


def random_number(fn):
    def call(x, n):
        if n == 5:
            ms.ops.rand(2)
        return fn(x, n)

    return call


@pytest.fixture(autouse=True)
def _time_is_no_finding(monkeypatch):
    """Here only what has no end is stopped."""
    monkeypatch.setattr(observe, "SLOW", 200.0)
    monkeypatch.setattr(observe, "STOP", 200.0)
    monkeypatch.setattr(relatives, "SECONDS", 200.0)


@pytest.mark.parametrize(
    ("planted", "part"),
    [
        (wrong_result, "result"),
        (wrong_class, "result"),
        (lost_exception, "printed"),
        (repeated_effect, "printed"),
        (written_argument, "arguments"),
        (random_number, "random"),
    ],
)
def test_planted_fault_is_found_and_made_small(monkeypatch, planted, part):
    monkeypatch.setitem(observe.MODES, "planted", planted)
    found, _ = observe.check(PROGRAM, ["planted"])
    assert found is not None
    assert (found.part, found.call) == (part, 1)
    small, again = shrink.shrink(PROGRAM, found, ["planted"], judge=lambda *case: observe.check(*case)[0])
    assert again.part == part
    assert len(small) < len(PROGRAM) / 2
    assert "range" not in small


def crash(fn):
    return lambda *args: os.kill(os.getpid(), signal.SIGKILL)


def hang(fn):
    return lambda *args: time.sleep(3600)


def test_crash_and_hang_are_verdicts():
    """In a process that may fork: candidates are its children."""
    program = f"""
        from tests.fuzz import observe, shrink
        from {__name__} import PROGRAM, crash, hang
        observe.MODES |= {{"crash": crash, "hang": hang}}
        for mode, wait in (("crash", 250.0), ("hang", 0.5)):
            shrink.WAIT = wait
            print(shrink.verdict(PROGRAM, [mode]).part)
    """
    assert python(program) == "crash\nslow\n"


ENDLESS = """
from duograph import Tensor
COUNT = [0]
def again(x):
    COUNT[0] += 1
    return again(x)
def between(n):
    pass
def inputs():
    return [(Tensor([1.0]),)]
def f(x):
    try:
        again(x)
    except RecursionError:
        return x * COUNT[0]
"""


def test_how_deep_the_stack_is_is_no_finding(monkeypatch):
    monkeypatch.setitem(observe.MODES, "deeper", lambda fn: lambda *args: (lambda: fn(*args))())
    found, runs = observe.check(ENDLESS, ["deeper"])
    assert found is None
    assert observe.difference(runs["eager"], runs["deeper"], "deeper") is not None
    monkeypatch.setitem(observe.MODES, "planted", wrong_result)
    assert observe.check(PROGRAM, ["planted"])[0] is not None


def test_modes_agree_on_a_right_program():
    found, runs = observe.check(PROGRAM, ["jit"])
    assert found is None
    assert runs["jit"].captured


def test_a_seed_always_gives_the_same_program():
    here = [writer.generate(seed) for seed in (1, 2)]
    there = python("from tests.fuzz.writer import generate as g; print(g(1) + g(2), end='')")
    assert "".join(here) == there


def test_other_arguments_find_what_only_they_show(monkeypatch):
    """A mode that is wrong for tensors of no elements: no call of the program has one, and relatives of it do."""
    program = next(p for p in relatives.table() if p.name == "operators:arithmetic")

    def empty_are_wrong(fn):
        compiled = ms.jit(fn)
        return lambda x, y: compiled(x, y) if x.size else compiled(y, y)

    assert all(argument.size for call in program.calls for argument in call)
    assert not any(arguments.difference(program, seed) for seed in range(0, 12, 2))
    modes = [harness.Mode("jit", empty_are_wrong), *harness.MODES[2:]]
    monkeypatch.setattr(harness, "MODES", modes)
    found = [arguments.difference(program, seed) for seed in range(0, 60, 2)]
    assert any(found) and not all(found)


def test_mutants_find_what_no_program_of_the_table_does(monkeypatch):
    """A mode that loses the second line that a function prints; the finding names it, in a program of few changes."""

    def one_line(fn):
        def call(*args):
            lines = io.StringIO()
            with contextlib.redirect_stdout(lines):
                result = fn(*args)
            print("".join(lines.getvalue().splitlines(keepends=True)[:1]), end="")
            return result

        return call

    seeds = [s for s in range(30) if "print" in mutants.mutant(s)[0].partition("@program")[2]]
    assert not any(mutants.examine(seed, [])[1] for seed in seeds[:3])
    modes = [harness.Mode(mode.name, one_line if mode.name == "jit" else mode.transform) for mode in harness.MODES]
    monkeypatch.setattr(harness, "MODES", modes)
    found = list(filter(None, (mutants.examine(seed, [])[1] for seed in seeds)))
    assert found
    assert all(text.startswith("jit: printed: here") and "print(" in text for text in found)


def test_a_mutant_is_the_same_each_time_and_shrinks():
    source, name, count = mutants.mutant(3)
    assert mutants.mutant(3) == (source, name, count)
    original, _, _ = mutants.mutant(3, [False] * count)
    assert original != source
    assert mutants.check(original, name, [harness.MODES[0]]) is None


def test_calls_of_the_surface_find_a_wrong_gradient(monkeypatch):
    """A mode that takes gradients of twice the function: calls that are differentiated show it, and no others."""

    def doubled(fn):
        compiled = ms.jit(fn)

        def call(*args):
            recorded = any(isinstance(x, ms.Tensor) for x in args) and bool(state.tapes)
            return compiled(*args) * 2 if recorded else compiled(*args)

        return call

    numbers = [n for n, call in enumerate(surface.calls()) if call in ("ops.gelu(M)", "np.tanh(M)", "np.invert(I)")]
    assert not any(surface.examine(n, [])[1] for n in numbers)
    monkeypatch.setattr(harness, "MODES", [harness.Mode("jit", doubled)])
    found = {surface.calls()[n]: surface.examine(n, [])[1] for n in numbers}
    assert all(text.startswith("jit: gradients") for text in found.values() if text)
    assert any(found.values())
