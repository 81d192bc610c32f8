"""Weights in the order in which the micro-kernel reads them, and the table of image offsets of all k."""

from __future__ import annotations

from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Function
from ..loop.types import VType
from .parts import cached, compute_elem, split


def table_function() -> Function:
    """``table[k]``: offset of k = (channel, jd, jh, jw) from the first tap; behind the last k zeros up to ``padded``.

    Tap jw of a row split into ``sw`` phases of length ``wq`` lies at ``t = jw * step_w``: place t / sw of phase t % sw.
    """
    return cached(("table",), _table)


def _table() -> Function:
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


def pack_function(elem: str, rows: int) -> Function:
    """Weights (any strides) into (groups, blocks, k, ``rows``); rows that do not exist are zeros."""
    return cached(("pack", elem, rows), lambda: _pack(elem, rows))


def _pack(elem: str, rows: int) -> Function:
    b = Builder("conv_pack")
    w, out = b.buffer("w", elem), b.buffer("packed", compute_elem(elem))
    groups, count, channels, kd, kh, kw = (b.dim(name) for name in ("groups", "count", "channels", "kd", "kh", "kw"))
    base, by_group, by_row, by_channel = (b.dim(name) for name in ("base", "by_group", "by_row", "by_channel"))
    by_d, by_h, by_w, grain = (b.dim(name) for name in ("by_d", "by_h", "by_w", "grain"))
    blocks = b.ceil_div(count, rows)
    length = channels * kd * kh * kw * rows
    nothing = b.const(0, VType(out.elem))

    def block(index: Any) -> None:
        g, ob = split(b, index, blocks)
        starts, real = [], []
        for i in range(rows):
            row = ob * rows + i
            real.append(b.lt(row, count))
            # rows that do not exist read the last one that does
            starts.append(base + g * by_group + b.min(row, count - 1) * by_row)

        def tap(at: Any, offset: Any) -> Any:
            for i in range(rows):
                value = b.convert(b.load(w, starts[i] + offset), out.elem)
                b.store(out, at + i, b.select(real[i], value, nothing))
            return at + rows

        def over(extent: Any, stride: Any, inner: Any) -> Any:
            return lambda at, offset: b.for_(0, extent, 1, lambda j, at: inner(at, offset + j * stride), [at])

        walk = over(channels, by_channel, over(kd, by_d, over(kh, by_h, over(kw, by_w, tap))))
        walk(index * length, b.const(0))

    b.parallel(0, groups * blocks, grain, lambda lo, hi: b.for_(lo, hi, 1, lambda i: block(i)))
    return b.finish()
