"""Initial values of parameters.

An `Initializer` knows a distribution; `initializer(init, shape, dtype)` draws from it. Draws are ops on the default
generator, so they are made in program order, also inside captured code. Programs may subclass `Initializer` in either
of two ways: ``_initialize(arr)`` fills a NumPy array (MindSpore's way), ``draw(shape)`` returns a float32 tensor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.ops import creation, random
from duograph.ops.arithmetic import add, mul, sign
from duograph.ops.cast import cast
from duograph.ops.creation import full
from duograph.ops.decompositions import qr
from duograph.ops.diagonals import diagonal
from duograph.ops.indexing import gather_elements
from duograph.ops.movement import broadcast_to, reshape, transpose
from duograph.ops.select import select
from duograph.ops.sort import argsort
from duograph.tensor.tensor import Tensor

__all__ = [
    "Constant", "Dirac", "HeNormal", "HeUniform", "Identity", "Initializer", "Normal", "One", "Orthogonal", "Sparse",
    "TruncatedNormal", "Uniform", "VarianceScaling", "XavierNormal", "XavierUniform", "Zero", "initializer",
]  # fmt: skip


class Initializer:
    """Base class of initializers.

    Args:
        kwargs (dict): settings of the initializer.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    @property
    def init_kwargs(self) -> dict[str, Any]:
        """The settings."""
        return self._kwargs

    def __call__(self, arr: np.ndarray) -> Any:
        """Fills a NumPy array."""
        return self._initialize(arr)

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self.draw(tuple(arr.shape)).array()

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        """A float32 tensor of ``shape`` with initial values."""
        raise NotImplementedError("Must be overridden!")

    def materialize(self, shape: Any, dtype: Any) -> Tensor:
        """A tensor of ``shape`` and ``dtype`` with initial values."""
        shape = _shape_of(shape)
        dtype = dt.as_dtype(dtype, "initializer")
        if type(self).draw is Initializer.draw:
            array = np.zeros(shape, np.float32 if dtype.is_floating else dtype.numpy)
            self._initialize(array)
            return Tensor(array, dtype)
        return converted(self.draw(shape), dtype)


def converted(x: Any, dtype: dt.DType) -> Any:
    """``x`` in ``dtype``."""
    return x if x.dtype is dtype else cast(x, dtype=dtype)


def _filled(shape: tuple[int, ...], value: float) -> Any:
    return full(shape=shape, value=float(value), dtype=dt.float32)


def _uniform(shape: tuple[int, ...], low: float, high: float) -> Any:
    return random.uniform(_filled((), low), _filled((), high), shape)


def _normal(shape: tuple[int, ...], mean: float, sigma: float) -> Any:
    return random.normal(_filled((), mean), _filled((), sigma), shape)


class Constant(Initializer):
    """Every element is ``value``.

    Args:
        value (Union[int, float, numpy.ndarray]): a number, or an array that broadcasts to the shape.
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        if isinstance(self.value, bool | int | float):
            return _filled(shape, self.value)
        array = np.asarray(self.value, np.float32)
        return broadcast_to(Tensor(array), shape=shape)

    def materialize(self, shape: Any, dtype: Any) -> Tensor:
        if isinstance(self.value, bool | int):
            wanted = dt.as_dtype(dtype, "initializer")
            if wanted.is_integer or wanted.is_bool:  # exact, large integers do not fit in float32
                return full(
                    shape=_shape_of(shape), value=(wanted.is_bool and bool(self.value)) or self.value, dtype=wanted
                )
        return super().materialize(shape, dtype)


class Zero(Initializer):
    """Zeros."""

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        return _filled(shape, 0)


class One(Initializer):
    """Ones."""

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        return _filled(shape, 1)


class Uniform(Initializer):
    """Uniform between ``-scale`` and ``scale``.

    Args:
        scale (float): Default ``0.07``.
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        return _uniform(shape, -self.scale, self.scale)


class Normal(Initializer):
    """Normal.

    Args:
        sigma (float): standard deviation. Default ``0.01``.
        mean (float): Default ``0.0``.
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        return _normal(shape, self.mean, self.sigma)


class TruncatedNormal(Initializer):
    """Normal, kept between ``a`` and ``b``.

    Args:
        sigma (float): standard deviation before truncation. Default ``0.01``.
        mean (float): Default ``0.0``.
        a (float): lower bound. Default ``-2.0``.
        b (float): upper bound. Default ``2.0``.
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        # Beyond six deviations there is nothing that float32 could draw by inversion.
        low = max((self.a - self.mean) / self.sigma, -6.0)
        high = min((self.b - self.mean) / self.sigma, 6.0)
        drawn = random.truncated_normal(low, high, shape)
        return add(mul(drawn, _filled((), self.sigma)), _filled((), self.mean))


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs and outputs an element of a weight of ``shape`` (out, in, *kernel) is connected to."""
    if len(shape) < 2:
        raise ValueError(
            "'fan_in' and 'fan_out' can not be computed for tensor with fewer than 2 dimensions, "
            f"but got dimensions {len(shape)}."
        )
    receptive = numel(shape[2:])
    return shape[1] * receptive, shape[0] * receptive


def gain_of(nonlinearity: str, slope: float | None, who: str) -> float:
    """The factor by which a nonlinearity shrinks the standard deviation, inverted."""
    if nonlinearity in ("linear", "sigmoid"):
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if slope is None else slope) ** 2))
    raise ValueError(
        f"For '{who}', the argument 'nonlinearity' should be one of ['sigmoid', 'tanh', 'relu' or 'leaky_relu'], "
        f"but got {nonlinearity}."
    )


class XavierUniform(Initializer):
    """Uniform with variance ``2 gain**2 / (fan_in + fan_out)``.

    Args:
        gain (float): Default ``1``.
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        bound = self.gain * math.sqrt(6.0 / sum(fans(shape)))
        return _uniform(shape, -bound, bound)


class XavierNormal(Initializer):
    """Normal with variance ``2 gain**2 / (fan_in + fan_out)``.

    Args:
        gain (float): Default ``1``.
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        return _normal(shape, 0.0, self.gain * math.sqrt(2.0 / sum(fans(shape))))


class _He(Initializer):
    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def deviation(self, shape: tuple[int, ...]) -> float:
        """Standard deviation of the elements."""
        if self.mode not in ("fan_in", "fan_out"):
            raise ValueError(f"'mode' {self.mode} not supported, please use one of ['fan_in', 'fan_out']")
        gain = gain_of(self.nonlinearity, self.negative_slope, type(self).__name__)
        return gain / math.sqrt(fans(shape)[self.mode == "fan_out"])


class HeUniform(_He):
    """Uniform with variance ``gain**2 / fan``, where the gain is that of ``nonlinearity``.

    Args:
        negative_slope (float): of leaky_relu. Default ``0``.
        mode (str): ``"fan_in"`` or ``"fan_out"``. Default ``"fan_in"``.
        nonlinearity (str): what follows. Default ``"leaky_relu"``.
    """

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        bound = math.sqrt(3.0) * self.deviation(shape)
        return _uniform(shape, -bound, bound)


class HeNormal(_He):
    """Normal with variance ``gain**2 / fan``; arguments as in `HeUniform`."""

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        return _normal(shape, 0.0, self.deviation(shape))


class VarianceScaling(Initializer):
    """Variance ``scale / fan`` by one of three distributions.

    Args:
        scale (float): Default ``1.0``.
        mode (str): ``"fan_in"``, ``"fan_out"`` or ``"fan_avg"``. Default ``"fan_in"``.
        distribution (str): ``"uniform"``, ``"truncated_normal"`` or ``"untruncated_normal"``. Default
            ``"truncated_normal"``.

    Raises:
        ValueError: one of them is something else, or the scale is not positive.
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0.0:
            raise ValueError(
                f"For VarianceScaling initializer, the argument 'scale' must be greater than 0, but got {scale}."
            )
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(
                "For VarianceScaling initializer, the argument 'mode' must be fan_in, fan_out or fan_avg, "
                f"but got {mode}."
            )
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "For VarianceScaling initializer, the argument 'distribution' must be uniform, truncated_norm or "
                f"untruncated_norm, but got {distribution}."
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        fan_in, fan_out = fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            bound = math.sqrt(3.0 * variance)
            return _uniform(shape, -bound, bound)
        if self.distribution == "untruncated_normal":
            return _normal(shape, 0.0, math.sqrt(variance))
        # 0.8796 is the standard deviation of the standard normal kept within two deviations.
        sigma = math.sqrt(variance) / 0.87962566103423978
        return mul(random.truncated_normal(-2.0, 2.0, shape), _filled((), sigma))


class Identity(Initializer):
    """Ones on the diagonal of a matrix."""

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        if len(shape) != 2:
            raise ValueError(
                f"For Identity initializer, the dimension of the initialized tensor should be 2, but got {len(shape)}."
            )
        return creation.eye(n=shape[0], m=shape[1], dtype=dt.float32)


class Dirac(Initializer):
    """Convolution kernels (3 to 5 dimensions) that pass on as many channels as possible.

    Args:
        groups (int): Default ``1``.

    Raises:
        ValueError: the channels do not divide into the groups, or the dimensions are not 3 to 5.
    """

    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)
        self.groups = groups

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        if len(shape) not in (3, 4, 5):
            raise ValueError(
                "For Dirac initializer, only support 3-dimensional, 4-dimensional and 5-dimensional, but got "
                f"{len(shape)}."
            )
        if self.groups <= 0 or shape[0] % self.groups:
            raise ValueError(f"For Dirac initializer, the first dimension must be divisible by groups {self.groups}.")
        array = np.zeros(shape, np.float32)
        per_group = shape[0] // self.groups
        centre = tuple(k // 2 for k in shape[2:])
        for group in range(self.groups):
            for channel in range(min(per_group, shape[1])):
                array[(group * per_group + channel, channel, *centre)] = 1
        return Tensor(array)


class Sparse(Initializer):
    """A matrix of normal numbers with a share of zeros in each column.

    Args:
        sparsity (float): share of zeros.
        sigma (float): standard deviation of the others. Default ``0.01``.
    """

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        if len(shape) != 2:
            raise ValueError(
                f"For Sparse initializer, the dimension of the initialized tensor should be 2, but got {len(shape)}."
            )
        rows, columns = shape
        values = _normal(shape, 0.0, self.sigma)
        zeros = min(rows, math.ceil(rows * self.sparsity))
        keep = broadcast_to(Tensor((np.arange(rows) >= zeros).reshape(rows, 1)), shape=(rows, columns))
        order = argsort(_uniform(shape, 0.0, 1.0), axis=0)  # a permutation of the rows for each column
        return select(gather_elements(keep, order, axis=0), values, _filled((), 0))


class Orthogonal(Initializer):
    """Orthonormal rows or columns, whichever are fewer, times ``gain``; axes after the first are flattened.

    Args:
        gain (float): Default ``1.0``.

    Raises:
        ValueError: fewer than two dimensions.
    """

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        if len(shape) < 2:
            raise ValueError(
                "For Orthogonal initializer, the dimension of the initialized tensor should be no less than 2, "
                f"but got {len(shape)}."
            )
        flat = (shape[0], numel(shape[1:]))
        q, r = qr(_normal((max(flat), min(flat)), 0.0, 1.0))
        columns = mul(q, sign(diagonal(r)))  # the signs make the distribution uniform (F. Mezzadri, 2007)
        if flat[0] < flat[1]:
            columns = transpose(columns, perm=(1, 0))
        return mul(reshape(columns, shape=shape), _filled((), self.gain))


ALIASES: dict[str, type[Initializer]] = {
    "zero": Zero, "zeros": Zero, "one": One, "ones": One, "identity": Identity, "sparse": Sparse, "dirac": Dirac,
    "xaviernormal": XavierNormal, "xavier_normal": XavierNormal,
    "xavieruniform": XavierUniform, "xavier_uniform": XavierUniform,
    "heuniform": HeUniform, "he_uniform": HeUniform, "henormal": HeNormal, "he_normal": HeNormal,
    "orthogonal": Orthogonal, "variancescaling": VarianceScaling, "uniform": Uniform, "normal": Normal,
    "truncatednormal": TruncatedNormal,
}  # fmt: skip


def _shape_of(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    if not isinstance(shape, tuple | list) or any(
        not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in shape
    ):
        raise ValueError(
            "For 'initializer', the argument 'shape' is invalid, the value of 'shape' must be positive integer, "
            f"but got {shape}"
        )
    return tuple(shape)


def initializer(init: Any, shape: Any = None, dtype: Any = dt.float32) -> Tensor:
    """A tensor with initial values.

    Args:
        init (Union[Tensor, str, Initializer, numbers.Number]): the values, the name of an initializer, an initializer
            or a number for every element.
        shape (Union[tuple, list, int]): shape of the result. Default ``None``: that of a Tensor ``init``.
        dtype (dtype): Default float32.

    Returns:
        Tensor.

    Raises:
        TypeError: ``init`` is something else.
        ValueError: unknown name, or ill shape.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> from duograph.common.initializer import initializer
        >>> print(initializer("ones", [2]))
        [1. 1.]
    """
    if isinstance(init, Tensor):
        if shape is not None and tuple(init.shape) != _shape_of(shape):
            raise ValueError(
                "For 'initializer', the shape of the 'init' argument should be same as the argument 'shape', "
                f"but got the 'init' shape {list(init.shape)} and the 'shape' {shape}."
            )
        return init
    if isinstance(init, str):
        found = ALIASES.get(init.lower())
        if found is None:
            raise ValueError(f"For 'initializer', the class corresponding to '{init}' was not found.")
        init = found()
    elif isinstance(init, bool | int | float | np.number):
        init = Constant(init.item() if isinstance(init, np.number) else init)
    if not isinstance(init, Initializer):
        raise TypeError(
            "For 'initializer', the type of the 'init' argument should be 'Tensor', 'number', 'string' "
            f"or 'initializer', but got {type(init)}."
        )
    return init.materialize(shape, dtype)
