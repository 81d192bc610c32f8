"""How far a process grows: what a leak does each time, and nothing else does."""

from __future__ import annotations

import gc
import pathlib
import re
import resource
from collections.abc import Callable

STATUS = pathlib.Path("/proc/self/status")


def resident(name: str = "VmRSS") -> int:
    """``VmRSS`` (now) or ``VmHWM`` (at most) of this process, in KiB; the latter where the system tells no other."""
    if STATUS.exists():
        return int(re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def growth(work: Callable[[], object], rounds: int = 3, enough: int = 1024) -> int:
    """By how many KiB the process grows while ``work`` runs: the least of several rounds.

    Other threads of a process with thousands of tests behind it, and the allocator of C, may take memory at any moment,
    once; what ``work`` leaks is lost in each round. A round below ``enough`` ends the search.
    """
    least = None
    for _ in range(rounds):
        gc.collect()
        before = resident()
        work()
        gc.collect()
        grown = resident() - before
        least = grown if least is None else min(least, grown)
        if least < enough:
            break
    return least
