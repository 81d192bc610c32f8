"""Optimizers whose rates adapt to the history of the gradients: Adagrad, Adadelta, RMSProp, FTRL."""

from __future__ import annotations

from typing import Annotated

from duograph.api import update_rules as rules
from duograph.nn import checks
from duograph.nn.kinds import Flag
from duograph.nn.settings import Kind, option, with_settings

from .kinds import Decay, First, Locking, NotNegative, Params, Positive, Rate, Scale
from .optimizer import Optimizer, store

_rho = checks.that(checks.real, lambda x: 0.0 <= x <= 1.0, "be in range of [0.0, 1.0], but got {}")
_power = checks.that(checks.real, lambda x: not x > 0, "be float and must <= 0, but got '{}'")
_Rho = Annotated[float, Kind("float", _rho)]
_Power = Annotated[float, Kind("float", _power, "at most 0")]


@with_settings
class Adagrad(Optimizer):
    """``accum += g**2; p -= lr * g / sqrt(accum)``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.Adagrad([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.99915487 1.9991548 ]
    """

    params: Params
    accum: First = 0.1
    learning_rate: Rate = 0.001
    update_slots: Flag = option("whether the accumulators are updated", default=True)
    loss_scale: Scale = 1.0
    weight_decay: Decay = 0.0

    def _settings_taken(self, given):
        self.accum = self.states("accum", given["accum"])

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.accum[i]
        store(slots, rules.adagrad(grad, *slots, lr=lr, update=self.update_slots))


@with_settings
class Adadelta(Optimizer):
    """Adadelta: steps proportional to the root mean square of earlier steps.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.Adadelta([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.9968378 1.9968377]
    """

    params: Params
    learning_rate: Rate = 1.0
    rho: _Rho = 0.9
    epsilon: NotNegative = 1e-6
    loss_scale: Scale = 1.0
    weight_decay: Decay = 0.0

    def _settings_taken(self, given):
        self.accum, self.accum_update = self.states("accum"), self.states("accum_update")

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.accum[i], self.accum_update[i]
        store(slots, rules.adadelta(grad, *slots, lr=lr, rho=self.rho, eps=self.epsilon))


@with_settings
class RMSProp(Optimizer):
    """Steps divided by the root mean square of the gradients.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.RMSProp([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.9480125 1.9480125]
    """

    params: Params
    learning_rate: Rate = 0.1
    decay: NotNegative = 0.9
    momentum: NotNegative = 0.0
    epsilon: Positive = 1e-10
    use_locking: Locking = False
    centered: Flag = option("whether the variance takes the place of the mean square", default=False)
    loss_scale: Scale = 1.0
    weight_decay: Decay = 0.0

    def _settings_taken(self, given):
        if self.centered:
            self.mg = self.states("mean_grad")
        self.ms, self.moment = self.states("mean_square", "ones"), self.states("moment")

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.ms[i], self.moment[i], self.mg[i] if self.centered else None
        store(slots, rules.rmsprop(grad, *slots, lr=lr, keep=self.decay, mu=self.momentum, eps=self.epsilon))


@with_settings
class ProximalAdagrad(Optimizer):
    """Adagrad with L1 and L2 regularisation by a proximal step.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.ProximalAdagrad([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.99915487 1.9991548 ]
    """

    params: Params
    accum: First = 0.1
    learning_rate: Rate = 0.001
    l1: NotNegative = 0.0
    l2: NotNegative = 0.0
    use_locking: Locking = False
    loss_scale: Scale = 1.0
    weight_decay: Decay = 0.0

    def _settings_taken(self, given):
        self.accum = self.states("accum", given["accum"])

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.accum[i]
        l1 = self.l1 if self.l1 > 0 else None
        store(slots, rules.proximal_adagrad(grad, *slots, lr=lr, l1=l1, l2=self.l2))


@with_settings
class FTRL(Optimizer):
    """Follow the regularised leader.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.FTRL([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.4646324 0.9301099]
    """

    params: Params
    initial_accum: First = 0.1
    learning_rate: Rate = 0.001
    lr_power: _Power = -0.5
    l1: NotNegative = 0.0
    l2: NotNegative = 0.0
    use_locking: Locking = False
    loss_scale: Scale = 1.0
    weight_decay: Decay = 0.0

    def _settings_taken(self, given):
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError(
                f"For '{self.cls_name}', dynamic learning rate or group learning rate is currently not supported."
            )
        self.moments, self.linear = self.states("moments", given["initial_accum"]), self.states("linear")

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.moments[i], self.linear[i]
        store(slots, rules.ftrl(grad, *slots, lr=lr, l1=self.l1, l2=self.l2, power=self.lr_power))
