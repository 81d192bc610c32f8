"""Running the programs of the seed documents."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import duograph as ms
from duograph.compat.run import run_script
from tests.children import PATIENCE

PROGRAMS = Path(__file__).parent / "programs"

Runner = Callable[..., tuple[str, dict[str, Any]]]


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """Each test starts in dynamic mode, and leaves the interpreter as it found it."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    argv, path, main = sys.argv, sys.path[:], sys.modules["__main__"]
    yield
    sys.argv, sys.path[:], sys.modules["__main__"] = argv, path, main
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.fixture
def run_program(tmp_path) -> Runner:
    """Runs a seed program in this process; returns what it printed and its global names.

    ``swap=True`` exchanges GRAPH_MODE and PYNATIVE_MODE in its text, which is the only change.
    """

    def run(name: str, swap: bool = False) -> tuple[str, dict[str, Any]]:
        path = PROGRAMS / name
        if swap:
            text = path.read_text(encoding="utf-8").replace("GRAPH_MODE", "<>")
            text = text.replace("PYNATIVE_MODE", "GRAPH_MODE").replace("<>", "PYNATIVE_MODE")
            path = tmp_path / name
            path.write_text(text, encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            names = run_script(str(path))
        return printed.getvalue(), names

    return run


def run_python(*arguments: str, input: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """``python arguments`` in a fresh process."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=env,
        timeout=PATIENCE,
        check=False,
        input=input,
    )


def run_duograph(*arguments: str, **environment: str) -> str:
    """What ``python -m duograph arguments`` prints; it must end well and say nothing on stderr."""
    done = run_python("-m", "duograph", *arguments, **environment)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout
