"""Pooling layers. Unlike other frameworks', MindSpore's `MaxPool2d(2)` has stride 1."""

from __future__ import annotations

from typing import Any

from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops import image, pool
from duograph.ops.conv import resolve_padding
from duograph.ops.movement import expand_dims, squeeze
from duograph.tensor.tensor import Tensor

from .conv import channels_first, channels_last


def batched(x: Tensor, rank: int, owner: str) -> tuple[Tensor, bool]:
    """``x`` with a batch axis (N, C, *size), and whether it had none."""
    ndim = len(x.shape)
    if ndim not in (rank + 1, rank + 2):
        raise ValueError(f"For '{owner}', the dimension of the input must be {rank + 1} or {rank + 2}, but got {ndim}.")
    return (expand_dims(x, 0), True) if ndim == rank + 1 else (x, False)


def unbatched(x: Tensor, added: bool) -> Tensor:
    """``x`` without the batch axis that `batched` added."""
    return squeeze(x, (0,)) if added else x


class _Pool(Cell):
    """What pooling layers share: window, stride and padding."""

    rank = 2
    kind = "MaxPool"
    format = "NCHW"

    def __init__(self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any) -> None:
        super().__init__()
        owner = self.cls_name
        if not isinstance(pad_mode, str) or pad_mode.upper() not in ("VALID", "SAME", "PAD"):
            raise ValueError(f"For '{owner}', the 'pad_mode' must be in ['VALID', 'SAME', 'PAD'], but got {pad_mode}.")
        self.pad_mode = pad_mode.upper()
        self.kernel_size, self.stride = kernel_size, stride
        self._kernel = checks.extents(kernel_size, self.rank, "kernel_size", owner)
        self._stride = checks.extents(stride, self.rank, "stride", owner)
        self._padding = padding
        items = (padding,) if isinstance(padding, int) else tuple(padding)
        if self.pad_mode != "PAD" and any(items):
            raise ValueError(
                f"For '{owner}', the padding must be zero when pad_mode is '{pad_mode}', but got {padding}."
            )

    def _pads(self, x: Tensor, dilation: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        mode = self.pad_mode.lower()
        return resolve_padding(mode, self._padding, x.shape[2:], self._kernel, self._stride, dilation, self.kind)

    def extend_repr(self) -> str:
        kernel, stride = self.kernel_size, self.stride
        if self.rank == 1 and self.pad_mode != "PAD":
            kernel, stride = (1, *self._kernel), (1, *self._stride)
        return f"kernel_size={kernel}, stride={stride}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool):
    dilation: tuple[int, ...] = ()

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding)
        self._dilation = checks.extents(dilation, self.rank, "dilation", self.cls_name)
        self.return_indices = checks.boolean(return_indices, "return_indices", self.cls_name)
        self._ceil_mode = checks.boolean(ceil_mode, "ceil_mode", self.cls_name)
        if self.pad_mode != "PAD" and (return_indices or ceil_mode or any(d != 1 for d in self._dilation)):
            raise ValueError(
                f"For '{self.cls_name}', the parameter 'padding', 'dilation', 'return_indices', 'ceil_mode' can not be "
                f"set to non-default value when pad_mode is not 'pad', but got pad_mode:{pad_mode}."
            )

    def construct(self, x):
        if self.format == "NHWC":
            x = channels_first(x)
        x, added = batched(x, self.rank, self.cls_name)
        out, indices = pool.max_pool(
            x,
            kernel=self._kernel,
            stride=self._stride,
            padding=self._pads(x, self._dilation),
            dilation=self._dilation,
            ceil_mode=self._ceil_mode,
        )
        out = unbatched(out, added)
        if self.return_indices:
            return out, unbatched(indices, added)
        return channels_last(out) if self.format == "NHWC" else out


class MaxPool2d(_MaxPool):
    """Greatest element of each window of (N, C, H, W) or (C, H, W).

    Args:
        kernel_size (Union[int, tuple[int]]): Default ``1``.
        stride (Union[int, tuple[int]]): Default ``1``.
        pad_mode (str): ``"valid"``, ``"same"`` or ``"pad"``. Default ``"valid"``.
        padding (Union(int, tuple[int], list[int])): with ``"pad"``. Default ``0``.
        dilation (Union(int, tuple[int])): Default ``1``.
        return_indices (bool): whether the flat positions are returned too. Default ``False``.
        ceil_mode (bool): Default ``False``.
        data_format (str): ``"NCHW"`` or ``"NHWC"``. Default ``"NCHW"``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(nn.MaxPool2d(kernel_size=2, stride=2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 2, 2)
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
    ) -> None:
        checks.string_of(data_format, ("NCHW", "NHWC"), "format", self.cls_name)
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)
        self.format = data_format


class MaxPool1d(_MaxPool):
    """Greatest element of each window of (N, C, L) or (C, L); arguments as in `MaxPool2d`.

    Examples:
        >>> print(nn.MaxPool1d(kernel_size=2, stride=2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 2)
    """

    rank = 1


class MaxPool3d(_MaxPool):
    """Greatest element of each window of (N, C, D, H, W) or (C, D, H, W); arguments as in `MaxPool2d`.

    Examples:
        >>> print(nn.MaxPool3d(kernel_size=2, stride=2)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 2, 2, 2)
    """

    rank = 3


class _AvgPool(_Pool):
    kind = "AvgPool"

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding)
        self._ceil_mode = checks.boolean(ceil_mode, "ceil_mode", self.cls_name)
        self._count_include_pad = checks.boolean(count_include_pad, "count_include_pad", self.cls_name)
        if divisor_override is not None and divisor_override <= 0:
            raise ValueError(f"For '{self.cls_name}', the 'divisor_override' must be > 0, but got {divisor_override}.")
        self._divisor = divisor_override or 0

    def construct(self, x):
        if self.format == "NHWC":
            x = channels_first(x)
        x, added = batched(x, self.rank, self.cls_name)
        out = pool.avg_pool(
            x,
            kernel=self._kernel,
            stride=self._stride,
            padding=self._pads(x, (1,) * self.rank),
            ceil_mode=self._ceil_mode,
            # MindSpore's "same" divides by the number of elements that exist, but for volumes.
            count_include_pad=self._count_include_pad and (self.rank == 3 or self.pad_mode != "SAME"),
            divisor=self._divisor,
        )
        out = unbatched(out, added)
        return channels_last(out) if self.format == "NHWC" else out


class AvgPool2d(_AvgPool):
    """Mean of each window of (N, C, H, W) or (C, H, W).

    Args:
        kernel_size (Union[int, tuple[int]]): Default ``1``.
        stride (Union[int, tuple[int]]): Default ``1``.
        pad_mode (str): ``"valid"``, ``"same"`` or ``"pad"``. Default ``"valid"``.
        padding (Union(int, tuple[int], list[int])): with ``"pad"``. Default ``0``.
        ceil_mode (bool): Default ``False``.
        count_include_pad (bool): whether padding counts. Default ``True``.
        divisor_override (int): divides every sum instead of the number of elements. Default ``None``.
        data_format (str): ``"NCHW"`` or ``"NHWC"``. Default ``"NCHW"``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(nn.AvgPool2d(kernel_size=2, stride=2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 2, 2)
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
    ) -> None:
        checks.string_of(data_format, ("NCHW", "NHWC"), "format", self.cls_name)
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override)
        self.format = data_format


class AvgPool1d(_AvgPool):
    """Mean of each window of (N, C, L) or (C, L); arguments as in `AvgPool2d`.

    Examples:
        >>> print(nn.AvgPool1d(kernel_size=2, stride=2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 2)
    """

    rank = 1

    def __init__(
        self,
        kernel_size: int = 1,
        stride: int = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad)


class AvgPool3d(_AvgPool):
    """Mean of each window of (N, C, D, H, W) or (C, D, H, W); arguments as in `AvgPool2d`.

    Examples:
        >>> print(nn.AvgPool3d(kernel_size=2, stride=2)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 2, 2, 2)
    """

    rank = 3


# ---- adaptive --------------------------------------------------------------------------------------------------------


class _Adaptive(Cell):
    """What adaptive pooling layers share: the output extents; ``None`` keeps that of the input."""

    rank = 2

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        items = (output_size,) * self.rank if isinstance(output_size, int) or output_size is None else output_size
        if isinstance(output_size, bool) or not isinstance(items, tuple | list):
            raise TypeError(
                f"For '{self.cls_name}', the type of 'output_size' must be int or tuple, "
                f"but got {type(output_size).__name__}."
            )
        if len(items) != self.rank:
            raise ValueError(f"For '{self.cls_name}', the 'output_size' must have {self.rank} items, but got {items}.")
        for item in items:
            if item is not None:
                checks.positive_int(item, "output_size", self.cls_name)
        self.output_size = output_size
        self._size = tuple(items)

    def _extents(self, x: Tensor) -> tuple[int, ...]:
        return tuple(n if want is None else want for n, want in zip(x.shape[2:], self._size, strict=True))


class _AdaptiveAvgPool(_Adaptive):
    def construct(self, input):
        x, added = batched(input, self.rank, self.cls_name)
        return unbatched(image.adaptive_avg_pool(x, self._extents(x)), added)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, L) or (C, L).

    Examples:
        >>> print(nn.AdaptiveAvgPool1d(2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 2)
    """

    rank = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, H, W) or (C, H, W).

    Args:
        output_size (Union[int, tuple]): extents of the output; ``None`` keeps that of the input.

    Examples:
        >>> print(nn.AdaptiveAvgPool2d((2, 2))(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 2, 2)
    """

    rank = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, D, H, W) or (C, D, H, W).

    Examples:
        >>> print(nn.AdaptiveAvgPool3d((2, 2, 2))(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 2, 2, 2)
    """

    rank = 3


class _AdaptiveMaxPool(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = checks.boolean(return_indices, "return_indices", self.cls_name)

    def construct(self, input):
        x, added = batched(input, self.rank, self.cls_name)
        out, indices = pool.adaptive_max_pool(x, output_size=self._extents(x))
        out = unbatched(out, added)
        return (out, unbatched(indices, added)) if self.return_indices else out


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maxima over ``output_size`` nearly equal parts of (N, C, L) or (C, L).

    Examples:
        >>> print(nn.AdaptiveMaxPool1d(2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 2)
    """

    rank = 1

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Maxima over ``output_size`` nearly equal parts of (N, C, H, W) or (C, H, W).

    Examples:
        >>> print(nn.AdaptiveMaxPool2d((2, 2))(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 2, 2)
    """

    rank = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Maxima over ``output_size`` nearly equal parts of (N, C, D, H, W) or (C, D, H, W).

    Examples:
        >>> print(nn.AdaptiveMaxPool3d((2, 2, 2))(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 2, 2, 2)
    """

    rank = 3


# ---- other -----------------------------------------------------------------------------------------------------------


class _LPPool(Cell):
    rank = 2

    def __init__(self, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size, self.stride = kernel_size, stride
        self.ceil_mode = checks.boolean(ceil_mode, "ceil_mode", self.cls_name)
        self._kernel = checks.extents(kernel_size, self.rank, "kernel_size", self.cls_name)
        self._stride = checks.extents(kernel_size if stride is None else stride, self.rank, "stride", self.cls_name)

    def construct(self, x):
        x, added = batched(x, self.rank, self.cls_name)
        out = pool.lp_pool(x, float(self.norm_type), kernel=self._kernel, stride=self._stride, ceil_mode=self.ceil_mode)
        return unbatched(out, added)


class LPPool1d(_LPPool):
    """The p-norm of each window of (N, C, L) or (C, L).

    Examples:
        >>> print(nn.LPPool1d(2.0, 2, 2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 2)
    """

    rank = 1


class LPPool2d(_LPPool):
    """The p-norm of each window of (N, C, H, W) or (C, H, W).

    Examples:
        >>> print(nn.LPPool2d(2.0, 2, 2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 2, 2)
    """

    rank = 2


class _MaxUnpool(Cell):
    rank = 2

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride in (None, 0) else stride
        self._kernel = checks.extents(kernel_size, self.rank, "kernel_size", self.cls_name)
        self._stride = checks.extents(self.stride, self.rank, "stride", self.cls_name)
        self._pad = checks.extents(padding, self.rank, "padding", self.cls_name, least=0)

    def construct(self, x, indices, output_size=None):
        x, added = batched(x, self.rank, self.cls_name)
        indices, _ = batched(indices, self.rank, self.cls_name)
        if output_size:
            size = tuple(output_size[-self.rank :])
        else:
            parts = zip(x.shape[2:], self._kernel, self._stride, self._pad, strict=True)
            size = tuple((n - 1) * s - 2 * p + k for n, k, s, p in parts)
        return unbatched(pool.max_unpool(x, indices, size=size), added)


class MaxUnpool1d(_MaxUnpool):
    """Undoes `MaxPool1d`: puts values at their positions, 0 elsewhere."""

    rank = 1


class MaxUnpool2d(_MaxUnpool):
    """Undoes `MaxPool2d`: puts values at their positions, 0 elsewhere."""

    rank = 2


class MaxUnpool3d(_MaxUnpool):
    """Undoes `MaxPool3d`: puts values at their positions, 0 elsewhere."""

    rank = 3
