"""``mindspore.parallel._utils`` and ``_auto_parallel_context``: settings of parallel training under older names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.context import ParallelMode
from duograph.context.parallel import get_auto_parallel_context, set_auto_parallel_context

__all__ = [
    "_device_number_check", "_get_device_num", "_get_enable_parallel_optimizer", "_get_full_batch",
    "_get_global_rank", "_get_gradients_mean", "_get_parallel_mode", "_get_parameter_broadcast",
    "_get_pipeline_stages", "_get_stage_device_num", "_is_in_auto_parallel_mode", "_is_in_data_parallel_mode",
    "_is_in_hybrid_parallel_mode", "_is_role_pserver", "_is_role_sched", "_is_role_worker",
    "_is_sharding_propagation", "auto_parallel_context",
]  # fmt: skip


def _device_number_check(parallel_mode: str, device_number: int) -> None:
    """That a program which is not parallel has one device.

    Raises:
        ValueError: it has more.
    """
    if parallel_mode == ParallelMode.STAND_ALONE and device_number != 1:
        raise ValueError(
            f"If parallel_mode is {parallel_mode}, device_number must be 1, but got device_number: {device_number}."
        )


def _getter(key: str) -> Callable[[], Any]:
    def get() -> Any:
        return get_auto_parallel_context(key)

    get.__name__ = get.__qualname__ = f"_get_{key}"
    get.__doc__ = f"The setting ``{key}`` of `set_auto_parallel_context`."
    return get


_get_device_num = _getter("device_num")
_get_enable_parallel_optimizer = _getter("enable_parallel_optimizer")
_get_full_batch = _getter("full_batch")
_get_global_rank = _getter("global_rank")
_get_gradients_mean = _getter("gradients_mean")
_get_parallel_mode = _getter("parallel_mode")
_get_parameter_broadcast = _getter("parameter_broadcast")
_get_stage_device_num = _get_device_num


def _get_pipeline_stages() -> int:
    """The number of stages into which `Model` cuts a network: one."""
    return 1


def _is_in_hybrid_parallel_mode() -> bool:
    """Whether training is data-parallel in some layers."""
    return bool(_get_parallel_mode() == ParallelMode.HYBRID_PARALLEL)


def _is_in_data_parallel_mode() -> bool:
    """Whether training is data-parallel."""
    return bool(_get_parallel_mode() == ParallelMode.DATA_PARALLEL)


def _is_in_auto_parallel_mode() -> bool:
    """Whether networks are cut automatically."""
    return _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _is_sharding_propagation() -> bool:
    """Whether strategies spread over networks by themselves: never."""
    return False


_is_role_worker = _is_role_sched = _is_role_pserver = _is_sharding_propagation
"""What a process is in training with parameter servers, of which there is none."""


class _AutoParallelContext:
    """``get_...()`` and ``set_...(value)`` for each setting of `set_auto_parallel_context`."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kind, _, key = name.partition("_")
        if kind == "get" and key:
            return _getter(key)
        if kind == "set" and key:
            return lambda value: set_auto_parallel_context(**{key: value})
        raise AttributeError(f"auto_parallel_context() has no attribute {name!r}", name=name, obj=self)


_context = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """The settings of parallel training, by ``get_...()`` and ``set_...(value)``."""
    return _context
