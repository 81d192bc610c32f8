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
from duograph.base.absent import says_instead
from duograph.base.files import write_file
from duograph.base.notices import no_effect, unknown_option

__all__ = [
    "AicoreMetrics", "ExportType", "HostSystem", "Profiler", "ProfilerActivity",
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


_ALWAYS = ("activities", "data_simplification", "mstx", "record_shapes", "sync_enable", "with_stack")
_NEVER = {
    "profiler_level": "every operator and kernel is recorded",
    **dict.fromkeys(("aic_metrics", "l2_cache", "hbm_ddr", "pcie"), "there is no accelerator whose counters are read"),
    **dict.fromkeys(("sys_io", "sys_interconnection", "host_sys"), "only this process is watched"),
    "parallel_strategy": "networks are not spread over devices by the compiler",
    "data_process": "pipelines are Python code, which a profiler of Python shows",
    "export_type": "results are written as text and JSON",
    **dict.fromkeys(("mstx_domain_include", "mstx_domain_exclude"), "marks of all domains are recorded"),
}
_DEFAULTS: tuple[Any, ...] = (None, False, [], ProfilerLevel.Level0, AicoreMetrics.AiCoreNone, [ExportType.Text])


def look_at(options: dict[str, Any]) -> None:
    """Tells of options that are not known, or are asked for and not provided."""
    given = dict(options)
    chosen = given.pop("experimental_config", None)
    if chosen is not None and not isinstance(chosen, _ExperimentalConfig):
        raise TypeError(f"For 'profile', 'experimental_config' must be an _ExperimentalConfig, but got {chosen!r}.")
    for name, value in {**given, **(vars(chosen) if chosen is not None else {})}.items():
        if name in _NEVER:
            if not any(type(value) is type(default) and value == default for default in _DEFAULTS):
                no_effect(f"'{name}' of 'profile'", _NEVER[name], stacklevel=4)
        elif name not in _ALWAYS:
            unknown_option("profile", name, (*_NEVER, *_ALWAYS, *_NAMED), stacklevel=4)


_NAMED = ("schedule", "on_trace_ready", "start_profile", "output_path", "profile_memory", "experimental_config")


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


@says_instead("Profiler")
class profile:
    """Records operators, kernels and the times of steps, as a context or by `start`, `step` and `stop`.

    Args:
        schedule (schedule): which steps. Default ``None``: all.
        on_trace_ready (Callable): called with this object at the end. Default ``None``.
        start_profile (bool): start at once (`Profiler`). Default ``True``.
        output_path (str): folder of what is written (`Profiler`). Default ``"./data"``.
        profile_memory (bool): whether arrays are followed. Default ``False``.
        kwargs: the other options of MindSpore's, and ``experimental_config``. Stacks, shapes and marks are always
            recorded; what is asked of accelerators has no effect, which is told once.

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
        if schedule is not None and not callable(schedule):
            raise TypeError(f"For 'profile', 'schedule' must be callable, but got {type(schedule).__name__}.")
        if on_trace_ready is not None and not callable(on_trace_ready):
            raise TypeError(f"For 'profile', 'on_trace_ready' must be callable, but got {on_trace_ready!r}.")
        look_at(kwargs)
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

    def add_metadata_json(self, key: str, value: str) -> None:
        """Remembers what a text in JSON says under a key."""
        self.metadata = {**getattr(self, "metadata", {}), key: json.loads(value)}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Profiler(profile):
    """Like `profile`; starts when made."""

    _starts = True


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True, async_mode: bool = False
) -> Callable[[profile], None]:
    """What writes the files of a profile to a folder when recording ends.

    Args:
        dir_name (str): the folder. Default ``None``: ``"./data"``.
        worker_name (str): a folder in it for this process. Default ``None``: none.
        analyse_flag (bool): the tables are written in any case.
        async_mode (bool): files are written before the handler returns.
    """
    if not analyse_flag or async_mode:
        no_effect("'analyse_flag' or 'async_mode' of 'tensorboard_trace_handler'", "files are written at the end")
    return lambda recorded: recorded.write(str(Path(dir_name or "./data", worker_name or "")))


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
