"""Callbacks that watch: losses, times, history; and those that act on what they see."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from duograph.base.imports import import_whole
from duograph.core import dtype as dt
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor
from duograph.train import agreement

from .base import Callback, RunContext


def loss_value(outputs: Any) -> float | None:
    """The loss in the outputs of a training network."""
    if isinstance(outputs, tuple | list) and outputs:
        outputs = outputs[0]
    if isinstance(outputs, Tensor):
        return float(np.mean(outputs.asnumpy()))
    return float(outputs) if isinstance(outputs, int | float) else None


class LossMonitor(Callback):
    """Prints the loss, and stops when it is NaN or infinite: with an error that names the operator which made it.

    Args:
        per_print_times (int): every how many steps; 0: at the end of epochs only. Default ``1``.

    Raises:
        ValueError: ``per_print_times`` is not an int or negative.
    """

    def __init__(self, per_print_times: int = 1) -> None:
        if isinstance(per_print_times, bool) or not isinstance(per_print_times, int) or per_print_times < 0:
            raise ValueError(f"The argument 'per_print_times' must be int and >= 0, but got {per_print_times}.")
        self._per_print_times = per_print_times
        self._last = 0

    def on_train_step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        loss = loss_value(params.net_outputs)
        step = (params.cur_step_num - 1) % params.batch_num + 1
        if loss is not None and not np.isfinite(loss):
            error = ValueError(
                f"In epoch: {params.cur_epoch_num} step: {step}, loss is NAN or INF, training process cannot continue, "
                "terminating training."
            )
            if reason := params.get("loss_reason"):
                error.add_note(reason)
            raise error
        if self._per_print_times and params.cur_step_num - self._last >= self._per_print_times:
            self._last = params.cur_step_num
            print(f"epoch: {params.cur_epoch_num} step: {step}, loss is {loss}", flush=True)

    def on_train_end(self, run_context: RunContext) -> None:
        self._last = 0

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if params.get("metrics"):
            print(f"Eval result: epoch {params.cur_epoch_num}, metrics: {params.metrics}", flush=True)
        elif not self._per_print_times:
            print(f"epoch: {params.cur_epoch_num}, loss is {loss_value(params.net_outputs)}", flush=True)


class _Clock:
    """When an epoch began, when its last step ended, and how long its steps waited for data."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.begun = self.last = time.monotonic()
        self.fetched = 0.0


class TimeMonitor(Callback):
    """Prints how long epochs and steps take: an epoch of training without the evaluation that `Model.fit` adds.

    Args:
        data_size (int): steps per epoch; default: as many as there were. Default ``None``.
        data_time (bool): whether the time between steps, in which data is fetched, is shown. Default ``False``.
    """

    called_in_fit = True

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        if data_size is not None and (isinstance(data_size, bool) or not isinstance(data_size, int) or data_size <= 0):
            raise ValueError(f"The argument 'data_size' must be int and > 0, but got {data_size}.")
        if not isinstance(data_time, bool):
            raise TypeError(f"The argument 'data_time' must be bool, but got {data_time!r}.")
        self.data_size, self.data_time = data_size, data_time
        self.epoch_time = time.time()
        self._clocks = {mode: _Clock() for mode in ("train", "eval")}

    def _clock(self, run_context: RunContext) -> _Clock:
        return self._clocks[run_context.original_args().get("mode", "eval")]

    def _begin(self, run_context: RunContext) -> None:
        self._clock(run_context).begin()
        self.epoch_time = time.time()

    def _step_begin(self, run_context: RunContext) -> None:
        clock = self._clock(run_context)
        clock.fetched += time.monotonic() - clock.last

    def _step_end(self, run_context: RunContext) -> None:
        self._clock(run_context).last = time.monotonic()

    def _end(self, run_context: RunContext) -> None:
        params, clock = run_context.original_args(), self._clock(run_context)
        size = self.data_size or params.get("batch_num") or 1
        spent = (clock.last - clock.begun) * 1000
        kind = "Train" if params.get("mode") == "train" else "Eval"
        data = f" (data time: {clock.fetched * 1000 / size:5.3f} ms)" if self.data_time else ""
        print(f"{kind} epoch time: {spent:5.3f} ms, per step time: {spent / size:5.3f} ms{data}", flush=True)

    on_train_epoch_begin = on_eval_epoch_begin = _begin
    on_train_epoch_end = on_eval_epoch_end = _end
    on_train_step_begin = on_eval_step_begin = _step_begin
    on_train_step_end = on_eval_step_end = _step_end


class History(Callback):
    """Keeps losses and metrics: one entry per epoch.

    After the run, ``epoch`` is ``{"epoch": [1, 2]}``, and ``history`` has the loss of each epoch's last step as
    ``"net_output"`` and every metric by its name.
    """

    def __init__(self) -> None:
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[Any]] = {}

    def begin(self, run_context: RunContext) -> None:
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        self.epoch.setdefault("epoch", []).append(params.get("cur_epoch_num", 1))
        output = params.get("net_outputs")
        if isinstance(output, tuple | list) and output and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = np.mean(output.asnumpy())
        for name, value in {"net_output": output, **(params.get("metrics") or {})}.items():
            self.history.setdefault(name, []).append(value)

    def plot(self, ax: Any = None) -> Any:
        """Draws loss and metrics against epochs, with matplotlib.

        Args:
            ax (matplotlib.axes.Axes): where; ``None``: in a new figure. Default ``None``.

        Returns:
            matplotlib.axes.Axes, with one line per name.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: nothing has been trained yet.
        """
        lines = {name: [float(v) for v in values] for name, values in self.history.items() if _are_numbers(values)}
        if not lines:
            raise ValueError("History.plot: nothing to draw; give it to Model.train or fit as a callback first.")
        try:
            plt = import_whole("matplotlib.pyplot")
        except ImportError as error:
            raise ImportError(
                "History.plot needs matplotlib, which is not installed: pip install matplotlib. The numbers are in "
                "history.history."
            ) from error
        ax = plt.figure().gca() if ax is None else ax
        epochs = self.epoch.get("epoch", [])
        for name, values in lines.items():
            at = epochs if len(epochs) == len(values) else range(1, len(values) + 1)
            ax.plot(at, values, marker=".", label="loss" if name == "net_output" else name)
        ax.set_xlabel("epoch")
        ax.legend()
        return ax


def _are_numbers(values: list[Any]) -> bool:
    return all(isinstance(v, int | float | np.generic) for v in values)


class _Watching(Callback):
    """Watches one value and knows which of two is better."""

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        if not isinstance(monitor, str):
            raise TypeError(f"The argument 'monitor' must be str, but got {type(monitor)}.")
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"The argument 'mode' must be in ['auto', 'min', 'max'], but got {mode}.")
        self.monitor, self.mode = monitor, mode
        self.min_delta = abs(min_delta)
        rising = mode == "max" or (mode == "auto" and monitor not in ("loss", "eval_loss"))
        self._sign = 1.0 if rising else -1.0

    def better(self, value: float, than: float) -> bool:
        """Whether ``value`` is an improvement of more than ``min_delta``."""
        return self._sign * (value - than) > self.min_delta

    @property
    def worst(self) -> float:
        """What everything is better than."""
        return -self._sign * float("inf")

    def current(self, params: Any) -> float | None:
        """The watched value, ``None`` if it is not known."""
        if self.monitor == "loss":
            return agreement.mean(loss_value(params.get("net_outputs")))  # all processes stop, or none
        results = {**(params.get("eval_results") or {}), **(params.get("metrics") or {})}
        value = results.get(self.monitor, results.get("eval_" + self.monitor))
        if value is None and self.monitor == "eval_loss":
            value = results.get("loss", results.get("Loss"))
        return None if value is None else float(np.mean(value))


class EarlyStopping(_Watching):
    """Stops training when a value does not improve any more.

    Args:
        monitor (str): ``"loss"``, ``"eval_loss"`` or the name of a metric. Default ``"eval_loss"``.
        min_delta (float): least change that counts. Default ``0``.
        patience (int): epochs to wait. Default ``0``.
        verbose (bool): whether to print. Default ``False``.
        mode (str): ``"auto"``, ``"min"`` or ``"max"``. Default ``"auto"``.
        baseline (float): what the value must beat. Default ``None``.
        restore_best_weights (bool): whether the best weights are put back. Default ``False``.
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        if isinstance(patience, bool) or not isinstance(patience, int) or patience < 0:
            raise ValueError(f"The argument 'patience' must be int and >= 0, but got {patience}.")
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights = restore_best_weights
        self.wait = 0
        self.best = self.worst
        self.stopped_epoch = 0
        self._best_weights: dict[str, np.ndarray] | None = None

    def on_train_begin(self, run_context: RunContext) -> None:
        self.wait, self.stopped_epoch, self._best_weights = 0, 0, None
        self.best = self.worst if self.baseline is None else self.baseline

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        value = self.current(params)
        if value is None:
            return
        network = params.train_network
        if self.better(value, self.best):
            self.best, self.wait = value, 0
            if self.restore_best_weights:
                self._best_weights = {p.name: p.asnumpy().copy() for p in network.get_parameters()}
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = params.cur_epoch_num
            run_context.request_stop()
            if self._best_weights is not None:
                for p in network.get_parameters():
                    p.set_data(Tensor(self._best_weights[p.name], p.dtype))

    def on_train_end(self, run_context: RunContext) -> None:
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch}: early stopping", flush=True)


def rate_of(params: Any) -> Any:
    """The optimizer of a run, whose rate must be one constant."""
    optimizer = params.get("optimizer") or getattr(params.train_network, "optimizer", None)
    if optimizer is None:
        raise ValueError("there is no optimizer whose learning rate could be changed")
    if optimizer.is_group_lr or optimizer.dynamic_lr:
        raise ValueError("the learning rate can be changed only if it is one constant, not a schedule or several")
    return optimizer


class ReduceLROnPlateau(_Watching):
    """Lowers the learning rate when a value does not improve any more.

    Args:
        monitor (str): Default ``"eval_loss"``.
        factor (float): what the rate is multiplied by. Default ``0.1``.
        patience (int): epochs to wait. Default ``10``.
        verbose (bool): Default ``False``.
        mode (str): Default ``"auto"``.
        min_delta (float): Default ``1e-4``.
        cooldown (int): epochs to wait after a change. Default ``0``.
        min_lr (float): least rate. Default ``0``.
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        if not 0 < factor < 1:
            raise ValueError(f"The argument 'factor' must be in range (0, 1), but got {factor}.")
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait = self.cooldown_counter = 0
        self.best = self.worst

    def on_train_begin(self, run_context: RunContext) -> None:
        self.wait = self.cooldown_counter = 0
        self.best = self.worst

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        value = self.current(params)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.better(value, self.best):
            self.best, self.wait = value, 0
            return
        if self.cooldown_counter > 0:
            return
        self.wait += 1
        if self.wait >= self.patience:
            rate = rate_of(params).learning_rate
            old = float(rate.asnumpy())
            new = max(old * self.factor, self.min_lr)
            if old > self.min_lr:
                write(rate, Tensor(new, dt.float32))
                if self.verbose:
                    print(f"Epoch {params.cur_epoch_num}: ReduceLROnPlateau reducing learning rate to {new}.")
            self.cooldown_counter, self.wait = self.cooldown, 0


class LearningRateScheduler(Callback):
    """Sets the learning rate before each step.

    Args:
        learning_rate_function (Function): takes the present rate and the number of the step, returns the new rate.
    """

    def __init__(self, learning_rate_function: Any) -> None:
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if params.get("mode") == "eval":
            return
        rate = rate_of(params).learning_rate
        old = float(rate.asnumpy())
        new = self.learning_rate_function(old, params.cur_step_num)
        if float(new) != old:
            write(rate, Tensor(float(new), dt.float32))
