"""Extents, strides and offsets of a convolution, as numbers for the kernels: three spatial axes, whatever the rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from duograph.core.dim import dim_max

from ..target import Target
from .correlate import Tile
from .depthwise import DepthwiseForm
from .pad import WIDE
from .parts import round_up


@dataclass(frozen=True)
class Axis:
    """One spatial axis of a forward convolution: ``count`` windows of ``kernel`` taps over ``size`` elements."""

    size: Any
    kernel: int
    count: Any
    stride: int = 1
    front: int = 0
    dilation: int = 1

    @property
    def reach(self) -> Any:
        """How far windows reach from the first zero in front on: the extent of the padded axis."""
        return (self.count - 1) * self.stride + (self.kernel - 1) * self.dilation + 1


UNIT = Axis(1, 1, 1)


def three_axes(size: Any, kernel: Any, count: Any, attrs: dict[str, Any]) -> list[Axis]:
    """The spatial axes, missing ones in front."""
    own = [
        Axis(n, k, c, s, p[0], d)
        for n, k, c, s, p, d in zip(
            size, kernel, count, attrs["stride"], attrs["padding"], attrs["dilation"], strict=True
        )
    ]
    return [UNIT] * (3 - len(own)) + own


def merged(axes: Sequence[Axis]) -> list[Axis] | None:
    """A convolution with single taps, stride 1 and no padding as one row of all pixels."""
    if any((a.kernel, a.stride, a.front) != (1, 1, 0) or (a.size is not a.count and a.size != a.count) for a in axes):
        return None
    pixels = axes[0].size * axes[1].size * axes[2].size
    return [UNIT, UNIT, Axis(pixels, 1, pixels)]


@dataclass(frozen=True)
class Taps:
    """The taps that one phase of an axis uses.

    Output ``t`` of the phase is element ``first + t * step`` of the result and reads ``places[...]`` of the padded
    input: tap m lies at ``start + t * stride + m * dilation`` and has the weight ``weight + m * weight_step``.
    """

    first: int
    step: int
    outputs: Any
    count: int
    start: int
    dilation: int
    weight: int
    weight_step: int


def forward_taps(axis: Axis) -> list[Taps]:
    """All taps, all outputs: the one phase of a forward convolution (the padded copy has ``front`` zeros)."""
    return [Taps(0, 1, axis.count, axis.kernel, 0, axis.dilation, 0, 1)]


def backward_taps(axis: Axis) -> tuple[list[Taps], int, Any]:
    """Phases of the gradient in the input; then zeros in front of the padded ``dout``, and its extent.

    Element i gets ``dout[q] * w[k]`` where ``q * stride + k * dilation == i + front``. Elements with equal
    ``(i + front) % stride`` use the same taps k, every (stride / g)-th one with g = gcd(stride, dilation), and
    neighbouring ones neighbouring positions q.
    """
    s, d, kernel = axis.stride, axis.dilation, axis.kernel
    common = gcd(s, d)
    found: list[tuple[int, Any, int, int, int]] = []
    for first in range(s):
        outputs = (axis.size - first + s - 1) // s
        hits = [k for k in range(min(kernel, s // common)) if (first + axis.front - k * d) % s == 0]
        start = hits[0] if hits else 0
        count = (kernel - start + s // common - 1) // (s // common) if hits else 0
        # the tap with the largest k reads the earliest position
        earliest = (first + axis.front - start * d) // s - max(count - 1, 0) * (d // common) if hits else 0
        found.append((first, outputs, start, count, earliest))
    front = max(0, *[-earliest for *_, earliest in found])
    extent: Any = 1
    step, taps = s // common, []
    for first, outputs, start, count, earliest in found:
        last = start + max(count - 1, 0) * step
        taps.append(Taps(first, s, outputs, count, front + earliest, d // common, last, -step))
        extent = dim_max(extent, front + earliest + max(count - 1, 0) * (d // common) + outputs)
    return taps, front, extent


@dataclass(frozen=True)
class Padded:
    """The padded copy: (lead, channel stride) x (d, h) x phases x ``row`` elements.

    Attributes:
        d, h: extents.
        row: length of one phase of a row.
        phases: how many phases a row has (the stride along it).
        fronts: zeros in front of each axis; negative crops.
    """

    d: Any
    h: Any
    row: Any
    phases: int
    fronts: tuple[int, int, int]

    @property
    def step_h(self) -> Any:
        return self.row * self.phases

    @property
    def step_d(self) -> Any:
        return self.h * self.row * self.phases

    @property
    def channel(self) -> Any:
        """Elements from one channel to the next: an odd number of cache lines, or channels share sets of the L1."""
        lines = round_up(self.d * self.step_d, 16) // 16
        return (lines + 1 - lines % 2) * 16


def padded_row(extent: Any, phases: int) -> Any:
    """Length of one phase of a row that holds ``extent`` elements in all."""
    return round_up((extent + phases - 1) // phases, WIDE)


_TILES = {
    32: ((8, 3), (6, 4), (12, 2), (4, 6), (5, 4), (3, 7), (8, 2), (10, 2), (16, 1), (4, 4), (2, 8), (1, 8)),
    16: ((4, 3), (6, 2), (3, 3), (4, 2), (2, 4), (8, 1), (1, 6)),
}
"""Channels x vectors that fit into so many registers."""


def choose_tile(target: Target, itemsize: int, rows: Any, width: Any, lines: Any, k: Any) -> Tile:
    """The tile that wastes least on ``rows`` channels, ``lines`` rows of ``width`` outputs, sums of ``k`` products."""
    return priced_tile(target, itemsize, rows, width, lines, k)[1]


def priced_tile(target: Target, itemsize: int, rows: Any, width: Any, lines: Any, k: Any) -> tuple[float, Tile]:
    """The tile of `choose_tile`, and how much longer it takes than useful products in full vectors alone."""
    widest = max(1, target.lanes(itemsize))
    shapes = [(widest, 1, 1.0)]  # lanes, pieces, how much dearer than full vectors of neighbours
    if widest > 8:
        shapes.append((widest // 2, 1, 1.1))
    shapes += [(lanes, 2, dearer + 0.08) for lanes, _, dearer in shapes if lanes >= 8]
    best: tuple[float, Tile] | None = None
    for lanes, pieces, dearer in shapes:
        run = lanes // pieces
        for height, vectors in _TILES[32 if target.vector_registers >= 32 else 16]:
            per_row = -(-width // run) if isinstance(width, int) else 0
            loads = 1 + (0.3 * (height + vectors) + 1.5) / (height * vectors)
            waste = _waste(width, run) * _waste(rows, height) * _waste(lines * per_row, vectors * pieces)
            # places are computed and results stored once per tile: about so many multiply-adds' worth
            around = 30 + 8 * vectors * pieces + 4 * height * vectors * pieces
            products = k * height * vectors * lanes / 16 if isinstance(k, int) and k > 0 else 4096
            cost = waste * loads * dearer * (1 + around / products)
            if best is None or cost < best[0]:
                best = cost, Tile(height, vectors, lanes, pieces)
    assert best is not None
    return best


def _waste(n: Any, unit: int) -> float:
    """How much larger ``n`` is when it is rounded up to a multiple of ``unit``."""
    return -(-n // unit) * unit / n if isinstance(n, int) and n > 0 else 1.0


def depthwise_form(target: Target, itemsize: int, taps: tuple[Taps, Taps], steps: tuple[int, int]) -> DepthwiseForm:
    """Rows and lanes of the depthwise kernel for taps along (h, w) and the steps of windows in the padded image."""
    h, w = taps
    widest = max(1, target.lanes(itemsize))
    lanes = min((widest, max(1, widest // 2)), key=lambda n: _waste(w.outputs, n) * (1.0 if n == widest else 1.1))
    return DepthwiseForm((h.count, w.count), steps, min(4, h.outputs), lanes)
