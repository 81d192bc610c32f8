"""Convolution and its two gradients (`duograph.lower.conv` says what they mean and how they work)."""

from __future__ import annotations

from math import prod
from typing import Any

from duograph.core.dim import definitely_le

from ..conv.correlate import Tile, correlate_function
from ..conv.geometry import Axis, Padded, Taps, backward_taps, choose_tile, forward_taps, merged, padded_row, three_axes
from ..conv.outer import finish_function, outer_function
from ..conv.pack import TOGETHER, pack_function, pack_rows_function, table_function
from ..conv.pad import WIDE, channel_last_function, interleave_function, pad_function
from ..conv.parts import compute_elem, round_up, size_of
from ..lowering import Lowering, Memory, Operand, Temporary
from ..rule import kernel
from ..target import current_target

SLACK = 64
"""Elements behind a padded image that the last vector may read."""


@kernel("conv", sinks=True)
def conv(c: Lowering) -> None:
    _real(c)
    x, w = c.ins
    (out,) = c.outs
    groups = c.attrs["groups"]
    axes = three_axes(x.shape[2:], w.shape[2:], out.shape[2:], c.attrs)
    if c.sink.joins(len(out.shape) - 2):
        axes = merged(axes) or axes
    inner, count, taps = w.shape[1], w.shape[0] // groups, prod(w.shape[2:])
    extents = [(a.count - 1) * a.stride + (a.kernel - 1) * a.dilation + 1 for a in axes]
    phases = axes[2].stride
    image = Padded(extents[0], extents[1], padded_row(extents[2], phases), phases, tuple([a.front for a in axes]))  # type: ignore[arg-type]
    _Correlation(
        c, x, w, axes, image, [forward_taps(a) for a in axes], [a.stride for a in axes], groups, inner, count,
        strides=(count * inner * taps, inner * taps, taps),
    ).lower()  # fmt: skip


@kernel("conv_input_grad", sinks=True)
def conv_input_grad(c: Lowering) -> None:
    _real(c)
    dout, w = c.ins
    (out,) = c.outs
    groups = c.attrs["groups"]
    axes = three_axes(out.shape[2:], w.shape[2:], dout.shape[2:], c.attrs)
    if c.sink.joins(len(out.shape) - 2):
        axes = merged(axes) or axes
    count, inner, taps = w.shape[1], w.shape[0] // groups, prod(w.shape[2:])
    phases, fronts, extents = zip(*[backward_taps(a) for a in axes], strict=True)
    image = Padded(extents[0], extents[1], padded_row(extents[2], 1), 1, fronts)
    source = [Axis(a.count, a.kernel, a.size) for a in axes]
    _Correlation(
        c, dout, w, source, image, list(phases), [1, 1, 1], groups, inner, count,
        strides=(inner * count * taps, taps, count * taps),
    ).lower()  # fmt: skip


def _real(c: Lowering) -> None:
    if c.outs[0].is_complex:
        raise NotImplementedError(f"{c.op.name} of complex numbers has no native kernel")


class _Correlation:
    """Forward convolution and gradient in the input: padded copy, packed weights, one `correlate` per phase.

    Args:
        x: what is read, with spatial extents ``axes[i].size``.
        phases: per axis.
        steps: per axis, how far apart in the padded copy the windows of neighbouring outputs are.
        inner: channels of a group that are summed over; ``count``: channels of a group of the result.
        strides: of the weight by group, by result channel, by inner channel.
    """

    def __init__(
        self, c: Lowering, x: Operand, w: Operand, axes: list[Axis], image: Padded, phases: list[list[Taps]],
        steps: list[int], groups: int, inner: Any, count: Any, strides: tuple[Any, Any, Any],
    ) -> None:  # fmt: skip
        self.c, self.x, self.w, self.axes, self.image, self.phases = c, x, w, axes, image, phases
        self.steps, self.groups, self.inner, self.count, self.strides = steps, groups, inner, count, strides
        self.elem = compute_elem(x.elem)
        self.target = current_target()

    def lower(self) -> None:
        c, (out,) = self.c, self.c.outs
        split = len(self.phases[2])
        target = c.sink
        if split > 1:
            plane = [1] * (5 - len(out.shape)) + list(out.shape[2:])
            length = round_up((plane[2] + split - 1) // split, WIDE)
            parts = c.temp(self.elem, out.shape[0] * out.shape[1] * plane[0] * plane[1] * split * length + SLACK)
            target = _PhaseSink(parts, [out.shape[1], plane[0], plane[1], split * length])
        padded = self.padded()
        for d in self.phases[0]:
            for h in self.phases[1]:
                for w in self.phases[2]:
                    if split > 1:
                        target.start = w.first * length
                    self.phase(padded, d, h, w, target)
        if split > 1:
            f = interleave_function(self.elem, len(out.shape) - 2, c.sink, split if split == 2 else 0)
            dims = [out.shape[0], out.shape[1], *plane, split, length, grain_of(plane[0] * plane[1] * plane[2])]
            c.call(f, [parts, *c.sink.buffers], [*dims, *c.sink.dims])

    def padded(self) -> Memory:
        """The image with a border, or the operand itself where it can be read as it is."""
        c, image, x = self.c, self.image, self.x
        self.channel: Any = image.channel
        sizes = [a.size for a in self.axes]
        plain = x.elem == self.elem and image.phases == 1 and image.fronts == (0, 0, 0)
        if plain and [image.d, image.h] == sizes[:2] and self._ends_with_rows():
            self.image = _Plain(sizes)  # type: ignore[assignment]
            self.channel = sizes[0] * sizes[1] * sizes[2]
            return x
        return pad(c, x, image, sizes)

    def _ends_with_rows(self) -> bool:
        """Whether vectors end where rows end, so that nothing is read behind the image."""
        size = self.axes[2].size
        for taps in self.phases[2]:
            if not isinstance(taps.outputs, int) or not isinstance(size, int) or taps.outputs % self.tile(taps).run:
                return False
            if size < taps.start + (taps.count - 1) * taps.dilation + taps.outputs:
                return False
        return True

    def tile(self, w: Taps) -> Tile:
        lines = self.phases[0][0].outputs * self.phases[1][0].outputs
        return choose_tile(self.target, size_of(self.elem), self.count, w.outputs, lines)

    def phase(self, padded: Memory, d: Taps, h: Taps, w: Taps, sink: Any) -> None:
        c, image = self.c, self.image
        tile = self.tile(w)
        counts = [d.count, h.count, w.count]
        k = self.inner * prod(counts)
        table = c.temp("i64", k + 1)
        steps = [d.dilation * image.step_d, h.dilation * image.step_h, w.dilation]
        c.call(table_function(), [table], [self.inner, *counts, k, self.channel, *steps, image.phases, image.row])
        packed = self.packed(d, h, w, tile, k)
        batch = self.x.shape[0]
        rank = len(c.outs[0].shape) - 2
        f = correlate_function(self.elem, tile, rank, sink)
        base = d.start * image.step_d + h.start * image.step_h + w.start
        step_d, step_h = self.steps[0] * image.step_d, self.steps[1] * image.step_h
        group = self.inner * self.channel
        splits, run = self.schedule(batch, d.outputs * h.outputs, w.outputs, tile, k)
        dims = [
            batch, self.groups, self.groups * group, group, base, step_d, step_h,
            d.outputs, h.outputs, w.outputs, d.step, d.first, h.step, h.first, k, self.count, splits, run, 1,
        ]  # fmt: skip
        c.call(f, [padded, packed, table, *sink.buffers], [*dims, *sink.dims])

    def packed(self, d: Taps, h: Taps, w: Taps, tile: Tile, k: Any) -> Temporary:
        c, kernel_ = self.c, [a.kernel for a in self.axes]
        packed = c.temp(self.elem, self.groups * round_up(self.count, tile.rows) * k)
        by = (kernel_[1] * kernel_[2], kernel_[2], 1)
        by_group, by_row, by_channel = self.strides
        if by_row == k and (d.weight_step, d.count, h.count, w.count) == (1, *kernel_):  # a row is one run of all k
            grain = grain_of(k * tile.rows)
            c.call(pack_rows_function(self.w.elem, tile.rows), [self.w, packed], [self.groups, self.count, k, grain])
            return packed
        base = d.weight * by[0] + h.weight * by[1] + w.weight
        by_tap = [t.weight_step * stride for t, stride in zip((d, h, w), by, strict=True)]
        sizes = [self.groups, self.count, self.inner, d.count, h.count, w.count]
        grain = grain_of(k * tile.rows * TOGETHER)
        c.call(
            pack_function(self.w.elem, tile.rows),
            [self.w, packed],
            [*sizes, base, by_group, by_row, by_channel, *by_tap, grain],
        )
        return packed

    def schedule(self, batch: Any, rows: Any, width: Any, tile: Tile, k: Any) -> tuple[int, int]:
        """Parts of the output channels, and tiles per item: items of at least some microseconds, and enough of them."""
        numbers = (batch if isinstance(batch, int) else 8, rows, width, self.count, k)
        if not all(isinstance(n, int) for n in numbers):
            return 1, 4
        n, rows, width, count, k = numbers
        tiles = -(-rows * -(-width // tile.run) // (tile.vectors * tile.pieces))
        blocks = max(1, -(-count // tile.rows))
        work = max(1, k) * tile.rows * tile.vectors * tile.lanes / 30  # nanoseconds of one block of a tile
        run = max(1, min(tiles, round(10_000 / (work * blocks))))
        items = n * self.groups * -(-tiles // run)
        splits = 1
        while items * splits < 16 and splits * 2 <= blocks and work * blocks * run / splits > 10_000:
            splits *= 2
        return splits, run


@kernel("conv_weight_grad", sinks=True)
def conv_weight_grad(c: Lowering) -> None:
    _real(c)
    x, dout = c.ins
    (out,) = c.outs
    groups, elem = c.attrs["groups"], compute_elem(x.elem)
    axes = three_axes(x.shape[2:], out.shape[2:], dout.shape[2:], c.attrs)
    axes = merged(axes) or axes
    inner, count = out.shape[1], out.shape[0] // groups
    extents = [(a.count - 1) * a.stride + (a.kernel - 1) * a.dilation + 1 for a in axes]
    sizes, fronts = [a.size for a in axes], tuple([a.front for a in axes])
    image: Any = Padded(extents[0], extents[1], padded_row(extents[2], 1), 1, fronts)  # type: ignore[arg-type]
    channel: Any = image.channel
    padded: Memory
    if x.elem == elem and fronts == (0, 0, 0) and all(definitely_le(n, m) for n, m in zip(extents, sizes, strict=True)):
        image, padded, channel = _Plain(sizes), x, sizes[0] * sizes[1] * sizes[2]
    else:
        padded = pad(c, x, image, sizes)
    batch, pixels = x.shape[0], axes[0].count * axes[1].count * axes[2].count
    taps = prod(a.kernel for a in axes)
    depthwise = (inner, count) == (1, 1) and groups > 1
    rows, steps = count, (image.step_d, image.step_h, 1)
    if depthwise:  # all groups side by side, in lanes
        rows, groups = groups, 1
    k = inner * taps
    tile = weight_tile(size_of(elem), k, rows)
    width = round_up(rows, max(WIDE, tile.vectors * tile.lanes))
    if depthwise:
        padded = turned(c, padded, batch, rows, channel, width)
        steps = tuple([s * width for s in steps])
        image_size = group_size = round_up(channel, WIDE) * width
    else:
        image_size, group_size = groups * inner * channel, inner * channel
    k_padded = round_up(k, tile.rows)
    table = c.temp("i64", k_padded)
    by_tap = [a.dilation * s for a, s in zip(axes, steps, strict=True)]
    # one phase: the length of a row does not matter
    c.call(table_function(), [table], [inner, *[a.kernel for a in axes], k_padded, channel, *by_tap, 1, 0])
    last = turned(c, dout, batch * groups, rows, pixels, width)
    total = c.temp(elem, groups * k_padded * width)
    strides = [a.stride * s for a, s in zip(axes, steps, strict=True)]
    k_tiles, columns = k_padded // tile.rows, width // (tile.vectors * tile.lanes)
    items = groups * k_tiles * columns
    grain = max(1, items // 16) if isinstance(items, int) else 4
    dims = [
        batch, groups, image_size, group_size, *strides, *[a.count for a in axes],
        round_up(pixels, WIDE) * width, width, k_tiles, columns, grain,
    ]  # fmt: skip
    c.call(outer_function(elem, tile, depthwise), [padded, last, table, total], dims)
    f = finish_function(elem, c.sink)
    extra = [] if c.sink.joins(len(out.shape) - 1) else list(out.shape[1:])
    dims = [batch, groups, rows, k, k_padded, width, grain_of(8 * k), *extra]
    c.call(f, [total, *c.sink.buffers], [*dims, *c.sink.dims])


def turned(c: Lowering, x: Any, lead: Any, rows: Any, pixels: Any, width: Any) -> Temporary:
    """A call that puts the channels last: (lead, rows, pixels) into (lead, pixels, width)."""
    out = c.temp(compute_elem(x.elem), lead * round_up(pixels, WIDE) * width)
    c.call(channel_last_function(x.elem), [x, out], [lead, rows, pixels, width, grain_of(pixels * WIDE)])
    return out


def weight_tile(itemsize: int, k: Any, count: Any) -> Tile:
    """Rows (of k) x vectors (of output channels) for the gradient in the weight."""
    target = current_target()
    lanes = max(1, target.lanes(itemsize))
    if not isinstance(count, int) or not isinstance(k, int):
        return Tile(6, 2, lanes)
    while lanes > 4 and count <= lanes // 2:
        lanes //= 2
    room = 24 if target.vector_registers >= 32 else 12
    best = None
    for vectors in (4, 3, 2, 1):
        for rows in range(1, min(14, room // vectors) + 1):
            waste = (
                -(-k // rows) * rows / max(k, 1) * (-(-count // (vectors * lanes)) * vectors * lanes) / max(count, 1)
            )
            depth = max(1.0, 8 / (rows * vectors))  # too few chains wait for each other
            cost = waste * depth * (1 + 0.3 * (rows + vectors) / (rows * vectors))
            if best is None or cost < best[0]:
                best = cost, Tile(rows, vectors, lanes)
    assert best is not None
    return best[1]


def pad(c: Lowering, x: Operand, image: Padded, sizes: list[Any]) -> Temporary:
    """A call that copies ``x`` into a zero-bordered buffer."""
    lead = x.shape[0] * x.shape[1]
    out = c.temp(compute_elem(x.elem), lead * image.channel + SLACK)
    step = image.phases if image.phases <= 2 else 0
    phases = [image.phases] if step == 0 else []
    dims = [lead, *sizes, image.d, image.h, image.row, *phases, *image.fronts, image.channel]
    c.call(pad_function(x.elem, step), [x, out], [*dims, grain_of(image.h * image.step_h)])
    return out


def grain_of(elements: Any, wanted: int = 16384) -> int:
    """How many pieces of ``elements`` elements make a chunk that is worth a thread."""
    return max(1, wanted // max(1, elements)) if isinstance(elements, int) else 4


class _Plain:
    """An image that is read where it is."""

    phases, fronts = 1, (0, 0, 0)

    def __init__(self, sizes: list[Any]) -> None:
        self.row = self.step_h = sizes[2]
        self.step_d = sizes[1] * sizes[2]


class _PhaseSink:
    """Stores rows of one stride phase (float32 or float64) where `interleave` finds them."""

    def __init__(self, out: Temporary, extents: list[Any]) -> None:
        self.buffers, self.extents, self.start = [out], extents, 0
        self.elem, self.out, self.can_mask = out.elem, out, True

    @property
    def key(self) -> str:
        return f"phase:{self.elem}"

    @property
    def dims(self) -> list[Any]:
        return [*self.extents, self.start]

    def declare(self, b: Any) -> None:
        self.buffer = b.buffer("phases", self.elem)
        self.values = [b.dim(name) for name in ("channels", "rows_d", "rows_h", "row_length", "start")]

    def store(self, b: Any, coords: Any, value: Any, mask: Any = None) -> None:
        n, c, *middle, column = coords
        d, h = [b.const(0)] * (2 - len(middle)) + middle
        channels, rows_d, rows_h, length, start = self.values
        row = ((n * channels + c) * rows_d + d) * rows_h + h
        b.store(self.buffer, row * length + start + column, value, mask)
