"""Where the time of a native program goes: its kernel calls, each with the time it took.

    print(profile(graph, values))

The program is compiled once more, with a time stamp after each kernel (five microseconds with its event); kernels are
the same. `measured` gives the calls of one run, `profile` a table, slowest first.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from duograph.ir.node import Graph
from duograph.runtime.kernels import kernels

from .build import TICK, Tick
from .executable import Executable

__all__ = ["KernelCall", "measurable", "measured", "profile"]


class _Looks(threading.local):
    """The time stamps of the run of this thread: numbers of ticks, and nanoseconds."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []


_looks = _Looks()


def _tick(_: int, dims: int) -> int:
    _looks.seen.append((ctypes.c_int64.from_address(dims).value, time.perf_counter_ns()))
    return 0


_callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(_tick)


class KernelCall(NamedTuple):
    """What an executable called: when it began and ended, in nanoseconds of `time.perf_counter_ns`."""

    tick: Tick
    begin: int
    end: int


def measurable(graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> Executable:
    """An executable of ``graph`` that takes a time stamp after each kernel; arguments as of `compile_graph`."""
    kernels.provide(TICK, ctypes.cast(_callback, ctypes.c_void_p).value or 0)
    return Executable(graph, level, donate, ticks=True)


def measured(executable: Executable, values: Sequence[Any], repeat: bool = True) -> tuple[Any, list[KernelCall]]:
    """The result of a run of an executable that is `measurable`, and what it has called; see `Executable.run`."""
    ticks, outer = executable.build.ticks or [], _looks.seen  # steps in Python may run others
    seen: list[tuple[int, int]] = []
    _looks.seen = seen
    try:
        result = executable.run(values, repeat)
    finally:
        _looks.seen = outer
    return result, [
        KernelCall(ticks[number], begin, end) for (_, begin), (number, end) in itertools.pairwise(seen) if number
    ]


def profile(
    graph: Graph, values: Sequence[Any], level: int = 1, donate: Mapping[int, int] | None = None, repeats: int = 10
) -> str:
    """A table of the kernel calls of ``graph``: microseconds per run (the least of several), share, calls, name.

    Args:
        graph: any closed graph.
        values: inputs; those that are donated are written to.
        level: as of `compile_graph`.
        donate: as of `compile_graph`.
        repeats: how many runs are looked at, after one that is not.
    """
    executable = measurable(graph, level, donate)
    least: dict[Tick, int] = {}
    calls: dict[Tick, int] = {}
    for i in range(repeats + 1):
        spent: dict[Tick, int] = {}
        calls = {}
        for call in measured(executable, values)[1]:
            spent[call.tick] = spent.get(call.tick, 0) + call.end - call.begin
            calls[call.tick] = calls.get(call.tick, 0) + 1
        if i:
            least = {tick: min(t, least.get(tick, t)) for tick, t in spent.items()}
    total = sum(least.values()) or 1
    lines = [f"{total / 1e3:.1f} us in {sum(calls.values())} kernel calls", "      us      %   calls  kernel"]
    for tick in sorted(least, key=lambda t: -least[t]):
        us, share = least[tick] / 1e3, 100 * least[tick] / total
        lines.append(f"{us:8.1f} {share:6.1f} {calls[tick]:7}  {tick.name}")
    return "\n".join(lines)
