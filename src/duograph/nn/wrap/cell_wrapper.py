"""Cells that join network, loss, gradient and optimizer."""

from __future__ import annotations

from typing import Any

from duograph.autodiff.grads import GradOperation, value_and_grad
from duograph.base.notices import nothing_to_differentiate
from duograph.context.parallel import data_parallel_size, get_auto_parallel_context
from duograph.core import dtype as dt
from duograph.nn.cell import Cell
from duograph.nn.cell_settings import cast_floats
from duograph.nn.layer.basic import Identity
from duograph.ops.arithmetic import mul
from duograph.ops.creation import constant_like
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter, ParameterTuple
from duograph.tensor.tensor import Tensor

from .grad_reducer import DistributedGradReducer


class WithLossCell(Cell):
    """A network followed by its loss: ``construct(data, label)``.

    Args:
        backbone (Cell): the network.
        loss_fn (Cell): called with output and label.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> net = nn.WithLossCell(nn.ReLU(), nn.MSELoss())
        >>> print(net(Tensor([-1.0, 2.0]), Tensor([0.0, 4.0])))
        2.0
    """

    def __init__(self, backbone: Cell, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        if isinstance(backbone, Cell) and backbone.jit_config_dict:
            self._jit_config_dict = backbone.jit_config_dict
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data, label):
        out = self._backbone(data)
        return self._loss_fn(out, label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class WithGradCell(Cell):
    """Gradients of a network's loss in its weights: ``construct(*inputs)``.

    Args:
        network (Cell): the network.
        loss_fn (Cell): its loss; ``None`` if the network returns the loss. Default ``None``.
        sens (Tensor): cotangent of the loss. Default ``None``: ones.

    Examples:
        >>> gradients = nn.WithGradCell(nn.Dense(2, 1, weight_init="ones", has_bias=False), nn.MSELoss())
        >>> print(*gradients(Tensor([[1.0, 2.0]]), Tensor([[0.0]])))
        [[ 6. 12.]]
    """

    def __init__(self, network: Cell, loss_fn: Any = None, sens: Any = None) -> None:
        super().__init__(auto_prefix=False)
        self.network = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.weights = ParameterTuple(network.trainable_params())
        self.sens = sens
        self.grad = GradOperation(get_by_list=True, sens_param=sens is not None)
        self.network.set_train()

    def construct(self, *inputs):
        if self.sens is None:
            return self.grad(self.network, self.weights)(*inputs)
        return self.grad(self.network, self.weights)(*inputs, self.sens)


class ForwardValueAndGrad(Cell):
    """Value and gradients of a network.

    Args:
        network (Cell): the network.
        weights (ParameterTuple): for ``get_by_list``. Default ``None``.
        get_all (bool): gradients of all inputs. Default ``False``.
        get_by_list (bool): gradients of the weights. Default ``False``.
        sens_param (bool): whether the last input is the cotangent of the output. Default ``False``.

    Examples:
        >>> net = nn.ForwardValueAndGrad(nn.ReLU(), get_all=True)
        >>> value, (gradient,) = net(Tensor([-1.0, 2.0]))
        >>> print(value, gradient)
        [0. 2.] [0. 1.]
    """

    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise TypeError(
                f"For 'ForwardValueAndGrad', the 'network' must be Cell, Function or Method, but got {type(network)}."
            )
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'ForwardValueAndGrad', the type of '{name}' must be bool, but got {type(value)}.")
        if get_by_list and not isinstance(weights, ParameterTuple | tuple | list):
            raise TypeError(
                "For 'ForwardValueAndGrad', when 'get_by_list' is True, the 'weights' must be Parameters, "
                f"but got {type(weights)}."
            )
        self.network, self.weights = network, weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        self.grad = GradOperation(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)

    def construct(self, *inputs):
        forward = inputs[:-1] if self.sens_param else inputs
        loss = self.network(*forward)
        if self.get_by_list:
            grads = self.grad(self.network, self.weights)(*inputs)
        else:
            grads = self.grad(self.network)(*inputs)
        return loss, grads


class TrainOneStepCell(Cell):
    """One training step: loss, gradients, and the optimizer's update. ``construct(*inputs)`` returns the loss.

    A subclass that writes its own ``construct`` finds what MindSpore's has: ``network``, ``optimizer``, ``weights``,
    ``sens``, ``grad`` (``self.grad(self.network, self.weights)(*inputs, sens)``), ``grad_reducer`` (returns what it
    gets unless training is data-parallel) and ``reducer_flag``.

    Args:
        network (Cell): returns the loss.
        optimizer (Union[Cell]): updates the weights.
        sens (numbers.Number): what the loss is scaled by. Default ``None``: 1.
        return_grad (bool): whether ``(loss, gradients by name)`` is returned. Default ``False``.

    Raises:
        TypeError: ``sens`` is not a number.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> from duograph import nn
        >>> net = nn.Dense(2, 1)
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    """

    def __init__(self, network: Cell, optimizer: Any, sens: float | None = None, return_grad: bool = False) -> None:
        super().__init__(auto_prefix=False)
        if sens is not None and (isinstance(sens, bool) or not isinstance(sens, int | float)):
            raise TypeError(f"For 'TrainOneStepCell', the type of 'sens' must be number, but got {type(sens)}.")
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = self.optimizer.parameters
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        self.sens = 1.0 if sens is None else sens
        self.sense_flag = sens is not None
        self.return_grad = return_grad
        self.weights_name = [p.name for p in self.weights]
        self.parallel_mode = get_auto_parallel_context("parallel_mode")
        self.reducer_flag = data_parallel_size() > 1
        self.grad_reducer = DistributedGradReducer(self.weights) if self.reducer_flag else Identity()
        self.value_and_grad = value_and_grad(self.forward, None, self.weights, has_aux=True)

    def forward(self, *inputs):
        """The scaled loss, whose gradient is taken, and the loss."""
        loss = self.network(*inputs)
        if loss is None:
            nothing_to_differentiate(getattr(self.network, "_loss_fn", self.network))
        return scaled_loss(loss, self.sens), loss

    def construct(self, *inputs):
        (_, loss), grads = self.value_and_grad(*inputs)
        grads = self.grad_reducer(grads)
        self.optimizer(grads)
        if self.return_grad:
            return loss, dict(zip(self.weights_name, grads))
        return loss


def scaled_loss(loss: Any, factor: Any) -> Any:
    """A loss (or the first of several) times a number or tensor."""
    first = loss[0] if isinstance(loss, tuple | list) else loss
    if isinstance(factor, Tensor):
        return mul(first, cast_floats(factor, first.dtype))
    return first if factor == 1.0 else mul(first, constant_like(first, factor))


class WithEvalCell(Cell):
    """Loss, output and label of a network: ``construct(data, label)``.

    Args:
        network (Cell): the network.
        loss_fn (Cell): its loss.
        add_cast_fp32 (bool): whether output and label are cast to float32. Default ``False``.

    Examples:
        >>> net = nn.WithEvalCell(nn.ReLU(), nn.MSELoss())
        >>> loss, output, label = net(Tensor([-1.0, 2.0]), Tensor([0.0, 4.0]))
        >>> print(loss, output, label)
        2.0 [0. 2.] [0. 4.]
    """

    def __init__(self, network: Cell, loss_fn: Any, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(add_cast_fp32, bool):
            raise TypeError(
                f"For 'WithEvalCell', the 'add_cast_fp32' must be a bool, but got {type(add_cast_fp32).__name__}."
            )
        self._network, self._loss_fn, self.add_cast_fp32 = network, loss_fn, add_cast_fp32

    def construct(self, data, label):
        outputs = self._network(data)
        if self.add_cast_fp32:
            label = cast_floats(label, dt.float32)
            outputs = cast_floats(outputs, dt.float32)
        loss = self._loss_fn(outputs, label)
        return loss, outputs, label


class ParameterUpdate(Cell):
    """Replaces the value of a Parameter: ``construct(x)``.

    Args:
        param (Parameter): the Parameter.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.ParameterUpdate(weight)(Tensor([3.0, 4.0]))
        >>> print(weight.value())
        [3. 4.]
    """

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise TypeError(f"For 'ParameterUpdate', 'param' must be 'Parameter', but got {type(param)}.")
        self._param = param

    def construct(self, x):
        write(self._param, x)
        return x


class GetNextSingleOp(Cell):
    """Takes the next row of a data set: ``construct()``. It reads an iterator made by ``create_tuple_iterator``.

    Examples:
        >>> rows = ms.dataset.NumpySlicesDataset([3, 4], shuffle=False).create_tuple_iterator()
        >>> print(*nn.GetNextSingleOp([ms.int64], [[]], rows)())
        3
    """

    def __init__(self, dataset_types: Any, dataset_shapes: Any, queue_name: Any) -> None:
        super().__init__()
        self.dataset_types, self.dataset_shapes, self.queue = dataset_types, dataset_shapes, iter(queue_name)

    def construct(self):
        return next(self.queue)


class _VirtualDatasetCell(Cell):
    """A network whose inputs are what each process has read: ``construct(*inputs)`` calls it.

    Args:
        backbone (Cell): the network.
    """

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs):
        return self._backbone(*inputs)
