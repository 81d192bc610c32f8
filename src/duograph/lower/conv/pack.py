"""Weights in the order in which the micro-kernel reads them, and the table of image offsets of all k."""

from __future__ import annotations

from typing import Any

from ..lanes import transposed
from ..loop.builder import Builder
from ..loop.ir import Function
from .parts import built_once, compute_elem, split


@built_once
def table_function() -> Function:
    """``table[k]``: offset of k = (channel, jd, jh, jw) from the first tap; behind the last k zeros up to ``padded``.

    Tap jw of a row split into ``sw`` phases of length ``wq`` lies at ``t = jw * step_w``: place t / sw of phase t % sw.
    """
    b = Builder("conv_table")
    table = b.buffer("table", "i64")
    channels, kd, kh, kw, padded = (b.dim(name) for name in ("channels", "kd", "kh", "kw", "padded"))
    channel, step_d, step_h, step_w = (b.dim(name) for name in ("channel", "step_d", "step_h", "step_w"))
    sw, wq = b.dim("sw"), b.dim("wq")

    def tap(jw: Any, k: Any, base: Any) -> Any:
        place, phase = split(b, jw * step_w, sw)
        b.store(table, k, base + phase * wq + place)
        return k + 1

    def in_row(jh: Any, k: Any, base: Any) -> Any:
        start = base + jh * step_h
        return b.for_(0, kw, 1, lambda jw, k: tap(jw, k, start), [k])

    def in_plane(jd: Any, k: Any, base: Any) -> Any:
        start = base + jd * step_d
        return b.for_(0, kh, 1, lambda jh, k: in_row(jh, k, start), [k])

    def in_channel(ci: Any, k: Any) -> Any:
        start = ci * channel
        return b.for_(0, kd, 1, lambda jd, k: in_plane(jd, k, start), [k])

    (end,) = b.for_(0, channels, 1, in_channel, [b.const(0)])
    b.for_(end, padded, 1, lambda k: b.store(table, k, b.const(0)))
    return b.finish()


@built_once
def pack_rows_function(elem: str, rows: int) -> Function:
    """Weights (groups, count, k) into (groups, blocks, k, ``rows``); rows that do not exist repeat the last."""
    b = Builder("conv_pack_rows")
    w, out = b.buffer("w", elem), b.buffer("packed", compute_elem(elem))
    groups, count, length, grain = (b.dim(name) for name in ("groups", "count", "k", "grain"))
    blocks = b.ceil_div(count, rows)
    unit = next((n for n in (8, 4) if rows % n == 0), 1)

    def block(index: Any) -> None:
        g, ob = split(b, index, blocks)
        starts = [(g * count + b.min(ob * rows + i, count - 1)) * length for i in range(rows)]
        goal = index * length * rows

        def piece(k: Any, side: int) -> None:
            """A square of ``side`` rows and k at a time, or single numbers."""
            lines = [b.convert(b.load(w, start + k, side), out.elem) for start in starts]
            for first in range(0, rows, side):
                for j, line in enumerate(transposed(b, lines[first : first + side])):
                    b.store(out, goal + (k + j) * rows + first, line)

        b.vector_loop(0, length, unit, piece)

    b.parallel_for(0, groups * blocks, grain, block)
    return b.finish()


TOGETHER = 4
"""Blocks that are packed together, so that what is read lies in longer runs."""


@built_once
def pack_function(elem: str, rows: int) -> Function:
    """Weights of any strides into (groups, blocks, k, ``rows``); rows that do not exist repeat the last."""
    b = Builder("conv_pack")
    w, out = b.buffer("w", elem), b.buffer("packed", compute_elem(elem))
    groups, count, channels, kd, kh, kw = (b.dim(name) for name in ("groups", "count", "channels", "kd", "kh", "kw"))
    base, by_group, by_row, by_channel = (b.dim(name) for name in ("base", "by_group", "by_row", "by_channel"))
    by_d, by_h, by_w, grain = (b.dim(name) for name in ("by_d", "by_h", "by_w", "grain"))
    blocks = b.ceil_div(count, rows)
    taps = kd * kh * kw

    def block(g: Any, ob: Any, ci: Any) -> None:
        """All taps of one channel for one block of rows."""
        start = base + g * by_group + ci * by_channel
        starts = [start + b.min(ob * rows + i, count - 1) * by_row for i in range(rows)]

        def tap(at: Any, offset: Any) -> Any:
            for i in range(rows):
                b.store(out, at + i, b.convert(b.load(w, starts[i] + offset), out.elem))
            return at + rows

        def over(extent: Any, stride: Any, inner: Any) -> Any:
            return lambda at, offset: b.for_(0, extent, 1, lambda j, at: inner(at, offset + j * stride), [at])

        walk = over(kd, by_d, over(kh, by_h, over(kw, by_w, tap)))
        walk(((g * blocks + ob) * channels + ci) * taps * rows, b.const(0))

    parts = b.ceil_div(blocks, TOGETHER)

    def several(index: Any) -> None:
        g, part = split(b, index, parts)
        first = part * TOGETHER
        last = b.min(first + TOGETHER, blocks)
        b.for_(0, channels, 1, lambda ci: b.for_(first, last, 1, lambda ob: block(g, ob, ci)))

    b.parallel_for(0, groups * parts, grain, several)
    return b.finish()
