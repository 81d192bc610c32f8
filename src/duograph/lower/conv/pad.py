"""Copies that prepare operands: zero-bordered images, images with the channel last, phases put together again."""

from __future__ import annotations

from typing import Any

from ..lanes import transposed
from ..loop.builder import Builder
from ..loop.ir import Function
from .parts import below, built_once, compute_elem, split

WIDE = 8
"""Lanes of the copies, and the unit of padded rows."""


@built_once
def pad_function(elem: str, step: int) -> Function:
    """``x`` (lead, D, H, W) into a zero-bordered buffer (lead, Dp, Hp, sw, Wq), converted to what sums are taken in.

    Place q of phase f in a padded row is element ``q * sw + f - front`` of the row; ``step`` is 1 or 2 for these
    strides and 0 for others. Wq is a multiple of `WIDE`; negative fronts crop.
    """
    b = Builder("conv_pad")
    x, out = b.buffer("x", elem), b.buffer("padded", compute_elem(elem))
    lead, d, h, w = (b.dim(name) for name in ("lead", "d", "h", "w"))
    dp, hp, wq = (b.dim(name) for name in ("dp", "hp", "wq"))
    sw = b.dim("sw") if step == 0 else step
    fd, fh, fw = (b.dim(name) for name in ("front_d", "front_h", "front_w"))
    channel, grain = b.dim("channel"), b.dim("grain")
    row_length = b.mul(wq, sw)

    def piece(start: Any, limit: Any, first: Any) -> Any:
        """Elements ``first, first + sw, ...`` of the row at ``start``; zeros outside [0, limit)."""
        if step == 1:
            return _inside(b, x, start, first, limit, WIDE)
        if step == 2:
            low, high = (_inside(b, x, start, b.add(first, k), limit, WIDE) for k in (0, WIDE))
            return b.shuffle(low, high, range(0, 2 * WIDE, 2))
        places = b.lanes(WIDE) * sw + first
        return b.gather(x, places + start, b.ge(places, 0) & b.lt(places, limit))

    def plane(index: Any) -> None:
        outer, depth = split(b, index, dp)
        source_d = depth - fd
        depth_in = b.ge(source_d, 0) & b.lt(source_d, d)
        source = b.mul(b.add(b.mul(outer, d), source_d), b.mul(h, w))
        target = b.add(b.mul(outer, channel), b.mul(b.mul(depth, hp), row_length))

        def row(r: Any) -> None:
            source_h = r - fh
            limit = b.select(depth_in & b.ge(source_h, 0) & b.lt(source_h, h), w, 0)
            start = source + source_h * w
            goal = target + r * row_length

            def phase(f: Any) -> None:
                def vector(q: Any) -> None:
                    first = b.sub(b.add(b.mul(q, sw), f), fw)
                    value = piece(start, limit, first)
                    b.store(out, b.add(b.add(goal, b.mul(f, wq)), q), b.convert(value, out.elem))

                b.for_(0, wq, WIDE, vector)

            if step == 1:
                phase(0)
            else:
                b.for_(0, sw, 1, phase)

        b.for_(0, hp, 1, row)

    b.parallel_for(0, lead * dp, grain, plane)
    return b.finish()


def _inside(b: Builder, x: Any, start: Any, first: Any, limit: Any, lanes: int) -> Any:
    places = b.lanes(lanes, "i32") + b.convert(first, "i32")
    narrow = b.splat(b.convert(limit, "i32"), lanes)
    mask = b.ge(places, 0) & b.lt(places, narrow)
    return b.load(x, start + first, lanes, mask)


@built_once
def channel_last_function(elem: str) -> Function:
    """``x`` (lead, rows, P) into (lead, P, width): pixels first. P and ``width`` are multiples of `WIDE` there."""
    b = Builder("conv_channel_last")
    x, out = b.buffer("x", elem), b.buffer("turned", compute_elem(elem))
    lead, rows, pixels, width, grain = (b.dim(name) for name in ("lead", "rows", "pixels", "width", "grain"))
    padded_pixels = b.ceil_div(pixels, WIDE) * WIDE
    blocks = b.div(width, WIDE)

    def block(index: Any) -> None:
        outer, r = split(b, index, blocks)
        r = r * WIDE
        source = b.mul(b.add(b.mul(outer, rows), r), pixels)
        target = b.add(outer * padded_pixels * width, r)
        starts = [source + pixels * i for i in range(WIDE)]
        limits = [b.select(b.lt(r + i, rows), pixels, 0) for i in range(WIDE)]

        def square(p: Any) -> None:
            lines = [
                b.convert(b.load(x, start + p, WIDE, below(b, limit - p, WIDE)), out.elem)
                for start, limit in zip(starts, limits, strict=True)
            ]
            for i, line in enumerate(transposed(b, lines)):
                b.store(out, target + (p + i) * width, line)

        b.for_(0, pixels, WIDE, square)

    b.parallel_for(0, lead * blocks, grain, block)
    return b.finish()


@built_once
def interleave_function(elem: str, rank: int, sink: Any, step: int) -> Function:
    """Phases (n, c, d, h, sw, Tq) into rows: element ``i`` of a row is place ``i // sw`` of phase ``i % sw``."""
    b = Builder("conv_interleave")
    x = b.buffer("phases", elem)
    lead, channels, d, h, w = (b.dim(name) for name in ("lead", "channels", "d", "h", "w"))
    sw, tq, grain = (b.dim(name) for name in ("sw", "tq", "grain"))
    sink.declare(b)
    row_length = b.mul(sw, tq)

    def plane(index: Any) -> None:
        n, c = split(b, index, channels)

        def row(depth: Any, r: Any) -> None:
            start = b.mul(b.add(b.mul(b.add(b.mul(index, d), depth), h), r), row_length)

            def put(i: Any, value: Any, mask: Any = None) -> None:
                sink.store(b, (n, c, *(depth, r, i)[3 - rank :]), b.convert(value, sink.out.elem), mask)

            if step == 2 and sink.can_mask:

                def pair(i: Any) -> None:
                    at = start + b.shr(i, 1)
                    even, odd = b.load(x, at, WIDE), b.load(x, at + tq, WIDE)
                    mixed = b.shuffle(even, odd, [k // 2 + WIDE * (k % 2) for k in range(2 * WIDE)])
                    b.if_(
                        b.le(i + 2 * WIDE, w),
                        lambda: put(i, mixed),
                        lambda: put(i, mixed, below(b, w - i, 2 * WIDE)),
                    )

                b.for_(0, w, 2 * WIDE, pair)
            else:

                def single(i: Any) -> None:
                    place, phase = split(b, i, sw)
                    put(i, b.load(x, start + phase * tq + place))

                b.for_(0, w, 1, single)

        b.for_(0, d, 1, lambda depth: b.for_(0, h, 1, lambda r: row(depth, r)))

    b.parallel_for(0, lead * channels, grain, plane)
    return b.finish()
