"""Events of a profile as a file that ``chrome://tracing`` and Perfetto show (Trace Event Format, complete events)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from duograph.base.files import write_file

from .events import Event

_ROWS = {
    "mark": "marks",
    "call": "compiled functions",
    "kernel": "kernels",
    "operator": "operators",
    "stage": "compiler",
}


def trace_of(events: Sequence[Event]) -> dict[str, Any]:
    """The content of the file: a row for each kind of event, times in microseconds from the first event on."""
    zero = min((event.begin for event in events), default=0)
    rows = {kind: number for number, kind in enumerate(_ROWS)}
    shown: list[dict[str, Any]] = [
        {"ph": "M", "name": "thread_name", "pid": os.getpid(), "tid": number, "args": {"name": _ROWS[kind]}}
        for kind, number in rows.items()
    ]
    for event in events:
        told: dict[str, Any] = {"line": [f"{place.file}:{place.line}" for place in event.places]}
        layers = [place.layer for place in event.places if place.layer]
        optional = {
            "layer": layers, "operators": list(event.operators), "bytes": event.moved, "flops": event.flops,
            "made": event.made,
            "gradient of": event.gradient_of,
        }  # fmt: skip
        told |= {name: value for name, value in optional.items() if value}
        shown.append(
            {
                "ph": "X" if event.kind != "mark" or event.duration else "i",
                "name": event.name, "cat": event.kind, "pid": os.getpid(), "tid": rows[event.kind],
                "ts": (event.begin - zero) / 1e3, "dur": event.duration / 1e3, "args": told,
            }
        )  # fmt: skip
    return {"traceEvents": shown, "displayTimeUnit": "ns"}


def write_trace(path: str, events: Sequence[Event]) -> None:
    """Writes the file."""
    write_file(path, json.dumps(trace_of(events)).encode())
