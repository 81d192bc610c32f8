"""Gradients of several steps added up before they change weights, as ``mindspore.boost.grad_accumulation`` has it."""

from __future__ import annotations

from typing import Any

from duograph.api.functional.structure import HyperMap, MultitypeFuncGraph, assign, assign_add, depend, partial
from duograph.core import dtype as dt
from duograph.nn.cell import Cell
from duograph.ops.creation import zeros_like
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]

gradient_accumulation_op = MultitypeFuncGraph("gradient_accumulation_op")
"""Adds a step's share of a gradient to what has been added up, for ``HyperMap``."""
gradient_clear_op = MultitypeFuncGraph("gradient_clear_op")
"""Sets what has been added up to zero, for ``HyperMap``."""


@gradient_accumulation_op.register("Int64", "Tensor", "Tensor")
def cumulative_grad_process(accumulation_step, cumulative_grad, grad):
    """Adds ``grad / accumulation_step`` to a parameter."""
    return assign_add(cumulative_grad, grad / accumulation_step)


@gradient_clear_op.register("Tensor")
def clear_grad(cumulative_grad):
    """Sets a parameter to zero."""
    return assign(cumulative_grad, zeros_like(cumulative_grad))


class GradientAccumulation(Cell):
    """Adds up the gradients of several steps and calls the optimizer with their mean.

    Args:
        max_accumulation_step (int): number of steps between two updates.
        optimizer (Cell): the optimizer.

    Examples:
        >>> net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
        >>> accumulate = GradientAccumulation(2, nn.SGD(net.trainable_params(), learning_rate=1.0))
        >>> for _ in range(2):
        ...     _ = accumulate(Tensor(0.0), (Tensor([[0.5, 0.25]]),))
        >>> print(net.weight.asnumpy())
        [[0.5  0.75]]
    """

    def __init__(self, max_accumulation_step: int, optimizer: Any) -> None:
        super().__init__()
        self._max_accumulation_step = max_accumulation_step
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.hyper_map = HyperMap()
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step = Parameter(Tensor(0, dtype=dt.int32), name="accumulation_step")

    def construct(self, loss, grads):
        added = partial(gradient_accumulation_op, self._max_accumulation_step)
        loss = depend(loss, self.hyper_map(added, self._grad_accumulation, grads))
        self._accumulation_step += 1
        if self._accumulation_step >= self._max_accumulation_step:
            loss = depend(loss, self.optimizer(self._grad_accumulation))
            loss = depend(loss, self.hyper_map(gradient_clear_op, self._grad_accumulation))
            self._accumulation_step = 0
        return loss
