"""Layers made of others: `Conv2dBnAct`, `DenseBnAct`, `TimeDistributed`; and fractional pooling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.api.public_ops import functions
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.movement import reshape, transpose
from duograph.tensor.tensor import Tensor

from .activation import LeakyReLU, get_activation
from .basic import Dense
from .conv import Conv2d
from .normalization import BatchNorm1d, BatchNorm2d

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

    def _add_bn_act(self, norm: Callable[[], Cell], has_bn: bool, activation: Any, alpha: float) -> None:
        self.has_bn = checks.boolean(has_bn, "has_bn", self.cls_name)
        if has_bn:
            self.batchnorm = norm()
        self.activation = _activation(activation, alpha, self.cls_name)

    def _bn_act(self, x: Tensor) -> Tensor:
        if self.has_bn:
            x = self.batchnorm(x)
        if self.activation is not None:
            x = self.activation(x)
        return x


class Conv2dBnAct(_BnAct):
    """Convolution, batch normalisation and activation.

    Args:
        in_channels (int): channels of the input.
        out_channels (int): channels of the result.
        kernel_size (Union[int, tuple[int]]): of the convolution.
        stride (Union[int, tuple[int]]): Default ``1``.
        pad_mode (str): Default ``"same"``.
        padding (Union[int, tuple[int]]): Default ``0``.
        dilation (Union[int, tuple[int]]): Default ``1``.
        group (int): Default ``1``.
        has_bias (bool): Default ``False``.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"normal"``.
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"zeros"``.
        has_bn (bool): Default ``False``.
        momentum (float): of the normalisation. Default ``0.997``.
        eps (float): of the normalisation. Default ``1e-5``.
        activation (Union[str, Cell, Primitive]): Default ``None``.
        alpha (float): slope of ``"leakyrelu"``. Default ``0.2``.
        after_fake (bool): kept for old programs. Default ``True``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bn: bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init,
        )  # fmt: skip
        self._add_bn_act(lambda: BatchNorm2d(out_channels, eps, momentum), has_bn, activation, alpha)

    def construct(self, x):
        return self._bn_act(self.conv(x))


class DenseBnAct(_BnAct):
    """Dense layer, batch normalisation and activation; see `Conv2dBnAct`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        has_bn: bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._add_bn_act(lambda: BatchNorm1d(out_channels, eps, momentum), has_bn, activation, alpha)

    def construct(self, x):
        return self._bn_act(self.dense(x))


class TimeDistributed(Cell):
    """A layer applied to every step of a sequence.

    Args:
        layer (Union[Cell, Primitive]): the layer.
        time_axis (int): the axis of steps.
        reshape_with_axis (int): an axis that steps may be folded into, so that the layer is called once. Default
            ``None``: the layer is called for each step.

    Raises:
        TypeError: ``layer`` is neither Cell nor Primitive.
    """

    def __init__(self, layer: Any, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        if not callable(layer):
            raise TypeError(
                f"For '{self.cls_name}', the 'layer' must be Cell or Primitive instance, but got type: "
                f"{type(layer).__name__}."
            )
        checks.integer(time_axis, "time_axis", self.cls_name)
        if reshape_with_axis is not None:
            checks.integer(reshape_with_axis, "reshape_with_axis", self.cls_name)
        self.layer, self.time_axis, self.reshape_with_axis = layer, time_axis, reshape_with_axis

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


class _FractionalMaxPool(Cell):
    """Maxima over windows at pseudo-random places."""

    rank = 2

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        self.return_indices, self._random_samples = return_indices, _random_samples

    def construct(self, input):
        function = _OPS[f"fractional_max_pool{self.rank}d"]
        settings = self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        return function(input, *settings)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima over windows at pseudo-random places, over two axes.

    Args:
        kernel_size (Union[int, tuple[int]]): the windows.
        output_size (Union[int, tuple[int]]): extents of the result, or
        output_ratio (Union[float, tuple[float]]): their ratio to the input's.
        return_indices (bool): also the places of the maxima. Default ``False``.
        _random_samples (Tensor): of shape (N, C, 2), in (0, 1). Default ``None``: drawn.
    """


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima over windows at pseudo-random places, over three axes; see `FractionalMaxPool2d`."""

    rank = 3
