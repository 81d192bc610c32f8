"""`LRScheduler` and the schedules that are a function of the number of epochs.

A schedule's state is in Parameters and its arithmetic in ops, so that ``scheduler.step()`` may stand in a graph too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

from duograph.core import dtype as dt
from duograph.nn.optim.optimizer import assign, scalar
from duograph.nn.settings import Check, Kind, Setting, keep, option, with_settings
from duograph.ops.arithmetic import maximum, minimum
from duograph.ops.creation import constant_like
from duograph.ops.select import select
from duograph.ops.unary import cos
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .optimizer import Optimizer, rate_of


def when(condition: Tensor, yes: Any, no: Any) -> Tensor:
    """``yes`` where ``condition`` holds, else ``no``: 0-d float32 tensors or numbers."""
    sides = [x if isinstance(x, Tensor) else Tensor(float(x), dt.float32) for x in (yes, no)]
    return select(condition, *sides)


def _integer(words: str) -> Check:
    def check(value: Any, name: str, owner: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"For '{owner}', {words.format(name)} must be int, but got {type(value)}.")
        return value

    return check


def _real(value: Any, name: str, owner: str) -> float:
    if not isinstance(value, float):
        raise TypeError(f"For '{owner}', the '{name}' must be float, but got {type(value)}.")
    return value


def _power(value: Any, name: str, owner: str) -> float:
    if _real(value, name, owner) < 0:
        raise ValueError(f"For '{owner}', the '{name}' must be >= 0, but got {value}.")
    return value


def _factor(wrong: Callable[[float], bool], words: str) -> Check:
    def check(value: Any, name: str, owner: str) -> float:
        if wrong(value):
            raise ValueError(f"{words}.")
        return value

    return check


def _number(words: str) -> Check:
    def check(value: Any, name: str, owner: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"For '{owner}', the '{name}' must be {words}, but got {type(value)}.")
        return value

    return check


def _milestones(value: Any, name: str, owner: str) -> list[int]:
    if not isinstance(value, list):
        raise TypeError(f"The type of '{name}' should be 'list', but got type '{type(value).__name__}'.")
    for item in value:
        if not isinstance(item, int):
            raise TypeError(
                f"For '{owner}', elements of the '{name}' must be type of int, but got one element of "
                f"'{name}' type: {type(item)}."
            )
    return value


_START = "Starting multiplicative factor expected to be greater than 0 and less than or equal to 1"
_END = "Ending multiplicative factor expected to be between 0 and 1"
_CONSTANT = "Constant multiplicative factor expected to be between 0 and 1"

Of = Annotated[Any, Kind("`Optimizer`", text="whose rates it sets", kept=False)]
Epoch = Annotated[Any, Kind("int", kept=False)]
Steps = Annotated[int, Kind("int", _integer("the '{}'"))]
Iterations = Annotated[int, Kind("int", _integer("the type of {}"))]
Gamma = Annotated[float, Kind("float", _real, "the factor")]
AnyGamma = Annotated[float, Kind("float", _number("float"))]
Power = Annotated[float, Kind("float", _power)]
Start = Annotated[float, Kind("float", _factor(lambda x: x > 1.0 or x <= 0, _START))]
End = Annotated[float, Kind("float", _factor(lambda x: x > 1.0 or x < 0, _END))]
Factor = Annotated[float, Kind("float", _factor(lambda x: x > 1.0 or x < 0, _CONSTANT))]
Least = Annotated[float, Kind("Union[float, int]", _number("float or int"), "the least rate")]
Milestones = Annotated[list[int], Kind("list[int]", _milestones, "epochs")]
Functions = Annotated[Any, Kind("Union[Callable, list[Callable]]", text="one, or one per group", kept=False)]


class LRScheduler:
    """Base class: `get_lr` gives the rates of the groups from ``last_epoch`` and ``_last_lr``.

    Args:
        optimizer (`Optimizer`): whose rates it sets.
        last_epoch (int): number of epochs done, minus 1. Default ``-1``.

    Raises:
        TypeError: ``optimizer`` is not an optimizer, or ``last_epoch`` is not an int.
        ValueError: ``last_epoch`` is below -1.
        KeyError: ``last_epoch`` is not -1 and the groups have no ``initial_lr``.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if isinstance(last_epoch, bool) or not isinstance(last_epoch, int):
            raise TypeError(f"The type of 'last_epoch' should be 'int', but got type '{type(last_epoch).__name__}'.")
        if last_epoch < -1:
            raise ValueError(f"Invalid last_epoch: {last_epoch}")
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", rate_of(group).copy())
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming an optimizer"
                )
        self.optimizer = optimizer
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = scalar(f"last_epoch_{type(self).__name__}", last_epoch)
        self.step()

    def _take_settings(self, given: dict[str, Any], settings: dict[str, Setting]) -> None:
        """The constructor of subclasses with rows of settings (`with_settings`)."""
        keep(self, given, settings)
        self._settings_taken(given)
        LRScheduler.__init__(self, given["optimizer"], given["last_epoch"])

    def _settings_taken(self, given: dict[str, Any]) -> None:
        """Checks and prepares what needs several settings."""

    @property
    def _last_lr(self) -> list[Tensor]:
        return [rate_of(group) for group in self.optimizer.param_groups]

    def get_lr(self) -> list[Any]:
        """The rates of the groups at ``last_epoch``."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Tensor]:
        """The present rates of the groups."""
        return [lr.copy() for lr in self._last_lr]

    def step(self, epoch: int | None = None) -> None:
        """Moves on by one epoch (or to ``epoch``) and sets the rates."""
        if epoch is None:
            assign(self.last_epoch, self.last_epoch + 1.0)
            rates = self.get_lr()
        else:
            assign(self.last_epoch, Tensor(epoch, dt.float32))
            rates = self._closed_form() if hasattr(self, "_closed_form") else self.get_lr()
        set_rates(self.optimizer, rates)


def set_rates(optimizer: Optimizer, rates: list[Any]) -> None:
    """Writes the rates of the groups."""
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        value = rate if isinstance(rate, Tensor) else Tensor(float(rate), dt.float32)
        if isinstance(group["lr"], Parameter):
            assign(group["lr"], value)
        else:
            group["lr"] = value


@with_settings
class StepLR(LRScheduler):
    """Multiplies the rates by ``gamma`` every ``step_size`` epochs.

    Examples:
        >>> from duograph import nn
        >>> from duograph.experimental import optim
        >>> optimizer = optim.SGD(nn.Dense(2, 1).trainable_params(), lr=0.1)
        >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2)
        >>> scheduler.step()
    """

    optimizer: Of
    step_size: Steps = option("epochs between changes")
    gamma: Gamma = 0.1
    last_epoch: Epoch = -1

    def get_lr(self):
        due = (self.last_epoch != 0.0) & (self.last_epoch % self.step_size == 0.0)
        return [lr * when(due, self.gamma, 1.0) for lr in self._last_lr]

    def _closed_form(self):
        return [lr * self.gamma ** (self.last_epoch // self.step_size) for lr in self.base_lrs]


@with_settings
class LinearLR(LRScheduler):
    """Rates change linearly from ``start_factor`` to ``end_factor`` of their first values."""

    optimizer: Of
    start_factor: Start = 1.0 / 3
    end_factor: End = 1.0
    total_iters: Iterations = option("epochs until the end", default=5)
    last_epoch: Epoch = -1

    def get_lr(self):
        epoch, gap = self.last_epoch.value(), self.end_factor - self.start_factor
        later = 1.0 + gap / (self.total_iters * self.start_factor + (epoch - 1.0) * gap)
        factor = when(epoch == 0.0, self.start_factor, when(epoch > self.total_iters, 1.0, later))
        return [lr * factor for lr in self._last_lr]

    def _closed_form(self):
        share = minimum(self.last_epoch.value(), constant_like(self.last_epoch, self.total_iters)) / self.total_iters
        return [lr * (self.start_factor + (self.end_factor - self.start_factor) * share) for lr in self.base_lrs]


@with_settings
class ExponentialLR(LRScheduler):
    """Multiplies the rates by ``gamma`` every epoch."""

    optimizer: Of
    gamma: Gamma
    last_epoch: Epoch = -1

    def get_lr(self):
        return [lr * when(self.last_epoch == 0.0, 1.0, self.gamma) for lr in self._last_lr]

    def _closed_form(self):
        return [lr * self.gamma ** self.last_epoch.value() for lr in self.base_lrs]


@with_settings
class PolynomialLR(LRScheduler):
    """Rates fall to 0 as a power of the epochs that are left."""

    optimizer: Of
    total_iters: Iterations = 5
    power: Power = 1.0
    last_epoch: Epoch = -1

    def get_lr(self):
        epoch = self.last_epoch.value()
        fixed = (epoch == 0.0) | (epoch > self.total_iters)
        before = when(fixed, 1.0, 1.0 - (epoch - 1.0) / self.total_iters)
        factor = when(fixed, 1.0, ((1.0 - epoch / self.total_iters) / before) ** self.power)
        return [lr * factor for lr in self._last_lr]

    def _closed_form(self):
        left = 1.0 - minimum(self.last_epoch.value(), constant_like(self.last_epoch, self.total_iters)) / (
            self.total_iters
        )
        return [lr * left**self.power for lr in self.base_lrs]


def _one_per_group(functions: Any, optimizer: Optimizer) -> list[Callable[..., Any]]:
    if not isinstance(functions, list | tuple):
        return [functions] * len(optimizer.param_groups)
    if len(functions) != len(optimizer.param_groups):
        raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(functions)}")
    return list(functions)


@with_settings
class LambdaLR(LRScheduler):
    """The first rates times a function of the epoch."""

    optimizer: Of
    lr_lambda: Functions
    last_epoch: Epoch = -1

    def _settings_taken(self, given):
        self.lr_lambdas = _one_per_group(given["lr_lambda"], given["optimizer"])

    def get_lr(self):
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [lr * function(self.last_epoch.value()) for lr, function in pairs]


@with_settings
class MultiplicativeLR(LRScheduler):
    """The rates times a function of the epoch, at every epoch."""

    optimizer: Of
    lr_lambda: Functions
    last_epoch: Epoch = -1

    def _settings_taken(self, given):
        self.lr_lambdas = _one_per_group(given["lr_lambda"], given["optimizer"])

    def get_lr(self):
        epoch = self.last_epoch.value()
        pairs = zip(self._last_lr, self.lr_lambdas, strict=True)
        return [lr * when(epoch > 0.0, function(epoch), 1.0) for lr, function in pairs]


@with_settings
class MultiStepLR(LRScheduler):
    """Multiplies the rates by ``gamma`` at each milestone."""

    optimizer: Of
    milestones: Milestones
    gamma: AnyGamma = 0.1
    last_epoch: Epoch = -1

    def get_lr(self):
        factor: Any = 1.0
        for milestone, times in Counter(self.milestones).items():
            factor = when(self.last_epoch == float(milestone), self.gamma**times, factor)
        return [lr * factor for lr in self._last_lr]

    def _closed_form(self):
        factor: Any = 1.0
        for milestone in self.milestones:
            factor = factor * when(self.last_epoch >= float(milestone), self.gamma, 1.0)
        return [lr * factor for lr in self.base_lrs]


@with_settings
class ConstantLR(LRScheduler):
    """The rates times ``factor`` until ``total_iters`` epochs are done."""

    optimizer: Of
    factor: Factor = 1.0 / 3
    total_iters: Iterations = 5
    last_epoch: Epoch = -1

    def get_lr(self):
        epoch, back = self.last_epoch.value(), 1.0 / self.factor if self.factor else math.inf
        factor = when(epoch == 0.0, self.factor, when(epoch == float(self.total_iters), back, 1.0))
        return [lr * factor for lr in self._last_lr]

    def _closed_form(self):
        return [lr * when(self.last_epoch >= self.total_iters, 1.0, self.factor) for lr in self.base_lrs]


@with_settings
class CosineAnnealingLR(LRScheduler):
    """Rates swing between their first values and ``eta_min`` like a cosine of half period ``T_max``."""

    optimizer: Of
    T_max: Steps = option("epochs of half a period")
    eta_min: Least = 0.0
    last_epoch: Epoch = -1

    def get_lr(self):
        epoch, low = self.last_epoch.value(), self.eta_min
        here, before = (1.0 + cos(e * (math.pi / self.T_max)) for e in (epoch, epoch - 1.0))
        rises = (epoch - 1.0 - self.T_max) % (2 * self.T_max) == 0.0
        climb = (1.0 - math.cos(math.pi / self.T_max)) / 2
        ratio = here / when(rises, 1.0, before)
        return [
            when(epoch == 0.0, lr, when(rises, lr + (base - low) * climb, ratio * (lr - low) + low))
            for lr, base in zip(self._last_lr, self.base_lrs, strict=True)
        ]

    def _closed_form(self):
        share = (1.0 + cos(self.last_epoch.value() * (math.pi / self.T_max))) / 2.0
        return [self.eta_min + (lr - self.eta_min) * share for lr in self.base_lrs]


def at_most(value: Tensor, bound: float) -> Tensor:
    """The smaller of a 0-d tensor and a number."""
    return minimum(value, constant_like(value, bound))


def at_least(value: Tensor, bound: float) -> Tensor:
    """The larger of a 0-d tensor and a number."""
    return maximum(value, constant_like(value, bound))
