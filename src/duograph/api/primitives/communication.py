"""Primitive classes of collective operators, under MindSpore's names.

Each calls the function of `api.collective` that does it: inside of compiled programs an operator of the graph.
"""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.distributed.world import WORLD
from duograph.tensor.tensor import Tensor

from .. import collective as api
from ..functional.creation import zeros
from .base import REQUIRED, Table

CLASSES = Table()

_REDUCTION = {"op": "sum", "group": WORLD}


def _checked_group(p: Any) -> None:
    if not isinstance(p.group, str):
        raise TypeError(f"For '{p.name}', the 'group' must be str, but got {type(p.group).__name__}.")


def _checked_reduction(p: Any) -> None:
    _checked_group(p)
    api.check_op(p.name, p.op)


def _all_reduce(p: Any, input_x: Tensor) -> Tensor:
    """The tensors of all ranks, reduced in the order of the ranks.

    Args:
        op (str): ``ReduceOp.SUM``, ``PROD``, ``MAX`` or ``MIN``. Default: sum.
        group (str): Default: all ranks.
    """
    return api.all_reduce(input_x, p.op, p.group, p.name)


def _reduce(p: Any, input_x: Tensor) -> Tensor:
    """The tensors of all ranks, reduced, for rank ``dest_rank``; other ranks get their own."""
    return api.reduce_to(input_x, p.dest_rank, p.op, p.group, p.name)


def _all_gather(p: Any, input_x: Tensor) -> Tensor:
    """The tensors of all ranks, one after the other along the first axis."""
    return api.all_gather(input_x, p.group, p.name)


def _reduce_scatter(p: Any, input_x: Tensor) -> Tensor:
    """This rank's part, along the first axis, of the tensors of all ranks, reduced."""
    return api.reduce_scatter(input_x, p.op, p.group, p.name)


def _broadcast(p: Any, input_x: Any) -> Any:
    """The tensors of rank ``root_rank``: a tuple, as it is given."""
    single = isinstance(input_x, Tensor)
    found = tuple(api.broadcast(x, p.root_rank, p.group, p.name) for x in ((input_x,) if single else input_x))
    return found[0] if single else found


def _all_to_all(p: Any, input_x: Tensor) -> Tensor:
    """Cuts along ``split_dim``, deals the parts to the ranks, and joins what comes along ``concat_dim``."""
    api.check_tensor(p.name, input_x)
    size, rank = api.group_size(p.group), len(input_x.shape)
    if p.split_count != size:
        raise ValueError(f"For '{p.name}', the 'split_count' must be the number of ranks, {size}, got {p.split_count}.")
    split, concat = p.split_dim % rank, p.concat_dim % rank
    n = input_x.shape[split]
    if n % size:
        raise ValueError(
            f"For '{p.name}', the dimension {split} of {tuple(input_x.shape)} must be a multiple of {size}."
        )
    shape = tuple(input_x.shape)
    apart = input_x.reshape(*shape[:split], size, n // size, *shape[split + 1 :])
    front = (split, *(k for k in range(rank + 1) if k != split))
    dealt = api.all_to_all(apart.transpose(front), p.group, p.name)  # (rank it came from, *shape of a part)
    order = [k + 1 for k in range(rank)]
    order.insert(concat, 0)
    joined = dealt.transpose(tuple(order))
    part = [n // size if k == split else m for k, m in enumerate(shape)]
    part[concat] *= size
    return joined.reshape(tuple(part))


def _send(p: Any, input_data: Tensor) -> Tensor:
    """A message for rank ``dest_rank``; gives the tensor back."""
    return api.send(input_data, p.dest_rank, p.group, p.sr_tag, p.name)


def _receive(p: Any, input_x: Any = None) -> Tensor:
    """A message of rank ``src_rank``, of the shape and dtype that the constructor was given."""
    return api.receive(zeros(tuple(p.shape), p.dtype), p.src_rank, p.group, p.sr_tag, p.name)


def _barrier(p: Any) -> None:
    """Waits until all ranks of the group are here."""
    api.all_reduce(zeros((1,), dt.float32), "sum", p.group, p.name)


def _gather(p: Any, input_x: Tensor) -> Tensor:
    """The tensors of all ranks, one after the other, for rank ``dest_rank``; other ranks get zeros of shape (1,)."""
    return api.gather_to(input_x, p.dest_rank, p.group, p.name)


def _scatter(p: Any, input_x: Tensor) -> Tensor:
    """This rank's part, along the first axis, of the tensor of rank ``src_rank``; all give one of its shape."""
    return api.scatter_from(input_x, p.src_rank, p.group, p.name)


def _neighbor_exchange(p: Any, inputs: Any) -> Any:
    """Sends tensor ``k`` to rank ``send_rank_ids[k]``; gives what comes from ``recv_rank_ids``, in that order."""
    shapes = [list(x.shape) for x in inputs]
    if shapes != [list(shape) for shape in p.send_shapes]:
        raise ValueError(f"For '{p.name}', the inputs must have the 'send_shapes' {p.send_shapes}, but got {shapes}.")
    for x, to in zip(inputs, p.send_rank_ids, strict=True):
        api.send(x, to, p.group, 0, p.name)
    return tuple(
        api.receive(zeros(tuple(shape), p.recv_type), source, p.group, 0, p.name)
        for shape, source in zip(p.recv_shapes, p.recv_rank_ids, strict=True)
    )


def _sizes(p: Any, name: str, sizes: Any, count: int) -> list[int]:
    """Numbers of elements, one per rank."""
    found = [int(n) * getattr(p, "block_size", 1) for n in (sizes.tolist() if isinstance(sizes, Tensor) else sizes)]
    if len(found) != count or min(found) < 0:
        raise ValueError(f"For '{p.name}', the '{name}' must be {count} numbers, 0 or more, but got {sizes}.")
    return found


def _all_to_all_v(p: Any, input_x: Tensor, send_numel_list: Any, recv_numel_list: Any) -> Tensor:
    """``send_numel_list[r] * block_size`` elements go to rank ``r``; what ``recv_numel_list`` says comes from it."""
    size = api.group_size(p.group)
    ins, outs = (
        _sizes(p, "send_numel_list", send_numel_list, size),
        _sizes(p, "recv_numel_list", recv_numel_list, size),
    )
    return api.exchange(input_x, ins, outs, p.group, p.name)


def _all_to_all_v_c(p: Any, input_x: Tensor, send_count_matrix: Any) -> Tensor:
    """``send_count_matrix[i * size + j] * block_size`` elements go from rank ``i`` to rank ``j``."""
    size, rank = api.group_size(p.group), api.group_rank(p.group)
    flat = send_count_matrix.reshape(-1) if isinstance(send_count_matrix, Tensor) else send_count_matrix
    counts = _sizes(p, "send_count_matrix", flat, size * size)
    rows, columns = counts[rank * size : (rank + 1) * size], counts[rank::size]
    return api.exchange(input_x, *((columns, rows) if p.transpose else (rows, columns)), p.group, p.name)


def _all_gather_v(p: Any, input_x: Tensor, output_split_sizes: Any) -> Tensor:
    """The elements of all ranks, of which each has as many as ``output_split_sizes`` says, one after the other."""
    return api.all_gather_uneven(
        input_x, _sizes(p, "output_split_sizes", output_split_sizes, api.group_size(p.group)), p.group, p.name
    )


def _reduce_scatter_v(p: Any, input_x: Tensor, input_split_sizes: Any) -> Tensor:
    """This rank's elements, as many as ``input_split_sizes`` says, of the tensors of all ranks, reduced."""
    return api.reduce_scatter_uneven(
        input_x, _sizes(p, "input_split_sizes", input_split_sizes, api.group_size(p.group)), p.op, p.group, p.name
    )


CLASSES.row("AllGatherV", _all_gather_v, {"group": WORLD}, check=_checked_group)
CLASSES.row("ReduceScatterV", _reduce_scatter_v, _REDUCTION, check=_checked_reduction)
CLASSES.row("AlltoAllV", _all_to_all_v, {"group": WORLD, "block_size": 1}, check=_checked_group)
CLASSES.row("AlltoAllVC", _all_to_all_v_c, {"group": WORLD, "block_size": 1, "transpose": False}, check=_checked_group)
CLASSES.row("AllReduce", _all_reduce, _REDUCTION, check=_checked_reduction)
CLASSES.row("Reduce", _reduce, {"dest_rank": REQUIRED, **_REDUCTION}, check=_checked_reduction)
CLASSES.row("AllGather", _all_gather, {"group": WORLD}, check=_checked_group)
CLASSES.row("ReduceScatter", _reduce_scatter, _REDUCTION, check=_checked_reduction)
CLASSES.row("Broadcast", _broadcast, {"root_rank": REQUIRED, "group": WORLD}, check=_checked_group)
CLASSES.row(
    "AlltoAll", _all_to_all,
    {"split_count": REQUIRED, "split_dim": REQUIRED, "concat_dim": REQUIRED, "group": WORLD}, check=_checked_group,
)  # fmt: skip
CLASSES.row(
    "Send", _send, {"sr_tag": REQUIRED, "dest_rank": REQUIRED, "group": WORLD, "group_back": WORLD},
    only={"group_back": (WORLD,)}, check=_checked_group,
)  # fmt: skip
CLASSES.row(
    "Receive", _receive,
    {"sr_tag": REQUIRED, "src_rank": REQUIRED, "shape": REQUIRED, "dtype": REQUIRED, "group": WORLD,
     "group_back": WORLD},
    only={"group_back": (WORLD,)}, check=_checked_group,
)  # fmt: skip
CLASSES.row("Barrier", _barrier, {"group": WORLD}, check=_checked_group)
CLASSES.row("CollectiveGather", _gather, {"dest_rank": REQUIRED, "group": WORLD}, check=_checked_group)
CLASSES.row("CollectiveScatter", _scatter, {"src_rank": 0, "group": WORLD}, check=_checked_group)
CLASSES.row(
    "NeighborExchange", _neighbor_exchange,
    {"send_rank_ids": REQUIRED, "recv_rank_ids": REQUIRED, "recv_shapes": REQUIRED, "send_shapes": REQUIRED,
     "recv_type": REQUIRED, "group": WORLD},
    check=_checked_group,
)  # fmt: skip
