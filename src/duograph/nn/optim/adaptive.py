"""Optimizers whose rates adapt to the history of the gradients: Adagrad, Adadelta, RMSProp, FTRL."""

from __future__ import annotations

from typing import Any

from duograph.nn import checks
from duograph.ops.arithmetic import abs_, maximum, sign
from duograph.ops.compare import greater
from duograph.ops.creation import constant_like
from duograph.ops.select import select
from duograph.ops.unary import sqrt
from duograph.tensor.tensor import Tensor

from .optimizer import Optimizer, assign


def float_at_least(value: Any, name: str, owner: str, least: float = 0.0, strict: bool = False) -> float:
    """``value`` if it is a float of at least (``strict``: above) ``least``."""
    checks.real(value, name, owner)
    if value < least or (strict and value == least):
        sign_ = ">" if strict else ">="
        raise ValueError(
            f"For '{owner}', the '{name}' must be float and must {sign_} {least}, but got '{value}' with type 'float'."
        )
    return value


class Adagrad(Optimizer):
    """``accum += g**2; p -= lr * g / sqrt(accum)``.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        accum (float): first value of the accumulators. Default ``0.1``.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``0.001``.
        update_slots (bool): whether the accumulators are updated. Default ``True``.
        loss_scale (float): Default ``1.0``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.Adagrad([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        float_at_least(accum, "accum", self.cls_name)
        self.update_slots = checks.boolean(update_slots, "update_slots", self.cls_name)
        self.accum = self.states("accum", accum)

    def move(self, i, param, grad, lr, decay, shared):
        accum = self.accum[i]
        if self.update_slots:
            accum = accum + grad * grad
            assign(self.accum[i], accum)
        assign(param, param - grad * lr / sqrt(accum))


class Adadelta(Optimizer):
    """Steps in proportion to the root mean square of earlier steps.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``1.0``.
        rho (float): Default ``0.9``.
        epsilon (float): Default ``1e-6``.
        loss_scale (float): Default ``1.0``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.Adadelta([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        checks.real(rho, "rho", self.cls_name)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"For '{self.cls_name}', the 'rho' must be in range of [0.0, 1.0], but got {rho}.")
        float_at_least(epsilon, "epsilon", self.cls_name)
        self.rho, self.epsilon = rho, epsilon
        self.accum = self.states("accum")
        self.accum_update = self.states("accum_update")

    def move(self, i, param, grad, lr, decay, shared):
        accum = self.accum[i] * self.rho + grad * grad * (1 - self.rho)
        step = sqrt(self.accum_update[i] + self.epsilon) / sqrt(accum + self.epsilon) * grad
        assign(self.accum[i], accum)
        assign(self.accum_update[i], self.accum_update[i] * self.rho + step * step * (1 - self.rho))
        assign(param, param - step * lr)


class RMSProp(Optimizer):
    """Steps divided by the root mean square of the gradients.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``0.1``.
        decay (float): Default ``0.9``.
        momentum (float): Default ``0.0``.
        epsilon (float): Default ``1e-10``.
        use_locking (bool): kept for old programs. Default ``False``.
        centered (bool): whether the variance takes the place of the mean square. Default ``False``.
        loss_scale (float): Default ``1.0``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.RMSProp([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = float_at_least(decay, "decay", self.cls_name)
        self.momentum = float_at_least(momentum, "momentum", self.cls_name)
        self.epsilon = float_at_least(epsilon, "epsilon", self.cls_name, strict=True)
        checks.boolean(use_locking, "use_locking", self.cls_name)
        self.centered = checks.boolean(centered, "centered", self.cls_name)
        if centered:
            self.mg = self.states("mean_grad")
        self.ms = self.states("mean_square", "ones")
        self.moment = self.states("moment")

    def move(self, i, param, grad, lr, decay, shared):
        square = self.ms[i] * self.decay + grad * grad * (1.0 - self.decay)
        assign(self.ms[i], square)
        spread = square
        if self.centered:
            mean = self.mg[i] * self.decay + grad * (1.0 - self.decay)
            assign(self.mg[i], mean)
            spread = square - mean * mean
        moment = self.moment[i] * self.momentum + grad * lr / sqrt(spread + self.epsilon)
        assign(self.moment[i], moment)
        assign(param, param - moment)


def shrunk(x: Tensor, by: Any) -> Tensor:
    """``x`` moved towards 0 by ``by``, 0 where it would cross."""
    size = abs_(x) - by
    return sign(x) * maximum(size, constant_like(size, 0))


class ProximalAdagrad(Optimizer):
    """Adagrad with L1 and L2 regularisation by a proximal step.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        accum (float): first value of the accumulators. Default ``0.1``.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``0.001``.
        l1 (float): Default ``0.0``.
        l2 (float): Default ``0.0``.
        use_locking (bool): kept for old programs. Default ``False``.
        loss_scale (float): Default ``1.0``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.ProximalAdagrad([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        float_at_least(accum, "accum", self.cls_name)
        self.l1 = float_at_least(l1, "l1", self.cls_name)
        self.l2 = float_at_least(l2, "l2", self.cls_name)
        checks.boolean(use_locking, "use_locking", self.cls_name)
        self.accum = self.states("accum", accum)

    def move(self, i, param, grad, lr, decay, shared):
        accum = self.accum[i] + grad * grad
        assign(self.accum[i], accum)
        rate = lr / sqrt(accum)
        moved = param - grad * rate
        if self.l1 > 0:
            moved = shrunk(moved, rate * self.l1)
        assign(param, moved / (rate * self.l2 + 1.0))


class FTRL(Optimizer):
    """Follow the regularised leader.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        initial_accum (float): first value of the accumulators. Default ``0.1``.
        learning_rate (float): Default ``0.001``.
        lr_power (float): at most 0. Default ``-0.5``.
        l1 (float): Default ``0.0``.
        l2 (float): Default ``0.0``.
        use_locking (bool): kept for old programs. Default ``False``.
        loss_scale (float): Default ``1.0``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.FTRL([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: Any = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = self.cls_name
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError(f"For '{owner}', dynamic learning rate or group learning rate is currently not supported.")
        float_at_least(initial_accum, "initial_accum", owner)
        checks.real(lr_power, "lr_power", owner)
        if lr_power > 0:
            raise ValueError(f"For '{owner}', the 'lr_power' must be float and must <= 0, but got '{lr_power}'.")
        self.l1, self.l2 = float_at_least(l1, "l1", owner), float_at_least(l2, "l2", owner)
        checks.boolean(use_locking, "use_locking", owner)
        self.lr_power = lr_power
        self.moments = self.states("moments", initial_accum)
        self.linear = self.states("linear")

    def move(self, i, param, grad, lr, decay, shared):
        old = self.moments[i]
        new = old + grad * grad
        old_power, new_power = old**-self.lr_power, new**-self.lr_power
        linear = self.linear[i] + grad - param * ((new_power - old_power) / lr)
        curvature = new_power / lr + 2 * self.l2
        far = greater(abs_(linear), constant_like(linear, self.l1))
        moved = (sign(linear) * self.l1 - linear) / curvature
        assign(self.moments[i], new)
        assign(self.linear[i], linear)
        assign(param, select(far, moved, constant_like(moved, 0)))
