"""The graph of a program is the same whether it is captured from source or from bytecode, but for those named here.

Each Python compares a third of the table, and the three together all of it: there are a thousand programs, and each is
captured twice. That the *results* are the same is what the mode "bytecode" of the table is for, for every program.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from typing import Any

import pytest

import duograph as ms
from duograph.autodiff.hooks import REGISTERED
from tests.conformance import programs
from tests.conformance.harness import PROGRAMS, Mode, run

for _info in pkgutil.iter_modules(programs.__path__):
    importlib.import_module(f"{programs.__name__}.{_info.name}")

DIFFERENT = {
    "cut_closures:declared_nonlocal_and_never_named": "a `nonlocal` of no use is in no instruction",
    "found:a_loop_returns_at_once": "a loop whose body always leaves it is an `if` in bytecode: nothing jumps back",
    "loops:decoding_that_may_stop_at_every_step": "paths that `continue` are joined in source: other numbers of graphs",
    "mixtures:finally_in_tensor_loop": "a `continue` under `finally` goes where the end of its `if` goes: to a copy",
    "python_corners:generator_that_returns_in_finally": "a return in `finally` is a bare `except` in bytecode",
    "recursion_and_state:a_decision_after_recursion_by_a_number": "`if k % 2: pass` has no branch in bytecode",
    "python_corners:special_method_that_gives_something_else_error": "`return a if b else c` is an `if`: cut in two",
    "statements:names_inside_of_chained_comparisons": "a branch more in bytecode: other numbers of paths",
    "tests_of_loops:skipped_in_a_loop_whose_end_is_known": "a `continue` under `finally`, too",
}
if sys.version_info >= (3, 13):
    DIFFERENT["tests_of_loops:skipped_and_left_early"] = "a `continue` at the end of its loop meets the other way out"
NO_FUNCTION = {"functions:partial_program"}
"""There is no Python function to look at: its parts are captured from bytecode."""
# Of stores to one name, the compiler of 3.13 leaves out the first.
FROM_SOURCE = {"groups_and_readings:names_that_are_stored_twice"} if sys.version_info >= (3, 13) else set()
_SIZE = re.compile(r"(?<![%@.\w])(?!(?:f|i|u|bf|c)\d+\b)[a-z]+\d+\b")


@pytest.fixture(autouse=True)
def _hooks_are_known(monkeypatch):
    """The first hook of a process makes other graphs."""
    monkeypatch.setitem(REGISTERED, "has_tensor_hooks", True)


def graphs_of(explanation: Any) -> list[str]:
    """The optimised graphs, without places; sizes are named in the order in which they occur."""
    found = []
    for version in explanation.versions:
        names: dict[str, str] = {}
        text = re.sub(r"\s+#.*", "", version["graph"])
        text = re.sub(r"(?m)^dim .*\n", "", text).strip()
        found.append(_SIZE.sub(lambda m, names=names: names.setdefault(m[0], f"size {len(names)}"), text))
    for part in explanation.segments:
        found += graphs_of(part)
    return found


def captured(program: Any, mode: str) -> Any:
    """What is known of the compiled function after all calls of the program."""
    made: list[Any] = []

    def transform(fn: Any) -> Any:
        made.append(ms.jit(fn, capture_mode=mode, backend="interpreter"))
        return made[-1]

    run(program, Mode(mode, transform))
    return made[0].explain()


@pytest.mark.parametrize("program", PROGRAMS[sys.version_info.minor % 3 :: 3], ids=lambda program: program.name)
def test_the_same_graph_from_bytecode(program):
    source, bytecode = captured(program, "ast"), captured(program, "bytecode")
    if program.name not in NO_FUNCTION:
        assert bytecode.captured_from == ("source" if program.name in FROM_SOURCE else "bytecode")
    assert (graphs_of(source) == graphs_of(bytecode)) == (program.name not in DIFFERENT)
