"""In-place methods that fill a tensor with random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.ops import random
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from . import operators
from .promote import as_tensor, refusal, to_dtype


def _drawn(self: Tensor, sample: Tensor) -> Tensor:
    write(self, to_dtype(sample, self.dtype))
    return self


def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Any = None) -> Tensor:
    """Every element is drawn evenly from ``from_`` to ``to``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([0.0, 0.0]).uniform_(1, 2) >= 1)
        [ True  True]
    """
    if from_ > to:
        raise ValueError(f"For 'uniform_', 'from_' must not exceed 'to', but got {from_} and {to}.")
    sample = random.standard_uniform(tuple(self.shape), dt.float32, generator)
    return _drawn(self, operators.add(operators.multiply(sample, float(to - from_)), float(from_)))


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Every element is drawn from a normal distribution.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([0.0, 0.0]).normal_().shape)
        (2,)
    """
    sample = random.standard_normal(tuple(self.shape), dt.float32, generator)
    return _drawn(self, operators.add(operators.multiply(sample, std), mean))


def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Every element is drawn from an exponential distribution of rate ``lambd``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([-1.0, -1.0]).exponential_() >= 0)
        [ True  True]
    """
    sample = random.exponential(tuple(self.shape), dt.float32, generator)
    return _drawn(self, operators.true_divide(sample, float(lambd)))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Every element is 1 with probability ``p``, else 0.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([0.0, 0.0]).bernoulli_(1.0))
        [1. 1.]
    """
    chance = p if isinstance(p, Tensor) else as_tensor(float(p), dt.float32)
    return _drawn(self, random.bernoulli(chance, tuple(self.shape), generator))


def random_(self: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Every element is an integer drawn evenly from ``from_`` to ``to - 1``; ``random_(to)`` starts at 0.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([0, 0]).random_(3, 4))
        [3 3]
    """
    if not isinstance(self, Tensor):
        raise refusal("Random", self)
    if to is None and from_ != 0:
        from_, to = 0, from_
    if to is None:
        digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}.get(self.dtype.name)
        to = 1 << (digits if digits is not None else 8 * self.dtype.itemsize - int(self.dtype.is_signed))
        to = min(to, (1 << 63) - 1)
    return _drawn(self, random.randint(from_, to, tuple(self.shape), dt.int64, generator))


METHODS: dict[str, Callable[..., Tensor]] = {
    f.__name__: f for f in (uniform_, normal_, exponential_, bernoulli_, random_)
}
