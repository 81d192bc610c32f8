"""The alarms that tests set: they end the block that they are set for, and pytest's time-out goes on afterwards."""

from __future__ import annotations

import gc
import signal
import time

import pytest

from tests.unit.alarms import Lent, alarm, interrupted_at_each_call, interrupted_by, signalled


def left() -> float:
    """Seconds that the alarm of the process has left."""
    return signal.getitimer(signal.ITIMER_REAL)[0]


def spin(seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def by_interrupted_by() -> None:
    with interrupted_by(TimeoutError("too late"), after=0.01, match="too late"):
        spin()


def by_alarm() -> None:
    with alarm() as clock:
        assert clock.interrupts(lambda: spin(), after=0.01, within=60)
        assert not clock.interrupts(lambda: None, after=60, within=0.01)


def by_failures() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"), interrupted_by(after=60):
        pass
    with pytest.raises(ValueError), interrupted_by(after=60):
        raise ValueError


def goes_on(before: float, begin: float) -> bool:
    """Whether the alarm is one that had ``before`` seconds at time ``begin``, or a moment later."""
    now = left()
    return 0 < now < before + 0.01 and before - now < time.monotonic() - begin + 0.01


@pytest.mark.parametrize("use", [by_interrupted_by, by_alarm, by_failures])
def test_the_time_out_of_pytest_goes_on(use):
    """With the time that was left. A time-out of the test's own is there without pytest-timeout, too."""
    heard = []
    owner, begin = signal.getsignal(signal.SIGALRM), time.monotonic()
    before = left()
    with Lent(heard.append) as lent:
        assert goes_on(before, begin) if before else not left(), "it is the same while nothing else is asked for"
        lent.rings(200)
        since, own, handler = time.monotonic(), left(), signal.getsignal(signal.SIGALRM)
        use()
        assert goes_on(own, since)
        assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getsignal(signal.SIGALRM) is owner
    assert goes_on(before, begin) if before else not left()
    assert not heard


def test_a_time_out_during_a_block_is_heard():
    """Also if the block's own alarm is later, or was lost."""
    heard = []

    def over(*_):
        heard.append(True)
        raise OSError("time is over")

    for lost in (False, True):
        with Lent(lambda _: None) as owner:
            signal.signal(signal.SIGALRM, over)
            with pytest.raises(OSError, match="time is over"):
                owner.rings(0.1)
                with interrupted_by(after=1e-3 if lost else 60):
                    try:
                        spin()
                    except KeyboardInterrupt:
                        assert lost
                    spin()
    assert len(heard) == 2


def test_an_alarm_before_the_block_rings_within_it(monkeypatch):
    """The machine stands still between the setting of the alarm and the block."""
    rings = Lent.rings

    def slowly(self, after, again=0.0):
        rings(self, after, again)
        if after == 0.01:
            spin(0.1)

    monkeypatch.setattr(Lent, "rings", slowly)
    with interrupted_by(after=0.01) as found:
        spin()
    assert found.type is KeyboardInterrupt


def test_an_alarm_after_the_block_is_not_heard():
    block = interrupted_by(after=60)
    block.__enter__()
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        block.__exit__(None, None, None)
    block._ring(None)
    assert block.rang == 0


def test_an_alarm_that_is_lost_can_come_again():
    block = interrupted_by(after=0.01, again=0.01)
    with block:
        try:
            spin()
        except KeyboardInterrupt:
            assert block.rang == 1
        spin()
    assert block.rang == 2


def test_each_call_is_interrupted_once():
    """Two Python functions and one in C; what is swallowed is told."""

    def inner(found):
        found.append(1)

    def outer(found):
        try:
            inner(found)
        except KeyboardInterrupt:
            if swallow:
                return
            raise

    gc.disable()  # its callbacks are calls, too
    try:
        for swallow in (False, True):
            found = []
            assert list(interrupted_at_each_call(lambda: outer(found))) == [True, True, not swallow, not swallow]
            assert len(found) == 2  # the moment after it, and the round without
    finally:
        gc.enable()


def test_errors_of_handlers_at_a_point():
    before = signal.getsignal(signal.SIGUSR1)
    for error in (KeyboardInterrupt, TimeoutError("too late")):
        with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else TimeoutError):
            signalled(error)
    assert signal.getsignal(signal.SIGUSR1) is before
