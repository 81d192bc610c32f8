"""Collective operations on tensors: what every surface (`communication`, `mint.distributed`, Primitives, Cells) calls.

Each function checks what it is given in MindSpore's words, and calls the operator that does it (``ops/collective.py``).
Groups are names; ``None`` is the world. Ranks that callers name (``src``, ``dst``) are those of the world.

What is asked for asynchronously (`begun`) runs in the group's thread; in a program that is being captured, and where a
gradient tape records, it is done at its place, and the handle says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core.op import state
from duograph.distributed import world
from duograph.distributed.group import Group
from duograph.distributed.transport import FIRST_OWN_TAG
from duograph.ops import collective
from duograph.ops.collective import KINDS, ordered
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor, wrap

__all__ = [
    "FINISHED", "all_gather", "all_reduce", "all_to_all", "array_of", "begun", "broadcast", "check_op", "check_tag",
    "check_tensor", "group_of", "group_rank", "group_size", "is_deferrable", "rank_in", "receive", "reduce_scatter",
    "reduce_to", "send",
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
    """Raises TypeError for what is no tensor."""
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
    return np.ascontiguousarray(x.array())
