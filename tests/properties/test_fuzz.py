"""The fuzzer itself: a mode with a planted fault is found, named and made small."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import duograph as ms
from tests.fuzz import observe, shrink, writer

PROGRAM = """\
import duograph as ms
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
    small, again = shrink.shrink(PROGRAM, found, ["planted"], seconds=5)
    assert again.part == part
    assert len(small) < len(PROGRAM) / 2
    assert "range" not in small


def test_crash_and_hang_are_verdicts(monkeypatch):
    def crash(fn):
        return lambda *args: os.kill(os.getpid(), signal.SIGKILL)

    def hang(fn):
        return lambda *args: time.sleep(9)

    monkeypatch.setattr(shrink, "WAIT", 3.0)
    monkeypatch.setitem(observe.MODES, "crash", crash)
    monkeypatch.setitem(observe.MODES, "hang", hang)
    assert shrink.verdict(PROGRAM, ["crash"]).part == "crash"
    assert shrink.verdict(PROGRAM, ["hang"]).part == "slow"


def test_modes_agree_on_a_right_program():
    found, runs = observe.check(PROGRAM, ["jit"])
    assert found is None
    assert runs["jit"].captured


def test_a_seed_always_gives_the_same_program():
    here = [writer.generate(seed) for seed in (1, 2)]
    there = subprocess.run(
        [sys.executable, "-c", "from tests.fuzz.writer import generate as g; print(g(1) + g(2), end='')"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "".join(here) == there.stdout
