"""The gradient in the weight by Winograd's algorithm.

**Meaning.** Tiles, V = B^T d B and the choice are those of `winograd.forward`. With y the 2x2 elements of ``dout`` in a
tile (zeros where there are none):

* W = A y A^T: ``(y0, y0 + y1, y0 - y1, -y1)`` along h, then along w;
* per section s of `SECTION` tiles, counted over (image, row, column), and for each of the 16 positions one chain
  ``fma(V[t, c], W[t, o], acc)`` over its tiles from +0.0, which is P_s; then ``((0 + P_0) + P_1) + ...``;
* R is ``(m0 + 0.5 * (m1 + m2), 0.5 * (m1 - m2), 0.5 * (m1 + m2) + m3)`` along h, then along w;
* the result is ``fma(R, live, +0.0)``. ``live`` is 0 for *dead* taps, which see padding in every window (along h or w:
  tap k with ``k - front + windows - 1 < 0`` or ``k - front >= size``), and 1 for all others.

Where that is not finite, the result is what the direct algorithm gives. So is +0.0 at dead taps: neighbouring taps see
the image, and what they leave in R rarely cancels to the last bit. Optimisers that divide by the size of gradients
(Adam) would make steps of it. The forward direction needs no such rule, see `winograd.forward`.

**How.** Section by section, all threads together: first V and W of the section, which fit into the caches, then the
sums, each thread for some channels. Output channels are lanes, so ``dout`` is read with the channels last.
"""

from __future__ import annotations

from math import lcm
from typing import Any

from duograph.base.cores import available_cores
from duograph.lower.conv.geometry import three_axes
from duograph.lower.conv.images import grain_of, turned
from duograph.lower.conv.outer import finish_function
from duograph.lower.conv.pad import WIDE
from duograph.lower.conv.parts import round_up
from duograph.lower.conv.slots import WORDS, most_slots
from duograph.lower.lowering import Lowering
from duograph.lower.target import current_target

from .forward import image_of
from .segments import segment_lanes
from .sums import SECTION, SEEN_ROW, SumTile, sums_function

TOGETHER = (128, 64, 32, 16)
"""Channels of either side whose sums a thread takes at a time: the first that leaves two pieces for each core."""


def lower_winograd_grad(c: Lowering) -> None:
    """The calls of a gradient in the weight."""
    (_, dout), (out,) = c.ins, c.outs
    groups = c.attrs["groups"]
    inner, count = out.shape[1], out.shape[0] // groups
    assert isinstance(inner, int) and isinstance(count, int)
    _, h, w = axes = three_axes(c.ins[0].shape[2:], out.shape[2:], dout.shape[2:], c.attrs)
    x, step, channel, image_size = image_of(c, c.ins[0], axes)
    tile = choose_sum_tile(current_target(), inner, count)
    batch, pixels = dout.shape[0], h.count * w.count
    column_tiles = -(-count // tile.columns)
    width = round_up(column_tiles * tile.columns, lcm(WIDE, tile.columns))
    last = turned(c, dout, batch * groups, count, pixels, width)
    row_tiles = -(-inner // tile.rows)
    tiles = batch * ((h.count + 1) // 2) * ((w.count + 1) // 2)
    one_section = isinstance(tiles, int) and tiles <= SECTION
    for together in TOGETHER:
        rows_together = min(row_tiles, -(-together // tile.rows))
        columns_together = min(column_tiles, -(-together // tile.columns))
        items = 4 * -(-row_tiles // rows_together) * -(-column_tiles // columns_together)
        if items >= 2 * available_cores():
            break
    parts = min(items, most_slots())
    share = 4 * (min(inner, rows_together * tile.rows) * SEEN_ROW + columns_together * tile.columns * SECTION)
    shared = 16 * (inner * SEEN_ROW + width * SECTION)
    many_sections = isinstance(tiles, int) and not one_section
    room = shared if one_section else parts * share if many_sections else max(shared, parts * share)
    scratch = c.temp("f32", room)
    sums = c.temp("f32", 16 if one_section else row_tiles * column_tiles * 16 * tile.rows * tile.columns)
    total = c.temp("f32", groups * inner * 9 * width)
    dims = [
        batch, groups, image_size, inner * channel, channel, step, h.size, w.size, h.count, w.count, -h.front, -w.front,
        inner, row_tiles, column_tiles, round_up(pixels, WIDE) * width, width,
        rows_together, columns_together, parts, share,
    ]  # fmt: skip
    flags = c.temp("i64", parts * WORDS)
    c.call(sums_function(tile, segment_lanes(w.count)), [x, last, scratch, sums, total, flags], dims)
    extra = [] if c.sink.joins(len(out.shape) - 1) else list(out.shape[1:])
    dims = [tiles, groups, count, inner * 9, inner * 9, width, grain_of(8 * inner * 9), *extra]
    c.call(finish_function("f32", c.sink), [total, *c.sink.buffers], [*dims, *c.sink.dims])


def choose_sum_tile(target: Any, inner: int, count: int) -> SumTile:
    """The micro-kernel that wastes least: rows of channels of the image x vectors of channels of ``dout``."""
    lanes = max(4, target.lanes(4))
    while lanes > 8 and count <= lanes // 2:
        lanes //= 2
    shapes = ((6, 4), (5, 4), (4, 4), (8, 2), (8, 1)) if target.vector_registers >= 32 else ((4, 3), (4, 2))

    def cost(shape: tuple[int, int]) -> float:
        rows, vectors = shape
        waste = -(-inner // rows) * rows / inner * -(-count // (vectors * lanes)) * vectors * lanes / count
        chains = max(1.0, 1.5 - 0.05 * rows * vectors)  # few chains wait for each other
        return waste * chains * (1 + 0.3 * (rows + vectors) / (rows * vectors))

    rows, vectors = min(shapes, key=cost)
    return SumTile(rows, vectors, lanes)
