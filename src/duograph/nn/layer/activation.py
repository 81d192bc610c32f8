"""Activation layers: Cells around the functions of ``ops.activation``."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.api.promote import promote_float
from duograph.common.initializer import initializer
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.shapes import normalize_axis
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Flag, Number, Unkept
from duograph.nn.settings import Kind, option, with_settings
from duograph.ops import activation as act
from duograph.ops import random
from duograph.ops.creation import constant_like
from duograph.ops.norm import log_softmax, softmax
from duograph.ops.unary import relu as _relu
from duograph.ops.unary import sigmoid, tanh
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor


@launchable
def softmax_along(x: Tensor, axis: Any, logarithm: bool = False) -> Tensor:
    """Softmax (or its logarithm) along an axis that may be negative, of a tensor of any real dtype."""
    x = promote_float(x)
    ndim = len(x.shape)
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    if not -max(ndim, 1) <= axis < max(ndim, 1):
        name = "LogSoftmax" if logarithm else "Softmax"
        raise ValueError(f"For primitive[{name}], the axis must be in [{-ndim},{ndim}), but got {axis}.")
    op: Any = log_softmax if logarithm else softmax
    return op(x, axis=normalize_axis(axis, ndim))


@launchable
def relu(x: Tensor) -> Tensor:
    """``x`` where it is positive, else 0."""
    return _relu(x)


def _bound(value: Any, name: str, owner: str) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"For {owner}, the type of '{name}' should be float or int, but got {type(value)}.")
    return value


def _one(value: Any, name: str, _: str) -> float:
    if checks.number(value, name, "Elu") != 1.0:
        raise ValueError(f"For 'Elu', the '{name}' must be equal to 1.0, but got {value}.")
    return value


def _not_zero(value: Any, name: str, _: str) -> float:
    if checks.real(value, name, "CeLU") == 0.0:
        raise ValueError(f"For 'CeLU', the '{name}' must be not equal to 0.0.")
    return value


Bound = Annotated[float, Kind("Union[int, float]", _bound)]
One = Annotated[float, Kind("float", _one)]
NotZero = Annotated[float, Kind("float", _not_zero)]


@with_settings
class Softmax(Cell):
    """Softmax along ``axis``.

    Examples:
        >>> print(nn.Softmax()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[0.18242551 0.81757444]
         [0.9933072  0.00669285]]
    """

    axis: Anything = -1

    def construct(self, x):
        return softmax_along(x, self.axis)


@with_settings
class Softmin(Cell):
    """Softmax of ``-x`` along ``axis``.

    Examples:
        >>> print(nn.Softmin()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[0.81757444 0.18242551]
         [0.00669285 0.9933072 ]]
    """

    axis: Anything = -1

    def construct(self, x):
        return softmax_along(-x, self.axis)


class Softmax2d(Cell):
    """Softmax over the channels of images (N, C, H, W) or (C, H, W).

    Examples:
        >>> print(nn.Softmax2d()(ops.ones((1, 2, 1, 2)))[0, :, 0, 0])
        [0.5 0.5]
    """

    def construct(self, x):
        return softmax_along(x, -3)


@with_settings
class LogSoftmax(Cell):
    """Logarithm of `Softmax` along ``axis``.

    Examples:
        >>> print(nn.LogSoftmax()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.7014134  -0.20141333]
         [-0.00671535 -5.0067153 ]]
    """

    axis: Anything = -1

    def construct(self, x):
        return softmax_along(x, self.axis, logarithm=True)


class ReLU(Cell):
    """``max(x, 0)``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> print(nn.ReLU()(ms.Tensor([-1.0, 2.0])))
        [0. 2.]
    """

    def construct(self, x):
        return relu(x)


class ReLU6(Cell):
    """``min(max(x, 0), 6)``.

    Examples:
        >>> print(nn.ReLU6()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[0.  0.5]
         [2.  0. ]]
    """

    def construct(self, x):
        return act.relu6(x)


@with_settings
class LeakyReLU(Cell):
    """``x`` above 0, ``alpha * x`` below.

    Examples:
        >>> print(nn.LeakyReLU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.2  0.5]
         [ 2.  -0.6]]
    """

    alpha: Number = option("slope below 0", default=0.2)

    def construct(self, x):
        return act.leaky_relu(promote_float(x), self.alpha)


@with_settings
class RReLU(Cell):
    """Leaky ReLU with a slope drawn between ``lower`` and ``upper`` while training, their mean otherwise.

    Examples:
        >>> print(nn.RReLU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 2)
    """

    lower: Bound = 1.0 / 8
    upper: Bound = 1.0 / 3

    def _settings_taken(self, given):
        if self.lower > self.upper:
            raise ValueError(
                f"For {self.cls_name}, the value of 'upper' should be greater than or equal to 'lower', "
                f"but got upper: {self.upper}, lower: {self.lower}."
            )
        self.lower, self.upper = float(self.lower), float(self.upper)

    def construct(self, x):
        return act.rrelu(x, _slopes(x, self.lower, self.upper, self.training))


def _slopes(x: Tensor, lower: float, upper: float, training: bool) -> Tensor:
    if not training:
        return constant_like(x, (lower + upper) / 2)
    return random.uniform(constant_like(x, lower), constant_like(x, upper), tuple(x.shape))


class SeLU(Cell):
    """Scaled exponential linear unit, which is self-normalising.

    Examples:
        >>> print(nn.SeLU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.1113307  0.5253505]
         [ 2.101402  -1.6705687]]
    """

    def construct(self, input_x):
        return act.selu(promote_float(input_x))


class SiLU(Cell):
    """``x * sigmoid(x)``.

    Examples:
        >>> print(nn.SiLU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.26894143  0.31122968]
         [ 1.761594   -0.14227761]]
    """

    def construct(self, x):
        return act.silu(promote_float(x))


class Tanh(Cell):
    """Hyperbolic tangent.

    Examples:
        >>> print(nn.Tanh()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.7615942   0.46211717]
         [ 0.9640276  -0.9950548 ]]
    """

    def construct(self, x):
        return tanh(promote_float(x))


class Tanhshrink(Cell):
    """``x - tanh(x)``.

    Examples:
        >>> print(nn.Tanhshrink()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.23840585  0.03788284]
         [ 1.0359724  -2.0049453 ]]
    """

    def construct(self, x):
        return act.tanhshrink(promote_float(x))


@with_settings
class Hardtanh(Cell):
    """``x`` limited to ``[min_val, max_val]``.

    Examples:
        >>> print(nn.Hardtanh()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.   0.5]
         [ 1.  -1. ]]
    """

    min_val: Anything = -1.0
    max_val: Anything = 1.0

    def _settings_taken(self, given):
        if self.min_val >= self.max_val:
            raise ValueError(
                f"For Hardtanh, min_val should be less than max_val, but got min_val: {self.min_val}, "
                f"max_val: {self.max_val}."
            )

    def construct(self, x):
        return act.hardtanh(promote_float(x), self.min_val, self.max_val)


@with_settings
class GELU(Cell):
    """``x`` times the normal distribution function of ``x``.

    Examples:
        >>> print(nn.GELU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.15880801  0.345714  ]
         [ 1.9545978  -0.00363739]]
    """

    approximate: Flag = option("by tanh", default=True)

    def _settings_taken(self, given):
        self.approximate = "tanh" if self.approximate else "none"

    def construct(self, x):
        return act.gelu(promote_float(x), self.approximate)


class FastGelu(Cell):
    """``x * sigmoid(1.702 x)``.

    Examples:
        >>> print(nn.FastGelu()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.15420423  0.35038844]
         [ 1.9356586  -0.01807131]]
    """

    def construct(self, x):
        return act.fast_gelu(promote_float(x))


class Sigmoid(Cell):
    """``1 / (1 + exp(-x))``.

    Examples:
        >>> print(nn.Sigmoid()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[0.26894143 0.62245935]
         [0.880797   0.04742587]]
    """

    def construct(self, input_x):
        return sigmoid(promote_float(input_x))


class Softsign(Cell):
    """``x / (1 + |x|)``.

    Examples:
        >>> print(nn.Softsign()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.5         0.33333334]
         [ 0.6666667  -0.75      ]]
    """

    def construct(self, x):
        return act.softsign(promote_float(x))


class LogSigmoid(Cell):
    """``log(sigmoid(x))``.

    Examples:
        >>> print(nn.LogSigmoid()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.3132617 -0.474077 ]
         [-0.126928  -3.0485873]]
    """

    def construct(self, input_x):
        return act.logsigmoid(promote_float(input_x))


@with_settings
class ELU(Cell):
    """``x`` above 0, ``alpha * (exp(x) - 1)`` below.

    Examples:
        >>> print(nn.ELU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.63212055  0.5       ]
         [ 2.         -0.95021296]]
    """

    alpha: One = option("only 1.0 is supported, as in MindSpore", default=1.0)

    def construct(self, x):
        return act.elu(promote_float(x), self.alpha)


@with_settings
class CELU(Cell):
    """``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``.

    Examples:
        >>> print(nn.CELU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.63212055  0.5       ]
         [ 2.         -0.95021296]]
    """

    alpha: NotZero = 1.0

    def construct(self, x):
        return act.celu(promote_float(x), self.alpha)


class PReLU(Cell):
    """``x`` above 0, ``w * x`` below, with learnt ``w``.

    Args:
        channel (int): 1 or the number of channels. Default ``1``.
        w (Union[float, list, Tensor]): initial value. Default ``0.25``.

    Examples:
        >>> print(nn.PReLU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.25  0.5 ]
         [ 2.   -0.75]]
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        checks.positive_int(channel, "channel", self.cls_name)
        if isinstance(w, float | int):
            start = initializer(float(w), (channel,))
        elif isinstance(w, list):
            if len(w) != channel:
                raise ValueError(
                    f"For '{self.cls_name}', the length of 'w' must be equal to the 'channel' when the 'w' is a list, "
                    f"but got the length of 'w': {len(w)}, the 'channel': {channel}."
                )
            start = Tensor(w, dt.float32)
        elif isinstance(w, Tensor):
            if w.dtype not in (dt.float16, dt.float32):
                raise ValueError(
                    f"For '{self.cls_name}', the dtype of 'w' must be float16 or float32 when the 'w' is a tensor, "
                    f"but got {w.dtype}."
                )
            if tuple(w.shape) != (channel,):
                raise ValueError(
                    f"For '{self.cls_name}', the dimension of 'w' must be 1, and the elements number must be equal to "
                    f"the 'channel' when the 'w' is a tensor, but got 'w' shape {tuple(w.shape)} and channel {channel}."
                )
            start = w
        else:
            raise TypeError(
                f"For '{self.cls_name}', the 'w' only supported float, list and tensor, but got {type(w).__name__}."
            )
        self.w = Parameter(start, name="a")

    def construct(self, x):
        return act.prelu(x, self.in_use(self.w))


class HSwish(Cell):
    """``x * relu6(x + 3) / 6``.

    Examples:
        >>> print(nn.HSwish()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.33333334  0.29166666]
         [ 1.6666666  -0.        ]]
    """

    def construct(self, input_x):
        return act.hardswish(promote_float(input_x))


class HSigmoid(Cell):
    """``relu6(x + 3) / 6``.

    Examples:
        >>> print(nn.HSigmoid()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[0.33333334 0.5833333 ]
         [0.8333333  0.        ]]
    """

    def construct(self, input_x):
        return act.hardsigmoid(promote_float(input_x))


@with_settings
class HShrink(Cell):
    """0 in the interval from ``-lambd`` to ``lambd``, ``x`` outside.

    Examples:
        >>> print(nn.HShrink()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.  0.]
         [ 2. -3.]]
    """

    lambd: Anything = 0.5

    def construct(self, input_x):
        return act.hardshrink(input_x, self.lambd)


@with_settings
class SoftShrink(Cell):
    """``x`` moved towards 0 by ``lambd``, 0 where it would cross.

    Examples:
        >>> print(nn.SoftShrink()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.5  0. ]
         [ 1.5 -2.5]]
    """

    lambd: Number = 0.5

    def construct(self, input_x):
        return act.softshrink(input_x, self.lambd)


class Mish(Cell):
    """``x * tanh(softplus(x))``.

    Examples:
        >>> print(nn.Mish()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.30340147  0.3752452 ]
         [ 1.943959   -0.14564747]]
    """

    def construct(self, input_x):
        return act.mish(promote_float(input_x))


@with_settings
class Threshold(Cell):
    """``x`` where it is above ``threshold``, ``value`` elsewhere.

    Examples:
        >>> print(nn.Threshold(0.1, 20.0)(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[20.   0.5]
         [ 2.  20. ]]
    """

    threshold: Number
    value: Number

    def construct(self, input_x):
        return act.threshold(input_x, self.threshold, self.value)


@with_settings
class GLU(Cell):
    """The first half along ``axis`` times the sigmoid of the second half.

    Examples:
        >>> print(nn.GLU()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-0.62245935]
         [ 0.09485175]]
    """

    axis: Unkept = -1

    def _settings_taken(self, given):
        self.dim = given["axis"]

    def construct(self, x):
        return act.glu(x, self.dim)


_ACTIVATIONS: dict[str, type[Cell]] = {
    "softmin": Softmin, "softmax": Softmax, "softmax2d": Softmax2d, "logsoftmax": LogSoftmax, "relu": ReLU,
    "relu6": ReLU6, "rrelu": RReLU, "silu": SiLU, "tanh": Tanh, "gelu": GELU, "fast_gelu": FastGelu, "elu": ELU,
    "sigmoid": Sigmoid, "softsign": Softsign, "prelu": PReLU, "leakyrelu": LeakyReLU, "hswish": HSwish,
    "hsigmoid": HSigmoid, "logsigmoid": LogSigmoid, "softshrink": SoftShrink, "hshrink": HShrink,
    "threshold": Threshold,
    "mish": Mish, "celu": CELU, "glu": GLU, "hardtanh": Hardtanh,
}  # fmt: skip


def get_activation(name: str, prim_name: str | None = None) -> Cell | None:
    """The activation layer that ``name`` names, ``None`` for ``None``.

    Raises:
        KeyError: unknown name.
    """
    if name is None:
        return None
    if name not in _ACTIVATIONS:
        who = f"For '{prim_name}', the" if prim_name else "The"
        raise KeyError(f"{who} 'name' must be in {list(_ACTIVATIONS)}, but got {name}.")
    return _ACTIVATIONS[name]()
