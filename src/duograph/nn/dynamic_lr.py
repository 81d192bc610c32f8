"""Learning rates as lists, one per step."""

from __future__ import annotations

import math
from collections.abc import Callable

from duograph.nn import checks


def _rate(value: float, name: str, owner: str, zero: bool = False) -> None:
    checks.real(value, name, owner)
    if value < 0 or (value == 0 and not zero):
        raise ValueError(
            f"For '{owner}', the '{name}' must be float and must {'>=' if zero else '>'} 0, but got '{value}' with "
            "type 'float'."
        )


def _per_step(total_step: int, step_per_epoch: int, owner: str, of_epoch: Callable[[int], float]) -> list[float]:
    checks.positive_int(total_step, "total_step", owner)
    checks.positive_int(step_per_epoch, "step_per_epoch", owner)
    return [of_epoch(step // step_per_epoch) for step in range(total_step)]


def _decay_checks(learning_rate: float, decay_rate: float, decay_epoch: int, is_stair: bool, owner: str) -> None:
    _rate(learning_rate, "learning_rate", owner)
    _rate(decay_rate, "decay_rate", owner)
    checks.positive_int(decay_epoch, "decay_epoch", owner)
    checks.boolean(is_stair, "is_stair", owner)


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
        _rate(rate, "learning_rates[i]", owner, zero=True)
        if step < last:
            raise ValueError(f"For '{owner}', the values of 'milestone' must be rising, but got {milestone}.")
        rates += [rate] * (step - last)
        last = step
    return rates


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate * decay_rate ** (epoch / decay_epoch)``."""
    owner = "exponential_decay_lr"
    _decay_checks(learning_rate, decay_rate, decay_epoch, is_stair, owner)

    def of(epoch: int) -> float:
        p = epoch // decay_epoch if is_stair else epoch / decay_epoch
        return learning_rate * decay_rate**p

    return _per_step(total_step, step_per_epoch, owner, of)


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate * exp(-decay_rate * epoch)``, with ``is_stair`` at the last multiple of ``decay_epoch``."""
    owner = "natural_exp_decay_lr"
    _decay_checks(learning_rate, decay_rate, decay_epoch, is_stair, owner)

    def of(epoch: int) -> float:
        at = epoch // decay_epoch * decay_epoch if is_stair else epoch
        return learning_rate * math.e ** (-decay_rate * at)

    return _per_step(total_step, step_per_epoch, owner, of)


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate / (1 + decay_rate * epoch / decay_epoch)``."""
    owner = "inverse_decay_lr"
    _decay_checks(learning_rate, decay_rate, decay_epoch, is_stair, owner)

    def of(epoch: int) -> float:
        p = epoch // decay_epoch if is_stair else epoch / decay_epoch
        return learning_rate / (1 + decay_rate * p)

    return _per_step(total_step, step_per_epoch, owner, of)


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """From ``max_lr`` to ``min_lr`` along half a cosine in ``decay_epoch`` epochs."""
    owner = "cosine_decay_lr"
    _rate(min_lr, "min_lr", owner, zero=True)
    _rate(max_lr, "max_lr", owner)
    checks.positive_int(decay_epoch, "decay_epoch", owner)
    if min_lr >= max_lr:
        raise ValueError(
            f"For '{owner}', the 'max_lr' must be greater than the 'min_lr', but got 'max_lr' value: {max_lr}, "
            f"'min_lr' value: {min_lr}."
        )

    def of(epoch: int) -> float:
        return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * min(epoch, decay_epoch) / decay_epoch))

    return _per_step(total_step, step_per_epoch, owner, of)


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
    _rate(learning_rate, "learning_rate", owner)
    _rate(end_learning_rate, "end_learning_rate", owner, zero=True)
    checks.positive_int(decay_epoch, "decay_epoch", owner)
    _rate(power, "power", owner)
    checks.boolean(update_decay_epoch, "update_decay_epoch", owner)

    def of(epoch: int) -> float:
        whole = decay_epoch * max(math.ceil(epoch / decay_epoch), 1) if update_decay_epoch else decay_epoch
        left = 1 - (epoch if update_decay_epoch else min(epoch, decay_epoch)) / whole
        return (learning_rate - end_learning_rate) * left**power + end_learning_rate

    return _per_step(total_step, step_per_epoch, owner, of)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """Rises from 0 to ``learning_rate`` in ``warmup_epoch`` epochs."""
    owner = "warmup_lr"
    _rate(learning_rate, "learning_rate", owner)
    checks.positive_int(warmup_epoch, "warmup_epoch", owner)
    return _per_step(
        total_step, step_per_epoch, owner, lambda epoch: learning_rate * min(epoch, warmup_epoch) / warmup_epoch
    )
