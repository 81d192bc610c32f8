"""Collective operations on tensors: what every surface (`communication`, `mint.distributed`, Primitives, Cells) calls.

Each function checks what it is given in MindSpore's words, and calls the operator that does it (``ops/collective.py``).
Groups are names; ``None`` is the world. Ranks that callers name (``src``, ``dst``) are those of the world.

What is asked for asynchronously (`begun`) runs in the group's thread; in a program that is being captured, and where a
gradient tape records, it is done at its place, and the handle says so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.core.op import state
from duograph.distributed import world
from duograph.distributed.group import Group
from duograph.distributed.transport import FIRST_OWN_TAG
from duograph.ops import collective
from duograph.ops.collective import KINDS, ordered
from duograph.ops.creation import full
from duograph.ops.slices import concat, slice_axis
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor, wrap

__all__ = [
    "FINISHED", "all_gather", "all_gather_uneven", "all_reduce", "all_to_all", "array_of", "begun", "broadcast",
    "check_op", "check_tag", "check_tensor", "exchange", "gather_to", "group_of", "group_rank", "group_size",
    "is_deferrable", "joined_exchange", "rank_in", "receive", "reduce_scatter", "reduce_scatter_uneven", "reduce_to",
    "scatter_from", "send",
]  # fmt: skip


class Finished:
    """The handle of a call that is done."""

    def wait(self) -> bool:
        """Whether it is done: yes."""
        return True

    def is_completed(self) -> bool:
        """Whether it is done: yes."""
        return True


FINISHED = Finished()


def group_of(who: str, group: Any) -> str:
    """The name of a group that this rank is in; ``None`` is the world.

    Raises:
        TypeError: not a string.
        ValueError: no such group, or this rank is not in it.
    """
    if group is None:
        return world.WORLD
    if not isinstance(group, str):
        raise TypeError(
            f"For '{who}', the argument 'group' must be type of string, but got 'group' type : {type(group)}."
        )
    world.group(group)
    return group


def group_size(group: str | None = None) -> int:
    """The number of ranks of a group."""
    return world.group(group or world.WORLD).size


def group_rank(group: str | None = None) -> int:
    """The number of this rank in a group."""
    return world.group(group or world.WORLD).rank


def rank_in(who: str, group: str, rank: Any, name: str) -> int:
    """The number in the group of a rank of the world.

    Raises:
        TypeError: not an int.
        ValueError: it is not in the group.
    """
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"For '{who}', the '{name}' must be int, but got {type(rank).__name__}.")
    ranks = world.current().ranks_of(group)
    if rank not in ranks:
        raise ValueError(
            f"For '{who}', the '{name}' must be a rank of the group, one of {list(ranks)}, but got rank {rank}."
        )
    return ranks.index(rank)


def check_op(who: str, op: Any) -> str:
    """One of the reductions.

    Raises:
        TypeError: not a string.
        ValueError: another one.
    """
    if not isinstance(op, str):
        raise TypeError(f"For '{who}', the 'op' must be str, but got {type(op).__name__}.")
    if op not in KINDS:
        raise ValueError(f"For '{who}', the 'op' must be in {list(KINDS)}, but got {op!r}.")
    return op


def check_tensor(who: str, *values: Any) -> None:
    """Raises TypeError for what is not a tensor."""
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{who}', the operands must be tensors, but got {type(value).__name__}.")


# ---- operators ------------------------------------------------------------------------------------------------------


def all_reduce(x: Tensor, op: str = "sum", group: str | None = None, who: str = "all_reduce") -> Tensor:
    """The tensors of all ranks, reduced in the order of the ranks."""
    check_tensor(who, x)
    return ordered(collective.all_reduce, x, group=group_of(who, group), op=check_op(who, op))


def reduce_to(x: Tensor, dst: int, op: str = "sum", group: str | None = None, who: str = "reduce") -> Tensor:
    """As `all_reduce`, for rank ``dst``; other ranks get their own tensor."""
    check_tensor(who, x)
    name = group_of(who, group)
    return ordered(collective.reduce_to, x, group=name, op=check_op(who, op), root=rank_in(who, name, dst, "dst"))


def broadcast(x: Tensor, src: int = 0, group: str | None = None, who: str = "broadcast") -> Tensor:
    """The tensor of rank ``src``."""
    check_tensor(who, x)
    name = group_of(who, group)
    return ordered(collective.broadcast, x, group=name, root=rank_in(who, name, src, "src"))


def all_gather(x: Tensor, group: str | None = None, who: str = "all_gather") -> Tensor:
    """The tensors of all ranks, one after the other along the first axis."""
    check_tensor(who, x)
    name = group_of(who, group)
    return ordered(collective.all_gather, x, group=name, size=group_size(name))


def reduce_scatter(x: Tensor, op: str = "sum", group: str | None = None, who: str = "reduce_scatter") -> Tensor:
    """This rank's part, along the first axis, of the tensors of all ranks, reduced."""
    check_tensor(who, x)
    name = group_of(who, group)
    return ordered(collective.reduce_scatter, x, group=name, op=check_op(who, op), size=group_size(name))


def all_to_all(x: Tensor, group: str | None = None, who: str = "all_to_all") -> Tensor:
    """Part ``r`` along the first axis goes to rank ``r``; the parts that come stand in the order of the ranks."""
    check_tensor(who, x)
    name = group_of(who, group)
    return ordered(collective.all_to_all, x, group=name, size=group_size(name))


def exchange(
    x: Tensor, ins: Sequence[int], outs: Sequence[int], group: str | None = None, who: str = "all_to_all"
) -> Tensor:
    """``ins[r]`` rows go to rank ``r``, in order; ``outs[r]`` rows come from it."""
    check_tensor(who, x)
    rows = {name: tuple(int(n) for n in sizes) for name, sizes in (("ins", ins), ("outs", outs))}
    return ordered(collective.exchange, x, group=group_of(who, group), **rows)


def joined_exchange(
    parts: Sequence[Tensor], shapes: Sequence[Sequence[int]], group: str | None = None, who: str = "all_to_all"
) -> list[Tensor]:
    """Tensor ``r`` goes to rank ``r``; what comes from it has ``shapes[r]``. All are of one dtype."""
    sizes = [math.prod(shape) for shape in shapes]
    flat = concat(*[x.reshape(-1) for x in parts], axis=0)
    whole = exchange(flat, [math.prod(x.shape) for x in parts], sizes, group, who)
    ends = list(itertools.accumulate(sizes))
    return [
        slice_axis(whole, 0, end - n, end).reshape(tuple(shape))
        for n, end, shape in zip(sizes, ends, shapes, strict=True)
    ]


def all_gather_uneven(x: Tensor, rows: Sequence[int], group: str | None = None, who: str = "all_gather") -> Tensor:
    """The tensors of all ranks, of which each has ``rows[r]`` rows, one after the other."""
    check_tensor(who, x)
    name = group_of(who, group)
    mine = rows[group_rank(name)]
    if not x.shape or x.shape[0] != mine:
        raise ValueError(f"For '{who}', this rank has {mine} rows, but got shape {tuple(x.shape)}.")
    return exchange(concat(*[x] * group_size(name), axis=0), [mine] * group_size(name), rows, name, who)


def reduce_scatter_uneven(
    x: Tensor, rows: Sequence[int], op: str = "sum", group: str | None = None, who: str = "reduce_scatter"
) -> Tensor:
    """This rank's ``rows[r]`` rows of the tensors of all ranks, reduced."""
    check_tensor(who, x)
    name, op = group_of(who, group), check_op(who, op)
    size, rank = group_size(name), group_rank(name)
    if not x.shape or x.shape[0] != sum(rows):
        raise ValueError(f"For '{who}', the first dimension of {tuple(x.shape)} must be the sum of {list(rows)}.")
    widest = max(rows)
    ends = list(itertools.accumulate(rows))
    pieces = []
    for n, end in zip(rows, ends, strict=True):  # the same number of rows for each rank: those that are added are zero
        piece = slice_axis(x, 0, end - n, end)
        rest = full(shape=(widest - n, *x.shape[1:]), value=0, dtype=x.dtype)
        pieces += [piece, rest] if n < widest else [piece]
    mine = reduce_scatter(concat(*pieces, axis=0), op, name, who)
    return slice_axis(mine, 0, 0, rows[rank]) if size > 1 else mine


def gather_to(x: Tensor, dst: int, group: str | None = None, who: str = "gather") -> Tensor:
    """The tensors of all ranks, one after the other, for rank ``dst``; others get zeros of shape (1,). Where a gradient
    is recorded, or a program captured, all ranks gather them: an operator has one shape on all."""
    check_tensor(who, x)
    name = group_of(who, group)
    root = rank_in(who, name, dst, "dst")
    if not is_deferrable():
        whole = all_gather(x, name, who)
        if group_rank(name) == root:
            return whole
        nothing = slice_axis(whole.reshape(-1), 0, 0, 0)  # but all ranks go backwards through the same operators
        return full(shape=(1,), value=0, dtype=x.dtype) + nothing.sum()
    array = array_of(x)
    found = collective.run(name, lambda g: g.gather(array, root))
    return wrap(np.zeros(1, array.dtype) if found is None else np.concatenate(found))


def scatter_from(x: Tensor, src: int, group: str | None = None, who: str = "scatter") -> Tensor:
    """This rank's part, along the first axis, of the tensor of rank ``src``; all give one of that shape and dtype."""
    check_tensor(who, x)
    name = group_of(who, group)
    root, size = rank_in(who, name, src, "src"), group_size(name)
    if not x.shape or x.shape[0] % size:
        raise ValueError(
            f"For '{who}', the first dimension must be a multiple of the number of ranks, {size}, but got "
            f"shape {tuple(x.shape)}."
        )
    each = x.shape[0] // size
    if not is_deferrable():
        rank = group_rank(name)
        return slice_axis(broadcast(x, src, name, who), 0, rank * each, (rank + 1) * each)
    array = array_of(x)
    like = np.empty((each, *array.shape[1:]), array.dtype)
    return wrap(collective.run(name, lambda g: g.scatter(array if g.rank == root else None, like, root)))


def send(x: Tensor, dst: int, group: str | None = None, tag: int = 0, who: str = "send") -> Tensor:
    """A message for rank ``dst``; gives the tensor back."""
    check_tensor(who, x)
    name = group_of(who, group)
    return ordered(collective.send, x, group=name, to=rank_in(who, name, dst, "dst"), tag=check_tag(who, tag))


def receive(like: Tensor, src: int, group: str | None = None, tag: int = 0, who: str = "recv") -> Tensor:
    """A message of rank ``src``, of the shape and dtype of ``like``."""
    check_tensor(who, like)
    name = group_of(who, group)
    source = rank_in(who, name, src, "src")
    return ordered(collective.receive, like, group=name, source=source, tag=check_tag(who, tag))


def check_tag(who: str, tag: Any) -> int:
    """Raises for what MPI does not take as a tag."""
    if isinstance(tag, bool) or not isinstance(tag, int):
        raise TypeError(f"For '{who}', the 'tag' must be int, but got {type(tag).__name__}.")
    if not 0 <= tag < FIRST_OWN_TAG:
        raise ValueError(f"For '{who}', the 'tag' must be in range [0, {FIRST_OWN_TAG}), but got {tag}.")
    return tag


# ---- asynchronously -------------------------------------------------------------------------------------------------


def is_deferrable() -> bool:
    """Whether something may run later: in dynamic mode, while no gradient is recorded."""
    return state.binder is None and not state.tapes


def begun(
    target: Tensor, group: str, call: Callable[[Group], np.ndarray], now: Callable[[], Tensor], async_op: bool
) -> Any:
    """Writes into ``target`` what a collective gives: now, or when its handle is waited for.

    Args:
        target: what is written.
        group: its group.
        call: the collective, on arrays.
        now: the same as an operator.
        async_op: whether it may run later. Until then nobody may write its operands.

    Returns:
        The handle, if ``async_op``.
    """
    if not async_op or not is_deferrable():
        write(target, now())
        return FINISHED if async_op else None
    found = world.current()
    known = found.group(group)
    return found.worker.submit(lambda: call(known), lambda value: write(target, wrap(value)))


def array_of(x: Tensor) -> np.ndarray:
    """The contents of a tensor as a C-contiguous array, which nobody may change meanwhile."""
    return np.asarray(x.array(), order="C")  # `ascontiguousarray` makes scalars one-dimensional
