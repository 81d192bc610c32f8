"""SGD and Momentum."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.ops.arithmetic import mul
from duograph.ops.compare import greater
from duograph.ops.creation import constant_like, zeros_like
from duograph.ops.select import select
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .optimizer import Optimizer, assign


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``0.1``.
        momentum (float): Default ``0.0``.
        dampening (float): Default ``0.0``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.
        nesterov (bool): Default ``False``.
        loss_scale (float): Default ``1.0``.

    Raises:
        TypeError: wrong types.
        ValueError: values out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> from duograph import nn
        >>> net = nn.Dense(2, 1)
        >>> optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = self.cls_name
        momentum, dampening = _float(momentum, "momentum", owner), _float(dampening, "dampening", owner)
        if momentum < 0.0:
            raise ValueError(f"For '{owner}', the argument 'momentum' must be at least 0.0, but got {momentum}.")
        if dampening < 0.0:
            raise ValueError(
                f"For '{owner}', the argument 'dampening' must be at least 0.0, but got 'dampening' {dampening}"
            )
        if not isinstance(nesterov, bool):
            raise TypeError(
                f"For '{owner}', the type of 'nesterov' should be 'bool', but got type '{type(nesterov).__name__}'."
            )
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise ValueError(
                f"For '{owner}', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal to 0.0, "
                f"but got 'momentum' {momentum}, 'dampening' {dampening}."
            )
        self.dampening, self.nesterov, self.has_momentum = dampening, nesterov, momentum > 0.0
        self.momentum = Parameter(Tensor(momentum, dt.float32), name="momentum")
        self.accum = self.states("accum")
        # ``stat`` says where nothing was accumulated yet. Without dampening the first step is like all others, because
        # the accumulation begins with 0: then it is 0 from the start, as after MindSpore's first step, and stays.
        self.stat = self.states("stat", "ones" if self.dampening else "zeros")

    def move(self, i, param, grad, lr, decay, shared):
        step = grad
        if self.has_momentum:
            accum, first = self.accum[i], self.stat[i]
            accumulated = accum * self.momentum + grad * (1.0 - self.dampening)
            if self.dampening:
                accumulated = select(greater(first, constant_like(first, 0)), grad, accumulated)
                assign(first, zeros_like(first))
            assign(accum, accumulated, mine=True)
            step = grad + accumulated * self.momentum if self.nesterov else accumulated
        assign(param, param - step * lr)


class Momentum(Optimizer):
    """Gradient descent with momentum: ``v = momentum * v + g; p = p - lr * v``.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): the rate.
        momentum (float): the momentum.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.
        loss_scale (float): Default ``1.0``.
        use_nesterov (bool): Default ``False``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.Momentum([weight], 0.1, 0.9)
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = self.cls_name
        momentum = _float(momentum, "momentum", owner)
        if momentum < 0.0:
            raise ValueError(f"For '{owner}', the argument 'momentum' must be at least 0.0, but got {momentum}")
        self.use_nesterov = checks.boolean(use_nesterov, "use_nesterov", owner)
        self.momentum = Parameter(Tensor(momentum, dt.float32), name="momentum")
        self.moments = self.states("moments")

    def move(self, i, param, grad, lr, decay, shared):
        moment = self.moments[i] * self.momentum + grad
        assign(self.moments[i], moment, mine=True)
        step = mul(grad, lr) + moment * self.momentum * lr if self.use_nesterov else moment * lr
        assign(param, param - step)


def _float(value: Any, name: str, owner: str) -> float:
    if isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, float):
        raise TypeError(
            f"For '{owner}', the type of '{name}' should be 'float', but got type '{type(value).__name__}'."
        )
    return value
