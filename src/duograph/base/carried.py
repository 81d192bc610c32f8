"""State of threads that goes with a program where another thread continues it (`runtime.machine.threads.apart`).

    _here = carried(_Here())        # _Here derives from threading.local

Without this, what runs on a thread that was made for its stack would find the defaults: another world of ranks, Cells
that compile within a compiled call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["carried", "handed_over"]

L = TypeVar("L", bound=threading.local)
_carried: list[threading.local] = []


def carried(state: L) -> L:
    """Registers ``state``, of which a process has one."""
    _carried.append(state)
    return state


def handed_over() -> tuple[Callable[[], None], Callable[[], None], Callable[[], None]]:
    """What hands the states of this thread on to another one, and back.

    Returns:
        Three functions: the other thread calls the first when it begins and the second when it ends; this one calls the
        third when the other has ended.
    """
    mine, theirs = [dict(s.__dict__) for s in _carried], list[dict[str, object]]()

    def begin() -> None:
        for state, held in zip(_carried, mine, strict=False):
            state.__dict__.update(held)

    def end() -> None:
        theirs.extend(dict(s.__dict__) for s in _carried)

    def take_back() -> None:
        for state, held in zip(_carried, theirs, strict=False):
            state.__dict__.update(held)

    return begin, end, take_back
