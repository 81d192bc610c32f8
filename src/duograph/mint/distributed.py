"""``mint.distributed``: process groups, and collectives that write into the tensors that they are given.

Ranks (``src``, ``dst``) are those of the world. The operators are those of `api.collective`; inside of compiled
functions they are operators of the graph, in the order of the program. What moves Python objects, and what has another
shape on every rank, runs as plain Python between compiled segments.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np

from duograph.api import collective as api
from duograph.api.collective import array_of, begun, check_op, check_tensor, group_of, group_size, rank_in
from duograph.base.config import set_config
from duograph.core.traits import Traits
from duograph.device import comm_func, communication
from duograph.device.comm_func import P2POp
from duograph.device.communication import GlobalComm
from duograph.device.object_collectives import (
    all_gather_object,
    broadcast_object_list,
    entries,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from duograph.distributed import world
from duograph.ops.collective import run
from duograph.ops.slices import concat, slice_axis
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor, wrap

__all__ = [
    "P2POp", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_gather_object",
    "all_reduce", "all_to_all",
    "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "destroy_process_group",
    "gather", "gather_object", "get_backend", "get_global_rank", "get_group_rank", "get_process_group_ranks",
    "get_rank", "get_world_size", "init_process_group", "irecv", "is_available", "is_initialized", "isend", "new_group",
    "recv", "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_tensor_uneven",
    "scatter", "scatter_object_list", "send", "send_object_list",
]  # fmt: skip

__capture__ = Traits(
    rules=(
        "all_reduce", "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "reduce_scatter_tensor",
    ),
    readers=(
        "get_rank", "get_world_size", "get_process_group_ranks", "get_global_rank", "get_group_rank", "get_backend",
    ),
)  # fmt: skip


def _alike(who: str, like: Tensor, *values: Any) -> None:
    check_tensor(who, like, *values)
    for value in values:
        if tuple(value.shape) != tuple(like.shape) or value.dtype is not like.dtype:
            raise ValueError(
                f"For '{who}', the tensors must be alike: {tuple(like.shape)} {like.dtype}, but got "
                f"{tuple(value.shape)} {value.dtype}."
            )


def _fits(who: str, target: Tensor, shape: tuple[Any, ...], source: Tensor) -> None:
    check_tensor(who, target, source)
    if tuple(target.shape) != shape or target.dtype is not source.dtype:
        raise ValueError(
            f"For '{who}', the output must be {shape} {source.dtype}, but got {tuple(target.shape)} {target.dtype}."
        )


# ---- groups ---------------------------------------------------------------------------------------------------------


def init_process_group(
    backend: str = "mccl", init_method: str | None = None, timeout: Any = None, world_size: int = -1, rank: int = -1,
    store: Any = None, group_name: str = "", pg_options: Any = None, device_id: Any = None,
) -> None:  # fmt: skip
    """Starts communication among the processes that were started together (``mpirun``, ``python -m duograph launch``).

    Args:
        backend (str): Default ``"mccl"``: MPI.
        init_method (str): must be ``None``: MPI finds the processes; so must ``store`` and ``pg_options``.
        timeout (timedelta): how long a process waits for others. Default ``None``: `DUOGRAPH_COMM_TIMEOUT`.
        world_size (int): Default -1: as many as were started; another number is an error.
        rank (int): Default -1: what it is; another number is an error.
        store (Store): see ``init_method``.
        group_name (str): kept for old programs.
        pg_options (ProcessGroupOptions): see ``init_method``.
        device_id (int): kept for old programs.

    Raises:
        ValueError: another number of processes, or another way to find them; this process was started by itself.
        TypeError: ``timeout`` is no timedelta.
        RuntimeError: the backend needs devices that are not here.
    """
    for name, value in (("init_method", init_method), ("store", store), ("pg_options", pg_options)):
        if value is not None:
            raise ValueError(f"For 'init_process_group', the '{name}' must be None: MPI finds the processes.")
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"For 'init_process_group', the 'timeout' must be timedelta, but got {type(timeout).__name__}.")
    communication.init(backend)
    if timeout is not None:
        set_config(comm_timeout=timeout.total_seconds())
    here = world.current()
    if world_size not in (-1, here.size) or rank not in (-1, here.rank):
        raise ValueError(
            f"For 'init_process_group', there are {here.size} processes, and this one has rank {here.rank}, but got "
            f"world_size {world_size}, rank {rank}. `python -m duograph launch -n N` starts N processes."
        )


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
    """Makes a group; gives its name. Every process of it calls this; in others the group cannot be used.

    Raises:
        ValueError: ``ranks`` are no different ranks of the world.
    """
    here = world.current()
    found = list(range(here.size)) if ranks is None else list(ranks)
    taken, stem = 0, "group_" + "_".join(map(str, found))
    while here.knows(f"{stem}.{taken}"):
        taken += 1
    name = f"{stem}.{taken}" if group_desc is None else group_desc
    communication.create_group(name, found)
    return name


def is_available() -> bool:
    """Whether there is communication: yes, within one process at least."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return world.is_started()


def get_backend(group: str | None = None) -> str:
    """The communication library."""
    group_of("get_backend", group)
    return GlobalComm.BACKEND


def get_rank(group: str | None = None) -> int:
    """The rank of this process in the group; -1 if it is not in it."""
    name = group or GlobalComm.WORLD_COMM_GROUP
    ranks = world.current().ranks_of(name)
    return ranks.index(world.current().rank) if world.current().rank in ranks else -1


def get_world_size(group: str | None = None) -> int:
    """The number of processes in the group; -1 if this one is not in it."""
    name = group or GlobalComm.WORLD_COMM_GROUP
    return -1 if get_rank(name) < 0 else communication.get_group_size(name)


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """The ranks of the processes in the group."""
    return communication.get_process_group_ranks(group or GlobalComm.WORLD_COMM_GROUP)


def get_global_rank(group: str, group_rank: int) -> int:
    """The rank in the world of a process of the group."""
    return communication.get_world_rank_from_group_rank(group or GlobalComm.WORLD_COMM_GROUP, group_rank)


def get_group_rank(group: str, global_rank: int) -> int:
    """The rank in the group of a process of the world."""
    return communication.get_group_rank_from_world_rank(global_rank, group or GlobalComm.WORLD_COMM_GROUP)


# ---- collectives of tensors -----------------------------------------------------------------------------------------


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> Any:
    """Waits for all processes of the group."""
    name = group_of("barrier", group)
    if not async_op:
        return run(name, lambda g: g.barrier())
    here = world.current()
    known = here.group(name)
    return here.worker.submit(known.barrier, lambda _: None)


def all_reduce(tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False) -> Any:
    """The tensors of all processes, reduced in the order of the ranks, in place.

    Args:
        tensor (Tensor): of equal shape and dtype on all ranks.
        op (str): ``"sum"``, ``"prod"``, ``"max"`` or ``"min"``. Default ``"sum"``.
        group (str): Default ``None``: all processes.
        async_op (bool): whether to go on meanwhile; the tensor must not be written before the handle was waited for.

    Returns:
        The handle, if ``async_op``.
    """
    name, op = group_of("all_reduce", group), check_op("all_reduce", op)
    check_tensor("all_reduce", tensor)
    return begun(
        tensor, name, lambda g: g.all_reduce(array_of(tensor), op), lambda: api.all_reduce(tensor, op, name), async_op
    )


def reduce(tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False) -> Any:
    """As `all_reduce`, for process ``dst`` alone."""
    name, op = group_of("reduce", group), check_op("reduce", op)
    check_tensor("reduce", tensor)
    root = rank_in("reduce", name, dst, "dst")
    return begun(
        tensor, name, lambda g: g.reduce(array_of(tensor), op, root), lambda: api.reduce_to(tensor, dst, op, name),
        async_op,
    )  # fmt: skip


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> Any:
    """The tensor of process ``src`` for all."""
    name = group_of("broadcast", group)
    check_tensor("broadcast", tensor)
    root = rank_in("broadcast", name, src, "src")
    return begun(
        tensor, name, lambda g: g.broadcast(array_of(tensor), root), lambda: api.broadcast(tensor, src, name), async_op
    )


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: str | None = None, async_op: bool = False) -> Any:
    """The tensors of all processes, written into ``tensor_list``."""
    name = group_of("all_gather", group)
    _alike("all_gather", tensor, *entries("all_gather", tensor_list, "tensor_list", name))
    if async_op and api.is_deferrable():
        here, x = world.current(), array_of(tensor)
        known = here.group(name)
        return here.worker.submit(lambda: known.all_gather(x), lambda found: _put(tensor_list, found))
    _write_rows(tensor_list, api.all_gather(tensor.reshape(1, *tensor.shape), name), tensor)
    return api.FINISHED if async_op else None


def _put(targets: list[Tensor], found: Any) -> None:
    for target, value in zip(targets, found, strict=True):
        write(target, wrap(np.array(value)))


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> Any:
    """The tensors of all processes one after the other, written into ``output_tensor``."""
    who = "all_gather_into_tensor"
    name = group_of(who, group)
    check_tensor(who, output_tensor, input_tensor)
    rows = input_tensor.shape[0] * group_size(name) if input_tensor.shape else group_size(name)
    shape = (rows, *input_tensor.shape[1:])
    _fits(who, output_tensor, shape, input_tensor)
    x = input_tensor if input_tensor.shape else input_tensor.reshape(1)
    return begun(
        output_tensor, name, lambda g: g.all_gather(array_of(x)).reshape(shape), lambda: api.all_gather(x, name, who),
        async_op,
    )  # fmt: skip


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: str | None = None,
    async_op: bool = False,
) -> Any:  # fmt: skip
    """The tensors of all processes, written into ``gather_list`` of process ``dst``."""
    name = group_of("gather", group)
    check_tensor("gather", tensor)
    root = rank_in("gather", name, dst, "dst")
    here = world.current()
    known = here.group(name)
    targets: Any = None
    if known.rank == root:
        targets = entries("gather", gather_list, "gather_list", name)
        _alike("gather", tensor, *targets)
    if not (async_op and api.is_deferrable()):
        whole = api.gather_to(tensor.reshape(1, *tensor.shape), dst, name, "gather")
        if targets is not None:
            _write_rows(targets, whole, tensor)
        return api.FINISHED if async_op else None
    x = array_of(tensor)
    return here.worker.submit(
        lambda: known.gather(x, root), lambda found: _put(targets, found) if targets is not None else None
    )


def _write_rows(targets: Any, whole: Tensor, like: Tensor) -> None:
    for k, target in enumerate(targets):
        write(target, slice_axis(whole, 0, k, k + 1).reshape(tuple(like.shape)))


def scatter(
    tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int = 0, group: str | None = None,
    async_op: bool = False,
) -> Any:  # fmt: skip
    """One tensor of ``scatter_list`` of process ``src`` for every process, written into ``tensor``."""
    name = group_of("scatter", group)
    check_tensor("scatter", tensor)
    root = rank_in("scatter", name, src, "src")
    here = world.current()
    known = here.group(name)
    sources: Any = [tensor]
    if known.rank == root:
        sources = entries("scatter", scatter_list, "scatter_list", name)
        _alike("scatter", tensor, *sources)
    if not api.is_deferrable():
        parts = sources if known.rank == root else [tensor] * known.size
        write(tensor, api.scatter_from(_stacked(parts), src, name, "scatter").reshape(tuple(tensor.shape)))
        return api.FINISHED if async_op else None
    arrays = np.stack([array_of(x) for x in sources]) if known.rank == root else None
    like = np.empty(tuple(tensor.shape), tensor.dtype.numpy)
    if not async_op:
        write(tensor, wrap(run(name, lambda g: g.scatter(arrays, like, root))))
        return None
    return here.worker.submit(lambda: known.scatter(arrays, like, root), lambda found: write(tensor, wrap(found)))


def _stacked(tensors: Any) -> Tensor:
    """Tensors of one shape on a new first axis."""
    return concat(*[x.reshape(1, *x.shape) for x in tensors], axis=0)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """The lists of all processes reduced, one entry for every process."""
    name, op = group_of("reduce_scatter", group), check_op("reduce_scatter", op)
    check_tensor("reduce_scatter", output)
    _alike("reduce_scatter", output, *entries("reduce_scatter", input_list, "input_list", name))
    if not (async_op and api.is_deferrable()):
        write(output, api.reduce_scatter(_stacked(input_list), op, name).reshape(tuple(output.shape)))
        return api.FINISHED if async_op else None
    x = np.stack([array_of(t) for t in input_list])
    here = world.current()
    known = here.group(name)
    return here.worker.submit(lambda: known.reduce_scatter(x, op), lambda found: write(output, wrap(found[0])))


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """The tensors of all processes reduced, one part along the first axis for every process."""
    who = "reduce_scatter_tensor"
    name, op = group_of(who, group), check_op(who, op)
    check_tensor(who, output, input)
    size = group_size(name)
    if not input.shape or input.shape[0] % size:
        raise ValueError(f"For '{who}', the first dimension of {tuple(input.shape)} must be a multiple of {size}.")
    _fits(who, output, (input.shape[0] // size, *input.shape[1:]), input)
    return begun(
        output, name, lambda g: g.reduce_scatter(array_of(input), op),
        lambda: api.reduce_scatter(input, op, name, who), async_op,
    )  # fmt: skip


def all_gather_into_tensor_uneven(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, group: str | None = None, async_op: bool = False
) -> Any:
    """The tensors of all processes, which may have different numbers of rows, written into ``output``.

    Args:
        output (Tensor): what is written.
        input (Tensor): that of this process.
        output_split_sizes (list[int]): the rows of each process. Default ``None``: equally many.
        group (str): Default ``None``: all processes.
        async_op (bool): whether a handle is wanted, which is done.

    Raises:
        ValueError: the sizes do not fit the shapes.
    """
    who = "all_gather_into_tensor_uneven"
    name = group_of(who, group)
    check_tensor(who, output, input)
    rows = comm_func.rows_of(who, "output_split_sizes", output_split_sizes, tuple(output.shape), group_size(name))
    _fits(who, output, (sum(rows), *input.shape[1:]), input)
    write(output, api.all_gather_uneven(input, rows, name, who))
    return api.FINISHED if async_op else None


def reduce_scatter_tensor_uneven(
    output: Tensor, input: Tensor, input_split_sizes: Any = None, op: str = "sum", group: str | None = None,
    async_op: bool = False,
) -> Any:  # fmt: skip
    """The tensors of all processes reduced, of which each process gets some rows.

    Args:
        output (Tensor): what is written.
        input (Tensor): of equal shape on all processes.
        input_split_sizes (list[int]): the rows for each process. Default ``None``: equally many.
        op (str): Default ``"sum"``.
        group (str): Default ``None``: all processes.
        async_op (bool): whether a handle is wanted, which is done.

    Raises:
        ValueError: the sizes do not fit the shapes.
    """
    who = "reduce_scatter_tensor_uneven"
    name, op = group_of(who, group), check_op(who, op)
    check_tensor(who, output, input)
    rows = comm_func.rows_of(who, "input_split_sizes", input_split_sizes, tuple(input.shape), group_size(name))
    _fits(who, output, (rows[api.group_rank(name)], *input.shape[1:]), input)
    write(output, api.reduce_scatter_uneven(input, rows, op, name, who))
    return api.FINISHED if async_op else None


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: str | None = None, async_op: bool = False
) -> Any:
    """Tensor ``r`` of the input goes to process ``r``; what comes is written into the output, in order."""
    name = group_of("all_to_all", group)
    targets = entries("all_to_all", output_tensor_list, "output_tensor_list", name)
    sources = entries("all_to_all", input_tensor_list, "input_tensor_list", name)
    check_tensor("all_to_all", *targets, *sources)
    dtypes = {x.dtype for x in (*sources, *targets)}
    if len(dtypes) > 1:
        raise TypeError(f"For 'all_to_all', the tensors must be of one dtype, but are of {sorted(map(str, dtypes))}.")
    if not (async_op and api.is_deferrable()):
        found = api.joined_exchange(sources, [tuple(t.shape) for t in targets], name)
        for target, value in zip(targets, found, strict=True):
            write(target, value)
        return api.FINISHED if async_op else None
    parts = [array_of(x) for x in sources]
    like = [np.empty(tuple(t.shape), t.dtype.numpy) for t in targets]
    here = world.current()
    known = here.group(name)
    return here.worker.submit(lambda: known.all_to_all_parts(parts, like), lambda found: _put(targets, found))


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None,
    group: str | None = None, async_op: bool = False,
) -> Any:  # fmt: skip
    """Parts of ``input`` along the first axis go to the processes; what comes is written into ``output``."""
    found, handle = comm_func.all_to_all_single_with_output_shape(
        output, input, output_split_sizes, input_split_sizes, group, async_op
    )
    write(output, found)
    return handle


# ---- messages --------------------------------------------------------------------------------------------------------


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> int:
    """A message for process ``dst``; gives 0."""
    comm_func.send(tensor, dst, group or GlobalComm.WORLD_COMM_GROUP, tag)
    return 0


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Writes a message of process ``src`` into ``tensor``; gives ``src``."""
    write(tensor, comm_func.recv(tensor, src, group or GlobalComm.WORLD_COMM_GROUP, tag))
    return src


def isend(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Begins to send; gives the handle."""
    return comm_func.isend(tensor, dst, group or GlobalComm.WORLD_COMM_GROUP, tag)


def irecv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Begins to receive into ``tensor``; gives the handle."""
    name = group_of("irecv", group)
    check_tensor("irecv", tensor)
    source, like = rank_in("irecv", name, src, "src"), np.empty(tuple(tensor.shape), tensor.dtype.numpy)
    api.check_tag("irecv", tag)
    here = world.current()
    known = here.group(name)
    mail = here.mail(name, source, tag)
    return mail.submit(lambda: known.receive(like, source, tag)[0], lambda x: write(tensor, wrap(x)))


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Any]:
    """Sends and receives all messages together, whatever their order; gives their handles, which are done."""
    found = comm_func.batch_isend_irecv(p2p_op_list)
    for p, value in zip(p2p_op_list, found, strict=True):
        if p.op == "irecv":
            write(p.tensor, value)
    return [api.FINISHED for _ in found]
