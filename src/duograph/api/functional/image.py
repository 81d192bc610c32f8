"""Images: resizing, sampling, rearranging of pixels, columns of windows."""

from __future__ import annotations

from typing import Any

from duograph.core.shapes import conv_output_size
from duograph.ops import image, sampling
from duograph.ops.movement import reshape
from duograph.tensor.tensor import Tensor

from .forms import enough_memory, need_tensor, one_per_axis, public_functions


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """``input`` (N, C, *extents) resized to ``size``, or by ``scale_factor``."""
    need_tensor("interpolate", input=input)
    return image.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """As `interpolate`."""
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Values of ``input`` at the places ``grid``."""
    need_tensor("grid_sample", input=input, grid=grid)
    return sampling.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """The grid of places that affine maps send pixels to."""
    need_tensor("affine_grid", theta=theta)
    return sampling.affine_grid(theta, size, align_corners)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., C * r**2, H, W) becomes (..., C, H * r, W * r)."""
    need_tensor("pixel_shuffle", input=input)
    return image.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(..., C, H * r, W * r) becomes (..., C * r**2, H, W)."""
    need_tensor("pixel_unshuffle", input=input)
    return image.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """The channels dealt out from ``groups`` piles in turn."""
    need_tensor("ChannelShuffle", x=x)
    return image.channel_shuffle(x, groups)


def _pairs(padding: Any, op: str) -> tuple[tuple[int, int], ...]:
    return tuple((p, p) for p in one_per_axis(padding, 2, op, "padding"))


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Windows of (N, C, H, W) as columns (N, C * taps, positions)."""
    need_tensor("unfold", input=input)
    k, d, s = (
        one_per_axis(v, 2, "unfold", n)
        for v, n in ((kernel_size, "kernel_size"), (dilation, "dilation"), (stride, "stride"))
    )
    pairs = _pairs(padding, "unfold")
    if input.ndim == 4 and all(isinstance(n, int) for n in input.shape):
        n, c, *sizes = input.shape  # windows along one axis, made first, may fit where the result does not
        count = [max(0, conv_output_size(*of_axis)) for of_axis in zip(sizes, k, s, pairs, d, strict=True)]
        enough_memory("unfold", (n, c * k[0] * k[1], count[0] * count[1]), input.dtype)  # type: ignore[arg-type]  # all numbers
    return image.unfold(input, k, d, pairs, s)  # type: ignore[arg-type]


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns added up to an image; the adjoint of `unfold`."""
    need_tensor("fold", input=input)
    size, k, d, s = (
        one_per_axis(v, 2, "fold", n)
        for v, n in (
            (output_size, "output_size"),
            (kernel_size, "kernel_size"),
            (dilation, "dilation"),
            (stride, "stride"),
        )
    )
    return image.fold(input, size, k, d, _pairs(padding, "fold"), s)  # type: ignore[arg-type]


def _sides(value: Any, name: str) -> tuple[int, int]:
    a, b = one_per_axis(value, 2, "Col2Im", name)
    return a, b


def col2im(
    input_x: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any
) -> Tensor:
    """Columns (N, C, taps, positions) added up to images (N, C, H, W): the adjoint of `unfold`."""
    need_tensor("Col2Im", input_x=input_x)
    n, c, taps, places = input_x.shape
    pads = tuple((p, p) for p in _sides(padding_value, "padding_value"))
    return image.fold(
        reshape(input_x, shape=(n, c * taps, places)), _sides(output_size, "output_size"),
        _sides(kernel_size, "kernel_size"), _sides(dilation, "dilation"), pads, _sides(stride, "stride"),
    )  # fmt: skip


FUNCTIONS = public_functions(globals())
