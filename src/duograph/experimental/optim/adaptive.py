"""Optimizers that adapt the rate of every element: Adadelta, Adagrad, RMSprop, Rprop; and averaged SGD."""

from __future__ import annotations

from dataclasses import KW_ONLY

from duograph.api import update_rules as rules
from duograph.nn.optim.optimizer import store
from duograph.nn.settings import option, with_settings

from .kinds import Epsilon, Etas, Maximize, NotNegative, Number, Params, Rate, Rho, Sizes, Switch
from .optimizer import Optimizer, decayed


@with_settings
class Adadelta(Optimizer):
    """Steps scaled by the ratio of running means of squared steps and squared gradients."""

    params: Params
    lr: Rate = 1.0
    rho: Rho = option("decay of the means", default=0.9)
    eps: Epsilon = 1e-6
    weight_decay: NotNegative = 0.0
    _: KW_ONLY
    maximize: Maximize = False

    def _settings_taken(self, given):
        self.accum, self.accum_update = self.states("accum"), self.states("accum_update")

    def move(self, i, param, grad, group, lr, shared):
        slots = param, self.accum[i], self.accum_update[i]
        store(slots, rules.adadelta(decayed(grad, param, group), *slots, lr=lr, rho=group["rho"], eps=group["eps"]))


@with_settings
class Adagrad(Optimizer):
    """Steps divided by the root of the sum of squared gradients."""

    params: Params
    lr: Rate = 1e-2
    lr_decay: NotNegative = 0.0
    weight_decay: NotNegative = 0.0
    initial_accumulator_value: NotNegative = 0.0
    eps: Epsilon = 1e-10
    _: KW_ONLY
    maximize: Maximize = False

    counter = "step_t"

    def _settings_taken(self, given):
        self.accum = self.states("accum", float(given["initial_accumulator_value"]))
        self.count_steps()

    def before_group(self, number, group, lr, t):
        return lr / (1.0 + (t - 1.0) * group["lr_decay"])

    def move(self, i, param, grad, group, lr, shared):
        slots = param, self.accum[i]
        store(slots, rules.adagrad(decayed(grad, param, group), *slots, lr=shared, eps=group["eps"]))


@with_settings
class RMSprop(Optimizer):
    """Steps divided by the root of the running mean of squared gradients."""

    params: Params
    lr: Rate = 1e-2
    alpha: NotNegative = option("decay of the means", default=0.99)
    eps: Epsilon = 1e-8
    weight_decay: NotNegative = 0.0
    momentum: NotNegative = 0.0
    centered: Switch = option("use the variance instead of the square", default=False)
    maximize: Maximize = False

    def _settings_taken(self, given):
        self.mean_grad, self.mean_square = self.states("mean_grad"), self.states("mean_square")
        self.moment = self.states("moment")

    def move(self, i, param, grad, group, lr, shared):
        slots = param, self.mean_square[i], self.moment[i], self.mean_grad[i] if group["centered"] else None
        settings = {"keep": group["alpha"], "mu": group["momentum"], "eps": group["eps"], "rate_last": True}
        store(slots, rules.rmsprop(decayed(grad, param, group), *slots, lr=lr, **settings))


@with_settings
class Rprop(Optimizer):
    """Resilient propagation: only the sign of gradients counts."""

    params: Params
    lr: Rate = option("the first step size", default=1e-2)
    etas: Etas = option("factors of shrinking and growing", default=(0.5, 1.2))
    step_sizes: Sizes = option("the smallest and the largest step size", default=(1e-6, 50.0))
    _: KW_ONLY
    maximize: Maximize = False

    counter = "step_t"

    def _settings_taken(self, given):
        self.prev, self.step_size = self.states("prev"), self.states("step_size")
        self.count_steps()

    def before_group(self, number, group, lr, t):
        return t < 1.5

    def move(self, i, param, grad, group, lr, shared):
        slots = param, self.prev[i], self.step_size[i]
        store(slots, rules.rprop(
            grad, *slots, lr=lr, first=shared, etas=group["etas"], sizes=group["step_sizes"]
        ))  # fmt: skip


@with_settings
class ASGD(Optimizer):
    """Averaged stochastic gradient descent; ``ax`` holds the averages."""

    params: Params
    lr: Rate = 1e-2
    lambd: Number = option("decay", default=1e-4)
    alpha: Number = option("power of the rate's decay", default=0.75)
    t0: Number = option("the step from which averages are taken", default=1e6)
    weight_decay: NotNegative = 0.0
    maximize: Maximize = False

    counter = "step_t"

    def _settings_taken(self, given):
        self.ax = self.states("ax")
        self.count_steps()

    def before_group(self, number, group, lr, t):
        eta = lr / (1.0 + group["lambd"] * lr * (t - 1.0)) ** group["alpha"]
        return eta, 1.0 / rules.maximum(t - 1.0 - group["t0"], 1.0)

    def move(self, i, param, grad, group, lr, shared):
        rate, share = shared
        slots = param, self.ax[i]
        store(slots, rules.asgd(decayed(grad, param, group), *slots, rate=rate, share=share, lambd=group["lambd"]))
