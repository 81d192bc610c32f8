"""Results of Winograd's algorithm that are not finite, computed once more by the direct algorithm."""

from __future__ import annotations

from typing import Any

from duograph.lower.conv.parts import built_once, zeros
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Function, Value

LANES = 16


def not_finite(b: Builder, x: Value) -> Value:
    """Which lanes are infinite or no number."""
    return b.ne(x - x, zeros(b, "f32", x.type.lanes))


def inside(b: Builder, first: Any, limit: Any, lanes: int) -> Value:
    """Which of the places ``first``, ``first + 1``, ... (32-bit numbers) are in [0, limit)."""
    places = b.lanes(lanes, "i32") + b.splat(first, lanes)
    return b.lt(b.bitcast(places, "u32"), b.splat(b.bitcast(limit, "u32"), lanes))


@built_once
def repair_function() -> Function:
    """`LANES` neighbouring elements of a row of a convolution: chains over (channel, kh, kw), as `conv` has them.

    Buffers: image, packed weights, results. Dims: the first element of the group in the image, its channels, elements
    from channel to channel and row to row, extents, the first element and step of the weights, and the first row and
    column that the first element sees.
    """
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
    b.store(out, 0, acc + 0.0)
    return b.finish()


@built_once
def repair_gradient_function(lanes: int) -> Function:
    """The nine gradients in the weights of one channel of the image and ``lanes`` channels of ``dout``, directly: per
    image one chain over its pixels, then the sum over the images.

    Buffers: image, ``dout`` with channels last, results (9, ``lanes``). Dims: the channel in the first image, the first
    channel of ``dout``; of the image elements from image to image and row to row; batch, extents of the image, of
    ``dout``, the row and column that its first element sees first, its elements from image to image and pixel to pixel.
    """
    b = Builder("winograd_repair_gradient")
    x, dout, out = (b.buffer(name, "f32") for name in ("image", "dout", "out"))
    start, column, image, step, batch, high, wide = (
        b.dim(name) for name in ("start", "column", "image", "step", "batch", "high", "wide")
    )
    oh, ow, row, left, dout_image, width = (b.dim(name) for name in ("oh", "ow", "row", "left", "dout_image", "width"))
    zero = zeros(b, "f32", lanes)

    def one(n: Any, *total: Any) -> Any:
        source = start + n * image

        def line(r: Any, at: Any, *acc: Any) -> Any:
            top = r + row
            inside_rows = [b.ge(top + i, 0) & b.lt(top + i, high) for i in range(3)]
            starts = [source + (top + i) * step for i in range(3)]

            def pixel(c: Any, at: Any, *acc: Any) -> Any:
                grad = b.load(dout, at, lanes)
                made = []
                for tap, value in enumerate(acc):
                    place = c + left + tap % 3
                    there = inside_rows[tap // 3] & b.ge(place, 0) & b.lt(place, wide)
                    number = b.load(x, starts[tap // 3] + place, 1, there)
                    made.append(b.fma(b.splat(number, lanes), grad, value))
                return at + width, *made

            return b.for_(0, ow, 1, pixel, [at, *acc])

        _, *sums = b.for_(0, oh, 1, line, [n * dout_image + column, *[zero] * 9])
        return tuple([before + value for before, value in zip(total, sums, strict=True)])

    for tap, value in enumerate(b.for_(0, batch, 1, one, [zero] * 9)):
        b.store(out, tap * lanes, value)
    return b.finish()
