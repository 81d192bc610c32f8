"""What a round prints and how it ends: findings are lines on standard output."""

from __future__ import annotations

import faulthandler
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

FOUND = "FOUND: "
HANGS = 240
"""Seconds by the clock after which a round is said to hang; a busy machine takes a tenth of them."""


def found(what: str) -> None:
    """Reports a finding."""
    print(FOUND + what.replace("\n", "\n    "), flush=True)


def check(condition: bool, what: str) -> None:
    """Reports ``what`` if the condition does not hold."""
    if not condition:
        found(what)


@contextmanager
def guarded(where: str) -> Iterator[None]:
    """Any error within the block is a finding."""
    try:
        yield
    except BaseException:  # noqa: BLE001 - told, and counted by who reads it
        found(f"{where}: {traceback.format_exc()}")


def run_round(work: Callable[[Any], None], rng: Any) -> None:
    """A round in this process."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(HANGS, exit=True)
    sys.tracebacklimit = 30
    with guarded(work.__module__):
        work(rng)
    faulthandler.cancel_dump_traceback_later()
