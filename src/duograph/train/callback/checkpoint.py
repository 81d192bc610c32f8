"""Saving of checkpoints during training."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from duograph.nn.cell import Cell
from duograph.train import agreement
from duograph.train.serialization import refuse_encryption, save_checkpoint

from .base import Callback, RunContext


class CheckpointConfig:
    """When checkpoints are saved, and how many are kept.

    Args:
        save_checkpoint_steps (int): every how many steps. Default ``1``.
        save_checkpoint_seconds (int): every how many seconds, if not 0 (then steps do not count). Default ``0``.
        keep_checkpoint_max (int): how many of the last are kept; 0: all. Default ``5``.
        keep_checkpoint_per_n_minutes (int): keeps one per so many minutes, if not 0. Default ``0``.
        integrated_save (bool): kept for old programs. Default ``True``.
        async_save (bool): whether files are written in the background. Default ``False``.
        saved_network (Cell): what is saved; default: the network that is trained. Default ``None``.
        append_info (list): what is saved besides: ``"epoch_num"``, ``"step_num"`` or dictionaries. Default ``None``.
        enc_key (Union[None, bytes]): must be None. Default ``None``.
        enc_mode (str): of encryption. Default ``"AES-GCM"``.
        exception_save (bool): whether a checkpoint is saved when training fails: ``..._breakpoint.ckpt``. Default
            ``False``.
        crc_check (bool): see `save_checkpoint`. Default ``False``.
        remove_redundancy (bool): of several processes; there is one. Default ``False``.
        format (str): ``"ckpt"`` or ``"safetensors"``. Default ``"ckpt"``.

    Raises:
        ValueError: no policy says when to save, or values out of range.
        RuntimeError: encryption is asked for.
    """

    def __init__(
        self,
        save_checkpoint_steps: int = 1,
        save_checkpoint_seconds: int = 0,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_per_n_minutes: int = 0,
        integrated_save: bool = True,
        async_save: bool = False,
        saved_network: Cell | None = None,
        append_info: list[Any] | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
    ) -> None:
        refuse_encryption("CheckpointConfig", enc_key, enc_mode)
        switches = {"exception_save": exception_save, "crc_check": crc_check, "remove_redundancy": remove_redundancy}
        for name, switch in switches.items():
            if not isinstance(switch, bool):
                raise TypeError(f"For 'CheckpointConfig', the '{name}' must be a bool, but got {switch!r}.")
        counts = {
            "save_checkpoint_steps": save_checkpoint_steps,
            "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        for name, value in counts.items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise ValueError(f"For 'CheckpointConfig', the '{name}' must be int and must >= 0, but got '{value}'.")
        if not any(counts.values()):
            raise ValueError("The input arguments of 'CheckpointConfig' can't be all None or 0.")
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(
                "For 'CheckpointConfig', the type of 'saved_network' must be None or Cell, but got "
                f"{type(saved_network)}."
            )
        self.save_checkpoint_steps = 0 if save_checkpoint_seconds else save_checkpoint_steps or 0
        self.save_checkpoint_seconds = save_checkpoint_seconds or 0
        self.keep_checkpoint_max = keep_checkpoint_max or 0
        self.keep_checkpoint_per_n_minutes = 0 if keep_checkpoint_max else keep_checkpoint_per_n_minutes or 0
        self.integrated_save, self.async_save = integrated_save, async_save
        self.saved_network, self.append_info = saved_network, append_info or []
        self.enc_key, self.enc_mode = enc_key, enc_mode
        self.exception_save, self.crc_check = exception_save, crc_check
        self.format = format

    @property
    def append_dict(self) -> dict[str, Any]:
        """What ``append_info`` names, epochs and steps with 0."""
        found: dict[str, Any] = {}
        for info in self.append_info:
            found.update(info if isinstance(info, dict) else {info: 0})
        return found

    def get_checkpoint_policy(self) -> dict[str, int]:
        """The numbers."""
        return {
            "save_checkpoint_steps": self.save_checkpoint_steps,
            "save_checkpoint_seconds": self.save_checkpoint_seconds,
            "keep_checkpoint_max": self.keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": self.keep_checkpoint_per_n_minutes,
        }


class ModelCheckpoint(Callback):
    """Saves checkpoints ``prefix-epoch_step.ckpt`` during training.

    Args:
        prefix (Union[str, callable]): Default ``"CKP"``.
        directory (str): Default ``None``: the present one.
        config (CheckpointConfig): Default ``None``.

    Raises:
        ValueError: the prefix contains a slash.
        TypeError: ``config`` is no `CheckpointConfig`.
    """

    def __init__(self, prefix: Any = "CKP", directory: Any = None, config: CheckpointConfig | None = None) -> None:
        if isinstance(prefix, str) and "/" in prefix:
            raise ValueError(
                f"For 'ModelCheckpoint', the argument 'prefix' must be str and must not contain '/', but got {prefix}."
            )
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(
                f"For 'ModelCheckpoint', the type of 'config' should be 'CheckpointConfig', but got {type(config)}."
            )
        self._prefix, self._directory = prefix, directory
        self._config = config or CheckpointConfig()
        self._saved: list[Path] = []
        self._last_step = 0
        self._last_time = time.time()
        self._last_kept = time.time()
        self._params: Any = None
        self.latest_ckpt_file_name = ""

    def _named(self, setting: Any, params: Any) -> str:
        return setting(params) if callable(setting) else setting

    def step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        config = self._config
        if params.get("mode") == "eval":
            return
        self._params = params
        if config.save_checkpoint_seconds:
            due = time.time() - self._last_time >= config.save_checkpoint_seconds
        else:
            steps = config.save_checkpoint_steps
            due = bool(steps) and params.cur_step_num - self._last_step >= steps
        if due:
            self._save(params)

    def end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if params.get("mode") == "train" and params.cur_step_num != self._last_step:
            self._save(params)

    def __exit__(self, *error: object) -> None:
        if error and error[0] is not None and self._config.exception_save and self._params is not None:
            self._save(self._params, "_breakpoint")

    def _save(self, params: Any, suffix: str = "") -> None:
        config = self._config
        step = (params.cur_step_num - 1) % params.batch_num + 1
        folder = Path(self._named(self._directory, params) or ".")
        name = f"{self._named(self._prefix, params)}-{params.cur_epoch_num}_{step}{suffix}.{config.format}"
        now = {"epoch_num": params.cur_epoch_num, "step_num": params.cur_step_num}
        appended = {name: now.get(name, value) for name, value in config.append_dict.items()}
        network = config.saved_network or params.train_network
        is_writer = suffix != "" or agreement.writes(str((folder / name).absolute()))
        network = agreement.what_to_save(network, alone=suffix != "")
        if is_writer:  # of processes that write the same file, one does
            save_checkpoint(
                network,
                str(folder / name),
                config.integrated_save,
                config.async_save,
                appended or None,
                crc_check=config.crc_check,
                format=config.format,
            )
        self.latest_ckpt_file_name = params.latest_ckpt_file = str(folder / name)
        params.last_save_ckpt_step = params.cur_step_num
        self._last_step, self._last_time = params.cur_step_num, time.time()
        if is_writer:
            self._forget(folder / name)

    def _forget(self, newest: Path) -> None:
        """Deletes files that are not to be kept."""
        self._saved = [path for path in self._saved if path != newest]
        self._saved.append(newest)
        if self._config.keep_checkpoint_max:
            while len(self._saved) > self._config.keep_checkpoint_max:
                self._saved.pop(0).unlink(missing_ok=True)
        elif self._config.keep_checkpoint_per_n_minutes and len(self._saved) > 1:
            if time.time() - self._last_kept < 60 * self._config.keep_checkpoint_per_n_minutes:
                self._saved.pop(-2).unlink(missing_ok=True)
            else:
                self._last_kept = time.time()
