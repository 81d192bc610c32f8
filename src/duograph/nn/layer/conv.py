"""Convolution layers over one, two and three spatial axes, and their transposes."""

from __future__ import annotations

import math
from typing import Any

from duograph.common.initializer import HeUniform
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.shapes import numel
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.conv import add_bias, conv, conv_transpose, resolve_padding
from duograph.ops.movement import reshape, transpose
from duograph.ops.slices import pad
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .basic import default_bias, default_weight

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


class _Conv(Cell):
    """What convolutions share: arguments, weight and bias."""

    rank = 2
    transposed = False
    formats: tuple[str, ...] = ("NCHW", "NHWC")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        pad_mode: str,
        padding: Any,
        dilation: Any,
        group: int,
        has_bias: bool,
        weight_init: Any,
        bias_init: Any,
        data_format: str,
        dtype: Any,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        checks.string_of(data_format, self.formats, "format", owner)
        self.in_channels = checks.positive_int(in_channels, "in_channels", owner)
        self.out_channels = checks.positive_int(out_channels, "out_channels", owner)
        self.kernel_size = checks.extents(kernel_size, self.rank, "kernel_size", owner)
        self.stride = checks.extents(stride, self.rank, "stride", owner)
        self.dilation = checks.extents(dilation, self.rank, "dilation", owner)
        self.pad_mode = checks.string_of(pad_mode, _PAD_MODES, "pad_mode", owner)
        self.padding = _checked_padding(padding, self.rank, pad_mode, owner)
        self.group = checks.positive_int(group, "group", owner)
        self.has_bias = checks.boolean(has_bias, "has_bias", owner)
        self.data_format = data_format
        if in_channels % group or out_channels % group:
            raise ValueError(
                "The argument 'group' should be divisible by 'in_channels' and 'out_channels', "
                f"but got group:{group}, in_channels:{in_channels}, out_channels:{out_channels}."
            )
        outer, inner = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        shape = (outer, inner // group, *self.kernel_size)
        if data_format.endswith("C") and not self.transposed:
            shape = (outer, *self.kernel_size, inner // group)
        self.weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.bias_init = bias_init
        self.weight = Parameter(default_weight(self.weight_init, shape, dtype), name="weight")
        self.bias = None
        if has_bias:
            fan_in = shape[1] * numel(shape[2:])
            self.bias = Parameter(default_bias(bias_init, out_channels, fan_in, dtype), name="bias")

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


class _OneAxis(_Conv):
    """What layers over one axis share: settings are ints, the weight is (., ., 1, kernel) as MindSpore keeps it."""

    rank = 1
    formats = ("NCW",)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: int = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = dt.float32,
    ) -> None:
        for name, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)):
            checks.integer(value, name, self.cls_name)
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
            flat_init(weight_init), bias_init, "NCW", dtype,
        )  # fmt: skip
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


class Conv2d(_Conv):
    """Two-dimensional convolution (N, C, H, W).

    Args:
        in_channels (int): channels of the input.
        out_channels (int): channels of the output.
        kernel_size (Union[int, tuple[int]]): extents of the window.
        stride (Union[int, tuple[int]]): Default ``1``.
        pad_mode (str): ``"same"``, ``"valid"`` or ``"pad"``. Default ``"same"``.
        padding (Union[int, tuple[int]]): one number, or four (top, bottom, left, right), with ``"pad"``. Default ``0``.
        dilation (Union[int, tuple[int]]): Default ``1``.
        group (int): Default ``1``.
        has_bias (bool): Default ``False``.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``: HeUniform.
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``: Uniform.
        data_format (str): ``"NCHW"`` or ``"NHWC"``. Default ``"NCHW"``.
        dtype (dtype): of the parameters. Default float32.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn, ops
        >>> nn.Conv2d(3, 8, 3)(ops.ones((1, 3, 5, 5))).shape
        (1, 8, 5, 5)
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
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCHW",
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, data_format, dtype,
        )  # fmt: skip

    def construct(self, x):
        weight = self.in_use(self.weight)
        if self.data_format != "NHWC":
            return self._convolved(x, weight)
        return channels_last(self._convolved(channels_first(x), channels_first(weight)))


class Conv1d(_OneAxis):
    """One-dimensional convolution (N, C, L); arguments as in `Conv2d`. The weight is (out, in / group, 1, kernel).

    Examples:
        >>> print(nn.Conv1d(2, 5, 3)(ops.ones((1, 2, 4))).shape)
        (1, 5, 4)
    """


class Conv3d(_Conv):
    """Three-dimensional convolution (N, C, D, H, W); arguments as in `Conv2d`.

    Examples:
        >>> print(nn.Conv3d(2, 5, 3)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 5, 4, 4, 4)
    """

    rank = 3
    formats = ("NCDHW",)

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
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCDHW",
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, data_format, dtype,
        )  # fmt: skip


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
    output_padding: tuple[int, ...] = ()

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


class Conv2dTranspose(_ConvTranspose):
    """Transposed two-dimensional convolution; arguments as in `Conv2d`, and ``output_padding`` (default ``0``).

    Examples:
        >>> print(nn.Conv2dTranspose(2, 5, 3)(ops.ones((1, 2, 4, 4))).shape)
        (1, 5, 4, 4)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, "NCHW", dtype,
        )  # fmt: skip
        self._set_output_padding(output_padding)
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


class Conv1dTranspose(_OneAxis, _ConvTranspose):
    """Transposed one-dimensional convolution; arguments as in `Conv1d`.

    Examples:
        >>> print(nn.Conv1dTranspose(2, 5, 3)(ops.ones((1, 2, 4))).shape)
        (1, 5, 4)
    """

    output_padding = (0,)


class Conv3dTranspose(_ConvTranspose):
    """Transposed three-dimensional convolution; arguments as in `Conv3d`, and ``output_padding`` (default ``0``).

    Examples:
        >>> print(nn.Conv3dTranspose(2, 5, 3)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 5, 4, 4, 4)
    """

    rank = 3
    formats = ("NCDHW",)

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
        output_padding: Any = 0,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCDHW",
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, data_format, dtype,
        )  # fmt: skip
        self._set_output_padding(output_padding)
