"""Fractional max pooling: windows of equal shape at places that a random number per axis shifts."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..kernels.walk import dims
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..lowering import Lowering, product
from ..rule import kernel


@kernel("fractional_max_pool")
def fractional_max_pool(c: Lowering) -> None:
    (x, samples), (values, places) = c.ins, c.outs
    numbers = [product(x.shape[:2]), *x.shape[2:], *c.attrs["kernel"], *c.attrs["size"]]
    c.call(_pool(x.elem, samples.elem, len(x.shape) - 2), [x, samples, values, places], numbers)


@cache
def _pool(elem: str, sample_elem: str, rank: int) -> Function:
    b = Builder(f"fractional_max_pool_{elem}")
    x, samples = b.buffer("x", elem), b.buffer("samples", sample_elem)
    values, places = b.buffer("values", elem), b.buffer("places", "i64")
    planes = b.dim("planes")
    extents, windows, sizes = dims(b, "extent", rank), dims(b, "window", rank), dims(b, "size", rank)
    wide = "f32" if elem in ("f16", "bf16") else elem
    plane_size, cells = b.product(extents), b.product(sizes)

    def start(plane: Value, axis: int, i: Value) -> Value:
        """The first place of window ``i``: even steps from a random start, the last window at the end."""
        column = rank - 1 - axis if rank == 2 else axis  # in planes the first number is that of the columns
        number = b.convert(b.convert(b.load(samples, plane * rank + column), wide), "f64")
        last = extents[axis] - windows[axis]
        step = b.convert(last, "f64") / b.convert(b.max(sizes[axis] - 1, 1), "f64")
        shifted = _whole(b, (b.convert(i, "f64") + number) * step) - _whole(b, number * step)
        at = b.select(b.eq(i, sizes[axis] - 1), last, shifted)
        outside = b.lt(at, 0) | b.gt(at, last)
        b.fail(outside, 1)
        return b.max(b.min(at, last), 0)

    def cell(plane: Value, at: Value) -> None:
        rest = at
        firsts: list[Value] = []
        for axis in reversed(range(rank)):
            firsts.insert(0, start(plane, axis, b.rem(rest, sizes[axis])))
            rest = b.div(rest, sizes[axis])
        corner = _flat(b, firsts, extents)
        base = plane * plane_size
        best, where = _search(b, x, base, corner, windows, extents, wide)
        b.store(values, plane * cells + at, b.convert(best, elem))
        b.store(places, plane * cells + at, where)

    def chunk(lo: Value, hi: Value) -> None:
        b.for_(lo, hi, 1, lambda plane: b.for_(0, cells, 1, lambda at: cell(plane, at)))

    b.parallel(0, planes, 1, chunk)
    return b.finish()


def _whole(b: Builder, x: Value) -> Value:
    """Truncated; what cannot be an index is noted."""
    valid = b.lt(b.abs(x), 2.0**62)
    b.fail(~valid, 1)
    return b.convert(b.select(valid, x, b.const(0.0, x)), "i64")


def _flat(b: Builder, index: list[Value], extents: list[Value]) -> Value:
    total: Any = 0
    for i, n in zip(index, extents, strict=True):
        total = b.add(b.mul(total, n), i)
    return b.value(total)


def _search(
    b: Builder, x: Buffer, base: Value, corner: Value, windows: list[Value], extents: list[Value], wide: str
) -> tuple[Value, ...]:
    """The largest element of a window and its flat place: the first of equals, or the first NaN."""

    def load(at: Value) -> Value:
        return b.convert(b.load(x, base + at), wide)

    def level(axis: int, at: Value, state: tuple[Value, ...]) -> tuple[Value, ...]:
        if axis == len(windows):
            best, where = state
            value = load(at)
            better = b.gt(value, best) | (b.isnan(value) & ~b.isnan(best))
            return b.select(better, value, best), b.select(better, at, where)
        stride: Any = 1
        for n in extents[axis + 1 :]:
            stride = b.mul(stride, n)
        return b.for_(0, windows[axis], 1, lambda i, *inner: level(axis + 1, at + b.mul(i, stride), inner), state)

    return level(0, corner, (load(corner), corner))
