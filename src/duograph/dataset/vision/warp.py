"""Images under maps of the plane, with OpenCV's rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from .pictures import Inter, cubic_weights, saturated


def warped(
    image: np.ndarray, matrix: Any, size: tuple[int, int], inter: Inter, fill: Any, perspective: bool = False
) -> np.ndarray:
    """The image under a map of the plane.

    Args:
        image: the image.
        matrix: 3 x 3, from places (x, y, 1) of the image to those of the result; (0, 0) is the middle of a pixel.
        size: height and width of the result.
        inter: ``NEAREST``, ``CUBIC`` or ``LINEAR``, as which others are taken (also ``PILCUBIC``, as MindSpore does).
            Results are OpenCV's, within 1.
        fill: what is outside the image, for all channels or for each.
        perspective: whether the last row counts.
    """
    back = np.linalg.inv(np.asarray(matrix, np.float64))
    fills = np.asarray(fill, np.float64).reshape(-1)
    channels = 1 if image.ndim == 2 else image.shape[2]
    if len(fills) not in (1, channels):
        raise RuntimeError(f"fill_value has {len(fills)} values, but the image has {channels} channels.")
    columns, rows = _sources(back, size, 1 if inter is Inter.NEAREST else STEPS, perspective)
    source = np.empty((image.shape[0] + 2 * RIM, image.shape[1] + 2 * RIM, channels), image.dtype)
    source[...] = saturated(fills, image.dtype)
    source[RIM:-RIM, RIM:-RIM] = image.reshape(*image.shape[:2], channels)
    if inter is Inter.NEAREST:
        return _taken(source, rows, columns, 0).reshape(*size, *image.shape[2:])
    weigh = _cubic_weights if inter is Inter.CUBIC else _linear_weights
    left = weigh((columns % STEPS / STEPS).astype(np.float32))
    rows, share, columns = rows // STEPS, (rows % STEPS / STEPS).astype(np.float32), columns // STEPS
    made = np.zeros((*size, channels), np.float32 if image.dtype == np.uint8 else np.float64)
    for down, up in weigh(share):
        for across, side in left:
            made += _taken(source, rows, columns, down * source.shape[1] + across) * (up * side)[..., None]
    return saturated(made, image.dtype).reshape(*size, *image.shape[2:])


STEPS = 32
"""OpenCV interpolates at so many places between two pixels."""
RIM = 4
"""This many pixels around the image are what is outside it: no interpolation looks further."""


def _sources(back: np.ndarray, size: tuple[int, int], steps: int, perspective: bool) -> tuple[np.ndarray, np.ndarray]:
    """Where pixels of the result come from: columns and rows in parts of ``steps``, rounded as OpenCV does."""
    x, y = np.arange(size[1]), np.arange(size[0])[:, None]
    if perspective:
        depth = back[2, 0] * x + back[2, 1] * y + back[2, 2]
        per = np.where(depth != 0, steps / np.where(depth != 0, depth, 1.0), 0.0)
        places = [np.clip(np.rint((r[0] * x + r[1] * y + r[2]) * per), -(2**30), 2**30) for r in back[:2]]
        return places[0].astype(np.int64), places[1].astype(np.int64)
    fixed = 1024  # numbers of ten binary places
    half = fixed // steps // 2
    made = [
        (np.rint(r[0] * x * fixed).astype(np.int64) + np.rint((r[1] * y + r[2]) * fixed).astype(np.int64) + half)
        // (fixed // steps)
        for r in back[:2]
    ]
    return made[0], made[1]


def _taken(source: np.ndarray, rows: np.ndarray, columns: np.ndarray, further: int) -> np.ndarray:
    """Pixels at places of an image with a rim, or so many pixels further on."""
    height, width, channels = source.shape
    row = np.clip(rows + RIM, 1, height - RIM + 1)
    place = row * width + np.clip(columns + RIM, 1, width - RIM + 1)
    return source.reshape(-1, channels).take(place + further, axis=0)


def _linear_weights(share: np.ndarray) -> list[tuple[int, np.ndarray]]:
    return [(0, 1 - share), (1, share)]


def _cubic_weights(share: np.ndarray) -> list[tuple[int, np.ndarray]]:
    return list(zip(range(-1, 3), cubic_weights(share), strict=True))
