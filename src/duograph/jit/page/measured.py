"""What the page shows of a profile (`duograph.profile`): time of lines and kernels, and a timeline."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
MOST_SHOWN = 10_000
"""Events of the timeline, the first ones: a browser draws these smoothly, and a run repeats itself."""
ROWS = ("call", "kernel", "operator", "stage", "mark")


def measured(profile: Any) -> Json:
    """Sums and events of a profile, as data."""
    lines: Json = {}
    for row in profile.lines:
        if row.key is not None:
            lines.setdefault(row.key.file, {})[row.key.line] = [round(row.seconds * 1e3, 4), row.calls]
    kernels: Json = {}
    for event in profile.events:
        if event.symbol:
            known = kernels.setdefault(event.symbol, {"ms": 0.0, "calls": 0, "bytes": 0})
            known["ms"] += event.duration / 1e6
            known["calls"] += 1
            known["bytes"] += event.moved or 0
    return {
        "summary": profile.summary, "lines": lines, "kernels": kernels, "rows": ROWS, **_timeline(profile.events),
        "memory": profile.table("memory") if profile.memory is not None else "",
    }  # fmt: skip


def _timeline(events: Any) -> Json:
    shown = sorted(events, key=lambda event: event.begin)[:MOST_SHOWN]
    zero = shown[0].begin if shown else 0
    names: dict[str, int] = {}
    files: dict[str, int] = {}
    spans = []
    for event in shown:
        place = event.places[0] if event.places else None
        at = [] if place is None else [files.setdefault(place.file, len(files)), place.line]
        number = names.setdefault(event.name, len(names))
        begin, duration = round((event.begin - zero) / 1e3, 2), round(event.duration / 1e3, 2)
        spans.append([ROWS.index(event.kind), number, begin, duration, *at])
    return {"names": list(names), "files": list(files), "spans": spans, "left": len(events) - len(shown)}
