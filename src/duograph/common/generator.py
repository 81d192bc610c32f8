"""Random number generators and seeds, under MindSpore's names."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from duograph.core.traits import Traits
from duograph.tensor.random import Generator, default_generator, manual_seed, only_at_run_time

__all__ = [
    "Generator", "default_generator", "get_rng_state", "get_seed", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
    "set_seed",
]  # fmt: skip

__capture__ = Traits(readers=("get_seed",))

_global_seed: list[int | None] = [None]


def set_seed(seed: int) -> None:
    """Seeds every random function, and NumPy's global generator.

    Args:
        seed (int): not negative.

    Raises:
        TypeError: the seed is not an int.
        ValueError: it is negative.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> ms.set_seed(1)
        >>> ms.get_seed()
        1
    """
    only_at_run_time()
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"The argument 'seed' must be type of int, but got {type(seed)}.")
    if seed < 0:
        raise ValueError(f"For 'global_seed', the 'seed' must be int and must >= 0, but got '{seed}' with type 'int'.")
    np.random.seed(seed % 2**32)
    manual_seed(seed)
    _global_seed[0] = seed


def get_seed() -> int | None:
    """What `set_seed` has set, ``None`` before."""
    only_at_run_time()
    return _global_seed[0]


def seed() -> int:
    """Seeds the default generator from the clock; returns the seed."""
    value = time.time_ns() & 0x7FFFFFFFFFFFFFFF
    manual_seed(value)
    return value


def initial_seed() -> Any:
    """The seed of the default generator."""
    return default_generator().initial_seed()


def get_rng_state() -> Any:
    """Where the default generator stands."""
    return default_generator().get_state()


def set_rng_state(state: Any) -> None:
    """Continues the default generator from a state of `get_rng_state`."""
    default_generator().set_state(state)
