"""What optimizers make of ``learning_rate``, ``weight_decay`` and groups of parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from duograph.core import dtype as dt
from duograph.nn.cell import Cell
from duograph.nn.learning_rate_schedule import LearningRateSchedule
from duograph.ops.arithmetic import minimum
from duograph.ops.creation import constant_like
from duograph.ops.indexing import gather
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

_GROUP_KEYS = ["params", "lr", "weight_decay", "order_params", "grad_centralization"]


class _IteratorLearningRate(LearningRateSchedule):
    """A rate per step, in the shape of the step; the last one stays."""

    def __init__(self, rates: Tensor, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(rates, name=name)

    def construct(self, global_step):
        last = constant_like(global_step, self.learning_rate.shape[0] - 1)
        return gather(self.learning_rate, minimum(global_step, last), axis=0)


class _ConvertToCell(LearningRateSchedule):
    """A value that does not depend on the step."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.learning_rate = value

    def construct(self, global_step):
        return self.learning_rate.value()


def checked_rate(rate: float, owner: str) -> float:
    """``rate`` if it is not negative."""
    if rate < 0:
        raise ValueError(
            f"For '{owner}', the 'learning rate' must be float and must >= 0, but got '{rate}' with type 'float'."
        )
    return rate


def learning_rate_of(rate: Any, name: str, owner: str) -> Any:
    """A Parameter (constant rates), or a `LearningRateSchedule` to call with the step."""
    if isinstance(rate, LearningRateSchedule):
        return rate
    if isinstance(rate, bool):
        raise TypeError(f"For '{owner}', the type of 'learning_rate' must be int, float, Tensor, Iterable or schedule.")
    if isinstance(rate, int | float):
        return Parameter(Tensor(checked_rate(float(rate), owner), dt.float32), name=name)
    if isinstance(rate, Tensor):
        if len(rate.shape) > 1:
            raise ValueError(
                f"For 'Optimizer', if the argument 'learning_rate' is a Tensor, the dimension must be 0 or 1, "
                f"but got {len(rate.shape)}."
            )
        if len(rate.shape) == 0:
            return Parameter(Tensor(rate, dt.float32), name=name)
        return _IteratorLearningRate(Tensor(rate, dt.float32), name)
    if isinstance(rate, str) or not isinstance(rate, Iterable):
        raise TypeError(
            "For 'Optimizer', the argument 'learning_rate' must be int, float, Tensor, Iterable or "
            f"LearningRateSchedule, but got {type(rate)}."
        )
    rates = [checked_rate(float(r), owner) for r in rate]
    return _IteratorLearningRate(Tensor(np.array(rates, np.float32)), name)


def weight_decay_of(decay: Any, owner: str) -> Any:
    """A float, or a Cell to call with the step."""
    if isinstance(decay, Cell):
        return decay
    if isinstance(decay, bool) or not isinstance(decay, int | float):
        raise TypeError(
            f"For 'Optimizer', the argument 'Weight_decay' must be int, float or Cell.but got {type(decay)}"
        )
    if decay < 0:
        raise ValueError(
            f"For '{owner}', the 'weight_decay' must be float and must >= 0, but got '{float(decay)}' with type "
            "'float'."
        )
    return float(decay)


class Member(NamedTuple):
    """One parameter with the settings of its group (``None``: the optimizer's)."""

    param: Parameter
    group: int
    lr: Any
    weight_decay: Any
    centralize: bool


def members_of(parameters: Any) -> tuple[list[Member], bool]:
    """Every parameter with its group's settings, in updating order; and whether there are groups.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: as MindSpore.
    """
    if not isinstance(parameters, Iterable) or isinstance(parameters, Tensor | str):
        way = "; of a network it is net.trainable_params()" if isinstance(parameters, Cell) else ""
        said = "For 'Optimizer', the argument parameters must be Iterable type, but got"
        raise TypeError(f"{said} {type(parameters)}{way}.")
    items = list(parameters)
    if not items:
        way = "a network trains what requires_grad, and no layers in a plain list: nn.CellList(layers) has them"
        raise ValueError(f"For 'Optimizer', the argument parameters must not be empty; {way}.")
    if all(isinstance(item, Parameter) for item in items):
        return [Member(p, 0, None, None, False) for p in items], False
    if not all(isinstance(item, dict) for item in items):
        raise TypeError(
            "For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or 'dict', "
            "please check the 'parameters'."
        )
    return _grouped(items), True


def _grouped(groups: list[dict[str, Any]]) -> list[Member]:
    members: list[Member] = []
    order: list[Parameter] | None = None
    seen: set[int] = set()
    for number, group in enumerate(groups):
        if bad := [key for key in group if key not in _GROUP_KEYS]:
            raise KeyError(f"For 'Optimizer', the key in group params must be one of in {_GROUP_KEYS}, but got {bad}.")
        if "order_params" in group:
            if len(group) > 1:
                raise ValueError(
                    "For 'Optimizer', the order params dict in group parameters should only include the "
                    "'order_params' key."
                )
            order = list(group["order_params"])
            continue
        params = list(group["params"])
        if not params:
            raise ValueError("For 'Optimizer', the argument group `params` must not be empty.")
        centralize = group.get("grad_centralization", False)
        if not isinstance(centralize, bool):
            raise TypeError(
                f"For 'Optimizer', the 'grad_centralization' must be bool type, but got {type(centralize)}."
            )
        for param in params:
            if not isinstance(param, Parameter):
                raise TypeError("For 'Optimizer', each element of a group's 'params' must be a Parameter.")
            if id(param) in seen:
                raise RuntimeError(
                    f"For 'Optimizer', the {param.name} parameter already exists, it does not support repeated "
                    "setting. "
                    "Please check whether the optimizer parameter has been set multiple times."
                )
            seen.add(id(param))
            members.append(Member(param, number, group.get("lr"), group.get("weight_decay"), centralize))
    return members if order is None else _ordered(members, order)


def _ordered(members: list[Member], order: list[Parameter]) -> list[Member]:
    by_id = {id(m.param): m for m in members}
    if len(order) != len(members) or any(id(p) not in by_id for p in order):
        raise ValueError("For 'Optimizer', the parameter set in 'order_params' must be the same as the group's.")
    return [by_id[id(p)] for p in order]
