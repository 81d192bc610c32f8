"""Operations on images: arrays of shape (H, W, C) or (H, W)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..nodes import JOINED, array_of
from ..transforms import TypeCast
from .pictures import Border, ImageOperation, Inter, Pixels, RandomImageOperation, image_of, resized

LARGEST = 16777216


def checked_size(size: Any) -> Any:
    """``size``: one or two positive ints."""
    items = size if isinstance(size, list | tuple) else [size]
    if len(items) not in (1, 2) or any(isinstance(n, bool) or not isinstance(n, int) for n in items):
        raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")
    if any(not 1 <= n <= LARGEST for n in items):
        raise ValueError(f"Input is not within the required interval of [1, {LARGEST}].")
    return size if isinstance(size, int) else tuple(size)


def pair(size: Any) -> tuple[int, int]:
    """Height and width."""
    return (size, size) if isinstance(size, int) else size


class Rescale:
    """``image * rescale + shift`` as float32.

    Args:
        rescale (float): the factor.
        shift (float): the summand.
    """

    def __init__(self, rescale: float, shift: float) -> None:
        for name, value in (("rescale", rescale), ("shift", shift)):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(
                    f"Argument {name} with value {value} is not of type [<class 'numbers.Number'>], but got "
                    f"{type(value)}."
                )
        self.factor, self.shift = np.float32(rescale), np.float32(shift)

    def __call__(self, image: Any) -> np.ndarray:
        made = np.multiply(array_of(image), self.factor, dtype=np.float32, casting="unsafe")
        made += self.shift
        return made


class Normalize:
    """``(image - mean) / std`` of each channel, as float32.

    Args:
        mean (Sequence): one per channel, from 0 to 255.
        std (Sequence): one per channel, above 0 up to 255.
        is_hwc (bool): channels last. Default ``True``.
    """

    def __init__(self, mean: Any, std: Any, is_hwc: bool = True) -> None:
        if len(mean) != len(std):
            raise ValueError("Length of mean and std must be equal.")
        for i, value in enumerate(mean):
            if not 0 <= value <= 255:
                raise ValueError(f"Input mean[{i}] is not within the required interval of [0, 255].")
        for i, value in enumerate(std):
            if not 0 < value <= 255:
                raise ValueError(f"Input std[{i}] is not within the required interval of (0, 255].")
        self.mean, self.std, self.is_hwc = np.asarray(mean, np.float32), np.asarray(std, np.float32), is_hwc

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        channels = 1 if image.ndim == 2 else image.shape[-1 if self.is_hwc else 0]
        if len(self.mean) not in (1, channels):
            raise RuntimeError(
                f"Normalize: number of channels does not match the size of mean and std vectors, got channels: "
                f"{channels}, size of mean: {len(self.mean)}."
            )
        height = image.shape[0]
        rows = np.ascontiguousarray(image).reshape(height, image.size // max(height, 1))
        if self.is_hwc or image.ndim == 2:  # NumPy is slow along three channels
            mean, std = (_repeated(tuple(x.tolist()), rows.shape[1]) for x in (self.mean, self.std))
        else:
            mean, std = self.mean[:, None], self.std[:, None]
        made = np.subtract(rows, mean, dtype=np.float32, casting="unsafe")
        made /= std
        return made.reshape(image.shape)


@lru_cache(64)
def _repeated(values: tuple[float, ...], width: int) -> np.ndarray:
    return np.resize(np.asarray(values, np.float32), width)


class NormalizePad(Normalize):
    """`Normalize`, with a further channel of zeros.

    Args:
        mean (Sequence): see `Normalize`. So ``std``.
        dtype (str): ``"float32"`` or ``"float16"``. Default ``"float32"``.
        is_hwc (bool): channels last. Default ``True``.
    """

    def __init__(self, mean: Any, std: Any, dtype: str = "float32", is_hwc: bool = True) -> None:
        super().__init__(mean, std, is_hwc)
        if dtype not in ("float32", "float16"):
            raise ValueError(f"dtype should be 'float32' or 'float16', but got {dtype!r}.")
        self._type = np.dtype(dtype)

    def __call__(self, image: Any) -> np.ndarray:
        made = super().__call__(image)
        made = made[..., None] if made.ndim == 2 else made
        axis = 2 if self.is_hwc else 0
        rest = np.zeros([1 if a == axis else n for a, n in enumerate(made.shape)], made.dtype)
        return np.concatenate([made, rest], axis=axis).astype(self._type)


class _ToPlanes:
    """`Rescale` (if there is one), `Normalize` and `HWC2CHW`: the same steps for each number, but a channel at a time,
    which stays in the cache between them."""

    def __init__(self, steps: list[Any]) -> None:
        self._steps = steps
        self._rescale: Rescale | None = steps[0] if len(steps) == 3 else None
        self._normalize: Normalize = steps[-2]

    def __call__(self, image: Any) -> np.ndarray:
        is_image = type(image) is np.ndarray and image.ndim == 3 and image.size and image.dtype.kind in "biuf"
        channels, mean, std = image.shape[-1] if is_image else 0, self._normalize.mean, self._normalize.std
        if not is_image or len(mean) not in (1, channels):
            for step in self._steps:
                image = step(image)
            return image
        made: np.ndarray = np.empty((channels, *image.shape[:2]), np.float32)
        for i, plane in enumerate(made):
            plane[...] = image[:, :, i]
            if self._rescale is not None:
                plane *= self._rescale.factor
                plane += self._rescale.shift
            plane -= mean[i % len(mean)]
            plane /= std[i % len(mean)]
        return made


class HWC2CHW:
    """Moves the channels from the last axis to the first."""

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        return np.ascontiguousarray(image.transpose(2, 0, 1)) if image.ndim == 3 else image


def _joined(before: list[Any]) -> tuple[Any, int]:
    kinds = [type(step) for step in before]
    if kinds[-1:] != [Normalize] or not before[-1].is_hwc:
        return None, 0
    count = 2 if kinds[-2:] == [Rescale, Normalize] else 1
    return _ToPlanes([*before[-count:], HWC2CHW()]), count


JOINED[HWC2CHW] = _joined


class ToTensor:
    """Channels first, integers divided by 255, as float32 (or ``output_type``)."""

    def __init__(self, output_type: Any = np.float32) -> None:
        self._cast = TypeCast(output_type)

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        image = image[..., None] if image.ndim == 2 else image
        values = image.astype(np.float32)
        if image.dtype.kind in "iu":
            values = values / np.float32(255.0)
        return self._cast(np.ascontiguousarray(values.transpose(2, 0, 1)))


class ToType(TypeCast):
    """Casts to a type."""


class Resize(ImageOperation):
    """Resizes.

    Args:
        size (Union[int, Sequence[int]]): (height, width), or the length of the shorter side.
        interpolation (Inter): how. Default ``Inter.LINEAR``.
    """

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        self._size = checked_size(size)
        if not isinstance(interpolation, Inter):
            raise TypeError(
                f"Argument interpolation with value {interpolation} is not of type [<enum 'Inter'>], but got "
                f"{type(interpolation)}."
            )
        self._inter = interpolation

    def apply(self, image: np.ndarray) -> np.ndarray:
        height, width = image.shape[:2]
        if isinstance(self._size, tuple):
            size = self._size
        else:
            short = min(height, width)
            size = (int(self._size * height / short), int(self._size * width / short))
        return resized(image, size, self._inter)


def padded(image: np.ndarray, pads: tuple[int, int, int, int], fill: Any, mode: Border) -> np.ndarray:
    """``image`` with more at left, top, right and bottom."""
    left, top, right, bottom = pads
    widths = [(top, bottom), (left, right)] + [(0, 0)] * (image.ndim - 2)
    if mode is not Border.CONSTANT:
        return np.pad(image, widths, mode=mode.value)  # type: ignore[call-overload]
    out = np.empty([n + sum(w) for n, w in zip(image.shape, widths, strict=True)], image.dtype)
    out[...] = np.asarray(fill, image.dtype)
    out[tuple(slice(a, a + n) for (a, _), n in zip(widths, image.shape, strict=True))] = image
    return out


def _pads(padding: Any) -> tuple[int, int, int, int]:
    items = [padding] if isinstance(padding, int) else list(padding)
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in items) or len(items) not in (1, 2, 4):
        raise ValueError("padding must be one, two or four ints that are not negative.")
    if len(items) == 1:
        return (items[0],) * 4
    return (items[0], items[1], items[0], items[1]) if len(items) == 2 else tuple(items)  # type: ignore[return-value]


class Pad(ImageOperation):
    """Pads.

    Args:
        padding (Union[int, Sequence[int]]): all sides; left/right and top/bottom; or left, top, right, bottom.
        fill_value (Union[int, tuple[int]]): Default ``0``.
        padding_mode (Border): Default ``Border.CONSTANT``.
    """

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT) -> None:
        self._pads, self._fill, self._mode = _pads(padding), fill_value, padding_mode

    def apply(self, image: np.ndarray) -> np.ndarray:
        return padded(image, self._pads, self._fill, self._mode)


class Crop(ImageOperation):
    """Crops the part of ``size`` at ``coordinates`` (top, left)."""

    def __init__(self, coordinates: Any, size: Any) -> None:
        self._place, self._size = tuple(coordinates), pair(checked_size(size))

    def apply(self, image: np.ndarray) -> np.ndarray:
        top, left = self._place
        return cropped(image, top, left, self._size)


def cropped(image: np.ndarray, top: int, left: int, size: tuple[int, int]) -> np.ndarray:
    """A part of ``image``."""
    height, width = size
    if top < 0 or left < 0 or top + height > image.shape[0] or left + width > image.shape[1]:
        raise RuntimeError(
            f"Crop: invalid coordinates, the part of {size} at {(top, left)} is not inside an image of "
            f"{image.shape[:2]}."
        )
    return image[top : top + height, left : left + width]


class CenterCrop(ImageOperation):
    """Crops the centre; smaller images are padded with 0. Where it lies between two pixels, Pillow images are
    cropped at the even one, arrays at the first.

    Args:
        size (Union[int, Sequence[int]]): height and width.
    """

    def __init__(self, size: Any) -> None:
        self._size = pair(checked_size(size))

    def apply(self, image: np.ndarray) -> np.ndarray:
        if isinstance(image, Pixels):
            height, width = self._size
            top, left = (round((have - want) / 2) for want, have in zip(self._size, image.shape[:2], strict=True))
            return image.by(lambda picture: picture.crop((left, top, left + width, top + height)))
        more = [max(want - have, 0) for want, have in zip(self._size, image.shape[:2], strict=True)]
        top, left = -(-more[0] // 2), -(-more[1] // 2)
        image = padded(image, (left, top, more[1] - left, more[0] - top), 0, Border.CONSTANT)
        place = [(have - want) // 2 for want, have in zip(self._size, image.shape[:2], strict=True)]
        return cropped(image, place[0], place[1], self._size)


class HorizontalFlip(ImageOperation):
    """Flips the image horizontally."""

    def apply(self, image: np.ndarray) -> np.ndarray:
        if image.ndim == 2 or image.shape[2] > 4:
            return np.ascontiguousarray(image[:, ::-1])
        made: np.ndarray = np.empty(image.shape, image.dtype)
        for channel in range(image.shape[2]):  # NumPy is slow along three channels
            made[..., channel] = image[:, ::-1, channel]
        return made


class VerticalFlip(ImageOperation):
    """Flips the image vertically."""

    def apply(self, image: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(image[::-1])


class RandomHorizontalFlip(RandomImageOperation):
    """`HorizontalFlip` with probability ``prob`` (default 0.5)."""

    flip: Any = HorizontalFlip()

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(prob)

    def apply(self, image: np.ndarray) -> np.ndarray:
        return self.flip.apply(image)


class RandomVerticalFlip(RandomHorizontalFlip):
    """`VerticalFlip` with probability ``prob`` (default 0.5)."""

    flip = VerticalFlip()


class RandomCrop(RandomImageOperation):
    """Crops at a random position.

    Args:
        size (Union[int, Sequence[int]]): height and width.
        padding (Union[int, Sequence[int]]): see `Pad`, before cropping. Default ``None``.
        pad_if_needed (bool): pad images that are too small. Default ``False``.
        fill_value (Union[int, tuple[int]]): Default ``0``.
        padding_mode (Border): Default ``Border.CONSTANT``.
    """

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        super().__init__()
        self.size = pair(checked_size(size))
        self._pads = _pads(padding) if padding is not None else (0, 0, 0, 0)
        self._always, self._fill, self._mode = pad_if_needed, fill_value, padding_mode

    def apply(self, image: np.ndarray) -> np.ndarray:
        image, _ = self.widened(image)
        return cropped(image, *self.place(image), self.size)

    def widened(self, image: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
        """The padded image, and how many columns and rows are in front of it."""
        left, top, *_ = self._pads
        image = padded(image, self._pads, self._fill, self._mode)
        if self._always:
            more = [max(want - have, 0) for want, have in zip(self.size, image.shape[:2], strict=True)]
            image = padded(image, (more[1], more[0], more[1], more[0]), self._fill, self._mode)
            left, top = left + more[1], top + more[0]
        return image, (left, top)

    def place(self, image: np.ndarray) -> tuple[int, int]:
        """First row and column of a random part."""
        room = [have - want for want, have in zip(self.size, image.shape[:2], strict=True)]
        if min(room) < 0:
            raise RuntimeError(
                f"RandomCrop: invalid crop size, {self.size} is bigger than the image of {image.shape[:2]}."
            )
        return int(self.rng.integers(room[0] + 1)), int(self.rng.integers(room[1] + 1))


class RandomResizedCrop(RandomImageOperation):
    """Crops a part of random size and aspect ratio, and resizes it.

    Args:
        size (Union[int, Sequence[int]]): height and width of the result.
        scale (Union[list, tuple]): range of the part's area. Default ``(0.08, 1.0)``.
        ratio (Union[list, tuple]): range of width over height. Default ``(3. / 4., 4. / 3.)``.
        interpolation (Inter): Default ``Inter.BILINEAR``.
        max_attempts (int): Default ``10``.
    """

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        super().__init__()
        self.resize = Resize(pair(checked_size(size)), interpolation)
        self._scale, self._ratio, self._attempts = scale, ratio, max_attempts

    def apply(self, image: np.ndarray) -> np.ndarray:
        return self.resize.apply(cropped(image, *self.part(image)))

    def part(self, image: np.ndarray) -> tuple[int, int, tuple[int, int]]:
        """First row and column and size of a random part; where none is found, the middle square."""
        height, width = image.shape[:2]
        for _ in range(self._attempts):
            area = self.rng.uniform(*self._scale) * height * width
            ratio = np.exp(self.rng.uniform(np.log(self._ratio[0]), np.log(self._ratio[1])))
            part = round(float(np.sqrt(area / ratio))), round(float(np.sqrt(area * ratio)))
            if 0 < part[0] <= height and 0 < part[1] <= width:
                return int(self.rng.integers(height - part[0] + 1)), int(self.rng.integers(width - part[1] + 1)), part
        side = min(height, width)
        return (height - side) // 2, (width - side) // 2, (side, side)
