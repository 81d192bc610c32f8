"""``mindspore.profiler``: `duograph.profile` under the names, states and schedules of MindSpore.

There is one CPU and no queue of kernels: activities, levels and counters of accelerators have nothing to choose here.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Self

from duograph import profiling
from duograph.base.files import write_file

__all__ = [
    "AicoreMetrics", "DynamicProfilerMonitor", "ExportType", "HostSystem", "Profiler", "ProfilerActivity",
    "ProfilerLevel", "mstx", "profile", "schedule", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(Enum):
    """What can be watched."""

    CPU = "CPU"
    NPU = "NPU"
    GPU = "GPU"


class ProfilerLevel(Enum):
    """How closely."""

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class AicoreMetrics(Enum):
    """Counters of accelerators; there are none here."""

    AiCoreNone = "None"
    ArithmeticUtilization = "ArithmeticUtilization"
    PipeUtilization = "PipeUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"


class ExportType(Enum):
    """Formats of results."""

    Text = "text"
    Db = "db"


class HostSystem(Enum):
    """Parts of the host to watch."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"


@dataclass
class _ExperimentalConfig:
    """What `profile` takes as ``experimental_config``: choices for accelerators, without effect on a CPU."""

    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone
    l2_cache: bool = False
    mstx: bool = False
    data_simplification: bool = True
    export_type: list[ExportType] | None = None
    mstx_domain_include: list[str] | None = None
    mstx_domain_exclude: list[str] | None = None
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: list[HostSystem] | None = None


class schedule:
    """Which steps are recorded: ``skip_first``, then cycles of ``wait``, ``warmup`` and ``active`` steps.

    Args:
        wait (int): steps at rest.
        active (int): recorded steps.
        warmup (int): steps of preparation. Default ``0``.
        repeat (int): number of cycles, 0: without end. Default ``0``.
        skip_first (int): Default ``0``.
    """

    def __init__(self, *, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0) -> None:
        for name, value in (("wait", wait), ("warmup", warmup), ("repeat", repeat), ("skip_first", skip_first)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"Invalid parameter {name}, it must be an int of at least 0, but got {value!r}.")
        if isinstance(active, bool) or not isinstance(active, int) or active < 1:
            raise ValueError(f"Invalid parameter active, it must be an int of at least 1, but got {active!r}.")
        self.wait, self.warmup, self.active, self.repeat, self.skip_first = wait, warmup, active, repeat, skip_first

    def __call__(self, step: int) -> bool:
        """Whether ``step`` is recorded."""
        step -= self.skip_first
        cycle = self.wait + self.warmup + self.active
        if step < 0 or (self.repeat and step // cycle >= self.repeat):
            return False
        return step % cycle >= self.wait + self.warmup


class profile:
    """Records operators, kernels and the times of steps, as a context or by `start`, `step` and `stop`.

    Args:
        schedule (schedule): which steps. Default ``None``: all.
        on_trace_ready (Callable): called with this object at the end. Default ``None``.
        start_profile (bool): start at once (`Profiler`). Default ``True``.
        output_path (str): folder of what is written (`Profiler`). Default ``"./data"``.
        profile_memory (bool): whether arrays are followed. Default ``False``.
        kwargs: ``activities``, ``with_stack`` and others, without effect: stacks and operators are always recorded.

    Attributes:
        recorded (duograph.profile): what the recorded steps did, with tables by line, operator, kernel and layer.
    """

    _starts = False

    def __init__(
        self,
        *,
        schedule: Callable[[int], bool] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        start_profile: bool = True,
        output_path: str = "./data",
        profile_memory: bool = False,
        **kwargs: Any,
    ) -> None:
        self._schedule, self._ready, self._path = schedule, on_trace_ready, output_path
        self.recorded = profiling.profile(memory=bool(profile_memory))
        self.steps: list[float] = []
        self._number, self._since = 0, 0.0
        self._on = self._records = False
        if self._starts and start_profile:
            self.start()

    def start(self) -> None:
        """Begins to record."""
        self._on = True
        self._record(self._is_scheduled())
        self._since = time.perf_counter()

    def _is_scheduled(self) -> bool:
        return self._schedule is None or bool(self._schedule(self._number))

    def _record(self, wanted: bool) -> None:
        if wanted and not self._records:
            self.recorded.start()
        elif self._records and not wanted:
            self.recorded.stop()
        self._records = wanted

    def step(self) -> None:
        """Ends a step.

        Raises:
            RuntimeError: nothing was started.
        """
        if not self._on:
            raise RuntimeError("Profiler is stopped, call start first.")
        now = time.perf_counter()
        if self._is_scheduled():
            self.steps.append(now - self._since)
            self.recorded.mark(f"step {self._number}", int(self._since * 1e9))
        self._number += 1
        self._record(self._is_scheduled())
        self._since = time.perf_counter()

    def stop(self) -> None:
        """Ends recording."""
        if self._on:
            self._on = False
            self._record(False)
            if self._ready is not None:
                self._ready(self)

    def analyse(self, *args: Any, **kwargs: Any) -> None:
        """Ends recording, and writes what was recorded to ``output_path`` (`write`)."""
        self.stop()
        self.write(self._path)

    def write(self, folder: str) -> None:
        """Writes ``profile.json`` (seconds of steps), ``trace.json`` (for Perfetto) and ``profile.txt`` (tables)."""
        metadata = getattr(self, "metadata", {})
        told = {"step_seconds": self.steps, **({"metadata": metadata} if metadata else {})}
        write_file(Path(folder) / "profile.json", json.dumps(told).encode())
        write_file(Path(folder) / "profile.txt", str(self.recorded).encode())
        self.recorded.save(str(Path(folder) / "trace.json"))

    def add_metadata(self, key: str, value: str) -> None:
        """Remembers a text under a key."""
        self.metadata = {**getattr(self, "metadata", {}), key: value}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Profiler(profile):
    """Like `profile`; starts when made."""

    _starts = True


def tensorboard_trace_handler(dir_name: str = "./data", *args: Any, **kwargs: Any) -> Callable[[profile], None]:
    """What writes the files of a profile to a folder when recording ends."""
    return lambda recorded: recorded.write(dir_name)


class mstx:
    """Marks in the profile that records the thread that calls; without one they are lost."""

    _begun: ClassVar[dict[int, tuple[str, int]]] = {}
    _numbers = itertools.count(1)

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """Marks a moment."""
        profiling.mark(message)

    @classmethod
    def range_start(cls, message: str, stream: Any = None, domain: str = "default") -> int:
        """Starts a range; its number."""
        number = next(cls._numbers)
        cls._begun[number] = message, time.perf_counter_ns()
        return number

    @classmethod
    def range_end(cls, range_id: int, domain: str = "default") -> None:
        """Ends a range; one that has not begun is nothing."""
        if (begun := cls._begun.pop(range_id, None)) is not None:
            profiling.mark(*begun)


class DynamicProfilerMonitor(profile):
    """Like `profile`; the configuration file is not watched.

    Args:
        cfg_path (str): folder of the configuration.
        output_path (str): Default ``"./dyn_profile_data"``.
        poll_interval (int): Default ``2``.
    """

    def __init__(
        self, cfg_path: str, output_path: str = "./dyn_profile_data", poll_interval: int = 2, **kwargs: Any
    ) -> None:
        super().__init__(output_path=output_path)
        self.start()
