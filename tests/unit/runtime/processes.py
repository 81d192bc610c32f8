"""Programs in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def start(program: str, **environment: str) -> subprocess.Popen[str]:
    """Start a Python program that can import the tests."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for a program, which must succeed in silence on the error stream; what it printed."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert not err, err
    return out


def python(program: str, **environment: str) -> str:
    """Run a Python program to its end; what it printed."""
    return finish(start(program, **environment))


def child_agrees(check: Callable[[], object]) -> bool:
    """Fork; whether `check()` is true in the child, which ends with it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if check() else 1
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0
