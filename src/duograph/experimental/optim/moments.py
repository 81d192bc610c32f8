"""Adam and its relatives: optimizers with running means of the gradient and of its square."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from duograph.api import update_rules as rules
from duograph.api.functional.index import where
from duograph.nn.optim.optimizer import assign, scalar, store
from duograph.nn.settings import option, with_settings
from duograph.ops.unary import sqrt

from .kinds import Betas, Epsilon, Maximize, NotNegative, Params, Rate, Switch
from .optimizer import Optimizer, decayed


class _Moments(Optimizer):
    """Keeps ``exp_avg`` and ``exp_avg_sq``."""

    counter = "step_t"

    def _settings_taken(self, given):
        self.count_steps()
        self.exp_avg, self.exp_avg_sq = self.states("exp_avg"), self.states("exp_avg_sq")

    def before_group(self, number, group, lr, t):
        beta1, beta2 = group["betas"]
        return rules.left_of_one(beta1, t), rules.left_of_one(beta2, t)

    def means(self, group: dict[str, Any]) -> dict[str, Any]:
        """The settings that all rules of this family take."""
        beta1, beta2 = group["betas"]
        return {"beta1": beta1, "beta2": beta2, "eps": group["eps"]}


@with_settings
class Adam(_Moments):
    """Adaptive moment estimation."""

    params: Params
    lr: Rate = 1e-3
    betas: Betas = (0.9, 0.999)
    eps: Epsilon = 1e-8
    weight_decay: NotNegative = 0.0
    amsgrad: Switch = option("divide by the largest running mean so far", default=False)
    _: KW_ONLY
    maximize: Maximize = False

    counter = "state_step"

    def _settings_taken(self, given):
        self.exp_avg, self.exp_avg_sq = self.states("exp_avg"), self.states("exp_avg_sq")
        self.max_exp_avg_sq = self.states("max_exp_avg_sq")
        self.count_steps()

    def slots(self, i: int, group: dict[str, Any]) -> tuple[Any, ...]:
        """The states of parameter ``i``."""
        return self.exp_avg[i], self.exp_avg_sq[i], self.max_exp_avg_sq[i] if group["amsgrad"] else None

    def move(self, i, param, grad, group, lr, shared):
        slots = param, *self.slots(i, group)
        rate = rules.corrected(lr, *shared)
        store(slots, rules.adam(decayed(grad, param, group), *slots, rate=rate, **self.means(group)))


@with_settings
class AdamW(Adam):
    """`Adam` whose weight decay shrinks the parameters themselves."""

    weight_decay: NotNegative = 1e-2

    def move(self, i, param, grad, group, lr, shared):
        left1, left2 = shared
        states = self.slots(i, group)
        shrunk = param * (1.0 - lr * group["weight_decay"])
        settings = {"rate": lr / left1, "root": sqrt(left2), **self.means(group)}
        store((param, *states), rules.adam(grad, shrunk, *states, **settings))


@with_settings
class Adamax(_Moments):
    """`Adam` with the infinity norm."""

    params: Params
    lr: Rate = 2e-3
    betas: Betas = (0.9, 0.999)
    eps: Epsilon = 1e-8
    weight_decay: NotNegative = 0.0
    _: KW_ONLY
    maximize: Maximize = False

    def _settings_taken(self, given):
        self.count_steps()
        self.exp_avg, self.exp_inf = self.states("exp_avg"), self.states("exp_inf")

    def move(self, i, param, grad, group, lr, shared):
        slots = param, self.exp_avg[i], self.exp_inf[i]
        settings = {"rate": lr / shared[0], "eps_in_norm": True, **self.means(group)}
        store(slots, rules.adamax(decayed(grad, param, group), *slots, **settings))


@with_settings
class NAdam(_Moments):
    """`Adam` with Nesterov momentum."""

    params: Params
    lr: Rate = 2e-3
    betas: Betas = (0.9, 0.999)
    eps: Epsilon = 1e-8
    weight_decay: NotNegative = 0.0
    momentum_decay: NotNegative = 4e-3

    def _settings_taken(self, given):
        super()._settings_taken(given)
        self.mu_product = scalar("mu_product", 1.0)

    def before_group(self, number, group, lr, t):
        beta1, beta2 = group["betas"]
        decay = group["momentum_decay"]
        now = beta1 * (1.0 - 0.5 * 0.96 ** (t * decay))
        following = beta1 * (1.0 - 0.5 * 0.96 ** ((t + 1.0) * decay))
        product = self.mu_product * now if number == 0 else self.mu_product.value()
        if number == 0:
            assign(self.mu_product, product)
        rates = lr * (1.0 - now) / (1.0 - product), lr * following / (1.0 - product * following)
        return rates, rules.left_of_one(beta2, t)

    def move(self, i, param, grad, group, lr, shared):
        rates, left2 = shared
        slots = param, self.exp_avg[i], self.exp_avg_sq[i]
        settings = {"rates": rates, "left2": left2, **self.means(group)}
        store(slots, rules.nadam(decayed(grad, param, group), *slots, **settings))


@with_settings
class RAdam(_Moments):
    """`Adam` whose early steps, of uncertain variance, are not divided by the root of the mean."""

    params: Params
    lr: Rate = 1e-3
    betas: Betas = (0.9, 0.999)
    eps: Epsilon = 1e-8
    weight_decay: NotNegative = 0.0

    def before_group(self, number, group, lr, t):
        left1, left2 = super().before_group(number, group, lr, t)
        longest = 2.0 / (1.0 - group["betas"][1]) - 1.0
        length = longest - t * (1.0 - left2) * 2.0 / left2
        certain = length > 5.0
        safe = where(certain, length, 6.0)
        gain = sqrt((safe - 4.0) * (safe - 2.0) * longest / ((longest - 4.0) * (longest - 2.0) * safe))
        return {"rate": lr / left1, "root": sqrt(left2), "certain": certain, "gain": gain}

    def move(self, i, param, grad, group, lr, shared):
        slots = param, self.exp_avg[i], self.exp_avg_sq[i]
        store(slots, rules.radam(decayed(grad, param, group), *slots, **shared, **self.means(group)))
