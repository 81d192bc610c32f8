"""Every program gives the same in every mode: values, types, bits, gradients, errors, text, side effects."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from tests.conformance import programs
from tests.conformance.harness import EAGER, MODES, PROGRAMS, Outcome, run

for _info in pkgutil.iter_modules(programs.__path__):
    importlib.import_module(f"{programs.__name__}.{_info.name}")

_eager: dict[str, Outcome] = {}


def eager(program) -> Outcome:
    """The reference, computed once for each program."""
    if program.name not in _eager:
        _eager[program.name] = run(program, EAGER)
    return _eager[program.name]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_same_as_eager(program, mode):
    expected, actual = eager(program), run(program, mode)
    for part in ("results", "gradients", "printed", "arguments", "globals", "random"):
        assert getattr(actual, part) == getattr(expected, part), part
    if program.captured:
        assert not actual.fallbacks


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_eager_gives_what_python_says(program):
    """A program fails in eager mode only if it is about an error, which its name says."""
    failed = [result for result in eager(program).results + eager(program).gradients if result[0] == "raised"]
    assert bool(failed) == program.name.endswith("_error"), failed
