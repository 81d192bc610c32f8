"""Image gradients and crops, and measures of how alike images are: PSNR, SSIM, MS-SSIM."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from duograph.api.functional import nn as functions
from duograph.api.public_ops import functions as public
from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import PositiveInt
from duograph.nn.settings import Kind, option, with_settings
from duograph.ops.cast import cast
from duograph.ops.movement import broadcast_to, reshape
from duograph.ops.norm import reduce_mean
from duograph.tensor.tensor import Tensor

_OPS = public()


def _images(x: Any, owner: str) -> Tensor:
    if len(x.shape) != 4:
        raise ValueError(f"For '{owner}', the dimension of the images must be 4, but got {len(x.shape)}.")
    return x


def _positive(value: Any, name: str, owner: str) -> float:
    if checks.a_number(value, name, owner) <= 0:
        raise ValueError(f"For '{owner}', the argument '{name}' must > 0.0, but got {value}.")
    return float(value)


def _powers(value: Any, name: str, owner: str) -> tuple[float, ...]:
    if not isinstance(value, tuple | list):
        raise TypeError(
            f"For '{owner}', the type of '{name}' should be one of '['tuple', 'list']', but got type "
            f"'{type(value).__name__}'."
        )
    return tuple(value)


_fraction = checks.that(
    checks.real, lambda x: 0.0 < x <= 1.0, "be in range of (0.0, 1.0], but got {} with type 'float'"
)
_share = checks.that(checks.real, lambda x: 0.0 < x < 1.0, "be in range of (0.0, 1.0), but got {} with type 'float'")
Fraction = Annotated[float, Kind("float", _fraction)]
Range = Annotated[float, Kind("Union[int, float]", _positive, "the range of pixels")]
Sigma = Annotated[float, Kind("float", _positive)]
Share = Annotated[float, Kind("float", _share)]
Powers = Annotated[Any, Kind("Union[tuple, list]", _powers)]


class ImageGradients(Cell):
    """The differences of neighbours along height and width, 0 at the end.

    Examples:
        >>> dy, dx = nn.ImageGradients()(Tensor([[[[1.0, 2.0], [4.0, 8.0]]]]))
        >>> print(dy, dx)
        [[[[3. 6.]
           [0. 0.]]]] [[[[1. 0.]
           [4. 0.]]]]
    """

    def construct(self, images):
        return self.differences(_images(images, "ImageGradients"))

    def differences(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Along height, along width."""
        down = _OPS["pad"](x[:, :, 1:] - x[:, :, :-1], (0, 0, 0, 1))
        right = _OPS["pad"](x[:, :, :, 1:] - x[:, :, :, :-1], (0, 1))
        return down, right


@with_settings
class CentralCrop(Cell):
    """Crops the centre of images.

    Examples:
        >>> print(nn.CentralCrop(0.5)(ops.ones((3, 8, 8), ms.float32)).shape)
        (3, 4, 4)
    """

    central_fraction: Fraction = option("how much of each extent, in (0, 1]")

    def construct(self, image):
        if len(image.shape) not in (3, 4):
            raise ValueError(f"For 'CentralCrop', the dimension of image must be 3 or 4, but got {len(image.shape)}.")
        height, width = image.shape[-2:]
        top = int((height - height * self.central_fraction) / 2)
        left = int((width - width * self.central_fraction) / 2)
        return image[..., top : height - top, left : width - left]


@with_settings
class PSNR(Cell):
    """The peak signal to noise ratio of each pair of images, in decibels.

    Examples:
        >>> print(nn.PSNR()(ops.zeros((1, 1, 4, 4), ms.float32), ops.ones((1, 1, 4, 4), ms.float32) * 0.1))
        [20.]
    """

    max_val: Range = 1.0

    def construct(self, img1, img2):
        x, y = _pair(img1, img2, self.max_val, "PSNR")
        gap = x - y
        error = reduce_mean(gap * gap, axis=(1, 2, 3), keep_dims=False)
        return (1.0 / error).log() * (10.0 / math.log(10.0))


def _pair(img1: Any, img2: Any, max_val: float, owner: str) -> tuple[Tensor, Tensor]:
    x, y = _images(img1, owner), _images(img2, owner)
    if tuple(x.shape) != tuple(y.shape) or x.dtype is not y.dtype:
        raise ValueError(
            f"For '{owner}', both images must have the same shape and dtype, but got {tuple(x.shape)} {x.dtype} and "
            f"{tuple(y.shape)} {y.dtype}."
        )
    if x.dtype.is_integer:
        x, y = cast(x, dtype=dt.float32), cast(y, dtype=dt.float32)
    return (x, y) if max_val == 1.0 else (x / max_val, y / max_val)


@with_settings
class SSIM(Cell):
    """The structural similarity of each pair of images.

    Examples:
        >>> print(nn.SSIM()(ops.ones((1, 3, 16, 16)), ops.ones((1, 3, 16, 16))).shape)
        (1,)
    """

    max_val: Range = 1.0
    filter_size: PositiveInt = option("of the Gaussian window", default=11)
    filter_sigma: Sigma = option("of the Gaussian window", default=1.5)
    k1: Share = 0.01
    k2: Share = 0.03

    def _settings_taken(self, given):
        at = np.arange(self.filter_size) - (self.filter_size - 1) / 2
        line = np.exp(-(at**2) / (2.0 * self.filter_sigma**2))
        square = np.outer(line, line)
        self.window = Tensor((square / square.sum()).astype(np.float32)[None, None])

    def construct(self, img1, img2):
        x, y = _pair(img1, img2, self.max_val, self.cls_name)
        similarity, _ = self.compared(x, y)
        return reduce_mean(similarity, axis=(1,), keep_dims=False)

    def compared(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Similarity, and its part of contrast and structure, of each channel: shape (N, C)."""
        n = self.filter_size
        if x.shape[2] < n or x.shape[3] < n:
            raise ValueError(
                f"For '{self.cls_name}', the 'filter_size' {n} must not be above the extents of the images, "
                f"{tuple(x.shape[2:])}."
            )
        channels = x.shape[1]
        window = broadcast_to(cast(reshape(self.window, shape=(1, 1, n, n)), dtype=x.dtype), shape=(channels, 1, n, n))

        def blurred(z: Tensor) -> Tensor:
            return functions.convolve(2, z, window, None, 1, "valid", 0, 1, channels)

        c1, c2 = self.k1**2, self.k2**2
        mean_x, mean_y = blurred(x), blurred(y)
        product, squares = mean_x * mean_y, mean_x * mean_x + mean_y * mean_y
        luminance = (product * 2.0 + c1) / (squares + c1)
        structure = ((blurred(x * y) - product) * 2.0 + c2) / (blurred(x * x + y * y) - squares + c2)
        similarity = reduce_mean(luminance * structure, axis=(2, 3), keep_dims=False)
        return similarity, reduce_mean(structure, axis=(2, 3), keep_dims=False)


@with_settings
class MSSSIM(SSIM):
    """The multi-scale structural similarity of each pair of images.

    Examples:
        >>> similarity = nn.MSSSIM(power_factors=(0.5, 0.5), filter_size=3)
        >>> print(similarity(ops.ones((1, 3, 16, 16)), ops.ones((1, 3, 16, 16))).shape)
        (1,)
    """

    power_factors: Powers = option(
        "weights of the scales", default=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), after="max_val"
    )

    def construct(self, img1, img2):
        x, y = _pair(img1, img2, self.max_val, self.cls_name)
        return self.over_scales(x, y)

    def over_scales(self, x: Tensor, y: Tensor) -> Tensor:
        """The product over scales of structure, and of similarity at the last."""
        total: Any = 1.0
        for place, power in enumerate(self.power_factors):
            similarity, structure = self.compared(x, y)
            last = place == len(self.power_factors) - 1
            total = _OPS["relu"](similarity if last else structure) ** power * total
            if not last:
                x, y = (_OPS["avg_pool2d"](z, 2, 2) for z in (x, y))
        return reduce_mean(total, axis=(1,), keep_dims=False)
