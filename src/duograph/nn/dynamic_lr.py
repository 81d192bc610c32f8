"""Learning rates as lists, one per step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.api.functional.forms import named
from duograph.nn import checks, rate_formulas

_positive, _not_negative = checks.against_0(">", "0"), checks.against_0(">=", "0")


def _per_step(total_step: int, step_per_epoch: int, owner: str, formula: Any, *settings: Any) -> list[float]:
    checks.positive_int(total_step, "total_step", owner)
    checks.positive_int(step_per_epoch, "step_per_epoch", owner)
    return [formula(step // step_per_epoch, *settings) for step in range(total_step)]


def piecewise_constant_lr(milestone: list[int], learning_rates: list[float]) -> list[float]:
    """``learning_rates[i]`` until step ``milestone[i]``.

    Args:
        milestone (Union[list[int], tuple[int]]): rising steps.
        learning_rates (Union[list[float], tuple[float]]): as many rates.

    Raises:
        TypeError: neither lists nor tuples.
        ValueError: of different lengths, or not rising.
    """
    owner = "piecewise_constant_lr"
    for name, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(value, list | tuple):
            raise TypeError(
                f"For '{owner}', the type of '{name}' should be list or tuple, but got {type(value).__name__}."
            )
    if len(milestone) != len(learning_rates):
        raise ValueError(
            f"For '{owner}', the size of 'milestone' must be same with the size of 'learning_rates', "
            f"but got {len(milestone)} and {len(learning_rates)}."
        )
    rates: list[float] = []
    last = 0
    for step, rate in zip(milestone, learning_rates, strict=True):
        checks.positive_int(step, "milestone[i]", owner)
        _not_negative(rate, "learning_rates[i]", owner)
        if step < last:
            raise ValueError(f"For '{owner}', the values of 'milestone' must be rising, but got {milestone}.")
        rates += [rate] * (step - last)
        last = step
    return rates


def _decay(name: str, formula: Callable[..., float], text: str) -> Any:
    def rates(
        learning_rate: float,
        decay_rate: float,
        total_step: int,
        step_per_epoch: int,
        decay_epoch: int,
        is_stair: bool = False,
    ) -> list[float]:
        _positive(learning_rate, "learning_rate", name)
        _positive(decay_rate, "decay_rate", name)
        checks.positive_int(decay_epoch, "decay_epoch", name)
        checks.boolean(is_stair, "is_stair", name)
        return _per_step(total_step, step_per_epoch, name, formula, learning_rate, decay_rate, decay_epoch, is_stair)

    return named(rates, name, text)


exponential_decay_lr = _decay(
    "exponential_decay_lr", rate_formulas.exponential, "``learning_rate * decay_rate ** (epoch / decay_epoch)``."
)
natural_exp_decay_lr = _decay(
    "natural_exp_decay_lr",
    rate_formulas.natural_exponential,
    "``learning_rate * exp(-decay_rate * epoch)``, with ``is_stair`` at the last multiple of ``decay_epoch``.",
)
inverse_decay_lr = _decay(
    "inverse_decay_lr", rate_formulas.inverse, "``learning_rate / (1 + decay_rate * epoch / decay_epoch)``."
)


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """From ``max_lr`` to ``min_lr`` along half a cosine in ``decay_epoch`` epochs."""
    owner = "cosine_decay_lr"
    _not_negative(min_lr, "min_lr", owner)
    _positive(max_lr, "max_lr", owner)
    checks.positive_int(decay_epoch, "decay_epoch", owner)
    checks.rising_rates(min_lr, max_lr, owner)
    return _per_step(total_step, step_per_epoch, owner, rate_formulas.cosine, min_lr, max_lr, decay_epoch)


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """``(learning_rate - end_learning_rate) * (1 - epoch / decay_epoch) ** power + end_learning_rate``."""
    owner = "polynomial_decay_lr"
    _positive(learning_rate, "learning_rate", owner)
    _not_negative(end_learning_rate, "end_learning_rate", owner)
    checks.positive_int(decay_epoch, "decay_epoch", owner)
    _positive(power, "power", owner)
    checks.boolean(update_decay_epoch, "update_decay_epoch", owner)
    settings = learning_rate, end_learning_rate, decay_epoch, power, update_decay_epoch
    return _per_step(total_step, step_per_epoch, owner, rate_formulas.polynomial, *settings)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """Rises from 0 to ``learning_rate`` in ``warmup_epoch`` epochs."""
    owner = "warmup_lr"
    _positive(learning_rate, "learning_rate", owner)
    checks.positive_int(warmup_epoch, "warmup_epoch", owner)
    return _per_step(total_step, step_per_epoch, owner, rate_formulas.warm_up, learning_rate, warmup_epoch)
