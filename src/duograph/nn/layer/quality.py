"""Image gradients and crops, and measures of how alike images are: PSNR, SSIM, MS-SSIM."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duograph.api.functional import nn as functions
from duograph.api.public_ops import functions as public
from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.cell import Cell
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
    checks.number(value, name, owner)
    if value <= 0:
        raise ValueError(f"For '{owner}', the argument '{name}' must > 0.0, but got {value}.")
    return float(value)


class ImageGradients(Cell):
    """The differences of neighbours along height and width, 0 at the end."""

    def construct(self, images):
        return self.differences(_images(images, "ImageGradients"))

    def differences(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Along height, along width."""
        down = _OPS["pad"](x[:, :, 1:] - x[:, :, :-1], (0, 0, 0, 1))
        right = _OPS["pad"](x[:, :, :, 1:] - x[:, :, :, :-1], (0, 1))
        return down, right


class CentralCrop(Cell):
    """The middle of images.

    Args:
        central_fraction (float): how much of each extent, in (0, 1].
    """

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        checks.real(central_fraction, "central_fraction", self.cls_name)
        if not 0.0 < central_fraction <= 1.0:
            raise ValueError(
                f"For '{self.cls_name}', the 'central_fraction' must be in range of (0.0, 1.0], but got "
                f"{central_fraction} with type 'float'."
            )
        self.central_fraction = central_fraction

    def construct(self, image):
        if len(image.shape) not in (3, 4):
            raise ValueError(f"For 'CentralCrop', the dimension of image must be 3 or 4, but got {len(image.shape)}.")
        height, width = image.shape[-2:]
        top = int((height - height * self.central_fraction) / 2)
        left = int((width - width * self.central_fraction) / 2)
        return image[..., top : height - top, left : width - left]


class PSNR(Cell):
    """The peak signal to noise ratio of each pair of images, in decibels.

    Args:
        max_val (Union[int, float]): the range of pixels. Default ``1.0``.
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        self.max_val = _positive(max_val, "max_val", self.cls_name)

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


class SSIM(Cell):
    """The structural similarity of each pair of images.

    Args:
        max_val (Union[int, float]): the range of pixels. Default ``1.0``.
        filter_size (int): of the Gaussian window. Default ``11``.
        filter_sigma (float): of the Gaussian window. Default ``1.5``.
        k1 (float): Default ``0.01``.
        k2 (float): Default ``0.03``.
    """

    def __init__(
        self,
        max_val: float = 1.0,
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.max_val = _positive(max_val, "max_val", owner)
        self.filter_size = checks.positive_int(filter_size, "filter_size", owner)
        self.filter_sigma = _positive(filter_sigma, "filter_sigma", owner)
        for name, value in (("k1", k1), ("k2", k2)):
            checks.real(value, name, owner)
            if not 0.0 < value < 1.0:
                raise ValueError(
                    f"For '{owner}', the '{name}' must be in range of (0.0, 1.0), but got {value} with type 'float'."
                )
        self.k1, self.k2 = k1, k2
        at = np.arange(filter_size) - (filter_size - 1) / 2
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


class MSSSIM(SSIM):
    """The structural similarity over several scales.

    Args:
        max_val (Union[int, float]): the range of pixels. Default ``1.0``.
        power_factors (Union[tuple, list]): weights of the scales.
        filter_size (int): of the Gaussian window. Default ``11``.
        filter_sigma (float): of the Gaussian window. Default ``1.5``.
        k1 (float): Default ``0.01``.
        k2 (float): Default ``0.03``.
    """

    def __init__(
        self,
        max_val: float = 1.0,
        power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        if not isinstance(power_factors, tuple | list):
            raise TypeError(
                f"For '{self.cls_name}', the type of 'power_factors' should be one of '['tuple', 'list']', "
                f"but got type '{type(power_factors).__name__}'."
            )
        self.power_factors = tuple(power_factors)

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
