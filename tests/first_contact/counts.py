"""What became of a program, in numbers that are the same on every machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
SECONDS = 280
"""A child that is still running then hangs: nothing here takes a tenth of that."""
_HANDED_ON = ("HOME", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "XDG_CACHE_HOME", "DUOGRAPH_CACHE_DIR")


class Counts(NamedTuple):
    """Of a compiled function.

    Attributes:
        versions: that were compiled, those of its segments included.
        segments: that it was cut into.
        breaks: statements, and parts of them, that run as plain Python between these.
        fallbacks: reasons why calls were not answered by one version as a whole; of segments, too.
        recompilations: calls that missed all versions and got a new one; of segments, too.
    """

    versions: int = 0
    segments: int = 0
    breaks: int = 0
    fallbacks: int = 0
    recompilations: int = 0


STEADY = Counts(versions=1)
"""One version answers everything."""
LED_BY_PYTHON = 2
"""Calls of a version that can be native: the first compiles, the second makes the call native."""


def counts_of(told: Any) -> Counts:
    """The numbers of an `Explanation`."""
    parts = [counts_of(part) for part in told.segments]
    return Counts(
        len(told.versions) + sum(part.versions for part in parts),
        len(told.segments),
        len(told.breaks),
        len(told.fallbacks) + sum(part.fallbacks for part in parts),
        len(told.recompiles) + sum(part.recompilations for part in parts),
    )


def after(compiled: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Counts:
    """The numbers of a compiled function, or of a Cell in graph mode, after these calls."""
    for arguments in calls:
        compiled(*arguments)
    told = compiled.explain()  # type: ignore[attr-defined]
    assert not told.failures
    return counts_of(told)


def child(*arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """``python arguments`` in a process that inherits nothing but what is named here."""
    environment = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    environment |= {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.pathsep.join([p for p in sys.path if p])}
    environment |= {
        "DUOGRAPH_FAILURES": "raise",
        "DUOGRAPH_CAPTURE_SECONDS": "60",
        "DUOGRAPH_COMPARE": "0",
        "COLUMNS": "120",
        "PYTHONUTF8": "1",
        **variables,
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=SECONDS, check=False,
    )  # fmt: skip
