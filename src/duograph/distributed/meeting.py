"""Ranks of a group meet before they communicate: *frames*, which say what each is about to do.

A frame goes from each rank to each other one. It says which operation, of which dtype and shape, the how many-th of
this group, and, if there is room, holds the operand. Here is also how a rank waits for others: what happens to those
that do not come, and what is counted.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.base.config import config
from duograph.base.events import emit

from . import places
from .errors import CommunicationError, CommunicationTimeout
from .transport import Pending, Transport, wait

__all__ = [
    "END",
    "FRAME",
    "HEAD",
    "SAID",
    "SMALL_GROUP",
    "Figures",
    "Meeting",
    "as_bytes",
    "figures_of_program",
    "of_program",
]

SAID = 120
"""Bytes of a frame that say what the rank is about to do, the same on all: the number of the call, and a text."""
HEAD = 128
"""These, and the length of the operand, which may differ."""
FRAME = 512
SMALL_GROUP = 64
"""Ranks up to which a frame has room for an operand; in larger groups it is a head alone."""
END = "the end of the program"
_END = END.encode()


class Figures:
    """What the collectives of one kind came to.

    Attributes:
        calls: how many.
        bytes: of operands.
        seconds: from begin to end.
        waited: of these, for other ranks, before the first byte came.
        hidden: of these, while the program went on computing.
    """

    __slots__ = ("bytes", "calls", "hidden", "seconds", "waited")

    def __init__(self) -> None:
        self.calls = self.bytes = 0
        self.seconds = self.waited = self.hidden = 0.0

    def add(self, nbytes: int, seconds: float, waited: float) -> None:
        """One call more."""
        self.calls += 1
        self.bytes += nbytes
        self.seconds += seconds
        self.waited += waited


_programs: weakref.WeakKeyDictionary[Any, dict[str, Figures]] = weakref.WeakKeyDictionary()


def of_program(kind: str) -> Figures | None:
    """The figures of the compiled program that this thread runs, or works for; ``None``: it does not."""
    at = places.here.at
    context = None if at is None else getattr(at, "context", None)
    if context is None:
        return None
    found = _programs.setdefault(context, {})
    return found.setdefault(kind, Figures())


def figures_of_program(context: Any) -> dict[str, Figures]:
    """What the collectives of a compiled program came to on this rank, by kind; ``context``: that of its nodes."""
    return dict(_programs.get(context, {}))


class Meeting:
    """What all ranks of a group say to each other, as one of them sees it.

    Args:
        name: what users call it.
        ranks: the world's numbers of its ranks, in the order of the group.
        transport: moves bytes between them.
        world: the same between all ranks. Default: ``transport``.

    Attributes:
        rank: the number of this rank in the group.
        size: how many there are.
        calls: how often they have met.
        figures: `Figures` by kind of collective.
    """

    def __init__(self, name: str, ranks: Sequence[int], transport: Transport, world: Transport | None = None) -> None:
        self.name, self.ranks, self.transport = name, tuple(ranks), transport
        self._world = world or transport
        self.rank, self.size = transport.rank, transport.size
        self.calls = 0
        self.figures: dict[str, Figures] = {}
        length = FRAME if self.size <= SMALL_GROUP else HEAD
        self._room = length - HEAD
        self._frame = np.zeros(length, np.uint8)
        self._frames = np.zeros((self.size, length), np.uint8)
        self._number = self._frame[:8].view(np.int64)
        self._length = self._frame[SAID:HEAD].view(np.int64)
        self._said = self._frame[:SAID].data
        self._all_said = [row[:SAID].data for row in self._frames]
        self._texts: dict[str, np.ndarray] = {}
        self._kinds: dict[Any, str] = {}
        self._moved = (0.0, 0.0)
        self._broken: CommunicationError | None = None  # why ranks do not come together any more

    def meet(self, what: str, operand: np.ndarray | None = None) -> np.ndarray:
        """Exchanges frames that say ``what``; gives the operands of all, one per row.

        Raises:
            CommunicationError: other ranks say something else.
            CommunicationTimeout: some say nothing.
        """
        if self._broken is not None:
            raise CommunicationError(f"nothing can be done in the group {self.name!r} any more: {self._broken}")
        self.calls += 1
        text = self._texts.get(what)
        if text is None:
            if len(self._texts) > 1000:  # shapes without end must not leak
                self._texts.clear()
            padded = what.encode()[: SAID - 8].ljust(SAID - 8, b"\0")
            self._texts[what] = text = np.frombuffer(padded, np.uint8)
        self._frame[8:SAID] = text
        self._number[0] = self.calls
        n = 0
        if operand is not None:
            n = operand.size
            self._frame[HEAD : HEAD + min(n, self._room)] = operand[: self._room]
        self._length[0] = n
        waited = self._wait(self.transport.exchange(self._frame, self._frames), what, places.here.worker)
        self._moved = (time.perf_counter(), waited)
        said = self._said
        for other in self._all_said:
            if other != said:
                raise self._difference(what)
        return self._frames[:, HEAD:]

    def _difference(self, what: str) -> CommunicationError:
        """What the ranks say, where they do not say the same; all of them are here, and tell where they are."""
        going = [r for r, x in zip(self.ranks, self._all_said, strict=True) if bytes(x[8:]).find(_END) != 0]
        said = self._frames.copy()
        where = "" if what == END else places.of(places.place())
        self._frame[SAID:HEAD] = 0
        self._frame[:SAID] = np.frombuffer(where.encode()[-SAID:].ljust(SAID, b"\0"), np.uint8)
        self._wait(self.transport.exchange(self._frame, self._frames), what)
        sayings: dict[str, list[int]] = {}
        for r in range(self.size):
            text = bytes(said[r, 8:SAID]).rstrip(b"\0").decode(errors="replace")
            line = bytes(self._all_said[r]).rstrip(b"\0").decode(errors="replace")
            number = int(said[r, :8].view(np.int64)[0])
            at = f" at {line}" if line else ""
            sayings.setdefault(f"{text}{at} (call {number} of the group)", []).append(self.ranks[r])
        told = "; ".join(f"{_named(ranks)}: {text}" for text, ranks in sayings.items())
        if any(text.startswith(END) for text in sayings):
            told = f"a rank has ended its program while others go on in the group {self.name!r}. {told}"
        else:
            told = f"the ranks of the group {self.name!r} do not do the same. {told}"
        return CommunicationError(told, min(going, default=None))

    def _wait(self, pending: Pending, what: str, worker: Any = None) -> float:
        seconds = config().comm_timeout

        def late(waited: float, missing: list[int] | None) -> BaseException:
            who = "another rank" if missing is None else _named([self.ranks[r] for r in missing])
            return CommunicationTimeout(
                f"rank {self.ranks[self.rank]} has waited {waited:.1f} s in {what} (call {self.calls} of the group "
                f"{self.name!r}); nothing has come from {who}. DUOGRAPH_COMM_TIMEOUT sets how long to wait."
            )

        gone: set[int] = set()

        def look(missing: list[int] | None) -> None:
            if what == END:
                self._world.answer()
                return
            others = range(self.size) if missing is None else missing
            awaited = {self.ranks[r] for r in others if r != self.rank}
            found = sorted(gone & awaited)  # known for a while, in which what they had sent would have come
            if found and (missing is not None or gone >= awaited):
                raise CommunicationError(
                    f"{_named(found)} {'has' if len(found) == 1 else 'have'} ended, while rank "
                    f"{self.ranks[self.rank]} waits in {what} (call {self.calls} of the group {self.name!r})"
                )
            gone.update(self._world.ended(sorted(awaited)))

        try:
            return wait(pending, seconds, late, look, worker)
        except CommunicationError as error:
            if not what.startswith("receive"):
                self._broken = error
            raise
        except RuntimeError as error:  # MPI's own
            raise CommunicationError(f"{what} in the group {self.name!r} failed: {error}") from error

    def _done(self, kind: str, nbytes: int, start: float, waited: float | None = None) -> None:
        seconds = time.perf_counter() - start
        waited = self._moved[1] if waited is None else waited
        self.figures_of(kind).add(nbytes, seconds, waited)
        own = of_program(kind)
        if own is not None:
            own.add(nbytes, seconds, waited)
        emit(
            "communication", what=kind, group=self.name, rank=self.ranks[self.rank], bytes=nbytes, seconds=seconds,
            waited=waited,
        )  # fmt: skip

    def figures_of(self, kind: str) -> Figures:
        """What the collectives of ``kind`` came to so far."""
        figures = self.figures.get(kind)
        if figures is None:
            figures = self.figures[kind] = Figures()
        return figures

    def _begin(self, kind: str, x: np.ndarray, detail: str = "") -> tuple[float, np.ndarray, str, np.ndarray | None]:
        """Start, the operand as bytes, what is said, and the operands of all if frames have room for them."""
        start = time.perf_counter()
        data = as_bytes(x)
        key = kind, x.dtype, x.shape, detail
        what = self._kinds.get(key)
        if what is None:
            if len(self._kinds) > 1000:
                self._kinds.clear()
            what = self._kinds[key] = f"{kind} of {x.dtype} {x.shape}{detail}"
        self._moved = (start, 0.0)
        if data.size <= self._room:
            return start, data, what, self.meet(what, data)[:, : data.size]
        if config().comm_check:
            self.meet(what)
        return start, data, what, None


def as_bytes(x: np.ndarray) -> np.ndarray:
    """The memory of a C-contiguous array as bytes."""
    return x.reshape(-1).view(np.uint8)


def _named(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"
