"""What the page shows of a profile (`duograph.profile`): time of lines and kernels, and a timeline."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core.op import get_op
from duograph.tensor.tensor import Tensor

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
            known = kernels.setdefault(event.symbol, {"ms": 0.0, "calls": 0, "bytes": 0, "flops": 0})
            known["ms"] += event.duration / 1e6
            known["calls"] += 1
            known["bytes"] += event.moved or 0
            known["flops"] += event.flops or 0
    return {
        "summary": profile.summary, "lines": lines, "kernels": kernels, "rows": ROWS, **_timeline(profile.events),
        "memory": profile.table("memory") if profile.memory is not None else "", "peak": peak(),
    }  # fmt: skip


_SIDE, _LONG = 768, 1 << 23
_TIMES = 5
"""The best of so many is what the machine reaches."""


@functools.cache
def peak() -> Json:
    """What this machine reaches, with the threads that it has now: the rate of a large product, and of reading and
    writing arrays that no cache holds."""
    square, row = Tensor(np.ones((_SIDE, _SIDE), np.float32)), Tensor(np.ones(_LONG, np.float32))
    product, copied = _best(lambda: get_op("matmul")(square, square)), _best(lambda: get_op("add")(row, row))
    read = _best(lambda: get_op("reduce_sum")(row, axis=(0,)))
    return {
        "flops": {"value": 2 * _SIDE**3 / product / 1e9, "unit": "GFLOP/s"},
        "bytes": {"value": max(2 * row.nbytes / copied, row.nbytes / read) / 1e9, "unit": "GB/s"},
    }


def _best(run: Callable[[], Any]) -> float:
    """Seconds of the fastest of some runs, after one that compiles."""
    run()
    seconds = []
    for _ in range(_TIMES):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


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
