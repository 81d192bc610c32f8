"""Programs of the conformance table give the same while stepped through: results, gradients, errors, effects."""

from __future__ import annotations

import io

import pytest

import duograph as ms
from duograph import debug
from tests.conformance.harness import Mode, run
from tests.conformance.test_conformance import PARTS, PROGRAMS, eager

COMMANDS = ("step", "p 1", "node", "where", "next", "goto 1", "node 4", "back 2")
FORWARD = COMMANDS[:5]
MOST, MOST_BACK = 400, 48
"""Commands of a call; then it goes on to its end. Those that go back, which runs it again from the beginning, are among
the first."""


class Commands:
    """Standard input that has commands for ever."""

    def __init__(self):
        self.given = 0

    def readline(self):
        self.given += 1
        given = COMMANDS if self.given < MOST_BACK else FORWARD
        return f"{given[self.given % len(given)]}\n" if self.given < MOST else "continue\n"


def stepped(fn):
    compiled = ms.jit(fn)

    def call(*args, **kwargs):
        with debug.step(stdin=Commands(), stdout=io.StringIO()):
            return compiled(*args, **kwargs)

    return call


@pytest.mark.parametrize("program", PROGRAMS[5::41], ids=lambda program: program.name)
def test_same_as_eager(program):
    expected, actual = eager(program, 2), run(program, Mode("stepped", stepped, rounds=2))
    for part in PARTS:
        assert getattr(actual, part) == getattr(expected, part), part
