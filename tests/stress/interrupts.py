"""Signals at random moments of capture, compilation and run: raised, or the call ends; the next call is right."""

from __future__ import annotations

import gc
import signal
from typing import Any

import duograph as ms
from duograph.core.op import state

from .found import check, found
from .workload import agree, program


class Expired(Exception):
    """What an alarm raises; no error of the program, and no failure of the engine."""


def work(r: Any) -> None:
    """One round."""
    kind = KeyboardInterrupt if r.integers(2) else Expired
    armed = False

    def handler(*_: Any) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise kind

    signal.signal(signal.SIGALRM, handler)
    first = int(r.integers(0, 10_000))
    for number in range(first, first + 40):
        p = program(number)
        compiled = ms.jit(p.function)
        args = p.arguments(r)
        for _ in range(int(r.integers(1, 5))):
            delay = float(r.choice([0.0005, 0.005, 0.03]) * r.uniform(0.02, 2.0))
            got: Any = None
            ended = False
            try:
                try:
                    armed = True
                    signal.setitimer(signal.ITIMER_REAL, delay)
                    for _ in range(int(r.choice([1, 3, 20]))):
                        got = compiled(*args)
                    ended = True
                finally:
                    armed = False
            except kind:
                pass
            _state_is_whole(p.name)
            want = p.function(*args)
            if ended:
                agree(got, want, f"{p.name}: the call that ended differs ({kind.__name__})")
            agree(compiled(*args), want, f"{p.name}: the call after an interrupt differs ({kind.__name__})")
        _is_not_remembered(p.name, compiled)
    signal.setitimer(signal.ITIMER_REAL, 0)


def _state_is_whole(name: str) -> None:
    check(state.binder is None, f"{name}: operators still go to a graph")
    check(state.tapes == [], f"{name}: a tape still records")
    check(state.detached == 0, f"{name}: gradients are still off")
    check(gc.isenabled(), f"{name}: the garbage collector is still off")


def _is_not_remembered(name: str, compiled: Any) -> None:
    """Whether an interrupt has been taken for a failure."""
    text = str(compiled.explain())
    if "Expired" in text or "KeyboardInterrupt" in text:
        found(f"{name}: an interrupt is told as a failure: {text}")
    for version in compiled._own.compiled:
        check("Expired" not in version.why_not_native, f"{name}: {version.why_not_native}")
