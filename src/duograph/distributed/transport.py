"""What an engine of communication must do: move bytes between the ranks of a group, without waiting.

A `Transport` starts transfers and gives a `Pending` for each; `wait` is the one place where a rank waits for others. It
gives the processor away while it does, minds Ctrl-C, and ends after a time. So no engine has waiting, time-outs or
checks of its own, and none decides about the order of sums: the transfers are few and only carry bytes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

__all__ = ["FIRST_OWN_TAG", "Bytes", "Pending", "Transport", "wait"]

Bytes = np.ndarray
"""A C-contiguous array of ``uint8``."""


class Pending(Protocol):
    """A transfer that has begun."""

    def test(self) -> bool:
        """Whether it is done; moves it on."""

    def missing(self) -> list[int] | None:
        """The ranks of the group from which nothing has come yet; ``None`` if the engine cannot tell."""


class Transport(Protocol):
    """The ranks of one group, seen from one of them. Every rank calls the same methods in the same order."""

    rank: int
    size: int

    def exchange(self, frame: Bytes, frames: Bytes) -> Pending:
        """Row ``r`` of ``frames`` becomes the ``frame`` of rank ``r``; frames have one size per transport."""

    def all_gather(self, part: Bytes, whole: Bytes) -> Pending:
        """The equally long parts of all ranks, one after the other, in ``whole``."""

    def all_to_all(self, parts: Bytes, given: Bytes, sizes: Sequence[int], back: Sequence[int]) -> Pending:
        """Rank ``r`` gets the ``r``-th piece of ``parts``; pieces have ``sizes`` bytes, those that come ``back``."""

    def broadcast(self, data: Bytes, root: int) -> Pending:
        """``data`` of rank ``root`` in ``data`` of all."""

    def gather(self, part: Bytes, whole: Bytes | None, root: int) -> Pending:
        """The equally long parts of all ranks in ``whole`` of rank ``root``."""

    def scatter(self, whole: Bytes | None, part: Bytes, root: int) -> Pending:
        """Equally long parts of ``whole`` of rank ``root``, one for every rank."""

    def send(self, data: Bytes, to: int, tag: int) -> Pending:
        """A message for rank ``to``; ``data`` must stay as it is until it is done."""

    def probe(self, source: int, tag: int) -> tuple[int, int] | None:
        """Sender and bytes of a message that has come; ``source`` -1: from anybody."""

    def receive(self, data: Bytes, source: int, tag: int) -> Pending:
        """The message that `probe` has found."""

    def own_order(self, data: np.ndarray, op: str) -> Pending | None:
        """The engine's own reduction of ``data`` in place, in whatever order; ``None``: it has none for these."""

    def split(self, ranks: Sequence[int], number: int) -> Transport:
        """A transport of some ranks, which all call this; ``number`` tells splits apart that go on at one time."""

    def ended(self, ranks: Sequence[int]) -> list[int]:
        """Those of ``ranks`` that are known to have ended their programs. It may take some calls until it is known."""

    def answer(self) -> None:
        """Tells others that ask (`ended`) that this rank has ended its program."""

    def abort(self, status: int) -> None:
        """Ends all processes of the job at once."""

    def close(self) -> None:
        """Nothing will be moved any more."""


FIRST_OWN_TAG = 32760
"""Tags of messages of users are below; MPI promises tags up to 32767."""
SPINS = 200
"""Looks without giving the processor away: answers of ranks of one machine come within microseconds."""
YIELDS = 20000
"""Looks that let others run in between; after them this thread sleeps."""
NAP = 2e-4
"""Seconds."""
LOOK = 0.5
"""Seconds of waiting after which, again and again, a rank looks whether those for which it waits are still there."""


def wait(
    pending: Pending, seconds: float, late: Callable[[float, list[int] | None], BaseException],
    look: Callable[[list[int] | None], None] | None = None, worker: Any = None,
) -> float:  # fmt: skip
    """Waits until ``pending`` is done; gives the seconds that took.

    Args:
        pending: what has begun.
        seconds: 0: as long as it takes.
        late: makes the error for whoever has waited that long, from the time and the ranks that are missing.
        look: is given the missing ranks every now and then, and may raise.
        worker: the `Worker` that does this. As long as nobody waits for it, looks would take the processor from what
            the program computes meanwhile.
    """
    test = pending.test
    for _ in range(SPINS):
        if test():
            return 0.0
    start = time.perf_counter()
    end = start + seconds if seconds else float("inf")
    next_look = start + LOOK if look is not None else float("inf")
    for looks in range(1 << 62):
        if pending.test():
            return time.perf_counter() - start
        if looks < YIELDS and (worker is None or worker.waiting):
            os.sched_yield()
        else:
            if (now := time.perf_counter()) > next_look:
                assert look is not None
                look(pending.missing())
                next_look = now + LOOK
            if now > end:
                raise late(now - start, pending.missing())
            time.sleep(NAP)
    raise AssertionError("unreachable")


class Done:
    """A transfer that was done at once."""

    def test(self) -> bool:
        return True

    def missing(self) -> Any:
        return None


DONE = Done()
