"""Writing down how training goes (`SummaryRecord`, `SummaryCollector`), and ending it on a signal (`OnRequestExit`)."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import socket
import time
from pathlib import Path
from typing import Any, Self

from duograph.api import noted
from duograph.base.files import LineFile
from duograph.tensor.tensor import Tensor
from duograph.train.serialization import save_checkpoint

from .base import Callback, RunContext
from .events import event, first

_NUMBERS = itertools.count()
_KINDS = ("scalar", "tensor", "histogram", "image", "graph", "train_lineage", "eval_lineage", "custom_lineage_data")


def _no_export(who: str, options: Any) -> None:
    if options is not None:
        raise ValueError(f"For '{who}', the 'export_options' must be None: tensors are in the record itself.")


class SummaryRecord:
    """An event file that TensorBoard shows (``tensorboard --logdir DIR``): values by name and step.

    Args:
        log_dir (str): the folder.
        file_prefix (str): start of the file's name. Default ``"events"``.
        file_suffix (str): its end. Default ``"_MS"``.
        num_process (int): kept for old programs. Default ``32``.
        network (Cell): kept for old programs. Default ``None``.
        max_file_size (int): bytes; nothing is written beyond. Default ``None``.
        raise_exception (bool): raise when the file is full. Default ``False``.
        export_options (dict): only ``None``: nothing is written besides. Default ``None``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range, or ``export_options``.

    Examples:
        >>> from duograph import Tensor
        >>> from duograph.train import SummaryRecord, read_events
        >>> with SummaryRecord("/tmp/duograph-summary") as record:
        ...     record.add_value("scalar", "error", Tensor(2.5))
        ...     written = record.record(1)
        >>> [(event["step"], event["values"]["error"]) for event in read_events(record.log_dir)]
        [(1, 2.5)]
    """

    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Any = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: Any = None,
    ) -> None:
        _no_export("SummaryRecord", export_options)
        if not isinstance(log_dir, str):
            raise TypeError(f"For 'SummaryRecord', the 'log_dir' should be str, but got {type(log_dir)}.")
        for name, part in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            if not isinstance(part, str):
                raise TypeError(f"For 'SummaryRecord', the '{name}' should be str, but got {type(part)}.")
            if "/" in part or os.sep in part:
                raise ValueError(f"For 'SummaryRecord', the '{name}' must be part of a file's name, but got {part!r}.")
        if max_file_size is not None and (isinstance(max_file_size, bool) or not isinstance(max_file_size, int)):
            raise TypeError(f"The 'max_file_size' should be int type, but got type {type(max_file_size)}.")
        folder, now = Path(log_dir), time.time()
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{file_prefix}.out.tfevents.{int(now):010}.{socket.gethostname()}.{os.getpid()}.{next(_NUMBERS)}"
        self._path = folder / f"{stem}{file_suffix}"
        self._file = LineFile(self._path)
        self._file.append(first(now))
        self._limit, self._raises = max_file_size, raise_exception
        self._pending: dict[tuple[str, str], Any] = {}
        self._mode = "train"

    @property
    def log_dir(self) -> str:
        """The file's full name."""
        return str(self._path)

    def set_mode(self, mode: str) -> None:
        """Says what is recorded: ``"train"``, or ``"eval"``, whose names get ``eval/`` before them.

        Raises:
            ValueError: another word.
        """
        if mode not in ("train", "eval"):
            raise ValueError(f"For 'set_mode', the 'mode' must be 'train' or 'eval', but got {mode!r}.")
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Adds a value to what the next `record` writes.

        Args:
            plugin (str): its kind: ``"scalar"``, ``"tensor"``, ``"histogram"``, ``"image"`` ...
            name (str): its name.
            value (Union[Tensor, int, float, str, dict]): the value: one number; a tensor; of an image, a tensor of
                shape ``(N, C, H, W)`` with one or three channels; of the other kinds, what JSON can say.

        Raises:
            ValueError: unknown kind.
        """
        if plugin not in _KINDS:
            raise ValueError(f"The plugin {plugin!r} is none of {', '.join(_KINDS)}.")
        self._pending[plugin, name] = value.asnumpy().copy() if isinstance(value, Tensor) else value

    def record(self, step: int, train_network: Any = None, plugin_filter: Any = None) -> bool:
        """Writes the values that were added, and those that the network has noted (`ops.ScalarSummary`), since the last
        time; whether there was room.

        Args:
            step (int): their step.
            train_network (Cell): kept for old programs. Default ``None``.
            plugin_filter (Callable): which kinds to write. Default ``None``: all.

        Raises:
            ValueError: a value that cannot be recorded as what it was added.
            RuntimeError: the file is full, and ``raise_exception``.
        """
        for (kind, name), value in noted.take().items():
            self.add_value(kind, name, value)
        before = "eval/" if self._mode == "eval" else ""
        values = {
            (kind, before + name): value
            for (kind, name), value in self._pending.items()
            if plugin_filter is None or plugin_filter(kind)
        }
        self._pending = {}
        data = event(int(step), time.time(), values)
        if self._limit is not None and self._file.size() + len(data) > self._limit:
            if self._raises:
                raise RuntimeError(f"'max_file_size' of {self._limit} bytes is reached.")
            return False
        self._file.append(data)
        return True

    def flush(self) -> None:
        """Brings what was written to the disk; other processes see it already."""
        self._file.flush()

    def close(self) -> None:
        """Ends the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_DEFAULTS: dict[str, Any] = {
    "collect_metric": True, "collect_input_data": True, "histogram_regular": None, "collect_graph": True,
    "collect_train_lineage": True, "collect_eval_lineage": True, "collect_dataset_graph": True,
    "collect_landscape": None,
}  # fmt: skip
_SHOWN = 5
"""Parameters that are recorded if no expression chooses them."""


def _chosen(given: Any, default: bool) -> dict[str, Any]:
    """What is collected, by MindSpore's keys; ``False`` of an expression: nothing."""
    if given is not None and not isinstance(given, dict):
        raise TypeError(
            f"For 'SummaryCollector', the 'collect_specified_data' should be dict or None, but got {type(given)}."
        )
    given = given or {}
    unknown = sorted(str(key) for key in given if key not in _DEFAULTS)
    if unknown:
        raise ValueError(
            f"For 'SummaryCollector', the keys {unknown} of 'collect_specified_data' are unsupported, expect the "
            f"following keys: {list(_DEFAULTS)}."
        )
    pattern = given.get("histogram_regular")
    if not isinstance(pattern, str | None):
        raise TypeError(f"For 'SummaryCollector', the 'histogram_regular' should be str or None, but got {pattern!r}.")
    try:
        re.compile(pattern or "")
    except re.error as exc:
        raise ValueError(
            f"For 'SummaryCollector', the 'histogram_regular' is not a valid regular expression: {exc}."
        ) from None
    return {**{key: value if default else False for key, value in _DEFAULTS.items()}, **given}


def _is_images(value: Any) -> bool:
    return isinstance(value, Tensor) and len(value.shape) == 4 and value.shape[1] in (1, 3) and 0 not in value.shape


class SummaryCollector(Callback):
    """Records for TensorBoard, every ``collect_freq`` steps: loss, learning rate, parameters and images that come in;
    and results of evaluation. See `SummaryRecord`.

    Args:
        summary_dir (str): the folder.
        collect_freq (int): Default ``10``.
        num_process (int): kept for old programs. Default ``32``.
        collect_specified_data (dict): what to collect. Default ``None``. Of MindSpore's keys, ``"collect_metric"`` is
            the loss and the learning rate, ``"collect_input_data"`` the first column if it has images,
            ``"histogram_regular"`` a regular expression of the parameters to show (``None``: the first five). Graphs,
            lineage and landscapes are not collected, whatever is said of them.
        keep_default_action (bool): collect what ``collect_specified_data`` does not name. Default ``True``.
        custom_lineage_data (dict): written once. Default ``None``.
        collect_tensor_freq (int): kept for old programs. Default ``None``.
        max_file_size (int): see `SummaryRecord`. Default ``None``.
        export_options (dict): only ``None``. Default ``None``.
    """

    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: dict[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: Any = None,
    ) -> None:
        _no_export("SummaryCollector", export_options)
        if isinstance(collect_freq, bool) or not isinstance(collect_freq, int):
            raise TypeError(f"For 'SummaryCollector', the 'collect_freq' should be int, but got {type(collect_freq)}.")
        if collect_freq <= 0:
            raise ValueError(f"For 'SummaryCollector', the 'collect_freq' must be > 0, but got {collect_freq}.")
        chosen = _chosen(collect_specified_data, keep_default_action)
        self._metric, self._input = chosen["collect_metric"], chosen["collect_input_data"]
        self._histogram = chosen["histogram_regular"]
        self._dir, self._freq, self._size = summary_dir, collect_freq, max_file_size
        self._lineage = custom_lineage_data or {}
        self._record: SummaryRecord | None = None
        self._results: Any = None  # of the last evaluation of `Model.fit`

    def __enter__(self) -> Self:
        self._record = SummaryRecord(self._dir, max_file_size=self._size)
        for name, value in self._lineage.items():
            self._record.add_value("custom_lineage_data", name, value)
        return self

    def __exit__(self, *_: object) -> None:
        if self._record is not None:
            self._record.close()

    def step_end(self, run_context: RunContext) -> None:
        """Records every ``collect_freq`` steps, and the first."""
        run = run_context.original_args()
        step = run.cur_step_num
        if self._record is None or run.get("mode") != "train" or not (step == 1 or step % self._freq == 0):
            return
        outputs = run.net_outputs
        loss = outputs[0] if isinstance(outputs, tuple | list) else outputs
        if self._metric and isinstance(loss, Tensor):
            self._record.add_value("scalar", "loss", float(loss.asnumpy().mean()))
        optimizer = run.get("optimizer")
        if self._metric and optimizer is not None and hasattr(optimizer, "get_lr"):
            rate = optimizer.get_lr()
            rates = rate if isinstance(rate, tuple) else (rate,)
            self._record.add_value("scalar", "learning_rate", float(rates[0].asnumpy()))
        batch = run.get("train_dataset_element")
        if self._input and batch and _is_images(batch[0]):
            self._record.add_value("image", "input_data/auto", batch[0])
        for parameter in self._shown(run):
            self._record.add_value("histogram", f"{parameter.name}/auto", parameter)
        self._record.record(step)

    def _shown(self, run: Any) -> list[Any]:
        """Parameters whose values are recorded."""
        network = run.get("network")
        if self._histogram is False or network is None:
            return []
        found = list(network.trainable_params())
        if self._histogram is None:
            return found[:_SHOWN]
        return [parameter for parameter in found if re.match(self._histogram, parameter.name)]

    def epoch_end(self, run_context: RunContext) -> None:
        """Records results of the evaluation that `Model.fit` has made in this epoch."""
        run = run_context.original_args()
        if run.get("eval_results") and run.metrics is not self._results:
            self._results = run.metrics
            self._add_results(run)

    def end(self, run_context: RunContext) -> None:
        """Records results of evaluation."""
        run = run_context.original_args()
        if run.get("mode") == "eval" and isinstance(run.get("metrics"), dict):
            self._add_results(run)
        if self._record is not None:
            self._record.flush()

    def _add_results(self, run: Any) -> None:
        if self._record is not None:
            self._record.set_mode("eval")
            for name, value in run.metrics.items():
                self._record.add_value("scalar", name, value)
            self._record.record(run.cur_step_num)
            self._record.set_mode("train")


class OnRequestExit(Callback):
    """Saves the network and stops when the process is asked to end.

    Args:
        save_ckpt (bool): save a checkpoint. Default ``True``.
        save_mindir (bool): kept for old programs. Default ``True``.
        file_name (str): Default ``"Net"``.
        directory (str): Default ``"./"``.
        config_file (str): a JSON file; training also stops when its ``GracefulExit`` is 1. Default ``None``.
        sig (int): the signal. Default ``signal.SIGTERM``.

    Raises:
        ValueError: wrong types, or a signal that cannot be caught.
    """

    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = True,
        file_name: str = "Net",
        directory: str = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ) -> None:
        for name, value in (("save_ckpt", save_ckpt), ("save_mindir", save_mindir)):
            if not isinstance(value, bool):
                raise ValueError(f"The '{name}' should be bool, but got {type(value)}.")
        if sig == getattr(signal, "SIGKILL", None):
            raise ValueError("Not support send exit request by signal SIGKILL.")
        self.save_ckpt, self.key, self.sig = save_ckpt, "GracefulExit", sig
        self.path, self.config_file = Path(directory) / f"{file_name}_train.ckpt", config_file
        self.requested = False
        self._before: Any = None

    def begin(self, run_context: RunContext) -> None:
        """Listens to the signal."""
        self._before = signal.signal(self.sig, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        self.requested = True

    def step_end(self, run_context: RunContext) -> None:
        """Saves and stops if asked to."""
        if self.requested or self._asked_by_file():
            run = run_context.original_args()
            if self.save_ckpt and run.get("train_network") is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                save_checkpoint(run.train_network, str(self.path))
            run_context.request_stop()

    def _asked_by_file(self) -> bool:
        if self.config_file is None or not Path(self.config_file).is_file():
            return False
        return json.loads(Path(self.config_file).read_text(encoding="utf-8")).get(self.key) == 1

    def end(self, run_context: RunContext) -> None:
        """Listens no longer."""
        signal.signal(self.sig, self._before if self._before is not None else signal.SIG_DFL)
