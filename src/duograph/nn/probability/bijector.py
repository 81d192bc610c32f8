"""Bijectors: maps of random variables, their inverses, and the logarithms of their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.api.public_ops import functions

from .distribution.base import positive
from .distribution.transformed import Bijector

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]

_OPS = functions()
exp, log, log1p, expm1, where = (_OPS[name] for name in ("exp", "log", "log1p", "expm1", "where"))


class _Of(Bijector):
    """Bijectors whose parameters are numbers or arrays: formulas get them in the type of the value."""

    def _begin(self, name: str, constant: bool = False, **values: Any) -> None:
        Bijector.__init__(self, is_constant_jacobian=constant, name=name, param=values)
        for key, value in values.items():
            setattr(self, key, self._add_parameter(value, key))

    def _must(self, rule: Any, name: str) -> None:
        wrong = rule(getattr(self, name).asnumpy())
        if wrong:
            raise ValueError(f"For '{self.name}', the '{name}' must {wrong}, but got {self.parameters[name]}.")

    def _local(self, value: Any) -> list[Any]:
        return [self.cast_param_by_value(value, getattr(self, name)) for name in self.parameter_names]

    def extend_repr(self) -> str:
        if not self.is_scalar_batch:
            return f"batch_shape = {self.batch_shape}"
        return ", ".join(f"{name} = {getattr(self, name)}" for name in self.parameter_names)


def _not_negative(value: np.ndarray) -> str:
    return "" if (value >= 0).all() else "not be negative"


def _not_zero(value: np.ndarray) -> str:
    return "" if (value != 0).all() else "not be 0"


class PowerTransform(_Of):
    """``(1 + c x)^(1 / c)`` with ``c = power``; ``exp(x)`` for 0.

    Args:
        power (Union[float, list, numpy.ndarray, Tensor]): not negative. Default ``0.0``.
        name (str): Default ``'PowerTransform'``.

    Raises:
        TypeError: ``power`` is of no float type.
        ValueError: ``power`` is negative.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.bijector import PowerTransform
        >>> root = PowerTransform(0.5)
        >>> print(root.forward(ms.Tensor([0.0, 2.0])), root.inverse(ms.Tensor([1.0, 4.0])))
        [1. 4.] [0. 2.]
    """

    def __init__(self, power=0.0, name="PowerTransform") -> None:
        self._begin(name, power=power)
        self._must(_not_negative, "power")

    def _by_power(self, value: Any, at_zero: Any, formula: Any) -> Any:
        (power,) = self._local(value)
        return where(power == 0, at_zero(value), formula(value, where(power == 0, 1.0, power)))

    def _forward(self, x):
        return self._by_power(x, exp, lambda x, c: exp(log1p(x * c) / c))

    def _inverse(self, y):
        return self._by_power(y, log, lambda y, c: expm1(log(y) * c) / c)

    def _forward_log_jacobian(self, x):
        return self._by_power(x, lambda x: x, lambda x, c: (1.0 / c - 1.0) * log1p(x * c))

    def _inverse_log_jacobian(self, y):
        (power,) = self._local(y)
        return (power - 1.0) * log(y)


class Exp(PowerTransform):
    """``exp(x)``.

    Args:
        name (str): Default ``'Exp'``.

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.bijector import Exp
        >>> print(Exp().inverse(ms.Tensor([1.0])), Exp().forward_log_jacobian(ms.Tensor([3.0])))
        [0.] [3.]
    """

    def __init__(self, name="Exp") -> None:
        super().__init__(0.0, name)

    def _forward(self, x):
        return exp(x)

    def _inverse(self, y):
        return log(y)

    def _forward_log_jacobian(self, x):
        return x

    def _inverse_log_jacobian(self, y):
        return -log(y)


class ScalarAffine(_Of):
    """``scale x + shift``.

    Args:
        scale (Union[float, list, numpy.ndarray, Tensor]): not 0. Default ``1.0``.
        shift (Union[float, list, numpy.ndarray, Tensor]): Default ``0.0``.
        name (str): Default ``'ScalarAffine'``.

    Raises:
        TypeError: the parameters are not of one float type.
        ValueError: ``scale`` is 0.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.bijector import ScalarAffine
        >>> line = ScalarAffine(2.0, 1.0)
        >>> print(line.forward(ms.Tensor([3.0])), line.inverse(ms.Tensor([7.0])))
        [7.] [3.]
    """

    def __init__(self, scale=1.0, shift=0.0, name="ScalarAffine") -> None:
        self._begin(name, constant=True, scale=scale, shift=shift)
        self._must(_not_zero, "scale")

    def _forward(self, x):
        scale, shift = self._local(x)
        return scale * x + shift

    def _inverse(self, y):
        scale, shift = self._local(y)
        return (y - shift) / scale

    def _forward_log_jacobian(self, x):
        return log(_OPS["abs"](self._local(x)[0]))

    def _inverse_log_jacobian(self, y):
        return -log(_OPS["abs"](self._local(y)[0]))


class Softplus(_Of):
    """``log(1 + exp(k x)) / k`` with ``k = sharpness``.

    Args:
        sharpness (Union[float, list, numpy.ndarray, Tensor]): positive. Default ``1.0``.
        name (str): Default ``'Softplus'``.

    Raises:
        TypeError: ``sharpness`` is of no float type.
        ValueError: ``sharpness`` is not positive.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.bijector import Softplus
        >>> print(Softplus(2.0).forward(ms.Tensor([-20.0, 0.0, 20.0])))
        [2.124177e-18 3.465736e-01 2.000000e+01]
    """

    def __init__(self, sharpness=1.0, name="Softplus") -> None:
        self._begin(name, sharpness=sharpness)
        self._must(positive, "sharpness")

    def _forward(self, x):
        (k,) = self._local(x)
        return _OPS["softplus"](k * x) / k

    def _inverse(self, y):
        (k,) = self._local(y)
        return y + log(-expm1(-k * y)) / k

    def _forward_log_jacobian(self, x):
        return -_OPS["softplus"](-(self._local(x)[0] * x))

    def _inverse_log_jacobian(self, y):
        return -log(-expm1(-(self._local(y)[0] * y)))


class GumbelCDF(_Of):
    """``exp(-exp(-(x - loc) / scale))``.

    Args:
        loc (Union[float, list, numpy.ndarray, Tensor]): Default ``0.0``.
        scale (Union[float, list, numpy.ndarray, Tensor]): positive. Default ``1.0``.
        name (str): Default ``'GumbelCDF'``.

    Raises:
        TypeError: the parameters are not of one float type.
        ValueError: ``scale`` is not positive.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.bijector import GumbelCDF
        >>> print(GumbelCDF(1.0, 2.0).forward(ms.Tensor([1.0])))
        [0.36787945]
    """

    def __init__(self, loc=0.0, scale=1.0, name="GumbelCDF") -> None:
        self._begin(name, loc=loc, scale=scale)
        self._must(positive, "scale")

    def _forward(self, x):
        loc, scale = self._local(x)
        return exp(-exp((loc - x) / scale))

    def _inverse(self, y):
        loc, scale = self._local(y)
        return loc - scale * log(-log(y))

    def _forward_log_jacobian(self, x):
        loc, scale = self._local(x)
        z = (x - loc) / scale
        return -z - exp(-z) - log(scale)

    def _inverse_log_jacobian(self, y):
        return log(self._local(y)[1] / (-y * log(y)))


class Invert(Bijector):
    """The inverse of a bijector.

    Args:
        bijector (Bijector): what is inverted.
        name (str): Default ``''``, which stands for ``'Invert'`` and the name of ``bijector``.

    Raises:
        TypeError: ``bijector`` is not a Bijector.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.bijector import Exp, Invert
        >>> print(Invert(Exp()).forward(ms.Tensor([1.0])))
        [0.]
    """

    def __init__(self, bijector, name="") -> None:
        if not isinstance(bijector, Bijector):
            raise TypeError(f"For 'Invert', the 'bijector' must be a Bijector, but got {type(bijector).__name__}.")
        super().__init__(
            bijector.is_constant_jacobian, bijector.is_injective, name or f"Invert{bijector.name}", bijector.dtype,
            {"bijector": bijector},
        )  # fmt: skip
        self.bijector = bijector

    @property
    def batch_shape(self):
        return self.bijector.batch_shape

    @property
    def is_scalar_batch(self):
        return self.bijector.is_scalar_batch

    def _forward(self, x):
        return self.bijector.inverse(x)

    def _inverse(self, y):
        return self.bijector.forward(y)

    def _forward_log_jacobian(self, x):
        return self.bijector.inverse_log_jacobian(x)

    def _inverse_log_jacobian(self, y):
        return self.bijector.forward_log_jacobian(y)
