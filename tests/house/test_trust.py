"""Tests that can be trusted: what would make one fail, or hang, by chance has one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.imports import SOURCE, nodes, parsed

TESTS = SOURCE.parents[1] / "tests"
SETS_ALARMS = {
    "fuzz/clock.py": "the clock of processor time, which is not that of pytest's time-out",
    "replay/record.py": "in children of its own process",
    "stress/interrupts.py": "in a process of its own",
    "unit/alarms.py": "borrows the signal from pytest's time-out, and gives it back",
}
"""Who may set alarms. pytest's time-out of a test is one, too: who sets another has switched it off."""
WAITS_FOR_EVER = {
    "compare/__main__.py": "a command",
    "fuzz/farm.py": "of a command",
    "fuzz/relatives.py": "of a command",
    "gate/__main__.py": "a command; its tests have time-outs of their own",
    "replay/__main__.py": "a command",
    "unit/frontend/readable_system.py": "a program that is captured",
    "zero_change/__main__.py": "a command",
}
"""Who may wait for a child that never ends."""


def calls(root: Path, *names: str) -> Iterator[tuple[str, ast.Call]]:
    """The calls of these functions of modules, and in which files they stand."""
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(name.rpartition(".")[2] in text for name in names):
            for node in nodes(parsed(text)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
                    yield path.relative_to(root).as_posix(), node


def alarms(root: Path) -> set[str]:
    """Files that set alarms."""
    return {file for file, _ in calls(root, "signal.setitimer", "signal.alarm")}


def patient(root: Path) -> set[str]:
    """Files that wait for children without a time-out."""
    found = calls(root, "subprocess.run", "subprocess.check_call", "subprocess.check_output")
    return {file for file, call in found if "timeout" not in {word.arg for word in call.keywords}}


def test_alarms_are_set_in_one_place():
    assert alarms(TESTS) == set(SETS_ALARMS)


def test_children_have_a_time_out():
    assert patient(TESTS) == set(WAITS_FOR_EVER)


@pytest.mark.parametrize(
    ("text", "looks"), [("signal.setitimer(signal.ITIMER_REAL, 1)", alarms), ("subprocess.run(['true'])", patient)]
)
def test_a_planted_one_is_found(tmp_path, text, looks):
    (tmp_path / "test_it.py").write_text(f"def test():\n    {text}\n")
    assert looks(tmp_path) == {"test_it.py"}
