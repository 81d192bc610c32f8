"""`ReduceLROnPlateau`, which looks at a metric, and `SequentialLR`, which plays schedules one after another."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Annotated, Any

from duograph.core import dtype as dt
from duograph.nn.optim.optimizer import assign, scalar
from duograph.nn.settings import Kind, Setting, keep, option, with_settings
from duograph.tensor.tensor import Tensor

from .optimizer import Optimizer, rate_of
from .schedules import Of, at_least, set_rates, when


def _factor(value: Any, *_: str) -> Any:
    if value >= 1.0:
        raise ValueError("The lr factor should be less than 1.0.")
    return value


Mode = Annotated[str, Kind("str")]
Factor = Annotated[float, Kind("float", _factor)]
Epochs = Annotated[int, Kind("int")]
Real = Annotated[float, Kind("float")]
Least = Annotated[Any, Kind("Union[float, list]", kept=False)]


@with_settings
class ReduceLROnPlateau:
    """Multiplies the rates by ``factor`` when a metric has not improved for ``patience`` epochs."""

    optimizer: Of
    mode: Mode = option('``"min"`` or ``"max"``', default="min")
    factor: Factor = 0.1
    patience: Epochs = 10
    threshold: Real = option("what counts as an improvement", default=1e-4)
    threshold_mode: Mode = option('``"rel"`` or ``"abs"``', default="rel")
    cooldown: Epochs = option("epochs of rest after a change", default=0)
    min_lr: Least = option("the least rate, or one per group", default=0)
    eps: Real = option("changes of at most this are not made", default=1e-8)

    def _take_settings(self, given: dict[str, Any], settings: dict[str, Setting]) -> None:
        keep(self, given, settings)
        optimizer, least = given["optimizer"], given["min_lr"]
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"Expected an `Optimizer`, but got type {type(optimizer).__name__}")
        count = len(optimizer.param_groups)
        self.min_lrs = list(least) if isinstance(least, list | tuple) else [least] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"Expected {count} min_lrs, got {len(self.min_lrs)}")
        if self.mode not in ("min", "max"):
            raise ValueError(f"`mode` should be 'min' or 'max', but got {self.mode}.")
        if self.threshold_mode not in ("rel", "abs"):
            raise ValueError(f"`threshold mode` should be 'rel' or 'abs', but got {self.threshold_mode}.")
        self.optimizer = optimizer
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.best = scalar("best", self.mode_worse)
        self.num_bad_epochs = scalar("num_bad_epochs", 0, dt.int32)
        self.cooldown_counter = scalar("cooldown_counter", 0, dt.int32)
        self.last_epoch = scalar("last_epoch_ReduceLROnPlateau", 0, dt.int32)

    @property
    def in_cooldown(self) -> Tensor:
        """Whether it rests."""
        return self.cooldown_counter > 0

    def get_last_lr(self) -> list[Tensor]:
        """The present rates of the groups."""
        return [rate_of(group).copy() for group in self.optimizer.param_groups]

    def step(self, metrics: Any) -> None:
        """Takes the metric of an epoch.

        Args:
            metrics (Union[int, float, Tensor]): the metric.
        """
        value = metrics.astype(dt.float32) if isinstance(metrics, Tensor) else Tensor(metrics, dt.float32)
        value = value.reshape(())
        assign(self.last_epoch, self.last_epoch + 1)
        better = self._improves(value, self.best.value())
        assign(self.best, when(better, value, self.best.value()))
        bad = when(better, 0.0, self.num_bad_epochs.astype(dt.float32) + 1.0)
        resting = self.cooldown_counter.astype(dt.float32)
        bad = when(resting > 0.0, 0.0, bad)
        resting = at_least(resting - 1.0, 0.0)
        due = bad > float(self.patience)
        rates = []
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            old = rate_of(group)
            new = at_least(old * self.factor, least)
            rates.append(when(due & (old - new > self.eps), new, old))
        set_rates(self.optimizer, rates)
        assign(self.cooldown_counter, when(due, float(self.cooldown), resting))
        assign(self.num_bad_epochs, when(due, 0.0, bad))

    def _improves(self, value: Tensor, best: Tensor) -> Tensor:
        t = self.threshold
        if self.mode == "min":
            return value < (best * (1.0 - t) if self.threshold_mode == "rel" else best - t)
        return value > (best * (1.0 + t) if self.threshold_mode == "rel" else best + t)


class SequentialLR:
    """Plays schedules one after another; ``milestones`` are the epochs at which the next one takes over.

    Args:
        optimizer (`Optimizer`): whose rates it sets.
        schedulers (list): the schedules.
        milestones (list[int]): one less than schedules.
        last_epoch (int): Default ``-1``.

    Raises:
        ValueError: the schedules belong to other optimizers, or the numbers do not fit.
    """

    def __init__(self, optimizer: Optimizer, schedulers: list[Any], milestones: list[int], last_epoch: int = -1):
        for number, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    "Sequential Schedulers expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"at index {number} is different from the optimizer passed in."
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones "
                f"{len(milestones)}"
            )
        self.optimizer, self._schedulers, self._milestones = optimizer, schedulers, milestones
        self.last_epoch = scalar("last_epoch_SequentialLR", last_epoch + 1)
        set_rates(optimizer, [group["initial_lr"] for group in optimizer.param_groups])
        for scheduler in schedulers:
            assign(scheduler.last_epoch, scheduler.last_epoch - 1.0)
        schedulers[0].step()

    def step(self) -> None:
        """Moves on by one epoch."""
        assign(self.last_epoch, self.last_epoch + 1.0)
        epoch = int(self.last_epoch)  # the schedule to play is chosen in Python
        index = bisect_right(self._milestones, epoch)
        if index > 0 and self._milestones[index - 1] == epoch:
            self._schedulers[index].step(0)
        else:
            self._schedulers[index].step()

    def get_last_lr(self) -> list[Tensor]:
        """The present rates of the groups."""
        return [rate_of(group).copy() for group in self.optimizer.param_groups]
