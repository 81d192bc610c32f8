"""A pipeline of Cells over ranks: each rank has a stage of the network, and batches go through in pieces.

Every rank computes its stage for all micro-batches, one after the other, and sends what comes out to the next; then
cotangents come back in the opposite direction, in the same order of micro-batches (GPipe's schedule). Gradients of the
pieces are added up in that order: what one process computes that goes through the pieces one by one, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.autodiff.transforms import vjp
from duograph.core import dtype as dt
from duograph.distributed import world
from duograph.distributed.world import WORLD
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.arithmetic import add, div
from duograph.ops.collective import receive_array, run
from duograph.ops.creation import constant_like
from duograph.ops.slices import slice_axis
from duograph.tensor.parameter import ParameterTuple
from duograph.tensor.tensor import Tensor, wrap

__all__ = ["Pipeline"]

FORWARD, BACKWARD = 1, 2
"""Tags of messages."""


class Pipeline:
    """A network in stages, one per rank of a group.

    Args:
        stages (list[Cell]): one per rank, in order; each takes what the one before gives. A rank trains its own only.
        loss_fn (Cell): called with what the last stage gives and the labels; a mean over the batch.
        micro_size (int): pieces of a batch. Default ``1``.
        group (str): Default ``None``: all ranks.

    Attributes:
        stage: that of this rank.
        weights: its trainable Parameters.

    Raises:
        ValueError: not one stage per rank.

    Examples:
        >>> from duograph import parallel
        >>> pipe = parallel.Pipeline([nn.Dense(2, 1, "ones", "zeros")], nn.MSELoss(), micro_size=2)
        >>> loss, gradients = pipe.gradients(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[3.0], [5.0]]))
        >>> print(loss, gradients[0])
        2.0 [[6. 8.]]
    """

    def __init__(self, stages: Sequence[Cell], loss_fn: Any, micro_size: int = 1, group: str | None = None) -> None:
        self.group = group or WORLD
        known = world.group(self.group)
        if len(stages) != known.size:
            raise ValueError(f"For 'Pipeline', there must be one stage per rank, {known.size}, but got {len(stages)}.")
        self.micro_size = checks.positive_int(micro_size, "micro_size", "Pipeline")
        self.rank, self.size = known.rank, known.size
        self.stage, self.loss_fn = stages[self.rank], loss_fn
        self.weights = ParameterTuple(self.stage.trainable_params())

    def _pieces(self, batch: Tensor) -> list[Tensor]:
        rows = batch.shape[0]
        if rows % self.micro_size:
            raise ValueError(
                f"For 'Pipeline', the batch must be a multiple of the 'micro_size' {self.micro_size}, but got {rows} "
                "rows."
            )
        each = rows // self.micro_size
        return [slice_axis(batch, 0, i * each, (i + 1) * each) for i in range(self.micro_size)]

    def _send(self, value: Tensor, to: int, tag: int) -> None:
        array = np.ascontiguousarray(value.asnumpy())
        world.group(self.group).send(array, to, tag)

    def _receive(self, source: int, tag: int) -> Tensor:
        return wrap(receive_array(None, self.group, source, tag))

    def __call__(self, inputs: Tensor) -> Tensor | None:
        """What the whole network gives for a batch: on the last rank; ``None`` on others."""
        value = inputs if self.rank == 0 else self._receive(self.rank - 1, FORWARD)
        out = self.stage(value)
        if self.rank == self.size - 1:
            return out
        self._send(out, self.rank + 1, FORWARD)
        return None

    def gradients(self, inputs: Tensor, labels: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """One step through the pipeline; all ranks call this with the same batch.

        Args:
            inputs (Tensor): the batch, which the first stage takes.
            labels (Tensor): which the loss takes.

        Returns:
            The loss, on all ranks, and the gradients of this rank's ``weights``.
        """
        is_last = self.rank == self.size - 1
        pulls: list[Any] = []
        losses: list[Tensor] = []
        for x, y in zip(self._pieces(inputs), self._pieces(labels), strict=True):
            value = x if self.rank == 0 else self._receive(self.rank - 1, FORWARD)
            # An input of indices has no gradient: it is not an operand of the recorded function.
            given = (value,) if value.dtype.is_floating else ()
            out, pull = vjp(self._computed(value, y if is_last else None), *given, weights=self.weights)
            if is_last:
                losses.append(out)
            else:
                self._send(out, self.rank + 1, FORWARD)
            pulls.append(pull)
        total: list[Tensor] | None = None
        for pull in pulls:
            if is_last:
                cotangent = constant_like(losses[0], 1.0 / self.micro_size)
            else:
                cotangent = self._receive(self.rank + 1, BACKWARD)
            back, parts = pull(cotangent)
            if self.rank:
                self._send(back[0], self.rank - 1, BACKWARD)
            total = list(parts) if total is None else [add(a, b) for a, b in zip(total, parts, strict=True)]
        return self._loss(losses), tuple(total or ())

    def _computed(self, value: Tensor, labels: Tensor | None) -> Any:
        """What this rank computes for a piece, as a function of its input, or of nothing."""

        def compute(*given: Tensor) -> Tensor:
            out = self.stage(given[0] if given else value)
            return out if labels is None else self.loss_fn(out, labels)

        return compute

    def _loss(self, losses: list[Tensor]) -> Tensor:
        """The mean of the losses of the pieces, which the last rank has, on all ranks."""
        mean = Tensor(0.0, dt.float32)
        if losses:
            for loss in losses[1:]:
                losses[0] = add(losses[0], loss)
            mean = div(losses[0], constant_like(losses[0], self.micro_size))
        last = self.size - 1
        return Tensor(run(self.group, lambda g: g.broadcast_object(mean.asnumpy(), last)))
