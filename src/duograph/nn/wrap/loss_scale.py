"""Training steps with a scaled loss, which keeps small gradients of half types from vanishing."""

from __future__ import annotations

from typing import Any

from duograph.api.functional.sparse import RowTensor
from duograph.api.functional.structure import HyperMap, MultitypeFuncGraph
from duograph.context.settings import ParallelMode
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

from .cell_wrapper import TrainOneStepCell, scaled_loss

_grad_scale = MultitypeFuncGraph("grad_scale")
"""A gradient divided by the scale: what subclasses of `TrainOneStepWithLossScaleCell` give ``self.hyper_map``."""


@_grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale, grad):
    """A gradient divided by the scale."""
    return mul(grad, cast(div(constant_like(scale, 1), scale), dtype=grad.dtype))


@_grad_scale.register("Tensor", "RowTensor")
def tensor_grad_scale_row_tensor(scale, grad):
    """Rows of a gradient divided by the scale."""
    return RowTensor(grad.indices, tensor_grad_scale(scale, grad.values), grad.dense_shape)


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


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A training step with a scaled loss: ``construct(*inputs)`` returns ``(loss, overflow, scale)``.

    Weights stay as they are in a step whose gradients overflow. A subclass that writes its own ``construct`` has what
    that of `TrainOneStepCell` has, ``scale_sense``, ``hyper_map``, and the steps below.

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
        super().__init__(network, optimizer)
        self.hyper_map = HyperMap()
        self.is_distributed = self.parallel_mode != ParallelMode.STAND_ALONE
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

    def forward(self, *inputs):
        """The scaled loss, whose gradient is taken, and the loss."""
        loss = self.network(*inputs)
        return scaled_loss(loss, self.scale_sense), loss

    def construct(self, *inputs):
        (_, loss), grads = self.value_and_grad(*inputs)
        grads = self.grad_reducer(grads)  # first: whether they overflow is then the same on all processes
        grads = tuple(tensor_grad_scale(self.scale_sense, g) for g in grads)
        overflow = self.overflows(grads)
        scale = self.scale_sense * 1.0
        if not self.process_loss_scale(overflow):
            self.optimizer(grads)
        return loss, overflow, scale

    def overflows(self, grads):
        """Whether an element of the gradients is infinite or NaN, as a 0-d bool tensor."""
        return logical_not(all_finite(grads))

    def start_overflow_check(self, pre_cond, compute_input):
        """The status for `get_overflow_status`, and ``compute_input``.

        There is nothing to start: overflow is seen in the gradients themselves, as MindSpore does it on a GPU.

        Args:
            pre_cond (Tensor): what is computed before.
            compute_input (object): an input of what is watched.

        Returns:
            tuple, ``False`` and ``compute_input``.
        """
        return False, compute_input

    def get_overflow_status(self, status, compute_output):
        """Whether an element of ``compute_output`` is infinite or NaN.

        Args:
            status (object): what `start_overflow_check` has given.
            compute_output (Union[Tensor, tuple[Tensor]]): what was watched, as a rule the gradients.

        Returns:
            Tensor, 0-d bool.
        """
        return self.overflows((compute_output,) if isinstance(compute_output, Tensor) else compute_output)

    def process_loss_scale(self, overflow):
        """Lets the manager of the scale, if there is one, update it.

        Args:
            overflow (Tensor): whether there was an overflow.

        Returns:
            Tensor, ``overflow``.
        """
        if self.loss_scaling_manager is None:
            return overflow
        return self.loss_scaling_manager(self.scale_sense, overflow)

    def set_sense_scale(self, sens: Tensor) -> None:
        """Sets the scale.

        Raises:
            TypeError: ``sens`` is not a Tensor, or a manager owns the scale.
        """
        if not isinstance(sens, Tensor):
            raise TypeError(f"For 'TrainOneStepWithLossScaleCell', the 'sens' must be Tensor, but got {type(sens)}.")
        self.scale_sense.set_data(sens)
