"""Managers of the loss scale for `Model` and `build_train_network`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from duograph.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell


class LossScaleManager(ABC):
    """Knows the scale and how it changes."""

    @abstractmethod
    def get_loss_scale(self) -> float:
        """The present scale."""

    @abstractmethod
    def update_loss_scale(self, overflow: bool) -> None:
        """Changes the scale after a step."""

    @abstractmethod
    def get_update_cell(self) -> Any:
        """The Cell that changes the scale inside a training step, ``None`` if it never changes."""


class FixedLossScaleManager(LossScaleManager):
    """A scale that never changes.

    Args:
        loss_scale (float): Default ``128.0``.
        drop_overflow_update (bool): whether steps with overflow are left out. Default ``True``.

    Raises:
        ValueError: the scale is below 1.
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"The argument 'loss_scale' must be >= 1, but got {loss_scale}")
        self._loss_scale, self._drop_overflow_update = loss_scale, drop_overflow_update

    def get_loss_scale(self) -> float:
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether steps with overflow are left out."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow: bool) -> None:
        """Nothing changes."""

    def get_update_cell(self) -> Any:
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that falls after an overflow and rises after a window without.

    Args:
        init_loss_scale (float): Default ``2**24``.
        scale_factor (int): Default ``2``.
        scale_window (int): Default ``2000``.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000) -> None:
        if init_loss_scale < 1.0:
            raise ValueError(f"The argument 'init_loss_scale' must be > 1, but got {init_loss_scale}")
        for name, value in (("scale_window", scale_window), ("scale_factor", scale_factor)):
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                raise ValueError(f"The argument '{name}' must be > 0, but got {value}")
        self.loss_scale, self.scale_factor, self.scale_window = init_loss_scale, scale_factor, scale_window
        self.increase_ratio, self.decrease_ratio = scale_factor, 1 / scale_factor
        self.cur_iter, self.last_overflow_iter = 1, 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
        elif (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
            self.loss_scale *= self.increase_ratio
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """Steps with overflow are left out."""
        return True

    def get_update_cell(self) -> Any:
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
