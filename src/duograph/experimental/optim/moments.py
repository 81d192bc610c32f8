"""Adam and its relatives: optimizers with running means of the gradient and of its square."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.nn.optim.optimizer import assign
from duograph.ops.arithmetic import abs_, maximum
from duograph.ops.compare import greater
from duograph.ops.creation import constant_like
from duograph.ops.select import select
from duograph.ops.unary import sqrt
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .optimizer import Optimizer, check_betas, decayed, left_of_one

_ARGS = """

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        lr (Union[int, float, Tensor]): the rate.
        betas (tuple[float, float]): decay of the running means. Default ``(0.9, 0.999)``.
        eps (float): Default ``1e-8``.
        weight_decay (float): the weight decay.

    Raises:
        ValueError: values out of range.

    Supported Platforms:
        ``CPU``
    """


class _Moments(Optimizer):
    """Keeps ``exp_avg`` and ``exp_avg_sq``."""

    counter = "state_step"

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(params, defaults)
        if self.counter == "step_t":
            self.count_steps()
        self.exp_avg = self.states("exp_avg")
        self.exp_avg_sq = self.states("exp_avg_sq")

    def check_group(self, group):
        check_betas(group)

    def before_group(self, number, group, lr, t):
        beta1, beta2 = group["betas"]
        return left_of_one(beta1, t), left_of_one(beta2, t)

    def means(self, i: int, grad: Tensor, group: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """The running means with this gradient, stored."""
        beta1, beta2 = group["betas"]
        m = self.exp_avg[i] * beta1 + grad * (1.0 - beta1)
        v = self.exp_avg_sq[i] * beta2 + grad * grad * (1.0 - beta2)
        assign(self.exp_avg[i], m)
        assign(self.exp_avg_sq[i], v)
        return m, v


class Adam(_Moments):
    __doc__ = "Adaptive moment estimation." + _ARGS
    decoupled = False
    """Whether weight decay shrinks the parameter itself instead of joining the gradient."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)
        self.max_exp_avg_sq = self.states("max_exp_avg_sq")
        self.count_steps()

    def move(self, i, param, grad, group, lr, shared):
        left1, left2 = shared
        value: Any = param
        if self.decoupled:
            value = param * (1.0 - lr * group["weight_decay"])
        else:
            grad = decayed(grad, param, group)
        m, v = self.means(i, grad, group)
        if group["amsgrad"]:
            v = maximum(self.max_exp_avg_sq[i], v)
            assign(self.max_exp_avg_sq[i], v)
        if self.decoupled:
            assign(param, value - m * (lr / left1) / (sqrt(v) / sqrt(left2) + group["eps"]))
        else:  # as MindSpore's kernel of Adam, which adds eps before the correction
            assign(param, value - m * (lr * sqrt(left2) / left1) / (sqrt(v) + group["eps"]))


class AdamW(Adam):
    __doc__ = "`Adam` whose weight decay shrinks the parameters themselves." + _ARGS
    decoupled = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class Adamax(Optimizer):
    __doc__ = "`Adam` with the infinity norm." + _ARGS
    counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, defaults)
        self.count_steps()
        self.exp_avg = self.states("exp_avg")
        self.exp_inf = self.states("exp_inf")

    def check_group(self, group):
        check_betas(group)

    def move(self, i, param, grad, group, lr, shared):
        beta1, beta2 = group["betas"]
        grad = decayed(grad, param, group)
        m = self.exp_avg[i] * beta1 + grad * (1.0 - beta1)
        top = maximum(self.exp_inf[i] * beta2, abs_(grad) + group["eps"])
        assign(self.exp_avg[i], m)
        assign(self.exp_inf[i], top)
        assign(param, param - m * (lr / left_of_one(beta1, shared)) / top)


class NAdam(_Moments):
    __doc__ = "`Adam` with Nesterov momentum." + _ARGS
    counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
        self.mu_product = Parameter(Tensor(1.0, dt.float32), name="mu_product")

    def check_group(self, group):
        super().check_group(group)
        if group["momentum_decay"] < 0:
            raise ValueError(f"Invalid momentum_decay value: {group['momentum_decay']}")

    def before_group(self, number, group, lr, t):
        beta1, beta2 = group["betas"]
        decay = group["momentum_decay"]
        now = beta1 * (1.0 - 0.5 * 0.96 ** (t * decay))
        following = beta1 * (1.0 - 0.5 * 0.96 ** ((t + 1.0) * decay))
        product = self.mu_product * now if number == 0 else self.mu_product.value()
        if number == 0:
            assign(self.mu_product, product)
        return now, following, product, left_of_one(beta2, t)

    def move(self, i, param, grad, group, lr, shared):
        now, following, product, left2 = shared
        grad = decayed(grad, param, group)
        m, v = self.means(i, grad, group)
        root = sqrt(v / left2) + group["eps"]
        by_grad = grad * (lr * (1.0 - now) / (1.0 - product))
        by_mean = m * (lr * following / (1.0 - product * following))
        assign(param, param - by_grad / root - by_mean / root)


class RAdam(_Moments):
    __doc__ = "`Adam` whose early steps, of uncertain variance, are not divided by the root of the mean." + _ARGS
    counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def before_group(self, number, group, lr, t):
        left1, left2 = super().before_group(number, group, lr, t)
        longest = 2.0 / (1.0 - group["betas"][1]) - 1.0
        length = longest - t * (1.0 - left2) * 2.0 / left2
        certain = greater(length, constant_like(length, 5.0))
        safe = select(certain, length, constant_like(length, 6.0))
        gain = sqrt((safe - 4.0) * (safe - 2.0) * longest / ((longest - 4.0) * (longest - 2.0) * safe))
        return left1, sqrt(left2), certain, gain

    def move(self, i, param, grad, group, lr, shared):
        left1, root_left2, certain, gain = shared
        m, v = self.means(i, decayed(grad, param, group), group)
        plain = m * (lr / left1)
        scaled = plain * gain * root_left2 / (sqrt(v) + group["eps"])
        flag = certain.broadcast_to(plain.shape)
        assign(param, param - select(flag, scaled, plain))
