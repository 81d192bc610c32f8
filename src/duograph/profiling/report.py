"""Tables of a profile, as text."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .events import Event, Place, Row
from .memory import Memory

_WIDTH = 60


def summary(events: Sequence[Event], seconds: float, left_out: int) -> str:
    """Where the time of the whole block went."""
    spent = {kind: sum(e.duration for e in events if e.kind == kind) / 1e9 for kind in ("operator", "kernel", "stage")}
    numbers = {kind: sum(e.kind == kind for e in events) for kind in ("operator", "kernel", "call", "stage")}
    outer = sum(e.duration for e in events if e.kind == "stage" and " / " not in e.name) / 1e9
    rest = max(0.0, seconds - spent["operator"] - spent["kernel"] - outer)
    text = (
        f"{_time(seconds)} in all: {_time(spent['kernel'])} in {numbers['kernel']} kernels of {numbers['call']} calls "
        f"of compiled functions, {_time(spent['operator'])} in {numbers['operator']} operators of dynamic mode, "
        f"{_time(outer)} in the compiler, {_time(rest)} in Python"
    )
    return f"{text}\n{left_out} events more are not kept" if left_out else text


def table(by: str, rows: Sequence[Row], seconds: float, limit: int) -> str:
    """Sums by line, operator, kernel or layer."""
    lines = [f"{'time':>10} {'%':>6} {'calls':>8} {'GB/s':>7} {'GFLOP/s':>8}  {by}"]
    for row in rows[:limit]:
        share = 100 * row.seconds / seconds if seconds else 0.0
        rate = f"{row.moved / row.seconds / 1e9:.1f}" if row.moved and row.seconds else ""
        work = f"{row.flops / row.seconds / 1e9:.1f}" if row.flops and row.seconds else ""
        lines.append(f"{_time(row.seconds):>10} {share:6.1f} {row.calls:>8} {rate:>7} {work:>8}  {_shown(row.key)}")
    if len(rows) > limit:
        rest = sum(row.seconds for row in rows[limit:])
        lines.append(f"{_time(rest):>10} {'':6} {'':8} {'':7} {'':8}  {len(rows) - limit} more")
    return "\n".join(lines)


def memory_table(memory: Memory, limit: int) -> str:
    """What was alive when most was, by line."""
    name, workspace = memory.workspace
    lines = [f"{_size(memory.peak)} at the most, of arrays made in the block", f"{'at peak':>10} {'at end':>10}  line"]
    if workspace:
        lines.append(f"{_size(workspace):>10} {'':10}  workspace of the compiled function {name}")
    held = sorted(memory.at_peak.items(), key=lambda item: -item[1])
    for place, size in [item for item in held if item[1]][:limit]:
        lines.append(f"{_size(size):>10} {_size(memory.held.get(place, 0)):>10}  {_shown(place)}")
    return "\n".join(lines)


def _shown(key: object) -> str:
    if isinstance(key, Place):
        where = f"{os.path.basename(key.file)}:{key.line}"
        layer = f" [{key.layer}]" if key.layer else ""
        text = key.text
        return f"{where}{layer}  {text if len(text) <= _WIDTH else text[: _WIDTH - 3] + '...'}".rstrip()
    return str(key) if key else "(none)"


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def _size(nbytes: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= size:
            return f"{nbytes / size:.1f} {unit}"
    return f"{nbytes} B"
