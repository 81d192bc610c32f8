"""Collective operations on arrays, over the ranks of one group.

Every collective begins with a frame from each rank to each other one (`meeting.py`). So

* ranks that do not do the same learn it at once, all of them, from the same frames, and raise the same error, which
  names them; nothing can be taken for something else, and nobody waits for what never comes;
* a small collective is one message from each rank to each other: what it needs is in the frames;
* a large one is a second transfer, of known sizes. `DUOGRAPH_COMM_CHECK=0` leaves its frames out.

Reductions are in the order of the ranks (`reduce.py`): each rank gets a part of all operands (all to all), reduces it,
and the parts are gathered; up to `GATHERED` bytes, everybody gets everything and reduces it all.
"""

from __future__ import annotations

import pickle
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.base.config import config

from .errors import CommunicationError
from .kept import Kept
from .meeting import END, HEAD, SAID, Meeting, as_bytes
from .reduce import reduced
from .transport import FIRST_OWN_TAG, NAP, Pending, Transport

__all__ = ["Group"]

GATHERED = 1 << 16
"""Bytes, of all ranks together, up to which a reduction gathers all operands."""
LINGER = 1e-3
"""Seconds that who sends waits for the receiver to take the message."""
OBJECT_TAG = FIRST_OWN_TAG + 4
UNREAD = 3.0
"""Seconds after the end of all programs in which messages may still be taken."""


class Group(Meeting):
    """A group of ranks, as this one sees it; this one belongs to it. Arguments are those of `Meeting`."""

    def __init__(self, name: str, ranks: Sequence[int], transport: Transport, world: Transport | None = None) -> None:
        super().__init__(name, ranks, transport, world)
        self._kept = Kept()
        self._sent: list[tuple[Pending, str]] = []  # messages on their way, and what they are
        self._sending = threading.Lock()

    # -- collectives -------------------------------------------------------------------------------------------

    def barrier(self) -> None:
        """Waits until all ranks are here."""
        start = time.perf_counter()
        self.meet("barrier")
        self._done("barrier", 0, start)

    def end(self) -> None:
        """As `barrier`; for whoever goes on, it is an error that this rank has ended."""
        self.meet(END)
        self.flush()

    def flush(self) -> None:
        """Waits until all messages of this rank have been received, of ranks that have all ended.

        Raises:
            CommunicationError: some have not been for a time.
        """
        end = time.perf_counter() + UNREAD
        for pending, text in self._sent:
            while not pending.test():
                if time.perf_counter() > end:
                    raise CommunicationError(f"all ranks have ended, and nobody has received the {text}")
                time.sleep(NAP)

    def all_reduce(self, x: np.ndarray, op: str, is_spent: bool = False) -> np.ndarray:
        """The operands of all ranks, reduced; into the memory of ``x`` if that may be, where nobody needs ``x``."""
        start, data, what, given = self._begin("all_reduce", x, f", {op}")
        if given is not None:
            out = reduced(_parts(given, x), op)
        else:
            out = self._all_reduce(x, data, op, what, is_spent)
        self._done("all_reduce", data.size, start)
        return out

    def _all_reduce(self, x: np.ndarray, data: np.ndarray, op: str, what: str, is_spent: bool) -> np.ndarray:
        if config().comm_order == "mpi":
            out = x.copy()
            pending = self.transport.own_order(out, op)
            if pending is not None:
                self._wait(pending, what)
                return out
        if data.size * self.size <= GATHERED:
            whole = np.empty((self.size, data.size), np.uint8)
            self._wait(self.transport.all_gather(data, whole.reshape(-1)), what)
            return reduced(_parts(whole, x), op)
        flat = x.reshape(-1)
        each = -(-flat.size // self.size)
        if each * self.size != flat.size:
            flat, is_spent = np.concatenate([flat, np.zeros(each * self.size - flat.size, x.dtype)]), True
        mine = self._reduced_part(flat, op, what)
        found = flat if is_spent else np.empty(each * self.size, x.dtype)
        self._wait(self.transport.all_gather(as_bytes(mine), as_bytes(found)), what)
        return found[: x.size].reshape(x.shape)

    def _reduced_part(self, flat: np.ndarray, op: str, what: str) -> np.ndarray:
        """This rank's share of the reduction of vectors; their length is a multiple of the number of ranks. It lies in
        memory that the next call uses again."""
        each = flat.size // self.size
        given = self._memory(flat.nbytes).view(flat.dtype).reshape(self.size, each)
        sizes = [each * flat.itemsize] * self.size
        self._wait(self.transport.all_to_all(as_bytes(flat), as_bytes(given), sizes, sizes), what)
        return reduced(list(given), op, given[0])

    def _memory(self, nbytes: int) -> np.ndarray:
        """Bytes for what comes in."""
        return self._kept.empty((nbytes,), np.uint8)

    def reduce(self, x: np.ndarray, op: str, root: int) -> np.ndarray:
        """The operands of all ranks, reduced, for rank ``root``; other ranks get their own back."""
        start, data, what, given = self._begin("reduce", x, f", {op} to {root}")
        if given is None:
            whole = np.empty((self.size, data.size), np.uint8) if self.rank == root else None
            self._wait(self.transport.gather(data, None if whole is None else whole.reshape(-1), root), what)
            given = whole
        out = reduced(_parts(given, x), op) if self.rank == root and given is not None else x.copy()
        self._done("reduce", data.size, start)
        return out

    def reduce_scatter(self, x: np.ndarray, op: str) -> np.ndarray:
        """This rank's part, along the first axis, of the operands of all ranks, reduced."""
        start, data, what, given = self._begin("reduce_scatter", x, f", {op}")
        each = x.shape[0] // self.size
        shape = (each, *x.shape[1:])
        if given is not None:
            mine = slice(self.rank * each, (self.rank + 1) * each)
            out = reduced([part[mine] for part in _parts(given, x)], op)
        else:
            out = self._reduced_part(x.reshape(-1), op, what).reshape(shape).copy()
        self._done("reduce_scatter", data.size, start)
        return out

    def all_gather(self, x: np.ndarray) -> np.ndarray:
        """The operands of all ranks, on a new first axis."""
        start, data, what, given = self._begin("all_gather", x)
        if given is None:
            given = np.empty((self.size, data.size), np.uint8)
            self._wait(self.transport.all_gather(data, given.reshape(-1)), what)
        out = _stacked(given, x)
        self._done("all_gather", data.size, start)
        return out

    def broadcast(self, x: np.ndarray, root: int) -> np.ndarray:
        """The operand of rank ``root``."""
        start, data, what, given = self._begin("broadcast", x, f" from {root}")
        if given is not None:
            out = _parts(given, x)[root].copy()
        else:
            out = x.copy()
            self._wait(self.transport.broadcast(as_bytes(out), root), what)
        self._done("broadcast", data.size, start)
        return out

    def gather(self, x: np.ndarray, root: int) -> np.ndarray | None:
        """As `all_gather`, for rank ``root``; ``None`` for others."""
        start, data, what, given = self._begin("gather", x, f" to {root}")
        if given is None:
            given = np.empty((self.size, data.size), np.uint8)
            self._wait(self.transport.gather(data, given.reshape(-1) if self.rank == root else None, root), what)
        self._done("gather", data.size, start)
        return _stacked(given, x) if self.rank == root else None

    def scatter(self, parts: np.ndarray | None, like: np.ndarray, root: int) -> np.ndarray:
        """One of ``parts`` of rank ``root`` (along its first axis) for every rank, each of shape and dtype ``like``."""
        start = time.perf_counter()
        what = f"scatter of {like.dtype} {like.shape} from {root}"
        self.meet(what)
        out = np.empty(like.shape, like.dtype)
        whole = None if parts is None else as_bytes(np.ascontiguousarray(parts))
        self._wait(self.transport.scatter(whole, as_bytes(out), root), what)
        self._done("scatter", out.nbytes, start)
        return out

    def all_to_all(self, x: np.ndarray) -> np.ndarray:
        """Part ``r`` of the result, along the first axis, is the part of rank ``r``'s operand that is for this one."""
        start, data, what, given = self._begin("all_to_all", x)
        each = x.shape[0] // self.size
        if given is not None:
            mine = slice(self.rank * each, (self.rank + 1) * each)
            out = np.concatenate([part[mine] for part in _parts(given, x)])
        else:
            out = np.empty_like(x)
            sizes = [data.size // self.size] * self.size
            self._wait(self.transport.all_to_all(data, as_bytes(out), sizes, sizes), what)
        self._done("all_to_all", data.size, start)
        return out

    def all_to_all_parts(self, parts: Sequence[np.ndarray], like: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Rank ``r`` gets ``parts[r]``; what comes from it is of shape and dtype ``like[r]``.

        Raises:
            CommunicationError: what a rank sends is not what another expects.
        """
        start = time.perf_counter()
        sizes, back = [p.nbytes for p in parts], [p.nbytes for p in like]
        told = self.all_gather(np.array([sizes, back], np.int64))
        wrong = [
            f"rank {self.ranks[s]} sends {told[s, 0, r]} bytes to rank {self.ranks[r]}, which expects {told[r, 1, s]}"
            for s in range(self.size)
            for r in range(self.size)
            if told[s, 0, r] != told[r, 1, s]
        ]
        if wrong:
            raise CommunicationError(f"all_to_all in the group {self.name!r}: {'; '.join(wrong)}", self.ranks[0])
        data = np.concatenate([as_bytes(p) for p in parts])
        given = np.empty(sum(back), np.uint8)
        self._wait(self.transport.all_to_all(data, given, sizes, back), "all_to_all")
        found = np.split(given, np.cumsum(back)[:-1])
        self._done("all_to_all", data.size, start)
        return [p.view(x.dtype).reshape(x.shape) for p, x in zip(found, like, strict=True)]

    # -- messages ----------------------------------------------------------------------------------------------

    def send(self, x: np.ndarray, to: int, tag: int) -> None:
        """A message for rank ``to``, which says what it is. It is copied: nobody waits until it is received, so ranks
        may send to each other."""
        text = f"{x.dtype} {x.shape}".encode()[:HEAD].ljust(HEAD, b"\0")
        message = np.concatenate([np.frombuffer(text, np.uint8), as_bytes(x)])
        start = time.perf_counter()
        with self._sending:
            self._sent = [(pending, told) for pending, told in self._sent if not pending.test()]
            pending = self.transport.send(message, to, tag)
            while not pending.test():
                if time.perf_counter() - start > LINGER:  # it goes on with whatever is called next
                    told = f"{x.dtype} {x.shape} that rank {self.ranks[self.rank]} has sent to rank {self.ranks[to]}"
                    self._sent.append((pending, f"{told} with tag {tag}"))
                    break
        self._done("send", x.nbytes, start, 0.0)

    def receive(self, like: np.ndarray | None, source: int, tag: int, what: str = "") -> tuple[np.ndarray, int]:
        """A message of rank ``source`` (-1: of anybody), of shape and dtype ``like`` (``None``: whatever comes, of
        NumPy's own dtypes); and who has sent it. ``what``: what errors call it."""
        start = time.perf_counter()
        who = "any rank" if source < 0 else f"rank {self.ranks[source]}"
        expected = "" if like is None else f"{like.dtype} {like.shape}"
        what = what or f"receive of {expected or 'a message'} from {who}, tag {tag}"
        probe = _Probe(self.transport, source, tag)
        waited = self._wait(probe, what)
        assert probe.found is not None
        sender, nbytes = probe.found
        message = np.empty(nbytes, np.uint8)
        self._wait(self.transport.receive(message, sender, tag), what)
        said = bytes(message[:HEAD]).rstrip(b"\0").decode()
        if like is not None and said != expected:
            raise CommunicationError(
                f"rank {self.ranks[self.rank]} expects {expected} from rank {self.ranks[sender]}, which has sent "
                f"{said} (tag {tag}, group {self.name!r})"
            )
        self._done("receive", nbytes - HEAD, start, waited)
        dtype, _, sizes = said.partition(" ")
        shape = tuple(int(n) for n in re.findall(r"\d+", sizes)) if like is None else like.shape
        return message[HEAD:].view(np.dtype(dtype) if like is None else like.dtype).reshape(shape), sender

    # -- objects -----------------------------------------------------------------------------------------------

    def all_gather_object(self, obj: Any, what: str = "") -> list[Any]:
        """The objects of all ranks; ``what`` they are, which is compared as all else."""
        told = f"all_gather_object of {what}" if what else "all_gather_object"
        return [pickle.loads(text) for text in self._all_gather_bytes(told, pickle.dumps(obj))]

    def broadcast_object(self, obj: Any, root: int) -> Any:
        """The object of rank ``root``."""
        text = pickle.dumps(obj) if self.rank == root else b""
        return pickle.loads(self._all_gather_bytes(f"broadcast_object from {root}", text)[root])

    def gather_object(self, obj: Any, root: int) -> list[Any] | None:
        """As `all_gather_object`, for rank ``root``."""
        texts = self._all_gather_bytes(f"gather_object to {root}", pickle.dumps(obj))
        return [pickle.loads(text) for text in texts] if self.rank == root else None

    def scatter_object(self, objects: Sequence[Any] | None, root: int) -> Any:
        """One of the objects of rank ``root`` for every rank."""
        text = pickle.dumps([pickle.dumps(x) for x in objects or ()]) if self.rank == root else b""
        texts = pickle.loads(self._all_gather_bytes(f"scatter_object from {root}", text)[root])
        return pickle.loads(texts[self.rank])

    def send_object(self, obj: Any, to: int) -> None:
        """An object for rank ``to``."""
        self.send(np.frombuffer(pickle.dumps(obj), np.uint8), to, OBJECT_TAG)

    def receive_object(self, source: int) -> Any:
        """The next object that rank ``source`` has sent."""
        text, _ = self.receive(None, source, OBJECT_TAG, f"receive of an object from rank {self.ranks[source]}")
        return pickle.loads(text.tobytes())

    def _all_gather_bytes(self, what: str, text: bytes) -> list[bytes]:
        start = time.perf_counter()
        mine = np.frombuffer(text, np.uint8)
        frames = self.meet(what, mine)
        lengths = [int(self._frames[r, SAID:HEAD].view(np.int64)[0]) for r in range(self.size)]
        longest = max(lengths)
        if longest > self._room:
            part = np.zeros(longest, np.uint8)
            part[: mine.size] = mine
            frames = np.empty((self.size, longest), np.uint8)
            self._wait(self.transport.all_gather(part, frames.reshape(-1)), what)
        self._done(what.split(maxsplit=1)[0], len(text), start)
        return [frames[r, : lengths[r]].tobytes() for r in range(self.size)]


class _Probe:
    """Waits for a message to come."""

    def __init__(self, transport: Transport, source: int, tag: int) -> None:
        self._look: Callable[[], tuple[int, int] | None] = lambda: transport.probe(source, tag)
        self._source = source
        self.found: tuple[int, int] | None = None

    def test(self) -> bool:
        self.found = self._look()
        return self.found is not None

    def missing(self) -> list[int] | None:
        return None if self._source < 0 else [self._source]


def _parts(given: np.ndarray, like: np.ndarray) -> list[np.ndarray]:
    """Rows of bytes as arrays of shape and dtype ``like``."""
    return [row.view(like.dtype).reshape(like.shape) for row in given]


def _stacked(given: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Rows of bytes as an array of its own, with arrays of shape and dtype ``like`` on its first axis."""
    return given.copy().reshape(-1).view(like.dtype).reshape(len(given), *like.shape)
