"""``communication.comm_func``: collective functions that give new tensors.

Where MindSpore's functions give a handle, the asynchronous form has one to wait for; until then the tensor that was
given holds nothing of use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.api import collective as api
from duograph.api.collective import array_of, check_tensor, group_of, group_size, rank_in
from duograph.core.traits import Traits
from duograph.distributed import world
from duograph.distributed.group import Group
from duograph.distributed.world import WORLD
from duograph.ops.collective import run
from duograph.ops.creation import full
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor, wrap

__all__ = [
    "P2POp", "all_gather_into_tensor", "all_reduce", "all_to_all_single_with_output_shape", "all_to_all_v_c",
    "all_to_all_with_output_shape", "barrier", "batch_isend_irecv", "broadcast", "gather_into_tensor", "irecv", "isend",
    "recv", "reduce", "reduce_scatter_tensor", "scatter_tensor", "send",
]  # fmt: skip

__capture__ = Traits(
    rules=("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "reduce", "broadcast", "send", "recv")
)


def _begun(like: tuple[Any, ...], x: Tensor, group: str, call: Callable[[Group], Any], now: Any, async_op: bool) -> Any:
    """A new tensor of shape ``like``, and the handle of the call that fills it."""
    if not async_op or not api.is_deferrable():
        return now(), api.FINISHED if async_op else None
    out = wrap(np.empty(like, x.dtype.numpy))
    return out, api.begun(out, group, call, now, True)


def all_reduce(tensor: Tensor, op: str = "sum", group: str = WORLD, async_op: bool = False) -> tuple[Tensor, Any]:
    """The tensors of all ranks, reduced; and the handle, if asynchronous.

    Args:
        tensor (Tensor): of equal shape and dtype on all ranks.
        op (str): ``"sum"``, ``"prod"``, ``"max"`` or ``"min"``. Default ``"sum"``.
        group (str): Default: all ranks.
        async_op (bool): Default ``False``.
    """
    name = group_of("all_reduce", group)
    api.check_op("all_reduce", op)
    check_tensor("all_reduce", tensor)
    return _begun(
        tuple(tensor.shape), tensor, name, lambda g: g.all_reduce(array_of(tensor), op),
        lambda: api.all_reduce(tensor, op, name), async_op,
    )  # fmt: skip


def all_gather_into_tensor(tensor: Tensor, group: str = WORLD, async_op: bool = False) -> tuple[Tensor, Any]:
    """The tensors of all ranks, one after the other; and the handle, if asynchronous."""
    name = group_of("all_gather_into_tensor", group)
    check_tensor("all_gather_into_tensor", tensor)
    shape = (tensor.shape[0] * group_size(name), *tensor.shape[1:]) if tensor.shape else ()
    return _begun(
        shape, tensor, name, lambda g: g.all_gather(array_of(tensor)).reshape(shape),
        lambda: api.all_gather(tensor, name, "all_gather_into_tensor"), async_op and bool(tensor.shape),
    )  # fmt: skip


def reduce_scatter_tensor(
    tensor: Tensor, op: str = "sum", group: str = WORLD, async_op: bool = False
) -> tuple[Tensor, Any]:
    """This rank's part of the tensors of all ranks, reduced; and the handle, if asynchronous."""
    name = group_of("reduce_scatter_tensor", group)
    api.check_op("reduce_scatter_tensor", op)
    check_tensor("reduce_scatter_tensor", tensor)
    parts = bool(tensor.shape) and tensor.shape[0] % group_size(name) == 0
    shape = (tensor.shape[0] // group_size(name), *tensor.shape[1:]) if parts else ()
    return _begun(
        shape, tensor, name, lambda g: g.reduce_scatter(array_of(tensor), op),
        lambda: api.reduce_scatter(tensor, op, name, "reduce_scatter_tensor"), async_op and parts,
    )  # fmt: skip


def reduce(tensor: Tensor, dst: int, op: str = "sum", group: str = WORLD) -> Tensor:
    """The tensors of all ranks, reduced, for rank ``dst``; other ranks get their own."""
    return api.reduce_to(tensor, dst, op, group)


def broadcast(tensor: Tensor, src: int = 0, group: str = WORLD) -> Tensor:
    """The tensor of rank ``src``."""
    return api.broadcast(tensor, src, group)


def gather_into_tensor(tensor: Tensor, dst: int = 0, group: str = WORLD) -> Tensor:
    """The tensors of all ranks, one after the other, for rank ``dst``; other ranks get zeros of shape (1,)."""
    return api.gather_to(tensor, dst, group, "gather_into_tensor")


def scatter_tensor(tensor: Tensor, src: int = 0, group: str = WORLD) -> Tensor:
    """This rank's part, along the first axis, of the tensor of rank ``src``; all give one of that shape and dtype."""
    return api.scatter_from(tensor, src, group, "scatter_tensor")


def barrier(group: str = WORLD) -> None:
    """Waits until all ranks of the group are here."""
    run(group_of("barrier", group), lambda g: g.barrier())


def send(tensor: Tensor, dst: int = 0, group: str = WORLD, tag: int = 0) -> None:
    """A message for rank ``dst``."""
    api.send(tensor, dst, group, tag)


def recv(tensor: Tensor, src: int = 0, group: str = WORLD, tag: int = 0) -> Tensor:
    """A message of rank ``src``, of the shape and dtype of ``tensor``, which is not written."""
    return api.receive(tensor, src, group, tag)


def isend(tensor: Tensor, dst: int = 0, group: str = WORLD, tag: int = 0) -> Any:
    """Begins to send; gives the handle. The tensor may be changed at once."""
    name = group_of("isend", group)
    check_tensor("isend", tensor)
    to, x = rank_in("isend", name, dst, "dst"), array_of(tensor)
    world.group(name).send(x, to, api.check_tag("isend", tag))
    return api.FINISHED  # it is copied, and on its way


def irecv(tensor: Tensor, src: int = 0, group: str = WORLD, tag: int = 0) -> tuple[Tensor, Any]:
    """Begins to receive; gives the new tensor and the handle."""
    name = group_of("irecv", group)
    check_tensor("irecv", tensor)
    source, like = rank_in("irecv", name, src, "src"), np.empty(tuple(tensor.shape), tensor.dtype.numpy)
    api.check_tag("irecv", tag)
    here, out = world.current(), wrap(np.empty_like(like))
    known = here.group(name)
    mail = here.mail(name, source, tag)
    handle = mail.submit(lambda: known.receive(like, source, tag)[0], lambda x: write(out, wrap(x)))
    return out, handle


class P2POp:
    """One message of `batch_isend_irecv`.

    Args:
        op (Union[str, function]): ``"isend"`` or ``"irecv"``, or one of these functions.
        tensor (Union[Tensor, tuple[int]]): what is sent, or of the shape and dtype of what comes, or its shape.
        peer (int): the other rank.
        group (str): Default: all ranks.
        tag (int): Default 0.
        recv_dtype (mindspore.dtype): of what comes, if ``tensor`` is a shape. Default: None.
    """

    def __init__(
        self, op: Any, tensor: Any, peer: int, group: str | None = None, tag: int = 0, recv_dtype: Any = None
    ) -> None:
        name = op if isinstance(op, str) else getattr(op, "__name__", "")
        if name not in ("isend", "irecv"):
            raise TypeError(f"For 'P2POp', the 'op' must be isend or irecv, but got {op!r}.")
        if name == "irecv" and isinstance(tensor, tuple) and recv_dtype is not None:
            tensor = full(shape=tensor, value=0, dtype=recv_dtype)
        check_tensor("P2POp", tensor)
        self.op, self.tensor, self.peer, self.group, self.tag = name, tensor, peer, group or WORLD, tag


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> tuple[Tensor, ...]:
    """Sends and receives all messages together, so that their order does not matter; gives what came, in order. In the
    place of what was sent stands the tensor that was sent.

    Raises:
        TypeError: not a list of P2POp.
    """
    if not isinstance(p2p_op_list, list | tuple) or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise TypeError("For 'batch_isend_irecv', the 'p2p_op_list' must be a list of P2POp.")
    results: list[Any] = [None] * len(p2p_op_list)
    for k, p in enumerate(p2p_op_list):
        name = group_of("batch_isend_irecv", p.group)
        if p.op == "isend":
            x, to = array_of(p.tensor), rank_in("batch_isend_irecv", name, p.peer, "peer")
            world.group(name).send(x, to, p.tag)
            results[k] = p.tensor
    for k, p in enumerate(p2p_op_list):
        if p.op == "irecv":
            results[k] = recv(p.tensor, p.peer, p.group, p.tag)
    return tuple(results)


def all_to_all_with_output_shape(
    output_shape_list: Any, input_tensor_list: Any, group: str | None = None, async_op: bool = False
) -> tuple[tuple[Tensor, ...], Any]:
    """Tensor ``r`` of the list goes to rank ``r``; what comes has the shapes of ``output_shape_list`` (or is as the
    tensors in it). And the handle, which is done.

    Raises:
        TypeError: no lists of tensors or shapes.
        ValueError: not one per rank.
    """
    who = "all_to_all_with_output_shape"
    name = group_of(who, group)
    if not isinstance(input_tensor_list, list | tuple) or not isinstance(output_shape_list, list | tuple):
        raise TypeError(f"For '{who}', the tensors and the shapes must be lists.")
    check_tensor(who, *input_tensor_list)
    size = group_size(name)
    if len(input_tensor_list) != size or len(output_shape_list) != size:
        raise ValueError(
            f"For '{who}', there must be a tensor and a shape for each of {size} ranks, but got "
            f"{len(input_tensor_list)} and {len(output_shape_list)}."
        )
    shapes = [tuple(s.shape if isinstance(s, Tensor) else s) for s in output_shape_list]
    return tuple(api.joined_exchange(input_tensor_list, shapes, name, who)), api.FINISHED if async_op else None


def all_to_all_single_with_output_shape(
    output_shape: Any, tensor: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None,
    group: str | None = None, async_op: bool = False,
) -> tuple[Tensor, Any]:  # fmt: skip
    """Parts of ``tensor`` along the first axis go to the ranks; what comes is joined to ``output_shape``.

    Args:
        output_shape (Union[tuple, Tensor]): of the result, or a tensor of that shape.
        tensor (Tensor): what is sent.
        output_split_sizes (list[int]): rows that come from each rank. Default ``None``: equally many.
        input_split_sizes (list[int]): rows for each rank. Default ``None``: equally many.
        group (str): Default: all ranks.
        async_op (bool): whether a handle is wanted, which is done.

    Raises:
        ValueError: the sizes do not fit the shapes.
    """
    who = "all_to_all_single_with_output_shape"
    name = group_of(who, group)
    check_tensor(who, tensor)
    shape = tuple(output_shape.shape if isinstance(output_shape, Tensor) else output_shape)
    ins = rows_of(who, "input_split_sizes", input_split_sizes, tuple(tensor.shape), group_size(name))
    outs = rows_of(who, "output_split_sizes", output_split_sizes, shape, group_size(name))
    return api.exchange(tensor, ins, outs, name, who).reshape(shape), api.FINISHED if async_op else None


def all_to_all_v_c(
    output: Tensor, input: Tensor, send_count_matrix: list[int], group: str | None = None, async_op: bool = False
) -> Any:
    """Rows of ``input`` go to the ranks; what comes is written into ``output``.

    Args:
        output (Tensor): what is written.
        input (Tensor): what is sent.
        send_count_matrix (list[int]): ``[i * size + j]``: the rows that rank ``i`` sends to rank ``j``.
        group (str): Default: all ranks.
        async_op (bool): whether a handle is wanted, which is done.

    Raises:
        TypeError: no list of one number for each two ranks.
        ValueError: they do not fit the shapes.
    """
    who = "all_to_all_v_c"
    name = group_of(who, group)
    check_tensor(who, output, input)
    size, rank = group_size(name), api.group_rank(name)
    counts = send_count_matrix
    if not isinstance(counts, list) or len(counts) != size * size or not all(isinstance(n, int) for n in counts):
        raise TypeError(f"For '{who}', the 'send_count_matrix' must be a list of {size * size} ints, but got {counts}.")
    ins = rows_of(who, "send_count_matrix", counts[rank * size : (rank + 1) * size], tuple(input.shape), size)
    outs = rows_of(who, "send_count_matrix", counts[rank::size], tuple(output.shape), size)
    write(output, api.exchange(input, ins, outs, name, who).reshape(tuple(output.shape)))
    return api.FINISHED if async_op else None


def rows_of(who: str, name: str, sizes: Any, shape: tuple[int, ...], size: int) -> list[int]:
    """How many rows each rank has of a shape."""
    if sizes is None and shape and shape[0] % size == 0:
        return [shape[0] // size] * size
    found = [] if sizes is None else list(sizes)
    if not shape or len(found) != size or sum(found) != shape[0]:
        raise ValueError(
            f"For '{who}', the '{name}' must be {size} numbers whose sum is the first dimension of {shape}, but got "
            f"{sizes}."
        )
    return found
