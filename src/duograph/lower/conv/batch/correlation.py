"""`conv` and `conv_input_grad` of small images in batches: when the kernel with images as lanes runs, and its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duograph.lower.conv.geometry import priced_tile
from duograph.lower.conv.parts import size_of
from duograph.lower.conv.slots import WORDS, most_slots

from .correlate import NEAR, BatchTile, batch_correlate_function
from .pack import batch_weights_function

if TYPE_CHECKING:
    from duograph.lower.conv.correlation import Correlation

FLOATS = ("f32", "f64")
ITEMS = 6
"""Pieces of work, at least, if there are so many rows."""

LONGEST = 64
"""Outputs along an axis: longer rows waste nothing with pixels as lanes."""

_TILES = {
    32: (
        *((6, 1), (8, 1), (10, 1), (12, 1), (16, 1)),
        *((4, 2), (5, 2), (6, 2), (8, 2), (10, 2), (3, 3), (4, 3), (3, 4), (2, 5), (1, 8)),
    ),
    16: ((8, 1), (10, 1), (12, 1), (3, 3), (4, 2), (5, 2), (6, 2), (2, 4), (1, 8)),
}
"""Channels x pixels that fit into so many registers."""


def batch_tile(conv: Correlation) -> BatchTile | None:
    """The tile of the kernel with images as lanes, if that is faster than the one with pixels as lanes."""
    sizes = [conv.x.shape[0], conv.inner, conv.count, *[n for a in conv.axes for n in (a.size, a.count)]]
    lanes = conv.target.lanes(size_of(conv.elem))
    if conv.elem not in FLOATS or lanes < 2 or conv.depthwise or any(len(phases) > 1 for phases in conv.phases):
        return None
    if not all(isinstance(n, int) and n > 0 for n in sizes):
        return None
    if any(not 0 < taps.outputs <= LONGEST or not taps.count for (taps,) in conv.phases):
        return None
    shapes = _TILES[32 if conv.target.vector_registers >= 32 else 16]
    tiles = [BatchTile(rows, min(pixels, conv.phases[2][0].outputs), lanes) for rows, pixels in shapes]
    priced = [(batch_cost(conv, tile), i) for i, tile in enumerate(tiles) if packed_size(conv, tile, 1) <= NEAR]
    if not priced:
        return None
    cost, best = min(priced)
    # estimates are good to a tenth with many registers; with few, they make images as lanes look better than they are
    enough = 0.97 if conv.target.vector_registers >= 32 else 0.75
    return tiles[best] if cost < enough * pixel_cost(conv) else None


def batch_cost(conv: Correlation, tile: BatchTile) -> float:
    """Time of the kernel with images as lanes, in multiply-adds of vectors."""
    (d,), (h,), (w,) = conv.phases
    many = -(-conv.x.shape[0] // tile.lanes) * conv.groups
    blocks = -(-conv.count // tile.rows)
    lines, tiles = d.outputs * h.outputs, -(-w.outputs // tile.pixels)
    rows = many * blocks * conv.inner * _taps(conv, 0) * _taps(conv, 1)
    size = tile.rows * tile.pixels
    # with few registers, broadcasts are loads of their own
    loads = tile.rows + tile.pixels if conv.target.vector_registers < 32 else 1.6 * tile.pixels
    tap = max(size, 6.0, loads) * (1.02 if tile.pixels > 1 else 1.0)
    products = rows * (_taps(conv, 2, tile.pixels) * tap + tiles)
    around = many * blocks * lines * tiles * (4 + size)
    # a vector of every image: transposed and stored, which takes longer if all go to the same set of the cache
    image = conv.groups * conv.count * lines * w.outputs * size_of(conv.elem)
    store = 30 + (20 if image % 4096 == 0 else 4) * tile.lanes
    results = many * conv.count * lines * -(-w.outputs // tile.lanes) * store
    height = _lines(conv, tile)
    needed = min(conv.axes[1].size, (height - 1) * conv.steps[1] + (h.count - 1) * h.dilation + 1)
    width = conv.axes[2].size
    # without zeros between them, rows are packed as one
    squares = -(-needed * width // tile.lanes) if tile.pixels == 1 else needed * -(-width // tile.lanes)
    packed = many * conv.inner * d.outputs * d.count * -(-h.outputs // height) * squares
    return products + around + results + packed * (25 + 5 * tile.lanes)


def pixel_cost(conv: Correlation) -> float:
    """The same for the kernel with pixels as lanes."""
    (d,), (h,), (w,) = conv.phases
    k = conv.inner * d.count * h.count * w.count
    lines = d.outputs * h.outputs
    price, _ = priced_tile(conv.target, size_of(conv.elem), conv.count, w.outputs, lines, k)
    lanes = conv.target.lanes(size_of(conv.elem))
    planes = conv.x.shape[0] * conv.groups
    copied = planes * conv.inner * conv.image.channel
    results = planes * conv.count * lines * w.outputs
    copy = 4 if conv.steps[2] == 1 else 12
    return (0.85 * price * results * k + 7 * results + copy * copied) / lanes


def _taps(conv: Correlation, axis: int, pixels: int = 1) -> int:
    """Taps that lie in the image, of all outputs of an axis; ``pixels`` neighbours take part in each other's."""
    (taps,), size, step = conv.phases[axis], conv.axes[axis].size, conv.steps[axis]
    start, total = taps.start - conv.image.fronts[axis], 0
    for first in range(0, taps.outputs, pixels):
        first = min(first, taps.outputs - pixels)
        before, behind = -start - (first + pixels - 1) * step, size - start - first * step
        lo, hi = (min(-(-max(n, 0) // taps.dilation), taps.count) for n in (before, behind))
        total += max(hi - lo, 0)
    return total


def _wide(conv: Correlation, tile: BatchTile) -> int:
    """Places of a packed row with all its padding."""
    taps = conv.phases[2][0]
    last = taps.start + (taps.count - 1) * taps.dilation + (taps.outputs - 1) * conv.steps[2]
    narrow = conv.axes[2].size + 2 * (tile.pixels - 1) * conv.steps[2]
    return max(last + 1, conv.image.fronts[2] + conv.axes[2].size, narrow)


def packed_size(conv: Correlation, tile: BatchTile, lines: int) -> int:
    """Bytes of the rows of images that ``lines`` rows of results need."""
    rows = 1
    for axis, (taps,), step, n in zip(conv.axes[:2], conv.phases[:2], conv.steps[:2], (1, lines), strict=True):
        rows *= min(axis.size, (n - 1) * step + (taps.count - 1) * taps.dilation + 1)
    places = (conv.inner * rows + 1) * _wide(conv, tile) + tile.lanes
    return places * tile.lanes * size_of(conv.elem)


def _lines(conv: Correlation, tile: BatchTile) -> int:
    """Rows of results that are computed together: few enough that there is work for all threads."""
    (d,), (h,) = conv.phases[:2]
    others = -(-conv.x.shape[0] // tile.lanes) * conv.groups * d.outputs
    parts = min(h.outputs, -(-ITEMS // others))
    lines = -(-h.outputs // parts)
    while lines > 1 and packed_size(conv, tile, lines) > NEAR:
        lines -= 1
    return lines


def lower_in_batch(conv: Correlation, tile: BatchTile) -> None:
    """Adds the calls: weights packed, and the kernel."""
    c, x = conv.c, conv.x
    taps = [phases[0] for phases in conv.phases]
    counts = [t.count for t in taps]
    blocks = conv.groups * -(-conv.count // tile.rows)
    size = tile.rows * conv.inner * counts[0] * counts[1] * counts[2]
    packed, finite = c.temp(conv.elem, blocks * size), c.temp("i64", blocks)
    dims = [*conv.weight_walk(taps), max(1, 8192 // max(size, 1))]
    c.call(batch_weights_function(conv.w.elem, tile.rows), [conv.w, packed, finite], dims)
    axes: list[Any] = []
    for axis, t, step, zeros in zip(conv.axes, taps, conv.steps, conv.image.fronts, strict=True):
        axes += [axis.size, t.start - zeros, t.dilation, t.count, step, t.outputs]
    lines = _lines(conv, tile)
    rank = len(c.outs[0].shape) - 2
    f = batch_correlate_function(conv.elem, x.elem, tile, conv.steps[2], rank, c.sink)
    d, h = taps[:2]
    items = -(-x.shape[0] // tile.lanes) * conv.groups * d.outputs * -(-h.outputs // lines)
    slots, room = min(items, most_slots()), packed_size(conv, tile, lines) // size_of(conv.elem)
    rows, flags = c.temp(conv.elem, slots * room), c.temp("i64", slots * WORDS)
    wide = _wide(conv, tile)
    dims = [x.shape[0], conv.groups, conv.inner, conv.count, lines, conv.image.fronts[2], wide, slots, room, *axes]
    c.call(f, [x, packed, finite, rows, flags, *c.sink.buffers], [*dims, *c.sink.dims])
