"""Settings that programs make: their types, their accepted values, and why most of them have no effect here.

`IGNORED` is the one table of what is accepted, stored and returned without changing anything: one row for each name,
read by what sets and gets it (`context`, its `jit_config` and `parallel`, `device.parallel`, `dataset.config`).
What has an effect is where the effect is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

INT32_MAX = 2147483647
DEBUG = 1
RELEASE = 0


@dataclass(frozen=True)
class Setting:
    """One setting: default, accepted types, check (which gives what is stored), and what follows from a change."""

    default: Any
    types: type | tuple[type, ...]
    check: Callable[[Any], Any] = lambda value: value
    effect: Callable[[Any], Any] | None = None
    why: str = ""
    """Of a setting without effect: why."""


def one_of(name: str, *choices: Any) -> Callable[[Any], Any]:
    """The check that a value of `set_context` is one of ``choices``."""

    def check(value: Any) -> Any:
        if value not in choices:
            raise ValueError(
                f"For 'context.set_context', the argument '{name}' must be one of {list(choices)}, but got {value}."
            )
        return value

    return check


def choice(name: str, *choices: Any) -> Callable[[Any], Any]:
    """The check that a value of `JitConfig` is one of ``choices``, of its type too."""

    def check(value: Any) -> Any:
        if not any(value is each or (type(value) is type(each) and value == each) for each in choices):
            shown = [each for each in choices if each != ""]
            raise ValueError(f"For '{name}' must be one of '{shown}', but got {value!r}.")
        return value

    return check


def not_negative(text: str) -> Callable[[int], int]:
    """The check that a number is not negative."""

    def check(value: int) -> int:
        if value < 0:
            raise ValueError(f"{text} must bigger than or equal to 0.")
        return value

    return check


def _debug_level(value: int) -> int:
    if value not in (RELEASE, DEBUG):
        raise ValueError(f"For 'debug_level', the value should be context.DEBUG or context.RELEASE, but got {value}.")
    return value


def call_depth(value: int) -> int:
    """The check of ``max_call_depth``."""
    if value <= 0:
        raise ValueError(
            f"For 'context.set_context', the argument 'max_call_depth' must be greater than 0, but got {value}."
        )
    return value


def _existing_json(value: str) -> str:
    if not os.path.exists(os.path.realpath(value)):
        raise ValueError(
            f"For 'context.set_context', the 'env_config_path' file '{os.path.realpath(value)}' is not exists, "
            "please check whether 'env_config_path' is correct."
        )
    return value


def _gigabytes(value: str) -> float:
    digits = value.strip().upper().removesuffix("GB").strip()
    try:
        size = float(digits)
    except ValueError:
        size = 0.0
    if size <= 0 or not value.strip().upper().endswith("GB"):
        raise ValueError(f"For 'context.set_context', a memory size is a number with unit 'GB', but got {value!r}.")
    return size


def _aoe_mode(value: str) -> str:
    if value not in ("online", "offline"):
        raise ValueError(
            "For 'context.set_context', the argument 'aoe_tune_mode' must be in ['online', 'offline'], "
            f"but got {value}."
        )
    return value


def _memory_level(value: str) -> int:
    return int(one_of("memory_optimize_level", "O0", "O1")(value)[1])


class ParallelMode:
    """Names of the ways to run in parallel."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


def parallel_mode(value: Any) -> Any:
    """The check of ``parallel_mode``: one of `ParallelMode`."""
    if value not in ParallelMode.MODE_LIST:
        raise ValueError(
            f"For 'context.set_auto_parallel_context', the argument 'parallel_mode' must be one of "
            f"{ParallelMode.MODE_LIST}, but got {value}."
        )
    return value


def _no_server(value: Any) -> Any:
    if value:
        raise RuntimeError("parameter-server training needs several processes; duograph runs in one")
    return value


def positive(name: str) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} isn't of type int.")
        if not 1 <= value <= INT32_MAX:
            raise ValueError(f"{name} given is not within the required range.")
        return value

    return check


def _flag(name: str) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be of type bool.")
        return value

    return check


ELSEWHERE = "it tunes hardware or services that are not here"
SAME_RESULT = "it changes how MindSpore compiles, not what is computed"
ONE_PROCESS = "it cuts networks in pieces automatically, or is for devices and services that are not here"
TUNING = "it tunes how samples are prepared, not which and in which order"

_SWITCHES_BEFORE_2 = (
    "enable_auto_mixed_precision", "enable_dump", "enable_dynamic_memory", "enable_gpu_summary", "enable_hccl",
    "enable_ir_fusion", "enable_loop_sink", "enable_mem_reuse", "enable_sparse", "enable_task_sink",
    "load_compile_cache", "save_compile_cache",
)  # fmt: skip
"""What `set_context` took before MindSpore 2.0, under these names."""

IGNORED: dict[str, dict[str, Setting]] = {
    "context": {
        "max_call_depth": Setting(
            1000, int, call_depth, why="calls in compiled code nest as deep as the stack has room"
        ),
        "debug_level": Setting(RELEASE, int, _debug_level, why="graphs always know the lines they come from"),
        "enable_graph_kernel": Setting(False, bool, why=ELSEWHERE),
        "graph_kernel_flags": Setting("", str, why=ELSEWHERE),
        "reserve_class_name_in_scope": Setting(True, bool, why=ELSEWHERE),
        "max_device_memory": Setting(1024.0, str, _gigabytes, why=ELSEWHERE),
        "variable_memory_max_size": Setting("0", str, why=ELSEWHERE),
        "mempool_block_size": Setting(1.0, str, _gigabytes, why=ELSEWHERE),
        "memory_optimize_level": Setting(0, (str, int), _memory_level, why=ELSEWHERE),
        "inter_op_parallel_num": Setting(0, int, not_negative("The num of parallel thread"), why=ELSEWHERE),
        "op_timeout": Setting(900, int, not_negative("The num of op exe timeout"), why=ELSEWHERE),
        "ascend_config": Setting({}, dict, why=ELSEWHERE),
        "gpu_config": Setting({}, dict, why=ELSEWHERE),
        "print_file_path": Setting("", str, why=ELSEWHERE),
        "env_config_path": Setting("", str, _existing_json, why=ELSEWHERE),
        "enable_reduce_precision": Setting(True, bool, why=ELSEWHERE),
        "aoe_tune_mode": Setting("", str, _aoe_mode, why=ELSEWHERE),
        "aoe_config": Setting({}, dict, why=ELSEWHERE),
        "exec_order": Setting("bfs", str, one_of("exec_order", "bfs", "dfs"), why=ELSEWHERE),
        "enable_profiling": Setting(False, bool, why=ELSEWHERE),
        "profiling_options": Setting("training_trace", str, why=ELSEWHERE),
        "enable_parallel_split": Setting(False, bool, why=ELSEWHERE),
        "support_binary": Setting(False, bool, why=ELSEWHERE),
        "disable_format_transform": Setting(False, bool, why=ELSEWHERE),
        "jit_enable_inplace_ops": Setting(True, bool, why=SAME_RESULT),
        "memory_offload": Setting("OFF", str, one_of("memory_offload", "ON", "OFF"), why=ELSEWHERE),
        **dict.fromkeys(_SWITCHES_BEFORE_2, Setting(None, bool, why=ELSEWHERE)),
        "auto_tune_mode": Setting("NO_TUNE", str, why=ELSEWHERE),
        "save_dump_path": Setting(".", str, why=ELSEWHERE),
    },
    "compilation": {  # before 2.0, "task_sink" took the place of "exc_mode"
        "exc_mode": Setting("auto", str, choice("exc_mode", "auto", "sink", "no_sink"), why=SAME_RESULT),
        "debug_level": Setting("RELEASE", str, choice("debug_level", "RELEASE", "DEBUG"), why=SAME_RESULT),
        "infer_boost": Setting("off", str, choice("infer_boost", "on", "off"), why=SAME_RESULT),
        "backend": Setting("", str, choice("backend", "", "ms_backend", "GE"), why=SAME_RESULT),
        "task_sink": Setting(True, bool, choice("task_sink", True, False), why=SAME_RESULT),
    },
    "parallel": {
        "gradient_fp32_sync": Setting(True, object, why=ONE_PROCESS),
        "loss_repeated_mean": Setting(True, object, why=ONE_PROCESS),
        "search_mode": Setting("recursive_programming", object, why=ONE_PROCESS),
        "auto_parallel_search_mode": Setting("recursive_programming", object, why=ONE_PROCESS),
        "sharding_propagation": Setting(False, object, why=ONE_PROCESS),
        "strategy_ckpt_load_file": Setting("", object, why=ONE_PROCESS),
        "strategy_ckpt_save_file": Setting("", object, why=ONE_PROCESS),
        "strategy_ckpt_config": Setting({}, object, why=ONE_PROCESS),
        "full_batch": Setting(False, object, why=ONE_PROCESS),
        "dataset_strategy": Setting("data_parallel", object, why=ONE_PROCESS),
        "parallel_optimizer_config": Setting({}, object, why=ONE_PROCESS),
        "enable_alltoall": Setting(False, object, why=ONE_PROCESS),
        "force_fp32_communication": Setting(False, object, why=ONE_PROCESS),
        "all_reduce_fusion_config": Setting([], object, why=ONE_PROCESS),
        "pipeline_stages": Setting(1, object, why=ONE_PROCESS),
        "pipeline_result_broadcast": Setting(False, object, why=ONE_PROCESS),
        "pipeline_config": Setting({}, object, why=ONE_PROCESS),
        "pipeline_interleave": Setting(False, object, why=ONE_PROCESS),
        "pipeline_scheduler": Setting("1f1b", object, why=ONE_PROCESS),
        "grad_accumulation_step": Setting(1, object, why=ONE_PROCESS),
        "auto_parallel_new_interface": Setting(False, object, why=ONE_PROCESS),
        "communi_parallel_mode": Setting("all_group_parallel", object, why=ONE_PROCESS),
        "optimizer_weight_shard_size": Setting(-1, object, why=ONE_PROCESS),
        "optimizer_weight_shard_aggregated_save": Setting(False, object, why=ONE_PROCESS),
        "group_ckpt_save_file": Setting("", object, why=ONE_PROCESS),
    },
    "parameter server": {
        "enable_ps": Setting(False, object, _no_server, why=ONE_PROCESS),
        "config_file_path": Setting("", object, why=ONE_PROCESS),
        "scheduler_manage_port": Setting(11202, object, why=ONE_PROCESS),
        "enable_ssl": Setting(False, object, why=ONE_PROCESS),
        "client_password": Setting("", object, why=ONE_PROCESS),
        "server_password": Setting("", object, why=ONE_PROCESS),
    },
    "search of strategies": {
        "fully_use_devices": Setting(False, object, why=ONE_PROCESS),
        "elementwise_op_strategy_follow": Setting(False, object, why=ONE_PROCESS),
        "enable_algo_approxi": Setting(False, object, why=ONE_PROCESS),
        "algo_approxi_epsilon": Setting(0.1, object, why=ONE_PROCESS),
        "tensor_slice_align_enable": Setting(False, object, why=ONE_PROCESS),
        "tensor_slice_align_size": Setting(16, object, why=ONE_PROCESS),
    },
    "data pipelines": {
        "multiprocessing_timeout_interval": Setting(
            300, int, positive("multiprocessing_timeout_interval"), why=TUNING
        ),
        **{
            name: Setting(default, bool, _flag(name), why=TUNING)
            for name, default in (
                ("auto_num_workers", False), ("numa_enable", False), ("enable_shared_mem", False),
                ("enable_autotune", False), ("dynamic_shape", False), ("fast_recovery", True), ("debug_mode", False),
                ("enable_watchdog", True), ("auto_offload", False),
            )
        },
    },
}  # fmt: skip
"""Group, name: a setting without effect. Those of "context" and "compilation" say so, once, when they are changed."""


class Kept:
    """The values of a group of `IGNORED`.

    Args:
        group: its name.
        unknown: the message for a name that is not in it, with ``{who}`` and ``{name}``.
        more: settings that go with it, and have an effect.
    """

    def __init__(self, group: str, unknown: str, more: dict[str, Setting] | None = None) -> None:
        self.rows, self.unknown = {**IGNORED[group], **(more or {})}, unknown
        self.values: dict[str, Any] = {name: row.default for name, row in self.rows.items()}

    def set(self, who: str, given: dict[str, Any]) -> None:
        """Keeps values, all or none.

        Raises:
            ValueError: an unknown name or value.
        """
        self.values.update({name: self._row(who, name).check(value) for name, value in given.items()})

    def get(self, who: str, name: str) -> Any:
        """One value.

        Raises:
            ValueError: an unknown name.
        """
        self._row(who, name)
        return self.values[name]

    def reset(self) -> None:
        """Sets every value to its default."""
        self.values.update((name, row.default) for name, row in self.rows.items())

    def _row(self, who: str, name: str) -> Setting:
        if name not in self.rows:
            raise ValueError(self.unknown.format(who=who, name=name))
        return self.rows[name]
