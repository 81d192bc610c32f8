"""Sampling images and volumes at places given by a tensor: ``grid_sample`` and ``affine_grid``. Composites over ops.

Places are in the unit of the half extent: -1 and 1 are the corners of the image (``align_corners``: the centres of the
corner pixels). The last axis of a grid holds them in the order x, y (, z), that is from the last spatial axis on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import numel

from .arithmetic import abs_, add, fmod, mul, sub
from .cast import cast, stop_gradient
from .compare import equal, greater, greater_equal, less, less_equal
from .creation import constant_like, linspace, ones_like
from .linalg import matmul
from .logical import logical_and
from .movement import broadcast_to, expand_dims, reshape
from .norm import scaled, shifted
from .pool import gather_planes
from .select import select
from .slices import concat, slice_axis
from .unary import floor, round_

_MODES = ("bilinear", "nearest", "bicubic")
_PADDING_MODES = ("zeros", "border", "reflection")


def grid_sample(
    x: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Any:
    """Values of ``x`` (N, C, *extents) at the places ``grid`` (N, *out, rank): (N, C, *out).

    Args:
        x: images or volumes.
        grid: places.
        mode: ``"bilinear"`` (over all neighbours), ``"nearest"``, or ``"bicubic"`` (images only).
        padding_mode: what lies outside: ``"zeros"``, ``"border"`` or ``"reflection"``.
        align_corners: whether -1 and 1 are the centres of the corner pixels.

    Raises:
        ValueError: unknown mode, or shapes that do not fit.
    """
    rank = len(x.shape) - 2
    if mode not in _MODES or (mode == "bicubic" and rank != 2):
        raise ValueError(
            f"For 'grid_sample', the 'mode' {mode} is not supported for an input of {rank + 2} dimensions."
        )
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"For 'grid_sample', the 'padding_mode' must be in {_PADDING_MODES}, but got {padding_mode}.")
    if len(grid.shape) != rank + 2 or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise ValueError(
            f"For 'grid_sample', the grid must be of shape ({x.shape[0]}, ..., {rank}) with {rank + 2} dimensions, "
            f"but got {tuple(grid.shape)}."
        )
    if 0 in x.shape[2:]:
        raise ValueError(f"For 'grid_sample', there is nothing to sample in an input of shape {tuple(x.shape)}.")
    last = rank + 1
    places = []
    for k, extent in enumerate(x.shape[2:]):
        unit = reshape(slice_axis(grid, last, rank - 1 - k, rank - k), shape=tuple(grid.shape[:-1]))
        if align_corners:
            place = scaled(shifted(unit, 1), (extent - 1) / 2)
        else:
            place = scaled(shifted(scaled(shifted(unit, 1), extent), -1), 0.5)
        if mode != "bicubic":
            place = _inside(place, extent, padding_mode, align_corners)
        places.append(place)
    taps = {"bilinear": _linear_taps, "nearest": _nearest_taps, "bicubic": _cubic_taps}[mode]
    total = None
    for corner in product(*[taps(place) for place in places]):
        weight, index, valid = None, None, None
        for (at, w), extent in zip(corner, x.shape[2:], strict=True):
            if mode == "bicubic":
                at = _inside(at, extent, padding_mode, align_corners)
            zero, top = constant_like(at, 0), constant_like(at, extent - 1)
            within = logical_and(greater_equal(at, zero), less_equal(at, top))
            step = cast(select(within, at, zero), dtype=dt.int64)  # a place that is NaN is nowhere, too
            index = step if index is None else add(mul(index, constant_like(index, extent)), step)
            weight = w if weight is None else mul(weight, w)
            valid = within if valid is None else logical_and(valid, within)
        shape = (x.shape[0], x.shape[1], *grid.shape[1:-1])
        value = gather_planes(x, broadcast_to(expand_dims(index, 1), shape=shape))
        weight = select(valid, weight, constant_like(weight, 0))
        part = mul(value, expand_dims(weight, 1))
        total = part if total is None else add(total, part)
    return total


def _inside(place: Any, extent: int, padding_mode: str, align: bool) -> Any:
    """``place`` mapped into the image, NaN to 0: by clipping or by reflection at its borders.

    On a border and beyond, what is clipped has no gradient.
    """
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        low, span = (0.0, extent - 1.0) if align else (-0.5, float(extent))
        if span == 0:
            place = mul(place, constant_like(place, 0))
        else:
            width = constant_like(place, span)
            distance = abs_(shifted(place, -low))
            rest = fmod(distance, width)
            turns = round_(scaled(stop_gradient(sub(distance, rest)), 1 / span))
            odd = equal(fmod(turns, constant_like(turns, 2)), constant_like(turns, 1))
            place = shifted(select(odd, sub(width, rest), rest), low)
    zero, top = constant_like(place, 0), constant_like(place, extent - 1)
    place = select(greater(place, zero), place, zero)
    return select(less(place, top), place, top)


def _nearest_taps(place: Any) -> list[tuple[Any, Any]]:
    at = round_(place)
    return [(at, ones_like(at))]


def _linear_taps(place: Any) -> list[tuple[Any, Any]]:
    low = floor(place)
    t = sub(place, low)
    return [(low, sub(constant_like(t, 1), t)), (shifted(low, 1), t)]


def _cubic_taps(place: Any, a: float = -0.75) -> list[tuple[Any, Any]]:
    low = floor(place)
    t = sub(place, low)

    def near(d: Any) -> Any:  # |d| <= 1
        return shifted(mul(mul(shifted(scaled(d, a + 2), -(a + 3)), d), d), 1)

    def far(d: Any) -> Any:  # 1 < |d| < 2
        return scaled(shifted(mul(shifted(mul(shifted(d, -5), d), 8), d), -4), a)

    back = sub(constant_like(t, 1), t)
    return [
        (shifted(low, -1), far(shifted(t, 1))),
        (low, near(t)),
        (shifted(low, 1), near(back)),
        (shifted(low, 2), far(shifted(back, 1))),
    ]


def affine_grid(theta: Any, size: Sequence[int], align_corners: bool = False) -> Any:
    """The grid (N, *extents, rank) of places that the affine maps ``theta`` (N, rank, rank + 1) send pixels to.

    Args:
        theta: affine maps.
        size: the shape (N, C, *extents) of the images to sample.
        align_corners: whether -1 and 1 are the centres of the corner pixels.

    Raises:
        ValueError: shapes that do not fit.
    """
    rank = len(size) - 2
    if tuple(theta.shape) != (size[0], rank, rank + 1):
        raise ValueError(
            f"For 'affine_grid', theta must be of shape {(size[0], rank, rank + 1)}, but got {tuple(theta.shape)}."
        )
    extents = tuple(size[2:])
    columns = []
    for k in reversed(range(rank)):
        n = extents[k]
        edge = (1.0 if n > 1 else 0.0) if align_corners else 1.0 - 1.0 / n
        line = linspace(start=-edge, stop=edge, steps=n, dtype=theta.dtype)
        line = reshape(line, shape=tuple(n if i == k else 1 for i in range(rank)))
        columns.append(reshape(broadcast_to(line, shape=extents), shape=(numel(extents), 1)))
    base = concat(*columns, ones_like(columns[0]), axis=1)
    grid = matmul(base, theta, transpose_b=True)
    return reshape(grid, shape=(size[0], *extents, rank))
