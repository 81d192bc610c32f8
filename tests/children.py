"""Child processes: how long they may take, and those that end with their parent, even if that is killed and has no
time to end them itself."""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import subprocess
import sys
from typing import Any

PATIENCE = 240
"""Seconds that a child may take, however busy the machine is: fewer than those after which pytest ends the test that
waits for it (``timeout`` in ``pyproject.toml``), and which shows nothing of what the child has said."""
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def start(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """Starts a child. Only Linux signals the death of a parent: elsewhere the child of one that is killed goes on."""
    tie = functools.partial(_end_with, os.getpid()) if _libc is not None else None
    return subprocess.Popen(command, text=True, preexec_fn=tie, **options)  # noqa: PLW1509 - one thread


def _end_with(parent: int) -> None:
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before that was said
        os._exit(1)
