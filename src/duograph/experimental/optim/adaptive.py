"""Optimizers that adapt the rate of every element: Adadelta, Adagrad, RMSprop, Rprop; and averaged SGD."""

from __future__ import annotations

from typing import Any

from duograph.nn.optim.optimizer import assign
from duograph.ops.arithmetic import maximum, minimum, sign
from duograph.ops.compare import greater, less
from duograph.ops.creation import constant_like, zeros_like
from duograph.ops.select import select
from duograph.ops.unary import sqrt

from .optimizer import Optimizer, decayed, not_negative


class Adadelta(Optimizer):
    """Steps scaled by the ratio of running means of squared steps and squared gradients.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        lr (Union[int, float, Tensor]): Default ``1.0``.
        rho (float): decay of the means. Default ``0.9``.
        eps (float): Default ``1e-6``.
        weight_decay (float): Default ``0.``.
        maximize (bool): Default ``False``.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})
        self.accum = self.states("accum")
        self.accum_update = self.states("accum_update")

    def check_group(self, group):
        if not 0.0 <= group["rho"] <= 1.0:
            raise ValueError(f"Invalid rho value: {group['rho']}")
        not_negative(group["eps"], "Invalid epsilon value")
        not_negative(group["weight_decay"], "Invalid weight_decay value")

    def move(self, i, param, grad, group, lr, shared):
        rho, eps = group["rho"], group["eps"]
        grad = decayed(grad, param, group)
        square = self.accum[i] * rho + grad * grad * (1.0 - rho)
        step = sqrt(self.accum_update[i] + eps) / sqrt(square + eps) * grad
        assign(self.accum[i], square)
        assign(self.accum_update[i], self.accum_update[i] * rho + step * step * (1.0 - rho))
        assign(param, param - step * lr)


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of squared gradients.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        lr (Union[int, float, Tensor]): Default ``1e-2``.
        lr_decay (float): Default ``0.``.
        weight_decay (float): Default ``0.``.
        initial_accumulator_value (float): Default ``0.``.
        eps (float): Default ``1e-10``.
        maximize (bool): Default ``False``.
    """

    counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)
        self.accum = self.states("accum", float(initial_accumulator_value))
        self.count_steps()

    def check_group(self, group):
        not_negative(group["lr_decay"], "Invalid lr_decay value")
        not_negative(group["weight_decay"], "Invalid weight_decay value")
        not_negative(group["initial_accumulator_value"], "Invalid initial_accumulator_value value")
        not_negative(group["eps"], "Invalid epsilon value")

    def before_group(self, number, group, lr, t):
        return lr / (1.0 + (t - 1.0) * group["lr_decay"])

    def move(self, i, param, grad, group, lr, shared):
        grad = decayed(grad, param, group)
        total = self.accum[i] + grad * grad
        assign(self.accum[i], total)
        assign(param, param - grad * shared / (sqrt(total) + group["eps"]))


class RMSprop(Optimizer):
    """Steps divided by the root of the running mean of squared gradients.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        lr (Union[int, float, Tensor]): Default ``0.01``.
        alpha (float): decay of the means. Default ``0.99``.
        eps (float): Default ``1e-8``.
        weight_decay (float): Default ``0.``.
        momentum (float): Default ``0.``.
        centered (bool): use the variance instead of the square. Default ``False``.
        maximize (bool): Default ``False``.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)
        self.mean_grad = self.states("mean_grad")
        self.mean_square = self.states("mean_square")
        self.moment = self.states("moment")

    def check_group(self, group):
        for name in ("momentum", "alpha", "weight_decay"):
            not_negative(group[name], f"Invalid {name} value")
        not_negative(group["eps"], "Invalid epsilon value")

    def move(self, i, param, grad, group, lr, shared):
        alpha = group["alpha"]
        grad = decayed(grad, param, group)
        square = self.mean_square[i] * alpha + grad * grad * (1.0 - alpha)
        assign(self.mean_square[i], square)
        if group["centered"]:
            mean = self.mean_grad[i] * alpha + grad * (1.0 - alpha)
            assign(self.mean_grad[i], mean)
            square = square - mean * mean
        step = grad / (sqrt(square) + group["eps"])
        if group["momentum"] > 0:
            step = self.moment[i] * group["momentum"] + step
            assign(self.moment[i], step)
        assign(param, param - step * lr)


class Rprop(Optimizer):
    """Resilient propagation: only the sign of gradients counts.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        lr (Union[int, float, Tensor]): the first step size. Default ``1e-2``.
        etas (tuple[float, float]): factors of shrinking and growing. Default ``(0.5, 1.2)``.
        step_sizes (tuple[float, float]): the smallest and the largest step size. Default ``(1e-6, 50.)``.
        maximize (bool): Default ``False``.
    """

    counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})
        self.prev = self.states("prev")
        self.step_size = self.states("step_size")
        self.count_steps()

    def check_group(self, group):
        if not 0.0 < group["etas"][0] < 1.0 < group["etas"][1]:
            raise ValueError(f"Invalid eta values: {group['etas'][0]}, {group['etas'][1]}")

    def before_group(self, number, group, lr, t):
        return less(t, constant_like(t, 1.5))

    def move(self, i, param, grad, group, lr, shared):
        shrink, grow = group["etas"]
        least, most = group["step_sizes"]
        first = shared.broadcast_to(param.shape)
        size = select(first, zeros_like(grad) + lr, self.step_size[i].value())
        agreement = grad * self.prev[i]
        zero = zeros_like(grad)
        against = less(agreement, zero)
        factor = select(greater(agreement, zero), constant_like(grad, grow), constant_like(grad, 1.0))
        factor = select(against, constant_like(grad, shrink), factor)
        size = minimum(maximum(size * factor, constant_like(grad, least)), constant_like(grad, most))
        grad = select(against, zero, grad)
        assign(self.prev[i], grad)
        assign(self.step_size[i], size)
        assign(param, param - sign(grad) * size)


class ASGD(Optimizer):
    """Averaged stochastic gradient descent; ``ax`` holds the averages.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        lr (Union[int, float, Tensor]): Default ``1e-2``.
        lambd (float): decay. Default ``1e-4``.
        alpha (float): power of the rate's decay. Default ``0.75``.
        t0 (float): the step from which averages are taken. Default ``1e6``.
        weight_decay (float): Default ``0.``.
        maximize (bool): Default ``False``.
    """

    counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)
        self.ax = self.states("ax")
        self.count_steps()

    def check_group(self, group):
        not_negative(group["weight_decay"], "Invalid weight_decay value")

    def before_group(self, number, group, lr, t):
        lambd, alpha, t0 = group["lambd"], group["alpha"], group["t0"]
        eta = lr / (1.0 + lambd * lr * (t - 1.0)) ** alpha
        average = 1.0 / maximum(constant_like(t, 1.0), t - 1.0 - t0)
        return eta, average

    def move(self, i, param, grad, group, lr, shared):
        eta, average = shared
        grad = decayed(grad, param, group)
        new = param * (1.0 - group["lambd"] * eta) - grad * eta
        assign(param, new)
        assign(self.ax[i], self.ax[i] + (new - self.ax[i]) * average)
