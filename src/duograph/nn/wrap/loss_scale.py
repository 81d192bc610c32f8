"""Training steps with a scaled loss, which keeps small gradients of half types from vanishing."""

from __future__ import annotations

from typing import Any

from duograph.autodiff.grads import value_and_grad
from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.arithmetic import add, div, maximum, mul
from duograph.ops.cast import cast
from duograph.ops.compare import greater_equal
from duograph.ops.creation import constant_like
from duograph.ops.logical import logical_and, logical_not
from duograph.ops.reduce import reduce_all
from duograph.ops.select import select
from duograph.ops.unary import isfinite
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .cell_wrapper import reducer_of, scaled_loss


def all_finite(tensors: Any) -> Tensor:
    """Whether no element of any tensor is infinite or NaN, as a 0-d bool tensor."""
    result: Any = None
    for t in tensors:
        part = reduce_all(isfinite(t), axis=tuple(range(len(t.shape))), keep_dims=False)
        result = part if result is None else logical_and(result, part)
    return Tensor(True) if result is None else result


class DynamicLossScaleUpdateCell(Cell):
    """Lowers the scale after an overflow, raises it after a window without: ``construct(loss_scale, overflow)``.

    Args:
        loss_scale_value (float): first scale.
        scale_factor (int): factor of changes.
        scale_window (int): number of steps without overflow before the scale rises.

    Examples:
        >>> print(nn.DynamicLossScaleUpdateCell(1024, 2, 100).get_loss_scale())
        1024
    """

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__()
        self.scale_window = checks.positive_int(scale_window, "scale_window", self.cls_name)
        self.loss_scale_value = loss_scale_value
        self.scale_factor = float(scale_factor)
        self.cur_iter = Parameter(Tensor(1, dt.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, dt.int32), name="last_overflow_iterator_step")

    def get_loss_scale(self) -> float:
        """The first scale."""
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        return self.updated(loss_scale, overflow)

    def updated(self, loss_scale: Tensor, overflow: Tensor) -> Tensor:
        """Writes the next scale into ``loss_scale``; returns ``overflow``."""
        one = constant_like(loss_scale, 1)
        factor = constant_like(loss_scale, self.scale_factor)
        lowered = maximum(div(loss_scale, factor), one)
        last = select(overflow, self.cur_iter, self.last_overflow_iter)
        quiet = self.cur_iter - last
        rise = logical_and(greater_equal(quiet, constant_like(quiet, self.scale_window)), logical_not(overflow))
        scale = select(overflow, lowered, select(rise, mul(loss_scale, factor), loss_scale))
        write(self.last_overflow_iter, select(rise, self.cur_iter, last))
        write(self.cur_iter, add(self.cur_iter, constant_like(self.cur_iter, 1)))
        write(loss_scale, scale)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """Keeps the scale: ``construct(loss_scale, overflow)`` returns ``overflow``.

    Args:
        loss_scale_value (float): the scale.

    Examples:
        >>> print(nn.FixedLossScaleUpdateCell(1024).get_loss_scale())
        1024
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def construct(self, _, overflow):
        return overflow


class TrainOneStepWithLossScaleCell(Cell):
    """A training step with a scaled loss: ``construct(*inputs)`` returns ``(loss, overflow, scale)``.

    Weights stay as they are in a step whose gradients overflow.

    Args:
        network (Cell): returns the loss.
        optimizer (Cell): updates the weights.
        scale_sense (Union[Tensor, Cell]): the scale, or the Cell that updates it.

    Raises:
        TypeError: ``scale_sense`` is something else.
        ValueError: it is a Tensor of another shape than () or (1,).

    Examples:
        >>> network = nn.WithLossCell(nn.Dense(2, 1, weight_init="ones", has_bias=False), nn.MSELoss())
        >>> optimizer = nn.SGD(network.trainable_params(), 0.1)
        >>> step = nn.TrainOneStepWithLossScaleCell(network, optimizer, Tensor(1024.0))
        >>> print(*step(Tensor([[1.0, 2.0]]), Tensor([[0.0]])))
        9.0 False 1024.0
    """

    def __init__(self, network: Cell, optimizer: Any, scale_sense: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = self.optimizer.parameters
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            start = Tensor(float(scale_sense.get_loss_scale()), dt.float32)
        elif isinstance(scale_sense, Tensor):
            if tuple(scale_sense.shape) not in ((), (1,)):
                raise ValueError(
                    "For 'TrainOneStepWithLossScaleCell', the shape of 'scale_sense' must be (1,) or (), "
                    f"but got {tuple(scale_sense.shape)}"
                )
            start = Tensor(scale_sense, dt.float32).reshape(())
        else:
            raise TypeError(
                "For 'TrainOneStepWithLossScaleCell', the 'scale_sense' must be Cell or Tensor, "
                f"but got 'scale_sense' type: {type(scale_sense)}."
            )
        self.scale_sense = Parameter(start, name="scale_sense")
        self.grad_reducer = reducer_of(self.weights)
        self.reducer_flag = self.grad_reducer is not None
        self.value_and_grad = value_and_grad(self.forward, None, self.weights, has_aux=True)

    def forward(self, *inputs):
        """The scaled loss, whose gradient is taken, and the loss."""
        loss = self.network(*inputs)
        return scaled_loss(loss, self.scale_sense), loss

    def construct(self, *inputs):
        (_, loss), grads = self.value_and_grad(*inputs)
        if self.grad_reducer is not None:  # whether they overflow is then the same on all processes
            grads = self.grad_reducer(grads)
        grads = unscaled(grads, self.scale_sense)
        overflow = logical_not(all_finite(grads))
        scale = self.scale_sense * 1.0
        if self.loss_scaling_manager is not None:
            overflow = self.loss_scaling_manager(self.scale_sense, overflow)
        if not overflow:
            self.optimizer(grads)
        return loss, overflow, scale

    def set_sense_scale(self, sens: Tensor) -> None:
        """Sets the scale.

        Raises:
            TypeError: ``sens`` is no Tensor, or a manager owns the scale.
        """
        if not isinstance(sens, Tensor):
            raise TypeError(f"For 'TrainOneStepWithLossScaleCell', the 'sens' must be Tensor, but got {type(sens)}.")
        self.scale_sense.set_data(sens)


def unscaled(grads: Any, scale: Tensor) -> tuple[Tensor, ...]:
    """Gradients divided by the scale."""
    return tuple(mul(g, cast(div(constant_like(scale, 1), scale), dtype=g.dtype)) for g in grads)
