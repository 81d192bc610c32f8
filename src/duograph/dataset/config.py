"""Settings of data pipelines: seeds, numbers of workers, how far these run ahead, and what a row that fails does."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import Any

from duograph.common import generator as _global
from duograph.context.settings import Kept, Setting, positive

_seed: list[int | None] = [None]
_kept = Kept(
    "data pipelines",
    "",
    {
        "prefetch_size": Setting(16, int, positive("prefetch_size")),
        "num_parallel_workers": Setting(min(os.cpu_count() or 1, 8), int, positive("num_parallel_workers")),
    },
)


def set_seed(seed: int) -> None:
    """Sets the seed of the random choices of pipelines.

    Args:
        seed (int): from 0 to 2**32 - 1.

    Raises:
        TypeError: not an int.
        ValueError: out of range.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError("seed isn't of type int.")
    if not 0 <= seed <= 4294967295:
        raise ValueError("seed given is not within the required range.")
    _seed[0] = seed


def get_seed() -> int:
    """The seed of `set_seed`, else that of the framework's ``set_seed``, else 5489."""
    found = chosen_seed()
    return 5489 if found is None else found


def chosen_seed() -> int | None:
    """The seed that somebody chose, or ``None``: every iterator then has its own."""
    return _seed[0] if _seed[0] is not None else _global.get_seed()


def set_prefetch_size(size: int) -> None:
    """Sets how many rows workers may be ahead of who asks for them."""
    _kept.set("", {"prefetch_size": size})


def get_prefetch_size() -> int:
    """How many rows workers may be ahead."""
    return _kept.values["prefetch_size"]


_workers: list[int | None] = [None]


def set_num_parallel_workers(num: int) -> None:
    """Sets the number of workers of all nodes that were given none."""
    _kept.set("", {"num_parallel_workers": num})
    _workers[0] = num


def get_num_parallel_workers() -> int:
    """The number of workers."""
    return _kept.values["num_parallel_workers"]


def chosen_workers() -> int:
    """The number of workers that somebody set; 1 if nobody has."""
    return _workers[0] or 1


class ErrorSamplesMode(IntEnum):
    """What a row does whose operation in a `map` raises: raise, give the row before it again, or be left out."""

    RETURN = 0
    REPLACE = 1
    SKIP = 2


_errors: list[ErrorSamplesMode] = [ErrorSamplesMode.RETURN]


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """Sets what a row does whose operation in a `map` raises.

    Raises:
        TypeError: no ErrorSamplesMode.
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise TypeError(f"error_samples_mode must be of ErrorSamplesMode, but got {type(error_samples_mode)}.")
    _errors[0] = error_samples_mode


def get_error_samples_mode() -> ErrorSamplesMode:
    """What a row does whose operation raises."""
    return _errors[0]


def set_multiprocessing_timeout_interval(interval: int) -> None:
    """Sets after how many seconds a waiting worker is reported."""
    _kept.set("", {"multiprocessing_timeout_interval": interval})


def get_multiprocessing_timeout_interval() -> int:
    """After how many seconds a waiting worker is reported."""
    return _kept.values["multiprocessing_timeout_interval"]


def _switch(name: str) -> tuple[Any, Any]:
    def setter(enable: bool) -> None:
        _kept.set("", {name: enable})

    def getter() -> bool:
        return _kept.values[name]

    setter.__doc__, getter.__doc__ = f"Sets ``{name}``; one thread works either way.", f"The value of ``{name}``."
    return setter, getter


set_auto_num_workers, get_auto_num_workers = _switch("auto_num_workers")
set_numa_enable, get_numa_enable = _switch("numa_enable")
set_enable_shared_mem, get_enable_shared_mem = _switch("enable_shared_mem")
set_enable_autotune, get_enable_autotune = _switch("enable_autotune")
set_dynamic_shape, get_dynamic_shape = _switch("dynamic_shape")
set_fast_recovery, get_fast_recovery = _switch("fast_recovery")
set_debug_mode, get_debug_mode = _switch("debug_mode")
set_enable_watchdog, get_enable_watchdog = _switch("enable_watchdog")
set_auto_offload, get_auto_offload = _switch("auto_offload")
