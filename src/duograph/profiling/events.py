"""What a profile has recorded, as plain data: events, and sums of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from duograph.base.source import captured_source


class Place(NamedTuple):
    """A line of the user's, and the layer that was being called: ``Net.fc (Dense)``; empty: none."""

    file: str
    line: int
    layer: str = ""

    @property
    def text(self) -> str:
        """The line itself, if it is available."""
        source = captured_source(self.file)
        return ((source and source.line(self.line)) or "").strip()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that took time.

    Attributes:
        kind: ``operator`` (of dynamic mode), ``kernel`` (of a compiled function; what it runs in Python, too),
            ``call`` (of a compiled function, as a whole), ``stage`` (of the compiler) or ``mark`` (of the user).
        name: of the operator, kernel, function or stage.
        begin: nanoseconds of `time.perf_counter_ns`.
        duration: nanoseconds.
        places: the lines whose operators it computes; a kernel may compute those of several.
        operators: what a kernel computes.
        moved: bytes of operands and results, each counted once; ``None`` where that is not known.
        made: bytes of new arrays.
        gradient_of: the operator whose gradient rule it belongs to.
        symbol: of a kernel in machine code.
        flops: floating-point operations (`runtime.programs.work`); ``None`` where that is not known.
    """

    kind: str
    name: str
    begin: int
    duration: int
    places: tuple[Place, ...] = ()
    operators: tuple[str, ...] = ()
    moved: int | None = None
    made: int = 0
    gradient_of: str = ""
    symbol: str = ""
    flops: int | None = None


@dataclass(slots=True)
class Row:
    """The sum of the events of one line, operator, kernel or layer.

    Attributes:
        key: what they have in common.
        calls: how many events.
        seconds: their time. That of a kernel that computes operators of several lines is divided among these equally.
        moved: bytes of operands and results, where they are known.
        made: bytes of new arrays.
        flops: floating-point operations, where they are known.
        kinds: kinds of the events.
    """

    key: object
    calls: int = 0
    seconds: float = 0.0
    moved: int = 0
    made: int = 0
    flops: int = 0
    kinds: tuple[str, ...] = ()


def rows_by(events: Iterable[Event], keys: Callable[[Event], Sequence[object]]) -> list[Row]:
    """Sums of events by each of their ``keys``, the longest first."""
    rows: dict[object, Row] = {}
    for event in events:
        found = keys(event)
        for key in found:
            row = rows.get(key)
            if row is None:
                row = rows[key] = Row(key)
            row.calls += 1
            row.seconds += event.duration / len(found) / 1e9
            row.moved += (event.moved or 0) // len(found)
            row.made += event.made // len(found)
            row.flops += (event.flops or 0) // len(found)
            if event.kind not in row.kinds:
                row.kinds += (event.kind,)
    return sorted(rows.values(), key=lambda row: -row.seconds)
