"""Learning rates as functions of the step, as Cells: they run inside graphs."""

from __future__ import annotations

from typing import Annotated

from duograph.core import dtype as dt
from duograph.nn import checks, rate_formulas
from duograph.nn.cell import Cell
from duograph.nn.kinds import Flag, PositiveInt
from duograph.nn.settings import Kind, option, with_settings
from duograph.ops.cast import cast
from duograph.ops.movement import reshape
from duograph.tensor.tensor import Tensor


def as_step(global_step: Tensor) -> Tensor:
    """The step (shape () or (1,)) as a float32 0-d tensor."""
    return cast(reshape(global_step, shape=()), dtype=dt.float32)


Rate = Annotated[float, Kind("float", checks.against_0(">", "0"))]
_lowest = checks.that(checks.real, lambda x: not x < 0, "be float and must >= 0, but got '{}'")
Lowest = Annotated[float, Kind("float", _lowest)]
NotNegative = Annotated[float, Kind("float", checks.that(checks.real, lambda x: not x < 0, ">= 0, but got {}"))]


class LearningRateSchedule(Cell):
    """Base class: ``construct(global_step)`` returns the rate of the step.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> class Falling(nn.LearningRateSchedule):
        ...     def construct(self, global_step):
        ...         return 1.0 / (global_step + 1.0)
        >>> print(Falling()(Tensor([1])))
        [0.5]
    """

    def construct(self, global_step):
        raise NotImplementedError(
            "The method `construct` must be overridden, and it must return the current learning rate."
        )


@with_settings
class _Decay(LearningRateSchedule):
    """A rate that decays with ``p = step / decay_steps``."""

    learning_rate: Rate = option("rate at step 0")
    decay_rate: Rate = option("how fast")
    decay_steps: PositiveInt = option("after how many steps")
    is_stair: Flag = option("whether it changes only every ``decay_steps`` steps", default=False)


@with_settings
class ExponentialDecayLR(_Decay):
    """``learning_rate * decay_rate ** p`` with ``p = step / decay_steps``.

    Examples:
        >>> print(nn.ExponentialDecayLR(0.1, 0.9, 4)(Tensor(2, ms.int32)))
        0.094868325
    """

    def construct(self, global_step):
        step = as_step(global_step)
        return rate_formulas.exponential(step, self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair)


@with_settings
class NaturalExpDecayLR(_Decay):
    """``learning_rate * exp(-decay_rate * step)``, with ``is_stair`` at the last multiple of ``decay_steps``.

    Examples:
        >>> print(nn.NaturalExpDecayLR(0.1, 0.9, 4)(Tensor(2, ms.int32)))
        0.01652989
    """

    def construct(self, global_step):
        settings = self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair
        return rate_formulas.natural_exponential(as_step(global_step), *settings)


@with_settings
class InverseDecayLR(_Decay):
    """``learning_rate / (1 + decay_rate * p)`` with ``p = step / decay_steps``.

    Examples:
        >>> print(nn.InverseDecayLR(0.1, 0.9, 4)(Tensor(2, ms.int32)))
        0.06896552
    """

    def construct(self, global_step):
        step = as_step(global_step)
        return rate_formulas.inverse(step, self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair)


@with_settings
class CosineDecayLR(LearningRateSchedule):
    """From ``max_lr`` to ``min_lr`` along half a cosine in ``decay_steps`` steps.

    Examples:
        >>> print(nn.CosineDecayLR(0.01, 0.1, 4)(Tensor(2, ms.int32)))
        0.055
    """

    min_lr: Lowest = option("last rate")
    max_lr: Rate = option("first rate")
    decay_steps: PositiveInt = option("number of steps")

    def _settings_taken(self, given):
        checks.rising_rates(self.min_lr, self.max_lr, self.cls_name)

    def construct(self, global_step):
        return rate_formulas.cosine(as_step(global_step), self.min_lr, self.max_lr, self.decay_steps)


@with_settings
class PolynomialDecayLR(LearningRateSchedule):
    """``(learning_rate - end_learning_rate) * (1 - p) ** power + end_learning_rate`` with ``p = step / decay_steps``.

    Examples:
        >>> print(nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)(Tensor(2, ms.int32)))
        0.07363961
    """

    learning_rate: Rate = option("first rate")
    end_learning_rate: NotNegative = option("last rate")
    decay_steps: PositiveInt = option("number of steps")
    power: Rate = option("the exponent")
    update_decay_steps: Flag = option("whether decay starts again with twice, three times ... the steps", default=False)

    def construct(self, global_step):
        settings = self.learning_rate, self.end_learning_rate, self.decay_steps, self.power, self.update_decay_steps
        return rate_formulas.polynomial(as_step(global_step), *settings)


@with_settings
class WarmUpLR(LearningRateSchedule):
    """Rises from 0 to ``learning_rate`` in ``warmup_steps`` steps.

    Examples:
        >>> print(nn.WarmUpLR(0.1, 4)(Tensor(2, ms.int32)))
        0.05
    """

    learning_rate: NotNegative = option("last rate")
    warmup_steps: PositiveInt = option("number of steps")

    def construct(self, global_step):
        return rate_formulas.warm_up(as_step(global_step), self.learning_rate, self.warmup_steps)
