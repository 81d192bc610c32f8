"""Formulas of learning rates, each written once: `dynamic_lr` gives the step as a number, `learning_rate_schedule` as a
tensor."""

from __future__ import annotations

import math
from typing import Any

from duograph.ops import unary
from duograph.ops.arithmetic import maximum, minimum
from duograph.ops.creation import constant_like
from duograph.tensor.tensor import Tensor


def floor(x: Any) -> Any:
    """The next whole number below."""
    return unary.floor(x) if isinstance(x, Tensor) else math.floor(x)


def at_most(x: Any, bound: float) -> Any:
    """The smaller of both."""
    return minimum(x, constant_like(x, bound)) if isinstance(x, Tensor) else min(x, bound)


def periods(step: Any, steps: int) -> Any:
    """How many times ``steps`` have begun, at least 1."""
    if isinstance(step, Tensor):
        return maximum(unary.ceil(step / steps), constant_like(step, 1))
    return max(math.ceil(step / steps), 1)


def share(step: Any, steps: int, stair: bool) -> Any:
    """``step / steps``; ``stair``: the whole part of it."""
    return floor(step / steps) if stair else step / steps


def exponential(step: Any, start: float, factor: float, steps: int, stair: bool) -> Any:
    """``start * factor ** p`` with ``p = step / steps``."""
    return start * factor ** share(step, steps, stair)


def natural_exponential(step: Any, start: float, factor: float, steps: int, stair: bool) -> Any:
    """``start * exp(-factor * step)``, with ``stair`` at the last multiple of ``steps``."""
    exponent = -factor * (share(step, steps, stair) * steps if stair else step)
    return start * (unary.exp(exponent) if isinstance(step, Tensor) else math.e**exponent)


def inverse(step: Any, start: float, factor: float, steps: int, stair: bool) -> Any:
    """``start / (1 + factor * p)``."""
    return start / (1 + factor * share(step, steps, stair))


def cosine(step: Any, low: float, high: float, steps: int) -> Any:
    """From ``high`` to ``low`` along half a cosine in ``steps`` steps."""
    step = at_most(step, steps)
    if isinstance(step, Tensor):  # the order of MindSpore's schedule, which divides first
        swing = unary.cos(math.pi * (step / steps))
    else:
        swing = math.cos(math.pi * step / steps)
    return low + 0.5 * (high - low) * (1 + swing)


def polynomial(step: Any, start: float, end: float, steps: int, power: float, again: bool) -> Any:
    """``(start - end) * (1 - p) ** power + end``; ``again``: with more steps once they are over."""
    left = 1 - (step / (steps * periods(step, steps)) if again else at_most(step, steps) / steps)
    return (start - end) * left**power + end


def warm_up(step: Any, final: float, steps: int) -> Any:
    """From 0 to ``final`` in ``steps`` steps."""
    return final * at_most(step, steps) / steps
