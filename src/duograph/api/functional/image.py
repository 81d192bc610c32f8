"""Images: resizing, sampling, rearranging of pixels, columns of windows."""

from __future__ import annotations

from typing import Any

from duograph.core.shapes import conv_output_size
from duograph.ops import image, sampling
from duograph.ops.movement import reshape
from duograph.tensor.tensor import Tensor

from .forms import enough_memory, need_tensor, one_per_axis, public_functions, renamed


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """``input`` (N, C, *extents) resized to ``size``, or by ``scale_factor``.

    Returns:
        Tensor, of shape ``(N, C, *size)`` and the dtype of ``input``.

    Examples:
        >>> print(ops.interpolate(Tensor([[[1.0, 2.0]]]), size=(4,)))
        [[[1. 1. 2. 2.]]]
    """
    need_tensor("interpolate", input=input)
    return image.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


upsample = renamed(interpolate, "upsample")


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Values of ``input`` at the places ``grid``.

    Returns:
        Tensor, of shape ``(N, C, *places)``.

    Examples:
        >>> print(ops.grid_sample(Tensor([[[[1.0, 3.0]]]]), Tensor([[[[0.0, 0.0]]]]), align_corners=True))
        [[[[2.]]]]
    """
    need_tensor("grid_sample", input=input, grid=grid)
    return sampling.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """The grid of places that affine maps send pixels to.

    Returns:
        Tensor, of shape ``(N, H, W, 2)`` or ``(N, D, H, W, 3)``.

    Examples:
        >>> print(ops.affine_grid(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), True))
        [[[[-1.  0.]
           [ 1.  0.]]]]
    """
    need_tensor("affine_grid", theta=theta)
    return sampling.affine_grid(theta, size, align_corners)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., C * r**2, H, W) becomes (..., C, H * r, W * r).

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.pixel_shuffle(Tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]), 2))
        [[[1. 2.]
          [3. 4.]]]
    """
    need_tensor("pixel_shuffle", input=input)
    return image.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(..., C, H * r, W * r) becomes (..., C * r**2, H, W).

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.pixel_unshuffle(Tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2).shape)
        (4, 1, 1)
    """
    need_tensor("pixel_unshuffle", input=input)
    return image.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """The channels dealt out from ``groups`` piles in turn.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.channel_shuffle(Tensor(np.arange(4).reshape(1, 4, 1, 1)), 2).ravel())
        [0 2 1 3]
    """
    need_tensor("ChannelShuffle", x=x)
    return image.channel_shuffle(x, groups)


def _pairs(padding: Any, op: str) -> tuple[tuple[int, int], ...]:
    return tuple((p, p) for p in one_per_axis(padding, 2, op, "padding"))


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Windows of (N, C, H, W) as columns (N, C * taps, positions).

    Returns:
        Tensor, of shape ``(N, C * taps, positions)``.

    Examples:
        >>> print(ops.unfold(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), (1, 2)))
        [[[1. 3.]
          [2. 4.]]]
    """
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
    """Columns added up to an image; the adjoint of `unfold`.

    Returns:
        Tensor, of shape ``(N, C, *output_size)``.

    Examples:
        >>> print(ops.fold(Tensor([[[1.0, 3.0], [2.0, 4.0]]]), Tensor([2, 2], ms.int32), (1, 2)))
        [[[[1. 2.]
           [3. 4.]]]]
    """
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
    """Columns (N, C, taps, positions) added up to images (N, C, H, W): the adjoint of `unfold`.

    Returns:
        Tensor, of shape ``(N, C, *output_size)``.

    Examples:
        >>> columns = Tensor([[[[1.0, 3.0], [2.0, 4.0]]]])
        >>> print(ops.col2im(columns, Tensor([2, 2], ms.int32), (1, 2), (1, 1), (0, 0), (1, 1)))
        [[[[1. 2.]
           [3. 4.]]]]
    """
    need_tensor("Col2Im", input_x=input_x)
    n, c, taps, places = input_x.shape
    pads = tuple((p, p) for p in _sides(padding_value, "padding_value"))
    return image.fold(
        reshape(input_x, shape=(n, c * taps, places)), _sides(output_size, "output_size"),
        _sides(kernel_size, "kernel_size"), _sides(dilation, "dilation"), pads, _sides(stride, "stride"),
    )  # fmt: skip


FUNCTIONS = public_functions(globals())
