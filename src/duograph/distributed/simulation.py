"""N ranks as N threads of one process.

    results = simulate(4, program)        # [program() on rank 0, ... on rank 3]

The threads use the same groups, checks and sums as processes do; only the bytes go through memory instead of MPI. So
what they compute is, to the bit, what N processes compute: tests compare with it, and programs for many ranks can be
tried, and debugged, in one process. What belongs to a process (settings, the random generator, Parameters that several
ranks hold) is shared: each rank makes its own network.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import CommunicationError
from .transport import DONE, Bytes, Pending, Transport

__all__ = ["Simulated", "transports"]


class _Hub:
    """What the ranks of a group have given, by number of call; and messages."""

    def __init__(self, size: int, failed: threading.Event) -> None:
        self.size, self.failed = size, failed
        self.ended: set[int] = set()
        self.lock = threading.Lock()
        self.given: dict[int, dict[int, Any]] = defaultdict(dict)
        self.taken: dict[int, int] = defaultdict(int)
        self.mail: dict[tuple[int, int], list[Bytes]] = defaultdict(list)
        self.splits: dict[tuple[tuple[int, ...], int], _Hub] = {}


class _Meeting:
    """One call of all ranks: done once all have given something; then each takes what it needs."""

    def __init__(self, hub: _Hub, rank: int, number: int, given: Any, take: Callable[[dict[int, Any]], None]) -> None:
        self.hub, self.number, self.take = hub, number, take
        with hub.lock:
            hub.given[number][rank] = given

    def test(self) -> bool:
        hub = self.hub
        if hub.failed.is_set():
            raise CommunicationError("another rank of the simulation has failed")
        with hub.lock:
            given = hub.given[self.number]
            if len(given) < hub.size:
                return False
        self.take(given)
        with hub.lock:
            hub.taken[self.number] += 1
            if hub.taken[self.number] == hub.size:
                del hub.given[self.number], hub.taken[self.number]
        return True

    def missing(self) -> list[int] | None:
        with self.hub.lock:
            return [r for r in range(self.hub.size) if r not in self.hub.given[self.number]]


class Simulated:
    """The transport of one of several threads."""

    def __init__(self, hub: _Hub, rank: int) -> None:
        self._hub, self.rank, self.size = hub, rank, hub.size
        self._calls = 0

    def _meet(self, given: Any, take: Callable[[dict[int, Any]], None]) -> Pending:
        self._calls += 1
        return _Meeting(self._hub, self.rank, self._calls, given, take)

    def exchange(self, frame: Bytes, frames: Bytes) -> Pending:
        def take(given: dict[int, Any]) -> None:
            for r in range(self.size):
                frames[r] = given[r]

        return self._meet(frame.copy(), take)

    def all_gather(self, part: Bytes, whole: Bytes) -> Pending:
        return self.gather(part, whole, self.rank)

    def all_to_all(self, parts: Bytes, given: Bytes, sizes: Sequence[int], back: Sequence[int]) -> Pending:
        pieces = np.split(parts.copy(), np.cumsum(sizes)[:-1])

        def take(all_: dict[int, Any]) -> None:
            np.concatenate([all_[r][self.rank] for r in range(self.size)], out=given)

        return self._meet(pieces, take)

    def broadcast(self, data: Bytes, root: int) -> Pending:
        def take(given: dict[int, Any]) -> None:
            if self.rank != root:
                data[...] = given[root]

        return self._meet(data.copy() if self.rank == root else None, take)

    def gather(self, part: Bytes, whole: Bytes | None, root: int) -> Pending:
        def take(given: dict[int, Any]) -> None:
            if self.rank == root:
                np.concatenate([given[r] for r in range(self.size)], out=whole)

        return self._meet(part.copy(), take)

    def scatter(self, whole: Bytes | None, part: Bytes, root: int) -> Pending:
        def take(given: dict[int, Any]) -> None:
            part[...] = given[root].reshape(self.size, -1)[self.rank]

        return self._meet(whole.copy() if whole is not None and self.rank == root else None, take)

    def send(self, data: Bytes, to: int, tag: int) -> Pending:
        with self._hub.lock:
            self._hub.mail[to, tag].append((self.rank, data.copy()))  # type: ignore[arg-type]
        return DONE

    def _first(self, source: int, tag: int) -> int | None:
        mail: list[Any] = self._hub.mail[self.rank, tag]
        return next((k for k, (sender, _) in enumerate(mail) if source in (sender, -1)), None)

    def probe(self, source: int, tag: int) -> tuple[int, int] | None:
        if self._hub.failed.is_set():
            raise CommunicationError("another rank of the simulation has failed")
        with self._hub.lock:
            k = self._first(source, tag)
            if k is None:
                return None
            sender, data = self._hub.mail[self.rank, tag][k]  # type: ignore[misc]
            return sender, data.size

    def receive(self, data: Bytes, source: int, tag: int) -> Pending:
        with self._hub.lock:
            k = self._first(source, tag)
            assert k is not None
            data[...] = self._hub.mail[self.rank, tag].pop(k)[1]
        return DONE

    def own_order(self, data: np.ndarray, op: str) -> Pending | None:
        return None

    def split(self, ranks: Sequence[int], number: int) -> Transport:
        key = tuple(ranks), number
        with self._hub.lock:
            hub = self._hub.splits.setdefault(key, _Hub(len(ranks), self._hub.failed))
        return Simulated(hub, list(ranks).index(self.rank))

    def ended(self, ranks: Sequence[int]) -> list[int]:
        return [rank for rank in ranks if rank in self._hub.ended]

    def answer(self) -> None:
        self._hub.ended.add(self.rank)

    def abort(self, status: int) -> None:
        self._hub.failed.set()

    def close(self) -> None:
        """Threads end by themselves."""


def transports(size: int) -> list[Simulated]:
    """One transport per rank."""
    hub = _Hub(size, threading.Event())
    return [Simulated(hub, rank) for rank in range(size)]
