"""A limit on processor time."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any


class TooSlow(BaseException):
    """A program that takes too long."""


def _too_slow(*_: Any) -> None:
    raise TooSlow


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises `TooSlow` in the block after ``seconds`` of processor time, and again every second."""
    old = signal.signal(signal.SIGVTALRM, _too_slow)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)
