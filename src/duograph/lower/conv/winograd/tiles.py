"""Winograd's algorithm for a block of tiles: transformed, multiplied and transformed back in the cache of a thread.

What is done along rows of the image goes by segments (`winograd.segments`). Between the transforms tiles are just
columns of a matrix, so narrow images waste no multiplications.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from duograph.lower.conv.parts import below, built_once, split, zeros
from duograph.lower.conv.slots import parallel_in_slots
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Function, Value

from .repair import not_finite, repair_function
from .segments import (
    AT,
    COLUMN,
    FIELDS,
    IMAGE,
    LANES,
    LENGTH,
    ROW,
    WHOLE,
    find_segments,
    plane_of,
    see_function,
)
from .weights import weights_function

GAP = 16
"""Elements between positions in the scratch memory, since segments are stored as whole vectors."""


@dataclass(frozen=True)
class Form:
    """Tiles of a block; the micro-kernel has ``rows`` channels x ``vectors`` vectors of ``lanes`` tiles.

    ``segment``: tiles of a segment at most. ``fresh``: weights are transformed again for each block of tiles, just
    before they are used.
    """

    tiles: int
    rows: int
    vectors: int
    lanes: int
    segment: int = LANES
    fresh: bool = False


def output_transform(m: list[Any]) -> list[Any]:
    """A^T m."""
    return [(m[0] + m[1]) + m[2], (m[1] - m[2]) - m[3]]


def multiply_function(form: Form) -> Function:
    """M = U V at each of the 16 positions, for some blocks of channels.

    Buffers: weights, what the tiles see, result (16, blocks * rows, tiles). Dims: channels, blocks, elements from
    position to position of the weights and of the result, tiles that there are.
    """
    return _multiply(replace(form, segment=LANES, fresh=False))


@built_once
def _multiply(form: Form) -> Function:
    b = Builder("winograd_multiply")
    weights, seen, out = (b.buffer(name, "f32") for name in ("weights", "seen", "made"))
    channels, blocks, weight_step, out_step, count = (
        b.dim(name) for name in ("channels", "blocks", "by_weight", "by_out", "count")
    )
    rows, vectors, lanes, tiles = form.rows, form.vectors, form.lanes, form.tiles
    width = vectors * lanes
    assert tiles % width == 0

    def block(ob: Any, position: Any, column: Any) -> None:
        w = b.view(weights, (position * weight_step + ob * channels * rows) * 4, "f32")
        v = b.view(seen, (position * (channels * tiles + GAP) + column) * 4, "f32")

        def step(_: Any, at: Any, place: Any, *acc: Any) -> Any:
            columns = [b.load(v, place + j * lanes, lanes) for j in range(vectors)]
            made = []
            for i in range(rows):
                row = b.splat(b.load(w, at + i), lanes)
                made += [b.fma(row, columns[j], acc[i * vectors + j]) for j in range(vectors)]
            return at + rows, place + tiles, *made

        init = [b.const(0), b.const(0), *[zeros(b, "f32", lanes)] * (rows * vectors)]
        _, _, *acc = b.for_(0, channels, 1, step, init)
        goal = position * out_step + ob * (rows * tiles) + column
        for i in range(rows):
            for j in range(vectors):
                b.store(out, goal + i * tiles + j * lanes, acc[i * vectors + j])

    def position(p: Any) -> None:
        def column(at: Any) -> None:
            b.for_(0, blocks, 1, lambda ob: block(ob, p, at))

        b.for_(0, count, width, column)

    b.for_(0, 16, 1, position)
    return b.finish()


DIMS = (
    "batch", "groups", "image", "group", "channel", "step", "high", "wide",  # the image: elements, extents
    "oh", "ow", "row", "column",  # the result; what its first element sees first
    "channels", "count", "blocks", "together", "splits", "parts", "share",
)  # fmt: skip


@built_once
def tiles_function(form: Form, sink: Any) -> Function:
    """Buffers: image, transformed and packed weights, scratch memory, its flags, the sink's. Dims: also the sink's."""
    return _Tiles(form, sink).build()


class _Tiles:
    def __init__(self, form: Form, sink: Any) -> None:
        self.b = b = Builder("winograd")
        self.form, self.sink = form, sink
        self.x, self.weights, self.packed, self.scratch = (
            b.buffer(name, "f32") for name in ("image", "weights", "packed", "scratch")
        )
        self.flags = b.buffer("flags", "i64")
        self.d = {name: b.dim(name) for name in DIMS}
        sink.declare(b)

    def build(self) -> Function:
        b, d, form = self.b, self.d, self.form
        self.plane = plane_of(b, d)
        tile_blocks = b.ceil_div(self.plane.total, form.tiles)
        items = d["groups"] * tile_blocks * d["splits"]

        def work(slot: Value, lo: Any, hi: Any) -> None:
            self.segments, self.limits = b.alloca("i64", form.tiles * FIELDS), b.alloca("i32", form.tiles * FIELDS)
            self.spread, self.fixed = b.alloca("f32", 4 * LANES), b.alloca("f32", LANES)

            def item(index: Any) -> None:
                rest, part = split(b, index, d["splits"])
                self.item(*split(b, rest, tile_blocks), part)

            self.seen = b.view(self.scratch, slot * d["share"] * 4, "f32")
            self.made = b.view(self.seen, (d["channels"] * form.tiles + GAP) * (16 * 4), "f32")
            self.own = b.view(self.made, (d["together"] * (form.rows * form.tiles) + GAP) * (16 * 4), "f32")
            b.for_(lo, hi, 1, item)

        parallel_in_slots(b, self.flags, d["parts"], items, work)
        return b.finish()

    def item(self, g: Any, block: Any, part: Any) -> None:
        """A block of tiles of one group, for a part of the output channels."""
        b, d, form = self.b, self.d, self.form
        start = block * form.tiles
        count = find_segments(
            b, self.plane, g * d["group"], start, form.tiles, form.segment, self.segments, self.limits
        )
        see = [d["channels"], d["channel"], d["step"], count, d["channels"] * form.tiles + GAP]
        b.call(see_function(form.tiles, form.segment), [self.x, self.segments, self.limits, self.seen], see)
        tiles = b.min(self.plane.total - start, form.tiles)
        share = b.ceil_div(d["blocks"], d["splits"])
        low = part * share
        high = b.min(low + share, d["blocks"])
        b.for_(low, high, d["together"], lambda ob: self.channels(g, ob, high, count, tiles))

    def channels(self, g: Any, ob: Any, high: Any, count: Any, tiles: Any) -> None:
        """Some blocks of output channels from ``ob`` on, before ``high``."""
        b, d, form = self.b, self.d, self.form
        run = d["channels"] * form.rows
        by_position = d["blocks"] * run
        between = d["together"] * (form.rows * form.tiles) + GAP
        blocks = b.min(high - ob, d["together"])
        if form.fresh:
            packed = b.view(self.packed, (g * d["blocks"] + ob) * run * (9 * 4), "f32")
            by_position = blocks * run
            b.call(weights_function(form.rows), [packed, self.own], [1, blocks, d["channels"], blocks])
            weights = self.own
        else:
            weights = b.view(self.weights, (g * 16 * by_position + ob * run) * 4, "f32")
        dims = [d["channels"], blocks, by_position, between, tiles]
        b.call(multiply_function(form), [weights, self.seen, self.made], dims)
        first = ob * form.rows
        rows = b.min(d["count"] - first, blocks * form.rows)

        def row(i: Any) -> None:
            b.for_(0, count * FIELDS, FIELDS, lambda s: self.finish(g, first + i, s, i, between))

        b.for_(0, rows, 1, row)

    def finish(self, g: Any, channel: Any, s: Any, i: Any, between: Any) -> None:
        """The results of a segment in one channel, which is row ``i`` of what was multiplied."""
        b, d, form, sink = self.b, self.d, self.form, self.sink
        at, n, row, column = (b.load(self.segments, s + field) for field in (AT, IMAGE, ROW, COLUMN))
        start, lanes = i * form.tiles + at, form.segment
        m = [[b.load(self.made, start + between * (4 * p + q), lanes) for q in range(4)] for p in range(4)]
        columns = [output_transform([m[p][q] for p in range(4)]) for q in range(4)]
        y = [output_transform([columns[q][p] for q in range(4)]) for p in range(2)]
        some = not_finite(b, (y[0][0] + y[0][1]) + (y[1][0] + y[1][1]))
        mixed = [k // 2 + lanes * (k % 2) for k in range(2 * lanes)]
        lines = [b.shuffle(left, right, mixed) for left, right in y]
        out = g * d["count"] + channel

        def plain() -> None:
            for p, line in enumerate(lines):
                sink.store(b, (n, out, row + p, column), b.convert(line, sink.out.elem))

        def partly() -> None:
            for p, line in enumerate(lines):
                b.store(self.spread, p * (2 * lanes), line)
            high = b.min(d["oh"] - row, 2)
            wide = b.min(b.load(self.segments, s + LENGTH) * 2, d["ow"] - column)

            def row_of(p: Any) -> None:
                def piece(q: Any) -> None:
                    self.piece(g, channel, n, row + p, column + q, p * (2 * lanes) + q, wide - q)

                b.for_(0, wide, LANES, piece)

            b.for_(0, high, 1, row_of)

        b.if_(b.ne(b.load(self.segments, s + WHOLE), 0) & ~b.any(some), plain, partly)

    def piece(self, g: Any, channel: Any, n: Any, row: Any, column: Any, at: Any, left: Any) -> None:
        """``left`` results of a row, of which `LANES` are taken; they stand at ``at``."""
        b, d, sink = self.b, self.d, self.sink
        value = b.load(self.spread, at, LANES)
        own = below(b, left, LANES)
        bad = own & not_finite(b, value)

        def repaired() -> Value:
            block, i = split(b, channel, self.form.rows)
            run = d["channels"] * 9 * self.form.rows
            dims = [
                n * d["image"] + g * d["group"], d["channels"], d["channel"], d["step"], d["high"], d["wide"],
                (g * d["blocks"] + block) * run + i, self.form.rows, row + d["row"], column + d["column"],
            ]  # fmt: skip
            b.call(repair_function(), [self.x, self.packed, self.fixed], dims)
            return b.select(bad, b.load(self.fixed, 0, LANES), value)

        (value,) = b.if_(b.any(bad), repaired, lambda: value)
        where = n, g * d["count"] + channel, row

        def rest() -> None:
            if sink.can_mask:
                sink.store(b, (*where, column), b.convert(value, sink.out.elem), own)
                return
            b.store(self.fixed, 0, value)
            b.for_(0, left, 1, lambda k: sink.store(b, (*where, column + k), single(k)))

        def single(k: Any) -> Value:
            return b.convert(b.load(self.fixed, k), sink.out.elem)

        def all_lanes() -> None:
            sink.store(b, (*where, column), b.convert(value, sink.out.elem))

        b.if_(b.ge(left, LANES), all_lanes, rest)
