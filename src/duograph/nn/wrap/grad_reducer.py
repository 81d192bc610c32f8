"""`DistributedGradReducer`: gradients of all processes, reduced.

Gradients of one dtype are laid end to end in buckets, beginning with the last parameters, whose gradients are known
first; each bucket is one `all_reduce`. A sum over ranks is a sum of each element, in the order of the ranks: so neither
the size of the buckets nor what else lies in one changes a bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from duograph.api.collective import all_reduce, broadcast, group_size
from duograph.context.parallel import bucket_bytes, get_auto_parallel_context
from duograph.distributed import world
from duograph.distributed.world import WORLD
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.arithmetic import mul
from duograph.ops.creation import constant_like
from duograph.ops.movement import reshape
from duograph.ops.slices import concat, slice_axis
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

__all__ = ["DistributedGradReducer", "broadcast_parameters", "buckets_of"]


def buckets_of(tensors: Sequence[Any], nbytes: int) -> list[list[int]]:
    """The numbers of the tensors that travel together: of one dtype, at most ``nbytes`` (or one), from the last on."""
    found: list[list[int]] = []
    filled: dict[Any, tuple[list[int], int]] = {}
    for i in reversed(range(len(tensors))):
        dtype = tensors[i].dtype
        size = math.prod(tensors[i].shape) * dtype.itemsize
        bucket, used = filled.get(dtype, (None, 0))
        if bucket is None or used + size > nbytes:
            bucket, used = [], 0
            found.append(bucket)
        bucket.append(i)
        filled[dtype] = bucket, used + size
    return found


def joined(tensors: Sequence[Any]) -> Any:
    """Tensors laid end to end."""
    flat = [reshape(t, shape=(math.prod(t.shape),)) for t in tensors]
    return flat[0] if len(flat) == 1 else concat(*flat, axis=0)


def taken_apart(whole: Any, like: Sequence[Any]) -> list[Any]:
    """What `joined` has laid end to end."""
    found, at = [], 0
    for t in like:
        n = math.prod(t.shape)
        piece = whole if len(like) == 1 else slice_axis(whole, 0, at, at + n)
        found.append(reshape(piece, shape=tuple(t.shape)))
        at += n
    return found


def broadcast_parameters(parameters: Sequence[Any], group: str = WORLD, root: int = 0) -> None:
    """Gives all processes of a group the values that the parameters have on one, its first."""
    if group_size(group) == 1:
        return
    from_rank = world.current().ranks_of(group)[root]
    own = list(parameters)
    for bucket in buckets_of(own, bucket_bytes()):
        some = [own[i] for i in bucket]
        for parameter, value in zip(some, taken_apart(broadcast(joined(some), from_rank, group), some), strict=True):
            write(parameter, value)


class DistributedGradReducer(Cell):
    """Reduces gradients over all processes: ``construct(grads)`` returns a tuple.

    When it is made, parameters get the values that they have on the first process of the group.

    Args:
        parameters (list): the parameters, in the order of their gradients.
        mean (bool): whether sums are divided by ``degree``. Default ``None``: ``gradients_mean`` of the context.
        degree (int): Default ``None``: the number of processes.
        fusion_type (int): kept for old programs. Default ``1``.
        group (str): Default: all processes.

    Raises:
        ValueError: ``degree`` is not positive.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> net = nn.Dense(2, 1)
        >>> reducer = nn.DistributedGradReducer(net.trainable_params(), mean=True)
        >>> print(reducer((Tensor([[1.0, 2.0]]), Tensor([3.0])))[0])
        [[1. 2.]]
    """

    def __init__(
        self, parameters: Any, mean: Any = None, degree: Any = None, fusion_type: int = 1, group: str = WORLD
    ) -> None:
        super().__init__(auto_prefix=False)
        self.mean = get_auto_parallel_context("gradients_mean") if mean is None else mean
        checks.boolean(self.mean, "mean", self.cls_name)
        self.group, self.size = group, group_size(group)
        self.degree = self.size if degree is None else checks.positive_int(degree, "degree", self.cls_name)
        self.bucket_bytes = bucket_bytes()
        broadcast_parameters([p for p in parameters if isinstance(p, Tensor)], group)

    def construct(self, grads):
        return self.reduced(grads)

    def reduced(self, grads: Any) -> tuple[Any, ...]:
        """The gradients of all processes, reduced."""
        grads = tuple(grads)
        if self.size == 1:
            return grads
        results: list[Any] = [None] * len(grads)
        for bucket in buckets_of(grads, self.bucket_bytes):
            some = [grads[i] for i in bucket]
            whole = all_reduce(joined(some), "sum", self.group)
            if self.mean and self.degree != 1:
                whole = mul(whole, constant_like(whole, 1.0 / self.degree))
            for i, piece in zip(bucket, taken_apart(whole, some), strict=True):
                results[i] = piece
        return tuple(results)
