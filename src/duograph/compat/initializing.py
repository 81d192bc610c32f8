"""Functions of MindSpore's inner modules that initialisers of model-zoo files use; they work on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.common.initializer import ALIASES, Initializer, Normal, TruncatedNormal, Uniform, fans, gain_of

__all__ = [
    "_assignment", "_calculate_correct_fan", "_calculate_gain", "_init_random_normal", "_init_random_uniform",
    "_init_truncated_normal", "_random_normal", "_register",
]  # fmt: skip


def _assignment(arr: np.ndarray, num: Any) -> np.ndarray:
    """Fills an array, and gives it back."""
    arr[...] = num
    return arr


def _calculate_correct_fan(shape: tuple[int, ...], mode: str) -> int:
    """The number of inputs (``"fan_in"``) or outputs (``"fan_out"``) of a weight.

    Raises:
        ValueError: another mode.
    """
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"'mode' {mode.lower()} not supported, please use one of {modes}")
    return fans(shape)[modes.index(mode.lower())]


def _calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The gain of a nonlinearity; ``param`` is the slope of ``"leaky_relu"``."""
    return gain_of("linear" if nonlinearity.startswith("conv") else nonlinearity, param, "HeUniform")


def _init_random_normal(mean: float, sigma: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draws from a normal distribution."""
    return _drawn(Normal(sigma, mean), shape)


def _random_normal(seed: int, data: np.ndarray, mean: float, sigma: float) -> None:
    """Fills an array with what is drawn from a normal distribution after ``seed``."""
    data[...] = np.random.default_rng(int(seed)).normal(mean, sigma, data.shape)


def _init_random_uniform(a: float, b: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draws from a uniform distribution."""
    return (_drawn(Uniform(0.5), shape) + np.float32(0.5)) * np.float32(b - a) + np.float32(a)


def _init_truncated_normal(a: float, b: float, mean: float, sigma: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draws from a normal distribution that is cut off ``a`` and ``b`` deviations from its mean."""
    return _drawn(TruncatedNormal(sigma, mean, a, b), shape)


def _register(*aliases: str) -> Callable[[type[Initializer]], type[Initializer]]:
    """Lets ``initializer("name", ...)`` find a class, unless another has the name already.

    Args:
        aliases: names beside that of the class in small letters.

    Returns:
        A decorator of classes.
    """

    def registered(cls: type[Initializer]) -> type[Initializer]:
        for name in (cls.__name__.lower(), *aliases):
            ALIASES.setdefault(name, cls)
        return cls

    return registered


def _drawn(init: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(shape, np.float32)
    init(array)
    return array
