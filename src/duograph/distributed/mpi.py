"""The transport over MPI, through mpi4py.

Frames go directly from each rank to each other one where the ranks are few: that is as fast as a collective, and tells
which rank has not come. The requests are made once (persistent), so a small collective is one ``Startall``. Everything
else is the nonblocking form of MPI's own collectives, which only carry bytes.

mpi4py's initialisation at import is switched off: MPI starts with `communication.init`, asking for
``MPI_THREAD_SERIALIZED``: threads wait for asynchronous calls (`worker.py`), and a lock lets one at a time into MPI.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .transport import FIRST_OWN_TAG, Bytes, Pending, Transport

__all__ = ["Mpi", "start"]

DIRECT = 16
"""Groups of at most this many ranks exchange frames directly."""
_inside = threading.Lock()
"""Held by the thread that is in MPI, never while it waits."""
FRAME_TAG, ASK_TAG, ANSWER_TAG = FIRST_OWN_TAG + 1, FIRST_OWN_TAG + 2, FIRST_OWN_TAG + 3


def start() -> Mpi:
    """The transport of all processes that were started together.

    Raises:
        ImportError: mpi4py, or MPI itself, is not installed.
    """
    import mpi4py

    mpi4py.rc.initialize = False
    mpi4py.rc.finalize = False
    from mpi4py import MPI

    if not MPI.Is_initialized():
        MPI.Init_thread(MPI.THREAD_SERIALIZED)
    MPI.COMM_WORLD.Set_errhandler(MPI.ERRORS_RETURN)
    return Mpi(MPI, MPI.COMM_WORLD.Dup())


class _Request:
    """One request of MPI; ``keep`` is memory that it uses."""

    __slots__ = ("_request", "_test", "keep")

    def __init__(self, request: Any, *keep: Any) -> None:
        self._request, self._test, self.keep = request, request.Test, keep

    def test(self) -> bool:
        with _inside:
            return bool(self._test())

    def missing(self) -> list[int] | None:
        return None


class _Exchange:
    """Frames between few ranks: persistent requests, one to and one from each."""

    def __init__(self, mpi: Any, comm: Any, size: int) -> None:
        self.rank, self.ranks = comm.rank, comm.size
        self.mine = np.zeros(size, np.uint8)
        self.theirs = np.zeros((self.ranks, size), np.uint8)
        others = [r for r in range(self.ranks) if r != self.rank]
        self.receives = [comm.Recv_init([self.theirs[r], mpi.BYTE], r, FRAME_TAG) for r in others]
        self.sends = [comm.Send_init([self.mine, mpi.BYTE], r, FRAME_TAG) for r in others]
        self.others = others
        self.requests = [*self.receives, *self.sends]
        self.start_all: Callable[[Any], None] = mpi.Prequest.Startall
        self.test_all: Callable[[Any], bool] = mpi.Request.Testall
        self.frames: Bytes = self.theirs

    def start(self, frame: Bytes, frames: Bytes) -> None:
        self.mine[...] = frame
        self.frames = frames
        with _inside:
            self.start_all(self.requests)

    def test(self) -> bool:
        with _inside:
            if not self.test_all(self.requests):
                return False
        self.frames[...] = self.theirs
        self.frames[self.rank] = self.mine
        return True

    def missing(self) -> list[int] | None:
        with _inside:
            return [r for r, request in zip(self.others, self.receives, strict=True) if not request.Test()]


class Mpi:
    """The transport of the ranks of a communicator."""

    def __init__(self, mpi: Any, comm: Any) -> None:
        comm.Set_errhandler(mpi.ERRORS_RETURN)  # an error of MPI is an exception here
        self._mpi, self._comm = mpi, comm
        self.rank, self.size = int(comm.rank), int(comm.size)
        self._exchange: _Exchange | None = None
        self._operations = {"sum": mpi.SUM, "prod": mpi.PROD, "max": mpi.MAX, "min": mpi.MIN}
        self._asked: set[int] = set()
        self._ended: set[int] = set()

    def host(self) -> str:
        """The name of this machine."""
        return str(self._mpi.Get_processor_name())

    def exchange(self, frame: Bytes, frames: Bytes) -> Pending:
        if self.size > DIRECT:
            return self.all_gather(frame.copy(), frames.reshape(-1))
        if self._exchange is None:
            with _inside:
                self._exchange = _Exchange(self._mpi, self._comm, frame.size)
        self._exchange.start(frame, frames)
        return self._exchange

    def all_gather(self, part: Bytes, whole: Bytes) -> Pending:
        byte = self._mpi.BYTE
        with _inside:
            return _Request(self._comm.Iallgather([part, byte], [whole, byte]), part, whole)

    def all_to_all(self, parts: Bytes, given: Bytes, sizes: Sequence[int], back: Sequence[int]) -> Pending:
        byte = self._mpi.BYTE
        with _inside:
            if len({*sizes, *back}) == 1:
                return _Request(self._comm.Ialltoall([parts, byte], [given, byte]), parts, given)
            request = self._comm.Ialltoallv([parts, list(sizes), byte], [given, list(back), byte])
            return _Request(request, parts, given)

    def broadcast(self, data: Bytes, root: int) -> Pending:
        with _inside:
            return _Request(self._comm.Ibcast([data, self._mpi.BYTE], root), data)

    def gather(self, part: Bytes, whole: Bytes | None, root: int) -> Pending:
        byte = self._mpi.BYTE
        target = None if whole is None else [whole, byte]
        with _inside:
            return _Request(self._comm.Igather([part, byte], target, root), part, whole)

    def scatter(self, whole: Bytes | None, part: Bytes, root: int) -> Pending:
        byte = self._mpi.BYTE
        source = None if whole is None else [whole, byte]
        with _inside:
            return _Request(self._comm.Iscatter(source, [part, byte], root), whole, part)

    def send(self, data: Bytes, to: int, tag: int) -> Pending:
        with _inside:
            return _Request(self._comm.Isend([data, self._mpi.BYTE], to, tag), data)

    def probe(self, source: int, tag: int) -> tuple[int, int] | None:
        status = self._mpi.Status()
        with _inside:
            if not self._comm.Iprobe(self._mpi.ANY_SOURCE if source < 0 else source, tag, status):
                return None
            return status.Get_source(), status.Get_count(self._mpi.BYTE)

    def receive(self, data: Bytes, source: int, tag: int) -> Pending:
        with _inside:
            return _Request(self._comm.Irecv([data, self._mpi.BYTE], source, tag), data)

    def own_order(self, data: np.ndarray, op: str) -> Pending | None:
        if data.dtype.char not in "bBhHiIlLqQfd" or op not in self._operations:  # what every MPI can do
            return None
        with _inside:
            return _Request(self._comm.Iallreduce(self._mpi.IN_PLACE, data, self._operations[op]), data)

    def split(self, ranks: Sequence[int], number: int) -> Transport:
        group = self._comm.Get_group().Incl(list(ranks))
        return Mpi(self._mpi, self._comm.Create_group(group, number % 32000))

    def ended(self, ranks: Sequence[int]) -> list[int]:
        for rank in ranks:
            if rank not in self._asked and rank != self.rank:
                self._asked.add(rank)
                with _inside:
                    self._comm.Isend([b"", self._mpi.BYTE], rank, ASK_TAG).Free()  # nothing is in it
        self._ended.update(self._came(ANSWER_TAG))
        return [rank for rank in ranks if rank in self._ended]

    def answer(self) -> None:
        for rank in self._came(ASK_TAG):
            with _inside:
                self._comm.Isend([b"", self._mpi.BYTE], rank, ANSWER_TAG).Free()

    def _came(self, tag: int) -> list[int]:
        """The senders of the empty messages with a tag that have come."""
        found = []
        while (message := self.probe(-1, tag)) is not None:
            with _inside:
                self._comm.Recv([bytearray(), self._mpi.BYTE], message[0], tag)
            found.append(message[0])
        return found

    def abort(self, status: int) -> None:
        self._mpi.COMM_WORLD.Abort(status)

    def close(self) -> None:
        """Ends MPI; no rank may be waiting for this one."""
        if not self._mpi.Is_finalized():
            self._mpi.Finalize()
