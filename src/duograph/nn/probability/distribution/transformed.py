"""`TransformedDistribution`, and `Bijector`, the maps that make one of a distribution."""

from __future__ import annotations

import copy
import math
from typing import Any

from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.core.shapes import broadcast_shapes
from duograph.nn.cell import Cell
from duograph.tensor.tensor import Tensor

from .base import Distribution

__all__ = ["Bijector", "TransformedDistribution"]

where = functions()["where"]
_FUNCTIONS = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")


class Bijector(Cell):
    """Base class of maps of one random variable to another; called with a distribution, it makes that of the result.

    A subclass defines ``_forward``, ``_inverse``, ``_forward_log_jacobian`` and ``_inverse_log_jacobian``.

    Args:
        is_constant_jacobian (bool): whether the derivative is constant. Default ``False``.
        is_injective (bool): whether no two values have the same image. Default ``True``.
        name (str): of the map. Default ``None``.
        dtype (mindspore.dtype): the only type of values; ``None``: any float type. Default ``None``.
        param (dict): what the constructor was given. Default ``None``.

    Raises:
        TypeError: ``name`` is not a str, ``dtype`` no float type, or a value or a parameter no float tensor.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.bijector import Exp
        >>> from duograph.nn.probability.distribution import Normal
        >>> print(Exp()(Normal(0.0, 1.0)).prob(ms.Tensor([1.0])))
        [0.3989423]
    """

    def __init__(self, is_constant_jacobian=False, is_injective=True, name=None, dtype=None, param=None) -> None:
        super().__init__()
        if not isinstance(name, str):
            raise TypeError(f"For '{type(self).__name__}', the 'name' must be a str, but got {type(name).__name__}.")
        if dtype is not None and not dt.as_dtype(dtype).is_floating:
            raise TypeError(f"For '{name}', the 'dtype' must be a float type, but got {dtype}.")
        self.is_constant_jacobian = is_constant_jacobian
        self.is_injective = is_injective
        self.name = name
        self.dtype = None if dtype is None else dt.as_dtype(dtype)
        self.parameters = {n: v for n, v in (param or {}).items() if n != "self" and not n.startswith("_")}
        self.default_parameters: list[Tensor] = []
        self.parameter_names: list[str] = []

    def _add_parameter(self, value: Any, name: str) -> Tensor:
        """Keeps a parameter as a tensor; all are of one float type."""
        if isinstance(value, bool) or value is None:
            raise TypeError(f"{name} cannot be type {type(value)}")
        kept = value if isinstance(value, Tensor) else Tensor(value)
        first = self.dtype or (self.default_parameters[0].dtype if self.default_parameters else kept.dtype)
        if not kept.dtype.is_floating or kept.dtype != first:
            raise TypeError(f"For '{self.name}', the '{name}' must be of a float type, the same for all parameters, "
                            f"but got {kept.dtype}.")  # fmt: skip
        self.default_parameters.append(kept)
        self.parameter_names.append(name)
        return kept

    @property
    def batch_shape(self) -> tuple[Any, ...]:
        """The shape of the parameters."""
        return tuple(broadcast_shapes(*[p.shape for p in self.default_parameters]))

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all parameters are numbers."""
        return all(isinstance(self.parameters.get(name), int | float) for name in self.parameter_names)

    def _check_value_dtype(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            raise TypeError("For input value of bijector, input type should be a Tensor or Parameter.")
        if value.dtype != self.dtype if self.dtype else not value.dtype.is_floating:
            raise TypeError(f"For input value of bijector, the type should be {self.dtype or 'a float type'}, "
                            f"but got {value.dtype}")  # fmt: skip
        return value

    def cast_param_by_value(self, value: Any, para: Any) -> Any:
        """The parameter ``para`` in the type of ``value``."""
        return para.astype(value.dtype)

    def forward(self, value, *args, **kwargs):
        """The image of ``value``."""
        return self._forward(self._check_value_dtype(value), *args, **kwargs)

    def inverse(self, value, *args, **kwargs):
        """What ``value`` is the image of."""
        return self._inverse(self._check_value_dtype(value), *args, **kwargs)

    def forward_log_jacobian(self, value, *args, **kwargs):
        """The logarithm of the derivative of `forward`."""
        return self._forward_log_jacobian(self._check_value_dtype(value), *args, **kwargs)

    def inverse_log_jacobian(self, value, *args, **kwargs):
        """The logarithm of the derivative of `inverse`."""
        return self._inverse_log_jacobian(self._check_value_dtype(value), *args, **kwargs)

    def __call__(self, *args, **kwargs):
        if args and isinstance(args[0], Distribution):
            return TransformedDistribution(self, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def construct(self, name, *args, **kwargs):
        """The function ``name`` of the map."""
        if name not in _FUNCTIONS:
            raise ValueError(f"Invalid name '{name}': a bijector has {', '.join(_FUNCTIONS)}.")
        return getattr(self, name)(*args, **kwargs)


class TransformedDistribution(Distribution):
    """The distribution of ``bijector.forward(X)`` where X is distributed as ``distribution`` says.

    Args:
        bijector (Bijector): an increasing map.
        distribution (Distribution): of a float type.
        seed (int): of the samples; ``None`` and 0: that of ``distribution``. Default ``None``.
        name (str): Default ``'transformed_distribution'``.

    Raises:
        TypeError: ``bijector`` is not a Bijector, or ``distribution`` no Distribution of a float type.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability import bijector, distribution
        >>> doubled = distribution.TransformedDistribution(bijector.ScalarAffine(2.0), distribution.Uniform(0.0, 1.0))
        >>> print(doubled.cdf(ms.Tensor([0.5])), doubled.mean())
        [0.25] 1.0
    """

    def __init__(self, bijector, distribution, seed=None, name="transformed_distribution") -> None:
        if not isinstance(bijector, Bijector):
            raise TypeError(f"For '{name}', the 'bijector' must be a Bijector, but got {type(bijector).__name__}.")
        if not isinstance(distribution, Distribution) or not distribution.dtype.is_floating:
            raise TypeError(f"For '{name}', the 'distribution' must be a Distribution of a float type.")
        super().__init__(seed, distribution.dtype, name, {"bijector": bijector, "distribution": distribution})
        self._parameter_type = distribution.parameter_type
        self._is_scalar_batch = distribution.is_scalar_batch and bijector.is_scalar_batch
        self.parameter_names = list(distribution.parameter_names)
        self._keep(bijector, distribution)

    def _keep(self, bijector: Bijector, distribution: Distribution) -> None:
        if self._seed:
            distribution = copy.copy(distribution)
            distribution._seed = self._seed
        self._bijector = bijector
        self._distribution = distribution

    @property
    def default_parameters(self) -> list[Any]:
        return self._distribution.default_parameters

    @property
    def bijector(self) -> Bijector:
        """The map."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """The distribution of the values that are mapped."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether the map is linear: it maps the mean to the mean."""
        return self._bijector.is_constant_jacobian

    @property
    def broadcast_shape(self) -> tuple[Any, ...] | None:
        inner = self._distribution.broadcast_shape
        return None if inner is None else tuple(broadcast_shapes(inner, self._bijector.batch_shape))

    def _names_of_call(self) -> tuple[str, ...]:
        return self._distribution._names_of_call()

    def _log_prob(self, value, *parameters):
        inner = self._distribution.log_prob(self._bijector.inverse(value), *parameters)
        slope = self._bijector.inverse_log_jacobian(value)
        return where(inner == -math.inf, inner, inner + slope)  # the slope may be infinite there

    def _cdf(self, value, *parameters):
        return self._distribution.cdf(self._bijector.inverse(value), *parameters)

    def _survival_function(self, value, *parameters):
        return self._distribution.survival_function(self._bijector.inverse(value), *parameters)

    def _sample(self, shape, *parameters):
        return self._bijector.forward(self._distribution.sample(shape, *parameters))

    def _mean(self, *parameters):
        if not self.is_linear_transformation:
            raise ValueError("mean function should be implemented for non-linear transformation")
        return self._bijector.forward(self._distribution.mean(*parameters))
