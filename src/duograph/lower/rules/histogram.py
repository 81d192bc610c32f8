"""``histogram``: counts in equal intervals, with the intervals of ``numpy.histogram``."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..kernels.fill import zero
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..lowering import Lowering
from ..rule import kernel
from .creation import number_as

PARTS = 8
"""Counters are kept in so many sets, each by one part of the elements; how many does not depend on threads."""


@kernel("histogram")
def histogram(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    bins, low, high = c.attrs["bins"], float(c.attrs["low"]), float(c.attrs["high"])
    wide = "f32" if x.elem == "f32" else "f64"
    searched = low == high == 0.0
    if low == high and not searched:
        low, high = low - 1.0, high + 1.0
    edges = c.temp(wide, bins + 2)
    c.call(_edges(x.elem, wide, searched), [x, edges], [x.size, bins, low, high])
    counts = c.temp("i64", PARTS * bins)
    zero(c, counts, PARTS * bins)
    c.call(_count(x.elem, wide), [x, edges, counts], [x.size, bins])
    c.call(_join(out.elem), [counts, out], [bins])


@cache
def _edges(elem: str, wide: str, searched: bool) -> Function:
    """The bounds of the intervals, ``bins + 1`` of them, then the width of all; by the range of the data if wanted."""
    b = Builder(f"histogram_edges_{elem}")
    x, edges = b.buffer("x", elem), b.buffer("edges", wide)
    n, bins = b.dim("n"), b.dim("bins")
    low, high = b.dim("low", "f64"), b.dim("high", "f64")
    if searched:

        def found() -> tuple[Value, Value]:
            first = b.convert(b.convert(b.load(x, 0), wide), "f64")

            def widen(i: Value, least: Value, most: Value) -> tuple[Value, Value]:
                value = b.convert(b.convert(b.load(x, i), wide), "f64")
                least = b.select(b.lt(value, least) | b.isnan(value), value, least)
                return least, b.select(b.gt(value, most) | b.isnan(value), value, most)

            least, most = b.for_(1, n, 1, widen, (first, first))
            same = b.eq(least, most)
            return b.select(same, least - 1.0, least), b.select(same, most + 1.0, most)

        low, high = b.if_(b.gt(n, 0), found, lambda: (low - 1.0, high + 1.0))
    finite = b.lt(b.abs(low), float("inf")) & b.lt(b.abs(high), float("inf"))
    b.fail(~finite, 1)
    delta = high - low
    intervals = b.convert(bins, "f64")
    step = delta / intervals
    vanishing = b.eq(step, 0.0)

    def edge(i: Value) -> Value:
        index = b.convert(i, "f64")
        value = b.select(vanishing, (index / intervals) * delta, index * step) + low
        return b.convert(b.select(b.eq(i, bins), high, value), wide)

    def store(i: Value, before: Value) -> Value:
        value = edge(i)
        b.store(edges, i, value)
        b.fail(b.gt(i, 0) & b.ge(before, value), 1)  # too many intervals for the range
        return value

    b.for_(0, bins + 1, 1, store, [b.const(0.0, wide)])
    b.store(edges, bins + 1, b.convert(delta, wide))
    return b.finish()


@cache
def _count(elem: str, wide: str) -> Function:
    """The interval is computed, then put right by its bounds, as NumPy does."""
    b = Builder(f"histogram_{elem}")
    x, edges, counts = b.buffer("x", elem), b.buffer("edges", wide), b.buffer("counts", "i64")
    n, bins = b.dim("n"), b.dim("bins")
    low, high, width = b.load(edges, 0), b.load(edges, bins), b.load(edges, bins + 1)
    factor = b.convert(bins, wide)
    share = b.ceil_div(n, PARTS)

    def part(p: Value) -> None:
        own = p * bins

        def one(i: Value) -> None:
            value = b.convert(b.load(x, i), wide)
            inside = b.ge(value, low) & b.le(value, high)
            safe = b.select(inside, value, low)
            index = b.convert(((safe - low) / width) * factor, "i64")
            index = b.max(b.min(index, bins - 1), 0)
            index = b.select(b.lt(safe, b.load(edges, index)), index - 1, index)
            index = b.max(index, 0)
            above = b.ge(safe, b.load(edges, index + 1)) & b.ne(index, bins - 1)
            index = b.select(above, index + 1, index)

            def count() -> None:
                b.store(counts, own + index, b.load(counts, own + index) + 1)

            b.if_(inside, count)

        b.for_(p * share, b.min(p * share + share, n), 1, one)

    b.parallel_for(0, PARTS, b.max(b.const(4096) / b.max(share, 1), 1), part)
    return b.finish()


@cache
def _join(elem: str) -> Function:
    b = Builder(f"histogram_total_{elem}")
    counts, out, bins = b.buffer("counts", "i64"), b.buffer("out", elem), b.dim("bins")

    def one(i: Value) -> None:
        total: Any = b.load(counts, i)
        for part in range(1, PARTS):
            total = total + b.load(counts, i + bins * part)
        b.store(out, i, number_as(b, total, elem))

    b.for_(0, bins, 1, one)
    return b.finish()
