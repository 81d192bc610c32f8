"""Images and volumes: resizing, sampling at arbitrary places, and rearranging of pixels.

Resizing works axis by axis: `resize_axis` gives every output place a weighted sum of a few input places along one axis,
and `resize_axis_grad` is its adjoint. Nearest, linear, cubic and area resizing and adaptive average pooling are one op
with different weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import conv_output_size, taken_at_most

from .movement import reshape, transpose
from .rules import batch_with, in_float32, require_kind
from .slices import pad, slice_axis

MODES = ("nearest", "nearest-exact", "linear", "linear-corner", "cubic", "area")
"""``linear-corner`` counts from the upper left corners of pixels, the others from their middles."""


@lru_cache(maxsize=256)
def _taps(mode: str, align: bool, size: int, out: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Input places (out, taps) and weights (out, taps) of every output place; ``scale`` is the user's factor, or 0."""
    i = np.arange(out, dtype=np.float64)
    if mode == "area":
        start, stop = np.arange(out) * size // out, -(-(np.arange(out) + 1) * size // out)
        width = int((stop - start).max(initial=0))
        place = start[:, None] + np.arange(width)
        weight = (place < stop[:, None]) / (stop - start)[:, None]
        return np.minimum(place, size - 1), weight
    step = 1.0 / scale if scale else size / out if out else 0.0
    if mode == "nearest":
        step32 = np.float32(step)
        place = np.minimum(np.floor(np.arange(out, dtype=np.float32) * step32), size - 1).astype(np.int64)
        if align:
            place = np.floor(i * ((size - 1) / (out - 1) if out > 1 else 0.0) + 0.5).astype(np.int64)
        return place[:, None], np.ones((out, 1))
    if mode == "nearest-exact":
        return np.clip(np.floor((i + 0.5) * step), 0, size - 1).astype(np.int64)[:, None], np.ones((out, 1))
    if align:
        source = i * ((size - 1) / (out - 1) if out > 1 else 0.0)
    elif mode == "linear-corner":
        source = i * step
    else:
        source = (i + 0.5) * step - 0.5
    if mode in ("linear", "linear-corner"):
        source = np.maximum(source, 0.0)
        low = np.minimum(np.floor(source), size - 1)
        t = np.clip(source - low, 0.0, 1.0)
        place = np.stack([low, np.minimum(low + 1, size - 1)], 1)
        return place.astype(np.int64), np.stack([1 - t, t], 1)
    return _cubic_taps(source, size, align)


def _cubic_taps(source: np.ndarray, size: int, align: bool) -> tuple[np.ndarray, np.ndarray]:
    """As MindSpore: distances in steps of 1/1024; from the middles of pixels Catmull-Rom, without what is outside."""
    low = np.floor(source)
    t = np.rint((source - low) * 1024) / 1024
    a = -0.75 if align else -0.5
    weight = np.stack([_cubic(1 + t, a), _cubic(t, a), _cubic(1 - t, a), _cubic(2 - t, a)], 1)
    place = low[:, None] + np.arange(-1, 3)
    if not align:
        weight = np.where((place >= 0) & (place < size), weight, 0.0)
        total = ((weight[:, 0] + weight[:, 1]) + weight[:, 2]) + weight[:, 3]
        weight = weight / total[:, None]
    return np.clip(place, 0, size - 1).astype(np.int64), weight


def _cubic(d: np.ndarray, a: float) -> np.ndarray:
    """Keys' cubic convolution kernel at distance ``d``."""
    inner = ((a + 2) * d - (a + 3)) * d * d + 1
    outer = (((d - 5) * d + 8) * d - 4) * a
    return np.where(d <= 1, inner, np.where(d < 2, outer, 0.0))


def _shift_axis(batch, rank, /, *, axis, **rest):
    return {"axis": axis + 1, **rest}


@primitive
class resize_axis:
    """``x`` with ``axis`` resampled to ``size`` places.

    ``mode`` is one of `MODES`; ``align`` makes the corner places meet; ``scale`` (0: size over extent) is the factor to
    compute places with.
    """

    batch = batch_with("resize_axis", _shift_axis)

    def infer(x, *, axis, size, mode, align=False, scale=0.0):
        x = require_kind("resize_axis", x, "f" if not mode.startswith("nearest") else "bif")
        if isinstance(size, int) and size <= 0:
            raise ValueError(f"For 'interpolate', the output size must be positive, but got {size}.")
        if not taken_at_most(1, x.shape[axis]):
            raise ValueError(
                f"For 'interpolate', there is nothing to interpolate along axis {axis} of {tuple(x.shape)}."
            )
        return x.with_shape((*x.shape[:axis], size, *x.shape[axis + 1 :]))

    def reference(x, *, axis, size, mode, align, scale):
        return _resample(x, axis=axis, size=size, mode=mode, align=align, scale=scale)

    def bprop(ins, out, dout, *, axis, size, **how):
        return (resize_axis_grad(dout, axis=axis, size=ins[0].shape[axis], **how),)


@primitive
class resize_axis_grad:
    """The adjoint of `resize_axis` on an input with ``size`` places along ``axis``."""

    batch = batch_with("resize_axis_grad", _shift_axis)

    def infer(dout, *, axis, size, mode, align=False, scale=0.0):
        dout = require_kind("resize_axis_grad", dout, "f", "dout")
        return dout.with_shape((*dout.shape[:axis], size, *dout.shape[axis + 1 :]))

    def reference(dout, *, axis, size, mode, align, scale):
        return _unsample(dout, axis=axis, size=size, mode=mode, align=align, scale=scale)

    def bprop(ins, out, dout, *, axis, size, **how):
        return (resize_axis(dout, axis=axis, size=ins[0].shape[axis], **how),)


@in_float32
def _resample(x, *, axis, size, mode, align, scale):
    place, weight = _taps(mode, align, x.shape[axis], size, scale)
    if place.shape[1] == 1:
        return np.take(x, place[:, 0], axis)
    column = (size, *(1,) * (x.ndim - axis - 1))
    total = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    for k in range(place.shape[1]):
        w = weight[:, k].astype(x.dtype).reshape(column)
        part = np.take(x, place[:, k], axis)
        total += np.where(w == 0, x.dtype.type(0), part * w)  # an infinity that does not count must not make NaN
    return total


@in_float32
def _unsample(dout, *, axis, size, mode, align, scale):
    place, weight = _taps(mode, align, size, dout.shape[axis], scale)
    moved = np.moveaxis(dout, axis, 0)
    total = np.zeros((size, *moved.shape[1:]), dout.dtype)
    for k in range(place.shape[1]):
        w = weight[:, k].astype(dout.dtype).reshape(-1, *(1,) * (dout.ndim - 1))
        np.add.at(total, place[:, k], moved * w)
    return np.ascontiguousarray(np.moveaxis(total, 0, axis))


def resize(x: Any, size: Sequence[int], mode: str, align: bool = False, scales: Sequence[float] | None = None) -> Any:
    """``x`` (N, C, *extents) resampled to the spatial extents ``size``, one axis after the other."""
    rank = len(x.shape) - 2
    for k in range(rank):
        axis = k + 2
        if mode == "area" or x.shape[axis] != size[k] or (scales is not None and scales[k] != 1):
            x = resize_axis(x, axis=axis, size=size[k], mode=mode, align=align, scale=scales[k] if scales else 0.0)
    return x


def adaptive_avg_pool(x: Any, output_size: Sequence[int]) -> Any:
    """Mean over ``output_size`` nearly equal windows per spatial axis of ``x`` (N, C, *extents)."""
    return resize(x, output_size, "area")


_AXIS_MODES = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
_RANKS = {
    "nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "area": (1, 2, 3), "linear": (1,), "bilinear": (2,),
    "trilinear": (3,), "bicubic": (2,),
}  # fmt: skip


def interpolate(
    x: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Any:
    """``x`` (N, C, *extents) resized to ``size``, or by ``scale_factor``.

    Raises:
        ValueError: unknown mode, wrong number of dimensions, both or none of ``size`` and ``scale_factor``,
            ``align_corners`` with a mode that has no use for it.
    """
    rank = len(x.shape) - 2
    if mode not in _RANKS:
        raise ValueError(f"For 'interpolate', the 'mode' must be in {sorted(_RANKS)}, but got {mode}.")
    if rank not in _RANKS[mode]:
        raise ValueError(f"For 'interpolate', {mode} does not support an input of {rank + 2} dimensions.")
    if (size is None) == (scale_factor is None):
        raise ValueError("For 'interpolate', exactly one of 'size' and 'scale_factor' must be given.")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(
            "For 'interpolate', 'align_corners' can only be set for linear, bilinear, trilinear and bicubic, "
            f"but got {mode}."
        )
    scales: tuple[float, ...] | None = None
    if size is None:
        given = (scale_factor,) * rank if isinstance(scale_factor, int | float) else tuple(scale_factor or ())
        size = tuple(math.floor(n * s) for n, s in zip(x.shape[2:], given, strict=True))  # type: ignore[operator]
        if not recompute_scale_factor:
            scales = tuple(float(s) for s in given)  # type: ignore[arg-type]
    else:
        size = (size,) * rank if isinstance(size, int) else tuple(size)
        if len(size) != rank:
            raise ValueError(f"For 'interpolate', 'size' must have {rank} elements, but got {size}.")
    return resize(x, size, _AXIS_MODES.get(mode, mode), bool(align_corners), None if mode == "area" else scales)


# ---- rearranging ----------------------------------------------------------------------------------------------------


def pixel_shuffle(x: Any, factor: int) -> Any:
    """(..., C * factor**2, H, W) becomes (..., C, H * factor, W * factor).

    Raises:
        ValueError: the channels cannot be divided.
    """
    *lead, c, h, w = x.shape
    if len(x.shape) < 3 or c % (factor * factor):
        raise ValueError(
            f"For 'pixel_shuffle', the channels of shape {tuple(x.shape)} must be divisible by {factor * factor}."
        )
    k, n = c // (factor * factor), len(lead)
    split = reshape(x, shape=(*lead, k, factor, factor, h, w))
    moved = transpose(split, perm=(*range(n + 1), n + 3, n + 1, n + 4, n + 2))
    return reshape(moved, shape=(*lead, k, h * factor, w * factor))


def pixel_unshuffle(x: Any, factor: int) -> Any:
    """(..., C, H * factor, W * factor) becomes (..., C * factor**2, H, W).

    Raises:
        ValueError: height or width cannot be divided.
    """
    *lead, c, h, w = x.shape
    if len(x.shape) < 3 or h % factor or w % factor:
        raise ValueError(
            f"For 'pixel_unshuffle', height and width of shape {tuple(x.shape)} must be divisible by {factor}."
        )
    n = len(lead)
    split = reshape(x, shape=(*lead, c, h // factor, factor, w // factor, factor))
    moved = transpose(split, perm=(*range(n + 1), n + 2, n + 4, n + 1, n + 3))
    return reshape(moved, shape=(*lead, c * factor * factor, h // factor, w // factor))


def channel_shuffle(x: Any, groups: int) -> Any:
    """The channels (axis 1) dealt out from ``groups`` piles in turn."""
    n, c, *rest = x.shape
    if groups < 1 or c % groups:
        raise ValueError(f"For 'channel_shuffle', the channels {c} must be divisible by the groups {groups}.")
    split = reshape(x, shape=(n, groups, c // groups, *rest))
    return reshape(transpose(split, perm=(0, 2, 1, *range(3, len(rest) + 3))), shape=tuple(x.shape))


def unfold(x: Any, kernel: tuple[int, int], dilation: tuple[int, int], padding: Any, stride: tuple[int, int]) -> Any:
    """Windows of ``x`` (N, C, H, W) as columns: (N, C * taps, positions); ``padding`` is a pair per axis."""
    from .windows import sliding_window

    padded = pad(x, padding=((0, 0), (0, 0), *padding)) if any(p for pair in padding for p in pair) else x
    cut = sliding_window(padded, axis=2, size=kernel[0], step=stride[0], dilation=dilation[0])
    cut = sliding_window(cut, axis=3, size=kernel[1], step=stride[1], dilation=dilation[1])
    n, c, h, w, kh, kw = cut.shape
    return reshape(transpose(cut, perm=(0, 1, 4, 5, 2, 3)), shape=(n, c * kh * kw, h * w))


def fold(
    x: Any,
    output_size: tuple[int, int],
    kernel: tuple[int, int],
    dilation: tuple[int, int],
    padding: Any,
    stride: tuple[int, int],
) -> Any:
    """The adjoint of `unfold`: columns (N, C * taps, positions) added up to an image (N, C, *output_size)."""
    from .windows import sliding_window_sum

    full = [n + a + b for n, (a, b) in zip(output_size, padding, strict=True)]
    if any(isinstance(n, int) and n < 0 for pair in padding for n in pair):
        raise ValueError(f"For 'fold', the padding must not be negative, but got {padding}.")
    each = zip(output_size, kernel, stride, padding, dilation, strict=True)
    h, w = (conv_output_size(*of_axis) for of_axis in each)
    n, rows, columns = x.shape
    taps = kernel[0] * kernel[1]
    if rows % taps or columns != h * w:
        raise ValueError(
            f"For 'fold', the input must be of shape (N, C * {taps}, {h * w}), but got shape {tuple(x.shape)}."
        )
    cut = transpose(reshape(x, shape=(n, rows // taps, *kernel, h, w)), perm=(0, 1, 4, 5, 2, 3))
    out = sliding_window_sum(cut, axis=3, extent=full[1], size=kernel[1], step=stride[1], dilation=dilation[1])
    out = sliding_window_sum(out, axis=2, extent=full[0], size=kernel[0], step=stride[0], dilation=dilation[0])
    for axis, (front, _), extent in zip((2, 3), padding, output_size, strict=True):
        if out.shape[axis] != extent:
            out = slice_axis(out, axis, front, front + extent)
    return out
