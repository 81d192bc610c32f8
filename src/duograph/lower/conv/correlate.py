"""The micro-kernel of `conv` and `conv_input_grad`: an implicit GEMM over a table of offsets.

A tile is ``rows`` output channels x ``vectors`` vectors of neighbouring outputs of a row; vectors may belong to
different rows. One loop over k: the offset of k from the table, one load per vector from the padded image, one
broadcast per channel from the packed weights, rows x vectors fused multiply-adds. Extents, strides and kernel sizes
are all run-time numbers, so one piece of code serves every convolution with this tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Function
from .parts import below, built_once, joined, multiply_add, size_of, split, unsigned_zero, zeros


@dataclass(frozen=True)
class Tile:
    """``rows`` channels x ``vectors`` vectors of ``lanes`` outputs.

    A vector consists of ``pieces`` runs of neighbouring outputs, each from anywhere: short rows need short runs.
    """

    rows: int
    vectors: int
    lanes: int
    pieces: int = 1

    @property
    def run(self) -> int:
        """Lanes of one piece."""
        return self.lanes // self.pieces


DIMS = (
    "batch", "groups", "image", "group", "base", "step_d", "step_h",  # the padded image
    "td", "th", "tw", "mul_d", "add_d", "mul_h", "add_h",  # outputs: extents, and which rows of the result they are
    "k", "count", "splits", "run", "grain",  # taps, channels per group, parts of the channels, tiles per item
)  # fmt: skip


@built_once
def correlate_function(elem: str, tile: Tile, rank: int, sink: Any) -> Function:
    """Buffers: padded image, packed weights, table, and the sink's. Dims: `DIMS` and the sink's."""
    return _Correlate(elem, tile, rank, sink).build()


class _Correlate:
    def __init__(self, elem: str, tile: Tile, rank: int, sink: Any) -> None:
        self.b = b = Builder("conv")
        self.elem, self.tile, self.rank, self.sink = elem, tile, rank, sink
        self.image, self.weights = b.buffer("image", elem), b.buffer("weights", elem)
        self.table = b.buffer("table", "i64")
        self.dims = {name: b.dim(name) for name in DIMS}
        sink.declare(b)

    def build(self) -> Function:
        b, d, tile = self.b, self.dims, self.tile
        self.per_row = b.ceil_div(d["tw"], tile.run)
        self.pieces = d["td"] * d["th"] * self.per_row
        self.tiles = b.ceil_div(self.pieces, tile.vectors * tile.pieces)
        self.blocks = b.ceil_div(d["count"], tile.rows)
        runs = b.ceil_div(self.tiles, d["run"])
        items = d["batch"] * d["groups"] * d["splits"] * runs

        def chunk(lo: Any, hi: Any) -> None:
            self.scratch = b.alloca(self.elem, tile.rows * tile.vectors * tile.lanes)
            b.for_(lo, hi, 1, lambda item: self.item(item, runs))

        b.parallel(0, items, d["grain"], chunk)
        return b.finish()

    def item(self, item: Any, runs: Any) -> None:
        """A run of tiles of one image and group, for a part of the output channels."""
        b, d, tile = self.b, self.dims, self.tile
        rest, run = split(b, item, runs)
        rest, part = split(b, rest, d["splits"])
        n, g = split(b, rest, d["groups"])
        first = run * d["run"]
        last = b.min(first + d["run"], self.tiles)
        in_tile = tile.vectors * tile.pieces
        row, column = split(b, first * in_tile, self.per_row)
        depth, row = split(b, row, d["th"])
        start = n * d["image"] + g * d["group"] + d["base"]
        share = b.ceil_div(self.blocks, d["splits"])
        lo = part * share
        hi = b.min(lo + share, self.blocks)

        def one(t: Any, column: Any, row: Any, depth: Any) -> Any:
            places, views = [], []
            for j in range(in_tile):
                offset = start + depth * d["step_d"] + row * d["step_h"] + column
                if j == 0:
                    begin = offset
                valid = b.lt(t * in_tile + j, self.pieces)
                offset = b.select(valid, offset, begin)  # what does not exist reads what does
                views.append(b.view(self.image, offset * size_of(self.elem), self.elem))
                places.append((depth, row, column, valid))
                column = column + tile.run
                wraps = b.ge(column, d["tw"])
                column = b.select(wraps, 0, column)
                row = b.select(wraps, row + 1, row)
                wraps = b.ge(row, d["th"])
                row = b.select(wraps, 0, row)
                depth = b.select(wraps, depth + 1, depth)
            b.for_(lo, hi, 1, lambda ob: self.block(n, g, ob, views, places))
            return column, row, depth

        b.for_(first, last, 1, one, [column * tile.run, row, depth])

    def block(self, n: Any, g: Any, ob: Any, views: Any, places: Any) -> None:
        """One tile: the loop over k, and the stores."""
        b, d, tile = self.b, self.dims, self.tile
        panel = (g * self.blocks + ob) * d["k"] * tile.rows
        weights = b.view(self.weights, panel * size_of(self.elem), self.elem)
        init = [b.const(0), *[zeros(b, self.elem, tile.lanes)] * (tile.rows * tile.vectors)]

        def step(k: Any, at: Any, *acc: Any) -> Any:
            offset = b.load(self.table, k)
            runs = [b.load(view, offset, tile.run) for view in views]
            pixels = [joined(b, runs[j : j + tile.pieces]) for j in range(0, len(runs), tile.pieces)]
            out = []
            for i in range(tile.rows):
                w = b.splat(b.load(weights, at + i), tile.lanes)
                out += [multiply_add(b, w, x, acc[i * tile.vectors + j]) for j, x in enumerate(pixels)]
            return (at + tile.rows, *out)

        _, *acc = b.for_(0, d["k"], 1, step, init)
        # over memory, so that there is one copy of the sink's code for a row of the tile and not one per accumulator
        for at, value in enumerate(acc):
            b.store(self.scratch, at * tile.lanes, unsigned_zero(b, value))
        begin = ob * tile.rows
        channel = g * d["count"] + begin

        def store_row(i: Any) -> None:
            for j, (depth, row, column, valid) in enumerate(places):
                where = (depth * d["mul_d"] + d["add_d"], row * d["mul_h"] + d["add_h"], column)
                at = i * (tile.vectors * tile.lanes) + j * tile.run
                self.store((n, channel + i, *where[3 - self.rank :]), at, column, valid)

        b.for_(0, b.min(d["count"] - begin, tile.rows), 1, store_row)

    def store(self, coords: Any, at: Any, column: Any, valid: Any) -> None:
        """One vector of the tile, as far as it lies in the row."""
        b, lanes, sink = self.b, self.tile.run, self.sink
        left = self.dims["tw"] - column

        def value(at: Any, lanes: int) -> Any:
            return b.convert(b.load(self.scratch, at, lanes), sink.out.elem)

        def partly() -> None:
            if sink.can_mask:
                sink.store(b, coords, value(at, lanes), below(b, left, lanes))
            else:
                b.for_(0, left, 1, lambda k: sink.store(b, (*coords[:-1], column + k), value(at + k, 1)))

        b.if_(
            valid & b.ge(left, lanes),
            lambda: sink.store(b, coords, value(at, lanes)),
            lambda: b.if_(valid, partly),
        )
