"""Helper: Ctrl-C at a chosen moment of some work, which reaches nothing but the work."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Alarm:
    """Interrupts work after a time. Where the machine is slow, an alarm can come late: it then does nothing.

    pytest takes a KeyboardInterrupt that leaves a test for one of its user and ends the session; `interrupts` lets
    none out, whenever the alarm comes.
    """

    def __init__(self) -> None:
        self._armed = False

    def _handle(self, *_: object) -> None:
        if self._armed:
            self._armed = False
            raise KeyboardInterrupt

    def interrupts(self, work: Callable[[], Any], after: float, within: float) -> bool:
        """Repeats the work for ``within`` seconds; whether the alarm, ``after`` seconds from now, has ended it."""
        try:
            try:
                self._armed = True
                signal.setitimer(signal.ITIMER_REAL, after)
                _repeat(work, within)
            finally:
                self._armed = False
        except KeyboardInterrupt:
            return True
        return False


def _repeat(work: Callable[[], Any], within: float) -> None:
    # A function of its own: CPython 3.13 does not count the jump back of a loop among what can raise, and so an
    # interrupt at that moment passes the handlers of the function that it is in.
    end = time.perf_counter() + within
    while time.perf_counter() < end:
        work()


@contextmanager
def alarm() -> Iterator[Alarm]:
    """An `Alarm` that gets the process' alarm signals; at the end the signal's handler is what it was."""
    made = Alarm()
    before = signal.signal(signal.SIGALRM, made._handle)
    try:
        yield made
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
