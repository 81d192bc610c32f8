"""The versions that belong to one owner, and the calls that plain Python answers instead of them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from duograph.base.failures import Failure, is_from_outside
from duograph.base.fork import object_lock
from duograph.frontend.rules.budget import OutOfTime
from duograph.frontend.rules.errors import Uncapturable

from .entry import Entry
from .policy import AGAIN, MAX_VERSIONS, Attempts, Looks, debt
from .sizes import VaryingSizes

if TYPE_CHECKING:
    from duograph.runtime.calls.native import NativeCall

E = TypeVar("E", bound=Exception)

ATTRIBUTE = "_duograph_versions"
"""Where an instance keeps the versions of its methods."""

PLAINLY = "it runs as plain Python; jit(fullgraph=True) makes this an error"
CUT = "the statement runs as plain Python, between compiled segments; jit(fullgraph=True) makes this an error"
"""What the text of a refusal says of the function, and of one that is cut because of it."""


def put_first(entry: Entry, others: list[Entry]) -> list[Entry]:
    """The order in which versions are tried: the latest first, but what serves many sizes after one that was made for
    one, if that was the latest: its kernels know their extents."""
    if entry.patterns and others and not others[0].patterns:
        return [others[0], entry, *others[1:]]
    return [entry, *others]


def first_that_holds(entries: Sequence[Entry], names: tuple[str, ...], values: Sequence[Any]) -> Entry | None:
    """The first version that is valid for these values of the parameters ``names``."""
    for entry in entries:
        if entry.names != names:
            continue
        native = entry.guards.native  # most versions end here: without a call of Python for each
        try:
            may_hold = native is None or native(*values)
        except Exception as error:
            if is_from_outside(error):
                raise
            may_hold = True  # `matches` asks again, and judges what that raises
        if may_hold and entry.matches(values):
            return entry
    return None


def without_frames(error: E) -> E:
    """``error``, which may be kept: it would keep every frame of the capture, and so would what it came from."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


class Fallback(Looks):
    """Arguments for which the function runs as plain Python, and why."""

    def __init__(self, key: Any, reason: str, span: Any, rendered: str, error: Exception) -> None:
        super().__init__()
        self.key, self.reason, self.span, self.rendered = key, reason, span, rendered
        self.premises: tuple[Any, ...] = getattr(error, "premises", ())
        self.is_over = False  # what led to it was another at the latest look
        self.error = without_frames(error)
        self.seconds = 0.0  # that plain Python took for these calls

    def holds(self, args: Sequence[Any]) -> bool:
        """Whether what the capture had read is still so, as far as that is looked at."""
        if self.is_due():
            self.is_over = not all(premise.holds(args) for premise in self.premises)
        return not self.is_over

    def count(self, seconds: float) -> None:
        """Plain Python has answered a call."""
        self.hits += 1
        self.seconds += seconds * self.weight
        self.weight = 1

    @property
    def rendered_cut(self) -> str:
        """The text where the function is cut at the statement, and the rest of it is compiled."""
        text = self.rendered.replace("cannot be compiled", "cannot be compiled as a whole", 1)
        return text.replace(PLAINLY, CUT, 1)

    def __repr__(self) -> str:
        where = f" at {self.span}" if self.span is not None else ""
        return f"{self.reason}{where}"

    @property
    def account(self) -> str:
        """How often plain Python ran because of it, and how long."""
        return f"{self.hits} call{'s' if self.hits != 1 else ''} ran as plain Python: {self.seconds * 1e3:.1f} ms"


class Entries:
    """Compiled versions that belong to one owner (a function, or an instance for methods).

    Copies and pickles of the owner start without versions: they are about other objects.

    Attributes:
        native: versions that native code tries before Python does (``runtime/calls/native.py``).
        taped: those that it tries while tapes record.
        is_small: tapes are served op by op (`Entry.is_small`), whichever version is valid.
        failures: parts of this package that failed while a version was captured, checked, or run.
        doubt: what the attempt to compile that has just ended raised: plain Python will tell whose error it is.
        refusal: why there is no version for all values of the numbers that vary, and the statement that it is due to.
        is_late: the latest attempt to capture for varying numbers and sizes has taken all the time there was.
        attempts: to compile, and whether the next call is one.
        seconds: that plain Python took for calls that no attempt was made for.
    """

    __slots__ = ("__dict__", "__weakref__", "native", "taped")

    def __init__(self) -> None:
        self.native: tuple[NativeCall, ...] = ()
        self.taped: tuple[NativeCall, ...] = ()
        self.lock = object_lock()
        self.compiled: list[Entry] = []
        self._before: dict[Entry, tuple[int, int, int]] = {}  # counts of versions that others had used before
        self.fallbacks: list[Fallback] = []
        self.failures: list[Failure] = []
        self.doubt: tuple[Exception, TracebackType | None] | None = None
        self.is_late = False
        self.refusal: Uncapturable | None = None
        self.attempts = Attempts()
        self.is_small = False
        self.seconds, self._weight = 0.0, 1
        self._paid = 0.0  # of these seconds, those before the latest attempt
        self.recompiles: list[str] = []
        self.sizes = VaryingSizes()

    def count(self, seconds: float) -> None:
        """Plain Python has answered a call that no attempt was made for."""
        self.seconds += seconds * self._weight
        self._weight = 1

    @property
    def plain_seconds(self) -> float:
        """What such a call takes in plain Python."""
        return self.seconds / max(1, self.attempts.unattempted)

    def passed(self, calls: int) -> None:
        """This many such calls have gone to plain Python natively: the time of the next one stands for theirs."""
        self.attempts.passed(calls)
        self._weight += calls

    def is_backing_off(self) -> bool:
        """Whether plain Python answers this call with new arguments without an attempt to compile."""
        waits = self.attempts.wait(self._counts, self._debt())
        self._paid = self._paid if waits else self.seconds
        return waits

    def _debt(self) -> float:
        if not self.compiled:
            return 0.0
        cost = sum(entry.capture_ms + entry.compile_ms for entry in self.compiled) / len(self.compiled) / 1e3
        return debt(len(self.compiled) + self.attempts.dropped, cost, self.seconds - self._paid)

    def _counts(self) -> tuple[int, int, bool]:
        latest = self.fallbacks[-1] if self.fallbacks else None
        failed = sum(latest is not None and (f.reason, f.span) == (latest.reason, latest.span) for f in self.fallbacks)
        is_late = latest is not None and isinstance(latest.error, OutOfTime)
        return failed, self.unused, is_late

    @property
    def unused(self) -> int:
        """Versions that no call has used after the one that they were made for."""
        return sum(entry.hits <= 1 for entry in self.compiled)

    def note_miss(self) -> None:
        """No version holds for a call."""
        if not self.attempts.note_miss():
            return
        for entry in tuple(self.compiled):
            if entry.hits <= 1 and entry.is_spare:
                self.drop(entry)
                self.attempts.dropped += 1
            entry.is_spare = entry.hits <= 1

    def take(self, entries: Sequence[Entry]) -> None:
        """Lets native code try versions that were made for others (`shared`)."""
        for entry in entries:
            if entry not in self._before:
                self._before[entry] = entry.hits, entry.runs, entry.plain_runs
        self.native = tuple([e.native for e in entries if e.native is not None and not e.native.is_retired])

    def counts_of(self, entry: Entry) -> tuple[int, int, int]:
        """Calls that a version answered since this owner has it, how many of them Python led, and plain Python ran."""
        hits, runs, plain_runs = self._before.get(entry, (0, 0, 0))
        return entry.hits - hits, entry.runs - runs, entry.plain_runs - plain_runs

    @property
    def used(self) -> list[Entry]:
        """The versions that answer calls of this owner, those that only native code has found included."""
        taken = [e for e in self._before if e not in self.compiled and self.counts_of(e)[0]]
        return [*self.compiled, *taken]

    def add(self, entry: Entry) -> None:
        """A new version; there is room for so many."""
        for last in self.compiled[MAX_VERSIONS - 1 :]:
            self.drop(last)
        self.compiled = put_first(entry, self.compiled)
        self.attempts.postponed = 0
        self.is_small = all(e.is_small for e in self.compiled)

    def note_use(self, entry: Entry) -> None:
        """Calls that come through Python try this version first from now on."""
        if entry not in self.compiled[: 2 if entry.patterns else 1]:
            with self.lock:
                if entry in self.compiled:  # one assignment: others look without the lock, or it is interrupted here
                    self.compiled = put_first(entry, [e for e in self.compiled if e is not entry])

    def put_native(self, entry: Entry, made: NativeCall | None) -> None:
        """Native code tries this version first from now on, until it is to be compared once more."""
        if made is not None and entry.comparison.pays:
            made.leave_after(max(entry.comparison.again - entry.hits, AGAIN))
        if made is None or made in self.native[: 2 if entry.patterns else 1]:
            return
        with self.lock:
            order = {native: k for k, native in enumerate(self.native) if not native.is_retired}
            others = [e for e in self.compiled if e is not entry and e.native in order]
            others.sort(key=lambda e: order[e.native])  # type: ignore[index]
            if entry in self.compiled:  # else another thread has found meanwhile that it is wrong
                kept = [e.native for e in put_first(entry, others)]
                self.native = tuple([n for n in kept if n is not None])

    def put_taped(self, entry: Entry, made: NativeCall | None) -> None:
        """`put_native` for the tapes that record now."""
        if made is None or self.taped[:1] == (made,):
            return
        with self.lock:
            others = [n for n in self.taped if n is not made and not n.is_retired]
            if entry in self.compiled:
                self.taped = (made, *others[: MAX_VERSIONS - 1])

    def leave_out(self, made: NativeCall | None) -> None:
        """Python leads the calls of a version from now on."""
        if made is not None:
            made.leave_after(None)
            self.native = tuple([n for n in self.native if n is not made])

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


def statistics(stores: Sequence[Entries]) -> dict[str, Any]:
    """`JitFunction.stats` of a function that has these."""
    entries = [entry for store in stores for entry in store.used]
    hits = sum(store.counts_of(e)[0] for store in stores for e in store.used)
    misses = sum(store.attempts.misses for store in stores)
    return {
        "versions": len(entries),
        "hits": hits,
        "captures": sum(store.attempts.captures for store in stores),
        "guard_checks": hits + misses,  # calls for which guards were looked at
        "guard_misses": misses,
        "capture_ms": sum(e.capture_ms for e in entries),
        "compile_ms": sum(e.compile_ms for e in entries),
        "fallbacks": sum(len(store.fallbacks) for store in stores),
    }
