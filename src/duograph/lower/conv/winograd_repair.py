"""Results of Winograd's algorithm that are not finite, computed once more by the direct algorithm."""

from __future__ import annotations

from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Function, Value
from .parts import cached, zeros

LANES = 16


def not_finite(b: Builder, x: Value) -> Value:
    """Which lanes are infinite or no number."""
    return b.ne(x - x, zeros(b, "f32", x.type.lanes))


def inside(b: Builder, first: Any, limit: Any, lanes: int) -> Value:
    """Which of the places ``first``, ``first + 1``, ... (32-bit numbers) are in [0, limit)."""
    places = b.lanes(lanes, "i32") + b.splat(first, lanes)
    return b.lt(b.bitcast(places, "u32"), b.splat(b.bitcast(limit, "u32"), lanes))


def repair_function() -> Function:
    """`LANES` neighbouring elements of a row of a convolution: chains over (channel, kh, kw), as `conv` has them.

    Buffers: image, packed weights, results. Dims: the first element of the group in the image, its channels, elements
    from channel to channel and row to row, extents, the first element and step of the weights, and the first row and
    column that the first element sees.
    """
    return cached(("winograd_repair",), _repair)


def _repair() -> Function:
    b = Builder("winograd_repair")
    x, weights, out = (b.buffer(name, "f32") for name in ("image", "packed", "out"))
    start, channels, channel, step, high, wide = (
        b.dim(name) for name in ("start", "channels", "channel", "step", "high", "wide")
    )
    first, rows, row, column = (b.dim(name) for name in ("first", "rows", "row", "column"))
    masks = []
    for i in range(3):
        there = b.ge(row + i, 0) & b.lt(row + i, high)
        limit = b.convert(b.select(there, wide, 0), "i32")
        masks += [inside(b, b.convert(column + j, "i32"), limit, LANES) for j in range(3)]

    def one(_: Any, at: Any, w: Any, acc: Any) -> Any:
        for tap, mask in enumerate(masks):
            value = b.load(x, at + step * (tap // 3) + tap % 3, LANES, mask)
            acc = b.fma(b.splat(b.load(weights, w + rows * tap), LANES), value, acc)
        return at + channel, w + rows * 9, acc

    begin = start + row * step + column
    *_, acc = b.for_(0, channels, 1, one, [begin, first, zeros(b, "f32", LANES)])
    b.store(out, 0, acc)
    return b.finish()
