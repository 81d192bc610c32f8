"""The micro-kernel of `conv` and `conv_input_grad` with images as lanes, for small images in batches.

A tile is ``rows`` output channels x ``pixels`` neighbouring outputs of a row, for as many images as a vector has lanes.
Loops over (channel, taps along d, h, w): one load per pixel, one broadcast per channel of the weight. No lane is lost
to short rows, and taps that fall into the padding are left out if the weights are finite: ``fma(w, 0, acc)`` is ``acc``
then, but for the sign of a zero, which results do not have (see the package).

Who computes some rows of results first packs the rows of the images that they need, images last, into scratch memory
of its thread, which stays in its cache. Rows of a tile wait there too until they are as long as a vector; then lanes
become pixels again, and the sink takes over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.lower.conv.parts import below, built_once, multiply_add, size_of, split, unsigned_zero, zeros
from duograph.lower.conv.slots import parallel_in_slots
from duograph.lower.lanes import transposed
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Function
from duograph.lower.target import current_target

from .pack import blank, image_views, pack_row

SEGMENT = 32
"""Outputs of a row that are computed before they are stored."""

NEAR = 512 << 10
"""Most bytes of packed rows that a thread holds."""


@dataclass(frozen=True)
class BatchTile:
    """``rows`` channels x ``pixels`` outputs x ``lanes`` images."""

    rows: int
    pixels: int
    lanes: int


AXIS = ("size", "start", "dilation", "taps", "step", "outputs")
"""Of an axis: elements, where tap 0 of output 0 lies (in the padding if that is negative), and what `Taps` says."""

DIMS = (
    "batch", "groups", "inner", "count", "lines", "front", "wide", "slots", "room",
    *[f"{name}_{axis}" for axis in "dhw" for name in AXIS],
)  # fmt: skip


@built_once
def batch_correlate_function(elem: str, source: str, tile: BatchTile, step: int, rank: int, sink: Any) -> Function:
    """Buffers: images of type ``source``, packed weights, whether they are finite, packed rows and flags of slots, and
    the sink's.

    Dims: `DIMS` and the sink's. ``lines``: rows of results that are computed together; ``front``, ``wide``: zeros in
    front of a packed row and its length, where the padding takes part; ``room``: elements of packed rows in a slot.
    ``step``: that of windows along w.
    """
    return _BatchCorrelate(elem, source, tile, step, rank, sink).build()


@dataclass
class _Rows:
    """Packed rows: planes ``first_d...`` of rows ``first_h...`` of ``width`` places; ``front`` zeros in each."""

    first_d: Any
    first_h: Any
    depth: Any
    height: Any
    width: Any
    front: Any
    spare: Any
    skips: Any


class _BatchCorrelate:
    def __init__(self, elem: str, source: str, tile: BatchTile, step: int, rank: int, sink: Any) -> None:
        self.b = b = Builder("conv_batch")
        self.elem, self.tile, self.step, self.rank, self.sink = elem, tile, step, rank, sink
        self.x, self.weights, self.finite = b.buffer("x", source), b.buffer("weights", elem), b.buffer("finite", "i64")
        self.packed, self.flags = b.buffer("packed", elem), b.buffer("flags", "i64")
        self.dims = {name: b.dim(name) for name in DIMS}
        sink.declare(b)

    def build(self) -> Function:
        b, d, tile = self.b, self.dims, self.tile
        self.blocks = b.ceil_div(d["count"], tile.rows)
        self.plane = d["size_d"] * d["size_h"] * d["size_w"]
        self.image = d["groups"] * d["inner"] * self.plane
        batches = b.ceil_div(d["batch"], tile.lanes)
        parts = b.ceil_div(d["outputs_h"], d["lines"])
        items = batches * d["groups"] * d["outputs_d"] * parts

        def work(slot: Any, lo: Any, hi: Any) -> None:
            # a tile that ends with the row may begin before the segment, others may end behind it
            self.row_length = (SEGMENT + 2 * tile.pixels) * tile.lanes
            self.near = b.view(self.packed, slot * d["room"] * size_of(self.elem), self.elem)
            self.scratch = b.alloca(self.elem, tile.rows * self.row_length)
            self.square = b.alloca(self.elem, tile.lanes * tile.lanes)
            (finite,) = b.for_(
                0, d["groups"] * self.blocks, 1, lambda i, all: all & b.load(self.finite, i), [b.const(1)]
            )
            self.skips = b.ne(finite, 0)
            b.for_(lo, hi, 1, item)

        def item(index: Any) -> None:
            rest, part = split(b, index, parts)
            rest, depth = split(b, rest, d["outputs_d"])
            batch, g = split(b, rest, d["groups"])
            first = part * d["lines"]
            last = b.min(first + d["lines"], d["outputs_h"])
            rows = self.pack(batch, g, depth, first, last)

            def block(index: Any) -> None:
                b.for_(first, last, 1, lambda row: self.line(batch, g, index, depth, row, rows))

            b.for_(0, self.blocks, 1, block)

        parallel_in_slots(b, self.flags, d["slots"], items, work)
        return b.finish()

    # ---- images --------------------------------------------------------------------------------------------------

    def pack(self, batch: Any, g: Any, depth: Any, first: Any, last: Any) -> _Rows:
        """All rows of the images that rows ``first`` to ``last`` (exclusive) of a plane of results need."""
        b, d, lanes = self.b, self.dims, self.tile.lanes
        edge = self.tile.pixels - 1  # what the pixels of a tile do not need all of
        narrow = d["size_w"] + 2 * edge * self.step
        width, front = b.select(self.skips, narrow, d["wide"]), b.select(self.skips, edge * self.step, d["front"])

        def needed(axis: str, first: Any, last: Any) -> tuple[Any, Any]:
            lo = d[f"start_{axis}"] + first * d[f"step_{axis}"]
            hi = d[f"start_{axis}"] + (last - 1) * d[f"step_{axis}"] + (d[f"taps_{axis}"] - 1) * d[f"dilation_{axis}"]
            lo = b.max(lo, 0)
            return lo, b.max(b.min(hi + 1, d[f"size_{axis}"]), lo)

        (z_lo, z_hi), (y_lo, y_hi) = needed("d", depth, depth + 1), needed("h", first, last)
        count = d["inner"] * (z_hi - z_lo) * (y_hi - y_lo)
        rows = _Rows(z_lo, y_lo, z_hi - z_lo, y_hi - y_lo, width, front, count * width, self.skips)
        there = batch * lanes
        views = image_views(b, self.x, there, self.image, b.min(d["batch"] - there, lanes) - 1, lanes)
        # rows without zeros around are one long row
        flat = b.eq(width, d["size_w"])
        height = y_hi - y_lo
        pieces = b.select(flat, b.min(height, 1), height)
        size = b.select(flat, height, 1) * d["size_w"]
        begin, length = front * lanes, b.select(flat, size, width) * lanes

        def piece(source: Any, goal: Any) -> Any:
            blank(b, self.near, goal, goal + begin, lanes)
            pack_row(b, views, source, size, self.near, goal + begin, goal + length)
            return goal + length

        def plane(source: Any, goal: Any) -> Any:
            return b.for_(0, pieces, 1, lambda i, goal: piece(source + i * d["size_w"], goal), [goal])

        def channel(c: Any, goal: Any) -> Any:
            source = (g * d["inner"] + c) * self.plane + y_lo * d["size_w"]
            by_plane = d["size_h"] * d["size_w"]
            return b.for_(z_lo, z_hi, 1, lambda z, goal: plane(source + z * by_plane, goal), [goal])

        (end,) = b.for_(0, d["inner"], 1, channel, [b.const(0)])
        blank(b, self.near, end, end + width * lanes, lanes)
        return rows

    # ---- sums ----------------------------------------------------------------------------------------------------

    def line(self, batch: Any, g: Any, block: Any, depth: Any, row: Any, rows: _Rows) -> None:
        """One row of results of a block of channels, segment by segment."""
        b, d, tile = self.b, self.dims, self.tile
        panel = g * self.blocks + block
        d_taps, h_taps = self.span("d", depth, depth), self.span("h", row, row)
        width = d["outputs_w"]

        def segment(begin: Any) -> None:
            end = b.min(begin + SEGMENT, width)

            def one(x: Any) -> None:
                x = b.min(x, width - tile.pixels)
                spans = d_taps, h_taps, self.span("w", x, x + (tile.pixels - 1))
                at = (x - begin + tile.pixels) * tile.lanes
                for i, value in enumerate(self.sums(panel, spans, depth, row, x, rows)):
                    place = i // tile.pixels * self.row_length + i % tile.pixels * tile.lanes
                    b.store(self.scratch, at + place, unsigned_zero(b, value))

            b.for_(begin, end, tile.pixels, one)
            channel = block * tile.rows
            some = b.min(d["count"] - channel, tile.rows)
            first = g * d["count"] + channel
            b.for_(0, some, 1, lambda i: self.store(batch, first + i, depth, row, begin, end, i * self.row_length))

        b.for_(0, width, SEGMENT, segment)

    def span(self, axis: str, first: Any, last: Any) -> tuple[Any, Any]:
        """The taps that outputs ``first`` to ``last`` of an axis need."""
        b, d = self.b, self.dims
        start, dilation, taps = (d[f"{name}_{axis}"] for name in ("start", "dilation", "taps"))
        step: Any = self.step if axis == "w" else d[f"step_{axis}"]
        before = b.mul(last, step) + start
        behind = d[f"size_{axis}"] - start - b.mul(first, step)
        lo, hi = (b.min(b.div(b.max(n + (dilation - 1), 0), dilation), taps) for n in (-before, behind))
        return b.select(self.skips, lo, 0), b.select(self.skips, hi, taps)

    def sums(self, panel: Any, spans: Any, depth: Any, row: Any, x: Any, rows: _Rows) -> list[Any]:
        """The chains of one tile."""
        b, d, tile = self.b, self.dims, self.tile
        (d_lo, d_hi), (h_lo, h_hi), (w_lo, w_hi) = spans
        lanes = tile.lanes
        column = rows.front + d["start_w"] + b.mul(x, self.step) + w_lo * d["dilation_w"]
        stride = d["dilation_w"] * lanes
        top = d["start_h"] + row * d["step_h"]
        front = d["start_d"] + depth * d["step_d"]

        def tap(_: Any, at: Any, w_at: Any, *acc: Any) -> Any:
            pixels = [b.load(self.near, at + j * self.step * lanes, lanes) for j in range(tile.pixels)]
            out = []
            for i in range(tile.rows):
                w = b.splat(b.load(self.weights, w_at + i), lanes)
                out += [multiply_add(b, w, pixel, acc[i * tile.pixels + j]) for j, pixel in enumerate(pixels)]
            return (at + stride, w_at + tile.rows, *out)

        def in_row(y: Any, row_at: Any, w_at: Any, other: Any, acc: Any) -> Any:
            exists = other & b.ge(y, 0) & b.lt(y, d["size_h"])
            at = b.select(exists, row_at, rows.spare + column)
            _, _, *acc = b.for_(w_lo, w_hi, 1, tap, [at * lanes, w_at, *acc])
            return (y + d["dilation_h"], row_at + h_stride, w_at + d["taps_w"] * tile.rows, *acc)

        def in_plane(plane: Any, w_at: Any, other: Any, acc: Any) -> Any:
            y = top + h_lo * d["dilation_h"]
            at = plane + (y - rows.first_h) * rows.width + column
            init = [y, at, w_at + (h_lo * d["taps_w"] + w_lo) * tile.rows, *acc]
            _, _, _, *acc = b.for_(h_lo, h_hi, 1, lambda _, y, at, w_at, *acc: in_row(y, at, w_at, other, acc), init)
            return acc

        def in_depth(jd: Any, plane: Any, w_at: Any, *acc: Any) -> Any:
            z = front + jd * d["dilation_d"]
            there = b.ge(z, 0) & b.lt(z, d["size_d"])
            return in_plane(plane + (z - rows.first_d) * rows.height * rows.width, w_at + jd * w_plane, there, acc)

        def in_channel(_: Any, plane: Any, w_at: Any, *acc: Any) -> Any:
            if self.rank < 3:
                acc = in_plane(plane, w_at, b.const(True, "bool"), acc)
            else:
                acc = b.for_(d_lo, d_hi, 1, lambda jd, *acc: in_depth(jd, plane, w_at, *acc), acc)
            return (plane + channel, w_at + w_channel, *acc)

        h_stride = d["dilation_h"] * rows.width
        channel = rows.depth * rows.height * rows.width
        w_plane = d["taps_h"] * d["taps_w"] * tile.rows
        w_channel = d["taps_d"] * w_plane
        nothing = zeros(b, self.elem, lanes)
        init = [b.const(0), panel * d["inner"] * w_channel, *[nothing] * (tile.rows * tile.pixels)]
        _, _, *acc = b.for_(0, d["inner"], 1, in_channel, init)
        return list(acc)

    # ---- results -------------------------------------------------------------------------------------------------

    def store(self, batch: Any, channel: Any, depth: Any, row: Any, begin: Any, end: Any, line: Any) -> None:
        """A segment of a row of one channel, for all images of the batch."""
        b, d, tile, sink = self.b, self.dims, self.tile, self.sink
        lanes, first = tile.lanes, batch * tile.lanes
        images = b.min(d["batch"] - first, lanes)
        has_masks = current_target().has_masks

        def piece(x: Any) -> None:
            at = line + (x - begin + tile.pixels) * lanes
            pixels = [b.load(self.scratch, at + j * lanes, lanes) for j in range(lanes)]
            rows = transposed(b, pixels)
            left = end - x

            def put(i: Any, value: Any, offset: Any = 0, mask: Any = None) -> None:
                value = b.convert(value, sink.out.elem)
                sink.store(b, (first + i, channel, *(depth, row, x + offset)[3 - self.rank :]), value, mask)

            def at_once() -> None:
                mask = below(b, left, lanes) if masks else None
                for i, value in enumerate(rows):
                    put(i, value, mask=mask)

            def one_by_one() -> None:
                for i, value in enumerate(rows):
                    b.store(self.square, i * lanes, value)
                b.if_(
                    b.ge(left, lanes),
                    lambda: b.for_(0, images, 1, lambda i: put(i, b.load(self.square, i * lanes, lanes))) and None,
                    lambda: b.for_(0, images, 1, partly) and None,
                )

            def partly(i: Any) -> None:
                if sink.can_mask and not has_masks and sink.is_brief:
                    in_pieces(i)
                elif sink.can_mask:
                    put(i, b.load(self.square, i * lanes, lanes), mask=below(b, left, lanes))
                else:
                    b.for_(0, left, 1, lambda k: put(i, b.load(self.square, i * lanes + k), k))

            def in_pieces(i: Any) -> None:
                """Vectors of a half, a quarter, ...: narrow machines store masked vectors slowly."""
                offset, n = b.const(0), lanes // 2
                while n:
                    part = n
                    exists = b.ge(left - offset, n)

                    def some(offset: Any = offset, part: int = part) -> None:
                        put(i, b.load(self.square, i * lanes + offset, part), offset)

                    b.if_(exists, some)
                    offset = b.select(exists, offset + n, offset)
                    n //= 2

            if not sink.is_brief:
                one_by_one()
                return
            masks = sink.can_mask and has_masks
            whole = b.eq(images, lanes) if masks else b.eq(images, lanes) & b.ge(left, lanes)
            b.if_(whole, at_once, one_by_one)

        b.for_(begin, end, lanes, piece)
