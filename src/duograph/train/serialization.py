"""Saving and loading of parameters: MindSpore's checkpoint files, and safetensors."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duograph import log
from duograph.base.files import write_file
from duograph.base.imports import start_thread
from duograph.nn.cell import Cell
from duograph.nn.cell_state import named_values
from duograph.nn.optim.shards import StateElsewhere, keeper_of
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from . import checkpoint_format as fmt
from . import safetensors_format
from .mindir import export, load

__all__ = [
    "async_ckpt_thread_status", "ckpt_to_safetensors", "export", "load", "load_checkpoint", "load_checkpoint_async",
    "load_param_into_net", "safetensors_to_ckpt", "save_checkpoint",
]  # fmt: skip

_FORMATS = ("ckpt", "safetensors")


# ---- saving ----------------------------------------------------------------------------------------------------------


def _appended(values: dict[str, Any]) -> list[tuple[str, Any]]:
    if not isinstance(values, dict):
        raise TypeError(f"For 'save_checkpoint', the argument 'append_dict' must be dict, but got {type(values)}.")
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, bool | int | float | str | Tensor):
            raise TypeError(
                "For 'save_checkpoint', the type of dict 'append_info' must be key: str, "
                f"value: int, float, bool, str, Parameter or Tensor, but got key: {type(name)}, value: {type(value)}."
            )
    return list(values.items())


def _encoded(pairs: list[tuple[str, Any]], crc_check: bool) -> list[bytes]:
    entries = []
    for name, value in pairs:
        if isinstance(value, str):
            entries.append(fmt.text_entry(name, value))
        else:
            tensor = value if isinstance(value, Tensor) else Tensor(value)
            entries.append(fmt.entry_of(name, tensor.array()))
    return fmt.encode(entries, crc_check)


def _safetensors(pairs: list[tuple[str, Any]]) -> list[bytes]:
    texts = {name: value for name, value in pairs if isinstance(value, str)}
    arrays = {
        name: (value if isinstance(value, Tensor) else Tensor(value)).array()
        for name, value in pairs
        if not isinstance(value, str)
    }
    return safetensors_format.encode(arrays, texts)


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: Any = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
) -> None:
    """Saves parameters to a file.

    Args:
        save_obj (Union[Cell, list, dict]): a Cell, a list of Parameters or of ``{"name": ..., "data": ...}``, or a
            dict by name.
        ckpt_file_name (str): the file; the ending is added if it is missing.
        integrated_save (bool): kept for old programs. Default ``True``.
        async_save (Union[bool, str]): whether the file is written in the background. Default ``False``.
        append_dict (dict): further numbers, strings or tensors to save. Default ``None``.
        enc_key (Union[None, bytes]): must be None: files are not encrypted. Default ``None``.
        enc_mode (str): of encryption. Default ``"AES-GCM"``.
        choice_func (function): takes a name, returns whether it is saved. Default ``None``: all.
        crc_check (bool): whether a ``.ckpt`` file gets MindSpore's checksum as well, which older readers cannot skip.
            (All files have a checksum that readers may skip.) Default ``False``.
        format (str): ``"ckpt"`` or ``"safetensors"``. Default ``"ckpt"``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: unknown format.
        RuntimeError: encryption is asked for.

    Supported Platforms:
        ``CPU``
    """
    if not isinstance(save_obj, Cell | list | dict):
        raise TypeError(
            f"For 'save_checkpoint', the parameter save_obj must be nn.Cell, list or dict, but got {type(save_obj)}."
        )
    if not isinstance(ckpt_file_name, str | os.PathLike):
        raise TypeError(
            f"For 'save_checkpoint', the parameter {ckpt_file_name} for checkpoint file name is invalid,"
            f"'ckpt_file_name' must be string, but got {type(ckpt_file_name)}."
        )
    if format not in _FORMATS:
        raise ValueError(f"For 'save_checkpoint', the format must be 'ckpt' or 'safetensors', but got {format}.")
    refuse_encryption("save_checkpoint", enc_key, enc_mode)
    path = os.fspath(ckpt_file_name)
    path = path if path.endswith(format) else f"{path}.{format}"
    pairs = named_values(save_obj)
    if choice_func is not None:
        pairs = [(name, value) for name, value in pairs if choice_func(name)]
    for key, value in pairs:
        if isinstance(value, StateElsewhere):
            raise ValueError(
                f"For 'save_checkpoint', the state {key} is kept by rank {keeper_of(value)} "
                "(enable_parallel_optimizer): all ranks call parallel.gathered_states(save_obj), which gives what "
                "one of them saves."
            )
    if append_dict:
        pairs += _appended(append_dict)
    data = _encoded(pairs, crc_check) if format == "ckpt" else _safetensors(pairs)
    if async_save:
        _write_later(path, data)
    else:
        _wait_for(path)
        write_file(path, data)


_writing: dict[str, threading.Thread] = {}
"""Who is writing a file in the background."""


def _write_later(path: str, data: list[bytes]) -> None:
    path = os.path.abspath(path)  # the program may change to another folder meanwhile
    earlier = _writing.get(os.path.realpath(path))

    def write() -> None:
        if earlier is not None:
            earlier.join()  # the last save wins
        write_file(path, data)

    thread = threading.Thread(target=write, name="save_checkpoint")
    start_thread(thread)
    for place in [place for place, running in list(_writing.items()) if not running.is_alive()]:
        _writing.pop(place, None)
    _writing[os.path.realpath(path)] = thread


def async_ckpt_thread_status() -> bool:
    """Whether a file is being written in the background (``save_checkpoint(..., async_save=True)``).

    Returns:
        bool.

    Examples:
        >>> import duograph as ms
        >>> ms.async_ckpt_thread_status()
        False
    """
    return any(thread.is_alive() for thread in list(_writing.values()))


def _wait_for(path: str | os.PathLike[str]) -> None:
    """Until a file is not written in the background any more."""
    thread = _writing.get(os.path.realpath(path))
    if thread is not None:
        thread.join()


def refuse_encryption(who: str, key: Any, mode: Any) -> None:
    """Raises where encryption is asked for.

    Raises:
        TypeError: ``mode`` is not a string.
        RuntimeError: there is a key.
    """
    if not isinstance(mode, str):
        raise TypeError(f"For '{who}', the mode of encryption must be str, but got {type(mode).__name__}.")
    if key is not None:
        raise RuntimeError(f"For '{who}', encrypted files are not supported.")


# ---- loading ---------------------------------------------------------------------------------------------------------


def _checked_path(name: Any, file_format: str) -> Path:
    if not isinstance(name, str | os.PathLike):
        raise TypeError(f"For 'load_checkpoint', the argument 'ckpt_file_name' must be string, but got {type(name)}.")
    if file_format not in _FORMATS:
        raise ValueError(f"For 'load_checkpoint', the format must be 'ckpt' or 'safetensors', but got {file_format}.")
    path = Path(name)
    _wait_for(path)
    if not path.is_file():
        raise ValueError(
            f"For 'load_checkpoint', the checkpoint file: {name} does not exist, please check whether the "
            "'ckpt_file_name' is correct."
        )
    if not path.name.endswith(file_format):
        raise ValueError(
            f"For 'load_checkpoint', the checkpoint file should end with '.{file_format}', please input the correct "
            f"'ckpt_file_name', but got {name}."
        )
    return path


def _decoded(path: Path, crc_check: bool) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        values = {
            entry.name: fmt.text_of(entry) if entry.dtype == "str" else Tensor(fmt.array_of(entry))
            for entry in fmt.decode(data)
        }
    except (ValueError, OSError) as exc:
        raise ValueError(
            f"Failed to read the checkpoint file {path}. May not have permission to read it, please check the "
            f"correct of the file: {exc}"
        ) from None
    if crc_check and not fmt.has_check(data):
        log.warning("For 'load_checkpoint', the ckpt file %s has no checksum, nothing could be checked.", path)
    return values


def _from_safetensors(path: Path, crc_check: bool) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        arrays, texts = safetensors_format.decode(data)
    except (ValueError, OSError) as exc:
        raise ValueError(f"Failed to read the safetensors file {path}: {exc}") from None
    if crc_check and not safetensors_format.has_check(data):
        log.warning("For 'load_checkpoint', the file %s has no checksum, nothing could be checked.", path)
    return {**{name: Tensor(array) for name, array in arrays.items()}, **texts}


def _selected(name: str, prefixes: Any, excluded: Any, choice: Callable[[str], bool] | None) -> bool:
    if choice is not None:
        return choice(name)
    if excluded and any(name.startswith(p) for p in excluded):
        return False
    return not prefixes or any(name.startswith(p) for p in prefixes)


def _prefixes(value: Any, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    items = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else None
    if items is None or not all(isinstance(p, str) for p in items):
        raise TypeError(f"For 'load_checkpoint', the type of '{name}' must be str or list[str], but got {value!r}.")
    return items


def load_checkpoint(
    ckpt_file_name: str,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:
    """Reads parameters from a file.

    Args:
        ckpt_file_name (str): the file.
        net (Cell): a Cell to load them into. Default ``None``.
        strict_load (bool): see `load_param_into_net`. Default ``False``.
        filter_prefix (Union[str, list[str], tuple[str]]): names to leave out. Default ``None``.
        dec_key (Union[None, bytes]): must be None. Default ``None``.
        dec_mode (str): of encryption. Default ``"AES-GCM"``.
        specify_prefix (Union[str, list[str], tuple[str]]): names to read. Default ``None``: all.
        choice_func (function): takes a name, returns whether it is read. Default ``None``.
        crc_check (bool): whether a file without a checksum is warned of. (A checksum that is there is always checked.)
            Default ``False``.
        remove_redundancy (bool): of files of several processes; there is one. Default ``False``.
        format (str): ``"ckpt"`` or ``"safetensors"``. Default ``"ckpt"``.

    Returns:
        dict from name to Parameter (strings as they are).

    Raises:
        ValueError: the file is missing, damaged or no checkpoint, or nothing is left of it.
        TypeError: an argument has the wrong type.

    Supported Platforms:
        ``CPU``
    """
    path = _checked_path(ckpt_file_name, format)
    refuse_encryption("load_checkpoint", dec_key, dec_mode)
    wanted, excluded = _prefixes(specify_prefix, "specify_prefix"), _prefixes(filter_prefix, "filter_prefix")
    values = _decoded(path, crc_check) if format == "ckpt" else _from_safetensors(path, crc_check)
    loaded = {
        name: Parameter(value, name=name) if isinstance(value, Tensor) else value
        for name, value in values.items()
        if _selected(name, wanted, excluded, choice_func)
    }
    if not loaded:
        raise ValueError(
            "The loaded parameter dict is empty after filter or specify, please check whether 'filter_prefix' or "
            "'specify_prefix' are set correctly."
        )
    if net is not None:
        load_param_into_net(net, loaded, strict_load)
    return loaded


class _Future:
    """A checkpoint that is being read in the background; `result` waits for it."""

    def __init__(self, read: Callable[[], dict[str, Any]]) -> None:
        self._outcome: list[Any] = []

        def run() -> None:
            try:
                self._outcome[:] = [read(), None]
            except Exception as exc:  # noqa: BLE001  (handed to the caller of result)
                self._outcome[:] = [None, exc]

        self._thread = threading.Thread(target=run, name="load_checkpoint")
        start_thread(self._thread)

    def result(self) -> dict[str, Any]:
        """The parameters.

        Raises:
            what `load_checkpoint` raises.
        """
        self._thread.join()
        value, error = self._outcome
        if error is not None:
            raise error
        return value


def load_checkpoint_async(
    ckpt_file_name: str,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
) -> _Future:
    """`load_checkpoint` in the background; the result's ``result()`` waits for the parameters."""
    return _Future(
        lambda: load_checkpoint(
            ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func
        )
    )


def load_param_into_net(
    net: Cell, parameter_dict: dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Gives the parameters of a Cell the values of a dictionary, by name; warns of those that are not there.

    Args:
        net (Cell): the Cell.
        parameter_dict (dict): from name to Parameter.
        strict_load (bool): whether names must match exactly; otherwise a prefix common to all is bridged. Default
            ``False``.
        remove_redundancy (bool): of files of several processes; there is one. Default ``False``.

    Returns:
        names of the Cell that were not in the dictionary, and names of the dictionary that were not in the Cell.

    Raises:
        TypeError: an argument has the wrong type.
        RuntimeError: shapes or dtypes do not match.
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'load_param_into_net', the argument 'net' should be a Cell, but got {type(net)}.")
    if not isinstance(parameter_dict, dict):
        raise TypeError(
            "For 'load_param_into_net', the argument 'parameter_dict' should be a dict, "
            f"but got {type(parameter_dict)}."
        )
    for name, value in parameter_dict.items():
        if not isinstance(name, str) or not isinstance(value, Tensor | str):
            raise TypeError(
                "For 'parameter_dict', the element in the argument 'parameter_dict' should be a 'str' and "
                "'Parameter' , "
                f"but got {type(name)} and {type(value)}."
            )
    targets = {p.name: p for _, p in net.parameters_and_names()}
    missing: list[str] = []
    for name, target in targets.items():
        if name in parameter_dict:
            _update_param(target, parameter_dict[name], strict_load)
        else:
            missing.append(name)
    if missing and not strict_load:
        _load_dismatch_prefix_params(net, parameter_dict, missing, strict_load)
    if missing:
        log.warning(
            "For 'load_param_into_net', %d parameters in the 'net' are not loaded, because they are not in the "
            "'parameter_dict', please check whether the network structure is consistent when training and loading "
            "checkpoint: %s.",
            len(missing), missing,
        )  # fmt: skip
    unused = [name for name in parameter_dict if name not in targets]
    return missing, unused


def _update_param(param: Parameter, new_param: Any, strict_load: bool = False) -> None:
    """Gives a parameter the value of another; MindSpore's name, which loaders of others import."""
    if isinstance(param, StateElsewhere):
        return  # whoever keeps it loads it
    name = param.name
    shape, given = tuple(param.shape), tuple(new_param.shape)
    if shape != given and not (shape in ((), (1,)) and given in ((), (1,))):
        raise RuntimeError(
            f"For 'load_param_into_net', {name} in the argument 'net' should have the same shape as {name} in the "
            f"argument 'parameter_dict'. But got its shape {shape} in the argument 'net' and shape "
            f"{given} in the argument 'parameter_dict'. "
            "May you need to check whether the checkpoint you loaded is correct or the batch size and so on in the "
            "'net' and 'parameter_dict' are same."
        )
    have, new = param.dtype, new_param.dtype
    of_a_kind = have.is_floating and new.is_floating
    of_a_kind = of_a_kind or (have.is_integer and new.is_integer and have.is_signed and new.is_signed)
    if have is not new and (strict_load or not of_a_kind):
        raise RuntimeError(
            f"For 'load_param_into_net', {name} in the argument 'net' should have the same type as {name} in the "
            f"argument 'parameter_dict'. But got its type {have} in the argument 'net' and type "
            f"{new} in the argument 'parameter_dict'."
        )
    value = new_param if have is new else new_param.astype(have)
    param.set_data(value if given == shape else value.reshape(shape))


def _load_dismatch_prefix_params(
    net: Cell, parameter_dict: dict[str, Any], param_not_load: list[str], strict_load: bool = False
) -> None:
    """Loads what fits if the missing names lack a prefix that the dictionary has; takes those names from the list."""
    targets = {p.name: p for _, p in net.parameters_and_names()}
    first = param_not_load[0]
    prefixes = [name[: -len(first)] for name in parameter_dict if name.endswith("." + first)]
    if len(prefixes) != 1:
        return
    prefix = prefixes[0]
    log.warning("For 'load_param_into_net', remove parameter prefix name: %s, continue to load.", prefix)
    for name in list(param_not_load):
        value = parameter_dict.get(prefix + name)
        if value is not None and tuple(value.shape) == tuple(targets[name].shape):
            _update_param(targets[name], value, strict_load)
            param_not_load.remove(name)


# ---- conversion ------------------------------------------------------------------------------------------------------


def _convert(
    file_path: str,
    save_path: str | None,
    name_map: dict[str, str] | None,
    source: str,
    target: str,
    pattern: str | None,
) -> None:
    root = Path(file_path)
    if not root.exists():
        raise ValueError(f"The file path {file_path} does not exist.")
    files = [root] if root.is_file() else sorted(root.rglob(f"*.{source}"))
    files = [f for f in files if f.suffix == f".{source}" and (pattern is None or re.search(pattern, f.name))]
    if not files:
        raise ValueError(f"There is no '.{source}' file at {file_path}.")
    for file in files:
        values = load_checkpoint(str(file), format=source)
        renamed = {(name_map or {}).get(name, name): value for name, value in values.items()}
        folder = Path(save_path) if save_path else file.parent
        save_checkpoint(renamed, str(folder / f"{file.stem}.{target}"), format=target)


def ckpt_to_safetensors(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Converts checkpoint files to safetensors.

    Args:
        file_path (str): a file or folder.
        save_path (str): folder for the results. Default ``None``: beside the sources.
        name_map (dict): new names of parameters. Default ``None``.
        file_name_regex (str): which files of a folder. Default ``None``: all.
        processes_num (int): kept for old programs. Default ``1``.
    """
    _convert(file_path, save_path, name_map, "ckpt", "safetensors", file_name_regex)


def safetensors_to_ckpt(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Converts safetensors files to checkpoints; arguments as in `ckpt_to_safetensors`."""
    _convert(file_path, save_path, name_map, "safetensors", "ckpt", file_name_regex)
