"""Kernels of the gradient in the weight by Winograd's algorithm (`winograd_grad` says what they compute)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from .parts import cached, in_parallel, split, zeros
from .winograd_repair import not_finite, repair_gradient_function
from .winograd_segments import FIELDS, LANES, Plane, find_segments, see_function

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


def spread_function(tile: SumTile) -> Function:
    """Tiles of ``dout`` (channels last), transformed: (column tiles, 16, `SECTION`, columns).

    Buffers: ``dout`` of the group in the first image, result. Dims: first tile of all, how many, the place of the first
    in the section, column tiles, extents of ``dout``, elements from image to image and from pixel to pixel.
    """
    return cached(("winograd_spread", tile), lambda: _spread(tile))


def _spread(tile: SumTile) -> Function:
    b = Builder("winograd_spread")
    dout, out = b.buffer("dout", "f32"), b.buffer("spread", "f32")
    first, count, at, column_tiles, high, wide, image, width = (
        b.dim(name) for name in ("first", "count", "at", "column_tiles", "high", "wide", "image", "width")
    )
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
            halves = [along([y[j], y[2 + j]]) for j in range(2)]
            for i in range(4):
                for j, value in enumerate(along([halves[0][i], halves[1][i]])):
                    b.store(out, goal + (4 * i + j) * (SECTION * columns), value)

        def column_tile(ct: Any) -> None:
            goal = ct * (16 * SECTION * columns) + (at + k) * columns
            b.for_(0, columns, lanes, lambda c: vector(goal + c, ct * columns + c))

        b.for_(0, column_tiles, 1, column_tile)

    b.for_(0, count, 1, one)
    return b.finish()


def add_function(tile: SumTile) -> Function:
    """``sums += P``, one tile of channels after the other: for the 16 positions (16, rows, columns) numbers each.

    Buffers: what the tiles see, the transformed ``dout`` of the column tile, sums. Dims: row tiles from ``first`` to
    ``last``, elements from position to position of what tiles see, channels, tiles of the section, elements from one
    row tile of the sums to the next, whether sums are added to.
    """
    return cached(("winograd_add", tile), lambda: _add(tile))


def _add(tile: SumTile) -> Function:
    b = Builder("winograd_add")
    seen, dout, sums = (b.buffer(name, "f32") for name in ("seen", "spread", "sums"))
    first, last, between, channels, count, step, more = (
        b.dim(name) for name in ("first", "last", "between", "channels", "count", "step", "more")
    )
    rows, vectors, lanes, columns = tile.rows, tile.vectors, tile.lanes, tile.columns

    def one(position: Any, rt: Any) -> None:
        views = []
        for i in range(rows):
            c = b.min(rt * rows + i, channels - 1)
            views.append(b.view(seen, (position * between + c * SEEN_ROW) * 4, "f32"))
        panel = b.view(dout, position * (SECTION * columns * 4), "f32")

        def tile_of(t: Any, *acc: Any) -> Any:
            parts = [b.load(panel, t * columns + j * lanes, lanes) for j in range(vectors)]
            made = []
            for i, view in enumerate(views):
                value = b.splat(b.load(view, t), lanes)
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

    b.for_(0, 16, 1, position)
    return b.finish()


def gather_function(tile: SumTile) -> Function:
    """Sums (16, rows, columns) of a tile of channels, transformed: rows (channel, tap) of the result.

    Buffers: sums, image, ``dout`` of the group, result. Dims: first channel, channels that exist, place of the first
    column in a row, place of the group in the image and in the result, the elements from image to image and pixel to
    pixel of ``dout``, then those of the image from channel to channel, image to image, row to row, batch, and extents
    and first elements as in `Plane`.
    """
    return cached(("winograd_gather", tile), lambda: _gather(tile))


GATHER = (
    "first", "rows", "column", "group", "goal", "dout_image", "width",
    "channel", "image", "step", "batch", "high", "wide", "oh", "ow", "row", "left",
)  # fmt: skip


def _gather(tile: SumTile) -> Function:
    b = Builder("winograd_gather")
    sums, x, dout, out = (b.buffer(name, "f32") for name in ("sums", "image", "dout", "total"))
    d = {name: b.dim(name) for name in GATHER}
    lanes, columns = tile.lanes, tile.columns
    fixed = b.alloca("f32", 9 * lanes)

    def along(m: list[Value]) -> list[Value]:
        half = (m[1] + m[2]) * 0.5
        return [m[0] + half, (m[1] - m[2]) * 0.5, half + m[3]]

    def vector(i: Any, c: Any) -> None:
        m = [b.load(sums, i * columns + c + p * (tile.rows * columns), lanes) for p in range(16)]
        halves = [along([m[4 * p + q] for p in range(4)]) for q in range(4)]
        taps = [value for p in range(3) for value in along([halves[q][p] for q in range(4)])]
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
    "channels", "row_tiles", "column_tiles", "together", "dout_image", "width",
)  # fmt: skip


def sums_function(tile: SumTile) -> Function:
    """Buffers: image, ``dout`` with channels last, room for V, for W, for sums; result (groups, channels, 9, width)."""
    return cached(("winograd_sums", tile), lambda: _Sums(tile).build())


class _Sums:
    def __init__(self, tile: SumTile) -> None:
        self.b = b = Builder("winograd_sums")
        self.tile = tile
        self.x, self.dout, self.seen, self.spread, self.sums, self.total = (
            b.buffer(name, "f32") for name in ("image", "dout", "seen", "spread", "sums", "total")
        )
        self.d = d = {name: b.dim(name) for name in DIMS}
        high, wide = b.ceil_div(d["oh"], 2), b.ceil_div(d["ow"], 2)
        self.tiles = d["batch"] * high * wide
        numbers = [d[name] for name in ("image", "step", "high", "wide", "oh", "ow", "row", "column")]
        self.plane = Plane(*numbers, high, wide, self.tiles)
        self.sections = b.ceil_div(self.tiles, SECTION)
        self.between = d["channels"] * SEEN_ROW

    def build(self) -> Function:
        b, d = self.b, self.d
        self.segments, self.limits = b.alloca("i64", SECTION * FIELDS), b.alloca("i32", SECTION * FIELDS)

        def group(g: Any) -> None:
            b.for_(0, self.sections, 1, lambda s: self.section(g, s))

        b.for_(0, d["groups"], 1, group)
        return b.finish()

    def section(self, g: Any, s: Any) -> None:
        b, d = self.b, self.d
        first = s * SECTION
        count = b.min(self.tiles - first, SECTION)
        dout = b.view(self.dout, g * d["dout_image"] * 4, "f32")
        self.transform(g, first, count, dout)
        row_groups = b.ceil_div(d["row_tiles"], d["together"])

        def item(index: Any) -> None:
            ct, group = split(b, index, row_groups)
            low = group * d["together"]
            high = b.min(low + d["together"], d["row_tiles"])
            self.add(g, s, count, ct, low, high, dout)

        in_parallel(b, 0, d["column_tiles"] * row_groups, 1, item)

    def transform(self, g: Any, first: Any, count: Any, dout: Buffer) -> None:
        """V and W of a section."""
        b, d = self.b, self.d
        segments = find_segments(b, self.plane, g * d["group"], first, SECTION, self.segments, self.limits)
        channel_parts, tile_parts = b.ceil_div(d["channels"], CHANNELS), b.ceil_div(count, TILES)

        def see(part: Any) -> None:
            c = part * CHANNELS
            x = b.view(self.x, c * d["channel"] * 4, "f32")
            seen = b.view(self.seen, c * (SEEN_ROW * 4), "f32")
            dims = [b.min(d["channels"] - c, CHANNELS), d["channel"], d["step"], segments, self.between]
            b.call(see_function(SEEN_ROW), [x, self.segments, self.limits, seen], dims)

        def spread(part: Any) -> None:
            at = part * TILES
            tiles = b.min(count - at, TILES)
            dims = [
                first + at,
                tiles,
                at,
                d["column_tiles"],
                d["oh"],
                d["ow"],
                d["dout_image"] * d["groups"],
                d["width"],
            ]
            b.call(spread_function(self.tile), [dout, self.spread], dims)

        def some(part: Any) -> None:
            b.if_(b.lt(part, channel_parts), lambda: see(part), lambda: spread(part - channel_parts))

        in_parallel(b, 0, channel_parts + tile_parts, 2, some)

    def add(self, g: Any, s: Any, count: Any, ct: Any, low: Any, high: Any, dout: Buffer) -> None:
        """The sums of some tiles of channels; after the last section, the results."""
        b, d, tile = self.b, self.d, self.tile
        size = 16 * tile.rows * tile.columns
        spread = b.view(self.spread, ct * (16 * SECTION * tile.columns * 4), "f32")
        numbers = [self.between, d["channels"], count]

        def results(sums: Buffer, rt: Any) -> None:
            names = (
                "dout_image",
                "width",
                "channel",
                "image",
                "step",
                "batch",
                "high",
                "wide",
                "oh",
                "ow",
                "row",
                "column",
            )
            values = {name: d[name] for name in names}
            values["dout_image"] = d["dout_image"] * d["groups"]
            goal = g * d["channels"] * 9 * d["width"]
            dims = [rt * tile.rows, d["channels"], ct * tile.columns, g * d["group"], goal, *values.values()]
            b.call(gather_function(tile), [sums, self.x, dout, self.total], dims)

        def alone() -> None:
            own = b.alloca("f32", size)

            def one(rt: Any) -> None:
                b.call(add_function(tile), [self.seen, spread, own], [rt, rt + 1, *numbers, size, 0])
                results(own, rt)

            b.for_(low, high, 1, one)

        def several() -> None:
            place = (ct * d["row_tiles"] + low) * (size * 4)
            sums = b.view(self.sums, place, "f32")
            b.call(add_function(tile), [self.seen, spread, sums], [low, high, *numbers, size, s])

            def one(rt: Any) -> None:
                results(b.view(sums, (rt - low) * (size * 4), "f32"), rt)

            b.if_(b.eq(s, self.sections - 1), lambda: b.for_(low, high, 1, one) and None)

        b.if_(b.eq(self.sections, 1), alone, several)
