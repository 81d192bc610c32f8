"""Layers on images and small rearrangements: resizing, pixel shuffles, rolls, triangles, norms."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.api.promote import promote_float
from duograph.core.shapes import normalize_axis
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Flag, PositiveInt, Unkept
from duograph.nn.settings import Kind, option, with_settings
from duograph.ops import diagonals, image
from duograph.ops.arithmetic import maximum, mul
from duograph.ops.conv import resolve_padding
from duograph.ops.creation import constant_like
from duograph.ops.movement import reshape, roll, transpose
from duograph.ops.norm import lrn
from duograph.ops.stable import p_norm
from duograph.tensor.tensor import Tensor

Radius = Annotated[int, Kind("int", lambda value, name, _: checks.not_negative_int(value, name, "LRN"))]


@with_settings
class Upsample(Cell):
    """Resizes (N, C, *size).

    Examples:
        >>> print(nn.Upsample(size=(8, 8))(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 8, 8)
    """

    size: Anything = option("new extents", default=None)
    scale_factor: Anything = option("factor of the extents instead", default=None)
    mode: Anything = option("as in `ops.interpolate`", default="nearest")
    align_corners: Anything = option("whether corners stay corners", default=None)
    recompute_scale_factor: Anything = option("whether the factor is taken from the rounded extents", default=None)

    def construct(self, x):
        return image.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )


@with_settings
class PixelShuffle(Cell):
    """(N, C * f**2, H, W) becomes (N, C, H * f, W * f).

    Examples:
        >>> print(nn.PixelShuffle(2)(ops.ones((1, 4, 2, 2))).shape)
        (1, 1, 4, 4)
    """

    upscale_factor: PositiveInt

    def construct(self, input):
        return image.pixel_shuffle(input, self.upscale_factor)


@with_settings
class PixelUnshuffle(Cell):
    """(N, C, H * f, W * f) becomes (N, C * f**2, H, W).

    Examples:
        >>> print(nn.PixelUnshuffle(2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 8, 2, 2)
    """

    downscale_factor: PositiveInt

    def construct(self, input):
        return image.pixel_unshuffle(input, self.downscale_factor)


@with_settings
class ChannelShuffle(Cell):
    """Interleaves the channels of ``groups`` groups.

    Examples:
        >>> print(nn.ChannelShuffle(2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    groups: PositiveInt

    def construct(self, x):
        return image.channel_shuffle(x, self.groups)


class Unflatten(Cell):
    """Splits ``axis`` into ``unflattened_size``.

    Examples:
        >>> print(nn.Unflatten(1, (1, 2))(ops.ones((1, 2, 4, 4))).shape)
        (1, 1, 2, 4, 4)
    """

    def __init__(self, axis: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                f"For '{self.cls_name}', 'unflattened_size' must be tuple or list, but got {type(unflattened_size)}."
            )
        self.axis = checks.integer(axis, "axis", self.cls_name)
        self.unflattened_size = tuple(unflattened_size)

    def construct(self, input_x):
        if not isinstance(input_x, Tensor):
            raise TypeError(f"The input argument must be Tensor, but got {type(input_x).__name__}.")
        return unflattened(input_x, self.axis, self.unflattened_size)


def unflattened(x: Tensor, axis: int, size: tuple[int, ...]) -> Tensor:
    """See `Unflatten`; one extent may be -1."""
    axis = normalize_axis(axis, len(x.shape))
    return x.reshape((*x.shape[:axis], *_resolved(size, x.shape[axis]), *x.shape[axis + 1 :]))


def _resolved(size: tuple[int, ...], total: Any) -> tuple[Any, ...]:
    known = 1
    for n in size:
        known = known * n if n != -1 else known
    return tuple(total // known if n == -1 else n for n in size)


class ClipByNorm(Cell):
    """Scales a tensor down so that its 2-norm over ``axis`` (default ``None``: all) is at most ``clip_norm``.

    Examples:
        >>> print(nn.ClipByNorm()(Tensor([3.0, 4.0]), Tensor(1.0)))
        [0.6 0.8]
    """

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        self.axis = (axis,) if isinstance(axis, int) else axis

    def construct(self, x, clip_norm):
        return clipped(x, clip_norm, self.axis)


def clipped(x: Tensor, limit: Tensor, axis: Any) -> Tensor:
    """See `ClipByNorm`."""
    ndim = len(x.shape)
    axes = tuple(range(ndim)) if axis is None else tuple(normalize_axis(a, ndim) for a in axis)
    length = p_norm(x, 2, axes, True)
    limit = limit.astype(x.dtype) if isinstance(limit, Tensor) else constant_like(x, limit)
    return mul(x, limit / maximum(length, limit))


@with_settings
class Norm(Cell):
    """The 2-norm over ``axis`` (``()``: all).

    Examples:
        >>> print(nn.Norm(axis=1)(Tensor([[3.0, 4.0]])))
        [5.]
    """

    axis: Anything = ()
    keep_dims: Flag = False

    def construct(self, x):
        return two_norm(x, self.axis, self.keep_dims)

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


def two_norm(x: Tensor, axis: Any, keep_dims: bool) -> Tensor:
    """See `Norm`."""
    x = promote_float(x)
    ndim = len(x.shape)
    axes = (axis,) if isinstance(axis, int) else axis
    axes = tuple(normalize_axis(a, ndim) for a in axes) if axes else tuple(range(ndim))
    return p_norm(x, 2, axes, keep_dims)


@with_settings
class LRN(Cell):
    """Local response normalisation over the channels of (N, C, H, W).

    Examples:
        >>> print(nn.LRN()(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    depth_radius: Radius = 5
    bias: Anything = 1.0
    alpha: Anything = 1.0
    beta: Anything = 0.5
    norm_region: Unkept = "ACROSS_CHANNELS"

    def _settings_taken(self, given):
        if given["norm_region"] != "ACROSS_CHANNELS":
            raise ValueError(f"For 'LRN', the 'norm_region' must be 'ACROSS_CHANNELS', but got {given['norm_region']}.")

    def construct(self, input_x):
        return lrn(input_x, self.depth_radius, self.bias, self.alpha, self.beta)


class Roll(Cell):
    """Shifts elements cyclically by ``shift`` places along ``axis``.

    Examples:
        >>> print(nn.Roll(1, 0)(Tensor([1, 2, 3])))
        [3 1 2]
    """

    def __init__(self, shift: Any, axis: Any) -> None:
        super().__init__()
        self.shift = [shift] if isinstance(shift, int) else list(shift)
        self.axis = [axis] if isinstance(axis, int) else list(axis)
        if len(self.shift) != len(self.axis):
            raise ValueError(
                f"For '{self.cls_name}', the shape of 'shift' and 'axis' must be equal, but got {len(self.shift)} "
                f"and {len(self.axis)}."
            )

    def construct(self, input_x):
        return rolled(input_x, tuple(self.shift), tuple(self.axis))


def rolled(x: Tensor, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Tensor:
    """See `Roll`."""
    return roll(x, shifts=shifts, axes=tuple(normalize_axis(a, len(x.shape)) for a in axes))


class Tril(Cell):
    """The lower triangle of matrices, up to diagonal ``k``.

    Examples:
        >>> print(nn.Tril()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.  0.]
         [ 2. -3.]]
    """

    def construct(self, x, k=0):
        return diagonals.tril(x, diagonal=k)


class Triu(Cell):
    """The upper triangle of matrices, from diagonal ``k`` on.

    Examples:
        >>> print(nn.Triu()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.   0.5]
         [ 0.  -3. ]]
    """

    def construct(self, x, k=0):
        return diagonals.triu(x, diagonal=k)


class Unfold(Cell):
    """Windows of (N, C, H, W) as channels: (N, C * taps, H', W').

    Args:
        ksizes (Union[tuple[int], list[int]]): ``(1, rows, columns, 1)``.
        strides (Union[tuple[int], list[int]]): ``(1, rows, columns, 1)``.
        rates (Union[tuple[int], list[int]]): dilation, ``(1, rows, columns, 1)``.
        padding (str): ``"same"`` or ``"valid"``. Default ``"valid"``.

    Examples:
        >>> print(nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1])(ops.ones((1, 2, 4, 4))).shape)
        (1, 8, 3, 3)
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        for name, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if len(value) != 4 or value[0] != 1 or value[3] != 1:
                raise ValueError(f"For '{self.cls_name}', the '{name}' must be (1, row, column, 1), but got {value}.")
        self.kernel, self.step, self.dilation = tuple(ksizes[1:3]), tuple(strides[1:3]), tuple(rates[1:3])
        self.padding = checks.string_of(padding.lower(), ("same", "valid"), "padding", self.cls_name)

    def construct(self, input_x):
        return patches(input_x, self.kernel, self.step, self.dilation, self.padding)


def patches(x: Tensor, kernel: Any, step: Any, dilation: Any, padding: str) -> Tensor:
    """See `Unfold`: the taps come before the channels."""
    n, c, h, w = x.shape
    pads = resolve_padding(padding, 0, (h, w), kernel, step, dilation, "Unfold")
    columns = image.unfold(x, kernel, dilation, pads, step)
    sizes = [
        (e + a + b - d * (k - 1) - 1) // s + 1
        for e, (a, b), k, s, d in zip((h, w), pads, kernel, step, dilation, strict=True)
    ]
    taps = kernel[0] * kernel[1]
    split = reshape(columns, shape=(n, c, taps, *sizes))
    return reshape(transpose(split, perm=(0, 2, 1, 3, 4)), shape=(n, c * taps, *sizes))
