"""Running reductions along one axis. Each result depends on the one before, so threads and lanes share other axes.

Half types run in float32; every result is rounded on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..kernels.accumulate import accumulator
from ..kernels.scattered import combine, largest, smallest
from ..kernels.walk import at_least_one
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..loop.types import BITS, VType
from ..lowering import Extent, Lowering, Operand, product
from ..rule import kernel

COLUMNS = 64


def along(x: Operand, axis: int) -> list[Extent]:
    """Sizes before, of and behind an axis. A scalar is one element along an axis of size 1."""
    if not x.shape:
        return [1, 1, 1]
    axis %= len(x.shape)
    return [product(x.shape[:axis]), x.shape[axis], product(x.shape[axis + 1 :])]


def columns_of(b: Builder, lanes: int, body: Callable[[Any, Any, Any, int], None]) -> None:
    """``body(first, n, inner, lanes)`` for every column (lane by lane of neighbours, where there are any).

    A column begins at element ``first`` and has ``n`` elements, ``inner`` apart. Declares the dims of `along`.
    """
    outer, n, inner = b.dim("outer"), b.dim("n"), b.dim("inner")
    blocks = b.ceil_div(inner, COLUMNS)
    share = at_least_one(b, b.min(inner, b.const(COLUMNS)) * n)
    many = at_least_one(b, blocks)

    def unit(u: Value) -> None:
        o, column = b.div(u, many), b.rem(u, many) * COLUMNS
        first = o * n * inner + column
        count = b.min(inner - column, b.const(COLUMNS))
        b.vector_loop(0, count, lanes, lambda i, k: body(first + i, n, inner, k))

    columns = b.select(b.gt(n, 0), outer * blocks, 0)  # of empty ones there is nothing to begin with
    b.parallel_for(0, columns, b.max(b.const(8192) / share, 1), unit)


def _load(b: Builder, buf: Buffer, at: Any, lanes: int, parts: int, elem: str) -> list[Value]:
    if parts == 1:
        return [b.convert(b.load(buf, at, lanes), elem)]
    return [b.load(buf, b.add(b.mul(at, 2), k)) for k in range(2)]


def _store(b: Builder, buf: Buffer, at: Any, values: Sequence[Value]) -> None:
    if len(values) == 1:
        b.store(buf, at, b.convert(values[0], buf.elem))
        return
    for k, value in enumerate(values):
        b.store(buf, b.add(b.mul(at, 2), k), value)


def _start(b: Builder, number: int, elem: str, lanes: int, parts: int) -> list[Value]:
    return [b.const(n, VType(elem, lanes)) for n in (number, 0)[:parts]]


# ---- sums and products -----------------------------------------------------------------------------------------------


def _running(c: Lowering, reduction: str) -> None:
    (x,), (out,) = c.ins, c.outs
    elem, parts = accumulator(x)
    function = _running_kernel(x.elem, elem, parts, reduction, c.attrs["exclusive"], c.attrs["reverse"])
    inplace = [] if c.attrs["exclusive"] else [(0, 1)]
    c.call(function, [x, out], along(x, c.attrs["axis"]), inplace)


kernel("cumsum")(lambda c: _running(c, "add"))
kernel("cumprod")(lambda c: _running(c, "mul"))


@cache
def _running_kernel(source: str, elem: str, parts: int, reduction: str, exclusive: bool, reverse: bool) -> Function:
    """The first result is the first element itself (adding it to 0 would lose the sign of a zero)."""
    b = Builder(f"cum_{reduction}_{source}")
    x, out = b.buffer("x", source), b.buffer("out", source)

    def column(first: Value, n: Value, inner: Value, lanes: int) -> None:
        start = _start(b, 0 if reduction == "add" else 1, elem, lanes, parts)
        at = b.add(first, (n - 1) * inner) if reverse else first
        step = -inner if reverse else inner
        head = start if exclusive else _load(b, x, at, lanes, parts, elem)
        _store(b, out, at, head)

        def following(i: Value, place: Value, *total: Value) -> list[Value]:
            """Exclusive: the element before is what comes in; the first of them comes in as it is."""
            there = place + step
            value = _load(b, x, place if exclusive else there, lanes, parts, elem)
            after = combine(b, reduction, total, value)
            if exclusive:
                after = [b.select(b.eq(i, 1), v, a) for v, a in zip(value, after, strict=True)]
            _store(b, out, there, after)
            return [there, *after]

        b.for_(1, n, 1, following, [at, *head])

    columns_of(b, 512 // BITS[elem] if parts == 1 else 1, column)
    return b.finish()


@kernel("linear_scan")
def linear_scan(c: Lowering) -> None:
    (a, x), (out,) = c.ins, c.outs
    elem, parts = accumulator(x)
    function = _linear(x.elem, elem, parts, c.attrs["reverse"])
    c.call(function, [a, x, out], along(x, c.attrs["axis"]), inplace=[(0, 2), (1, 2)])


@cache
def _linear(source: str, elem: str, parts: int, reverse: bool) -> Function:
    """``s = a * s + b``, rounded after the product and after the sum."""
    b = Builder(f"linear_scan_{source}")
    factors, terms, out = (b.buffer(name, source) for name in ("a", "b", "out"))

    def column(first: Value, n: Value, inner: Value, lanes: int) -> None:
        at = b.add(first, (n - 1) * inner) if reverse else first
        step = -inner if reverse else inner

        def following(_: Value, place: Value, *total: Value) -> list[Value]:
            a = _load(b, factors, place, lanes, parts, elem)
            term = _load(b, terms, place, lanes, parts, elem)
            after = combine(b, "add", combine(b, "mul", a, total), term)
            _store(b, out, place, after)
            return [place + step, *after]

        b.for_(0, n, 1, following, [at, *_start(b, 0, elem, lanes, parts)])

    columns_of(b, 512 // BITS[elem] if parts == 1 else 1, column)
    return b.finish()


# ---- extremes --------------------------------------------------------------------------------------------------------


def _extreme(c: Lowering, greatest: bool) -> None:
    (x,), (values, places) = c.ins, c.outs
    elem, _ = accumulator(x)
    c.call(_extreme_kernel(x.elem, elem, greatest), [x, values, places], along(x, c.attrs["axis"]))


kernel("cummax")(lambda c: _extreme(c, greatest=True))
kernel("cummin")(lambda c: _extreme(c, greatest=False))


@cache
def _extreme_kernel(source: str, elem: str, greatest: bool) -> Function:
    """The extreme so far, and the last place that holds it; NaN stays, and its last place is that of the last NaN."""
    b = Builder(f"{'cummax' if greatest else 'cummin'}_{source}")
    x, values, places = b.buffer("x", source), b.buffer("values", source), b.buffer("places", "i64")

    def column(first: Value, n: Value, inner: Value, lanes: int) -> None:
        head = b.convert(b.load(x, first, lanes), elem)
        zero = b.const(0, VType("i64", lanes))
        b.store(values, first, b.convert(head, source))
        b.store(places, first, zero)

        def following(i: Value, at: Value, best: Value, where: Value) -> tuple[Value, Value, Value]:
            here = at + inner
            value = b.convert(b.load(x, here, lanes), elem)
            best = (largest if greatest else smallest)(b, best, value)
            hit = b.eq(value, best)
            if best.type.is_float:
                hit = hit | b.isnan(value)
            where = b.select(hit, b.splat(i, lanes), where)
            b.store(values, here, b.convert(best, source))
            b.store(places, here, where)
            return here, best, where

        b.for_(1, n, 1, following, (first, head, zero))

    columns_of(b, 8, column)
    return b.finish()
