"""Stochastic gradient descent."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any

from duograph.api import update_rules as rules
from duograph.nn.optim.optimizer import store
from duograph.nn.settings import Fixed, Kind, with_settings

from .kinds import Params, Rate
from .optimizer import Optimizer, decayed


def _type_error(name: str, words: str, value: Any) -> TypeError:
    return TypeError(f"For 'SGD', the type of '{name}' should be {words}, but got type '{type(value).__name__}'.")


def _number(value: Any, name: str, owner: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _type_error(name, "one of '['int', 'float']'", value)
    return float(value)


def _momentum(value: Any, name: str, owner: str) -> float:
    if _number(value, name, owner) < 0:
        raise ValueError(f"Invalid momentum value: {value}")
    return float(value)


def _flag(value: Any, name: str, owner: str) -> bool:
    if not isinstance(value, bool):
        raise _type_error(name, "'bool'", value)
    return value


def _decay(value: Any, name: str, owner: str) -> Any:
    if value < 0:
        raise ValueError(f"For 'SGD', the '{name}' must be float and must >= 0, but got '{value}' with type 'float'.")
    return value


_Momentum = Annotated[float, Kind("Union[int, float]", _momentum)]
_Dampening = Annotated[float, Kind("Union[int, float]", _number)]
_Flag = Annotated[bool, Kind("bool", _flag)]
_Maximize = Annotated[bool, Kind("bool", _flag, "climb instead of descend")]
_Decay = Annotated[float, Kind("float", _decay)]


@with_settings
class SGD(Optimizer):
    """Stochastic gradient descent, with momentum.

    Examples:
        >>> from duograph import nn
        >>> from duograph.experimental import optim
        >>> net = nn.Dense(2, 1)
        >>> optimizer = optim.SGD(net.trainable_params(), lr=0.1)
    """

    params: Params
    lr: Rate
    momentum: _Momentum = 0
    dampening: _Dampening = 0
    weight_decay: _Decay = 0.0
    nesterov: _Flag = False
    _: KW_ONLY
    maximize: _Maximize = False
    grad_centralization: Fixed = False

    def _settings_taken(self, given):
        self.accum, self.stat = self.states("accum"), self.states("stat", "ones")

    def check_group(self, group):
        dampening = group["dampening"]
        super().check_group(group)
        if group["nesterov"] and (group["momentum"] <= 0 or dampening != 0):
            raise ValueError(
                "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal to 0.0, but got "
                f"'momentum' {group['momentum']}, 'dampening' {dampening}"
            )

    def move(self, i, param, grad, group, lr, shared):
        grad = decayed(grad, param, group)
        if not group["momentum"]:
            store((param,), rules.descent(grad, param, lr=lr))
            return
        slots = param, self.accum[i], self.stat[i]
        settings = {"mu": group["momentum"], "dampening": group["dampening"], "nesterov": group["nesterov"]}
        store(slots, rules.momentum(grad, *slots, lr=lr, **settings))
