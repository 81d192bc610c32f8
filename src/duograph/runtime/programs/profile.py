"""Where the time of a native program goes: one line per kernel call, slowest first.

    print(profile(graph, values))

The program is compiled once more, with a look at the clock after each kernel (about a microsecond each).
"""

from __future__ import annotations

import ctypes
import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any

from duograph.ir.node import Graph
from duograph.runtime.kernels import kernels

from .build import TICK
from .executable import Executable

__all__ = ["profile"]

_ticks: list[tuple[int, int]] = []


def _tick(_: int, dims: int) -> int:
    _ticks.append((ctypes.c_int64.from_address(dims).value, time.perf_counter_ns()))
    return 0


_callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(_tick)


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
    kernels.provide(TICK, ctypes.cast(_callback, ctypes.c_void_p).value or 0)
    executable = Executable(graph, level, donate, ticks=True)
    names = executable.build.ticks or []
    least: dict[int, int] = {}
    calls: dict[int, int] = {}
    for i in range(repeats + 1):
        _ticks.clear()
        executable.run(values)
        spent: dict[int, int] = {}
        calls = {}
        for (_, before), (number, after) in itertools.pairwise(_ticks):
            spent[number] = spent.get(number, 0) + after - before
            calls[number] = calls.get(number, 0) + 1
        if i:
            least = {n: min(t, least.get(n, t)) for n, t in spent.items()}
    total = sum(least.values()) or 1
    lines = [f"{total / 1e3:.1f} us in {sum(calls.values())} kernel calls", "      us      %   calls  kernel"]
    for number in sorted(least, key=lambda n: -least[n]):
        us, share = least[number] / 1e3, 100 * least[number] / total
        lines.append(f"{us:8.1f} {share:6.1f} {calls[number]:7}  {names[number]}")
    return "\n".join(lines)
