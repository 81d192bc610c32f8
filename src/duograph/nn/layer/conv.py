"""Convolution layers over one, two and three spatial axes, and their transposes."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from duograph.common.initializer import HeUniform
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.shapes import numel
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Dtype, Extent, Flag, Init, PositiveInt, Text
from duograph.nn.settings import Fixed, Kind, option, with_settings
from duograph.ops.conv import add_bias, conv, conv_transpose, resolve_padding
from duograph.ops.movement import reshape, transpose
from duograph.ops.slices import pad
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .basic import default_bias, default_weight, primitive_of_layer

_PAD_MODES = ("valid", "same", "pad")


@launchable
def convolve(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *,
    stride: tuple[int, ...],
    pad_mode: str,
    padding: Any,
    dilation: tuple[int, ...],
    group: int,
    op: str,
) -> Tensor:
    """Convolution of ``x`` (N, C, *size) by MindSpore's padding modes."""
    rank = len(stride)
    if len(x.shape) != rank + 2:
        raise ValueError(f"For '{op}', the dimension of input must be {rank + 2}D, but got {len(x.shape)}D.")
    resolved = resolve_padding(pad_mode, padding, x.shape[2:], weight.shape[2:], stride, dilation, op)
    out = conv(x, weight, stride=stride, padding=resolved, dilation=dilation, groups=group)
    return out if bias is None else add_bias(out, bias)


def channels_last(x: Tensor) -> Tensor:
    """``x`` (N, C, *size) as (N, *size, C)."""
    return transpose(x, perm=(0, *range(2, len(x.shape)), 1))


def channels_first(x: Tensor) -> Tensor:
    """``x`` (N, *size, C) as (N, C, *size)."""
    last = len(x.shape) - 1
    return transpose(x, perm=(0, last, *range(1, last)))


PadMode = Annotated[str, Kind("str", lambda value, *it: checks.string_of(value, _PAD_MODES, *it))]


@with_settings
class _Conv(Cell):
    """What convolutions share: arguments, weight and bias."""

    in_channels: PositiveInt = option("channels of the input")
    out_channels: PositiveInt = option("channels of the output")
    kernel_size: Extent = option("extents of the window")
    stride: Extent = 1
    pad_mode: PadMode = option('``"same"``, ``"valid"`` or ``"pad"``', default="same")
    padding: Extent = option('with ``"pad"``: one number, or one for each end of each axis', default=0)
    dilation: Extent = 1
    group: PositiveInt = 1
    has_bias: Flag = False
    weight_init: Init = option("``None``: HeUniform", default=None)
    bias_init: Init = option("``None``: Uniform", default=None)
    data_format: Text = "NCHW"
    dtype: Dtype = dt.float32

    rank = 2
    transposed = False
    formats: ClassVar[tuple[str, ...]] = ("NCHW", "NHWC")

    def _settings_taken(self, given):
        owner, group = self.cls_name, self.group
        self.data_format = checks.string_of(given["data_format"], self.formats, "format", owner)
        self.kernel_size = checks.extents(given["kernel_size"], self.rank, "kernel_size", owner)
        self.stride = checks.extents(given["stride"], self.rank, "stride", owner)
        self.dilation = checks.extents(given["dilation"], self.rank, "dilation", owner)
        self.padding = _checked_padding(given["padding"], self.rank, self.pad_mode, owner)
        if self.in_channels % group or self.out_channels % group:
            raise ValueError(
                "The argument 'group' should be divisible by 'in_channels' and 'out_channels', "
                f"but got group:{group}, in_channels:{self.in_channels}, out_channels:{self.out_channels}."
            )
        outer, inner = self.out_channels, self.in_channels
        if self.transposed:
            outer, inner = inner, outer
        shape = (outer, inner // group, *self.kernel_size)
        if self.data_format.endswith("C") and not self.transposed:
            shape = (outer, *self.kernel_size, inner // group)
        self.weight_init = HeUniform(math.sqrt(5)) if given["weight_init"] is None else given["weight_init"]
        self.bias_init = given["bias_init"]
        self.weight = Parameter(default_weight(self.weight_init, shape, given["dtype"]), name="weight")
        self.bias = None
        if self.has_bias:
            bias = default_bias(self.bias_init, self.out_channels, shape[1] * numel(shape[2:]), given["dtype"])
            self.bias = Parameter(bias, name="bias")

    def construct(self, x):
        return self._convolved(x, self.in_use(self.weight))

    def _convolved(self, x: Tensor, weight: Tensor) -> Tensor:
        """The result for (N, C, *size) and a weight whose axes end with those of the kernel."""
        return convolve(
            x,
            weight,
            self.in_use(self.bias),
            stride=self.stride,
            pad_mode=self.pad_mode,
            padding=self.padding,
            dilation=self.dilation,
            group=self.group,
            op=_primitive(self.rank),
        )

    def extend_repr(self) -> str:
        kernel, stride, dilation, padding = self.kernel_size, self.stride, self.dilation, self.padding
        if self.rank == 1:
            kernel, stride, dilation = (1, *kernel), (1, *stride), (1, *dilation)
            padding = (0, 0, padding, padding) if isinstance(padding, int) else padding
        shown = self.data_format if self.rank > 1 else "NCHW"
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={kernel}, "
            f"stride={stride}, pad_mode={self.pad_mode}, padding={padding}, dilation={dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, bias_init={self.bias_init}, format={shown}"
        )


@with_settings
class _OneAxis(_Conv):
    """What layers over one axis share: settings are ints, the weight is (., ., 1, kernel) as MindSpore keeps it."""

    data_format: Fixed = "NCW"

    rank = 1
    formats = ("NCW",)

    def _settings_taken(self, given):
        for name in ("kernel_size", "stride", "dilation"):
            checks.integer(given[name], name, self.cls_name)
        given["weight_init"] = flat_init(given["weight_init"])
        super()._settings_taken(given)
        self.weight = Parameter(with_unit_height(self.weight), name="weight")

    def construct(self, x):
        return self._convolved(x, without_unit_height(self.in_use(self.weight)))


def with_unit_height(weight: Tensor) -> Tensor:
    """(O, C, K) as (O, C, 1, K)."""
    o, c, k = weight.shape
    return reshape(weight, shape=(o, c, 1, k))


def without_unit_height(weight: Tensor) -> Tensor:
    """(O, C, 1, K) as (O, C, K)."""
    o, c, _, k = weight.shape
    return reshape(weight, shape=(o, c, k))


def flat_init(init: Any) -> Any:
    """A weight given as a Tensor (O, C, K) or (O, C, 1, K), as (O, C, K); anything else as it is."""
    return without_unit_height(init) if isinstance(init, Tensor) and len(init.shape) == 4 else init


def _primitive(rank: int) -> str:
    """The name that messages give to a convolution over ``rank`` axes."""
    return "Conv3D" if rank == 3 else "Conv2D"


def _checked_padding(padding: Any, rank: int, pad_mode: str, owner: str) -> Any:
    if isinstance(padding, bool) or not isinstance(padding, int | tuple | list):
        raise TypeError(f"For '{owner}', the type of 'padding' must be int or tuple, but got {type(padding).__name__}.")
    items = (padding,) if isinstance(padding, int) else tuple(padding)
    for item in items:
        checks.not_negative_int(item, "padding item", owner)
    if len(items) not in (1, rank, 2 * rank):
        raise ValueError(f"For '{owner}', the length of 'padding' must be {2 * rank}, but got {len(items)}.")
    if pad_mode != "pad" and any(items):
        raise ValueError(
            f"For '{_primitive(rank)}', the 'pad' must be zero when 'pad_mode' is not 'pad', "
            f"but got 'pad': {padding} and 'pad_mode': {pad_mode}."
        )
    return padding if isinstance(padding, int) else items


@with_settings
class Conv2d(_Conv):
    """Two-dimensional convolution (N, C, H, W).

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn, ops
        >>> nn.Conv2d(3, 8, 3)(ops.ones((1, 3, 5, 5))).shape
        (1, 8, 5, 5)
    """

    data_format: Text = option('``"NCHW"`` or ``"NHWC"``', default="NCHW")

    def _settings_taken(self, given):
        super()._settings_taken(given)
        # what `construct` of subclasses calls, as in MindSpore
        self.conv2d = primitive_of_layer(
            "Conv2D",
            self.out_channels,
            self.kernel_size,
            pad_mode=self.pad_mode,
            pad=self.padding,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
            data_format=self.data_format,
        )
        if self.has_bias:
            self.bias_add = primitive_of_layer("BiasAdd", self.data_format)

    def construct(self, x):
        weight = self.in_use(self.weight)
        if self.data_format != "NHWC":
            return self._convolved(x, weight)
        return channels_last(self._convolved(channels_first(x), channels_first(weight)))


@with_settings
class Conv1d(_OneAxis):
    """One-dimensional convolution (N, C, L). The weight is (out, in / group, 1, kernel).

    Examples:
        >>> print(nn.Conv1d(2, 5, 3)(ops.ones((1, 2, 4))).shape)
        (1, 5, 4)
    """


@with_settings
class Conv3d(_Conv):
    """Three-dimensional convolution (N, C, D, H, W).

    Examples:
        >>> print(nn.Conv3d(2, 5, 3)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 5, 4, 4, 4)
    """

    data_format: Text = "NCDHW"

    rank = 3
    formats = ("NCDHW",)


# ---- transposed ------------------------------------------------------------------------------------------------------


def convolve_transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *,
    stride: tuple[int, ...],
    pad_mode: str,
    padding: Any,
    dilation: tuple[int, ...],
    group: int,
    output_padding: tuple[int, ...],
) -> Tensor:
    """Transposed convolution: with ``"same"`` the output has ``size * stride`` positions."""
    kernel = tuple(weight.shape[2:])
    if pad_mode == "pad":
        pads = resolve_padding("pad", padding, x.shape[2:], kernel, stride, dilation, "Conv2DTranspose")
        extra = output_padding
    else:
        spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        total = [max(span - s, 0) if pad_mode == "same" else 0 for span, s in zip(spans, stride, strict=True)]
        pads = tuple((t // 2, t - t // 2) for t in total)
        # A stride longer than the window leaves positions at the end that no window reaches.
        extra = tuple(max(s - span, 0) for span, s in zip(spans, stride, strict=True))
    out = conv_transpose(x, weight, stride=stride, padding=pads, dilation=dilation, groups=group, output_padding=extra)
    return out if bias is None else add_bias(out, bias)


class _ConvTranspose(_Conv):
    """What transposed convolutions share; the weight is (in, out / group, *kernel)."""

    transposed = True

    def _set_output_padding(self, output_padding: Any) -> None:
        self.output_padding = checks.extents(output_padding, self.rank, "output_padding", self.cls_name, least=0)
        if self.pad_mode != "pad" and any(self.output_padding):
            raise ValueError(
                f"For '{self.cls_name}', when output_padding is not zero, pad_mode must be 'pad', "
                f"but got 'output_padding': {output_padding} and 'pad_mode': {self.pad_mode}."
            )

    def _convolved(self, x: Tensor, weight: Tensor) -> Tensor:
        return convolve_transposed(
            x,
            weight,
            self.in_use(self.bias),
            stride=self.stride,
            pad_mode=self.pad_mode,
            padding=self.padding,
            dilation=self.dilation,
            group=self.group,
            output_padding=self.output_padding,
        )


@with_settings
class Conv2dTranspose(_ConvTranspose):
    """Transposed two-dimensional convolution.

    Examples:
        >>> print(nn.Conv2dTranspose(2, 5, 3)(ops.ones((1, 2, 4, 4))).shape)
        (1, 5, 4, 4)
    """

    output_padding: Extent = option("zeros behind the result", default=0, after="padding")
    data_format: Fixed = "NCHW"

    def _settings_taken(self, given):
        super()._settings_taken(given)
        self._set_output_padding(given["output_padding"])
        # As in MindSpore: zeros are put behind the finished result, no window reaches them.
        self.zeros_behind, self.output_padding = self.output_padding, (0,) * self.rank
        for extra, step, spread in zip(self.zeros_behind, self.stride, self.dilation, strict=True):
            if extra and extra >= max(step, spread):
                raise ValueError("output_padding must be in range of [0, max(stride_h, dilation_h)).")

    def construct(self, x):
        out = self._convolved(x, self.in_use(self.weight))
        if any(self.zeros_behind):
            out = pad(out, padding=((0, 0), (0, 0), *((0, n) for n in self.zeros_behind)))
        return out


@with_settings
class Conv1dTranspose(_OneAxis, _ConvTranspose):
    """Transposed one-dimensional convolution.

    Examples:
        >>> print(nn.Conv1dTranspose(2, 5, 3)(ops.ones((1, 2, 4))).shape)
        (1, 5, 4)
    """

    output_padding = (0,)


@with_settings
class Conv3dTranspose(_ConvTranspose):
    """Transposed three-dimensional convolution.

    Examples:
        >>> print(nn.Conv3dTranspose(2, 5, 3)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 5, 4, 4, 4)
    """

    output_padding: Extent = option("more positions at the ends of the result", default=0, after="group")
    data_format: Text = "NCDHW"

    rank = 3
    formats = ("NCDHW",)

    def _settings_taken(self, given):
        super()._settings_taken(given)
        self._set_output_padding(given["output_padding"])
