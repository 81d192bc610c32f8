"""What `conv` and `conv_input_grad` call: padded copy, packed weights, one `correlate` per stride phase."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from duograph.lower.conv.batch.correlation import batch_tile, lower_in_batch
from duograph.lower.conv.winograd.forward import lower_winograd, suits

from ..lowering import Lowering, Memory, Operand, Temporary
from ..target import current_target
from .correlate import Tile, correlate_function
from .depthwise import DepthwiseForm, depthwise_function
from .geometry import (
    Axis,
    Padded,
    Taps,
    backward_taps,
    choose_tile,
    depthwise_form,
    forward_taps,
    merged,
    padded_row,
    three_axes,
)
from .images import SLACK, Plain, grain_of, pad
from .pack import TOGETHER, pack_function, pack_rows_function, table_function
from .pad import WIDE, interleave_function
from .parts import compute_elem, round_up, size_of

MOST_TAPS = 25
"""The depthwise kernel is unrolled; larger ones are left to the general kernel."""


def lower_conv(c: Lowering) -> None:
    """Forward convolution."""
    x, w = c.ins
    (out,) = c.outs
    groups = c.attrs["groups"]
    axes = three_axes(x.shape[2:], w.shape[2:], out.shape[2:], c.attrs)
    if c.sink.joins(len(out.shape) - 2):
        axes = merged(axes) or axes
    inner, count, taps = w.shape[1], w.shape[0] // groups, prod(w.shape[2:])
    extents = [a.reach for a in axes]
    phases = axes[2].stride
    image = Padded(extents[0], extents[1], padded_row(extents[2], phases), phases, tuple([a.front for a in axes]))  # type: ignore[arg-type]
    Correlation(
        c, x, w, axes, image, [forward_taps(a) for a in axes], [a.stride for a in axes], groups, inner, count,
        strides=(count * inner * taps, inner * taps, taps),
    ).lower()  # fmt: skip


def lower_input_grad(c: Lowering) -> None:
    """Gradient in the input, transposed convolution."""
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
    Correlation(
        c, dout, w, source, image, list(phases), [1, 1, 1], groups, inner, count,
        strides=(inner * count * taps, taps, count * taps),
    ).lower()  # fmt: skip


class Correlation:
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
        self.depthwise = self.depthwise_form()

    def lower(self) -> None:
        if suits(self.elem, self.inner, self.count, self.w.shape[2:], self.c.attrs):
            lower_winograd(self)
            return
        if (tile := batch_tile(self)) is not None:
            lower_in_batch(self, tile)
            return
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
        sizes = [a.size for a in self.axes]
        plain = x.elem == self.elem and image.phases == 1 and image.fronts == (0, 0, 0)
        if plain and [image.d, image.h] == sizes[:2] and self._ends_with_rows():
            self.image = Plain(sizes)  # type: ignore[assignment]
            return x
        return pad(c, x, image, sizes)

    def _ends_with_rows(self) -> bool:
        """Whether vectors end where rows end, so that nothing is read behind the image."""
        size = self.axes[2].size
        for taps in self.phases[2]:
            lanes = self.depthwise.lanes if self.depthwise else self.tile(taps).run
            if not isinstance(taps.outputs, int) or not isinstance(size, int) or taps.outputs % lanes:
                return False
            if size < taps.start + (taps.count - 1) * taps.dilation + taps.outputs:
                return False
        return True

    def tile(self, w: Taps) -> Tile:
        lines = self.phases[0][0].outputs * self.phases[1][0].outputs
        k = self.inner * self.phases[0][0].count * self.phases[1][0].count * w.count
        return choose_tile(self.target, size_of(self.elem), self.count, w.outputs, lines, k)

    def phase(self, padded: Memory, d: Taps, h: Taps, w: Taps, sink: Any) -> None:
        c, image = self.c, self.image
        if self.depthwise:
            self.phase_depthwise(padded, h, w, sink)
            return
        tile = self.tile(w)
        counts = [d.count, h.count, w.count]
        k = self.inner * prod(counts)
        table = c.temp("i64", k + 1)
        steps = [d.dilation * image.step_d, h.dilation * image.step_h, w.dilation]
        c.call(table_function(), [table], [self.inner, *counts, k, image.channel, *steps, image.phases, image.row])
        packed = self.packed(d, h, w, tile, k)
        batch = self.x.shape[0]
        rank = len(c.outs[0].shape) - 2
        f = correlate_function(self.elem, tile, rank, sink)
        base = d.start * image.step_d + h.start * image.step_h + w.start
        step_d, step_h = self.steps[0] * image.step_d, self.steps[1] * image.step_h
        group = self.inner * image.channel
        splits, run = self.schedule(batch, d.outputs * h.outputs, w.outputs, tile, k)
        dims = [
            batch, self.groups, self.groups * group, group, base, step_d, step_h,
            d.outputs, h.outputs, w.outputs, d.step, d.first, h.step, h.first, k, self.count, splits, run, 1,
        ]  # fmt: skip
        c.call(f, [padded, packed, table, *sink.buffers], [*dims, *sink.dims])

    def depthwise_form(self) -> DepthwiseForm | None:
        """The form of the depthwise kernel, where that can do it."""
        if (self.inner, self.count) != (1, 1) or any(len(phases) > 1 for phases in self.phases):
            return None
        (d,), (h,), (w,) = self.phases
        flat = d.outputs == 1 and d.count == 1 and len(self.c.outs[0].shape) < 5
        if not flat or h.dilation != 1 or w.dilation != 1 or not 0 < h.count * w.count <= MOST_TAPS:
            return None
        if not isinstance(h.outputs, int) or h.outputs < 1:
            return None
        return depthwise_form(self.target, size_of(self.elem), (h, w), (self.steps[1], self.steps[2]))

    def phase_depthwise(self, padded: Memory, h: Taps, w: Taps, sink: Any) -> None:
        c, image, form = self.c, self.image, self.depthwise
        assert form is not None
        f = depthwise_function(self.elem, form, len(c.outs[0].shape) - 2, sink)
        width = self.axes[2].kernel
        dims = [
            self.x.shape[0], self.groups, self.groups * image.channel, image.channel, h.start * image.step_h + w.start,
            image.step_h, image.row, h.outputs, w.outputs, h.weight * width + w.weight, self.strides[0],
            h.weight_step * width, w.weight_step, grain_of(h.outputs * w.outputs * h.count * w.count // 8),
        ]  # fmt: skip
        c.call(f, [padded, self.w, *sink.buffers], [*dims, *sink.dims])

    def packed(self, d: Taps, h: Taps, w: Taps, tile: Tile, k: Any) -> Temporary:
        """The weights of a phase, ``tile.rows`` channels of the result side by side."""
        c, kernel = self.c, [a.kernel for a in self.axes]
        packed = c.temp(self.elem, self.groups * round_up(self.count, tile.rows) * k)
        in_order = (d.weight_step, d.count, h.count, w.count) == (1, *kernel)
        if in_order and self.strides[1] == k:  # a row is one run of all k
            grain = grain_of(k * tile.rows)
            c.call(pack_rows_function(self.w.elem, tile.rows), [self.w, packed], [self.groups, self.count, k, grain])
            return packed
        dims = [*self.weight_walk((d, h, w)), grain_of(k * tile.rows * TOGETHER)]
        c.call(pack_function(self.w.elem, tile.rows), [self.w, packed], dims)
        return packed

    def weight_walk(self, taps: Sequence[Taps]) -> list[Any]:
        """What kernels that pack weights are told of them: extents, where the first is, and strides."""
        kernel = [a.kernel for a in self.axes]
        by = (kernel[1] * kernel[2], kernel[2], 1)
        base = sum(t.weight * stride for t, stride in zip(taps, by, strict=True))
        by_tap = [t.weight_step * stride for t, stride in zip(taps, by, strict=True)]
        return [self.groups, self.count, self.inner, *[t.count for t in taps], base, *self.strides, *by_tap]

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
