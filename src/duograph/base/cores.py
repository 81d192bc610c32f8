"""How many cores this process may use."""

from __future__ import annotations

import functools
import os
import sys

__all__ = ["available_cores", "own_cores"]


def own_cores() -> tuple[int, ...]:
    """The numbers of the cores that this process may run on."""
    try:
        return tuple(sorted(os.sched_getaffinity(0)))
    except (AttributeError, OSError):
        return tuple(range(os.cpu_count() or 1))


def available_cores() -> int:
    """Cores that this process may use: its affinity, and the share its control group grants."""
    return max(1, min(len(own_cores()), _granted_cores()))


@functools.cache
def _granted_cores() -> int:
    """What a container's CPU quota (cgroup v2) comes to, in cores."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
        return sys.maxsize if quota == "max" else -(-int(quota) // int(period))
    except (OSError, ValueError):
        return sys.maxsize
