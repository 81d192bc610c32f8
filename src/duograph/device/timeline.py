"""What ranks spend on communication: a table, and a timeline of all of them on one clock.

Every collective emits an event (`base.events`), with its bytes and how long this rank waited for others before the
first byte came. `Timeline` listens, beginning at a barrier, which is the zero of the clocks of all machines; in the end
rank 0 writes what all have heard as one file for ``chrome://tracing`` or Perfetto: a process per rank, with rows for
communication and for the stages of compilation.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from typing import Any

from duograph.base.events import Event, listen
from duograph.base.files import write_file
from duograph.distributed import world
from duograph.distributed.world import WORLD
from duograph.ops.collective import run

__all__ = ["Timeline", "communication_report"]

COMMUNICATION = "communication"


class Timeline:
    """Writes what all ranks do within the ``with`` block to a file.

    Args:
        path (str): the file, a JSON of trace events; rank 0 writes it.

    Examples:
        >>> from duograph import parallel
        >>> with parallel.Timeline("trace.json"):
        ...     _ = ops.AllReduce()(Tensor([1.0]))
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._spans: list[dict[str, Any]] = []
        self._rank, self._zero = 0, 0.0
        self._listening = ExitStack()

    def __enter__(self) -> Timeline:
        self._rank = world.current().rank
        here = world.current()
        run(WORLD, lambda g: g.barrier())
        zeros = run(WORLD, lambda g: g.all_gather_object(time.perf_counter()))
        self._zero = zeros[here.local_ranks[0]]  # processes of one machine have one clock
        self._listening.enter_context(listen(self._hear))
        return self

    def _hear(self, event: Event) -> None:
        if world.current().rank != self._rank:  # of a simulation, whose ranks all hear this
            return
        if event.kind == COMMUNICATION:
            self._note(event.data["what"], COMMUNICATION, event.time, event.data["seconds"], event.data)
        elif event.kind == "end" and event.duration is not None:
            self._note(event.path[-1], "stages", event.time, event.duration, {})

    def _note(self, name: str, row: str, end: float, seconds: float, data: Any) -> None:
        start = end - seconds - self._zero
        args = {key: value for key, value in data.items() if key in ("bytes", "waited", "group")}
        self._spans.append(
            {"name": name, "ph": "X", "pid": self._rank, "tid": row, "ts": start * 1e6, "dur": seconds * 1e6,
             "args": args}
        )  # fmt: skip

    def __exit__(self, kind: Any, *_: object) -> None:
        self._listening.close()
        if kind is not None:  # others may not come
            return
        spans = self._spans
        found = run(WORLD, lambda g: g.gather_object(spans, 0))
        if found is not None:
            names = [
                {"name": "process_name", "ph": "M", "pid": rank, "args": {"name": f"rank {rank}"}}
                for rank in range(len(found))
            ]
            events = names + [span for own in found for span in own]
            write_file(self.path, json.dumps({"traceEvents": events}).encode())


def communication_report() -> str:
    """What each rank has spent on each kind of collective so far, as a table; all ranks call this.

    Returns:
        str, the same on all ranks: calls, megabytes, seconds, how many of these it waited for others, and how many were
        hidden by what a compiled program computed meanwhile.

    Examples:
        >>> from duograph import parallel
        >>> _ = ops.AllReduce()(Tensor([1.0]))
        >>> print(parallel.communication_report().splitlines()[0])
        rank  what                  calls        MB   seconds    waited    hidden
    """
    figures = world.current().all.figures
    own = [(what, f.calls, f.bytes, f.seconds, f.waited, f.hidden) for what, f in sorted(figures.items())]
    lines = [f"rank  {'what':<20} {'calls':>6} {'MB':>9} {'seconds':>9} {'waited':>9} {'hidden':>9}"]
    for rank, rows in enumerate(run(WORLD, lambda g: g.all_gather_object(own))):
        for what, calls, nbytes, *spans in rows:
            times = " ".join(f"{seconds:>9.3f}" for seconds in spans)
            lines.append(f"{rank:>4}  {what:<20} {calls:>6} {nbytes / 1e6:>9.2f} {times}")
    return "\n".join(lines)
