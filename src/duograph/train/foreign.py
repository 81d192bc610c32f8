"""Weights of PyTorch and safetensors files in Cells: names are translated, and a report says what did not fit.

A parameter of a Cell is looked for under its path (``layer1.0.conv.weight``) and, as layers of MindSpore call some
parameters otherwise than PyTorch's, under PyTorch's name of it (``bn.gamma`` is ``bn.weight``). What prefixes the
programs differ in says ``name_map``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from duograph import log
from duograph.nn.cell import Cell
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from . import safetensors_format, torch_format

__all__ = ["LoadReport", "load_torch", "load_torch_into_net"]

_OF_TORCH = {
    "gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var",
    "embedding_table": "weight", "w": "weight",
}  # fmt: skip
"""Names of parameters in MindSpore's layers, and in PyTorch's: norms, `nn.Embedding`, `nn.PReLU`."""
_WRAPPERS = ("module.", "_orig_mod.")
"""What ``DataParallel`` and ``torch.compile`` put before all names."""
_COUNTERS = "num_batches_tracked"
"""Of PyTorch's batch norms: how many batches they saw; MindSpore's have no such count."""
_PLACES = ("state_dict", "model_state_dict", "model", "net", "module", "weights")
"""Where programs put the parameters in a larger checkpoint."""
_INDEX = ".index.json"


@dataclass
class LoadReport:
    """What `load_torch_into_net` has done; as text, a list of what did not fit.

    Attributes:
        loaded: for every parameter of the Cell that got a value, the name of the value in the file.
        missing: parameters of the Cell that have no value in the file.
        unused: names of the file that no parameter of the Cell took.
        mismatched: parameters that were left alone because the shape or dtype is another, with the reason.
    """

    loaded: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    mismatched: dict[str, str] = field(default_factory=dict)

    def complete(self) -> bool:
        """Whether every parameter got a value and every value was used."""
        return not (self.missing or self.unused or self.mismatched)

    def __str__(self) -> str:
        lines = [f"{len(self.loaded)} parameters loaded"]
        lines += [f"  no value in the file: {name}" for name in self.missing]
        lines += [f"  not in the Cell: {name}" for name in self.unused]
        lines += [f"  does not fit: {name}: {why}" for name, why in self.mismatched.items()]
        return "\n".join(lines)


def load_torch(file_name: str) -> Any:
    """Reads a file that ``torch.save`` or safetensors wrote, without PyTorch; nothing in it is executed.

    Args:
        file_name (str): a ``.pt``, ``.pth`` or ``.bin`` file, a ``.safetensors`` file, or the ``.index.json`` that
            lists the ``.safetensors`` files of a large model.

    Returns:
        What was saved, with Tensors for tensors: dicts, lists, tuples, sets, numbers and strings.

    Raises:
        TypeError: ``file_name`` is not a string.
        ValueError: the file is missing, damaged, of another format, or holds other objects than these (a whole
            ``nn.Module``, for example); the message names the class.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn, train
        >>> ms.save_checkpoint(nn.Dense(2, 3), "/tmp/dense", format="safetensors")
        >>> sorted(train.load_torch("/tmp/dense.safetensors"))
        ['bias', 'weight']
    """
    return _with_tensors(_content("load_torch", file_name))


def load_torch_into_net(
    net: Cell,
    source: Any,
    name_map: Mapping[str, str] | Callable[[str], str | None] | None = None,
    strict_load: bool = False,
) -> LoadReport:
    """Gives the parameters of a Cell the values of a PyTorch module, by name.

    Args:
        net (Cell): the Cell.
        source (Union[str, dict]): a file, see `load_torch`, or what it gave. The parameters may be all of it, or under
            the usual keys (``"state_dict"``, ``"model"``, ...).
        name_map (Union[dict, function]): new names: a dict from names or from prefixes that end at a dot
            (``{"fc": "end_point"}``) to others, or a function that takes a name and returns another, or None to leave
            it out. Default ``None``: names are equal, but for those that layers of MindSpore call otherwise
            (``bn.weight`` is ``bn.gamma``).
        strict_load (bool): raise if something does not fit. Default ``False``: such parameters stay as they are, and a
            warning lists them.

    Returns:
        `LoadReport`, what was loaded and what was not.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: see `load_torch`; or there are no parameters in it.
        RuntimeError: something does not fit and ``strict_load``; then the Cell is as it was.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn, train
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3))
        >>> values = {"0.weight": ms.ops.ones((3, 2)), "0.bias": ms.ops.ones(3), "1.weight": ms.ops.ones(3)}
        >>> report = train.load_torch_into_net(net, values)
        >>> print(report.loaded, report.missing)
        {'0.weight': '0.weight', '0.bias': '0.bias', '1.gamma': '1.weight'} ['1.moving_mean', '1.moving_variance', '1.beta']
    """  # noqa: E501
    who = "load_torch_into_net"
    if not isinstance(net, Cell):
        raise TypeError(f"For '{who}', the argument 'net' should be a Cell, but got {type(net)}.")
    if name_map is not None and not isinstance(name_map, Mapping) and not callable(name_map):
        raise TypeError(f"For '{who}', 'name_map' must be a dict or a function, but got {type(name_map)}.")
    content = source if isinstance(source, Mapping) else _content(who, source)
    values = dict(_renamed(_parameters_of(content), name_map))
    report, moves = _matched(net, values)
    if strict_load and not report.complete():
        raise RuntimeError(f"For '{who}', the file does not fit the Cell: {report}")
    for parameter, value in moves:
        parameter.set_data(Tensor(value))
    if not report.complete():
        log.warning("For '%s': %s", who, report)
    return report


# ---- reading ---------------------------------------------------------------------------------------------------------


def _content(who: str, file_name: Any) -> Any:
    if not isinstance(file_name, str | os.PathLike):
        raise TypeError(f"For '{who}', the file must be a string, but got {type(file_name)}.")
    path = Path(file_name)
    if not path.is_file():
        raise ValueError(f"For '{who}', the file {file_name} does not exist.")
    try:
        if path.name.endswith(_INDEX):
            return _of_index(path)
        data = path.read_bytes()
        return safetensors_format.decode(data)[0] if path.suffix == ".safetensors" else torch_format.decode(data)
    except (ValueError, OSError) as exc:
        raise ValueError(f"For '{who}', the file {file_name} cannot be read: {exc}.") from None


def _of_index(path: Path) -> dict[str, np.ndarray]:
    """The tensors of all files of an index."""
    index = json.loads(path.read_text(encoding="utf-8"))
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(place, str) for place in places.values()):
        raise ValueError("it has no weight_map of file names")
    found: dict[str, np.ndarray] = {}
    for name in dict.fromkeys(places.values()):
        if Path(name).name != name or name in ("", ".", ".."):
            raise ValueError(f"it leaves its folder: {name!r}")
        try:
            arrays, _ = safetensors_format.decode((path.parent / name).read_bytes())
        except (ValueError, OSError) as exc:
            raise ValueError(f"its file {name}: {exc}") from None
        found.update((key, array) for key, array in arrays.items() if places.get(key) == name)
    lost = [key for key in places if key not in found]
    if lost:
        raise ValueError(f"its files do not have {lost[0]!r}")
    return found


def _with_tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if type(value) is dict:
        return {key: _with_tensors(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_with_tensors(item) for item in value)
    return value


# ---- names -----------------------------------------------------------------------------------------------------------


def _is_tensor(value: Any) -> bool:
    return isinstance(value, np.ndarray | Tensor)


def _parameters_of(content: Any) -> dict[str, Any]:
    """The tensors by name, without the prefix that all of them have from a wrapper."""
    for _ in range(3):  # {"checkpoint": {"state_dict": {...}}} is as deep as programs go
        if not isinstance(content, Mapping):
            break
        found = {name: value for name, value in content.items() if isinstance(name, str) and _is_tensor(value)}
        if found:
            for prefix in _WRAPPERS:
                if all(name.startswith(prefix) for name in found):
                    found = {name.removeprefix(prefix): value for name, value in found.items()}
            return found
        content = next((content[key] for key in _PLACES if isinstance(content.get(key), Mapping)), None)
    raise ValueError("For 'load_torch_into_net', there are no named tensors in what was given.")


def _renamed(values: dict[str, Any], name_map: Any) -> Iterator[tuple[str, tuple[str, Any]]]:
    """The values by their new name, with the old one."""
    for name, value in values.items():
        new = name
        if callable(name_map):
            new = name_map(name)
        elif name_map is not None:
            fits = [old for old in name_map if name == old or name.startswith(f"{old.removesuffix('.')}.")]
            if fits:
                old = max(fits, key=len).removesuffix(".")
                new = name_map[max(fits, key=len)].removesuffix(".") + name[len(old) :]
        if new is not None:
            yield new.removeprefix("."), (name, value)


def _candidates(path: str, name: str) -> Iterator[str]:
    for known in dict.fromkeys((path, name)):
        yield known
        head, dot, last = known.rpartition(".")
        if last in _OF_TORCH:
            yield f"{head}{dot}{_OF_TORCH[last]}"


def _matched(net: Cell, values: dict[str, tuple[str, Any]]) -> tuple[LoadReport, list[tuple[Parameter, np.ndarray]]]:
    report, moves = LoadReport(), []
    used = set()
    for path, parameter in net.parameters_and_names():
        found = next((c for c in _candidates(path, parameter.name) if c in values), None)
        if found is None:
            report.missing.append(path)
            continue
        used.add(found)
        old, value = values[found]
        array = value.asnumpy() if isinstance(value, Tensor) else value
        fitted = _fitted(array, parameter)
        if isinstance(fitted, str):
            report.mismatched[path] = f"{old} {fitted}"
        else:
            report.loaded[path] = old
            moves.append((parameter, fitted))
    report.unused = [old for new, (old, _) in values.items() if new not in used and old.rpartition(".")[2] != _COUNTERS]
    return report, moves


def _fitted(array: np.ndarray, parameter: Parameter) -> np.ndarray | str:
    """The value as the parameter needs it, or why it does not fit."""
    shape, dtype = tuple(parameter.shape), parameter.dtype
    if array.shape != shape and _without_ones(array.shape) != _without_ones(shape):
        return f"has the shape {array.shape}, the parameter {shape}"
    given = Tensor(array).dtype
    if given is not dtype and not (given.is_floating and dtype.is_floating):
        return f"has the dtype {given}, the parameter {dtype}"
    return array.reshape(shape).astype(dtype.numpy)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """`nn.Conv1d` of MindSpore has a weight of four dimensions, one of them 1."""
    return tuple(n for n in shape if n != 1)
