"""Operations on images: arrays of shape (H, W, C) or (H, W)."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

import numpy as np

from duograph.base.public import saying_why

from .nodes import array_of
from .transforms import RandomOperation, TypeCast, check_prob

LARGEST = 16777216


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
    """Changes of colour space."""

    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = 4
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = 8
    COLOR_GRAY2RGB = 8


def _size(size: Any) -> Any:
    items = size if isinstance(size, list | tuple) else [size]
    if len(items) not in (1, 2) or any(isinstance(n, bool) or not isinstance(n, int) for n in items):
        raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")
    if any(not 1 <= n <= LARGEST for n in items):
        raise ValueError(f"Input is not within the required interval of [1, {LARGEST}].")
    return size if isinstance(size, int) else tuple(size)


def _pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def image_of(data: Any) -> np.ndarray:
    """``data`` as an image.

    Raises:
        RuntimeError: it has neither two nor three axes.
    """
    image = array_of(data)
    if image.ndim not in (2, 3):
        raise RuntimeError(f"The shape of an image should be <H,W,C> or <H,W>, but got rank: {image.ndim}")
    return image


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
        self._rescale, self._shift = rescale, shift

    def __call__(self, image: Any) -> np.ndarray:
        return (array_of(image).astype(np.float32) * np.float32(self._rescale) + np.float32(self._shift)).astype(
            np.float32
        )


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
        self._mean, self._std, self._last = np.asarray(mean, np.float32), np.asarray(std, np.float32), is_hwc

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        channels = 1 if image.ndim == 2 else image.shape[-1 if self._last else 0]
        if len(self._mean) not in (1, channels):
            raise RuntimeError(
                f"Normalize: number of channels does not match the size of mean and std vectors, got channels: "
                f"{channels}, size of mean: {len(self._mean)}."
            )
        shape = (-1,) if self._last or image.ndim == 2 else (-1, 1, 1)
        return (image.astype(np.float32) - self._mean.reshape(shape)) / self._std.reshape(shape)


class HWC2CHW:
    """Channels first."""

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        return np.ascontiguousarray(image.transpose(2, 0, 1)) if image.ndim == 3 else image


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


class Resize:
    """Resizes.

    Args:
        size (Union[int, Sequence[int]]): (height, width), or the length of the shorter side.
        interpolation (Inter): ``NEAREST`` or ``LINEAR``. Default ``Inter.LINEAR``.

    Raises:
        NotImplementedError: another interpolation.
    """

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        self._size = _size(size)
        if not isinstance(interpolation, Inter):
            raise TypeError(
                f"Argument interpolation with value {interpolation} is not of type [<enum 'Inter'>], but got "
                f"{type(interpolation)}."
            )
        if interpolation not in (Inter.NEAREST, Inter.LINEAR):
            raise NotImplementedError(f"Resize knows Inter.NEAREST and Inter.LINEAR, not {interpolation!r}.")
        self._nearest = interpolation is Inter.NEAREST

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        height, width = image.shape[:2]
        if isinstance(self._size, tuple):
            size = self._size
        else:
            short = min(height, width)
            size = (int(self._size * height / short), int(self._size * width / short))
        return resized(image, size, self._nearest)


def resized(image: np.ndarray, size: tuple[int, int], nearest: bool = False) -> np.ndarray:
    """``image`` of another height and width."""
    if nearest:
        rows, columns = (
            np.minimum(np.arange(n) * old // n, old - 1) for n, old in zip(size, image.shape[:2], strict=True)
        )
        return image[rows][:, columns]
    out = image.astype(np.float64)
    for axis, n in enumerate(size):
        old = out.shape[axis]
        places = np.clip((np.arange(n) + 0.5) * old / n - 0.5, 0, old - 1)
        low = np.minimum(places.astype(np.int64), max(old - 2, 0))
        share = (places - low).reshape([-1 if i == axis else 1 for i in range(out.ndim)])
        out = out.take(low, axis) * (1 - share) + out.take(np.minimum(low + 1, old - 1), axis) * share
    return np.floor(out + 0.5).astype(image.dtype) if image.dtype.kind in "iu" else out.astype(image.dtype)


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


class Pad:
    """Pads.

    Args:
        padding (Union[int, Sequence[int]]): all sides; left/right and top/bottom; or left, top, right, bottom.
        fill_value (Union[int, tuple[int]]): Default ``0``.
        padding_mode (Border): Default ``Border.CONSTANT``.
    """

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT) -> None:
        self._pads, self._fill, self._mode = _pads(padding), fill_value, padding_mode

    def __call__(self, image: Any) -> np.ndarray:
        return padded(image_of(image), self._pads, self._fill, self._mode)


class Crop:
    """A part: ``coordinates`` (top, left) and ``size``."""

    def __init__(self, coordinates: Any, size: Any) -> None:
        self._place, self._size = tuple(coordinates), _pair(_size(size))

    def __call__(self, image: Any) -> np.ndarray:
        top, left = self._place
        return cropped(image_of(image), top, left, self._size)


def cropped(image: np.ndarray, top: int, left: int, size: tuple[int, int]) -> np.ndarray:
    """A part of ``image``."""
    height, width = size
    if top < 0 or left < 0 or top + height > image.shape[0] or left + width > image.shape[1]:
        raise RuntimeError(
            f"Crop: invalid coordinates, the part of {size} at {(top, left)} is not inside an image of "
            f"{image.shape[:2]}."
        )
    return image[top : top + height, left : left + width]


class CenterCrop:
    """The middle; smaller images are padded with 0.

    Args:
        size (Union[int, Sequence[int]]): height and width.
    """

    def __init__(self, size: Any) -> None:
        self._size = _pair(_size(size))

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        more = [max(want - have, 0) for want, have in zip(self._size, image.shape[:2], strict=True)]
        top, left = -(-more[0] // 2), -(-more[1] // 2)
        image = padded(image, (left, top, more[1] - left, more[0] - top), 0, Border.CONSTANT)
        place = [(have - want) // 2 for want, have in zip(self._size, image.shape[:2], strict=True)]
        return cropped(image, place[0], place[1], self._size)


class HorizontalFlip:
    """Left and right exchanged."""

    def __call__(self, image: Any) -> np.ndarray:
        return np.ascontiguousarray(image_of(image)[:, ::-1])


class VerticalFlip:
    """Top and bottom exchanged."""

    def __call__(self, image: Any) -> np.ndarray:
        return np.ascontiguousarray(image_of(image)[::-1])


class Invert:
    """255 minus the image."""

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        return (255 - image.astype(np.int64)).astype(image.dtype)


class ConvertColor:
    """Changes the colour space.

    Args:
        convert_mode (ConvertMode): which.
    """

    def __init__(self, convert_mode: ConvertMode) -> None:
        if not isinstance(convert_mode, ConvertMode):
            raise TypeError(
                f"Argument convert_mode with value {convert_mode} is not of type [<enum 'ConvertMode'>], but got "
                f"{type(convert_mode)}."
            )
        self._mode = convert_mode

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        if self._mode is ConvertMode.COLOR_BGR2RGB:
            return np.ascontiguousarray(image[..., ::-1])
        if self._mode is ConvertMode.COLOR_GRAY2RGB:
            return np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2)
        weights = np.array([0.299, 0.587, 0.114])
        weights = weights[::-1] if self._mode is ConvertMode.COLOR_BGR2GRAY else weights
        gray = image.astype(np.float64) @ weights
        return np.floor(gray + 0.5).astype(image.dtype) if image.dtype.kind in "iu" else gray.astype(image.dtype)


class RandomHorizontalFlip(RandomOperation):
    """`HorizontalFlip` with probability ``prob`` (default 0.5)."""

    flip: Any = HorizontalFlip()

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__()
        self._prob = check_prob(prob)

    def __call__(self, image: Any) -> np.ndarray:
        return self.flip(image) if self.rng.random() < self._prob else image_of(image)


class RandomVerticalFlip(RandomHorizontalFlip):
    """`VerticalFlip` with probability ``prob`` (default 0.5)."""

    flip = VerticalFlip()


class RandomCrop(RandomOperation):
    """A part at a random place.

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
        self._size = _pair(_size(size))
        self._pads = _pads(padding) if padding is not None else (0, 0, 0, 0)
        self._always, self._fill, self._mode = pad_if_needed, fill_value, padding_mode

    def __call__(self, image: Any) -> np.ndarray:
        image = padded(image_of(image), self._pads, self._fill, self._mode)
        if self._always:
            more = [max(want - have, 0) for want, have in zip(self._size, image.shape[:2], strict=True)]
            image = padded(image, (more[1], more[0], more[1], more[0]), self._fill, self._mode)
        room = [have - want for want, have in zip(self._size, image.shape[:2], strict=True)]
        if min(room) < 0:
            raise RuntimeError(
                f"RandomCrop: invalid crop size, {self._size} is bigger than the image of {image.shape[:2]}."
            )
        top, left = (int(self.rng.integers(n + 1)) for n in room)
        return cropped(image, top, left, self._size)


class RandomResizedCrop(RandomOperation):
    """A part of random size and shape, resized.

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
        self._resize = Resize(_pair(_size(size)), interpolation)
        self._scale, self._ratio, self._attempts = scale, ratio, max_attempts

    def __call__(self, image: Any) -> np.ndarray:
        image = image_of(image)
        height, width = image.shape[:2]
        for _ in range(self._attempts):
            area = self.rng.uniform(*self._scale) * height * width
            ratio = np.exp(self.rng.uniform(np.log(self._ratio[0]), np.log(self._ratio[1])))
            part = round(float(np.sqrt(area / ratio))), round(float(np.sqrt(area * ratio)))
            if 0 < part[0] <= height and 0 < part[1] <= width:
                top, left = int(self.rng.integers(height - part[0] + 1)), int(self.rng.integers(width - part[1] + 1))
                return self._resize(cropped(image, top, left, part))
        return self._resize(CenterCrop(min(height, width))(image))


class Decode:
    """Compressed images are not decoded here: there is no image library among the dependencies.

    Args:
        to_pil (bool): kept for old programs. Default ``False``.
    """

    def __init__(self, to_pil: bool = False) -> None:
        self._to_pil = to_pil

    def __call__(self, image: Any) -> np.ndarray:
        data = array_of(image)
        if data.ndim != 1:
            raise TypeError(f"The number of array dimensions of the encoded image should be 1, but got {data.ndim}.")
        raise RuntimeError(
            "Decode: duograph has no decoder of compressed images; decode them with a library of your choice, e.g. "
            "ds.map(lambda data: numpy.asarray(PIL.Image.open(io.BytesIO(data)).convert('RGB')))."
        )


__getattr__ = saying_why(__name__)
