"""Layers made of others: `Conv2dBnAct`, `DenseBnAct`, `TimeDistributed`; and fractional pooling."""

from __future__ import annotations

from typing import Any

from duograph.api.public_ops import functions
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Flag, Init, Integer, Unkept
from duograph.nn.settings import option, with_settings
from duograph.ops.movement import reshape, transpose
from duograph.tensor.tensor import Tensor

from .activation import LeakyReLU, get_activation
from .basic import Dense
from .conv import Conv2d
from .normalization import BatchNorm1d, BatchNorm2d
from .ranks import by_rank

_OPS = functions()


def _activation(activation: Any, alpha: float, owner: str) -> Any:
    if isinstance(activation, str):
        return LeakyReLU(alpha) if activation == "leakyrelu" else get_activation(activation, owner)
    if activation is not None and not callable(activation):
        raise TypeError(
            f"For '{owner}', the 'activation' must be str or Cell or Primitive, but got {type(activation).__name__}."
        )
    return activation


class _BnAct(Cell):
    """What layers share that normalisation and activation may follow."""

    def _add_bn_act(self, norm: Any, given: dict[str, Any]) -> None:
        if self.has_bn:
            self.batchnorm = norm(given["out_channels"], given["eps"], given["momentum"])
        self.activation = _activation(given["activation"], given["alpha"], self.cls_name)

    def _bn_act(self, x: Tensor) -> Tensor:
        if self.has_bn:
            x = self.batchnorm(x)
        if self.activation is not None:
            x = self.activation(x)
        return x


@with_settings
class Conv2dBnAct(_BnAct):
    """Convolution, batch normalisation and activation.

    Examples:
        >>> layer = nn.Conv2dBnAct(3, 8, 3, has_bn=True, activation="relu")
        >>> print(layer(ops.ones((2, 3, 16, 16), ms.float32)).shape)
        (2, 8, 16, 16)
    """

    in_channels: Unkept = option("channels of the input")
    out_channels: Unkept = option("channels of the result")
    kernel_size: Unkept
    stride: Unkept = 1
    pad_mode: Unkept = "same"
    padding: Unkept = 0
    dilation: Unkept = 1
    group: Unkept = 1
    has_bias: Unkept = False
    weight_init: Init = "normal"
    bias_init: Init = "zeros"
    has_bn: Flag = False
    momentum: Unkept = option("of the normalisation", default=0.997)
    eps: Unkept = option("of the normalisation", default=1e-5)
    activation: Unkept = None
    alpha: Unkept = option('slope of ``"leakyrelu"``', default=0.2)
    after_fake: Unkept = option("kept for old programs", default=True)

    def _settings_taken(self, given):
        self.conv = Conv2d(**{name: given[name] for name in Conv2d._settings if name in given})
        self._add_bn_act(BatchNorm2d, given)

    def construct(self, x):
        return self._bn_act(self.conv(x))


@with_settings
class DenseBnAct(_BnAct):
    """Dense layer, batch normalisation and activation.

    Examples:
        >>> layer = nn.DenseBnAct(3, 2, weight_init="ones", activation="relu")
        >>> print(layer(Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    in_channels: Unkept = option("channels of the input")
    out_channels: Unkept = option("channels of the result")
    weight_init: Init = "normal"
    bias_init: Init = "zeros"
    has_bias: Unkept = True
    has_bn: Flag = False
    momentum: Unkept = option("of the normalisation", default=0.9)
    eps: Unkept = option("of the normalisation", default=1e-5)
    activation: Unkept = None
    alpha: Unkept = option('slope of ``"leakyrelu"``', default=0.2)
    after_fake: Unkept = option("kept for old programs", default=True)

    def _settings_taken(self, given):
        channels, inits = (given["in_channels"], given["out_channels"]), (given["weight_init"], given["bias_init"])
        self.dense = Dense(*channels, *inits, given["has_bias"])
        self._add_bn_act(BatchNorm1d, given)

    def construct(self, x):
        return self._bn_act(self.dense(x))


@with_settings
class TimeDistributed(Cell):
    """A layer applied to every step of a sequence.

    Raises:
        TypeError: ``layer`` is neither Cell nor Primitive.

    Examples:
        >>> layer = nn.TimeDistributed(nn.Dense(4, 2), time_axis=1)
        >>> print(layer(ops.ones((8, 5, 4), ms.float32)).shape)
        (8, 5, 2)
    """

    layer: Unkept = option("Cell or Primitive")
    time_axis: Integer = option("the axis of steps")
    reshape_with_axis: Anything = option(
        "an axis that steps may be folded into, so that the layer is called once", default=None
    )

    def _settings_taken(self, given):
        layer = given["layer"]
        if not callable(layer):
            raise TypeError(
                f"For '{self.cls_name}', the 'layer' must be Cell or Primitive instance, but got type: "
                f"{type(layer).__name__}."
            )
        if self.reshape_with_axis is not None:
            checks.integer(self.reshape_with_axis, "reshape_with_axis", self.cls_name)
        self.layer = layer

    def construct(self, inputs):
        rank = len(inputs.shape)
        time = self.time_axis % rank
        if self.reshape_with_axis is None:
            steps = [self.layer(step) for step in _OPS["unbind"](inputs, time)]
            return _OPS["stack"](tuple(steps), min(time, len(steps[0].shape)))
        other = self.reshape_with_axis % rank
        out = self.layer(folded(inputs, time, other))
        return unfolded(out, inputs, time, other)


def _time_first(rank: int, time: int, other: int) -> tuple[int, ...]:
    rest = [axis for axis in range(rank) if axis != time]
    place = rest.index(other)
    return (*rest[:place], time, *rest[place:])


def folded(x: Tensor, time: int, other: int) -> Tensor:
    """``x`` with the axis ``time`` folded into ``other``."""
    perm = _time_first(x.ndim, time, other)
    moved = transpose(x, perm=perm)
    place = perm.index(time)
    shape = (*moved.shape[:place], moved.shape[place] * moved.shape[place + 1], *moved.shape[place + 2 :])
    return reshape(moved, shape=shape)


def unfolded(out: Tensor, x: Tensor, time: int, other: int) -> Tensor:
    """The layer's result with the steps as axis ``time`` again."""
    perm = _time_first(x.ndim, time, other)
    place = perm.index(time)
    shape = (*out.shape[:place], x.shape[time], x.shape[other], *out.shape[place + 1 :])
    apart = reshape(out, shape=shape)
    rest = [axis for axis in range(len(shape)) if axis != place]
    return transpose(apart, perm=(*rest[:time], place, *rest[time:]))


@with_settings
class _FractionalMaxPool(Cell):
    """Maxima over windows at pseudo-random places."""

    kernel_size: Anything = option("the windows")
    output_size: Anything = option("extents of the result, or", default=None)
    output_ratio: Anything = option("their ratio to the input's", default=None)
    return_indices: Anything = option("also the places of the maxima", default=False)
    _random_samples: Anything = option("of shape (N, C, 2), in (0, 1); ``None``: drawn", default=None)

    def construct(self, input):
        function = _OPS[f"fractional_max_pool{self.rank}d"]
        settings = self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        return function(input, *settings)


_, FractionalMaxPool2d, FractionalMaxPool3d = by_rank(
    _FractionalMaxPool,
    "FractionalMaxPool",
    "Maxima over windows of {batch} at pseudo-random places.",
    "2, output_ratio=0.5",
    lambda n: n // 2,
)
