"""Images as files and as compressed bytes, by Pillow."""

from __future__ import annotations

import errno
import io
import os
from typing import Any

import numpy as np

from duograph.base import files as base_files

from ..nodes import array_of
from .basic import RandomResizedCrop
from .pictures import ImageOperation, ImageReadMode, decoded, image_of, is_picture, picture_of

LIMIT = 1 << 31
"""Files that are larger are no images."""


class FileBytes(np.ndarray):
    """The bytes of a file, which know its name: errors of `Decode` say it."""

    path = ""

    @classmethod
    def of(cls, data: bytes, path: str) -> FileBytes:
        """``data`` as an array of uint8."""
        made = np.frombuffer(data, np.uint8).view(cls)
        made.path = path
        return made

    def __array_finalize__(self, source: Any) -> None:
        self.path = getattr(source, "path", "")

    def __reduce__(self) -> Any:  # to a process that decodes
        made: Any = super().__reduce__()
        return (*made[:2], (made[2], self.path))

    def __setstate__(self, state: Any) -> None:
        of_array, self.path = state
        super().__setstate__(of_array)


class Decode(ImageOperation):
    """The bytes of a compressed image (PNG, JPEG, BMP, GIF, WebP, TIFF) as an RGB image of shape (H, W, 3) of uint8.

    Needs Pillow: ``pip install 'duograph[data]'``.

    Args:
        to_pil (bool): give an image of Pillow, not an array. Default ``False``.

    Raises:
        TypeError: the bytes are no array of uint8 with one axis.
        RuntimeError: they are no image, or it is cut off; the name of the file is said where it is known.
    """

    def __init__(self, to_pil: bool = False) -> None:
        if not isinstance(to_pil, bool):
            raise TypeError(
                f"Argument to_pil with value {to_pil} is not of type [<class 'bool'>], but got {type(to_pil)}."
            )
        self._picture = to_pil

    def __call__(self, image: Any) -> Any:
        data = image if isinstance(image, bytes) else array_of(image)
        if isinstance(data, np.ndarray):
            if data.ndim != 1:
                raise TypeError(
                    f"The number of array dimensions of the encoded image should be 1, but got {data.ndim}."
                )
            if data.dtype.kind not in "uiS":
                raise TypeError(f"The type of the encoded image should be uint8, but got {data.dtype}.")
            data = data.tobytes()
        return decoded(data, f"Decode: {getattr(image, 'path', '')}".removesuffix(": "), picture=self._picture)


class RandomCropDecodeResize(RandomResizedCrop):
    """`Decode`, then `RandomResizedCrop`."""

    def __call__(self, image: Any) -> Any:
        return super().__call__(Decode()(image))


class ToPIL(ImageOperation):
    """Converts a uint8 array to a Pillow image."""

    def __call__(self, image: Any) -> Any:
        return image if is_picture(image) else picture_of(image_of(image), "ToPIL")


class ToNumpy(ImageOperation):
    """Converts a Pillow image to an array."""

    def __call__(self, image: Any) -> np.ndarray:
        return np.array(image) if is_picture(image) else image_of(image)


def read_file(filename: str) -> np.ndarray:
    """The bytes of a file, as an array of uint8.

    Raises:
        RuntimeError: it is no file, or cannot be read.
    """
    try:
        if not os.path.isfile(_name(filename)):
            raise RuntimeError(f"Invalid file path, {filename} is not a regular file.")
        if os.path.getsize(filename) > LIMIT:
            raise RuntimeError(f"{filename} has more than {LIMIT} bytes.")
        with open(filename, "rb") as file:
            return FileBytes.of(file.read(), filename)
    except OSError as error:
        raise RuntimeError(f"{filename} cannot be read: {error.strerror}.") from None


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """An image from a file, of shape (H, W, C).

    Args:
        filename (str): its path.
        mode (ImageReadMode): which channels. Default ``ImageReadMode.UNCHANGED``.

    Raises:
        RuntimeError: it is no file, no image, or cut off.
    """
    if not isinstance(mode, ImageReadMode):
        raise TypeError(f"mode must be of ImageReadMode, but got {type(mode)}.")
    image = decoded(read_file(filename).tobytes(), f"read_image: {filename}", mode)
    return image[..., None] if image.ndim == 2 else image


def write_file(filename: str, data: Any) -> None:
    """Writes bytes: an array of uint8 with one axis.

    Raises:
        TypeError: they are something else.
        RuntimeError: the file cannot be written.
    """
    data = array_of(data)
    if data.dtype != np.uint8 or data.ndim != 1:
        raise TypeError(f"data must be of uint8 and have one axis, but got {data.dtype} and shape {list(data.shape)}.")
    try:
        if not os.path.isdir(os.path.dirname(os.path.abspath(_name(filename)))):
            raise NotADirectoryError(errno.ENOENT, os.strerror(errno.ENOENT))
        base_files.write_file(filename, data.tobytes())
    except OSError as error:
        raise RuntimeError(f"{filename} cannot be written: {error.strerror}.") from None


def _name(filename: Any) -> str:
    if not isinstance(filename, str):
        raise TypeError(f"Input filename is not of type <class 'str'>, but got: {type(filename)}.")
    return filename


def _encoded(image: Any, what: str, kind: str, **options: int) -> np.ndarray:
    image = image_of(image)
    if image.ndim == 3 and image.shape[2] not in (1, 3):
        raise RuntimeError(f"{what}: an image to be written has 1 or 3 channels, but got {image.shape[2]}.")
    out = io.BytesIO()
    picture_of(image, what).save(out, kind, **options)
    return np.frombuffer(out.getvalue(), np.uint8)


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """An image of uint8 as the bytes of a JPEG file.

    Args:
        image (Union[numpy.ndarray, Tensor]): of shape (H, W), (H, W, 1) or (H, W, 3).
        quality (int): from 1 to 100. Default ``75``.
    """
    _within("quality", quality, 1, 100)
    return _encoded(image, "encode_jpeg", "JPEG", quality=quality)


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """An image of uint8 as the bytes of a PNG file.

    Args:
        image (Union[numpy.ndarray, Tensor]): of shape (H, W), (H, W, 1) or (H, W, 3).
        compression_level (int): from 0 to 9. Default ``6``.
    """
    _within("compression_level", compression_level, 0, 9)
    return _encoded(image, "encode_png", "PNG", compress_level=compression_level)


def _within(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"Input {name} is not of type <class 'int'>, but got: {type(value)}.")
    if not low <= value <= high:
        raise ValueError(f"Invalid {name}: {value}, should be in range [{low}, {high}].")


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Writes an image as a JPEG file; see `encode_jpeg`."""
    write_file(filename, encode_jpeg(image, quality))


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Writes an image as a PNG file; see `encode_png`."""
    write_file(filename, encode_png(image, compression_level))


def get_image_size(image: Any) -> list[int]:
    """Height and width of an image."""
    return list(image_of(image).shape[:2])


def get_image_num_channels(image: Any) -> int:
    """The number of channels of an image; 1 if it has two axes."""
    image = image_of(image)
    return 1 if image.ndim == 2 else image.shape[2]
