"""Programs in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.children import PATIENCE
from tests.unit.alarms import end_within

ROOT = Path(__file__).resolve().parents[3]
SECONDS = PATIENCE
"""More than a program takes on whatever machine, and less than the time-out of a test."""


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
    try:
        out, err = process.communicate(timeout=SECONDS)
    except BaseException:
        process.kill()
        raise
    assert process.returncode == 0, err
    assert not err, err
    return out


def python(program: str, **environment: str) -> str:
    """Run a Python program to its end; what it printed."""
    return finish(start(program, **environment))


def alone(function: Callable[..., Any], *args: object, **environment: str) -> Any:
    """What a function gives in a new process, which nobody has computed in and nobody else computes in.

    Args:
        function: a function of a module.
        args: functions and classes of modules, and what its ``repr`` makes again.
        environment: variables of the new process.

    Returns:
        Its result, by way of JSON.
    """
    known = [a for a in (function, *args) if hasattr(a, "__qualname__")]
    imports = "".join(f"from {a.__module__} import {a.__qualname__}\n" for a in known)
    given = ", ".join(a.__qualname__ if a in known else repr(a) for a in args)
    return json.loads(
        python(f"import json\n{imports}print(json.dumps({function.__qualname__}({given})))", **environment)
    )


def child_agrees(check: Callable[[], object]) -> bool:
    """Fork; whether `check()` is true in the child, which ends with it, or after a time."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            end_within(SECONDS)
            status = 0 if check() else 1
        except BaseException:  # noqa: BLE001 - the parent is told
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0
