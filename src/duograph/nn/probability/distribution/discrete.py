"""Distributions of whole numbers: their formulas. Values between two of them count as the lower one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duograph.api.functional.random import source
from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.core.shapes import broadcast_shapes
from duograph.ops import random as draws

from .base import parameter, positive, share
from .continuous import Sampled, within

__all__ = ["Bernoulli", "Categorical", "Geometric", "Poisson"]

_OPS = functions()
log, log1p, exp, where, floor = (_OPS[name] for name in ("log", "log1p", "exp", "where", "floor"))


class Bernoulli(Sampled):
    """1 with probability ``probs``, else 0.

    Args:
        probs (Union[int, float, list, numpy.ndarray, Tensor]): ``None``: calls give it. Default ``None``.
        seed (int): of the samples; ``None``: the default generator. Default ``None``.
        dtype (mindspore.dtype): type of samples. Default ``int32``.
        name (str): Default ``'Bernoulli'``.

    Raises:
        ValueError: ``probs`` is not in (0, 1).

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Bernoulli
        >>> print(Bernoulli(0.25).prob(ms.Tensor([0, 1, 2])), Bernoulli(0.25).sample((2, 3)).shape)
        [0.75 0.25 0.  ] (2, 3)
    """

    rules = {"probs": share}
    call_names = ("probs1",)
    probs = parameter("probs")
    discrete = True

    def __init__(self, probs=None, seed=None, dtype=dt.int32, name="Bernoulli") -> None:
        self._begin(locals())

    def _mean(self, p):
        return p

    def _var(self, p):
        return p * (1.0 - p)

    def _mode(self, p):
        return (p > 0.5).astype(self._dtype)

    def _entropy(self, p):
        return -((1.0 - p) * log1p(-p)) - p * log(p)

    def _log_prob(self, value, p):
        k = floor(value)
        return where(k == 1, log(p), where(k == 0, log1p(-p), -math.inf))

    def _cdf(self, value, p):
        return where(value < 0, 0.0, where(value < 1, 1.0 - p, 1.0))

    def _kl_loss(self, dist, p_b, p):
        return p * (log(p) - log(p_b)) + (1.0 - p) * (log1p(-p) - log1p(-p_b))

    def _draw(self, size, generator, p):
        return draws.standard_uniform(size, self._parameter_type, generator) < p


class Geometric(Sampled):
    """The number of failures before the first success, which has probability ``probs``.

    Args and Raises as for `Bernoulli`.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Geometric
        >>> print(Geometric(0.5).cdf(ms.Tensor([0, 1, 2])), Geometric(0.5).mean())
        [0.5   0.75  0.875] 1.0
    """

    rules = {"probs": share}
    call_names = ("probs1",)
    probs = parameter("probs")
    discrete = True

    def __init__(self, probs=None, seed=None, dtype=dt.int32, name="Geometric") -> None:
        self._begin(locals())

    def _mean(self, p):
        return (1.0 - p) / p

    def _var(self, p):
        return (1.0 - p) / (p * p)

    def _mode(self, p):
        return _OPS["zeros_like"](p).astype(self._dtype)

    def _entropy(self, p):
        return (-((1.0 - p) * log1p(-p)) - p * log(p)) / p

    def _log_prob(self, value, p):
        k = floor(value)
        return where(k < 0, -math.inf, k * log1p(-p) + log(p))

    def _log_survival(self, value, p):
        k = floor(value)
        return where(k < 0, 0.0, (k + 1.0) * log1p(-p))

    def _kl_loss(self, dist, p_b, p):
        return log(p / p_b) + (1.0 - p) / p * (log1p(-p) - log1p(-p_b))

    def _draw(self, size, generator, p):
        return floor(log(self._uniform(size, generator)) / log1p(-p))


class Poisson(Sampled):
    """The number of events in a time in which ``rate`` are expected.

    Args and Raises as for `Bernoulli`, with a positive ``rate`` and float32 samples.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Poisson
        >>> print(Poisson([2.0]).prob(ms.Tensor([-1, 0, 1])), Poisson([2.5]).mode())
        [0.         0.13533528 0.27067056] [2.]
    """

    rules = {"rate": positive}
    rate = parameter("rate")
    discrete = True

    def __init__(self, rate=None, seed=None, dtype=dt.float32, name="Poisson") -> None:
        self._begin(locals())

    def _mean(self, rate):
        return rate

    _var = _mean

    def _mode(self, rate):
        return floor(rate)

    def _log_prob(self, value, rate):
        return within(
            value >= 0, value, 0.0, lambda k: _OPS["xlogy"](k, rate) - _OPS["lgamma"](k + 1.0) - rate, -math.inf
        )

    def _cdf(self, value, rate):
        return within(value >= 0, value, 0.0, lambda k: _OPS["igammac"](floor(k) + 1.0, rate), 0.0)

    def _survival_function(self, value, rate):
        return within(value >= 0, value, 0.0, lambda k: _OPS["igamma"](floor(k) + 1.0, rate), 1.0)

    def _draw(self, size, generator, rate):
        return draws.poisson(_OPS["broadcast_to"](rate, size), generator)


def _probabilities(value: np.ndarray) -> str:
    if value.ndim == 0:
        return "have rank of at least 1"
    if not (value > 0).all() or not (value < 1).all():
        return "be in range of (0, 1)"
    sums = value.astype(np.float64).sum(-1)
    return "" if np.allclose(sums, 1, rtol=10 * float(np.finfo(value.dtype).eps), atol=0) else "sum to 1"


def _chosen(of_classes: Any, place: Any) -> Any:
    """What each of ``place`` has of values along the last axis; places beyond the ends count as the ends."""
    shape = tuple(broadcast_shapes(place.shape, of_classes.shape[:-1]))
    count = of_classes.shape[-1]
    index = _OPS["broadcast_to"](place.clamp(0, count - 1).astype(dt.int32), shape)
    values = _OPS["broadcast_to"](of_classes, (*shape, count))
    return _OPS["gather_elements"](values, len(shape), index.expand_dims(-1)).squeeze(-1)


class Categorical(Sampled):
    """A class ``0 ... n - 1``, with the probabilities along the last axis of ``probs``.

    Args and Raises as for `Bernoulli`; ``probs`` has at least one axis, and sums to 1 along the last.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Categorical
        >>> classes = Categorical([0.25, 0.75])
        >>> print(classes.prob(ms.Tensor([1, 0])), classes.mean(), classes.mode())
        [0.75 0.25] [0.75] 1
    """

    rules = {"probs": _probabilities}
    probs = parameter("probs")
    discrete = True

    def __init__(self, probs=None, seed=None, dtype=dt.int32, name="Categorical") -> None:
        self._begin(locals())

    @property
    def batch_shape(self):
        return None if self.probs is None else tuple(self.probs.shape)

    @property
    def broadcast_shape(self):
        return None if self.probs is None else tuple(self.probs.shape[:-1])

    def _moment(self, p, power):
        places = _OPS["arange"](p.shape[-1]).astype(p.dtype)
        return (p * places**power).sum(-1, keepdims=True)

    def _mean(self, p):
        return self._moment(p, 1)

    def _var(self, p):
        return self._moment(p, 2) - self._moment(p, 1) ** 2

    def _mode(self, p):
        return p.argmax(-1).astype(self._dtype)

    def _entropy(self, p):
        return -(p * log(p)).sum(-1)

    def _kl_loss(self, dist, p_b, p):
        return (p * (log(p) - log(p_b))).sum(-1)

    def _log_prob(self, value, p):
        k = floor(value)
        inside = (k >= 0).logical_and(k < p.shape[-1])
        return where(inside, _chosen(log(p), k), -math.inf)

    def _cdf(self, value, p):
        return where(value < 0, 0.0, _chosen(p.cumsum(-1), floor(value)))

    def _sample(self, shape, p):
        count = p.shape[-1]
        u = draws.standard_uniform((*shape, *p.shape[:-1], 1), self._parameter_type, source(self._seed))
        # the last sum may be less than 1 by a rounding: a number above it is of the last class
        return (u >= p.cumsum(-1)).astype(dt.int32).sum(-1).clamp(0, count - 1).astype(self._dtype)
