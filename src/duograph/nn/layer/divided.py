"""Layers whose parameters are divided among the ranks of a group (tensor parallelism).

All ranks have the same inputs and compute the same outputs, each with its part of the parameters. What they go on to
compute is the same and counts once, so cotangents are not added up over ranks where results are shared (``shared`` of
`ops.collective.all_reduce`), and are where an input goes into different parts (`spread`).

A column-parallel layer with ``gather_output=False`` and a row-parallel one with ``input_is_parallel=True`` behind it
communicate once forwards and once backwards: the two halves of an MLP, or of attention.

Initial values are those of the undivided layer, of which each rank keeps its part: ranks must have the same seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.api.collective import group_of, group_rank, group_size
from duograph.core import dtype as dt
from duograph.distributed.world import WORLD
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops import collective
from duograph.ops.arithmetic import add, mul, sub
from duograph.ops.cast import cast
from duograph.ops.collective import ordered
from duograph.ops.compare import greater_equal, less
from duograph.ops.creation import constant_like
from duograph.ops.indexing import gather
from duograph.ops.logical import logical_and
from duograph.ops.movement import broadcast_to, move_axis, reshape
from duograph.ops.select import select
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .basic import Dense, dense
from .embedding import Embedding

__all__ = ["ColumnParallelDense", "RowParallelDense", "VocabParallelEmbedding"]


def shared_sum(x: Any, group: str) -> Any:
    """The sum over all ranks, with which they all go on to compute the same."""
    return ordered(collective.all_reduce, x, group=group, op="sum", shared=True)


def gathered(x: Any, group: str) -> Any:
    """The operands of all ranks joined along the last axis, with which they all go on to compute the same."""
    last = len(x.shape) - 1
    front = move_axis(x, last, 0)
    whole = ordered(collective.all_gather, front, group=group, size=group_size(group), shared_by=group_rank(group))
    return move_axis(whole, 0, last)


def part_of(values: Tensor, axis: int, group: str) -> Tensor:
    """This rank's part of initial values along an axis."""
    each = values.shape[axis] // group_size(group)
    at = group_rank(group) * each
    return Tensor(np.take(values.asnumpy(), range(at, at + each), axis), values.dtype)


class _Divided(Cell):
    """What divided layers share: the group, and how many parts there are."""

    def _take_group(self, group: str | None, sizes: Sequence[tuple[str, int]]) -> str:
        name = WORLD if group is None else group_of(self.cls_name, group)
        for what, n in sizes:
            checks.positive_int(n, what, self.cls_name)
            if n % group_size(name):
                raise ValueError(
                    f"For '{self.cls_name}', the '{what}' must be a multiple of the number of ranks, "
                    f"{group_size(name)}, but got {n}."
                )
        return name


class ColumnParallelDense(_Divided):
    """A `Dense` whose outputs are divided: each rank computes ``out_channels / size`` of them.

    Args:
        in_channels (int): size of the last axis of the input, which is the same on all ranks.
        out_channels (int): of the output, a multiple of the number of ranks.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): of the undivided layer. Default ``None``.
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``.
        has_bias (bool): Default ``True``.
        gather_output (bool): whether all ranks get all outputs, or each its own. Default ``True``.
        group (str): Default ``None``: all ranks.
        dtype (mindspore.dtype): Default ``float32``.

    Examples:
        >>> from duograph import parallel
        >>> print(parallel.ColumnParallelDense(2, 4)(ops.ones((3, 2))).shape)
        (3, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = None, bias_init: Any = None,
        has_bias: bool = True, gather_output: bool = True, group: str | None = None, dtype: Any = dt.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.group = self._take_group(group, [("out_channels", out_channels)])
        self.gather_output = gather_output
        whole = Dense(in_channels, out_channels, weight_init, bias_init, has_bias, dtype=dtype)
        self.weight = Parameter(part_of(whole.weight, 0, self.group), name="weight")
        self.bias = Parameter(part_of(whole.bias, 0, self.group), name="bias") if has_bias else None

    def construct(self, x):
        x = collective.spread(x, group=self.group)
        out = dense(x, self.in_use(self.weight), self.in_use(self.bias))
        return gathered(out, self.group) if self.gather_output else out


class RowParallelDense(_Divided):
    """A `Dense` whose inputs are divided: each rank multiplies its part, and the products are added up.

    Args:
        in_channels (int): size of the last axis of the undivided input, a multiple of the number of ranks.
        out_channels (int): of the output, which is the same on all ranks.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): of the undivided layer. Default ``None``.
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``.
        has_bias (bool): Default ``True``.
        input_is_parallel (bool): whether each rank is given its part of the input, or all of it. Default ``True``.
        group (str): Default ``None``: all ranks.
        dtype (mindspore.dtype): Default ``float32``.

    Examples:
        >>> from duograph import parallel
        >>> print(parallel.RowParallelDense(4, 2)(ops.ones((3, 4))).shape)
        (3, 2)
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = None, bias_init: Any = None,
        has_bias: bool = True, input_is_parallel: bool = True, group: str | None = None, dtype: Any = dt.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.group = self._take_group(group, [("in_channels", in_channels)])
        self.input_is_parallel = input_is_parallel
        self.each = in_channels // group_size(self.group)
        whole = Dense(in_channels, out_channels, weight_init, bias_init, has_bias, dtype=dtype)
        self.weight = Parameter(part_of(whole.weight, 1, self.group), name="weight")
        self.bias = Parameter(Tensor(whole.bias.asnumpy()), name="bias") if has_bias else None

    def construct(self, x):
        if not self.input_is_parallel:
            at = group_rank(self.group) * self.each
            x = collective.spread(x, group=self.group)[..., at : at + self.each]
        out = shared_sum(dense(x, self.in_use(self.weight), None), self.group)
        if self.bias is None:
            return out
        return add(out, broadcast_to(self.in_use(self.bias), shape=tuple(out.shape)))


class VocabParallelEmbedding(_Divided):
    """An `Embedding` whose rows are divided: each rank looks up the indices that are among its rows.

    Args:
        vocab_size (int): rows of the table, a multiple of the number of ranks.
        embedding_size (int): extent of each vector.
        embedding_table (Union[Tensor, str, Initializer, numbers.Number]): of the undivided layer. Default ``"normal"``.
        group (str): Default ``None``: all ranks.
        dtype (mindspore.dtype): Default ``float32``.

    Examples:
        >>> from duograph import parallel
        >>> print(parallel.VocabParallelEmbedding(10, 3)(Tensor([1, 4])).shape)
        (2, 3)
    """

    def __init__(
        self, vocab_size: int, embedding_size: int, embedding_table: Any = "normal", group: str | None = None,
        dtype: Any = dt.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.group = self._take_group(group, [("vocab_size", vocab_size)])
        self.vocab_size = vocab_size
        self.rows = vocab_size // group_size(self.group)
        whole = Embedding(vocab_size, embedding_size, embedding_table=embedding_table, dtype=dtype)
        self.embedding_table = Parameter(part_of(whole.embedding_table, 0, self.group), name="embedding_table")

    def construct(self, ids):
        local = sub(ids, constant_like(ids, group_rank(self.group) * self.rows))
        is_here = logical_and(
            greater_equal(local, constant_like(local, 0)), less(local, constant_like(local, self.rows))
        )
        table = self.in_use(self.embedding_table)
        found = gather(table, select(is_here, local, constant_like(local, 0)), axis=0)
        mask = broadcast_to(reshape(cast(is_here, dtype=table.dtype), shape=(*ids.shape, 1)), shape=tuple(found.shape))
        return shared_sum(mul(found, mask), self.group)
