"""What capture and guards cost, counted: clocks of shared machines tell nothing of a tenth."""

from __future__ import annotations

import gc
import os
import sys
import types
from collections import Counter

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.base.config import configure
from duograph.runtime.guards.program import GuardProgram
from duograph.runtime.guards.words import INSTRUCTION
from duograph.runtime.python.cpython import layout
from tests.unit.runtime.processes import python

CALLS_OF_TWELVE = 8040 if sys.version_info < (3, 12) else 6950
"""A twentieth more than in November 2026. From 3.12 on comprehensions are no calls."""
PACKAGE = os.path.dirname(ms.__file__) + os.sep
INSTRUCTIONS_PER_PARAMETER = 3
"""Its look-up, its dtype and shape, whether it is trained."""


def twelve(x, y):
    a = x * y + 1.0
    b = ops.relu(a) - y
    c = ops.sigmoid(b) * a
    d = ops.exp(c).sum()
    e = (a + d).mean()
    return ops.tanh(b) * e + ops.sqrt(ops.abs(c))


def calls_of_capture() -> int:
    """Functions of this package that are called while a function is captured and compiled: with those of others, which
    are some 700 more, they are a figure of `scripts/budgets`."""
    function = types.FunctionType(twelve.__code__, globals())
    compiled, counted = ms.jit(function), Counter[str]()
    x = Tensor(np.ones(8, np.float32))

    def count(frame: types.FrameType, event: str, value: object) -> None:
        counted[event] += frame.f_code.co_filename.startswith(PACKAGE)

    y = x + 1
    gc.disable()  # no finalizers, whoever made what they end
    before = sys.getprofile()
    with configure(failures="answer"):  # as users have it: tests look at the guards of each version besides
        sys.setprofile(count)
        try:
            compiled.prepare(x, y)
        finally:
            sys.setprofile(before)
            gc.enable()
    assert len(compiled.explain().versions) == 1
    return counted["call"]


def test_capture_of_twelve_operations():
    """Once all is warm, in a process of its own. A question asked for each operand, instead of once, shows here as some
    hundred calls."""
    counts = python(f"""
        from {__name__} import calls_of_capture
        print(*[calls_of_capture() for _ in range(4)])
    """)
    _, *warm = map(int, counts.split())
    assert len(set(warm)) == 1 and warm[0] < CALLS_OF_TWELVE


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.act, self.norm = nn.Dense(8, 8), nn.Dense(8, 8), nn.ReLU(), nn.LayerNorm((8,))

    def construct(self, x):
        return self.norm(x + self.b(self.act(self.a(x))))


@pytest.mark.skipif(not layout().has_versions, reason="dictionaries have no versions in this Python")
def test_guards_of_a_network(monkeypatch):
    """What no change has touched is compared by version: instructions are left for what varies, the parameters."""
    made: list[GuardProgram] = []
    original = GuardProgram.function
    monkeypatch.setattr(GuardProgram, "function", lambda self: (made.append(self), original(self))[1])
    net = nn.SequentialCell(Block(), Block(), Block(), Block())
    compiled = ms.jit(lambda x: net(x))
    for _ in range(4):
        compiled(Tensor(np.ones((8, 8), np.float32)))
    parameters = len(list(net.get_parameters()))
    assert parameters == 24 and made
    for program in made:
        instructions = len(program.words) // INSTRUCTION.n_words
        assert instructions <= INSTRUCTIONS_PER_PARAMETER * parameters + 2 and not program.runs_python
