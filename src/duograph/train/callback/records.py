"""Writing down how training goes (`SummaryRecord`, `SummaryCollector`), and ending it on a signal (`OnRequestExit`)."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any, Self

import numpy as np

from duograph.api import noted
from duograph.base.files import LineFile
from duograph.tensor.tensor import Tensor
from duograph.train.serialization import save_checkpoint

from .base import Callback, RunContext

_KINDS = ("scalar", "tensor", "histogram", "image", "graph", "train_lineage", "eval_lineage", "custom_lineage_data")


def _no_export(who: str, options: Any) -> None:
    if options is not None:
        raise ValueError(f"For '{who}', the 'export_options' must be None: tensors are in the record itself.")


class SummaryRecord:
    """A file with one JSON object per line: ``step``, ``time`` and the values added since the last `record`.

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
        TypeError: wrong types.
        ValueError: values out of range, or ``export_options``.
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
        if max_file_size is not None and (isinstance(max_file_size, bool) or not isinstance(max_file_size, int)):
            raise TypeError(f"The 'max_file_size' should be int type, but got type {type(max_file_size)}.")
        Path(log_dir).mkdir(parents=True, exist_ok=True)
        name = f"{file_prefix}.summary.{int(time.time())}.{os.getpid()}{file_suffix}.jsonl"
        self._path = Path(log_dir) / name
        self._file = LineFile(self._path)
        self._limit, self._raises = max_file_size, raise_exception
        self._pending: dict[str, dict[str, Any]] = {}
        self._mode = "train"

    @property
    def log_dir(self) -> str:
        """The file's full name."""
        return str(self._path)

    def set_mode(self, mode: str) -> None:
        """Says what is recorded: ``"train"`` or ``"eval"``.

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
            value (Union[Tensor, int, float, str]): the value.

        Raises:
            ValueError: unknown kind.
        """
        if plugin not in _KINDS:
            raise ValueError(f"The plugin {plugin!r} is none of {', '.join(_KINDS)}.")
        self._pending.setdefault(plugin, {})[name] = _plain(value)

    def record(self, step: int, train_network: Any = None, plugin_filter: Any = None) -> bool:
        """Writes the values that were added, and those that the network has noted (`ops.ScalarSummary`), since the last
        time; whether there was room.

        Args:
            step (int): their step.
            train_network (Cell): kept for old programs. Default ``None``.
            plugin_filter (Callable): which kinds to write. Default ``None``: all.
        """
        for (kind, name), value in noted.take().items():
            self.add_value(kind, name, value)
        kinds = {k: v for k, v in self._pending.items() if plugin_filter is None or plugin_filter(k)}
        self._pending = {}
        line = json.dumps({"step": int(step), "time": time.time(), "mode": self._mode, **kinds}).encode() + b"\n"
        if self._limit is not None and self._file.size() + len(line) > self._limit:
            if self._raises:
                raise RuntimeError(f"'max_file_size' of {self._limit} bytes is reached.")
            return False
        self._file.append(line)
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


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        value = value.asnumpy()
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | np.generic) else value


class SummaryCollector(Callback):
    """Records loss and learning rate every ``collect_freq`` steps, and results of evaluation; see `SummaryRecord`.

    Args:
        summary_dir (str): the folder.
        collect_freq (int): Default ``10``.
        num_process (int): kept for old programs. Default ``32``.
        collect_specified_data (dict): ``{"collect_metric": False}`` leaves out the loss. Default ``None``.
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
        chosen = collect_specified_data or {}
        self._metric = chosen.get("collect_metric", keep_default_action)
        self._dir, self._freq, self._size = summary_dir, collect_freq, max_file_size
        self._lineage = custom_lineage_data or {}
        self._record: SummaryRecord | None = None

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
        self._record.record(step)

    def end(self, run_context: RunContext) -> None:
        """Records results of evaluation."""
        run = run_context.original_args()
        results = run.get("metrics")
        if self._record is not None and run.get("mode") == "eval" and isinstance(results, dict):
            self._record.set_mode("eval")
            for name, value in results.items():
                self._record.add_value("scalar", name, _plain(value))
            self._record.record(run.cur_step_num)
            self._record.set_mode("train")
        if self._record is not None:
            self._record.flush()


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
