"""The versions that belong to one owner, and the calls that plain Python answers instead of them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from duograph.base.failures import Failure
from duograph.base.fork import object_lock
from duograph.frontend.budget import OutOfTime
from duograph.frontend.sources import Source

from .conditions import MOST_VERSIONS
from .entry import Entry
from .sizes import VaryingSizes

if TYPE_CHECKING:
    from duograph.runtime.calls.native import NativeCall

ATTRIBUTE = "_duograph_versions"
"""Where an instance keeps the versions of its methods."""

MAX_VERSIONS = 128
PATIENCE = 4  # attempts to compile that may fail for the same reason before the next ones wait
SPARE = 8  # versions that may be unused after the call they were made for, before the next ones wait
OFTEN = 8  # calls before each of which the premises of a fallback are looked at
RARELY = 32  # of how many later ones, before one
STALE = 256  # misses after which a version that is unused, and was so before them, is dropped


def put_first(entry: Entry, others: list[Entry]) -> list[Entry]:
    """The order in which versions are tried: the latest first, but what serves many sizes after one that was made for
    one, if that was the latest: its kernels know their extents."""
    if entry.patterns and others and not others[0].patterns:
        return [others[0], entry, *others[1:]]
    return [entry, *others]


class Fallback:
    """Arguments for which the function runs as plain Python, and why."""

    def __init__(self, key: Any, reason: str, span: Any, rendered: str, error: Exception) -> None:
        self.key, self.reason, self.span, self.rendered = key, reason, span, rendered
        self.premises: tuple[Any, ...] = getattr(error, "premises", ())
        self.is_over = False  # what led to it was another at the latest look
        self.looks = 0
        self.error = error.with_traceback(None)  # which would keep every frame of the capture
        error.__context__ = error.__cause__ = None  # and so would theirs
        self.hits = 0

    def holds(self, args: Sequence[Any]) -> bool:
        """Whether what the capture had read is still so, as far as that is looked at: often at first, then rarely."""
        self.looks += 1
        if self.looks <= OFTEN or self.looks % RARELY == 0:
            self.is_over = not all(premise.holds(args) for premise in self.premises)
        return not self.is_over

    def __repr__(self) -> str:
        where = f" at {self.span}" if self.span is not None else ""
        return f"{self.reason}{where}"


class Entries:
    """Compiled versions that belong to one owner (a function, or an instance for methods).

    Copies and pickles of the owner start without versions: they are about other objects.

    Attributes:
        native: versions that native code tries before Python does (``runtime/calls/native.py``).
        taped: those that it tries while tapes record.
        is_small: tapes are served op by op (`Entry.is_small`), whichever version is valid.
        failures: parts of this package that failed while a version was captured, checked, or run.
        doubt: what the attempt to compile that has just ended raised: plain Python will tell whose error it is.
        is_late: the latest attempt to capture for varying numbers and sizes has taken all the time there was.
        misses: calls for which no version held.
        dropped: versions that were never used again, and are gone.
        waited: calls with new arguments that plain Python has answered since the latest attempt to compile.
        unattempted: such calls, from the beginning.
    """

    __slots__ = ("__dict__", "__weakref__", "native", "taped")

    def __init__(self) -> None:
        self.native: tuple[NativeCall, ...] = ()
        self.taped: tuple[NativeCall, ...] = ()
        self.lock = object_lock()
        self.compiled: list[Entry] = []
        self.fallbacks: list[Fallback] = []
        self.failures: list[Failure] = []
        self.doubt: tuple[Exception, TracebackType | None] | None = None
        self.is_late = False
        self.misses = 0
        self.dropped = 0
        self.is_small = False
        self.waited = 0
        self.unattempted = 0
        self.recompiles: list[str] = []
        self.varying: dict[Any, int] = {}
        self.sizes = VaryingSizes()

    def note_number(self, source: Source) -> None:
        """The number that is found there was another one; -1: it cannot be an input."""
        if self.varying.get(source, 0) >= 0:
            self.varying[source] = self.varying.get(source, 0) + 1

    def is_resting(self) -> bool:
        """Whether plain Python answers this call with new arguments without an attempt to compile.

        An attempt costs as much as many calls. Where they go on failing for one reason, or give versions that no
        later call uses (an argument is another object, a text or a size each time), each waits longer than the last.
        """
        latest = self.fallbacks[-1] if self.fallbacks else None
        failed = sum(latest is not None and (f.reason, f.span) == (latest.reason, latest.span) for f in self.fallbacks)
        unused = self.dropped + sum(entry.hits <= 1 for entry in self.compiled)
        if latest is not None and isinstance(latest.error, OutOfTime):
            failed += PATIENCE
        tired = min(max(failed - PATIENCE, unused - SPARE, 0), 20)
        resting = self.waited < 2**tired - 1
        self.waited = self.waited + 1 if resting else 0
        self.unattempted += resting
        return resting

    def note_miss(self) -> None:
        """No version holds for a call. Each costs such a call a check, so those that nobody uses go at length."""
        self.misses += 1
        if self.misses % STALE:
            return
        for entry in tuple(self.compiled):
            if entry.hits <= 1 and entry.is_spare:
                self.drop(entry)
                self.dropped += 1
            entry.is_spare = entry.hits <= 1

    def add(self, entry: Entry) -> None:
        """A new version; there is room for so many."""
        for last in self.compiled[MAX_VERSIONS - 1 :]:
            self.drop(last)
        self.compiled = put_first(entry, self.compiled)
        self.is_small = all(e.is_small for e in self.compiled)

    def note_use(self, entry: Entry) -> None:
        """Calls that come through Python try this version first from now on."""
        if entry not in self.compiled[: 2 if entry.patterns else 1]:
            with self.lock:
                if entry in self.compiled:  # one assignment: others look without the lock, or it is interrupted here
                    self.compiled = put_first(entry, [e for e in self.compiled if e is not entry])

    def put_native(self, entry: Entry, made: NativeCall | None) -> None:
        """Native code tries this version first from now on."""
        if made is None or made in self.native[: 2 if entry.patterns else 1]:
            return
        with self.lock:
            order = {native: k for k, native in enumerate(self.native) if not native.is_retired}
            others = [e for e in self.compiled if e is not entry and e.native in order]
            others.sort(key=lambda e: order[e.native])  # type: ignore[index]
            if entry in self.compiled:  # else another thread has found meanwhile that it is wrong
                kept = [e.native for e in put_first(entry, others)[:MOST_VERSIONS]]
                self.native = tuple([n for n in kept if n is not None])

    def put_taped(self, entry: Entry, made: NativeCall | None) -> None:
        """`put_native` for the tapes that record now."""
        if made is None or self.taped[:1] == (made,):
            return
        with self.lock:
            others = [n for n in self.taped if n is not made and not n.is_retired]
            if entry in self.compiled:
                self.taped = (made, *others[: MOST_VERSIONS - 1])

    def drop(self, entry: Entry) -> None:
        """Takes a version out."""
        self.compiled = [e for e in self.compiled if e is not entry]
        self.native = tuple([n for n in self.native if n is not entry.native])
        self.taped = tuple([n for n in self.taped if n not in entry.taped.values()])

    def __deepcopy__(self, memo: Any) -> Entries:
        return Entries()

    def __copy__(self) -> Entries:
        return Entries()

    def __reduce__(self) -> Any:
        return Entries, ()
