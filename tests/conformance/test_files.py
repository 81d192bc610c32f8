"""Every program that can be exported comes back from its file as the same program.

Each call is exported anew, with the arguments and the state of that moment, loaded, and run from the file. Programs of
several calls are left out: a file keeps its own state, so later calls could not see what earlier ones left outside.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest

import duograph as ms
from duograph import nn
from tests.conformance import programs
from tests.conformance.harness import EAGER, PROGRAMS, Mode, run

for _info in pkgutil.iter_modules(programs.__path__):
    importlib.import_module(f"{programs.__name__}.{_info.name}")

OTHER_WORDS = "functions:wrong_arguments_error"  # `export` has words of its own for a missing argument
ONE_CALL = [p for p in PROGRAMS if len(p.calls) == 1 and p.captured and p.name != OTHER_WORDS]
AT_LEAST = 0.75
"""How many of the programs must be exportable: the others print, keep Python objects, or fall back."""


@pytest.fixture
def through_a_file(tmp_path):
    """Makes a function run from its file; what cannot be exported runs as it is."""
    exported: list[bool] = []

    def transform(fn: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            path = str(tmp_path / f"{len(exported)}.mindir")
            try:
                ms.export(fn, *args, file_name=path, file_format="MINDIR")
            except (RuntimeError, TypeError) as error:
                if "export" not in str(error):
                    raise
                exported.append(False)
                return fn(*args)
            exported.append(True)
            return nn.GraphCell(ms.load(path))(*args)

        return call

    return exported, Mode("file", transform)


@pytest.mark.parametrize("part", range(8))
def test_same_as_eager(through_a_file, part):
    exported, mode = through_a_file
    wrong = []
    for program in ONE_CALL[part::8]:
        expected, actual = run(program, EAGER), run(program, mode)
        if actual != expected:
            wrong.append(program.name)
    assert not wrong
    assert sum(exported) >= AT_LEAST * len(exported)
