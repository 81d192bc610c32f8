"""`ReduceLROnPlateau`, which looks at a metric, and `SequentialLR`, which plays schedules one after another."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Any

from duograph.core import dtype as dt
from duograph.nn.optim.optimizer import assign
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .optimizer import Optimizer
from .schedules import at_least, set_rates, when


class ReduceLROnPlateau:
    """Multiplies the rates by ``factor`` when a metric has not improved for ``patience`` epochs.

    Args:
        optimizer (`Optimizer`): whose rates it sets.
        mode (str): ``"min"`` or ``"max"``. Default ``"min"``.
        factor (float): Default ``0.1``.
        patience (int): Default ``10``.
        threshold (float): what counts as an improvement. Default ``1e-4``.
        threshold_mode (str): ``"rel"`` or ``"abs"``. Default ``"rel"``.
        cooldown (int): epochs of rest after a change. Default ``0``.
        min_lr (Union[float, list]): the least rate, or one per group. Default ``0``.
        eps (float): changes of at most this are not made. Default ``1e-8``.

    Raises:
        ValueError: values out of range.
        TypeError: ``optimizer`` is none.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("The lr factor should be less than 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"Expected an `Optimizer`, but got type {type(optimizer).__name__}")
        count = len(optimizer.param_groups)
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != count:
                raise ValueError(f"Expected {count} min_lrs, got {len(min_lr)}")
            self.min_lrs = list(min_lr)
        else:
            self.min_lrs = [min_lr] * count
        if mode not in ("min", "max"):
            raise ValueError(f"`mode` should be 'min' or 'max', but got {mode}.")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"`threshold mode` should be 'rel' or 'abs', but got {threshold_mode}.")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.best = Parameter(Tensor(self.mode_worse, dt.float32), name="best")
        self.num_bad_epochs = _count("num_bad_epochs")
        self.cooldown_counter = _count("cooldown_counter")
        self.last_epoch = _count("last_epoch_ReduceLROnPlateau")

    @property
    def in_cooldown(self) -> Tensor:
        """Whether it rests."""
        return self.cooldown_counter > 0

    def get_last_lr(self) -> list[Tensor]:
        """The present rates of the groups."""
        return [group["lr"].value().copy() for group in self.optimizer.param_groups]

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
            old = group["lr"].value()
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


def _count(name: str) -> Parameter:
    return Parameter(Tensor(0, dt.int32), name=name)


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
        self.last_epoch = Parameter(Tensor(last_epoch + 1, dt.float32), name="last_epoch_SequentialLR")
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
        return [group["lr"].value().copy() for group in self.optimizer.param_groups]
