"""Contexts of distributed training: kept and given back, without effect, for there is one process and one device."""

from __future__ import annotations

from typing import Any

from duograph.core.traits import Traits

from .settings import Kept

__capture__ = Traits(readers=("get_auto_parallel_context",))


_UNKNOWN = "For 'context.{who}', the argument {name} is not recognized!"
_parallel = Kept("parallel", _UNKNOWN)
_ps = Kept("parameter server", _UNKNOWN)
_offload: dict[str, Any] = {}


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Keeps settings of parallel training; in one process they change nothing.

    Raises:
        ValueError: unknown keyword or parallel mode.
    """
    _parallel.set("set_auto_parallel_context", kwargs)


def get_auto_parallel_context(attr_key: str) -> Any:
    """The value of one setting of `set_auto_parallel_context`."""
    return _parallel.get("get_auto_parallel_context", attr_key)


def reset_auto_parallel_context() -> None:
    """Sets every setting of parallel training to its default."""
    _parallel.reset()


def set_ps_context(**kwargs: Any) -> None:
    """Keeps settings of parameter-server training; there is no parameter server here.

    Raises:
        ValueError: unknown keyword.
        RuntimeError: ``enable_ps=True``.
    """
    _ps.set("set_ps_context", kwargs)


def get_ps_context(attr_key: str) -> Any:
    """The value of one setting of `set_ps_context`."""
    return _ps.get("get_ps_context", attr_key)


def reset_ps_context() -> None:
    """Sets every setting of parameter-server training to its default."""
    _ps.reset()


def set_offload_context(offload_config: dict[str, Any]) -> None:
    """Keeps the settings of memory offloading; parameters stay in host memory anyway."""
    if not isinstance(offload_config, dict):
        raise TypeError(f"The parameter 'offload_config' must be {dict}, but got {type(offload_config)}")
    _offload.update(offload_config)


def get_offload_context() -> dict[str, Any]:
    """The settings of `set_offload_context`."""
    return dict(_offload)
