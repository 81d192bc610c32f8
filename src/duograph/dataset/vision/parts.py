"""Parts of images: crops, patches, and what is erased; and linear maps of all pixels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .basic import CenterCrop, HorizontalFlip, Pad, Resize, VerticalFlip, checked_size, cropped, padded, pair
from .colour import interval, number
from .geometry import filling
from .pictures import Border, ImageOperation, Inter, RandomImageOperation, SliceMode, saturated


class ResizedCrop(ImageOperation):
    """Crops a part, and resizes it.

    Args:
        top (int): first row of the part.
        left (int): its first column.
        height (int): its height.
        width (int): its width.
        size (Union[int, Sequence[int]]): of the result.
        interpolation (Inter): Default ``Inter.BILINEAR``.
    """

    def __init__(
        self, top: int, left: int, height: int, width: int, size: Any, interpolation: Inter = Inter.BILINEAR
    ) -> None:
        for name, value in (("top", top), ("left", left)):
            number(name, value)
        for name, value in (("height", height), ("width", width)):
            number(name, value, 1)
        self._part = top, left, (height, width)
        self._resize = Resize(pair(checked_size(size)), interpolation)

    def apply(self, image: np.ndarray) -> np.ndarray:
        return self._resize.apply(cropped(image, *self._part))


class RandomResize(RandomImageOperation):
    """`Resize` to ``size`` with a random interpolation method."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self._size = checked_size(size)

    def apply(self, image: np.ndarray) -> np.ndarray:
        ways = (Inter.NEAREST, Inter.LINEAR, Inter.CUBIC, Inter.AREA)
        return Resize(self._size, ways[int(self.rng.integers(len(ways)))]).apply(image)


class PadToSize(ImageOperation):
    """Pads to a size.

    Args:
        size (Union[int, Sequence[int]]): height and width of the result.
        offset (Union[int, Sequence[int]]): rows above and columns at the left. Default ``None``: in the middle.
        fill_value (Union[int, tuple[int, int, int]]): Default ``0``.
        padding_mode (Border): Default ``Border.CONSTANT``.
    """

    def __init__(
        self, size: Any, offset: Any = None, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT
    ) -> None:
        self._size = pair(checked_size(size))
        self._offset = None if offset is None or offset == [] else offset
        self._outside, self._mode = filling(fill_value), padding_mode

    def apply(self, image: np.ndarray) -> np.ndarray:
        room = [want - have for want, have in zip(self._size, image.shape[:2], strict=True)]
        offset = [n // 2 for n in room] if self._offset is None else list(np.broadcast_to(self._offset, 2))
        rest = [int(n - o) for n, o in zip(room, offset, strict=True)]
        if min(*rest, *offset) < 0:
            raise RuntimeError(
                f"PadToSize: the image of {image.shape[:2]} at {tuple(offset)} does not fit into {self._size}."
            )
        return padded(image, (int(offset[1]), int(offset[0]), rest[1], rest[0]), self._outside, self._mode)


class FiveCrop(ImageOperation):
    """Crops of ``size`` from the four corners and the centre, as a tuple."""

    def __init__(self, size: Any) -> None:
        self._size = pair(checked_size(size))

    def __call__(self, image: Any) -> Any:
        return tuple(super().__call__(image))

    def apply(self, image: np.ndarray) -> Any:
        room = [have - want for want, have in zip(self._size, image.shape[:2], strict=True)]
        if min(room) < 0:
            raise ValueError(f"Crop size {self._size} is bigger than input size {image.shape[:2]}.")
        places = [(0, 0), (0, room[1]), (room[0], 0), (room[0], room[1])]
        return (*(cropped(image, top, left, self._size) for top, left in places), CenterCrop(self._size).apply(image))


class TenCrop(FiveCrop):
    """`FiveCrop` of the image and of the flipped image, as a tuple.

    Args:
        size (Union[int, Sequence[int]]): height and width.
        use_vertical_flip (bool): top and bottom exchanged, not left and right. Default ``False``.
    """

    def __init__(self, size: Any, use_vertical_flip: bool = False) -> None:
        super().__init__(size)
        self._flip: ImageOperation = VerticalFlip() if use_vertical_flip else HorizontalFlip()

    def apply(self, image: np.ndarray) -> Any:
        return (*super().apply(image), *super().apply(self._flip.apply(image)))


class SlicePatches(ImageOperation):
    """Patches, row by row, as a tuple.

    Args:
        num_height (int): how many one above the other. Default ``1``.
        num_width (int): how many side by side. Default ``1``.
        slice_mode (SliceMode): pad images whose sizes are not multiples, or leave out the rest.
            Default ``SliceMode.PAD``.
        fill_value (int): Default ``0``.
    """

    def __init__(
        self, num_height: int = 1, num_width: int = 1, slice_mode: SliceMode = SliceMode.PAD, fill_value: int = 0
    ) -> None:
        self._counts = int(number("num_height", num_height, 1)), int(number("num_width", num_width, 1))
        if not isinstance(slice_mode, SliceMode):
            raise TypeError(f"slice_mode must be of SliceMode, but got {type(slice_mode)}.")
        self._pad, self._outside = slice_mode is SliceMode.PAD, filling(fill_value)

    def apply(self, image: np.ndarray) -> Any:
        sizes = [
            -(-have // n) if self._pad else have // n for have, n in zip(image.shape[:2], self._counts, strict=True)
        ]
        if self._pad:
            more = [s * n - have for s, n, have in zip(sizes, self._counts, image.shape[:2], strict=True)]
            image = Pad((0, 0, more[1], more[0]), self._outside).apply(image)
        if min(sizes) < 1:
            raise RuntimeError(f"SlicePatches: an image of {image.shape[:2]} has no {self._counts} patches.")
        made = tuple(
            cropped(image, row * sizes[0], column * sizes[1], (sizes[0], sizes[1]))
            for row in range(self._counts[0])
            for column in range(self._counts[1])
        )
        return made[0] if len(made) == 1 else made


def erased(image: np.ndarray, part: tuple[int, int, int, int], value: Any, first: bool = False) -> np.ndarray:
    """The image (channels ``first`` or last) with a part (top, left, height, width) of ``value``; a copy."""
    made = image.copy()
    top, left, height, width = part
    place = slice(max(top, 0), top + height), slice(max(left, 0), left + width)
    made[(slice(None), *place) if first else place] = (
        np.reshape(value, (-1, 1, 1)) if first and np.ndim(value) == 1 else value
    )
    return made


class Erase(ImageOperation):
    """Fills a rectangle with a value.

    Args:
        top (int): its first row.
        left (int): its first column.
        height (int): its height.
        width (int): its width.
        value (Union[int, Sequence[int, int, int]]): for all channels or for each. Default ``0``.
        inplace (bool): write into the array that is given. Default ``False``.
    """

    def __init__(self, top: int, left: int, height: int, width: int, value: Any = 0, inplace: bool = False) -> None:
        for name, size, low in (("top", top, 0), ("left", left, 0), ("height", height, 1), ("width", width, 1)):
            number(name, size, low)
        self._part, self._value, self._inplace = (top, left, height, width), value, inplace

    def apply(self, image: np.ndarray) -> np.ndarray:
        made = erased(image, self._part, np.asarray(self._value).astype(image.dtype))
        if self._inplace and image.flags.writeable:
            image[...] = made
            return image
        return made


class CutOut(RandomImageOperation):
    """Blackens squares at random positions.

    Args:
        length (int): their side.
        num_patches (int): how many. Default ``1``.
        is_hwc (bool): channels last. Default ``True``.
    """

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True) -> None:
        super().__init__()
        self._length, self._patches = int(number("length", length, 1)), int(number("num_patches", num_patches, 1))
        self._first = not is_hwc

    def apply(self, image: np.ndarray) -> np.ndarray:
        height, width = image.shape[1:] if self._first else image.shape[:2]
        if self._length > min(height, width):
            raise RuntimeError(
                f"CutOut: squares of side {self._length} are bigger than the image of {(height, width)}."
            )
        for _ in range(self._patches):
            top = int(self.rng.integers(height - self._length + 1))
            left = int(self.rng.integers(width - self._length + 1))
            image = erased(image, (top, left, self._length, self._length), 0, self._first)
        return image


class RandomErasing(RandomImageOperation):
    """Fills a random rectangle of an image with channels first (Z. Zhong et al., 2017).

    Args:
        prob (float): Default ``0.5``.
        scale (Sequence[float, float]): the range of its area, as a share. Default ``(0.02, 0.33)``.
        ratio (Sequence[float, float]): the range of its width over its height. Default ``(0.3, 3.3)``.
        value (Union[int, str, Sequence[int, int, int]]): for all channels or each; ``"random"``: one of the normal
            distribution for each pixel. Default ``0``.
        inplace (bool): write into the array that is given. Default ``False``.
        max_attempts (int): Default ``10``.
    """

    def __init__(
        self, prob: float = 0.5, scale: Any = (0.02, 0.33), ratio: Any = (0.3, 3.3), value: Any = 0,
        inplace: bool = False, max_attempts: int = 10,
    ) -> None:  # fmt: skip
        super().__init__(prob)
        self._scale, self._ratio = interval("scale", scale), interval("ratio", ratio)
        if isinstance(value, str) and value != "random":
            raise ValueError(
                "The value for erasing should be either a single value, or a string 'random', or a sequence."
            )
        self._value, self._inplace, self._attempts = value, inplace, max_attempts

    def apply(self, image: np.ndarray) -> np.ndarray:
        channels, height, width = image.shape
        for _ in range(self._attempts):
            area = self.rng.uniform(*self._scale) * height * width
            ratio = self.rng.uniform(*self._ratio)
            part = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
            if not (0 < part[0] < height and 0 < part[1] < width):
                continue
            top, left = (int(self.rng.integers(n - p + 1)) for n, p in zip((height, width), part, strict=True))
            value = self.rng.normal(size=(channels, *part)) if isinstance(self._value, str) else np.asarray(self._value)
            made = erased(image, (top, left, *part), saturated(value, image.dtype), first=True)
            if self._inplace and image.flags.writeable:
                image[...] = made
                return image
            return made
        return image


class LinearTransformation(ImageOperation):
    """``(image.flatten() - mean_vector) @ transformation_matrix``, in the shape of the image.

    Args:
        transformation_matrix (numpy.ndarray): (D, D).
        mean_vector (numpy.ndarray): (D,).
    """

    def __init__(self, transformation_matrix: np.ndarray, mean_vector: np.ndarray) -> None:
        for name, value in (("transformation_matrix", transformation_matrix), ("mean_vector", mean_vector)):
            if not isinstance(value, np.ndarray):
                raise TypeError(f"Argument {name} is not of type [<class 'numpy.ndarray'>], but got {type(value)}.")
        if transformation_matrix.ndim != 2 or len({*transformation_matrix.shape, *mean_vector.shape}) != 1:
            raise ValueError(
                f"transformation_matrix must be square and as long as mean_vector, but got shapes "
                f"{transformation_matrix.shape} and {mean_vector.shape}."
            )
        self._matrix, self._mean = transformation_matrix, mean_vector

    def apply(self, image: np.ndarray) -> np.ndarray:
        if image.size != len(self._mean):
            raise ValueError(f"an image of {image.size} elements for a matrix of {len(self._mean)} rows.")
        return ((image.reshape(-1) - self._mean) @ self._matrix).reshape(image.shape)
