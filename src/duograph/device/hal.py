"""The device underneath, under MindSpore's names: one CPU that computes each operator before the next line runs.

``mindspore.hal`` and ``mindspore.runtime`` are both this module. Streams and events exist so that programs for
accelerators run: work is already done when it is put on a stream, hence waiting returns at once.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from duograph.base.notices import no_effect
from duograph.core.kernel import at_memory_shortage
from duograph.runtime.launch import allocator

__all__ = [
    "DeviceProperties", "Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream",
    "device_count", "dispatch_threads_num", "empty_cache", "get_arch_list", "get_device_capability", "get_device_name",
    "get_device_properties", "is_available", "is_initialized", "launch_blocking", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats", "memory_summary",
    "reset_max_memory_allocated", "reset_max_memory_reserved", "reset_peak_memory_stats", "set_cpu_affinity",
    "set_cur_stream", "set_memory", "synchronize",
]  # fmt: skip


class DeviceProperties(NamedTuple):
    """What `get_device_properties` tells."""

    name: str
    total_memory: int
    multi_processor_count: int


def _check_target(who: str, device_target: str | None) -> None:
    if device_target not in (None, "CPU"):
        raise ValueError(f"For '{who}', the only device here is 'CPU', but got device_target={device_target!r}.")


def is_available(device_target: str = "CPU") -> bool:
    """Whether programs can run on this kind of device."""
    return device_target == "CPU"


def is_initialized(device_target: str = "CPU") -> bool:
    """Whether the device is in use."""
    return device_target == "CPU"


def device_count(device_target: str | None = None) -> int:
    """The number of devices of this kind: one CPU."""
    return 1 if device_target in (None, "CPU") else 0


def get_arch_list(device_target: str | None = None) -> list[str]:
    """The machine architectures that programs are made for."""
    _check_target("get_arch_list", device_target)
    return [platform.machine()]


def get_device_name(device_id: int = 0, device_target: str | None = None) -> str:
    """The name of the device."""
    _check_target("get_device_name", device_target)
    return platform.processor() or "CPU"


def get_device_capability(device_id: int = 0, device_target: str | None = None) -> tuple[int, int]:
    """The version of the device's instruction set; a CPU has none: (0, 0)."""
    _check_target("get_device_capability", device_target)
    return (0, 0)


def get_device_properties(device_id: int = 0, device_target: str | None = None) -> DeviceProperties:
    """Name, memory in bytes and number of cores of the device."""
    _check_target("get_device_properties", device_target)
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return DeviceProperties(get_device_name(), pages, os.cpu_count() or 1)


def synchronize() -> None:
    """Waits until all work is done; it is."""


def launch_blocking() -> None:
    """Makes every operator finish before the next line runs, which it does."""


def empty_cache() -> None:
    """Gives the memory back that is kept for coming results.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> ms.runtime.empty_cache()
    """
    for release in (allocator.empty_cache, *at_memory_shortage):
        release()
    allocator.trim()


def memory_allocated(device_target: str | None = None) -> int:
    """Bytes that results of operators take now.

    Supported Platforms:
        ``CPU``
    """
    _check_target("memory_allocated", device_target)
    return allocator.memory_stats()["allocated"]


def max_memory_allocated(device_target: str | None = None) -> int:
    """Most bytes that results of operators took at one time.

    Supported Platforms:
        ``CPU``
    """
    _check_target("max_memory_allocated", device_target)
    return allocator.memory_stats()["allocated_peak"]


def memory_reserved(device_target: str | None = None) -> int:
    """Bytes that were asked of the system: for results, and kept for coming ones.

    Supported Platforms:
        ``CPU``
    """
    _check_target("memory_reserved", device_target)
    return allocator.memory_stats()["reserved"]


def max_memory_reserved(device_target: str | None = None) -> int:
    """Most bytes that were held at one time.

    Supported Platforms:
        ``CPU``
    """
    _check_target("max_memory_reserved", device_target)
    return allocator.memory_stats()["reserved_peak"]


def reset_max_memory_allocated(device_target: str | None = None) -> None:
    """Resets the counter of `max_memory_allocated`.

    Supported Platforms:
        ``CPU``
    """
    _check_target("reset_max_memory_allocated", device_target)
    allocator.reset_peaks("allocated")


def reset_max_memory_reserved(device_target: str | None = None) -> None:
    """Resets the counter of `max_memory_reserved`.

    Supported Platforms:
        ``CPU``
    """
    _check_target("reset_max_memory_reserved", device_target)
    allocator.reset_peaks("reserved")


def reset_peak_memory_stats(device_target: str | None = None) -> None:
    """Resets all peak counters.

    Supported Platforms:
        ``CPU``
    """
    _check_target("reset_peak_memory_stats", device_target)
    allocator.reset_peaks("allocated", "reserved")


def memory_stats(device_target: str | None = None) -> dict[str, Any]:
    """The memory of results of operators.

    Returns:
        dict, with MindSpore's keys: ``total_reserved_memory``, ``total_allocated_memory``, ``total_idle_memory`` and
        so on, in bytes.

    Supported Platforms:
        ``CPU``
    """
    _check_target("memory_stats", device_target)
    figures = allocator.memory_stats()
    pool: dict[str, Any] = {"block_unit_size": 64, "block_counts": figures["allocations"], "blocks_info": {}}
    return {
        "total_reserved_memory": figures["reserved"],
        "total_allocated_memory": figures["allocated"],
        "total_idle_memory": figures["cached"],
        "total_eager_free_memory": 0,
        "max_reserved_memory": figures["reserved_peak"],
        "max_allocated_memory": figures["allocated_peak"],
        "common_mem_pool_stats": pool,
        "persistent_mem_pool_stats": {"block_unit_size": 64, "block_counts": 0, "blocks_info": {}},
    }


def memory_summary(device_target: str | None = None) -> str:
    """`memory_stats` as a text to read.

    Supported Platforms:
        ``CPU``
    """
    _check_target("memory_summary", device_target)
    rows = {k: v for k, v in memory_stats().items() if isinstance(v, int)}
    return "\n".join(f"{name.replace('_', ' '):26} {size / 2**20:12.2f} MiB" for name, size in rows.items())


def dispatch_threads_num(threads_num: int) -> None:
    """Sets the number of threads that launch operators; operators are launched by the calling thread.

    Raises:
        TypeError: not an int.
        ValueError: not positive.
    """
    if not isinstance(threads_num, int) or isinstance(threads_num, bool):
        raise TypeError(f"For 'dispatch_threads_num', 'threads_num' must be an int, but got {type(threads_num)}.")
    if threads_num < 1:
        raise ValueError(f"For 'dispatch_threads_num', 'threads_num' must be positive, but got {threads_num}.")


def set_memory(
    init_size: str = "2GB", increase_size: str = "2GB", max_size: str = "1024GB", optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:  # fmt: skip
    """Settings of a device's memory pool; there is none, so they have no effect.

    Args:
        init_size (str): Default ``"2GB"``.
        increase_size (str): Default ``"2GB"``.
        max_size (str): Default ``"1024GB"``.
        optimize_level (str): Default ``"O0"``.
        huge_page_reserve_size (str): Default ``"0GB"``.
    """
    no_effect("runtime.set_memory", "tensors are in the memory of the process; see DUOGRAPH_MEMORY_CACHE")


def set_cpu_affinity(enable_affinity: bool, affinity_cpu_list: Any = None) -> None:
    """Binds the process to the listed cores (Linux).

    Args:
        enable_affinity (bool): whether to bind.
        affinity_cpu_list (list): core numbers. Default: None, all cores.
    """
    from duograph.runtime.pool.pool import refresh

    if hasattr(os, "sched_setaffinity"):
        chosen = affinity_cpu_list if enable_affinity and affinity_cpu_list else range(os.cpu_count() or 1)
        os.sched_setaffinity(0, chosen)
        refresh()


class Stream:
    """A queue of work. Work is done in program order on every stream."""

    def __init__(self, priority: int = 0, **kwargs: Any) -> None:
        self.priority = priority

    def synchronize(self) -> None:
        """Waits for the work on this stream; it is done."""

    def query(self) -> bool:
        """Whether all work on this stream is done: True."""
        return True

    def record_event(self, event: Event | None = None) -> Event:
        """Marks this point of the stream with an event."""
        event = event if event is not None else Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Lets later work wait for the event; it has happened."""

    def wait_stream(self, stream: Stream) -> None:
        """Lets later work wait for another stream; it is done."""


class Event:
    """A point in time on a stream.

    Args:
        enable_timing (bool): whether `elapsed_time` can be asked. Default: False.
        blocking (bool): how to wait. Default: False.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self.enable_timing = enable_timing
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Sets this event to now."""
        self._time = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Waits for the event; it has happened."""

    def synchronize(self) -> None:
        """Waits for the event; it has happened."""

    def query(self) -> bool:
        """Whether the work before this event is done: True."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to the other.

        Raises:
            RuntimeError: an event has no time.
        """
        if not (self.enable_timing and end_event.enable_timing) or self._time is None or end_event._time is None:
            raise RuntimeError("elapsed_time() needs two recorded events made with enable_timing=True")
        return (end_event._time - self._time) * 1e3


_default = Stream()
_current = [_default]


def default_stream() -> Stream:
    """The stream that work goes to at first."""
    return _default


def communication_stream() -> Stream:
    """The stream of communication."""
    return _default


def current_stream() -> Stream:
    """The stream that work goes to now."""
    return _current[-1]


def set_cur_stream(stream: Stream | None) -> None:
    """Lets work go to ``stream`` from now on."""
    if stream is not None:
        _current[-1] = stream


@contextmanager
def StreamCtx(ctx_stream: Stream | None) -> Iterator[None]:
    """A ``with`` block whose work goes to ``ctx_stream``."""
    _current.append(ctx_stream if ctx_stream is not None else current_stream())
    try:
        yield
    finally:
        _current.pop()
