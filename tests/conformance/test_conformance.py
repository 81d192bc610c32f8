"""Every program gives the same in every mode: values, types, bits, gradients, errors, text, side effects."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import sys

import pytest

from tests.conformance import programs
from tests.conformance.harness import EAGER, MODES, PROGRAMS, Outcome, Program, run
from tests.gate import plan

for _info in pkgutil.iter_modules(programs.__path__):
    importlib.import_module(f"{programs.__name__}.{_info.name}")

PARTS = ("results", "gradients", "printed", "arguments", "globals", "random")
LED_BY_PYTHON = {
    "scalars:mutable_int": "what `mutable` gives is of a class of its own, which guards of native code do not take",
    "attributes_that_refuse:cells_that_keep_an_attribute": "cut where it needs the value of a number that varies",
    "varying_texts:a_tag_that_leaves_in_an_exception_error": "given up, as most calls raise: plain Python does that",
    "found:what_a_mask_takes_is_broadcast": "what it finds is one element, where its kernels take as many as x has",
    "late_sizes:a_parameter_is_written_before_a_size_is_checked": "what it finds is one element, and broadcast",
    "exceptions:attribute_hook_of_the_user": "cut where it reads a list that is another one in each call",
}

SIGN_OF_NAN = {("dropped:third_derivative_in_a_branch", "trace", part) for part in ("results", "gradients")}
"""What differs in the sign of NaN, which is not promised (`docs/capture.md`): the paths have other instructions."""

_eager: dict[tuple[str, int], Outcome] = {}


def eager(program, rounds: int = 1) -> Outcome:
    """The reference, computed once for each program."""
    if (program.name, rounds) not in _eager:
        _eager[program.name, rounds] = run(program, dataclasses.replace(EAGER, rounds=rounds))
    return _eager[program.name, rounds]


def programs_of(mode) -> list[Program]:
    """Those that this Python runs in the mode."""
    share = mode.share["{}.{}".format(*sys.version_info[:2]) != plan.WHOLE]
    return PROGRAMS[(sys.version_info.minor + mode.shift) % share :: share] if share else []


def _pairs():
    """One program after the other: a mode finds kernels that the one before has compiled."""
    shares = [(mode, {p.name for p in programs_of(mode)}) for mode in MODES]
    return [(p, mode) for p in PROGRAMS for mode, share in shares if p.name in share]


@pytest.mark.parametrize(
    ("program", "mode"),
    [pytest.param(p, mode, id=f"{p.name}-{mode.name}") for p, mode in _pairs()],
)
def test_same_as_eager(program, mode):
    expected, actual = eager(program, mode.rounds), run(program, mode)
    for part in PARTS:
        if (program.name, mode.name, part) not in SIGN_OF_NAN:
            assert getattr(actual, part) == getattr(expected, part), part
    if program.captured and not (mode.native and program.name in LED_BY_PYTHON):
        assert not actual.fallbacks


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_eager_gives_what_python_says(program):
    """A program fails in eager mode only if it is about an error, which its name says."""
    failed = [result for result in eager(program).results + eager(program).gradients if result[0] == "raised"]
    assert bool(failed) == program.name.endswith("_error"), failed
