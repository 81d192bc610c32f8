"""Segments of Winograd's algorithm: which tiles lie side by side; and what they see of the image, transformed.

Tiles are numbered over (image, row, column of tiles), and a block is some of them, one after the other. A *segment* is
at most as many tiles of a block as a vector has lanes, all in one row of tiles. Each block has a table of its segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.lower.conv.parts import built_once, split
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Buffer, Function, Value

from .repair import inside

LANES = 16
"""Tiles of a segment at most. Narrow images are better off with half as many (`segment_lanes`)."""

FIELDS = 8
"""Words of a segment: `AT` and so on; as 32-bit numbers the first column it sees and the widths of its four rows."""

AT, SOURCE, LENGTH, IMAGE, ROW, COLUMN, WHOLE = range(7)
"""First tile in the block, first element it sees, number of tiles; of the result: image, row, column; whether it is a
whole vector of tiles that do not stick out."""


def segment_lanes(out_wide: Any) -> int:
    """Tiles of a segment of a result of this width."""
    return LANES // 2 if isinstance(out_wide, int) and out_wide <= LANES else LANES


@dataclass
class Plane:
    """Run-time numbers of a convolution.

    Attributes:
        image, step: elements from image to image and row to row.
        high, wide: extents of the image; ``out_high``, ``out_wide``: of what its windows give.
        row, column: of the image, what the first window sees first.
        tiles_high, tiles_wide: tiles in a column and in a row; ``total``: of all images.
    """

    image: Any
    step: Any
    high: Any
    wide: Any
    out_high: Any
    out_wide: Any
    row: Any
    column: Any
    tiles_high: Any
    tiles_wide: Any
    total: Any


def plane_of(b: Builder, d: dict[str, Value]) -> Plane:
    """From the dims of a kernel."""
    high, wide = b.ceil_div(d["oh"], 2), b.ceil_div(d["ow"], 2)
    return Plane(
        d["image"], d["step"], d["high"], d["wide"], d["oh"], d["ow"], d["row"], d["column"],
        high, wide, d["batch"] * high * wide,
    )  # fmt: skip


def find_segments(
    b: Builder, p: Plane, group: Any, first: Any, most: int, lanes: int, segments: Buffer, limits: Buffer
) -> Value:
    """Fills the table for ``most`` tiles from number ``first`` on, or as many as there are; the number of segments.

    ``group``: where the group begins in an image.
    """
    n, rest = split(b, first, p.tiles_high * p.tiles_wide)
    row, column = split(b, rest, p.tiles_wide)
    end = b.min(b.value(most), p.total - first)

    def one(number: Any, at: Any, n: Any, row: Any, column: Any) -> Any:
        length = b.min(b.min(p.tiles_wide - column, end - at), lanes)
        s = number * FIELDS
        top, left = row * 2 + p.row, column * 2 + p.column
        source = n * p.image + group + top * p.step + left
        whole = b.eq(length, lanes) & b.le(row * 2 + 2, p.out_high) & b.le(column * 2 + 2 * lanes, p.out_wide)
        for field, word in enumerate((at, source, length, n, row * 2, column * 2, b.convert(whole, "i64"))):
            b.store(segments, s + field, word)
        b.store(limits, s, b.convert(left, "i32"))
        for i in range(4):
            there = b.ge(top + i, 0) & b.lt(top + i, p.high)
            b.store(limits, s + 1 + i, b.convert(b.select(there, p.wide, 0), "i32"))
        column = column + length
        wraps = b.ge(column, p.tiles_wide)
        column, row = b.select(wraps, 0, column), b.select(wraps, row + 1, row)
        wraps = b.ge(row, p.tiles_high)
        return number + 1, at + length, b.select(wraps, n + 1, n), b.select(wraps, 0, row), column

    return b.while_([b.const(0), b.const(0), n, row, column], lambda _, at, *__: b.lt(at, end), one)[0]


def input_transform(d: list[Any]) -> list[Any]:
    """B^T d."""
    return [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]]


LINES = ((0, 2, -1), (1, 2, 1), (2, 1, -1), (1, 3, -1))
"""The rows of `input_transform`: two rows of d, and the sign of the second."""


@built_once
def see_function(row: int, lanes: int, by_line: bool = False) -> Function:
    """What the tiles of a block see, transformed: the image into (16, channels, ``row``).

    Segments are stored as whole vectors, one after the other, so up to ``lanes - 1`` elements behind the last tile of
    a channel are overwritten. Buffers: image, segments, limits, result. Dims: channels, elements from channel to
    channel and from row to row of the image, number of segments, elements from position to position of the result;
    ``by_line`` (four of the positions, those of one row of V) which of the four rows they are the sum of, and the sign
    of the second.
    """
    b = Builder("winograd_see")
    x, segments, limits = b.buffer("image", "f32"), b.buffer("segments", "i64"), b.buffer("limits", "i32")
    out = b.buffer("seen", "f32")
    channels, channel, step, count, between = (
        b.dim(name) for name in ("channels", "channel", "step", "count", "between")
    )
    chosen = [b.dim(name) for name in ("upper", "lower", "sign")] if by_line else []
    sign = b.convert(chosen[2], "f32") if by_line else None
    evens, odds, later = range(0, 2 * lanes, 2), range(1, 2 * lanes, 2), range(1, lanes)

    def segment(s: Any, c: Any) -> None:
        at = b.load(segments, s + AT) + c * row
        source = b.load(segments, s + SOURCE) + c * channel
        first = b.load(limits, s)

        def line(i: Any) -> list[Value]:
            limit, start = b.load(limits, s + 1 + i), source + step * i
            return [
                b.load(x, start + place, n, inside(b, first + place, limit, n))
                for place, n in ((0, lanes), (lanes, lanes), (2 * lanes, 2))
            ]

        if by_line:
            lines = [[b.fma(q, sign, p) for p, q in zip(line(chosen[0]), line(chosen[1]), strict=True)]]
        else:
            rows = [line(i) for i in range(4)]
            turned = [input_transform([pieces[k] for pieces in rows]) for k in range(3)]
            lines = [[pieces[i] for pieces in turned] for i in range(4)]
        for i, (low, high, last) in enumerate(lines):
            last = b.shuffle(last, last, [0, 1, *[0] * (lanes - 2)])
            even, odd = b.shuffle(low, high, evens), b.shuffle(low, high, odds)
            d = [even, odd, b.shuffle(even, last, [*later, lanes]), b.shuffle(odd, last, [*later, lanes + 1])]
            for j, value in enumerate(input_transform(d)):
                b.store(out, at + between * (4 * i + j), value)

    def one(c: Any) -> None:
        b.for_(0, count * FIELDS, FIELDS, lambda s: segment(s, c))

    b.for_(0, channels, 1, one)
    return b.finish()
