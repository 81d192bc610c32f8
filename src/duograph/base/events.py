"""What happens inside, for listeners: stages with their times, and an event log.

The compiler says what it does, whether anything listens or not::

    with stage("capture", function="step"):     # emits "begin" and "end" with the time in seconds
        emit("graph break", reason=...)

    with record() as log:                        # a listener that keeps everything
        compiled(x)
    print(log.table())

Dumps, `explain()`, the viewer and the tests are listeners; there is no other way to look inside. Without a listener
a stage costs well under a microsecond. A listener hears the events of every thread, each event with the path of stages
it happened in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from .fork import fork_safe_lock

__all__ = ["Event", "EventLog", "emit", "is_listened_to", "listen", "record", "stage"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        kind: "begin" and "end" of a stage, or any other word given to `emit`.
        path: the stages it happened in, outermost first; a stage's own begin and end have it as their last.
        time: when, in seconds of `time.perf_counter`.
        data: whatever belongs to it.
        duration: seconds a stage took; only at its end.
        error: the name of the exception class that ended a stage.
    """

    kind: str
    path: tuple[str, ...]
    time: float
    data: Mapping[str, Any] = field(default_factory=dict)
    duration: float | None = None
    error: str | None = None


Listener = Callable[[Event], None]

_listeners: tuple[Listener, ...] = ()
_lock = fork_safe_lock()
_path: ContextVar[tuple[str, ...]] = ContextVar("duograph_stages", default=())


def is_listened_to() -> bool:
    """Whether anyone listens; for data that is expensive to make."""
    return bool(_listeners)


def emit(kind: str, **data: Any) -> None:
    """Tell the listeners that something happened."""
    if _listeners:
        _tell(Event(kind, _path.get(), time.perf_counter(), data))


def _tell(event: Event) -> None:
    for listener in _listeners:
        listener(event)


class stage:
    """A part of the work that is timed: `with stage("capture"): ...`. Stages nest.

    After the block `duration` holds its length in seconds.
    """

    __slots__ = ("_data", "_name", "_start", "_token", "duration")

    def __init__(self, name: str, **data: Any) -> None:
        self._name = name
        self._data = data
        self.duration = 0.0

    def __enter__(self) -> stage:
        path = (*_path.get(), self._name)
        self._token = _path.set(path)
        self._start = time.perf_counter()
        if _listeners:
            _tell(Event("begin", path, self._start, self._data))
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        end = time.perf_counter()
        self.duration = end - self._start
        try:
            if _listeners:
                error = exc_type.__name__ if exc_type is not None else None
                _tell(Event("end", _path.get(), end, self._data, self.duration, error))
        finally:
            _path.reset(self._token)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Call `listener` with every event for the length of a `with` block."""
    global _listeners
    with _lock:
        _listeners = (*_listeners, listener)
    try:
        yield
    finally:
        with _lock:
            position = len(_listeners) - 1 - _listeners[::-1].index(listener)
            _listeners = _listeners[:position] + _listeners[position + 1 :]


class EventLog:
    """A listener that keeps all events, in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def of_kind(self, kind: str) -> list[Event]:
        """All events of one kind."""
        return [event for event in self.events if event.kind == kind]

    def times(self) -> dict[tuple[str, ...], float]:
        """Seconds spent in each stage, by its path, in order of first end; repeated stages are added up."""
        total: dict[tuple[str, ...], float] = {}
        for event in self.events:
            if event.duration is not None:
                total[event.path] = total.get(event.path, 0.0) + event.duration
        return total

    def table(self) -> str:
        """The stages as an indented table: milliseconds, how often, name."""
        total = self.times()
        count: dict[tuple[str, ...], int] = {}
        order: dict[tuple[str, ...], None] = {}
        for event in self.events:
            if event.kind == "begin":
                order.setdefault(event.path)
            elif event.kind == "end":
                count[event.path] = count.get(event.path, 0) + 1
        rows = [
            f"{total[path] * 1e3:10.3f} ms {count[path]:>6} x  {'  ' * (len(path) - 1)}{path[-1]}"
            for path in sorted((path for path in order if path in total), key=_tree_key(order))
        ]
        return "\n".join(rows)


def _tree_key(order: Mapping[tuple[str, ...], None]) -> Callable[[tuple[str, ...]], tuple[int, ...]]:
    """Sorts stages below their parents, siblings by when they first began."""
    position = {path: number for number, path in enumerate(order)}

    def key(path: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(position.get(path[: depth + 1], -1) for depth in range(len(path)))

    return key


@contextmanager
def record() -> Iterator[EventLog]:
    """Keep all events of a `with` block in an `EventLog`."""
    log = EventLog()
    with listen(log):
        yield log
