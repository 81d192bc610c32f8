"""Primitive classes of random draws."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.ops import movement
from duograph.ops import random as draws
from duograph.tensor.tensor import Tensor

from ..functional import nn, random
from ..promote import to_dtype
from ..tensor_shape import shape_of
from .base import REQUIRED, Table

CLASSES = Table()
_row = CLASSES.row


_SEEDS = {"seed": 0, "seed2": 0}


def _seed(p: Any) -> Any:
    """The seed of both."""
    return random.joined_seed(p.seed, p.seed2)


_row("StandardNormal", lambda p, shape: random.standard_normal(shape, _seed(p)), _SEEDS)
_row("StandardLaplace", lambda p, shape: random.standard_laplace(shape, _seed(p)), _SEEDS)
_row("UniformReal", lambda p, shape: random.rand(*shape_of((shape,), "UniformReal"), seed=_seed(p)), _SEEDS)
_row(
    "UniformInt",
    lambda p, shape, low, high: random.randint(low, high, shape, _seed(p), dtype=dt.int32),
    _SEEDS,
)
_row("Gamma", lambda p, shape, alpha, beta: random.gamma(shape, alpha, beta, _seed(p)), _SEEDS)
_row("Poisson", lambda p, shape, mean: to_dtype(random.poisson(shape, mean, _seed(p)), dt.int32), _SEEDS)
_row("RandomShuffle", lambda p, x: random.shuffle(x, _seed(p)), _SEEDS)
_row(
    "RandomChoiceWithMask",
    lambda p, x: random.choice_with_mask(x, p.count, _seed(p)),
    {"count": 256, **_SEEDS},
)
_row(
    "Multinomial",
    lambda p, x, n: to_dtype(random.multinomial(x, n, True, _seed(p)), p.dtype),
    {**_SEEDS, "dtype": dt.int32},
)
_row(
    "RandpermV2",
    lambda p, n: random.randperm(n, p.seed, p.offset, p.dtype),
    {"seed": 0, "offset": 0, "dtype": dt.int64},
)
_row(
    "Bernoulli", lambda p, x, prob: random.bernoulli(x, prob, random.joined_seed(max(p.seed, 0), p.offset)),
    {"seed": -1, "offset": 0},
)  # fmt: skip
_row("RandomCategorical", lambda p, x, n, seed=0: random.random_categorical(x, n, seed, p.dtype), {"dtype": dt.int64})
_row(
    "TruncatedNormal",
    lambda p, shape: draws.truncated_normal(-2.0, 2.0, shape_of((shape,), p.name), p.dtype, random.source(_seed(p))),
    {"dtype": dt.float32, **_SEEDS},
)

_row("RandomGamma", lambda p, shape, alpha: random.random_gamma(shape, alpha, _seed(p)), _SEEDS)
_row(
    "RandomPoisson", lambda p, shape, rate: random.random_poisson(shape, rate, _seed(p), p.dtype),
    {**_SEEDS, "dtype": dt.int64},
)  # fmt: skip
_row(
    "MultinomialWithReplacement",
    lambda p, x, seed, offset: random.multinomial_with_replacement(x, seed, offset, p.numsamples, p.replacement),
    {"numsamples": REQUIRED, "replacement": False},
)


def _dropout(p: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """What is kept, divided by ``keep_prob``, and the mask as numbers."""
    mask = draws.dropout_mask(p.keep_prob, tuple(x.shape), random.source(random.joined_seed(p.Seed0, p.Seed1)))
    return nn.masked_and_scaled(x, mask, p.keep_prob), to_dtype(mask, x.dtype)


def _check_keep(p: Any) -> None:
    if isinstance(p.keep_prob, bool) or not isinstance(p.keep_prob, int | float):
        raise TypeError(f"For '{p.name}', the 'keep_prob' must be float, but got {type(p.keep_prob).__name__}.")
    if not 0 < p.keep_prob <= 1:
        raise ValueError(f"For '{p.name}', the 'keep_prob' must be in range (0.0, 1.0], but got {p.keep_prob}.")


_row("Dropout", _dropout, {"keep_prob": 0.5, "Seed0": 0, "Seed1": 0}, check=_check_keep)


def _dropout_channels(rank: int) -> Any:
    def forward(p: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        lead = x.ndim - rank
        mask = draws.dropout_mask(p.keep_prob, (*x.shape[:lead], *(1,) * rank))
        return nn.masked_and_scaled(x, mask, p.keep_prob), movement.broadcast_to(mask, shape=tuple(x.shape))

    return forward


_row("Dropout2D", _dropout_channels(2), {"keep_prob": 0.5})
_row("Dropout3D", _dropout_channels(3), {"keep_prob": 0.5})
