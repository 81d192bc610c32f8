"""Helpers: Ctrl-C and other errors of signal handlers, at a chosen moment of some work, which reach nothing else.

All alarms of tests are set here. pytest's time-out is an alarm of the process, too: whoever sets another one borrows
the signal, and gives it back with the time that is left (`Lent`).
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest


class Lent:
    """The alarm signal of the process, borrowed from whoever has it: pytest's time-out.

    If the owner's time ends meanwhile, its handler is called: a test whose own alarm is lost does end.
    """

    def __init__(self, ring: Callable[[FrameType | None], None]) -> None:
        self._ring = ring
        self._again = 0.0

    def __enter__(self) -> Lent:
        left, self._interval = signal.setitimer(signal.ITIMER_REAL, 0)
        self._due = time.monotonic() + left if left else None
        self._owner = signal.signal(signal.SIGALRM, self._handle)
        self.silence()
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._owner)
        if self._due is not None:
            signal.setitimer(signal.ITIMER_REAL, self._left(), self._interval)

    def rings(self, after: float, again: float = 0.0) -> None:
        """Once in ``after`` seconds, and then every ``again`` seconds, if that is not 0."""
        self._again = again
        signal.setitimer(signal.ITIMER_REAL, after if self._due is None else min(after, self._left()))

    def silence(self) -> None:
        """It rings for its owner only."""
        self._again = 0.0
        signal.setitimer(signal.ITIMER_REAL, 0 if self._due is None else self._left())

    def _left(self) -> float:
        assert self._due is not None
        return max(self._due - time.monotonic(), 1e-3)  # 0 would switch it off

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._due is not None and time.monotonic() >= self._due:
            self._due = None
            if callable(self._owner):
                self._owner(number, frame)
        elif self._again:
            self.rings(self._again, self._again)
        else:
            self.silence()
        self._ring(frame)


class Alarm:
    """Interrupts work after a time. Where the machine is slow, an alarm can come late: it then does nothing.

    pytest takes a KeyboardInterrupt that leaves a test for one of its user and ends the session; `interrupts` lets
    none out, whenever the alarm comes.
    """

    def __init__(self) -> None:
        self._armed = False
        self._lent = Lent(self._handle)

    def _handle(self, _: object) -> None:
        if self._armed:
            self._armed = False
            raise KeyboardInterrupt

    def interrupts(self, work: Callable[[], Any], after: float, within: float) -> bool:
        """Repeats the work for ``within`` seconds; whether the alarm, ``after`` seconds from now, has ended it."""
        try:
            try:
                self._armed = True
                self._lent.rings(after)
                _repeat(work, within)
            finally:
                self._armed = False
        except KeyboardInterrupt:
            return True
        self._lent.silence()
        return False


def _repeat(work: Callable[[], Any], within: float) -> None:
    # A function of its own: CPython 3.13 does not count the jump back of a loop among what can raise, and so an
    # interrupt at that moment passes the handlers of the function that it is in.
    end = time.perf_counter() + within
    while time.perf_counter() < end:
        work()


@contextmanager
def alarm() -> Iterator[Alarm]:
    """An `Alarm` that gets the process' alarm signals; at the end they are their owner's again."""
    made = Alarm()
    with made._lent:
        yield made


class interrupted_by:  # noqa: N801 - used as a function
    """``with interrupted_by(KeyboardInterrupt): work()``: an alarm raises an error in the block, which must end so.

    Like `pytest.raises`, whose result it gives. The alarm is set when the block begins; one that comes before its first
    instruction, on a slow machine, rings again within it. ``again``: seconds after which it is repeated, for
    work in which one may be lost (in a callback of the collector). ``rang`` counts them.
    """

    def __init__(
        self,
        error: BaseException | type[BaseException] = KeyboardInterrupt,
        after: float = 0.05,
        again: float = 0.0,
        match: str | None = None,
    ) -> None:
        self._error, self._after, self._again = error, after, again
        self._raises = pytest.raises(error if isinstance(error, type) else type(error), match=match)
        self._lent = Lent(self._ring)
        self._armed = False
        self.rang = 0

    def __enter__(self) -> Any:
        found = self._raises.__enter__()
        self._lent.__enter__()
        self._armed = True
        self._lent.rings(self._after, self._again)
        return found

    def __exit__(self, *error: Any) -> bool:
        self._armed = False
        self._lent.__exit__()
        return bool(self._raises.__exit__(*error))

    def _ring(self, frame: FrameType | None) -> None:
        if not self._armed:
            return
        while frame is not None:
            if frame.f_code is interrupted_by.__exit__.__code__:
                return
            if frame.f_code is interrupted_by.__enter__.__code__:
                self._lent.rings(1e-3, self._again)
                return
            frame = frame.f_back
        self.rang += 1
        raise self._error


def end_within(seconds: int) -> None:
    """This process, a child that was forked, is ended by the system if it has not come to its end by then."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)


def interrupted_at_each_call(work: Callable[[], Any]) -> Iterator[bool]:
    """Runs the work again and again, with Ctrl-C at its first, second, ... moment until it has no more.

    Python handles signals where its functions are entered and where those in C return: there `sys.setprofile` is told,
    and raises. Gives, for each moment, whether the interrupt has ended the work; Python itself drops those that come in
    callbacks of weak references and in finalizers, and these count as if they had.
    """
    hook, dropped = sys.unraisablehook, list[Any]()
    moment = count = 0

    def told(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        if event in ("call", "c_return"):
            count += 1
            if count == moment:
                raise KeyboardInterrupt

    while count >= moment:
        moment, count = moment + 1, 0
        dropped.clear()
        sys.unraisablehook = lambda error: dropped.append(error.exc_type)
        try:
            sys.setprofile(told)
            work()
        except KeyboardInterrupt:
            dropped.append(KeyboardInterrupt)
        finally:
            sys.setprofile(None)
            sys.unraisablehook = hook
        if count >= moment:
            yield dropped == [KeyboardInterrupt]


def signalled(error: BaseException | type[BaseException]) -> None:
    """Raises an error here and now, as the handler of a signal does."""

    def handle(*_: object) -> None:
        raise error

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
