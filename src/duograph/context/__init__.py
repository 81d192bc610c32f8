"""`set_context` and `get_context`: the switches of MindSpore's context, their types, values and meaning here.

`SWITCHES` is the table of every keyword. A few have a meaning for duograph (mode, jit level, syntax level, graph dumps,
compile cache, threads, device); some ask for what duograph always does; the others are checked, stored and returned,
and one warning says that they have no effect. `mode()` and `is_graph_mode()` are what the rest of the package asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.base.config import config, set_config
from duograph.base.failures import level_of_user
from duograph.base.modes import graph_mode
from duograph.base.notices import no_effect
from duograph.base.public import own_names
from duograph.core.traits import Traits

from .parallel import (
    get_auto_parallel_context,
    get_offload_context,
    get_ps_context,
    reset_auto_parallel_context,
    reset_ps_context,
    set_auto_parallel_context,
    set_offload_context,
    set_ps_context,
)
from .settings import DEBUG, IGNORED, RELEASE, ParallelMode, Setting, call_depth, not_negative, one_of

__all__ = [
    "COMPATIBLE", "DEBUG", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "RELEASE", "STRICT", "ParallelMode",
    "get_auto_parallel_context", "get_context", "get_jit_config", "get_offload_context", "get_ps_context",
    "get_current_device", "is_graph_mode", "reset_auto_parallel_context", "reset_ps_context",
    "set_auto_parallel_context", "set_context", "set_deterministic", "set_device", "set_recursion_limit",
    "set_offload_context", "set_ps_context",
]  # fmt: skip

__capture__ = Traits(readers=("get_context",))

GRAPH_MODE = 0
PYNATIVE_MODE = 1
STRICT = 0
COMPATIBLE = 1
LAX = 2

DEVICES = ("CPU", "GPU", "Ascend", "Davinci")
_SEE_MANUAL = "For detailed usage of '{who}', please refer to the Mindspore official website."


# Checks: each takes the value and returns what is stored --------------------------------------------------------------


def _mode(value: int) -> int:
    if value not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(
            "For 'context.set_context', the argument 'mode' should be context.GRAPH_MODE (0) or "
            f"context.PYNATIVE_MODE (1), but got {value}."
        )
    return int(value)


def check_device(value: str) -> str:
    """The device that ``value`` names; `RuntimeError` for known devices that this machine or build lacks."""
    if value not in DEVICES:
        raise ValueError(
            f"For 'context.set_context', the argument 'device_target' must be one of {list(DEVICES)}, but got {value}."
        )
    if value != "CPU" and config().device_target == "cpu":
        why = "DUOGRAPH_DEVICE_TARGET=cpu takes all devices as the CPU"
        no_effect(f"device_target={value!r}", why, level_of_user() + 1)
        return "CPU"
    if value != "CPU":
        name = "Ascend" if value == "Davinci" else value
        needs = "a CUDA device and driver" if name == "GPU" else "an Ascend NPU with CANN"
        raise RuntimeError(
            f"Unsupported device target {name}. This process only supports one of the ['CPU']. {name} needs {needs} "
            "and a duograph backend for it; neither is available on this machine. Use device_target='CPU', or set "
            "DUOGRAPH_DEVICE_TARGET=cpu to run programs for other devices as they are."
        )
    return value


def _device_id(value: int) -> int:
    if not 0 <= value <= 4095:
        raise ValueError(
            f"For 'context.set_context', the argument 'device_id' must be in range [0, 4095], but got {value}."
        )
    return value


def _save_graphs(value: bool | int) -> int:
    level = 2 if value is True else int(value)
    if not 0 <= level <= 3:
        raise ValueError(f"value for save_graphs should be 0-3 but got '{value}'")
    return level


def _syntax_level(value: int) -> int:
    if value not in (STRICT, COMPATIBLE, LAX):
        raise ValueError(f"For 'jit_syntax_level', the value should be context.STRICT or context.LAX, but got {value}.")
    return value


_JIT_CONFIG_KEYS = {"jit_level": ("O0", "O1", "O2"), "infer_boost": ("on", "off")}


def _jit_config(value: dict[str, Any]) -> dict[str, Any]:
    for key, item in value.items():
        if key not in _JIT_CONFIG_KEYS:
            keys = {k: list(v) for k, v in _JIT_CONFIG_KEYS.items()}
            raise ValueError(
                f"For 'context.set_context', the key of argument 'jit_config' must be one of {keys}, but got {key}."
            )
        if item not in _JIT_CONFIG_KEYS[key]:
            raise ValueError(
                f"For 'jit_config', the value of argument {key} must be one of {list(_JIT_CONFIG_KEYS[key])}, "
                f"but got {item}."
            )
    return dict(value)


def _use_threads(count: int) -> None:
    from duograph.runtime.pool.pool import MAX_THREADS, set_threads

    set_threads(min(count, MAX_THREADS))


def _configures(field: str) -> Callable[[Any], Any]:
    return lambda value: set_config(**{field: value})


SWITCHES: dict[str, Setting] = {
    # what duograph acts on
    "mode": Setting(PYNATIVE_MODE, int, _mode),
    "device_target": Setting("CPU", str, check_device),
    "device_id": Setting(0, int, _device_id),
    "jit_level": Setting("", str, one_of("jit_level", "", "O0", "O1", "O2"), lambda _: _use_level()),
    "jit_config": Setting({}, dict, _jit_config, lambda _: _use_level()),
    "jit_syntax_level": Setting(LAX, int, _syntax_level, _configures("jit_syntax_level")),
    "save_graphs": Setting(0, (bool, int), _save_graphs, _configures("save_graphs")),
    "save_graphs_path": Setting(".", str, effect=_configures("save_graphs_path")),
    "enable_compile_cache": Setting(None, bool, effect=_configures("compiler_cache")),
    "compile_cache_path": Setting("", str, effect=_configures("compiler_cache_path")),
    "runtime_num_threads": Setting(0, int, not_negative("The num of thread"), _use_threads),
    # what duograph always does, whichever value is set
    "deterministic": Setting("OFF", str, one_of("deterministic", "ON", "OFF")),  # every result is
    "pynative_synchronize": Setting(False, bool),  # an operator is done when it returns
    "check_bprop": Setting(False, bool),  # gradients of `Cell.bprop` are checked against the inputs
    # what is kept for programs that set it
    **IGNORED["context"],
}

_REMOVED = {
    "grad_for_scalar": "Please use the tensor derivative instead.",
    "precompile_only": "Please use the env MS_DEV_PRECOMPILE_ONLY instead.",
}

_values: dict[str, Any] = {name: switch.default for name, switch in SWITCHES.items()}


def _use_level() -> None:
    set_config(jit_level=get_jit_config().get("jit_level", ""))


def set_context(**kwargs: Any) -> None:
    """Sets switches of the running environment, first of all the mode.

    Args:
        kwargs: keywords of `SWITCHES`: ``mode`` (`GRAPH_MODE` or `PYNATIVE_MODE`), ``device_target``, ``jit_level``,
            ``jit_config``, ``jit_syntax_level``, ``save_graphs``, ``save_graphs_path``, ... Those that have no effect
            here say so once, in a warning.

    Raises:
        ValueError: an unknown keyword or value.
        TypeError: a value of the wrong type.
        RuntimeError: a device that this machine does not have.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> ms.set_context(mode=ms.GRAPH_MODE)
        >>> ms.set_context(mode=ms.PYNATIVE_MODE)
    """
    checked = {name: _checked(name, value) for name, value in kwargs.items()}
    _values.update(checked)
    for name, value in checked.items():
        effect = SWITCHES[name].effect
        if effect is not None:
            effect(value)
        if SWITCHES[name].why and value != SWITCHES[name].default:
            no_effect(f"set_context({name}=...)", SWITCHES[name].why)


def _checked(name: str, value: Any) -> Any:
    switch = SWITCHES.get(name)
    if switch is None:
        if name in _REMOVED:
            raise ValueError(
                f"For 'context.set_context', the parameter '{name}' has been removed since MindSpore 2.10 version. "
                f"{_REMOVED[name]}"
            )
        raise ValueError(
            f"For 'context.set_context', the keyword argument {name} is not recognized! "
            + _SEE_MANUAL.format(who="set_context")
        )
    if not isinstance(value, switch.types):
        way = ": GRAPH_MODE or PYNATIVE_MODE" if name == "mode" else ""
        raise TypeError(f"The parameter '{name}' must be {switch.types}, but got {type(value)}{way}")
    return switch.check(value)


def get_context(attr_key: str) -> Any:
    """The value of one switch.

    Args:
        attr_key (str): keyword of `set_context`.

    Raises:
        ValueError: unknown keyword.

    Examples:
        >>> import duograph as ms
        >>> ms.get_context("device_target")
        'CPU'
    """
    if not isinstance(attr_key, str):
        raise TypeError(f"The parameter 'attr_key' must be {str}, but got {type(attr_key)}")
    if attr_key not in _values:
        raise ValueError(
            f"For 'context.get_context', the argument {attr_key} is not recognized! "
            + _SEE_MANUAL.format(who="get_context")
        )
    return _values[attr_key]


def is_graph_mode() -> bool:
    """Whether calling a Cell compiles it."""
    return _values["mode"] == GRAPH_MODE


graph_mode.fill(is_graph_mode)


def jit_settings() -> tuple[dict[str, Any], str]:
    """What `get_jit_config` is made of."""
    return dict(_values["jit_config"]), _values["jit_level"]


def get_jit_config() -> dict[str, Any]:
    """The jit switches in force for functions and Cells that set none of their own."""
    config = dict(_values["jit_config"])
    if _values["jit_level"]:
        config.setdefault("jit_level", _values["jit_level"])
    return config


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Chooses the device.

    Args:
        device_target (str): ``"CPU"``; ``"GPU"`` and ``"Ascend"`` are known but need hardware that is not here.
        device_id (int): which one. Default ``None``: 0.

    Raises:
        ValueError: unknown device.
        RuntimeError: a device that this machine does not have.
    """
    if device_target not in ("CPU", "GPU", "Ascend"):
        raise ValueError(
            f"The argument 'device_target' must be one of ['CPU', 'GPU', 'Ascend'], but got {device_target}."
        )
    _values["device_target"] = check_device(device_target)
    _values["device_id"] = _device_id(device_id or 0)


def get_current_device() -> tuple[str, int]:
    """Name and number of the device."""
    return _values["device_target"], _values["device_id"]


def set_deterministic(deterministic: bool) -> None:
    """Asks for deterministic results; duograph's always are.

    Raises:
        TypeError: the argument is not a bool.
    """
    if not isinstance(deterministic, bool):
        raise TypeError(f"The argument 'deterministic' must be bool, but got {type(deterministic)}.")
    _values["deterministic"] = "ON" if deterministic else "OFF"


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Kept for programs that call it: calls in compiled code nest as deep as the stack has room; a warning says so.

    Raises:
        TypeError: the argument is not an int.
        ValueError: it is not positive.
    """
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise TypeError(f"The argument 'recursion_limit' must be int, but got {type(recursion_limit)}.")
    _values["max_call_depth"] = call_depth(recursion_limit)
    if recursion_limit != SWITCHES["max_call_depth"].default:
        no_effect("set_recursion_limit(...)", SWITCHES["max_call_depth"].why)


def __dir__() -> list[str]:
    return sorted(own_names(globals()))
