"""Pooling layers. Unlike other frameworks', MindSpore's `MaxPool2d(2)` has stride 1."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Extent, Flag
from duograph.nn.settings import Fixed, Kind, absent, option, with_settings
from duograph.ops import image, pool
from duograph.ops.conv import resolve_padding
from duograph.ops.movement import expand_dims, squeeze
from duograph.tensor.tensor import Tensor

from .conv import channels_first, channels_last
from .ranks import by_rank


def batched(x: Tensor, rank: int, owner: str) -> tuple[Tensor, bool]:
    """``x`` with a batch axis (N, C, *size), and whether it had none."""
    ndim = len(x.shape)
    if ndim not in (rank + 1, rank + 2):
        raise ValueError(f"For '{owner}', the dimension of the input must be {rank + 1} or {rank + 2}, but got {ndim}.")
    return (expand_dims(x, 0), True) if ndim == rank + 1 else (x, False)


def unbatched(x: Tensor, added: bool) -> Tensor:
    """``x`` without the batch axis that `batched` added."""
    return squeeze(x, (0,)) if added else x


def _format(value: Any, name: str, owner: str) -> str:
    return checks.string_of(value, ("NCHW", "NHWC"), "format", owner)


_pad_mode = checks.that(
    checks.same,
    lambda x: isinstance(x, str) and x.upper() in ("VALID", "SAME", "PAD"),
    "be in ['VALID', 'SAME', 'PAD'], but got {}",
)
_divisor = checks.that(checks.same, lambda x: x is None or not x <= 0, "be > 0, but got {}")
Window = Annotated[Any, Kind("Union[int, tuple[int]]")]
PadMode = Annotated[str, Kind("str", _pad_mode, '``"valid"``, ``"same"`` or ``"pad"``', kept=False)]
Padding = Annotated[Any, Kind("Union(int, tuple[int], list[int])", text='with ``"pad"``', kept=False)]
Ceil = Annotated[bool, Kind("bool", checks.boolean, "whether the result's extents are rounded up", kept=False)]
Indices = Annotated[bool, Kind("bool", checks.boolean, "whether the flat positions are returned too")]
Format = Annotated[str, Kind("str", _format, '``"NCHW"`` or ``"NHWC"``', kept=False)]
Divisor = Annotated[int | None, Kind("int", _divisor, kept=False)]
CountPad = Annotated[bool, Kind("bool", checks.boolean, "whether padding counts", kept=False)]


def _pads(x: Tensor, mode: str, padding: Any, *window: Any) -> tuple[tuple[int, int], ...]:
    """`resolve_padding` for the extents of ``x``: here, as methods of Cells have them as numbers."""
    return resolve_padding(mode, padding, x.shape[2:], *window)


@with_settings
class _Pool(Cell):
    """What pooling layers share: window, stride and padding."""

    kernel_size: Window = 1
    stride: Window = 1
    pad_mode: PadMode = "valid"
    padding: Padding = 0

    rank = 2
    kind = "MaxPool"
    format = "NCHW"

    def _settings_taken(self, given):
        owner, pad_mode, padding = self.cls_name, given["pad_mode"], given["padding"]
        self.pad_mode = pad_mode.upper()
        self._kernel = checks.extents(self.kernel_size, self.rank, "kernel_size", owner)
        self._stride = checks.extents(self.stride, self.rank, "stride", owner)
        self._padding = padding
        items = (padding,) if isinstance(padding, int) else tuple(padding)
        if self.pad_mode != "PAD" and any(items):
            raise ValueError(
                f"For '{owner}', the padding must be zero when pad_mode is '{pad_mode}', but got {padding}."
            )
        if "data_format" in given:
            self.format = given["data_format"]

    def _pads(self, x: Tensor, dilation: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        return _pads(x, self.pad_mode.lower(), self._padding, self._kernel, self._stride, dilation, self.kind)

    def extend_repr(self) -> str:
        kernel, stride = self.kernel_size, self.stride
        if self.rank == 1 and self.pad_mode != "PAD":
            kernel, stride = (1, *self._kernel), (1, *self._stride)
        return f"kernel_size={kernel}, stride={stride}, pad_mode={self.pad_mode}"


@with_settings
class _MaxPool(_Pool):
    """What pooling by maxima shares."""

    dilation: Extent = 1
    return_indices: Indices = False
    ceil_mode: Ceil = False

    def _settings_taken(self, given):
        super()._settings_taken(given)
        self._dilation = checks.extents(given["dilation"], self.rank, "dilation", self.cls_name)
        self._ceil_mode = given["ceil_mode"]
        odd = self.return_indices or self._ceil_mode or any(d != 1 for d in self._dilation)
        if self.pad_mode != "PAD" and odd:
            raise ValueError(
                f"For '{self.cls_name}', the parameter 'padding', 'dilation', 'return_indices', 'ceil_mode' can not be "
                f"set to non-default value when pad_mode is not 'pad', but got pad_mode:{given['pad_mode']}."
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


@with_settings
class MaxPool2d(_MaxPool):
    """Greatest element of each window of (N, C, H, W) or (C, H, W).

    Examples:
        >>> print(nn.MaxPool2d(kernel_size=2, stride=2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 2, 2)
    """

    data_format: Format = "NCHW"


@with_settings
class MaxPool1d(_MaxPool):
    """Greatest element of each window of (N, C, L) or (C, L).

    Examples:
        >>> print(nn.MaxPool1d(kernel_size=2, stride=2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 2)
    """

    rank = 1


@with_settings
class MaxPool3d(_MaxPool):
    """Greatest element of each window of (N, C, D, H, W) or (C, D, H, W).

    Examples:
        >>> print(nn.MaxPool3d(kernel_size=2, stride=2)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 2, 2, 2)
    """

    rank = 3


@with_settings
class _AvgPool(_Pool):
    """What pooling by means shares."""

    ceil_mode: Ceil = False
    count_include_pad: CountPad = True
    divisor_override: Divisor = option("divides every sum instead of the number of elements", default=None)

    kind = "AvgPool"

    def _settings_taken(self, given):
        super()._settings_taken(given)
        self._ceil_mode, self._count_include_pad = given["ceil_mode"], given["count_include_pad"]
        self._divisor = given.get("divisor_override") or 0

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


@with_settings
class AvgPool2d(_AvgPool):
    """Mean of each window of (N, C, H, W) or (C, H, W).

    Examples:
        >>> print(nn.AvgPool2d(kernel_size=2, stride=2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 2, 2)
    """

    data_format: Format = "NCHW"


@with_settings
class AvgPool1d(_AvgPool):
    """Mean of each window of (N, C, L) or (C, L).

    Examples:
        >>> print(nn.AvgPool1d(kernel_size=2, stride=2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 2)
    """

    divisor_override: Fixed = absent

    rank = 1


@with_settings
class AvgPool3d(_AvgPool):
    """Mean of each window of (N, C, D, H, W) or (C, D, H, W).

    Examples:
        >>> print(nn.AvgPool3d(kernel_size=2, stride=2)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 2, 2, 2)
    """

    rank = 3


# ---- adaptive --------------------------------------------------------------------------------------------------------


@with_settings
class _Adaptive(Cell):
    """What adaptive pooling layers share."""

    output_size: Window = option("extents of the output; ``None`` keeps that of the input")

    rank = 2

    def _settings_taken(self, given):
        size = self.output_size
        items = (size,) * self.rank if isinstance(size, int) or size is None else size
        if isinstance(size, bool) or not isinstance(items, tuple | list):
            raise TypeError(
                f"For '{self.cls_name}', the type of 'output_size' must be int or tuple, but got {type(size).__name__}."
            )
        if len(items) != self.rank:
            raise ValueError(f"For '{self.cls_name}', the 'output_size' must have {self.rank} items, but got {items}.")
        for item in items:
            if item is not None:
                checks.positive_int(item, "output_size", self.cls_name)
        self._size = tuple(items)

    def _extents(self, x: Tensor) -> tuple[int, ...]:
        return tuple(n if want is None else want for n, want in zip(x.shape[2:], self._size, strict=True))


class _AdaptiveAvgPool(_Adaptive):
    def construct(self, input):
        x, added = batched(input, self.rank, self.cls_name)
        return unbatched(image.adaptive_avg_pool(x, self._extents(x)), added)


def _two(_: int) -> int:
    return 2


AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = by_rank(
    _AdaptiveAvgPool,
    "AdaptiveAvgPool",
    "Means over ``output_size`` nearly equal parts of {batch} or {single}.",
    "2",
    _two,
)


@with_settings
class _AdaptiveMaxPool(_Adaptive):
    return_indices: Indices = False

    def construct(self, input):
        x, added = batched(input, self.rank, self.cls_name)
        out, indices = pool.adaptive_max_pool(x, output_size=self._extents(x))
        out = unbatched(out, added)
        return (out, unbatched(indices, added)) if self.return_indices else out


_, AdaptiveMaxPool2d, AdaptiveMaxPool3d = by_rank(
    _AdaptiveMaxPool,
    "AdaptiveMaxPool",
    "Maxima over ``output_size`` nearly equal parts of {batch} or {single}.",
    "2",
    _two,
)


@with_settings
class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maxima over ``output_size`` nearly equal parts of (N, C, L) or (C, L).

    Examples:
        >>> print(nn.AdaptiveMaxPool1d(2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 2)
    """

    return_indices: Fixed = False

    rank = 1


# ---- other -----------------------------------------------------------------------------------------------------------


@with_settings
class _LPPool(Cell):
    norm_type: Anything = option("the exponent")
    kernel_size: Window
    stride: Window = option("``None``: ``kernel_size``", default=None)
    ceil_mode: Flag = False

    rank = 2

    def _settings_taken(self, given):
        stride = self.kernel_size if self.stride is None else self.stride
        self._kernel = checks.extents(self.kernel_size, self.rank, "kernel_size", self.cls_name)
        self._stride = checks.extents(stride, self.rank, "stride", self.cls_name)

    def construct(self, x):
        x, added = batched(x, self.rank, self.cls_name)
        out = pool.lp_pool(x, float(self.norm_type), kernel=self._kernel, stride=self._stride, ceil_mode=self.ceil_mode)
        return unbatched(out, added)


LPPool1d, LPPool2d, _ = by_rank(
    _LPPool, "LPPool", "The p-norm of each window of {batch} or {single}.", "2.0, 2, 2", _two
)


@with_settings
class _MaxUnpool(Cell):
    kernel_size: Window
    stride: Window = option("``None``: ``kernel_size``", default=None)
    padding: Window = 0

    rank = 2

    def _settings_taken(self, given):
        if self.stride in (None, 0):
            self.stride = self.kernel_size
        self._kernel = checks.extents(self.kernel_size, self.rank, "kernel_size", self.cls_name)
        self._stride = checks.extents(self.stride, self.rank, "stride", self.cls_name)
        self._pad = checks.extents(self.padding, self.rank, "padding", self.cls_name, least=0)

    def construct(self, x, indices, output_size=None):
        x, added = batched(x, self.rank, self.cls_name)
        indices, _ = batched(indices, self.rank, self.cls_name)
        if output_size:
            size = tuple(output_size[-self.rank :])
        else:
            parts = zip(x.shape[2:], self._kernel, self._stride, self._pad, strict=True)
            size = tuple((n - 1) * s - 2 * p + k for n, k, s, p in parts)
        return unbatched(pool.max_unpool(x, indices, size=size), added)


MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = by_rank(
    _MaxUnpool,
    "MaxUnpool",
    "Undoes maximum pooling of {batch}: puts values at their positions, 0 elsewhere.",
    "2",
    lambda n: 2 * n,
    "ops.ones({given}), ops.zeros({given}, ms.int64)",
)
