"""``mindspore.profiler``: the names of `device.profiler`, and the callback that profiles when a file says so."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import Any

from duograph.base.files import write_file
from duograph.device import profiler
from duograph.device.profiler import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    Profiler,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,  # noqa: F401 - MindSpore's programs name it
    mstx,
    profile,
    schedule,
    tensorboard_trace_handler,
)

from .callback.base import Callback, RunContext

__all__ = [
    "AicoreMetrics", "DynamicProfilerMonitor", "ExportType", "HostSystem", "Profiler", "ProfilerActivity",
    "ProfilerLevel", "mstx", "profile", "schedule", "tensorboard_trace_handler",
]  # fmt: skip

_OPTIONS = ("start_step", "stop_step", "prof_path", "profile_memory")


class DynamicProfilerMonitor(Callback):
    """Profiles the steps of a training that a file names; the file may be changed while the program runs.

    The file, ``profiler_config.json``, has ``start_step`` and ``stop_step`` (from 1; -1: no steps), and may have
    ``profile_memory`` and ``prof_path`` (in the place of ``output_path``). Where there is none, one is written that
    names no steps. The results of `profile` are in ``rank0_start<start>_stop<stop>``.

    Args:
        cfg_path (str): folder of the file.
        output_path (str): folder of the results. Default ``"./dyn_profile_data"``.
        poll_interval (int): seconds after which the file is looked at again. Default ``2``.
        kwargs: are told not to be known.

    Raises:
        TypeError: ``cfg_path`` is not a string.
        ValueError: ``poll_interval`` is below 1.
    """

    def __init__(
        self, cfg_path: str, output_path: str = "./dyn_profile_data", poll_interval: int = 2, **kwargs: Any
    ) -> None:
        if not isinstance(cfg_path, str):
            raise TypeError(f"For 'DynamicProfilerMonitor', 'cfg_path' must be a str, but got {cfg_path!r}.")
        if isinstance(poll_interval, bool) or not isinstance(poll_interval, int) or poll_interval < 1:
            raise ValueError(f"For 'DynamicProfilerMonitor', 'poll_interval' must be at least 1, got {poll_interval}.")
        profiler.look_at(kwargs)
        self._file, self._path, self._interval = Path(cfg_path) / "profiler_config.json", output_path, poll_interval
        self._looked, self._text, self._config = 0.0, b"", dict[str, Any]()
        self._profile: profile | None = None
        self._number = 1
        if not self._file.exists():
            write_file(self._file, json.dumps({"start_step": -1, "stop_step": -1}).encode())
        self._begin(self._number)

    def step(self) -> None:
        """Ends a step of a loop that is no `Model`'s."""
        self._end(self._number)
        self._number += 1
        self._begin(self._number)

    def on_train_begin(self, run_context: RunContext) -> None:
        """Steps are numbered by the run."""
        self._stop()

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Begins to record, if the step is ``start_step``."""
        self._begin(run_context.original_args().cur_step_num)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Writes what was recorded, if the step is ``stop_step``."""
        self._end(run_context.original_args().cur_step_num)

    def on_train_end(self, run_context: RunContext) -> None:
        """Writes what was recorded, if there are fewer steps than ``stop_step``."""
        self._stop()

    def _look(self) -> None:
        now = time.monotonic()
        if self._looked and now - self._looked < self._interval:
            return
        self._looked = now
        try:
            text = self._file.read_bytes()
            if text == self._text:
                return
            self._text, found = text, json.loads(text)
            start, stop = found["start_step"], found["stop_step"]
            if type(start) is not int or type(stop) is not int or stop < start:
                raise ValueError(f"start_step {start!r} and stop_step {stop!r}")
        except (OSError, ValueError, TypeError, KeyError) as error:
            warnings.warn(f"{self._file} is not used: {type(error).__name__}: {error}", stacklevel=2)
            return
        profiler.look_at({name: None for name in found if name not in (*_OPTIONS, "analyse", "analyse_mode")})
        self._config = found

    def _begin(self, number: int) -> None:
        if self._profile is None:
            self._look()
            if number == self._config.get("start_step", -1):
                self._profile = profile(profile_memory=bool(self._config.get("profile_memory")))
                self._profile.start()

    def _end(self, number: int) -> None:
        if self._profile is not None:
            self._profile.step()
            if number >= self._config["stop_step"]:
                self._stop()

    def _stop(self) -> None:
        done, self._profile = self._profile, None
        if done is not None:
            done.stop()
            folder = f"rank0_start{self._config['start_step']}_stop{self._config['stop_step']}"
            done.write(str(Path(self._config.get("prof_path") or self._path, folder)))
