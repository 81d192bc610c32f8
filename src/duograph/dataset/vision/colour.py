"""Operations on the colours of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from .pictures import ConvertMode, ImageOperation, Pixels, RandomImageOperation, gray, pillow, saturated


def number(name: str, value: Any, low: float = 0.0, high: float = float("inf")) -> float:
    """``value`` if it is a number of the interval.

    Raises:
        TypeError: it is none.
        ValueError: it is outside.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(
            f"Argument {name} with value {value} is not of type [<class 'float'>, <class 'int'>], but got "
            f"{type(value)}."
        )
    if not low <= value <= high:
        raise ValueError(f"Input {name} is not within the required interval of [{low}, {high}].")
    return value


def interval(name: str, value: Any, low: float = 0.0, high: float = float("inf")) -> tuple[float, float]:
    """A range given as two numbers.

    Raises:
        TypeError: it is not a list or tuple of numbers.
        ValueError: a bound is outside, or they do not rise.
    """
    if not isinstance(value, list | tuple):
        raise TypeError(f"Argument {name} with value {value} is not of type [<class 'list'>, <class 'tuple'>].")
    if len(value) != 2:
        raise ValueError(f"{name} must have two numbers, but got {len(value)}.")
    first, last = (number(f"{name}[{i}]", v, low, high) for i, v in enumerate(value))
    if first > last:
        raise ValueError(f"{name}: the first number must not be above the second, but got {tuple(value)}.")
    return first, last


def around_one(name: str, value: Any, low: float = 0.0) -> tuple[float, float]:
    """The range of a factor: two numbers, or how far it goes from 1 to both sides."""
    if isinstance(value, list | tuple):
        return interval(name, value, low)
    by = number(name, value)
    return max(1.0 - by, 0.0), 1.0 + by


def _of_colours(image: np.ndarray, what: str) -> np.ndarray:
    if image.ndim != 3 or image.shape[2] != 3:
        raise RuntimeError(f"{what}: the image must be of shape <H,W,3>, but got {list(image.shape)}.")
    return image


def blended(image: np.ndarray, other: Any, factor: float) -> np.ndarray:
    """``image`` with the weight ``factor``, ``other`` with what is left of 1; beyond 1 away from ``other``."""
    return saturated(image.astype(np.float64) * factor + other * (1.0 - factor), image.dtype)


def _enhanced(image: Pixels, kind: str, factor: float) -> np.ndarray:
    return image.by(lambda picture: getattr(pillow("ImageEnhance"), kind)(picture).enhance(factor))


def brightened(image: np.ndarray, factor: float) -> np.ndarray:
    """The image times ``factor``."""
    if isinstance(image, Pixels):
        return _enhanced(image, "Brightness", factor)
    return saturated(_of_colours(image, "AdjustBrightness").astype(np.float64) * factor, image.dtype)


def contrasted(image: np.ndarray, factor: float) -> np.ndarray:
    """A blend with the mean of the luma."""
    if isinstance(image, Pixels):
        return _enhanced(image, "Contrast", factor)
    mean = np.floor(np.rint(gray(_of_colours(image, "AdjustContrast"))).mean() + 0.5)
    return blended(image, mean, factor)


def coloured(image: np.ndarray, factor: float) -> np.ndarray:
    """A blend with the luma."""
    if isinstance(image, Pixels):
        return _enhanced(image, "Color", factor)
    return blended(image, np.rint(gray(_of_colours(image, "AdjustSaturation")))[..., None], factor)


def sharpened(image: np.ndarray, factor: float) -> np.ndarray:
    """A blend with the smoothed image; pixels at the border stay."""
    if isinstance(image, Pixels):
        return _enhanced(image, "Sharpness", factor)
    whole: Any = image.astype(np.float32 if image.dtype == np.uint8 else np.float64)
    smooth = whole.copy()
    if min(image.shape[:2]) > 2:
        three: Any = whole[:-2] + whole[1:-1] + whole[2:]
        smooth[1:-1, 1:-1] = (three[:, :-2] + three[:, 1:-1] + three[:, 2:] + 4 * whole[1:-1, 1:-1]) / 13
    return blended(image, np.rint(smooth) if image.dtype.kind in "iu" else smooth, factor)


def hsv_of(image: np.ndarray) -> np.ndarray:
    """Hue, saturation and value, each from 0 to 1, of RGB from 0 to 1."""
    most, least = image.max(axis=-1), image.min(axis=-1)
    spread = most - least
    safe = np.where(spread > 0, spread, 1.0)
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    hue = np.where(
        most == red, (green - blue) / safe % 6.0,
        np.where(most == green, (blue - red) / safe + 2.0, (red - green) / safe + 4.0),
    )  # fmt: skip
    return np.stack([np.where(spread > 0, hue, 0.0) / 6.0, spread / np.where(most > 0, most, 1.0), most], axis=-1)


def rgb_of(image: np.ndarray) -> np.ndarray:
    """The inverse of `hsv_of`."""
    hue, saturation, value = image[..., 0:1] * 6.0, image[..., 1:2], image[..., 2:3]
    k = (np.array([5.0, 3.0, 1.0], image.dtype) + hue) % image.dtype.type(6)
    return value - value * saturation * np.clip(np.minimum(k, 4.0 - k), 0.0, 1.0)


def hued(image: np.ndarray, turn: float) -> np.ndarray:
    """The hue turned by a share of the circle."""
    _of_colours(image, "AdjustHue")
    if image.dtype == np.uint8:
        return _hued_bytes(image, int(turn * 255))
    scale = 255.0 if image.dtype.kind in "iu" else 1.0
    hsv = hsv_of(image.astype(np.float64) / scale)
    hsv[..., 0] = (hsv[..., 0] + turn) % 1.0
    return saturated(rgb_of(hsv) * scale, image.dtype)


_BYTES = np.arange(1, 256)
_SATURATIONS = np.concatenate([[0], np.rint((255 << 12) / _BYTES)]).astype(np.int64)
_HUES = np.concatenate([[0], np.rint((256 << 12) / (6.0 * _BYTES))]).astype(np.int64)
"""OpenCV's quotients: of 255 and of a sixth of the circle, times 4096."""
_BY_SIXTH = np.array([[0, 3, 1], [2, 0, 1], [1, 0, 3], [1, 2, 0], [3, 1, 0], [0, 1, 2]])
"""Which of `_hued_bytes`'s four shades red, green and blue are in each sixth of the circle."""


def _hued_bytes(image: np.ndarray, turn: int) -> np.ndarray:
    """As OpenCV: hue, saturation and value are bytes, too. It takes 256 hues for a circle on the way there, and 255 on
    the way back. Results are its own, within 1."""
    colours = image.astype(np.int64)
    red, green, blue = colours[..., 0], colours[..., 1], colours[..., 2]
    most = colours.max(-1)
    spread = most - colours.min(-1)
    hue = np.where(
        most == red, green - blue,
        np.where(most == green, blue - red + 2 * spread, red - green + 4 * spread),
    )  # fmt: skip
    hue = (hue * _HUES[spread] + 2048) >> 12
    hue = (np.minimum(np.where(hue < 0, hue + 256, hue), 255) + turn) % 256
    byte = np.float32(1 / 255)
    value, saturation = most.astype(np.float32) * byte, ((spread * _SATURATIONS[most] + 2048) >> 12) * byte
    place = hue.astype(np.float32) * np.float32(6 / 255)
    sixth = np.floor(place)
    share = place - sixth
    low, falling, rising = (value * (1 - saturation * part) for part in (1, share, 1 - share))
    shades = np.stack([value, low, falling, rising], axis=-1).astype(np.float32)
    made = np.take_along_axis(shades, _BY_SIXTH[sixth.astype(np.int64) % 6], axis=-1)
    return saturated(made * np.float32(255), image.dtype)


class Adjusted(ImageOperation):
    """Base of operations with one factor."""

    change: Any = None
    name, low, high = "", 0.0, float("inf")

    def __init__(self, factor: float) -> None:
        self._factor = number(self.name, factor, self.low, self.high)

    def apply(self, image: np.ndarray) -> np.ndarray:
        return type(self).change(image, self._factor)


class AdjustBrightness(Adjusted):
    """Multiplies by ``brightness_factor``: 0 gives black, 1 the image."""

    change, name = staticmethod(brightened), "brightness_factor"

    def __init__(self, brightness_factor: float) -> None:
        super().__init__(brightness_factor)


class AdjustContrast(Adjusted):
    """Blends with a grey image of the mean brightness; ``contrast_factor`` 0 gives the grey image, 1 the original."""

    change, name = staticmethod(contrasted), "contrast_factor"

    def __init__(self, contrast_factor: float) -> None:
        super().__init__(contrast_factor)


class AdjustSaturation(Adjusted):
    """Blends with the greyscale image; ``saturation_factor`` 0 gives the greyscale image, 1 the original."""

    change, name = staticmethod(coloured), "saturation_factor"

    def __init__(self, saturation_factor: float) -> None:
        super().__init__(saturation_factor)


class AdjustSharpness(Adjusted):
    """Blends with the smoothed image; 0 gives the smoothed image, 1 the original, 2 a sharper one."""

    change, name = staticmethod(sharpened), "sharpness_factor"

    def __init__(self, sharpness_factor: float) -> None:
        super().__init__(sharpness_factor)


class AdjustHue(Adjusted):
    """Rotates the hue by ``hue_factor`` (from -0.5 to 0.5) of the colour circle."""

    change, name, low, high = staticmethod(hued), "hue_factor", -0.5, 0.5

    def __init__(self, hue_factor: float) -> None:
        super().__init__(hue_factor)


class AdjustGamma(ImageOperation):
    """``255 * gain * (image / 255) ** gamma`` (of images of reals: without the 255).

    Args:
        gamma (float): above 1 darkens, below 1 lightens.
        gain (float): Default ``1``.
    """

    def __init__(self, gamma: float, gain: float = 1) -> None:
        self._gamma, self._gain = number("gamma", gamma), number("gain", gain, float("-inf"))

    def apply(self, image: np.ndarray) -> np.ndarray:
        scale = 255.0 if image.dtype.kind in "iu" else 1.0
        made = scale * self._gain * (image.astype(np.float64) / scale) ** self._gamma
        return saturated(np.clip(made, 0, scale), image.dtype)


class AutoContrast(ImageOperation):
    """Stretches each channel over the whole range.

    Args:
        cutoff (float): percent of the lightest and darkest pixels that do not count. Default ``0.0``.
        ignore (Union[int, Sequence[int]]): values that do not count. Default ``None``.
    """

    def __init__(self, cutoff: float = 0.0, ignore: Any = None) -> None:
        self._cutoff, self._ignore = number("cutoff", cutoff, 0, 50), ignore

    def apply(self, image: np.ndarray) -> np.ndarray:
        ignore = list(self._ignore) if isinstance(self._ignore, tuple) else self._ignore
        return self.pixels(image, lambda p: pillow("ImageOps").autocontrast(p, self._cutoff, ignore))


class Equalize(ImageOperation):
    """Equalises the histogram of each channel of a uint8 image."""

    def apply(self, image: np.ndarray) -> np.ndarray:
        if image.dtype != np.uint8:
            raise TypeError(f"Equalize: the image must be of uint8, but got {image.dtype}.")
        if isinstance(image, Pixels):
            return image.by(lambda picture: pillow("ImageOps").equalize(picture))
        bands = [image] if image.ndim == 2 else [image[..., i] for i in range(image.shape[2])]
        made = [_equalized(b) for b in bands]
        return made[0] if image.ndim == 2 else np.stack(made, axis=2)


def _equalized(band: np.ndarray) -> np.ndarray:
    counts = np.bincount(band.reshape(-1), minlength=256)
    counts[counts.nonzero()[0][0]] = 0  # the darkest value becomes 0
    total = counts.cumsum()
    return saturated(total * (255.0 / total[-1]), np.uint8)[band] if total[-1] else band


class Posterize(ImageOperation):
    """Keeps the first ``bits`` (0 to 8) bits of each channel."""

    def __init__(self, bits: int) -> None:
        if isinstance(bits, bool) or not isinstance(bits, int):
            raise TypeError(f"Argument bits with value {bits} is not of type [<class 'int'>], but got {type(bits)}.")
        self._bits = int(number("bits", bits, 0, 8))

    def apply(self, image: np.ndarray) -> np.ndarray:
        return image & np.array(256 - (1 << (8 - self._bits)), image.dtype)


class Solarize(ImageOperation):
    """Inverts the values in a range.

    Args:
        threshold (Union[float, Sequence[float, float]]): the range, or one number: from it on.
    """

    def __init__(self, threshold: Any) -> None:
        whole = threshold if isinstance(threshold, list | tuple) else (threshold, 255)
        self._range = interval("threshold", whole, 0, 255)

    def apply(self, image: np.ndarray) -> np.ndarray:
        first, last = self._range
        return np.where((image >= first) & (image <= last), (255 - image.astype(np.int64)), image).astype(image.dtype)


class Invert(ImageOperation):
    """255 minus the image."""

    def apply(self, image: np.ndarray) -> np.ndarray:
        return (255 - image.astype(np.int64)).astype(image.dtype)


class Grayscale(ImageOperation):
    """Converts to greyscale, with one or three equal channels (``num_output_channels``)."""

    def __init__(self, num_output_channels: int = 1) -> None:
        if num_output_channels not in (1, 3):
            raise ValueError("Number of channels of the output grayscale image should be either 1 or 3.")
        self._channels = num_output_channels

    def apply(self, image: np.ndarray) -> np.ndarray:
        if image.dtype == np.uint8 and image.ndim == 3:  # Pillow's own numbers
            flat = ((image[..., :3] @ np.array([19595, 38470, 7471], np.uint32) + 2**15) >> 16).astype(np.uint8)
        else:
            flat = saturated(gray(image), image.dtype)
        return flat if self._channels == 1 else np.repeat(flat[..., None], 3, axis=2)


class ConvertColor(ImageOperation):
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

    def apply(self, image: np.ndarray) -> np.ndarray:
        source, _, target = self._mode.name.removeprefix("COLOR_").partition("2")
        have = 1 if source == "GRAY" else len(source)
        if (1 if image.ndim == 2 else image.shape[2]) != have:
            raise RuntimeError(
                f"ConvertColor: {self._mode.name} needs an image of {have} channels, but got shape {list(image.shape)}."
            )
        if target == "GRAY":
            return saturated(gray(image if source.startswith("RGB") else image[..., 2::-1]), image.dtype)
        colours = np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2) if source == "GRAY" else image[..., :3]
        if source != "GRAY" and source[:3] != target[:3]:
            colours = colours[..., ::-1]
        if len(target) == 3:
            return np.ascontiguousarray(colours)
        opaque = np.full((*image.shape[:2], 1), 255 if image.dtype.kind in "iu" else 1, image.dtype)
        return np.concatenate([colours, image[..., 3:] if len(source) == 4 else opaque], axis=2)


class _Space(ImageOperation):
    """Base of `RgbToHsv` and `HsvToRgb`: images, or batches of them, of reals from 0 to 1.

    Args:
        is_hwc (bool): channels last. Default ``False``.
    """

    def __init__(self, is_hwc: bool = False) -> None:
        self._last = is_hwc

    def __call__(self, image: Any) -> Any:
        image = np.asarray(image)
        axis = -1 if self._last else image.ndim - 3
        if image.ndim not in (3, 4) or image.shape[axis] != 3:
            raise TypeError(
                f"{type(self).__name__}: the image must have 3 channels, but got shape {list(image.shape)}."
            )
        made = self.apply(np.moveaxis(image.astype(np.float64), axis, -1)).astype(np.float32)
        return np.ascontiguousarray(np.moveaxis(made, -1, axis))


class RgbToHsv(_Space):
    __doc__ = (
        f"From RGB to hue, saturation and value, each from 0 to 1.\n{(_Space.__doc__ or '').partition(chr(10))[2]}"
    )

    def apply(self, image: np.ndarray) -> np.ndarray:
        return hsv_of(image)


class HsvToRgb(_Space):
    __doc__ = (
        f"From hue, saturation and value to RGB, each from 0 to 1.\n{(_Space.__doc__ or '').partition(chr(10))[2]}"
    )

    def apply(self, image: np.ndarray) -> np.ndarray:
        return rgb_of(image)


# Random choices -------------------------------------------------------------------------------------------------------


class RandomColorAdjust(RandomImageOperation):
    """Brightness, contrast, saturation and hue, changed by random factors in random order.

    Args:
        brightness (Union[float, Sequence[float]]): the range of the factor, or how far it goes
            from 1. Default ``(1, 1)``.
        contrast (Union[float, Sequence[float]]): likewise.
        saturation (Union[float, Sequence[float]]): likewise.
        hue (Union[float, Sequence[float]]): the range within [-0.5, 0.5], or how far it goes from 0.
            Default ``(0, 0)``.
    """

    def __init__(
        self, brightness: Any = (1, 1), contrast: Any = (1, 1), saturation: Any = (1, 1), hue: Any = (0, 0)
    ) -> None:
        super().__init__()
        turn = (-number("hue", hue, 0, 0.5), hue) if not isinstance(hue, list | tuple) else hue
        self._ranges = [
            (brightened, around_one("brightness", brightness)), (contrasted, around_one("contrast", contrast)),
            (coloured, around_one("saturation", saturation)), (hued, interval("hue", turn, -0.5, 0.5)),
        ]  # fmt: skip

    def apply(self, image: np.ndarray) -> np.ndarray:
        for i in self.rng.permutation(len(self._ranges)):
            change, (first, last) = self._ranges[int(i)]
            if (first, last) != ((0, 0) if change is hued else (1, 1)):
                image = change(image, float(self.rng.uniform(first, last)))
        return image


class RandomColor(RandomImageOperation):
    """The saturation, changed by a factor of the range ``degrees`` (default ``(0.1, 1.9)``)."""

    change, name = staticmethod(coloured), "degrees"

    def __init__(self, degrees: Any = (0.1, 1.9)) -> None:
        super().__init__()
        self._range = interval("degrees", degrees)

    def apply(self, image: np.ndarray) -> np.ndarray:
        return type(self).change(image, float(self.rng.uniform(*self._range)))


class RandomSharpness(RandomColor):
    """The sharpness, changed by a factor of the range ``degrees`` (default ``(0.1, 1.9)``)."""

    change = staticmethod(sharpened)


class Perhaps(RandomImageOperation):
    """Base of operations that are made with a probability, without other choices."""

    def __init__(self, operation: ImageOperation, prob: float) -> None:
        super().__init__(prob)
        self._operation = operation

    def apply(self, image: np.ndarray) -> Any:
        return self._operation.apply(image)


class RandomAdjustSharpness(Perhaps):
    """`AdjustSharpness` by ``degree`` with probability ``prob`` (default 0.5)."""

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        super().__init__(AdjustSharpness(degree), prob)


class RandomAutoContrast(Perhaps):
    """`AutoContrast` with probability ``prob`` (default 0.5)."""

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5) -> None:
        super().__init__(AutoContrast(cutoff, ignore), prob)


class RandomEqualize(Perhaps):
    """`Equalize` with probability ``prob`` (default 0.5)."""

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(Equalize(), prob)


class RandomInvert(Perhaps):
    """`Invert` with probability ``prob`` (default 0.5)."""

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(Invert(), prob)


class RandomGrayscale(RandomImageOperation):
    """Converts to greyscale, keeping the number of channels, with probability ``prob`` (default 0.1)."""

    def __init__(self, prob: float = 0.1) -> None:
        super().__init__(prob)

    def apply(self, image: np.ndarray) -> np.ndarray:
        return Grayscale(3).apply(_of_colours(image, "RandomGrayscale"))


class RandomPosterize(RandomImageOperation):
    """`Posterize` to a number of bits of the range ``bits`` (default ``(8, 8)``; one number: exactly that)."""

    def __init__(self, bits: Any = (8, 8)) -> None:
        super().__init__()
        self._range = interval("bits", (bits, bits) if isinstance(bits, int) else bits, 1, 8)

    def apply(self, image: np.ndarray) -> np.ndarray:
        low, high = (int(n) for n in self._range)
        return Posterize(int(self.rng.integers(low, high + 1))).apply(image)


class RandomSolarize(RandomImageOperation):
    """`Solarize` within a random part of the range ``threshold`` (default ``(0, 255)``)."""

    def __init__(self, threshold: Any = (0, 255)) -> None:
        super().__init__()
        self._range = interval("threshold", threshold, 0, 255)

    def apply(self, image: np.ndarray) -> np.ndarray:
        low, high = (int(n) for n in self._range)
        ends = sorted(int(self.rng.integers(low, high + 1)) for _ in range(2))
        return Solarize(tuple(ends)).apply(image)


class RandomLighting(RandomImageOperation):
    """Noise along the principal components of ImageNet's colours (A. Krizhevsky et al., 2012).

    Args:
        alpha (float): its standard deviation. Default ``0.05``.
    """

    _values = np.array([55.46, 4.794, 1.148])
    _vectors = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])

    def __init__(self, alpha: float = 0.05) -> None:
        super().__init__()
        self._alpha = number("alpha", alpha)

    def apply(self, image: np.ndarray) -> np.ndarray:
        noise = self._vectors @ (self._values * self.rng.normal(0.0, self._alpha, 3)) if self._alpha else np.zeros(3)
        return saturated(_of_colours(image, "RandomLighting").astype(np.float64) + noise, image.dtype)
