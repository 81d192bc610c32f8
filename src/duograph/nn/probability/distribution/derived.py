"""Distributions that are others, mapped, and have formulas of their own."""

from __future__ import annotations

import math

from duograph.api.public_ops import functions
from duograph.core import dtype as dt

from ..bijector import Exp, GumbelCDF, Invert
from .base import any_number, parameter, positive
from .continuous import Normal, Uniform, log_normal_cdf, normal_divergence, normal_log_prob, within
from .transformed import TransformedDistribution

__all__ = ["Gumbel", "LogNormal"]

_OPS = functions()
exp, expm1, log, erfc, lgamma = (_OPS[name] for name in ("exp", "expm1", "log", "erfc", "lgamma"))
_EULER = 0.5772156649015329


class _Derived(TransformedDistribution):
    rules = {"loc": any_number, "scale": positive}
    loc, scale = parameter("loc"), parameter("scale")

    def _names_of_call(self):
        return ("loc", "scale")

    @property
    def default_parameters(self):
        return [self.loc, self.scale] if self.parameter_names else []


class LogNormal(_Derived):
    """The distribution of ``exp(X)`` where X is normal with mean ``loc`` and standard deviation ``scale``.

    Args:
        loc (Union[int, float, list, numpy.ndarray, Tensor]): ``None``: calls give it. Default ``None``.
        scale (Union[int, float, list, numpy.ndarray, Tensor]): positive. Default ``None``.
        seed (int): of the samples; 0: the default generator. Default ``0``.
        dtype (mindspore.dtype): type of samples. Default ``float32``.
        name (str): Default ``'LogNormal'``.

    Raises:
        TypeError: ``dtype`` is not a float type.
        ValueError: ``scale`` is not positive.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import LogNormal
        >>> print(LogNormal(0.0, 1.0).cdf(ms.Tensor([-1.0, 1.0])), LogNormal(0.0, 1.0).mode())
        [0.  0.5] 0.36787945
    """

    def __init__(self, loc=None, scale=None, seed=0, dtype=dt.float32, name="LogNormal") -> None:
        self._begin(locals())
        self._keep(Exp(), Normal(loc, scale, seed, dtype))

    def _mean(self, loc, scale):
        return exp(loc + 0.5 * scale * scale)

    def _mode(self, loc, scale):
        return exp(loc - scale * scale)

    def _var(self, loc, scale):
        return expm1(scale * scale) * exp(2.0 * loc + scale * scale)

    def _entropy(self, loc, scale):
        return loc + log(scale) + (0.5 + 0.5 * math.log(2 * math.pi))

    def _log_prob(self, value, loc, scale):
        return within(
            value > 0, value, 1.0, lambda x: normal_log_prob((log(x) - loc) / scale, scale) - log(x), -math.inf
        )

    def _cdf(self, value, loc, scale):
        return within(value > 0, value, 1.0, lambda x: 0.5 * erfc((loc - log(x)) / (scale * math.sqrt(2))), 0.0)

    def _survival_function(self, value, loc, scale):
        return within(value > 0, value, 1.0, lambda x: 0.5 * erfc((log(x) - loc) / (scale * math.sqrt(2))), 1.0)

    def _log_cdf(self, value, loc, scale):
        return within(value > 0, value, 1.0, lambda x: log_normal_cdf((log(x) - loc) / scale), -math.inf)

    def _log_survival(self, value, loc, scale):
        return within(value > 0, value, 1.0, lambda x: log_normal_cdf((loc - log(x)) / scale), 0.0)

    def _kl_loss(self, dist, loc_b, scale_b, loc, scale):
        return normal_divergence(loc_b, scale_b, loc, scale)


class Gumbel(_Derived):
    """The Gumbel distribution, whose `cdf` is ``exp(-exp(-(x - loc) / scale))``.

    Args and Raises as for `LogNormal`.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Gumbel
        >>> print(Gumbel(0.0, 1.0).log_prob(ms.Tensor([0.0])), Gumbel(0.0, 1.0).mean())
        [-1.] 0.5772157
    """

    def __init__(self, loc, scale, seed=0, dtype=dt.float32, name="Gumbel") -> None:
        self._begin(locals())
        self._keep(Invert(GumbelCDF(self.loc, self.scale)), Uniform(0.0, 1.0, seed, dtype))

    def _mean(self, loc, scale):
        return loc + scale * _EULER

    def _mode(self, loc, scale):
        return loc

    def _sd(self, loc, scale):
        return scale * (math.pi / math.sqrt(6))

    def _entropy(self, loc, scale):
        return log(scale) + (1.0 + _EULER)

    def _log_prob(self, value, loc, scale):
        z = (value - loc) / scale
        return -(z + exp(-z)) - log(scale)

    def _log_cdf(self, value, loc, scale):
        return -exp((loc - value) / scale)

    def _cdf(self, value, loc, scale):
        return exp(-exp((loc - value) / scale))

    def _survival_function(self, value, loc, scale):
        return -expm1(-exp((loc - value) / scale))

    def _kl_loss(self, dist, loc_b, scale_b, loc, scale):
        ratio, apart = scale / scale_b, (loc_b - loc) / scale_b
        return -log(ratio) + _EULER * (ratio - 1.0) - apart + expm1(apart + lgamma(ratio + 1.0))

    def _sample(self, shape, loc, scale):
        u = self._distribution.sample((*shape, *loc.shape)).clamp(self._tiny)
        return (loc - scale * log(-log(u))).astype(self._dtype)
