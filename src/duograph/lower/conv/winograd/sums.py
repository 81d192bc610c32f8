"""Kernels of the gradient in the weight by Winograd's algorithm (`winograd.grad` says what they compute)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.lower.conv.parts import built_once, split, zeros
from duograph.lower.conv.slots import parallel_in_slots
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Buffer, Function, Value

from .repair import not_finite, repair_gradient_function
from .segments import FIELDS, LANES, LINES, find_segments, plane_of, see_function

SECTION = 128
"""Tiles that one chain adds up."""

SEEN_ROW = SECTION + LANES
"""Elements from channel to channel of what tiles see: segments are stored as whole vectors, by any thread."""

CHANNELS = 4
"""Channels of the image that are transformed together."""

TILES = 4
"""Tiles of ``dout`` that are transformed together."""


@dataclass(frozen=True)
class SumTile:
    """The micro-kernel: ``rows`` channels of the image x ``vectors`` vectors of ``lanes`` channels of ``dout``."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


@built_once
def spread_function(tile: SumTile) -> Function:
    """Four positions, one row of W, of tiles of ``dout`` (channels last): (column tiles, 4, `SECTION`, columns).

    Buffers: ``dout`` of the group and first channel in the first image, result. Dims: first tile of all, how many, the
    place of the first in the section, column tiles, extents of ``dout``, elements from image to image and from pixel to
    pixel, the factors of the two rows of a tile, elements from column tile to column tile of the result.
    """
    b = Builder("winograd_spread")
    dout, out = b.buffer("dout", "f32"), b.buffer("spread", "f32")
    first, count, at, column_tiles, high, wide, image, width = (
        b.dim(name) for name in ("first", "count", "at", "column_tiles", "high", "wide", "image", "width")
    )
    factors = [b.splat(b.convert(b.dim(name), "f32"), tile.lanes) for name in ("upper", "lower")]
    by_tile = b.dim("by_tile")
    lanes, columns = tile.lanes, tile.columns
    tiles_high, tiles_wide = b.ceil_div(high, 2), b.ceil_div(wide, 2)

    def along(y: list[Value]) -> list[Value]:
        return [y[0], y[0] + y[1], y[0] - y[1], -y[1]]

    def one(k: Any) -> None:
        n, rest = split(b, first + k, tiles_high * tiles_wide)
        row, column = split(b, rest, tiles_wide)
        start = n * image + ((row * 2) * wide + column * 2) * width
        there = [b.lt(row * 2 + i, high) & b.lt(column * 2 + j, wide) for i in range(2) for j in range(2)]
        places = [b.select(there[2 * i + j], start + (wide * i + j) * width, start) for i in range(2) for j in range(2)]

        def vector(goal: Any, c: Any) -> None:
            zero = zeros(b, "f32", lanes)
            y = [b.select(t, b.load(dout, p + c, lanes), zero) for t, p in zip(there, places, strict=True)]
            line = [b.fma(factors[1], y[2 + j], factors[0] * y[j]) for j in range(2)]
            for j, value in enumerate(along(line)):
                b.store(out, goal + j * (SECTION * columns), value)

        def column_tile(ct: Any) -> None:
            goal = ct * by_tile + (at + k) * columns
            b.for_(0, columns, lanes, lambda c: vector(goal + c, ct * columns + c))

        b.for_(0, column_tiles, 1, column_tile)

    b.for_(0, count, 1, one)
    return b.finish()


@built_once
def add_function(tile: SumTile) -> Function:
    """``sums += P`` at four positions, one tile of channels after the other: (4, rows, columns) numbers each.

    Buffers: what the tiles see, the transformed ``dout`` of the column tile, sums. Dims: row tiles from ``first`` to
    ``last``, elements from position to position of what tiles see, tiles of the section, elements from one
    row tile of the sums to the next, whether sums are added to.
    """
    b = Builder("winograd_add")
    seen, dout, sums = (b.buffer(name, "f32") for name in ("seen", "spread", "sums"))
    first, last, between, count, step, more = (
        b.dim(name) for name in ("first", "last", "between", "count", "step", "more")
    )
    rows, vectors, lanes, columns = tile.rows, tile.vectors, tile.lanes, tile.columns

    def one(position: Any, rt: Any) -> None:
        # channels that do not exist read what comes next in the scratch memory
        view = b.view(seen, (position * between + rt * (rows * SEEN_ROW)) * 4, "f32")
        panel = b.view(dout, position * (SECTION * columns * 4), "f32")

        def tile_of(t: Any, *acc: Any) -> Any:
            parts = [b.load(panel, t * columns + j * lanes, lanes) for j in range(vectors)]
            made = []
            for i in range(rows):
                value = b.splat(b.load(view, t + i * SEEN_ROW), lanes)
                made += [b.fma(value, part, acc[i * vectors + j]) for j, part in enumerate(parts)]
            return tuple(made)

        zero = zeros(b, "f32", lanes)
        acc = b.for_(0, count, 1, tile_of, [zero] * (rows * vectors))
        goal = (rt - first) * step + position * (rows * columns)
        for k, value in enumerate(acc):
            before = b.select(b.ne(more, 0), b.load(sums, goal + k * lanes, lanes), zero)
            b.store(sums, goal + k * lanes, before + value)

    def position(p: Any) -> None:
        b.for_(first, last, 1, lambda rt: one(p, rt))

    b.for_(0, 4, 1, position)
    return b.finish()


GATHER = (
    "first", "rows", "column", "group", "goal", "dout_image", "width",
    "channel", "image", "step", "batch", "high", "wide", "oh", "ow", "row", "left",
)  # fmt: skip


def live_taps(b: Builder, d: dict[str, Value], lanes: int) -> list[Value]:
    """Factors of the nine taps: 0.0 for those that see padding in every window, 1.0 for the others."""

    def along(first: Value, windows: Value, size: Value) -> list[Value]:
        return [b.ge(first + k + windows, 1) & b.lt(first + k, size) for k in range(3)]

    rows, columns = along(d["row"], d["oh"], d["high"]), along(d["left"], d["ow"], d["wide"])
    return [b.splat(b.convert(b.select(row & column, 1, 0), "f32"), lanes) for row in rows for column in columns]


@built_once
def gather_function(tile: SumTile) -> Function:
    """Sums (16, rows, columns) of a tile of channels, transformed: rows (channel, tap) of the result.

    Buffers: sums, image, ``dout`` of the group, result. Dims: first channel, channels that exist, place of the first
    column in a row, place of the group in the image and in the result, the elements from image to image and pixel to
    pixel of ``dout``, then those of the image from channel to channel, image to image, row to row, batch, and extents
    and first elements as in `Plane`.
    """
    b = Builder("winograd_gather")
    sums, x, dout, out = (b.buffer(name, "f32") for name in ("sums", "image", "dout", "total"))
    d = {name: b.dim(name) for name in GATHER}
    lanes, columns = tile.lanes, tile.columns
    fixed = b.alloca("f32", 9 * lanes)
    live = live_taps(b, d, lanes)
    zero = zeros(b, "f32", lanes)

    def along(m: list[Value]) -> list[Value]:
        half = (m[1] + m[2]) * 0.5
        return [m[0] + half, (m[1] - m[2]) * 0.5, half + m[3]]

    def vector(i: Any, c: Any) -> None:
        m = [b.load(sums, i * columns + c + p * (tile.rows * columns), lanes) for p in range(16)]
        halves = [along([m[4 * p + q] for p in range(4)]) for q in range(4)]
        taps = [value for p in range(3) for value in along([halves[q][p] for q in range(4)])]
        taps = [b.fma(value, factor, zero) for value, factor in zip(taps, live, strict=True)]
        together = taps[0]
        for value in taps[1:]:
            together = together + value
        goal = d["goal"] + (d["first"] + i) * 9 * d["width"] + d["column"] + c

        def put(values: list[Value]) -> None:
            for tap, value in enumerate(values):
                b.store(out, goal + d["width"] * tap, value)

        def repaired() -> None:
            start = d["group"] + (d["first"] + i) * d["channel"]
            names = "image", "step", "batch", "high", "wide", "oh", "ow", "row", "left", "dout_image", "width"
            dims = [start, d["column"] + c, *[d[name] for name in names]]
            b.call(repair_gradient_function(lanes), [x, dout, fixed], dims)
            put(
                [
                    b.select(not_finite(b, value), b.load(fixed, tap * lanes, lanes), value)
                    for tap, value in enumerate(taps)
                ]
            )

        b.if_(b.any(not_finite(b, together)), repaired, lambda: put(taps))

    def row(i: Any) -> None:
        b.for_(0, columns, lanes, lambda c: vector(i, c))

    b.for_(0, b.min(d["rows"] - d["first"], tile.rows), 1, row)
    return b.finish()


DIMS = (
    "batch", "groups", "image", "group", "channel", "step", "high", "wide",  # the image: elements, extents
    "oh", "ow", "row", "column",  # extents of dout; what its first element sees first
    "channels", "row_tiles", "column_tiles", "dout_image", "width",
    "rows_together", "columns_together", "parts", "share",
)  # fmt: skip


@built_once
def sums_function(tile: SumTile, segment: int) -> Function:
    """Buffers: image, ``dout`` with channels last, scratch, sums, result (groups, channels, 9, width), flags."""
    return _Sums(tile, segment).build()


class _Sums:
    """Sums at one *line* (row of V and W, four positions) depend on no others, so that each thread has its own line or
    channels, and sees all sections. If there is one section only, threads share V and W of it, and go on to the
    results at once."""

    def __init__(self, tile: SumTile, segment: int) -> None:
        self.b = b = Builder("winograd_sums")
        self.tile, self.segment = tile, segment
        self.x, self.dout, self.scratch, self.sums, self.total = (
            b.buffer(name, "f32") for name in ("image", "dout", "scratch", "sums", "total")
        )
        self.flags = b.buffer("flags", "i64")
        self.d = d = {name: b.dim(name) for name in DIMS}
        self.plane = plane_of(b, d)
        self.tiles = self.plane.total
        self.size = tile.rows * tile.columns  # of one position
        self.panel = SECTION * tile.columns

    def build(self) -> Function:
        b, d = self.b, self.d
        sections = b.ceil_div(self.tiles, SECTION)
        one = b.eq(sections, 1)
        b.for_(
            0, d["groups"], 1, lambda g: b.if_(one, lambda: self.at_once(g), lambda: self.by_line(g, sections)) and None
        )
        return b.finish()

    # ---- many sections -------------------------------------------------------------------------------------------

    def by_line(self, g: Any, sections: Any) -> None:
        b, d = self.b, self.d
        row_groups = b.ceil_div(d["row_tiles"], d["rows_together"])
        column_groups = b.ceil_div(d["column_tiles"], d["columns_together"])
        items = row_groups * column_groups * 4

        def work(slot: Value, begin: Any, end: Any) -> None:
            seen = b.view(self.scratch, slot * d["share"] * 4, "f32")
            segments, limits = b.alloca("i64", SECTION * FIELDS), b.alloca("i32", SECTION * FIELDS)

            def item(index: Any) -> None:
                rest, line = split(b, index, 4)
                cg, rg = split(b, rest, row_groups)
                low, first = rg * d["rows_together"], cg * d["columns_together"]
                high = b.min(low + d["rows_together"], d["row_tiles"])
                last = b.min(first + d["columns_together"], d["column_tiles"])
                b.for_(
                    0,
                    sections,
                    1,
                    lambda s: self.section(g, s, line, (low, high), (first, last), seen, segments, limits),
                )

            b.for_(begin, end, 1, item)

        parallel_in_slots(b, self.flags, d["parts"], items, work)

        def results(index: Any) -> None:
            ct, rt = split(b, index, d["row_tiles"])
            self.results(g, ct, rt, self.sums_at(self.sums, ct, rt))

        b.parallel_for(0, b.select(b.gt(sections, 0), d["row_tiles"] * d["column_tiles"], 0), 4, results)

    def section(
        self, g: Any, s: Any, line: Any, rows: Any, columns: Any, seen: Buffer, segments: Any, limits: Any
    ) -> None:
        """V and W of one line and section, and their products."""
        b, d, tile = self.b, self.d, self.tile
        start = s * SECTION
        count = b.min(self.tiles - start, SECTION)
        c, ct = rows[0] * tile.rows, columns[0]
        channels = b.min((rows[1] - rows[0]) * tile.rows, d["channels"] - c)
        between = channels * SEEN_ROW
        found = find_segments(b, self.plane, g * d["group"], start, SECTION, self.segment, segments, limits)
        self.see(line, c, channels, found, segments, limits, seen, between)
        spread = b.view(seen, between * (4 * 4), "f32")
        self.spread(g, line, start, count, 0, (ct, columns[1]), spread, 4 * self.panel)

        def column(ct: Any) -> None:
            panel = b.view(spread, (ct - columns[0]) * (4 * self.panel * 4), "f32")
            sums = b.view(self.sums_at(self.sums, ct, rows[0]), line * (4 * self.size * 4), "f32")
            dims = [0, rows[1] - rows[0], between, count, 16 * self.size, s]
            b.call(add_function(tile), [seen, panel, sums], dims)

        b.for_(columns[0], columns[1], 1, column)

    def sums_at(self, sums: Buffer, ct: Any, rt: Any) -> Buffer:
        return self.b.view(sums, (ct * self.d["row_tiles"] + rt) * (16 * self.size * 4), "f32")

    # ---- one section ---------------------------------------------------------------------------------------------

    def at_once(self, g: Any) -> None:
        b, d, tile = self.b, self.d, self.tile
        segments, limits = b.alloca("i64", SECTION * FIELDS), b.alloca("i32", SECTION * FIELDS)
        found = find_segments(b, self.plane, g * d["group"], 0, SECTION, self.segment, segments, limits)
        between = d["channels"] * SEEN_ROW
        spread = b.view(self.scratch, between * (16 * 4), "f32")
        channel_parts, tile_parts = b.ceil_div(d["channels"], CHANNELS), b.ceil_div(self.tiles, TILES)

        def transform(index: Any) -> None:
            part, line = split(b, index, 4)

            def see() -> None:
                c = part * CHANNELS
                seen = b.view(self.scratch, (line * 4 * between + c * SEEN_ROW) * 4, "f32")
                channels = b.min(d["channels"] - c, CHANNELS)
                self.see(line, c, channels, found, segments, limits, seen, between)

            def turn() -> None:
                at = (part - channel_parts) * TILES
                goal = b.view(spread, line * (4 * self.panel * 4), "f32")
                count = b.min(self.tiles - at, TILES)
                self.spread(g, line, at, count, at, (0, d["column_tiles"]), goal, 16 * self.panel)

            b.if_(b.lt(part, channel_parts), see, turn)

        b.parallel_for(0, (channel_parts + tile_parts) * 4, 8, transform)

        def chunk(begin: Value, end: Value) -> None:
            sums = b.alloca("f32", 16 * self.size)

            def item(index: Any) -> None:
                ct, rt = split(b, index, d["row_tiles"])

                def line(i: Any) -> None:
                    seen = b.view(self.scratch, i * (between * (4 * 4)), "f32")
                    panel = b.view(spread, (ct * 16 + i * 4) * (self.panel * 4), "f32")
                    dims = [rt, rt + 1, between, self.tiles, 0, 0]
                    b.call(add_function(tile), [seen, panel, b.view(sums, i * (4 * self.size * 4), "f32")], dims)

                b.for_(0, 4, 1, line)
                self.results(g, ct, rt, sums)

            b.for_(begin, end, 1, item)

        b.parallel(0, d["row_tiles"] * d["column_tiles"], 1, chunk)

    # ---- both ----------------------------------------------------------------------------------------------------

    def see(
        self, line: Any, c: Any, channels: Any, count: Any, segments: Any, limits: Any, seen: Buffer, between: Any
    ) -> None:
        b, d = self.b, self.d
        chosen = [self.choose(line, [row[k] for row in LINES]) for k in range(3)]
        x = b.view(self.x, c * d["channel"] * 4, "f32")
        dims = [channels, d["channel"], d["step"], count, between, *chosen]
        b.call(see_function(SEEN_ROW, self.segment, True), [x, segments, limits, seen], dims)

    def spread(
        self, g: Any, line: Any, first: Any, count: Any, at: Any, columns: Any, goal: Buffer, by_tile: Any
    ) -> None:
        b, d = self.b, self.d
        dout = b.view(self.dout, (g * d["dout_image"] + columns[0] * self.tile.columns) * 4, "f32")
        factors = [self.choose(line, [row[k] for row in ((1, 0), (1, 1), (1, -1), (0, -1))]) for k in range(2)]
        image = d["dout_image"] * d["groups"]
        dims = [first, count, at, columns[1] - columns[0], d["oh"], d["ow"], image, d["width"], *factors, by_tile]
        b.call(spread_function(self.tile), [dout, goal], dims)

    def choose(self, line: Any, values: list[int]) -> Value:
        b = self.b
        found = b.const(values[0])
        for k in range(1, 4):
            found = b.select(b.eq(line, k), values[k], found)
        return found

    def results(self, g: Any, ct: Any, rt: Any, sums: Buffer) -> None:
        """What the sums of a tile of channels come to."""
        b, d, tile = self.b, self.d, self.tile
        dout = b.view(self.dout, g * d["dout_image"] * 4, "f32")
        names = "width", "channel", "image", "step", "batch", "high", "wide", "oh", "ow", "row", "column"
        places = rt * tile.rows, d["channels"], ct * tile.columns, g * d["group"], g * d["channels"] * 9 * d["width"]
        dims = [*places, d["dout_image"] * d["groups"], *[d[name] for name in names]]
        b.call(gather_function(tile), [sums, self.x, dout, self.total], dims)
