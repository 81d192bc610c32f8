"""Batch normalisation over all processes.

Mean and variance are those of the batches of all ranks: sums over the batch of each rank, and the number of what was
added, are reduced in the order of the ranks. Squares are of centred values, as everywhere, so there are two reductions;
gradients flow through both, as they flow through everything.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from duograph.api.collective import all_reduce, group_size
from duograph.distributed import world
from duograph.distributed.world import WORLD
from duograph.nn.kinds import Anything
from duograph.nn.settings import Fixed, absent, option, with_settings
from duograph.ops.arithmetic import add, div, mul, sub
from duograph.ops.creation import full
from duograph.ops.movement import broadcast_to, reduce_sum, reshape
from duograph.ops.slices import concat, slice_axis
from duograph.ops.unary import rsqrt

from .normalization import BatchNorm, in_dtype, move

__all__ = ["SyncBatchNorm"]


def group_of_processes(process_groups: Any) -> str:
    """The name of the group that this process is in; it is made if need be.

    Raises:
        TypeError: no list of lists of ranks.
        ValueError: a rank is in none, or in several.
    """
    if process_groups is None:
        return WORLD
    if not isinstance(process_groups, list) or not all(isinstance(g, list) for g in process_groups):
        raise TypeError(
            f"For 'SyncBatchNorm', the 'process_groups' must be a list of lists, but got {process_groups!r}."
        )
    here = world.current()
    mine = [g for g in process_groups if here.rank in g]
    if len(mine) != 1:
        raise ValueError(
            f"For 'SyncBatchNorm', each process must be in one of the 'process_groups', but rank {here.rank} is in "
            f"{len(mine)} of {process_groups}."
        )
    name = "sync_batch_norm_" + "_".join(map(str, mine[0]))
    if not here.knows(name):
        here.create_group(name, mine[0])
    return name


@with_settings
class SyncBatchNorm(BatchNorm):
    """Batch normalisation over the batches of all processes: with one process, `BatchNorm2d`.

    Examples:
        >>> print(nn.SyncBatchNorm(2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    process_groups: Anything = option(
        "lists of ranks that share statistics; ``None``: all", default=None, after="use_batch_statistics"
    )
    data_format: Fixed = absent

    ranks: ClassVar[tuple[int, ...]] = (2, 4)

    def _settings_taken(self, given):
        super()._settings_taken(given)
        self.group = group_of_processes(given["process_groups"])

    def by_batch(self, x):
        if group_size(self.group) == 1:
            return super().by_batch(x)
        out, mean, unbiased = self._normalised(in_dtype(x, self.moving_mean.dtype))
        move(self.moving_mean, mean, self.keep)
        move(self.moving_variance, unbiased, self.keep)
        return in_dtype(out, x.dtype)

    def _normalised(self, x):
        """``x`` in the dtype of the statistics, normalised; mean and unbiased variance of all processes."""
        dtype, shape = x.dtype, tuple(x.shape)
        axes, channels = (0, *range(2, len(shape))), shape[1]
        spread = (1, channels, *(1,) * (len(shape) - 2))
        own = full(shape=(1,), value=math.prod(shape) // channels, dtype=dtype)
        first = all_reduce(concat(reduce_sum(x, axis=axes, keep_dims=False), own, axis=0), "sum", self.group)
        count = slice_axis(first, 0, channels, channels + 1)
        mean = div(slice_axis(first, 0, 0, channels), broadcast_to(count, shape=(channels,)))
        centred = sub(x, broadcast_to(reshape(mean, shape=spread), shape=shape))
        squares = all_reduce(reduce_sum(mul(centred, centred), axis=axes, keep_dims=False), "sum", self.group)
        variance = div(squares, broadcast_to(count, shape=(channels,)))
        scale = rsqrt(add(variance, full(shape=(channels,), value=self.eps, dtype=dtype)))
        out = mul(centred, broadcast_to(reshape(mul(scale, in_dtype(self.gamma, dtype)), shape=spread), shape=shape))
        out = add(out, broadcast_to(reshape(in_dtype(self.beta, dtype), shape=spread), shape=shape))
        less = sub(count, full(shape=(1,), value=1, dtype=dtype))
        unbiased = mul(variance, broadcast_to(div(count, less), shape=(channels,)))
        return out, mean, unbiased
