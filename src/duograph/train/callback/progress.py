"""`ProgressBar`: how far a run is, on a terminal; `Model` adds one by itself.

What callbacks print appears above the bar. Nothing is drawn between steps and no thread runs: a step that ends a tenth
of a second after the last drawing draws, and only then the loss is read. In files and pipes there is no bar; in a
notebook there are the lines that stay.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from duograph.base.config import config, launched
from duograph.base.imports import import_whole
from duograph.base.tracebacks import ipython_shell

from .base import Callback, RunContext
from .monitors import loss_value

__all__ = ["ProgressBar", "with_progress"]

EVERY = 0.1
"""Seconds between two drawings."""


def with_progress(callbacks: Any) -> list[Any]:
    """The callbacks of a run, and a bar if it is wanted: on a terminal or in a notebook, for the first process."""
    given = list(callbacks) if isinstance(callbacks, list | tuple) else [] if callbacks is None else [callbacks]
    job = launched()
    is_first = job is None or job[1] == 0
    if not is_first or not config().progress or any(isinstance(c, ProgressBar) for c in given):
        return given
    return [*given, ProgressBar()] if _is_terminal() or _is_notebook() else given


def _is_terminal() -> bool:
    try:
        return sys.stdout.isatty()
    except (AttributeError, ValueError):  # none, or closed
        return False


def _is_notebook() -> bool:
    return not _is_terminal() and getattr(ipython_shell(), "kernel", None) is not None


class _Span:
    """From the beginning of an epoch to the end of its last step: without the evaluation that may follow."""

    def __init__(self, first: int = 0) -> None:
        self.begun = self.ended = time.monotonic()
        self.first, self.steps = first, 0

    def step(self, number: int) -> None:
        self.ended, self.steps = time.monotonic(), number - self.first

    @property
    def seconds(self) -> float:
        return max(self.ended - self.begun, 1e-9)


class ProgressBar(Callback):
    """A bar with loss, steps per second, remaining time, and a line with the metrics after each epoch.

    `Model.train`, `fit` and `eval` add it by themselves on a terminal, and in a notebook, where there are only the
    lines; ``DUOGRAPH_PROGRESS=0`` prevents that.

    Examples:
        >>> from duograph.train import ProgressBar
        >>> callbacks = [ms.LossMonitor(100), ProgressBar()]
    """

    called_in_fit = True

    def __init__(self) -> None:
        self._bar: Any = None
        self._has_lines = False  # and no bar
        self._task: Any = None
        self._training = self._evaluating = _Span()
        self._drawn = 0.0

    def __exit__(self, *error: object) -> None:
        self._stop()

    # -- the bar -------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._has_lines = _is_notebook()
        if self._has_lines:
            return
        # Drawing takes a tenth of a second to load, and most runs have no terminal.
        rich, console = import_whole("rich.progress"), import_whole("rich.console")
        bar = rich.Progress(
            rich.TextColumn("{task.description}"), rich.BarColumn(bar_width=24), rich.MofNCompleteColumn(),
            rich.TextColumn("{task.fields[text]}"), console=console.Console(file=sys.stdout), auto_refresh=False,
            transient=True,
            redirect_stderr=bool(sys.stderr and sys.stderr.isatty()),
        )  # fmt: skip
        try:
            bar.start()
        except import_whole("rich.errors").LiveError:  # the program draws something itself
            return
        self._bar = bar

    def _stop(self) -> None:
        bar, self._bar, self._task = self._bar, None, None
        if bar is not None:
            bar.stop()

    def _begin(self, title: str, total: int) -> None:
        self._drawn = 0.0
        if self._bar is not None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(title, total=total, text="")

    def _step(self, span: _Span, number: int, left: int, loss: Any) -> None:
        span.step(number)
        if self._bar is None or span.ended - self._drawn < EVERY:
            return
        self._drawn = span.ended
        rate = span.steps / span.seconds
        value = loss_value(loss)
        parts = [] if value is None else [f"loss {value:.4g}"]
        parts += [f"{rate:.3g} steps/s", f"{_clock(left / rate)} left"]
        self._bar.update(self._task, completed=span.steps, text="  ".join(parts))
        self._bar.refresh()

    def _line(self, title: str, span: _Span, loss: float | None, metrics: Any) -> None:
        """The line that stays."""
        if self._bar is None and not self._has_lines:
            return
        parts = [] if loss is None else [f"loss {loss:.4g}"]
        parts += [f"{name} {_shown(value)}" for name, value in (metrics or {}).items()]
        parts.append(f"{span.steps} steps in {span.seconds:.3g} s ({span.steps / span.seconds:.3g}/s)")
        line = f"{title}: {', '.join(parts)}"
        if self._has_lines:
            print(line)
        else:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    # -- moments -------------------------------------------------------------------------------------------------

    def on_train_begin(self, run_context: RunContext) -> None:
        self._start()

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        self._training = _Span(params.cur_step_num)
        self._begin(_epoch(params), params.batch_num)

    def on_train_step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        left = params.epoch_num * params.batch_num - params.cur_step_num
        self._step(self._training, params.cur_step_num, max(left, 0), params.net_outputs)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        self._line(_epoch(params), self._training, loss_value(params.net_outputs), params.get("metrics"))

    def on_train_end(self, run_context: RunContext) -> None:
        self._stop()

    def on_eval_begin(self, run_context: RunContext) -> None:
        if self._bar is None:
            self._start()

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        inside = "cur_epoch_num" in params
        self._evaluating = _Span()
        self._begin(f"{_epoch(params)}, evaluating" if inside else "Evaluating", params.batch_num)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        self._step(self._evaluating, params.cur_step_num, max(params.batch_num - params.cur_step_num, 0), None)

    def on_eval_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if "cur_epoch_num" not in params:
            self._line("Evaluated", self._evaluating, None, params.get("metrics"))
            self._stop()


def _epoch(params: Any) -> str:
    return f"Epoch {params.cur_epoch_num}/{params.epoch_num}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _shown(value: Any) -> str:
    try:
        return f"{float(value):.4g}"
    except (TypeError, ValueError):
        return str(value)
