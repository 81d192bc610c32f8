"""Contexts of distributed training: what data-parallel training does, and what is stored and returned without effect.

`DATA_PARALLEL` is what several processes can do by a setting: each has the whole network and a part of every batch, and
gradients are reduced. Networks are cut in pieces by hand (`parallel`), never by a setting: these modes are refused
where there are several processes.
"""

from __future__ import annotations

from typing import Any

from duograph.base.config import launched
from duograph.core.traits import Traits
from duograph.distributed import world

from .settings import Kept, ParallelMode, Setting, parallel_mode

__capture__ = Traits(readers=("bucket_bytes", "get_auto_parallel_context"))


_UNKNOWN = "For 'context.{who}', the argument {name} is not recognized!"
BUCKET = 4 << 20
"""Bytes of gradients that are reduced together, if nobody says otherwise (`docs/distributed.md`)."""
_BY_GRADIENTS = (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)


def _flag(name: str) -> Any:
    def check(value: Any) -> bool:
        if not isinstance(value, bool):
            raise TypeError(f"For 'context.set_auto_parallel_context', the '{name}' must be bool, but got {value!r}.")
        return value

    return check


def _supported_mode(value: Any) -> Any:
    parallel_mode(value)
    if value not in (ParallelMode.STAND_ALONE, *_BY_GRADIENTS) and _ranks() > 1:
        raise NotImplementedError(
            f"parallel_mode={value!r} is not supported with several processes: networks are not partitioned "
            "automatically. 'data_parallel' distributes batches; `duograph.parallel` has layers to partition by hand."
        )
    return value


def _ranks() -> int:
    """The number of processes of this job, also before `communication.init`."""
    job = launched()
    return world.current().size if world.is_started() else job[2] if job is not None else 1


def _fusion(value: Any) -> Any:
    """``{"allreduce": {"mode": "auto" or "size", "config": MiB}}``."""
    if not isinstance(value, dict):
        raise TypeError(f"For 'comm_fusion', the value must be dict, but got {type(value)}.")
    for kind, how in value.items():
        if kind not in ("allreduce", "allgather", "reducescatter", "openstate"):
            raise KeyError(
                f"For 'comm_fusion', the key must be allreduce, allgather or reducescatter, but got {kind!r}."
            )
        if kind == "allreduce" and how.get("mode") not in ("auto", "size"):
            raise ValueError(f"For 'comm_fusion', the 'mode' must be 'auto' or 'size', but got {how.get('mode')!r}.")
    return value


_EFFECTIVE: dict[str, Setting] = {
    "parallel_mode": Setting(ParallelMode.STAND_ALONE, object, _supported_mode),
    "gradients_mean": Setting(False, object, _flag("gradients_mean")),
    "parameter_broadcast": Setting(True, object, _flag("parameter_broadcast")),
    "enable_parallel_optimizer": Setting(False, object, _flag("enable_parallel_optimizer")),
    "comm_fusion": Setting({}, object, _fusion),
    "device_num": Setting(1, object),
    "global_rank": Setting(0, object),
}
"""What training reads. Numbers of devices and ranks are those of the processes: others are an error."""

_parallel = Kept("parallel", _UNKNOWN, _EFFECTIVE)
_ps = Kept("parameter server", _UNKNOWN)
_offload: dict[str, Any] = {}


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Settings of training on several processes.

    Args:
        kwargs: ``parallel_mode`` (``"data_parallel"``: gradients are reduced over all processes by `Model`,
            `nn.TrainOneStepCell` and `nn.DistributedGradReducer`), ``gradients_mean`` (their mean, not their sum),
            ``parameter_broadcast`` (whether `Model.train` starts with the parameters of rank 0), ``device_num`` and
            ``global_rank`` (must be what they are), ``comm_fusion`` (size of the buckets of gradients),
            ``enable_parallel_optimizer`` (optimizers that are made from now on keep the states of a part of the
            parameters on each process; needs ``"data_parallel"``). Others are kept
            and given back.

    Raises:
        ValueError: unknown keyword or parallel mode; a number of processes that there are not.
        NotImplementedError: on several processes, a mode that cuts networks automatically.
    """
    ranks = _ranks()
    if ranks > 1:
        here = world.current() if world.is_started() else None
        if kwargs.get("device_num", ranks) != ranks:
            raise ValueError(f"For 'device_num', there are {ranks} processes, but got {kwargs['device_num']}.")
        if here is not None and kwargs.get("global_rank", here.rank) != here.rank:
            raise ValueError(f"For 'global_rank', this process has rank {here.rank}, but got {kwargs['global_rank']}.")
    _parallel.set("set_auto_parallel_context", kwargs)


def get_auto_parallel_context(attr_key: str) -> Any:
    """The value of one setting of `set_auto_parallel_context`."""
    if attr_key in ("device_num", "global_rank") and _ranks() > 1 and world.is_started():
        return world.current().size if attr_key == "device_num" else world.current().rank
    return _parallel.get("get_auto_parallel_context", attr_key)


def data_parallel_size() -> int:
    """Over how many processes gradients are reduced: 1 unless the mode is data-parallel.

    Raises:
        RuntimeError: it is, but this process is one of several that has not called `communication.init`.
    """
    return world.current().size if _parallel.values["parallel_mode"] in _BY_GRADIENTS else 1


def bucket_bytes() -> int:
    """How many bytes of gradients are reduced together (``comm_fusion``)."""
    how = _parallel.values["comm_fusion"].get("allreduce", {})
    return int(how["config"] * (1 << 20)) if how.get("mode") == "size" and how.get("config") else BUCKET


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
