"""`Distribution`: what all distributions share, and how one function follows from another.

A distribution defines formulas, methods with an underscore (``_log_prob``, ``_sd``, ``_kl_loss``), of a value and its
parameters. The public functions find the parameters: those of the call, else those of the constructor, all cast to one
type and broadcast to one shape. `WAYS` says which formulas a function can be had from, the exact one first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.core.shapes import broadcast_shapes
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

__all__ = ["Distribution", "any_number", "below", "parameter", "positive", "share"]

_OPS = functions()


def _as_it_is(x):
    return x


def _complement(x):
    return 1.0 - x


def _complement_of_exp(x):
    return 0.0 - _OPS["expm1"](x)  # no negative zero


def _log_of_complement(x):
    return _OPS["log1p"](-x)


WAYS: dict[str, tuple[tuple[str, Callable[[Any], Any]], ...]] = {
    "prob": (("_prob", _as_it_is), ("_log_prob", _OPS["exp"])),
    "log_prob": (("_log_prob", _as_it_is), ("_prob", _OPS["log"])),
    "cdf": (
        ("_cdf", _as_it_is), ("_log_cdf", _OPS["exp"]), ("_survival_function", _complement),
        ("_log_survival", _complement_of_exp),
    ),
    "log_cdf": (
        ("_log_cdf", _as_it_is), ("_cdf", _OPS["log"]), ("_survival_function", _log_of_complement),
        ("_log_survival", lambda x: _OPS["log"](_complement_of_exp(x))),
    ),
    "survival_function": (
        ("_survival_function", _as_it_is), ("_log_survival", _OPS["exp"]), ("_cdf", _complement),
        ("_log_cdf", _complement_of_exp),
    ),
    "log_survival": (
        ("_log_survival", _as_it_is), ("_survival_function", _OPS["log"]), ("_cdf", _log_of_complement),
        ("_log_cdf", lambda x: _OPS["log"](_complement_of_exp(x))),
    ),
    "mean": (("_mean", _as_it_is),),
    "mode": (("_mode", _as_it_is),),
    "sd": (("_sd", _as_it_is), ("_var", _OPS["sqrt"])),
    "var": (("_var", _as_it_is), ("_sd", _OPS["square"])),
    "entropy": (("_entropy", _as_it_is),),
    "kl_loss": (("_kl_loss", _as_it_is),),
    "cross_entropy": (("_cross_entropy", _as_it_is),),
    "sample": (("_sample", _as_it_is),),
}  # fmt: skip
"""Function: the formulas that give it, each with what is done to its result."""


def any_number(value: np.ndarray) -> str:
    """What is wrong with a parameter that may be any number."""
    return "not be NaN" if np.isnan(value).any() else ""


def positive(value: np.ndarray) -> str:
    """What is wrong with a parameter that must be positive."""
    return "" if (value > 0).all() else "be greater than 0"


def share(value: np.ndarray) -> str:
    """What is wrong with a probability of one of two outcomes."""
    return "" if ((value > 0) & (value < 1)).all() else "be in range of (0, 1)"


def below(low: Any, high: Any, owner: str) -> None:
    """Refuses limits of an interval that is empty."""
    if low is not None and high is not None and not (low.asnumpy() < high.asnumpy()).all():
        raise ValueError(f"For '{owner}', the 'low' must be less than 'high', but got {low} and {high}.")


def together(*tensors: Any) -> tuple[Any, ...]:
    """``tensors``, broadcast to the shape of all: here, as methods of Cells have sizes as numbers."""
    shape = tuple(broadcast_shapes(*[t.shape for t in tensors]))
    return tuple(t if tuple(t.shape) == shape else _OPS["broadcast_to"](t, shape) for t in tensors)


class Distribution(Cell):
    """Base class of distributions.

    Parameters may be left out of the constructor and be given to each call, by position or name, as tensors.

    Args:
        seed (Union[int, None]): of the generator for samples; ``None`` and 0: the numbers of the default generator.
        dtype (mindspore.dtype): type of samples.
        name (str): of the distribution.
        param (dict): what the constructor was given; under ``param_dict`` the parameters by name.

    Raises:
        TypeError: ``seed`` is not an int, ``name`` is not a str, or the parameters differ in type.
        ValueError: ``seed`` is negative.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.nn.probability.distribution import Distribution
        >>> class Dirac(Distribution):
        ...     def __init__(self, place):
        ...         super().__init__(None, ms.float32, "Dirac", {"param_dict": {"place": place}})
        ...         self._add_parameter(place, "place")
        ...     def _mean(self, place):
        ...         return place
        >>> print(Dirac(2.0).mean(), Dirac(2.0).mean(ms.Tensor([3.0])))
        2.0 [3.]
    """

    rules: ClassVar[dict[str, Callable[[np.ndarray], str]]] = {}
    """Parameters of the constructor, in order, each with what must be true of it."""
    call_names: tuple[str, ...] = ()
    """Their names in calls, where others than in the constructor."""
    undefined: tuple[str, ...] = ()
    """Functions that have no value for any parameters."""
    discrete = False

    def __init__(self, seed: int | None, dtype: Any, name: str, param: dict[str, Any]) -> None:
        super().__init__()
        if not isinstance(name, str):
            raise TypeError(f"For '{type(self).__name__}', the 'name' must be a str, but got {type(name).__name__}.")
        self._name = name
        self._seed = 0 if seed is None else checks.not_negative_int(seed, "seed", name)
        self._dtype = dt.as_dtype(dtype)
        self._given = {n: v for n, v in param.items() if n != "self" and not n.startswith("_")}
        values = self._given.get("param_dict", {})
        self._parameter_type = _common_type(values, self._dtype)
        self._tiny = float(ml_dtypes.finfo(self._parameter_type.numpy).tiny)
        self._is_scalar_batch = all(v is None or isinstance(v, int | float) for v in values.values())
        self._reset_parameters()

    def _begin(self, given: dict[str, Any]) -> None:
        """The constructor of the distributions here; ``given`` holds its arguments."""
        owner, dtype = type(self).__name__, dt.as_dtype(given["dtype"])
        if not (dtype.is_floating or (self.discrete and dtype.is_integer)):
            kinds = "a float or an integer" if self.discrete else "a float"
            raise TypeError(f"For '{owner}', the 'dtype' must be {kinds} type, but got {dtype}.")
        values = {name: given[name] for name in self.rules}
        Distribution.__init__(self, given["seed"], dtype, given["name"], {**given, "param_dict": values})
        for name, value in values.items():
            kept = self._add_parameter(value, name)
            wrong = "" if kept is None else self.rules[name](kept.asnumpy())
            if wrong:
                raise ValueError(f"For '{owner}', the '{name}' must {wrong}, but got {value}.")

    # -- parameters ----------------------------------------------------------------------------------------------

    def _reset_parameters(self) -> None:
        self.parameter_names: list[str] = []

    def _add_parameter(self, value: Any, name: str) -> Any:
        """Keeps a parameter, as a tensor of the type of all; a `Parameter` stays itself and can be trained."""
        kept = value if value is None or isinstance(value, Parameter) else _as_tensor(value, self._parameter_type, name)
        setattr(self, f"_{name}_value", kept)
        self.parameter_names.append(name)
        return kept

    @property
    def default_parameters(self) -> list[Any]:
        """The parameters of the constructor; ``None`` where a call must give one."""
        return [getattr(self, f"_{name}_value") for name in self.parameter_names]

    def _check_param_type(self, *given: Any) -> Any:
        """Parameters of a call, of one type and shape; defaults where ``None``. One alone comes by itself."""
        found = self._filled(given)
        return found[0] if len(found) == 1 else found

    def _filled(self, given: Any) -> tuple[Any, ...]:
        found = []
        for value, name, default in zip(given, self.parameter_names, self.default_parameters):
            if value is None and default is None:
                raise TypeError(f"For '{self._name}', the '{name}' must be given: the constructor got none.")
            tensor = default if value is None else self._check_value(value, name)
            found.append(tensor.astype(self._parameter_type))
        return together(*found)

    def _check_value(self, value: Any, name: str) -> Any:
        if not isinstance(value, Tensor):
            raise TypeError(f"For {name}, input type should be a Tensor or Parameter, but got {type(value).__name__}.")
        return value

    def _named(self, names: tuple[str, ...], function: str, args: Any, kwargs: dict[str, Any]) -> list[Any]:
        """The values for ``names`` of a call; ``None`` for those that it does not give."""
        if len(args) > len(names):
            raise TypeError(f"'{function}' of {self._name} takes {', '.join(names)}, but got {len(args)} parameters.")
        found = dict(zip(names, args))
        for key, value in kwargs.items():
            name = key.removesuffix("_a") if key not in names else key
            if name not in names or name in found:
                raise TypeError(f"'{function}' of {self._name} takes {', '.join(names)}, but got '{key}' as well.")
            found[name] = value
        return [found.get(name) for name in names]

    def _names_of_call(self) -> tuple[str, ...]:
        return self.call_names or tuple(self.parameter_names)

    def _of_call(self, function: str, args: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
        return self._filled(self._named(self._names_of_call(), function, args, kwargs))

    # -- functions -----------------------------------------------------------------------------------------------

    def _formula(self, function: str) -> tuple[Callable[..., Any], Callable[[Any], Any]]:
        if function in self.undefined:
            raise ValueError(f"{function} is undefined for {self._name} distribution.")
        for formula, then in WAYS.get(function, ()):
            if hasattr(self, formula):
                return getattr(self, formula), then
        raise NotImplementedError(f"{function} is not implemented for {self._name} distribution.")

    def _at(self, function: str, value: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        formula, then = self._formula(function)
        value = self._check_value(value, "value").astype(self._parameter_type if self.discrete else self._dtype)
        return then(formula(value, *self._of_call(function, args, kwargs)))

    def _figure(self, function: str, args: Any, kwargs: dict[str, Any]) -> Any:
        formula, then = self._formula(function)
        return then(formula(*self._of_call(function, args, kwargs)))

    def _between(self, function: str, dist: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        formula, _ = self._formula(function)
        if dist is None:
            raise ValueError("Input dist should be a constant which is not None.")
        if dist != self._get_dist_type():
            raise ValueError(f"Expected dist input is {self._get_dist_type()}, but got {dist}.")
        own = self._names_of_call()
        values = self._named((*(f"{name}_b" for name in own), *own), function, args, kwargs)
        for name, value in zip(own, values):
            self._check_value(value, f"{name}_b")
        other = [value.astype(self._parameter_type) for value in values[: len(own)]]
        return formula(dist, *other, *self._filled(values[len(own) :]))

    def prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The density, or the probability of a discrete value."""
        return self._at("prob", value, args, kwargs)

    def log_prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `prob`."""
        return self._at("log_prob", value, args, kwargs)

    def cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of at most ``value``."""
        return self._at("cdf", value, args, kwargs)

    def log_cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `cdf`."""
        return self._at("log_cdf", value, args, kwargs)

    def survival_function(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of more than ``value``."""
        return self._at("survival_function", value, args, kwargs)

    def log_survival(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `survival_function`."""
        return self._at("log_survival", value, args, kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """The expected value."""
        return self._figure("mean", args, kwargs)

    def mode(self, *args: Any, **kwargs: Any) -> Tensor:
        """The value of greatest density."""
        return self._figure("mode", args, kwargs)

    def sd(self, *args: Any, **kwargs: Any) -> Tensor:
        """The standard deviation."""
        return self._figure("sd", args, kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """The variance."""
        return self._figure("var", args, kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """The entropy, in nats."""
        return self._figure("entropy", args, kwargs)

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """The divergence KL(a||b) from distribution b, whose parameters come first, of the type ``dist``."""
        return self._between("kl_loss", dist, args, kwargs)

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """The cross entropy with distribution b, whose parameters come first, of the type ``dist``."""
        if hasattr(self, "_cross_entropy") or not (hasattr(self, "_entropy") and hasattr(self, "_kl_loss")):
            return self._between("cross_entropy", dist, args, kwargs)
        own = self._names_of_call()
        values = self._named((*(f"{n}_b" for n in own), *own), "cross_entropy", args, kwargs)
        return self._between("kl_loss", dist, values, {}) + self._figure("entropy", values[len(own) :], {})

    def sample(self, shape: tuple[int, ...] = (), *args: Any, **kwargs: Any) -> Tensor:
        """Draws, of shape ``shape`` and then that of the parameters."""
        formula, _ = self._formula("sample")
        if not isinstance(shape, tuple):
            raise TypeError(f"For shape, input type should be a tuple, but got {type(shape).__name__}.")
        return formula(shape, *self._of_call("sample", args, kwargs))

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The function ``name`` of the distribution."""
        if name in WAYS or name in ("get_dist_args", "get_dist_type"):
            return getattr(self, name)(*args, **kwargs)
        raise NotImplementedError(f"{name} is not implemented for {self._name} distribution.")

    # -- facts ---------------------------------------------------------------------------------------------------

    def _get_dist_type(self) -> str:
        return type(self).__name__

    def get_dist_type(self) -> str:
        """The name that ``dist`` must have in `kl_loss` and `cross_entropy`."""
        return self._get_dist_type()

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The parameters of a call, or those of the constructor, as they are."""
        given = self._named(self._names_of_call(), "get_dist_args", args, kwargs)
        return tuple(
            default if value is None else self._check_value(value, name)
            for value, name, default in zip(given, self.parameter_names, self.default_parameters)
        )

    @property
    def name(self) -> str:
        """The name that the constructor was given."""
        return self._name

    @property
    def dtype(self) -> dt.DType:
        """The type of samples."""
        return self._dtype

    @property
    def seed(self) -> int:
        """The seed of samples; 0: the default generator."""
        return self._seed

    @property
    def parameter_type(self) -> dt.DType:
        """The type in which is computed."""
        return self._parameter_type

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor was given."""
        return self._given

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all parameters of the constructor are numbers."""
        return self._is_scalar_batch

    @property
    def batch_shape(self) -> tuple[Any, ...] | None:
        """The shape of the parameters; ``None`` where a call must give one."""
        found = self.default_parameters
        return None if any(p is None for p in found) else tuple(broadcast_shapes(*[p.shape for p in found]))

    @property
    def broadcast_shape(self) -> tuple[Any, ...] | None:
        """The shape of one draw."""
        return self.batch_shape

    def extend_repr(self) -> str:
        if not self.is_scalar_batch:
            return f"batch_shape = {self.broadcast_shape}"
        return ", ".join(f"{n} = {p}" for n, p in zip(self.parameter_names, self.default_parameters))


def parameter(name: str) -> Any:
    """The property of a distribution that is its parameter ``name``."""
    return property(lambda self: getattr(self, f"_{name}_value"), doc=f"The parameter '{name}' of the constructor.")


def _as_tensor(value: Any, dtype: dt.DType, name: str) -> Tensor:
    if isinstance(value, bool) or not isinstance(value, Tensor | np.ndarray | list | tuple | int | float):
        raise TypeError(f"The '{name}' must be a number, list, array or Tensor, but got {type(value).__name__}.")
    return value.astype(dtype) if isinstance(value, Tensor) else Tensor(value, dtype=dtype)


def _common_type(values: dict[str, Any], hint: dt.DType) -> dt.DType:
    """The type to compute in: that of arrays among the parameters, float32 for integers and for float64 arrays."""
    found: dt.DType | None = None
    for name, value in values.items():
        if isinstance(value, Tensor | np.ndarray):
            own = dt.as_dtype(value.dtype)
            if found not in (None, own):
                raise TypeError(f"{name} should have the same dtype as other arguments.")
            found = own
    if found is None:
        return hint if hint.is_floating else dt.float32
    return found if found.is_floating and found is not dt.float64 else dt.float32
