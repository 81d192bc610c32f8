"""Images: arrays of shape (H, W, C) or (H, W), and Pillow's images; what all operations on them are made of."""

from __future__ import annotations

import io
from enum import IntEnum, StrEnum
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ..nodes import array_of
from ..transforms import RandomOperation, check_prob


class Inter(IntEnum):
    """Ways of resizing."""

    NEAREST = 0
    ANTIALIAS = 1
    LINEAR = 2
    BILINEAR = 2
    CUBIC = 3
    BICUBIC = 3
    AREA = 4
    PILCUBIC = 5


class Border(StrEnum):
    """Ways of padding."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ConvertMode(IntEnum):
    """Conversions of the colour space, under OpenCV's names; some names mean the same."""

    COLOR_BGR2BGRA = 0
    COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = 1
    COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = 2
    COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = 3
    COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = 5
    COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = 8
    COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = 9
    COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


class ImageBatchFormat(IntEnum):
    """The position of the channels in a batch of images."""

    NHWC = 0
    NCHW = 1


class SliceMode(IntEnum):
    """What `SlicePatches` does where sizes are not multiples: pad, or leave out."""

    PAD = 0
    DROP = 1


class ImageReadMode(IntEnum):
    """Channels of images that are read: those of the file, one, or three."""

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


def pillow(module: str = "Image") -> ModuleType:
    """A module of Pillow.

    Raises:
        RuntimeError: it is not installed.
    """
    try:
        return import_module(f"PIL.{module}")
    except ImportError as error:
        raise RuntimeError(
            "compressed images and operations on their pixels need Pillow: pip install 'duograph[data]'"
        ) from error


def is_picture(value: Any) -> bool:
    """Whether ``value`` is an image of Pillow."""
    return type(value).__module__.startswith("PIL.") and hasattr(value, "getbands")


def image_of(data: Any) -> np.ndarray:
    """``data`` as an array with the axes of an image.

    Raises:
        TypeError: it is neither numbers nor an image of Pillow.
        RuntimeError: it has neither two nor three axes, or no pixels.
    """
    image = np.asarray(data) if is_picture(data) else array_of(data)
    if image.dtype.kind not in "biuf":
        raise TypeError(f"Input should be NumPy or PIL image, got {type(data)}.")
    if image.ndim not in (2, 3):
        raise RuntimeError(f"The shape of an image should be <H,W,C> or <H,W>, but got rank: {image.ndim}")
    if not image.size:
        raise RuntimeError(f"An image of the shape {image.shape} has no pixels.")
    return image


def picture_of(image: np.ndarray, what: str) -> Any:
    """Converts a uint8 array to a Pillow image.

    Raises:
        TypeError: another dtype.
        RuntimeError: a number of channels that no image has.
    """
    if image.dtype != np.uint8:
        raise TypeError(f"{what}: the image must be of uint8, but got {image.dtype}.")
    flat = image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
    if flat.ndim == 3 and flat.shape[2] not in (2, 3, 4):
        raise RuntimeError(f"{what}: an image has 1 to 4 channels, but got {flat.shape[2]}.")
    return pillow().fromarray(np.ascontiguousarray(flat))


class Pixels(np.ndarray):
    """What is in an image of Pillow: what Pillow can do with it, it does."""

    def by(self, function: Any) -> np.ndarray:
        """``function`` of the image."""
        made = np.asarray(function(picture_of(self, function.__name__)))
        return (made[..., None] if self.ndim == 3 and made.ndim == 2 else made).view(Pixels)


class ImageOperation:
    """Base of operations on images: Pillow's images give Pillow's images, all others arrays. As in MindSpore, the
    former are resized, turned and adjusted by Pillow, and the latter as OpenCV does."""

    def __call__(self, image: Any) -> Any:
        if not is_picture(image):
            return self.apply(image_of(image))
        pixels = image_of(image)
        made = self.apply(pixels.view(Pixels) if pixels.dtype == np.uint8 else pixels)
        if isinstance(made, tuple):
            return tuple([np.asarray(m) for m in made])
        return picture_of(made, type(self).__name__) if isinstance(made, np.ndarray) else made

    def apply(self, image: np.ndarray) -> Any:
        """The operation on an array."""
        raise NotImplementedError

    def pixels(self, image: np.ndarray, function: Any) -> np.ndarray:
        """``function`` of the array as an image of Pillow; the result has the axes of the array."""
        made = np.asarray(function(picture_of(image, type(self).__name__)))
        return made[..., None] if image.ndim == 3 and made.ndim == 2 else made


class RandomImageOperation(ImageOperation, RandomOperation):
    """Base of operations on images with random choices, which are made with probability ``prob``."""

    def __init__(self, prob: float = 1.0) -> None:
        RandomOperation.__init__(self)
        self._prob = check_prob(prob)

    def __call__(self, image: Any) -> Any:
        if self._prob < 1.0 and self.rng.random() >= self._prob:
            return image if is_picture(image) else image_of(image)
        return super().__call__(image)


def saturated(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Real values in the range of ``dtype``; integers are rounded, halves to even."""
    if np.dtype(dtype).kind not in "iu":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)


def gray(image: np.ndarray) -> np.ndarray:
    """The luma of an RGB image (ITU-R 601), real."""
    return (
        image[..., :3].astype(np.float64) @ np.array([0.299, 0.587, 0.114]) if image.ndim == 3 else image.astype(float)
    )


def resample(inter: Inter) -> int:
    """Pillow's number of a way of resizing."""
    kinds = pillow().Resampling
    table = {
        Inter.NEAREST: kinds.NEAREST, Inter.LINEAR: kinds.BILINEAR, Inter.CUBIC: kinds.BICUBIC,
        Inter.ANTIALIAS: kinds.LANCZOS, Inter.AREA: kinds.BOX, Inter.PILCUBIC: kinds.BICUBIC,
    }  # fmt: skip
    return table[inter]


def resized(image: np.ndarray, size: tuple[int, int], inter: Inter = Inter.LINEAR) -> np.ndarray:
    """``image`` of another height and width.

    ``LINEAR`` and ``CUBIC`` interpolate between the pixels beside a place, ``AREA`` gives means of areas: all as
    OpenCV's, within 1 of integers. ``ANTIALIAS`` and ``PILCUBIC`` are Pillow's, as is all that is done to its images.
    """
    if isinstance(image, Pixels):
        return image.by(lambda picture: picture.resize(size[::-1], resample(inter)))
    if inter is Inter.NEAREST:
        rows, columns = (
            np.minimum(np.arange(n) * old // n, old - 1) for n, old in zip(size, image.shape[:2], strict=True)
        )
        return image[rows][:, columns]
    if inter is Inter.LINEAR and image.dtype == np.uint8:
        return _linear_bytes(image, size)
    if inter is not Inter.ANTIALIAS and inter is not Inter.PILCUBIC:
        along: Any = {Inter.LINEAR: _linear, Inter.CUBIC: _cubic, Inter.AREA: _area}[inter]
        if inter is Inter.AREA and (size[0] > image.shape[0] or size[1] > image.shape[1]):
            along = _area_larger
        out = image.astype(np.float64)
        for axis, n in enumerate(size):
            out = along(out, axis, n)
        return saturated(np.floor(out + 0.5) if image.dtype.kind in "iu" else out, image.dtype)
    way = resample(inter)
    bands = [image] if image.ndim == 2 else [image[..., i] for i in range(image.shape[2])]
    kind = np.uint8 if image.dtype == np.uint8 else np.float32
    made = [
        saturated(np.asarray(pillow().fromarray(np.ascontiguousarray(b, kind)).resize(size[::-1], way)), image.dtype)
        for b in bands
    ]
    return made[0] if image.ndim == 2 else np.stack(made, axis=2)


def _places(old: int, n: int) -> np.ndarray:
    """Where the middles of ``n`` new pixels lie among ``old`` ones."""
    return (np.arange(n) + 0.5) * old / n - 0.5


def _linear(image: np.ndarray, axis: int, n: int) -> np.ndarray:
    old = image.shape[axis]
    places = np.clip(_places(old, n), 0, old - 1)
    low = np.minimum(places.astype(np.int64), max(old - 2, 0))
    return _between(image, axis, low, places - low)


_BLOCK = 2**15
"""Elements of rows that `_linear_bytes` computes at once, so that what lies between its steps stays in the cache."""


def _linear_bytes(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """`_linear` along both axes, in the whole numbers that OpenCV computes with: weights of eleven bits."""
    flat, channels = image.reshape(image.shape[0], -1), 1 if image.ndim == 2 else image.shape[2]
    above, below, share = _neighbours(image.shape[0], size[0], 1)
    columns = _neighbours(image.shape[1], size[1], channels)
    made = np.empty((size[0], size[1] * channels), np.uint8)
    step = max(1, _BLOCK // max(flat.shape[1], made.shape[1], 1))
    for start in range(0, size[0], step):
        part = slice(start, start + step)
        first, last = above[part][0], below[part][-1]
        rows = above[part] - first, below[part] - first, share[part, None]
        out = flat[first : last + 1]
        if len(out) < len(rows[0]):  # sums of whole numbers: the shorter way
            out = _sums(_sums(out, 1, *columns), 0, *rows)
        else:
            out = _sums(_sums(out, 0, *rows), 1, *columns)
        out += 1 << 21
        out >>= 22
        made[part] = out
    return made.reshape(*size, *image.shape[2:])


@lru_cache(64)
def _neighbours(old: int, n: int, channels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of ``n`` new pixels, with their channels: the places of the old ones beside each, and the share of the second."""
    places = np.clip(_places(old, n), 0, old - 1)
    low = np.minimum(places.astype(np.int64), max(old - 2, 0))
    share = np.repeat(np.rint((places - low) * 2048).astype(np.int32), channels)
    low, high = ((x[:, None] * channels + np.arange(channels)).ravel() for x in (low, np.minimum(low + 1, old - 1)))
    return low, high, share


def _sums(rows: np.ndarray, axis: int, low: np.ndarray, high: np.ndarray, share: np.ndarray) -> np.ndarray:
    out = np.multiply(rows.take(low, axis), 2048 - share, dtype=np.int32)
    out += np.multiply(rows.take(high, axis), share, dtype=np.int32)
    return out


def _between(image: np.ndarray, axis: int, low: np.ndarray, share: np.ndarray) -> np.ndarray:
    """What lies between the rows ``low`` and those behind them."""
    old, share = image.shape[axis], share.reshape([-1 if i == axis else 1 for i in range(image.ndim)])
    return image.take(low, axis) * (1 - share) + image.take(np.minimum(low + 1, old - 1), axis) * share


def _area_larger(image: np.ndarray, axis: int, n: int) -> np.ndarray:
    """OpenCV's interpolation for ``INTER_AREA`` where an image becomes larger."""
    old = image.shape[axis]
    low = np.minimum(np.arange(n) * old // n, old - 1)
    share = (np.arange(n) + 1) - (low + 1) * (n / old)
    return _between(image, axis, low, np.where(share <= 0, 0.0, share - np.floor(share)))


def _area(image: np.ndarray, axis: int, n: int) -> np.ndarray:
    """Means of areas: differences of the running sum."""
    old = image.shape[axis]
    zero = np.zeros_like(image.take([0], axis))
    total = np.concatenate([zero, image.cumsum(axis)], axis)
    places = np.arange(n + 1) * (old / n)
    low = np.minimum(places.astype(np.int64), old - 1)
    return np.diff(_between(total, axis, low, places - low), axis=axis) / (old / n)


def cubic_weights(x: np.ndarray) -> list[np.ndarray]:
    """Weights of four neighbours (R. Keys, Cubic Convolution Interpolation, 1981; a = -0.75, as OpenCV's)."""
    a = -0.75
    near = [
        ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a,
        ((a + 2) * x - (a + 3)) * x * x + 1,
        ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1,
    ]
    return [*near, 1 - near[0] - near[1] - near[2]]


def _cubic(image: np.ndarray, axis: int, n: int) -> np.ndarray:
    old = image.shape[axis]
    places = _places(old, n)
    low = np.floor(places).astype(np.int64)
    shape = [-1 if i == axis else 1 for i in range(image.ndim)]
    weights = enumerate(cubic_weights(places - low))
    parts = (image.take(np.clip(low + i - 1, 0, old - 1), axis) * w.reshape(shape) for i, w in weights)
    return sum(parts, np.zeros(()))


def _has_alpha(image: Any) -> bool:
    """Whether pixels are more or less transparent: by a channel, or by the palette or colour that a file names."""
    return image.mode.upper() in ("RGBA", "LA", "PA") or (image.mode in ("P", "RGB") and "transparency" in image.info)


_UNCHANGED = ("RGB", "L", "RGBA", "I;16")
"""Modes of Pillow that arrays of pixels have; what is in another one becomes the first."""


def decoded(data: bytes, what: str, mode: ImageReadMode = ImageReadMode.COLOR, picture: bool = False) -> Any:
    """Bytes of a compressed image as an array (or an image of Pillow).

    Raises:
        RuntimeError: they are no image, one that is cut off, or one whose size is beyond Pillow's limit.
    """
    pil = pillow()
    try:
        image = pil.open(io.BytesIO(data))
        image.load()
        if image.mode.startswith("I") and mode is not ImageReadMode.UNCHANGED:  # Pillow would cut off above 255
            image = pil.fromarray((np.clip(np.array(image), 0, 65535) >> 8).astype(np.uint8))
        elif image.mode == "1":
            image = image.convert("L")
        elif _has_alpha(image):  # in other modes as well: Pillow warns where a palette loses its transparency
            image = image.convert("RGBA")
        wanted = {ImageReadMode.GRAYSCALE: ("L",), ImageReadMode.COLOR: ("RGB",)}.get(mode, _UNCHANGED)
        if image.mode not in wanted:  # to convert to what it is would be a copy
            image = image.convert(wanted[0])
    except pil.DecompressionBombError as error:
        raise RuntimeError(f"{what}: {error} (PIL.Image.MAX_IMAGE_PIXELS is the limit.)") from None
    except (OSError, SyntaxError, ValueError) as error:  # what Pillow's decoders raise
        found = f"{len(data)} bytes that begin with {data[:8]!r}" if data else "nothing"
        why = "no known format" if isinstance(error, pil.UnidentifiedImageError) else error
        raise RuntimeError(f"{what}: the image cannot be decoded: {why}; got {found}.") from None
    if picture:
        return image
    array = np.array(image)
    return array[..., None] if mode is ImageReadMode.GRAYSCALE else array
