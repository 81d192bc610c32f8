"""`mindspore.runtime`: launching and memory. Kernels run in order on the host, so most of it has nothing to do."""

from __future__ import annotations

import resource
from typing import Any

from duograph.context import set_context

__all__ = [
    "empty_cache", "launch_blocking", "max_memory_allocated", "memory_allocated", "set_cpu_affinity", "set_memory",
    "synchronize",
]  # fmt: skip


def launch_blocking() -> None:
    """Makes operators run one after the other: they always do."""
    set_context(pynative_synchronize=True)


def synchronize() -> None:
    """Waits until everything has run: it has."""


def set_memory(init_size: str, increase_size: str = "2GB", max_size: str = "1024GB", **kwargs: Any) -> None:
    """Limits device memory; there is none apart from the host's.

    Raises:
        ValueError: a size that is no number of GB.
    """
    for name, value in (("init_size", init_size), ("increase_size", increase_size), ("max_size", max_size)):
        if not isinstance(value, str) or not value.strip().upper().endswith("GB"):
            raise ValueError(f"For 'set_memory', the '{name}' must be a number with unit 'GB', but got {value!r}.")


def set_cpu_affinity(enable_affinity: bool, affinity_cpu_list: Any = None, **kwargs: Any) -> None:
    """Binds threads to cores; the system's placement stays.

    Raises:
        TypeError: ``enable_affinity`` is no bool.
    """
    if not isinstance(enable_affinity, bool):
        raise TypeError(f"For 'set_cpu_affinity', 'enable_affinity' must be bool, but got {type(enable_affinity)}.")


def max_memory_allocated() -> int:
    """Most bytes that this process has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory_allocated() -> int:
    """Bytes that this process has in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def empty_cache() -> None:
    """Gives cached memory back: nothing is cached."""
