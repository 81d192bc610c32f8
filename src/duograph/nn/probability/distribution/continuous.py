"""Continuous distributions: their formulas."""

from __future__ import annotations

import math
from typing import Any

from duograph.api.functional.random import source
from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.ops import random as draws

from .base import Distribution, any_number, below, parameter, positive

__all__ = [
    "Beta", "Cauchy", "Exponential", "Gamma", "HalfNormal", "Laplace", "Logistic", "Normal", "Sampled", "StudentT",
    "Uniform", "log_normal_cdf", "normal_divergence", "normal_log_prob", "within",
]  # fmt: skip

_OPS = functions()
exp, log, log1p, lgamma, digamma = (_OPS[name] for name in ("exp", "log", "log1p", "lgamma", "digamma"))
where, erfc, expm1, xlogy, softplus = (_OPS[name] for name in ("where", "erfc", "expm1", "xlogy", "softplus"))
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def within(inside: Any, value: Any, harmless: float, formula: Any, outside: float) -> Any:
    """``formula(value)`` where ``inside``, else ``outside``; what lies outside spoils no gradient."""
    return where(inside, formula(where(inside, value, harmless)), outside)


def normal_log_prob(z: Any, sd: Any) -> Any:
    """The log density of a normal variable, ``z`` standard deviations from its mean."""
    return -0.5 * z * z - (log(sd) + _HALF_LOG_2PI)


def log_normal_cdf(z: Any) -> Any:
    """The logarithm of the probability of less than ``z`` standard deviations above the mean, far down as well."""
    near, far = z.clamp(-10.0), z.clamp(max=-10.0)
    square = 1.0 / (far * far)
    tail = log1p(square * (-1.0 + square * (3.0 - square * (15.0 - square * 105.0))))
    return where(z < -10.0, -0.5 * far * far - log(-far) - _HALF_LOG_2PI + tail, log(0.5 * erfc(near * -(0.5**0.5))))


def normal_divergence(mean_b: Any, sd_b: Any, mean: Any, sd: Any) -> Any:
    """KL(a||b) of two normal distributions."""
    z, ratio = (mean - mean_b) / sd_b, log(sd) - log(sd_b)
    return 0.5 * z * z + 0.5 * expm1(2.0 * ratio) - ratio


class Sampled(Distribution):
    """Distributions that draw as many numbers as the sample has elements, from ``_draw(size, generator, ...)``."""

    def _sample(self, shape, *parameters):
        drawn = self._draw((*shape, *parameters[0].shape), source(self._seed), *parameters)
        return drawn.astype(self._dtype)

    def _uniform(self, size, generator):
        """In (0, 1]: its logarithm is finite."""
        return 1.0 - draws.standard_uniform(size, self._parameter_type, generator)


class Normal(Sampled):
    """The normal distribution, of density ``exp(-((x - mean) / sd)^2 / 2) / (sd sqrt(2 pi))``.

    Args:
        mean (Union[int, float, list, numpy.ndarray, Tensor]): mean; ``None``: calls give it. Default ``None``.
        sd (Union[int, float, list, numpy.ndarray, Tensor]): standard deviation. Default ``None``.
        seed (int): of the samples; ``None``: the default generator. Default ``None``.
        dtype (mindspore.dtype): type of samples. Default ``float32``.
        name (str): Default ``'Normal'``.

    Raises:
        TypeError: ``dtype`` is not a float type.
        ValueError: ``sd`` is not positive.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Normal
        >>> normal = Normal(0.0, 2.0)
        >>> print(normal.log_prob(ms.Tensor([0.0, 2.0])), normal.cdf(ms.Tensor([0.0])))
        [-1.6120857 -2.1120858] [0.5]
        >>> print(normal.kl_loss("Normal", ms.Tensor([1.0]), ms.Tensor([2.0])))
        [0.125]
    """

    rules = {"mean": any_number, "sd": positive}

    def __init__(self, mean=None, sd=None, seed=None, dtype=dt.float32, name="Normal") -> None:
        self._begin(locals())

    def _mean(self, mean, sd):
        return mean

    _mode = _mean

    def _sd(self, mean, sd):
        return sd

    def _entropy(self, mean, sd):
        return log(sd) + (_HALF_LOG_2PI + 0.5)

    def _log_prob(self, value, mean, sd):
        return normal_log_prob((value - mean) / sd, sd)

    def _cdf(self, value, mean, sd):
        return 0.5 * erfc((mean - value) / (sd * math.sqrt(2)))

    def _survival_function(self, value, mean, sd):
        return 0.5 * erfc((value - mean) / (sd * math.sqrt(2)))

    def _log_cdf(self, value, mean, sd):
        return log_normal_cdf((value - mean) / sd)

    def _log_survival(self, value, mean, sd):
        return log_normal_cdf((mean - value) / sd)

    def _kl_loss(self, dist, mean_b, sd_b, mean, sd):
        return normal_divergence(mean_b, sd_b, mean, sd)

    def _draw(self, size, generator, mean, sd):
        return mean + sd * draws.standard_normal(size, self._parameter_type, generator)


class Uniform(Sampled):
    """The uniform distribution on ``[low, high]``.

    Args and Raises as for `Normal`, with ``low`` and ``high``.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Uniform
        >>> uniform = Uniform(0.0, 4.0)
        >>> print(uniform.prob(ms.Tensor([1.0, 5.0])), uniform.mean(), uniform.cdf(ms.Tensor([1.0, 5.0])))
        [0.25 0.  ] 2.0 [0.25 1.  ]
    """

    rules = {"low": any_number, "high": any_number}
    low, high = parameter("low"), parameter("high")

    def __init__(self, low=None, high=None, seed=None, dtype=dt.float32, name="Uniform") -> None:
        self._begin(locals())
        below(self.low, self.high, "Uniform")

    def _mean(self, low, high):
        return 0.5 * (low + high)

    def _var(self, low, high):
        return (high - low) * (high - low) / 12.0

    def _entropy(self, low, high):
        return log(high - low)

    def _prob(self, value, low, high):
        return where((value < low).logical_or(value > high), 0.0, 1.0 / (high - low))

    def _log_prob(self, value, low, high):
        return where((value < low).logical_or(value > high), -math.inf, -log(high - low))

    def _cdf(self, value, low, high):
        return ((value - low) / (high - low)).clamp(0.0, 1.0)

    def _kl_loss(self, dist, low_b, high_b, low, high):
        covered = (low_b <= low).logical_and(high <= high_b)
        return where(covered, log(high_b - low_b) - log(high - low), math.inf)

    def _draw(self, size, generator, low, high):
        return low + (high - low) * draws.standard_uniform(size, self._parameter_type, generator)


class Exponential(Sampled):
    """The exponential distribution, of density ``rate exp(-rate x)`` for ``x >= 0``.

    Args and Raises as for `Normal`, with a positive ``rate``.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Exponential
        >>> print(Exponential(2.0).log_survival(ms.Tensor([0.0, 1.0, 50.0])), Exponential(2.0).mean())
        [  -0.   -2. -100.] 0.5
    """

    rules = {"rate": positive}
    rate = parameter("rate")

    def __init__(self, rate=None, seed=None, dtype=dt.float32, name="Exponential") -> None:
        self._begin(locals())

    def _mean(self, rate):
        return 1.0 / rate

    _sd = _mean

    def _mode(self, rate):
        return _OPS["zeros_like"](rate)

    def _entropy(self, rate):
        return 1.0 - log(rate)

    def _log_prob(self, value, rate):
        return where(value < 0, -math.inf, log(rate) - rate * value)

    def _cdf(self, value, rate):
        return within(value >= 0, value, 0.0, lambda x: -expm1(-rate * x), 0.0)

    def _log_survival(self, value, rate):
        return where(value < 0, 0.0, -rate * value)

    def _kl_loss(self, dist, rate_b, rate):
        return log(rate) - log(rate_b) + rate_b / rate - 1.0

    def _draw(self, size, generator, rate):
        return -log(self._uniform(size, generator)) / rate


class Cauchy(Sampled):
    """The Cauchy distribution, of density ``1 / (pi scale (1 + ((x - loc) / scale)^2))``; it has no mean.

    Args and Raises as for `Normal`, with ``loc`` and a positive ``scale``.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Cauchy
        >>> print(Cauchy(0.0, 1.0).cdf(ms.Tensor([-1.0, 0.0, 1.0])))
        [0.25 0.5  0.75]
    """

    rules = {"loc": any_number, "scale": positive}
    loc, scale = parameter("loc"), parameter("scale")
    undefined = ("mean", "sd", "var")

    def __init__(self, loc=None, scale=None, seed=None, dtype=dt.float32, name="Cauchy") -> None:
        self._begin(locals())

    def _mode(self, loc, scale):
        return loc

    def _entropy(self, loc, scale):
        return log(scale) + math.log(4 * math.pi)

    def _log_prob(self, value, loc, scale):
        z = (value - loc) / scale
        return -log1p(z * z) - log(math.pi * scale)

    def _cdf(self, value, loc, scale):
        # atan2(1, -z) is the angle of the tail, exact where atan(z) + pi / 2 would cancel
        return _OPS["atan2"](_OPS["ones_like"](value), (loc - value) / scale) / math.pi

    def _survival_function(self, value, loc, scale):
        return _OPS["atan2"](_OPS["ones_like"](value), (value - loc) / scale) / math.pi

    def _kl_loss(self, dist, loc_b, scale_b, loc, scale):
        total, apart = scale + scale_b, loc - loc_b
        return log(total * total + apart * apart) - math.log(4.0) - log(scale) - log(scale_b)

    def _draw(self, size, generator, loc, scale):
        return loc + scale * _OPS["tan"](math.pi * (self._uniform(size, generator) - 0.5))


class Logistic(Sampled):
    """The logistic distribution, whose `cdf` is ``sigmoid((x - loc) / scale)``.

    Args and Raises as for `Normal`, with ``loc`` and a positive ``scale``.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Logistic
        >>> print(Logistic(0.0, 1.0).log_cdf(ms.Tensor([-50.0, 0.0])))
        [-50.         -0.6931472]
    """

    rules = {"loc": any_number, "scale": positive}
    loc, scale = parameter("loc"), parameter("scale")

    def __init__(self, loc=None, scale=None, seed=None, dtype=dt.float32, name="Logistic") -> None:
        self._begin(locals())

    def _mean(self, loc, scale):
        return loc

    _mode = _mean

    def _sd(self, loc, scale):
        return scale * (math.pi / math.sqrt(3))

    def _entropy(self, loc, scale):
        return log(scale) + 2.0

    def _log_prob(self, value, loc, scale):
        z = (value - loc) / scale
        return -z - 2.0 * softplus(-z) - log(scale)

    def _cdf(self, value, loc, scale):
        return _OPS["sigmoid"]((value - loc) / scale)

    def _log_cdf(self, value, loc, scale):
        return -softplus((loc - value) / scale)

    def _survival_function(self, value, loc, scale):
        return _OPS["sigmoid"]((loc - value) / scale)

    def _log_survival(self, value, loc, scale):
        return -softplus((value - loc) / scale)

    def _draw(self, size, generator, loc, scale):
        u = self._uniform(size, generator)
        return loc + scale * (log(u) - log((1.0 - u).clamp(self._tiny)))


class Gamma(Sampled):
    """The gamma distribution, of density ``rate^a x^(a - 1) exp(-rate x) / gamma(a)`` with ``a = concentration``.

    Args and Raises as for `Normal`, with ``concentration`` and ``rate``, both positive.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Gamma
        >>> gamma = Gamma([3.0], [4.0])
        >>> print(gamma.mean(), gamma.mode(), gamma.log_prob(ms.Tensor([-1.0, 1.0])))
        [0.75] [0.5] [      -inf -0.5342641]
    """

    rules = {"concentration": positive, "rate": positive}
    concentration, rate = parameter("concentration"), parameter("rate")

    def __init__(self, concentration=None, rate=None, seed=None, dtype=dt.float32, name="Gamma") -> None:
        self._begin(locals())

    def _mean(self, a, rate):
        return a / rate

    def _var(self, a, rate):
        return a / (rate * rate)

    def _mode(self, a, rate):
        return where(a > 1, (a - 1.0) / rate, math.nan)

    def _entropy(self, a, rate):
        return a - log(rate) + lgamma(a) + (1.0 - a) * digamma(a)

    def _log_prob(self, value, a, rate):
        density = within(value >= 0, value, 1.0, lambda x: xlogy(a - 1.0, x) - rate * x, -math.inf)
        return density - (lgamma(a) - a * log(rate))

    def _cdf(self, value, a, rate):
        return within(value >= 0, value, 0.0, lambda x: _OPS["igamma"](a, rate * x), 0.0)

    def _survival_function(self, value, a, rate):
        return within(value >= 0, value, 0.0, lambda x: _OPS["igammac"](a, rate * x), 1.0)

    def _kl_loss(self, dist, a_b, rate_b, a, rate):
        shapes = (a - a_b) * digamma(a) + lgamma(a_b) - lgamma(a)
        return shapes + a_b * (log(rate) - log(rate_b)) + a * (rate_b / rate - 1.0)

    def _draw(self, size, generator, a, rate):
        return draws.gamma(_OPS["broadcast_to"](a, size), generator) / rate


class Beta(Sampled):
    """The beta distribution on (0, 1), of density in proportion to ``x^(concentration1 - 1) (1 - x)^(concentration0 - 1)``.

    Args and Raises as for `Normal`, with ``concentration1`` and ``concentration0``, both positive.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Beta
        >>> beta = Beta([3.0], [1.0])
        >>> print(beta.mean(), beta.prob(ms.Tensor([0.5, 1.5])))
        [0.75] [0.75 0.  ]
    """  # noqa: E501

    rules = {"concentration1": positive, "concentration0": positive}
    concentration1, concentration0 = parameter("concentration1"), parameter("concentration0")

    def __init__(self, concentration1=None, concentration0=None, seed=None, dtype=dt.float32, name="Beta") -> None:
        self._begin(locals())

    def _mean(self, a, b):
        return a / (a + b)

    def _var(self, a, b):
        total = a + b
        return a * b / (total * total * (total + 1.0))

    def _mode(self, a, b):
        return where((a > 1).logical_and(b > 1), (a - 1.0) / (a + b - 2.0), math.nan)

    def _entropy(self, a, b):
        return _lbeta(a, b) - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b) + (a + b - 2.0) * digamma(a + b)

    def _log_prob(self, value, a, b):
        def density(x):
            return xlogy(a - 1.0, x) + xlogy(b - 1.0, 1.0 - x)

        return within((value >= 0).logical_and(value <= 1), value, 0.5, density, -math.inf) - _lbeta(a, b)

    def _kl_loss(self, dist, a_b, b_b, a, b):
        total = a + b
        shapes = (a - a_b) * digamma(a) + (b - b_b) * digamma(b) + (a_b + b_b - total) * digamma(total)
        return _lbeta(a_b, b_b) - _lbeta(a, b) + shapes

    def _draw(self, size, generator, a, b):
        first = draws.gamma(_OPS["broadcast_to"](a, size), generator)
        return first / (first + draws.gamma(_OPS["broadcast_to"](b, size), generator))


def _lbeta(a: Any, b: Any) -> Any:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


class HalfNormal(Distribution):
    """The half-normal distribution on ``[mean, inf)``: twice the density of `Normal`. It has densities alone.

    Args and Raises as for `Normal`.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import HalfNormal
        >>> print(HalfNormal(0.0, 2.0).prob(ms.Tensor([-1.0, 0.0, 2.0])))
        [0.        0.3989423 0.2419707]
    """

    rules = {"mean": any_number, "sd": positive}

    def __init__(self, mean=None, sd=None, seed=None, dtype=dt.float32, name="HalfNormal") -> None:
        self._begin(locals())

    def _log_prob(self, value, mean, sd):
        return where(value < mean, -math.inf, normal_log_prob((value - mean) / sd, sd) + math.log(2))


class Laplace(Distribution):
    """The Laplace distribution, of density ``exp(-|x - mean| / sd) / (2 sd)``. It has densities alone.

    Args and Raises as for `Normal`; ``sd`` is the scale.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Laplace
        >>> print(Laplace(0.0, 1.0).prob(ms.Tensor([0.0, 1.0])))
        [0.5        0.18393973]
    """

    rules = {"mean": any_number, "sd": positive}

    def __init__(self, mean=None, sd=None, seed=None, dtype=dt.float32, name="Laplace") -> None:
        self._begin(locals())

    def _log_prob(self, value, mean, sd):
        return -_OPS["abs"]((value - mean) / sd) - log(2.0 * sd)


class StudentT(Distribution):
    """Student's t distribution with ``df`` degrees of freedom. It has densities alone.

    Args and Raises as for `Normal`; ``df`` is positive, ``sd`` the scale.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import StudentT
        >>> print(StudentT(1.0, 0.0, 1.0).prob(ms.Tensor([0.0, 1.0])))
        [0.3183099  0.15915495]
    """

    rules = {"df": positive, "mean": any_number, "sd": positive}

    def __init__(self, df=None, mean=None, sd=None, seed=None, dtype=dt.float32, name="StudentT") -> None:
        self._begin(locals())

    def _log_prob(self, value, df, mean, sd):
        z = (value - mean) / sd
        scale = log(sd) + 0.5 * (log(df) + math.log(math.pi)) + lgamma(0.5 * df) - lgamma(0.5 * (df + 1.0))
        return -0.5 * (df + 1.0) * log1p(z * z / df) - scale
