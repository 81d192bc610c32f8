"""Learning rates as functions of the step, as Cells: they run inside graphs."""

from __future__ import annotations

import math
from typing import Any

from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.arithmetic import add, div, maximum, minimum, mul, neg, sub
from duograph.ops.cast import cast
from duograph.ops.creation import constant_like
from duograph.ops.movement import reshape
from duograph.ops.power import pow_
from duograph.ops.unary import ceil, cos, exp, floor
from duograph.tensor.tensor import Tensor


def as_step(global_step: Tensor) -> Tensor:
    """The step (shape () or (1,)) as a float32 0-d tensor."""
    return cast(reshape(global_step, shape=()), dtype=dt.float32)


def k(like: Tensor, value: float) -> Tensor:
    """A constant of the dtype of ``like``."""
    return constant_like(like, value)


def rate(value: Any, name: str, owner: str) -> float:
    """A positive float."""
    checks.real(value, name, owner)
    if value <= 0:
        raise ValueError(
            f"For '{owner}', the '{name}' must be float and must > 0, but got '{value}' with type 'float'."
        )
    return value


class LearningRateSchedule(Cell):
    """Base class: ``construct(global_step)`` returns the rate of the step.

    Supported Platforms:
        ``CPU``
    """

    def construct(self, global_step):
        raise NotImplementedError(
            "The method `construct` must be overridden, and it must return the current learning rate."
        )


class _Decay(LearningRateSchedule):
    """A rate that decays with ``p = step / decay_steps``.

    Args:
        learning_rate (float): rate at step 0.
        decay_rate (float): how fast.
        decay_steps (int): after how many steps.
        is_stair (bool): whether it changes only every ``decay_steps`` steps. Default ``False``.
    """

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        self.learning_rate = rate(learning_rate, "learning_rate", self.cls_name)
        self.decay_rate = rate(decay_rate, "decay_rate", self.cls_name)
        self.decay_steps = checks.positive_int(decay_steps, "decay_steps", self.cls_name)
        self.is_stair = checks.boolean(is_stair, "is_stair", self.cls_name)


class ExponentialDecayLR(_Decay):
    """``learning_rate * decay_rate ** p``; see the arguments of `_Decay`.

    Examples:
        >>> print(nn.ExponentialDecayLR(0.1, 0.9, 4)(Tensor(2, ms.int32)))
        0.094868325
    """

    def construct(self, global_step):
        return exponential_decay(
            as_step(global_step), self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair
        )


def exponential_decay(step: Tensor, start: float, factor: float, steps: int, stair: bool) -> Tensor:
    """See `ExponentialDecayLR`."""
    p = div(step, k(step, steps))
    p = floor(p) if stair else p
    return mul(k(step, start), pow_(k(step, factor), p))


class NaturalExpDecayLR(_Decay):
    """``learning_rate * exp(-decay_rate * step)``, with ``is_stair`` at the last multiple of ``decay_steps``.

    Examples:
        >>> print(nn.NaturalExpDecayLR(0.1, 0.9, 4)(Tensor(2, ms.int32)))
        0.01652989
    """

    def construct(self, global_step):
        return natural_decay(as_step(global_step), self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair)


def natural_decay(step: Tensor, start: float, factor: float, steps: int, stair: bool) -> Tensor:
    """See `NaturalExpDecayLR`."""
    if stair:
        step = mul(floor(div(step, k(step, steps))), k(step, steps))
    return mul(k(step, start), exp(neg(mul(k(step, factor), step))))


class InverseDecayLR(_Decay):
    """``learning_rate / (1 + decay_rate * p)``.

    Examples:
        >>> print(nn.InverseDecayLR(0.1, 0.9, 4)(Tensor(2, ms.int32)))
        0.06896552
    """

    def construct(self, global_step):
        return inverse_decay(as_step(global_step), self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair)


def inverse_decay(step: Tensor, start: float, factor: float, steps: int, stair: bool) -> Tensor:
    """See `InverseDecayLR`."""
    p = div(step, k(step, steps))
    p = floor(p) if stair else p
    return div(k(step, start), add(k(step, 1), mul(k(step, factor), p)))


class CosineDecayLR(LearningRateSchedule):
    """From ``max_lr`` to ``min_lr`` along half a cosine in ``decay_steps`` steps.

    Args:
        min_lr (float): last rate.
        max_lr (float): first rate.
        decay_steps (int): number of steps.

    Examples:
        >>> print(nn.CosineDecayLR(0.01, 0.1, 4)(Tensor(2, ms.int32)))
        0.055
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        checks.real(min_lr, "min_lr", self.cls_name)
        if min_lr < 0:
            raise ValueError(f"For '{self.cls_name}', the 'min_lr' must be float and must >= 0, but got '{min_lr}'.")
        rate(max_lr, "max_lr", self.cls_name)
        checks.positive_int(decay_steps, "decay_steps", self.cls_name)
        if min_lr >= max_lr:
            raise ValueError(
                f"For '{self.cls_name}', the 'max_lr' must be greater than the 'min_lr', "
                f"but got 'max_lr' value: {max_lr}, 'min_lr' value: {min_lr}."
            )
        self.min_lr, self.max_lr, self.decay_steps = min_lr, max_lr, decay_steps

    def construct(self, global_step):
        return cosine_decay(as_step(global_step), self.min_lr, self.max_lr, self.decay_steps)


def cosine_decay(step: Tensor, low: float, high: float, steps: int) -> Tensor:
    """See `CosineDecayLR`."""
    p = minimum(step, k(step, steps))
    swing = add(k(step, 1), cos(mul(k(step, math.pi), div(p, k(step, steps)))))
    return add(k(step, low), mul(k(step, 0.5 * (high - low)), swing))


class PolynomialDecayLR(LearningRateSchedule):
    """``(learning_rate - end_learning_rate) * (1 - p) ** power + end_learning_rate``.

    Args:
        learning_rate (float): first rate.
        end_learning_rate (float): last rate.
        decay_steps (int): number of steps.
        power (float): the exponent.
        update_decay_steps (bool): whether decay starts again with twice, three times ... the steps. Default ``False``.

    Examples:
        >>> print(nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)(Tensor(2, ms.int32)))
        0.07363961
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        rate(learning_rate, "learning_rate", self.cls_name)
        checks.real(end_learning_rate, "end_learning_rate", self.cls_name)
        if end_learning_rate < 0:
            raise ValueError(f"For '{self.cls_name}', the 'end_learning_rate' must >= 0, but got {end_learning_rate}.")
        checks.positive_int(decay_steps, "decay_steps", self.cls_name)
        rate(power, "power", self.cls_name)
        self.learning_rate, self.end_learning_rate = learning_rate, end_learning_rate
        self.decay_steps, self.power = decay_steps, power
        self.update_decay_steps = checks.boolean(update_decay_steps, "update_decay_steps", self.cls_name)

    def construct(self, global_step):
        return polynomial_decay(
            as_step(global_step), self.learning_rate, self.end_learning_rate, self.decay_steps, self.power,
            self.update_decay_steps,
        )  # fmt: skip


def polynomial_decay(step: Tensor, start: float, end: float, steps: int, power: float, again: bool) -> Tensor:
    """See `PolynomialDecayLR`."""
    total = k(step, steps)
    if again:
        total = mul(total, maximum(ceil(div(step, total)), k(step, 1)))
    else:
        step = minimum(step, total)
    left = sub(k(step, 1), div(step, total))
    return add(mul(k(step, start - end), pow_(left, k(step, power))), k(step, end))


class WarmUpLR(LearningRateSchedule):
    """Rises from 0 to ``learning_rate`` in ``warmup_steps`` steps.

    Args:
        learning_rate (float): last rate.
        warmup_steps (int): number of steps.

    Examples:
        >>> print(nn.WarmUpLR(0.1, 4)(Tensor(2, ms.int32)))
        0.05
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        checks.real(learning_rate, "learning_rate", self.cls_name)
        if learning_rate < 0:
            raise ValueError(f"For '{self.cls_name}', the 'learning_rate' must >= 0, but got {learning_rate}.")
        self.learning_rate = learning_rate
        self.warmup_steps = checks.positive_int(warmup_steps, "warmup_steps", self.cls_name)

    def construct(self, global_step):
        return warm_up(as_step(global_step), self.learning_rate, self.warmup_steps)


def warm_up(step: Tensor, final: float, steps: int) -> Tensor:
    """See `WarmUpLR`."""
    return div(mul(k(step, final), minimum(step, k(step, steps))), k(step, steps))
