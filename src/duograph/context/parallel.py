"""Contexts of distributed training: kept and given back, without effect, for there is one process and one device."""

from __future__ import annotations

from typing import Any

from duograph.core.traits import Traits

__capture__ = Traits(readers=("get_auto_parallel_context",))


class ParallelMode:
    """Names of the ways to run in parallel."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


_PARALLEL_DEFAULTS: dict[str, Any] = {
    "device_num": 1,
    "global_rank": 0,
    "gradients_mean": False,
    "gradient_fp32_sync": True,
    "loss_repeated_mean": True,
    "parallel_mode": ParallelMode.STAND_ALONE,
    "search_mode": "recursive_programming",
    "auto_parallel_search_mode": "recursive_programming",
    "sharding_propagation": False,
    "parameter_broadcast": False,
    "strategy_ckpt_load_file": "",
    "strategy_ckpt_save_file": "",
    "strategy_ckpt_config": {},
    "full_batch": False,
    "dataset_strategy": "data_parallel",
    "enable_parallel_optimizer": False,
    "parallel_optimizer_config": {},
    "enable_alltoall": False,
    "force_fp32_communication": False,
    "all_reduce_fusion_config": [],
    "pipeline_stages": 1,
    "pipeline_result_broadcast": False,
    "pipeline_config": {},
    "grad_accumulation_step": 1,
    "auto_parallel_new_interface": False,
    "communi_parallel_mode": "all_group_parallel",
    "optimizer_weight_shard_size": -1,
    "optimizer_weight_shard_aggregated_save": False,
    "group_ckpt_save_file": "",
    "comm_fusion": {},
    "parameter_broadcast_is_set": False,
}

_PS_DEFAULTS: dict[str, Any] = {
    "enable_ps": False,
    "config_file_path": "",
    "scheduler_manage_port": 11202,
    "enable_ssl": False,
    "client_password": "",
    "server_password": "",
}

_parallel = dict(_PARALLEL_DEFAULTS)
_ps = dict(_PS_DEFAULTS)
_offload: dict[str, Any] = {}


def _known(table: dict[str, Any], who: str, key: str) -> None:
    if key not in table:
        raise ValueError(f"For 'context.{who}', the argument {key} is not recognized!")


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Keeps settings of parallel training; in one process they change nothing.

    Raises:
        ValueError: unknown keyword or parallel mode.
    """
    for key, value in kwargs.items():
        _known(_PARALLEL_DEFAULTS, "set_auto_parallel_context", key)
        if key == "parallel_mode" and value not in ParallelMode.MODE_LIST:
            raise ValueError(
                f"For 'context.set_auto_parallel_context', the argument 'parallel_mode' must be one of "
                f"{ParallelMode.MODE_LIST}, but got {value}."
            )
    _parallel.update(kwargs)


def get_auto_parallel_context(attr_key: str) -> Any:
    """The value of one setting of `set_auto_parallel_context`."""
    _known(_parallel, "get_auto_parallel_context", attr_key)
    return _parallel[attr_key]


def reset_auto_parallel_context() -> None:
    """Sets every setting of parallel training to its default."""
    _parallel.update(_PARALLEL_DEFAULTS)


def set_ps_context(**kwargs: Any) -> None:
    """Keeps settings of parameter-server training; there is no parameter server here.

    Raises:
        ValueError: unknown keyword.
        RuntimeError: ``enable_ps=True``.
    """
    for key, value in kwargs.items():
        _known(_PS_DEFAULTS, "set_ps_context", key)
        if key == "enable_ps" and value:
            raise RuntimeError("parameter-server training needs several processes; duograph runs in one")
    _ps.update(kwargs)


def get_ps_context(attr_key: str) -> Any:
    """The value of one setting of `set_ps_context`."""
    _known(_ps, "get_ps_context", attr_key)
    return _ps[attr_key]


def reset_ps_context() -> None:
    """Sets every setting of parameter-server training to its default."""
    _ps.update(_PS_DEFAULTS)


def set_offload_context(offload_config: dict[str, Any]) -> None:
    """Keeps the settings of memory offloading; parameters stay in host memory anyway."""
    if not isinstance(offload_config, dict):
        raise TypeError(f"The parameter 'offload_config' must be {dict}, but got {type(offload_config)}")
    _offload.update(offload_config)


def get_offload_context() -> dict[str, Any]:
    """The settings of `set_offload_context`."""
    return dict(_offload)
