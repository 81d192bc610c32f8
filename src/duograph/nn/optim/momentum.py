"""SGD and Momentum."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.api import update_rules as rules
from duograph.nn.kinds import Flag
from duograph.nn.settings import Check, Kind, option, with_settings

from .kinds import Decay, Params, Rate, Scale, as_float
from .optimizer import Optimizer, scalar, store


def _at_least_0(words: str) -> Check:
    def check(value: Any, name: str, owner: str) -> float:
        value = as_float(value, name, owner)
        if value < 0.0:
            raise ValueError(
                f"For '{owner}', the argument '{name}' must be at least 0.0, but got {words.format(value)}"
            )
        return value

    return check


def _flag(value: Any, name: str, owner: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', the type of '{name}' should be 'bool', but got type '{type(value).__name__}'.")
    return value


_Mass = Annotated[float, Kind("float", _at_least_0("{}."), kept=False)]
_Momentum = Annotated[float, Kind("float", _at_least_0("{}"), kept=False)]
_Dampening = Annotated[float, Kind("float", _at_least_0("'dampening' {}"))]
_Nesterov = Annotated[bool, Kind("bool", _flag)]


@with_settings
class SGD(Optimizer):
    """Stochastic gradient descent, with momentum.

    Examples:
        >>> from duograph import nn
        >>> net = nn.Dense(2, 1)
        >>> optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    """

    params: Params
    learning_rate: Rate = 0.1
    momentum: _Mass = 0.0
    dampening: _Dampening = 0.0
    weight_decay: Decay = 0.0
    nesterov: _Nesterov = False
    loss_scale: Scale = 1.0

    def _settings_taken(self, given):
        momentum, dampening = given["momentum"], self.dampening
        if self.nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise ValueError(
                f"For '{self.cls_name}', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal to "
                f"0.0, but got 'momentum' {momentum}, 'dampening' {dampening}."
            )
        self.has_momentum = momentum > 0.0
        self.momentum = scalar("momentum", momentum)
        self.accum = self.states("accum")
        # ``stat`` says where nothing was accumulated yet. Without dampening the first step is like all others, because
        # the accumulation begins with 0: then it is 0 from the start, as after MindSpore's first step, and stays.
        self.stat = self.states("stat", "ones" if dampening else "zeros")

    def move(self, i, param, grad, lr, decay, shared):
        if not self.has_momentum:
            store((param,), rules.descent(grad, param, lr=lr))
            return
        slots = param, self.accum[i], self.stat[i] if self.dampening else None
        mu, dampening, nesterov = self.momentum, self.dampening, self.nesterov
        store(slots, rules.momentum(grad, *slots, lr=lr, mu=mu, dampening=dampening, nesterov=nesterov))


@with_settings
class Momentum(Optimizer):
    """Gradient descent with momentum: ``v = momentum * v + g; p = p - lr * v``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.Momentum([weight], 0.1, 0.9)((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.95 1.95]
    """

    params: Params
    learning_rate: Rate = option("the rate")
    momentum: _Momentum = option("the momentum")
    weight_decay: Decay = 0.0
    loss_scale: Scale = 1.0
    use_nesterov: Flag = False

    def _settings_taken(self, given):
        self.momentum = scalar("momentum", given["momentum"])
        self.moments = self.states("moments")

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.moments[i]
        mu, nesterov = self.momentum, self.use_nesterov
        store(slots, rules.momentum(grad, *slots, lr=lr, mu=mu, nesterov=nesterov, rate_in_parts=True))
