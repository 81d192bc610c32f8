"""Schedules that come back: `CyclicLR` and `CosineAnnealingWarmRestarts`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.nn.optim.optimizer import assign
from duograph.ops.unary import cos, floor
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .optimizer import Optimizer
from .schedules import LRScheduler, at_least, set_rates, when


class CyclicLR(LRScheduler):
    """Rates go up and down between two bounds.

    Args:
        optimizer (`Optimizer`): whose rates it sets.
        base_lr (Union[float, list]): the lower bound, or one per group.
        max_lr (Union[float, list]): the upper bound, or one per group.
        step_size_up (int): epochs up. Default ``2000``.
        step_size_down (int): epochs down; the same by default. Default ``None``.
        mode (str): ``"triangular"``, ``"triangular2"`` or ``"exp_range"``. Default ``"triangular"``.
        gamma (float): of ``"exp_range"``. Default ``1.0``.
        scale_fn (function): scales the cycles, instead of ``mode``. Default ``None``.
        scale_mode (str): what ``scale_fn`` is given: ``"cycle"`` or ``"iterations"``. Default ``"cycle"``.
        last_epoch (int): Default ``-1``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[..., Any] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        lower = _per_group(optimizer, base_lr, "base_lr")
        self.max_lrs = _per_group(optimizer, max_lr, "max_lr")
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn = mode, gamma, scale_fn
        self.scale_mode = "iterations" if scale_fn is None and mode == "exp_range" else scale_mode
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        if last_epoch == -1:
            set_rates(optimizer, lower)
            for group in optimizer.param_groups:
                group.pop("initial_lr", None)
        super().__init__(optimizer, last_epoch)

    def scale_fn(self, x: Any) -> Any:
        """The scale of a cycle, or of an epoch."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == "triangular":
            return 1.0
        return 1.0 / 2.0 ** (x - 1.0) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self):
        epoch = self.last_epoch.value()
        cycle = floor(1.0 + epoch / self.total_size)
        x = 1.0 + epoch / self.total_size - cycle
        height = when(x <= self.step_ratio, x / self.step_ratio, (x - 1.0) / (self.step_ratio - 1.0))
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else epoch)
        return [base + (top - base) * height * scale for base, top in zip(self.base_lrs, self.max_lrs, strict=True)]


def _per_group(optimizer: Optimizer, value: Any, name: str) -> list[float]:
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"Expected {count} values for {name}, got {len(value)}")
    return list(value)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Rates fall like half a cosine, and start again; periods grow by ``T_mult``.

    Args:
        optimizer (`Optimizer`): whose rates it sets.
        T_0 (int): epochs of the first period.
        T_mult (int): growth. Default ``1``.
        eta_min (Union[float, int]): the least rate. Default ``0``.
        last_epoch (int): Default ``-1``.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1
    ) -> None:
        if isinstance(T_0, bool) or not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"T_0 should be an integer and equal or greater than 0, but got {T_0}")
        if isinstance(T_mult, bool) or not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"T_mult should be an integer and equal or greater than 1, but got {T_mult}")
        if isinstance(eta_min, bool) or not isinstance(eta_min, int | float):
            raise TypeError(
                f"The type of 'eta_min' should be one of '['float', 'int']', but got type '{type(eta_min).__name__}'."
            )
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self.T_i = Parameter(Tensor(T_0, dt.float32), name="T_i")
        self.T_cur = Parameter(Tensor(last_epoch, dt.float32), name="T_cur")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        share = (1.0 + cos(self.T_cur.value() * math.pi / self.T_i.value())) / 2.0
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: int | None = None) -> None:
        """Moves on by one epoch (or to ``epoch``) and sets the rates.

        Raises:
            ValueError: ``epoch`` is negative.
        """
        if epoch is None:
            assign(self.last_epoch, self.last_epoch + 1.0)
            place = self.T_cur + 1.0
            over = place >= self.T_i
            assign(self.T_cur, when(over, place - self.T_i, place))
            assign(self.T_i, when(over, self.T_i * float(self.T_mult), self.T_i.value()))
        else:
            if epoch < 0:
                raise ValueError(f"epoch should be a non-negative integer, but got {epoch}")
            assign(self.last_epoch, Tensor(epoch, dt.float32))
            place, period = self._place(self.last_epoch.value())
            assign(self.T_cur, place)
            assign(self.T_i, period)
        set_rates(self.optimizer, self.get_lr())

    def _place(self, epoch: Tensor) -> tuple[Tensor, Tensor]:
        """How far in its period an epoch is, and the length of that period."""
        if self.T_mult == 1:
            return epoch % float(self.T_0), epoch * 0.0 + float(self.T_0)
        growth = float(self.T_mult)
        number = floor((epoch / self.T_0 * (growth - 1.0) + 1.0).log() / math.log(growth) + 1e-6)
        number = at_least(number, 0.0)
        return epoch - self.T_0 * (growth**number - 1.0) / (growth - 1.0), self.T_0 * growth**number
