"""``mint.distributed`` for the one process that duograph runs in: every collective gives what this process gave.

Whatever needs a second process is an error that says so.
"""

from __future__ import annotations

from typing import Any

from duograph.device import communication
from duograph.device.communication import GlobalComm
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "barrier", "broadcast",
    "broadcast_object_list", "destroy_process_group", "gather", "gather_object", "get_backend", "get_global_rank",
    "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group", "is_available",
    "is_initialized", "new_group", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter",
    "scatter_object_list",
]  # fmt: skip

REDUCTIONS = ("sum", "prod", "max", "min")


class _Done:
    """What an asynchronous call gives: it has been done."""

    def wait(self) -> bool:
        """Whether it has been done: yes."""
        return True


def _group(group: str | None) -> str:
    name = GlobalComm.WORLD_COMM_GROUP if group is None else group
    communication.get_group_size(name)  # raises for an unknown group
    return name


def _checked(who: str, group: str | None, rank: int = 0, op: str = "sum") -> None:
    _group(group)
    if rank != 0:
        raise ValueError(f"For '{who}', there is one process, of rank 0, but got rank {rank}.")
    if op not in REDUCTIONS:
        raise ValueError(f"For '{who}', the 'op' must be in {list(REDUCTIONS)}, but got {op!r}.")


def _tensors(who: str, *values: Any) -> None:
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{who}', the operands must be tensors, but got {type(value).__name__}.")


def _one(who: str, values: Any, name: str) -> Any:
    """The only entry of a list with one entry per process."""
    if not isinstance(values, list | tuple) or len(values) != 1:
        raise ValueError(f"For '{who}', the '{name}' must be a list with one entry, that of the one process.")
    return values[0]


def _put(who: str, target: Tensor, source: Tensor, async_op: bool) -> _Done | None:
    _tensors(who, target, source)
    if tuple(target.shape) != tuple(source.shape) or target.dtype is not source.dtype:
        raise ValueError(
            f"For '{who}', in a group of one the output must be as the input {tuple(source.shape)} {source.dtype}, but "
            f"got {tuple(target.shape)} {target.dtype}."
        )
    write(target, source)
    return _Done() if async_op else None


# ---- groups ---------------------------------------------------------------------------------------------------------


def init_process_group(
    backend: str = "mccl", init_method: str | None = None, timeout: Any = None, world_size: int = -1, rank: int = -1,
    store: Any = None, group_name: str = "", pg_options: Any = None, device_id: Any = None,
) -> None:  # fmt: skip
    """Starts communication: a group of this process alone.

    Raises:
        ValueError: more than one process is asked for, or another way to find them.
        RuntimeError: the backend needs devices that are not here.
    """
    if world_size not in (-1, 1) or rank not in (-1, 0):
        raise ValueError(
            f"For 'init_process_group', there is one process, of rank 0, but got world_size {world_size}, rank {rank}."
        )
    for name, value in (("init_method", init_method), ("store", store), ("pg_options", pg_options)):
        if value is not None:
            raise ValueError(f"For 'init_process_group', the '{name}' must be None: there are no processes to find.")
    communication.init(backend)


def destroy_process_group(group: str | None = None) -> None:
    """Ends communication, or forgets one group."""
    if group is None or group == GlobalComm.WORLD_COMM_GROUP:
        communication.release()
    else:
        communication.destroy_group(group)


def new_group(
    ranks: list[int] | None = None, timeout: Any = None, backend: str | None = None, pg_options: Any = None,
    use_local_synchronization: bool = False, group_desc: str | None = None,
) -> str:  # fmt: skip
    """Makes a group of this process alone; gives its name.

    Raises:
        ValueError: other ranks.
    """
    name = f"group_{len(communication._groups)}" if group_desc is None else group_desc
    communication.create_group(name, [0] if ranks is None else list(ranks))
    return name


def is_available() -> bool:
    """Whether there is communication: yes, within one process."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return GlobalComm.INITED


def get_backend(group: str | None = None) -> str:
    """The communication library."""
    _group(group)
    return GlobalComm.BACKEND


def get_rank(group: str | None = None) -> int:
    """The rank of this process in the group: 0."""
    return communication.get_rank(_group(group))


def get_world_size(group: str | None = None) -> int:
    """The number of processes in the group: 1."""
    return communication.get_group_size(_group(group))


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """The ranks of the processes in the group."""
    return communication.get_process_group_ranks(_group(group))


def get_global_rank(group: str, group_rank: int) -> int:
    """The rank in the world of a process of the group."""
    return communication.get_world_rank_from_group_rank(_group(group), group_rank)


def get_group_rank(group: str, global_rank: int) -> int:
    """The rank in the group of a process of the world."""
    return communication.get_group_rank_from_world_rank(global_rank, _group(group))


# ---- collectives of tensors -----------------------------------------------------------------------------------------


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> _Done | None:
    """Waits for all processes of the group: this one is here."""
    _group(group)
    return _Done() if async_op else None


def all_reduce(tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False) -> _Done | None:
    """The tensors of all processes reduced, in place: that of this one stays what it is."""
    _checked("all_reduce", group, op=op)
    _tensors("all_reduce", tensor)
    return _Done() if async_op else None


def reduce(tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False) -> _Done | None:
    """As `all_reduce`, for process ``dst`` alone."""
    _checked("reduce", group, dst, op)
    _tensors("reduce", tensor)
    return _Done() if async_op else None


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> _Done | None:
    """The tensor of process ``src`` for all."""
    _checked("broadcast", group, src)
    _tensors("broadcast", tensor)
    return _Done() if async_op else None


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: str | None = None, async_op: bool = False
) -> _Done | None:
    """The tensors of all processes, written into ``tensor_list``."""
    _checked("all_gather", group)
    return _put("all_gather", _one("all_gather", tensor_list, "tensor_list"), tensor, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> _Done | None:
    """The tensors of all processes one after the other, written into ``output_tensor``."""
    _checked("all_gather_into_tensor", group)
    return _put("all_gather_into_tensor", output_tensor, input_tensor, async_op)


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: str | None = None,
    async_op: bool = False,
) -> _Done | None:  # fmt: skip
    """The tensors of all processes, written into ``gather_list`` of process ``dst``."""
    _checked("gather", group, dst)
    return _put("gather", _one("gather", gather_list, "gather_list"), tensor, async_op)


def scatter(
    tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int = 0, group: str | None = None,
    async_op: bool = False,
) -> _Done | None:  # fmt: skip
    """One tensor of ``scatter_list`` of process ``src`` for every process, written into ``tensor``."""
    _checked("scatter", group, src)
    return _put("scatter", tensor, _one("scatter", scatter_list, "scatter_list"), async_op)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: str = "sum", group: str | None = None, async_op: bool = False
) -> _Done | None:
    """The lists of all processes reduced, one entry for every process."""
    _checked("reduce_scatter", group, op=op)
    return _put("reduce_scatter", output, _one("reduce_scatter", input_list, "input_list"), async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> _Done | None:
    """The tensors of all processes reduced, one part for every process."""
    _checked("reduce_scatter_tensor", group, op=op)
    return _put("reduce_scatter_tensor", output, input, async_op)


# ---- collectives of Python objects -----------------------------------------------------------------------------------


def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """The objects of all processes, put into ``object_list``."""
    _checked("all_gather_object", group)
    _one("all_gather_object", object_list, "object_list")
    object_list[0] = obj


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """The objects of all processes, put into ``object_gather_list`` of process ``dst``."""
    _checked("gather_object", group, dst)
    if object_gather_list is None:
        raise TypeError("For 'gather_object', the 'object_gather_list' of the process 'dst' must be a list.")
    _one("gather_object", object_gather_list, "object_gather_list")
    object_gather_list[0] = obj


def broadcast_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> None:
    """The objects of process ``src`` for all."""
    _checked("broadcast_object_list", group, src)
    if not isinstance(object_list, list) or not object_list:
        raise TypeError("For 'broadcast_object_list', the 'object_list' must be a list of objects.")


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any], src: int = 0,
    group: str | None = None,
) -> None:  # fmt: skip
    """One object of process ``src`` for every process, put into the first place of the output list."""
    _checked("scatter_object_list", group, src)
    value = _one("scatter_object_list", scatter_object_input_list, "scatter_object_input_list")
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise TypeError("For 'scatter_object_list', the 'scatter_object_output_list' must be a list with a place.")
    scatter_object_output_list[0] = value
