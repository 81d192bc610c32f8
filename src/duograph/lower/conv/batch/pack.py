"""Operands for the kernels whose lanes are images: rows with the images last, weights in blocks."""

from __future__ import annotations

from typing import Any

from duograph.lower.conv.parts import below, built_once, compute_elem, size_of, split, zeros
from duograph.lower.lanes import transposed
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Buffer, Function
from duograph.lower.target import current_target


def image_views(b: Builder, x: Buffer, first: Any, image: Any, last: Any, lanes: int) -> list[Buffer]:
    """``lanes`` images of ``image`` elements from number ``first`` on; those behind number ``first + last`` are it."""
    return [b.view(x, (first + b.min(last, i)) * (image * size_of(x.elem)), x.elem) for i in range(lanes)]


def pack_row(b: Builder, views: list[Buffer], source: Any, width: Any, out: Buffer, goal: Any, end: Any) -> None:
    """Elements ``source...`` of all images into ``out`` from ``goal`` on, a vector each, then zeros up to ``end``.

    Up to a vector's length of zeros may be written behind ``end``: rows are packed in ascending order.
    """
    lanes = len(views)

    def square(q: Any, mask: Any = None) -> None:
        lines = [b.convert(b.load(view, source + q, lanes, mask), out.elem) for view in views]
        for j, line in enumerate(transposed(b, lines)):
            b.store(out, goal + (q + j) * lanes, line)

    if current_target().has_masks:  # one piece of code does
        b.for_(0, width, lanes, lambda q: square(q, below(b, width - q, lanes)))
    else:
        whole = width - b.rem(width, lanes)
        b.for_(0, whole, lanes, square)
        left = width - whole
        b.if_(b.gt(left, 0), lambda: square(whole, below(b, left, lanes)))
    blank(b, out, goal + (b.div(width + (lanes - 1), lanes) * lanes) * lanes, end, lanes)


def blank(b: Builder, out: Buffer, first: Any, end: Any, lanes: int) -> None:
    """Zeros in vectors from element ``first`` to ``end``."""
    nothing = zeros(b, out.elem, lanes)
    b.for_(first, end, lanes, lambda at: b.store(out, at, nothing))


@built_once
def batch_weights_function(elem: str, rows: int) -> Function:
    """Weights of any strides into (groups, blocks, channels, taps, ``rows``), and per block whether all are finite.

    Rows that do not exist repeat the last one.
    """
    b = Builder("conv_batch_weights")
    w, out, finite = b.buffer("w", elem), b.buffer("packed", compute_elem(elem)), b.buffer("finite", "i64")
    groups, count, inner, kd, kh, kw = (b.dim(name) for name in ("groups", "count", "inner", "kd", "kh", "kw"))
    base, by_group, by_row, by_channel = (b.dim(name) for name in ("base", "by_group", "by_row", "by_channel"))
    by_d, by_h, by_w, grain = (b.dim(name) for name in ("by_d", "by_h", "by_w", "grain"))
    blocks = b.ceil_div(count, rows)
    zero = b.const(0, out.elem)

    def block(index: Any) -> None:
        g, place = split(b, index, blocks)
        first = base + g * by_group
        starts = [first + b.min(place * rows + i, count - 1) * by_row for i in range(rows)]

        def tap(offset: Any, at: Any, *sums: Any) -> Any:
            made = []
            for i, (start, total) in enumerate(zip(starts, sums, strict=True)):
                value = b.convert(b.load(w, start + offset), out.elem)
                b.store(out, at + i, value)
                made.append(total + value * zero)  # NaN as soon as one weight is not finite
            return (at + rows, *made)

        def over(extent: Any, stride: Any, body: Any) -> Any:
            return lambda offset, *carried: b.for_(
                0, extent, 1, lambda j, *carried: body(offset + j * stride, *carried), carried
            )

        walk = over(inner, by_channel, over(kd, by_d, over(kh, by_h, over(kw, by_w, tap))))
        _, *sums = walk(b.const(0), index * inner * kd * kh * kw * rows, *[zero] * rows)
        total = sums[0]
        for other in sums[1:]:
            total = total + other
        b.store(finite, index, b.select(b.eq(total, zero), b.const(1), b.const(0)))

    b.parallel_for(0, groups * blocks, grain, block)
    return b.finish()
