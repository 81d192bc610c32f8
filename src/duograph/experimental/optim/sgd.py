"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from duograph.nn.optim.optimizer import assign
from duograph.ops.compare import greater
from duograph.ops.creation import constant_like, zeros_like
from duograph.ops.select import select

from .optimizer import Optimizer, decayed


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        lr (Union[int, float, Tensor]): the rate.
        momentum (Union[int, float]): Default ``0``.
        dampening (Union[int, float]): Default ``0``.
        weight_decay (float): Default ``0.``.
        nesterov (bool): Default ``False``.
        maximize (bool): climb instead of descend. Default ``False``.

    Raises:
        TypeError: wrong types.
        ValueError: values out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> from duograph import nn
        >>> from duograph.experimental import optim
        >>> net = nn.Dense(2, 1)
        >>> optimizer = optim.SGD(net.trainable_params(), lr=0.1)
    """

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "grad_centralization": False,
        }  # fmt: skip
        super().__init__(params, defaults)
        self.accum = self.states("accum")
        self.stat = self.states("stat", "ones")

    def check_group(self, group):
        for name in ("momentum", "dampening"):
            value = group[name]
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(
                    f"For 'SGD', the type of '{name}' should be one of '['int', 'float']', "
                    f"but got type '{type(value).__name__}'."
                )
        for name in ("nesterov", "maximize"):
            if not isinstance(group[name], bool):
                raise TypeError(
                    f"For 'SGD', the type of '{name}' should be 'bool', but got type '{type(group[name]).__name__}'."
                )
        if group["momentum"] < 0:
            raise ValueError(f"Invalid momentum value: {group['momentum']}")
        if group["weight_decay"] < 0:
            raise ValueError(
                f"For 'SGD', the 'weight_decay' must be float and must >= 0, but got '{group['weight_decay']}' with "
                "type 'float'."
            )
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError(
                "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal to 0.0, but got "
                f"'momentum' {float(group['momentum'])}, 'dampening' {group['dampening']}"
            )
        group["momentum"], group["dampening"] = float(group["momentum"]), float(group["dampening"])

    def move(self, i, param, grad, group, lr, shared):
        grad = step = decayed(grad, param, group)
        momentum = group["momentum"]
        if momentum:
            accum, first = self.accum[i], self.stat[i]
            later = accum * momentum + grad * (1.0 - group["dampening"])
            accumulated = select(greater(first, constant_like(first, 0)), grad, later)
            assign(accum, accumulated)
            assign(first, zeros_like(first))
            step = grad + accumulated * momentum if group["nesterov"] else accumulated
        assign(param, param - step * lr)
