"""`conv_weight_grad` of small images in batches: when the kernel with images as lanes runs, and its calls."""

from __future__ import annotations

from math import lcm
from typing import Any

from duograph.lower.conv.correlate import Tile
from duograph.lower.conv.geometry import Axis
from duograph.lower.conv.images import grain_of
from duograph.lower.conv.outer import finish_function
from duograph.lower.conv.pad import WIDE
from duograph.lower.conv.parts import compute_elem, round_up, size_of
from duograph.lower.conv.slots import WORDS, most_slots
from duograph.lower.lowering import Lowering
from duograph.lower.target import current_target

from .correlate import NEAR
from .correlation import FLOATS
from .outer import BatchOuter, batch_outer_function, batch_sums_function

LARGEST = 1 << 20
"""Bytes of all ``P_n``, which wait to be added up."""


class BatchWeightGrad:
    """The gradient in the weight with images as lanes, for ``count`` output channels of each group."""

    def __init__(self, c: Lowering, axes: list[Axis], groups: int, inner: int, count: int, form: BatchOuter) -> None:
        self.c, self.axes, self.groups, self.inner, self.count, self.form = c, axes, groups, inner, count, form
        self.elem = compute_elem(c.ins[0].elem)
        self.batch = c.ins[0].shape[0]
        self.batches = -(-self.batch // form.lanes)
        self.rows = round_up(count, form.rows)
        self.k = inner * axes[0].kernel * axes[1].kernel * axes[2].kernel
        d, h, w = axes
        self.wide = max(w.reach, w.front) | 1
        image = inner * d.reach * h.reach * self.wide
        line = form.rows * w.count
        room = NEAR // (form.lanes * size_of(self.elem)) - image - form.lanes
        self.lines = min(h.count, room // line)
        self.room = (image + self.lines * line + form.lanes) * form.lanes
        # a later kernel on the same images finds them packed
        blocks = self.rows // form.rows
        self.items = self.batches * groups * blocks
        self.grain = max(1, min(blocks, self.items // 4))

    @property
    def fits(self) -> bool:
        parts = self.batches * self.groups * self.rows * self.k * self.form.lanes * size_of(self.elem)
        return self.lines > 0 and parts <= LARGEST

    def cost(self) -> float:
        """Time in multiply-adds of vectors."""
        form, (d, h, w) = self.form, self.axes
        lanes = form.lanes
        few = current_target().vector_registers < 32
        pixel = max(form.rows * form.taps, 8, (form.rows + form.taps) if few else 0)
        lines = d.count * h.count
        tiles = self.k // form.taps
        products = tiles * lines * (w.count * pixel + 8)
        kept = tiles * d.count * -(-h.count // self.lines) * 2 * form.rows * form.taps
        square = 25 + 5 * lanes
        packed = -(-self.items // self.grain) * self.inner * d.reach * h.reach * -(-w.size // lanes)
        packed += self.items * form.rows * -(-lines * w.count // lanes)
        sums = self.batches * self.groups * self.k * -(-self.count // lanes) * (30 + 6 * lanes)
        return self.items * (products + kept) + packed * square + sums

    def lower(self) -> None:
        c, form, (d, h, w) = self.c, self.form, self.axes
        x, dout = c.ins
        (out,) = c.outs
        parts = c.temp(self.elem, self.batches * self.groups * self.rows * self.k * form.lanes)
        axes: list[Any] = []
        for a in (d, h, w):
            axes += [a.size, a.front, a.dilation, a.kernel, a.stride, a.count, a.reach]
        slots = min(-(-self.items // self.grain), most_slots())
        packed, flags = c.temp(self.elem, slots * self.room), c.temp("i64", slots * WORDS)
        dims = [self.batch, self.groups, self.inner, self.count, self.wide, self.lines, slots, self.room, *axes]
        c.call(batch_outer_function(x.elem, form), [x, dout, parts, packed, flags], dims)
        width = round_up(self.count, lcm(WIDE, form.lanes))
        total = c.temp(self.elem, self.groups * self.k * width)
        dims = [self.batch, self.groups, self.count, self.rows, self.k, self.k, width]
        grain = grain_of(self.batches * form.lanes * form.lanes)
        c.call(batch_sums_function(self.elem, form.lanes), [parts, total], [*dims, grain])
        f = finish_function(self.elem, c.sink)
        extra = [] if c.sink.joins(len(out.shape) - 1) else list(out.shape[1:])
        dims = [self.batch, self.groups, self.count, self.k, self.k, width, grain_of(8 * self.k), *extra]
        c.call(f, [total, *c.sink.buffers], [*dims, *c.sink.dims])


def batch_weight_grad(c: Lowering, axes: list[Axis], groups: int, inner: Any, count: Any, tile: Tile) -> Any:
    """The gradient with images as lanes, if that is faster than with channels as lanes (in tiles like ``tile``)."""
    sizes = [c.ins[0].shape[0], inner, count, *[n for a in axes for n in (a.size, a.count)]]
    elem, target = compute_elem(c.ins[0].elem), current_target()
    if elem not in FLOATS or not all(isinstance(n, int) and n > 0 for n in sizes):
        return None
    if (inner, count) == (1, 1) and groups > 1:
        return None
    lanes, w = target.lanes(size_of(elem)), axes[2]
    if lanes < 2 or not 2 <= w.kernel <= 8:
        return None
    room = (26 if target.vector_registers >= 32 else 12) // w.kernel
    made = [
        BatchWeightGrad(c, axes, groups, inner, count, BatchOuter(rows, w.kernel, w.dilation, w.stride, lanes))
        for rows in range(1, min(room, count) + 1)
    ]
    priced = [(one.cost(), i) for i, one in enumerate(made) if one.fits]
    if not priced:
        return None
    cost, best = min(priced)
    # estimates are good to a tenth with many registers; with few, they make channels as lanes look better than they are
    enough = 0.97 if target.vector_registers >= 32 else 1.1
    return made[best] if cost < enough * channel_cost(made[best], tile) else None


def channel_cost(one: BatchWeightGrad, tile: Tile) -> float:
    """Time with channels as lanes, in multiply-adds of vectors."""
    d, h, w = one.axes
    pixels = one.batch * one.groups * d.count * h.count * w.count
    lanes = one.form.lanes
    columns = -(-one.count // (tile.vectors * tile.lanes))
    step = max(tile.rows * tile.vectors * tile.lanes / lanes, (tile.rows + tile.vectors) * 0.6) + 0.4
    width = columns * tile.vectors * tile.lanes
    copied = pixels * round_up(width, WIDE) + one.batch * one.groups * one.inner * d.size * h.size * w.size
    # channels one behind the other at the same places of a page share sets of the cache
    copy = 20 if d.count * h.count * w.count * size_of(one.elem) % 4096 == 0 else 7
    return pixels * -(-one.k // tile.rows) * columns * step + copied * copy / lanes
