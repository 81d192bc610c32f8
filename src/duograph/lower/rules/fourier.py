"""``fft`` and ``rfft``, axis by axis, in float64 whatever the type, rounded at the end."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..kernels.fourier import (
    LANES,
    LARGEST,
    Area,
    Pair,
    fill_roots,
    largest_factor,
    next_power,
    transform_kernel,
)  # fmt: skip
from ..kernels.strided import copy_all
from ..kernels.walk import at_least_one
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..loop.types import VType
from ..lowering import Lowering
from ..rule import kernel
from .cumulative import along

_NORMS = ("backward", "ortho", "forward")


@kernel("fft")
def fft(c: Lowering) -> None:
    """The last of the axes first; between axes numbers stay in float64."""
    (x,), (out,) = c.ins, c.outs
    axes, inverse = c.attrs["axes"], c.attrs["inverse"]
    if not axes:
        copy_all(c, x, out, out.size)
        return
    here: Any = x
    for number, axis in enumerate(reversed(axes)):
        there: Any = out if number == len(axes) - 1 else c.temp("f64", x.size * 2)
        outer, n, inner = along(x, axis)
        function = _lines(here.elem, there.elem, real=False)
        c.call(function, [here, there], [outer, n, inner, n, *_kind(c, inverse)])
        here = there


@kernel("rfft")
def rfft(c: Lowering) -> None:
    (x,), (out,), axis = c.ins, c.outs, c.attrs["axis"]
    outer, n, inner = along(x, axis)
    c.call(_lines(x.elem, out.elem, real=True), [x, out], [outer, n, inner, out.shape[axis], *_kind(c, inverse=False)])


def _kind(c: Lowering, inverse: bool) -> list[Any]:
    """The sign of the exponent, and what divides the result: 0 nothing, 1 the root of the length, 2 the length."""
    norm = _NORMS.index(c.attrs["norm"])
    return [1.0 if inverse else -1.0, 2 - norm if inverse else norm]


@cache
def _lines(source: str, goal: str, real: bool) -> Function:
    b = Builder(f"{'rfft' if real else 'fft'}_{source}")
    x, out = b.buffer("x", source), b.buffer("out", goal)
    outer, n, inner, kept = (b.dim(name) for name in ("outer", "n", "inner", "kept"))
    sign, division = b.dim("sign", "f64"), b.dim("division")
    lines = outer * inner
    b.fail(b.lt(n, 1) & b.gt(lines, 0), 1)
    length = b.convert(n, "f64")
    divisor = b.select(b.eq(division, 1), b.sqrt(length), b.select(b.eq(division, 2), length, b.const(1.0, "f64")))
    scale = 1.0 / divisor
    convolved = b.gt(largest_factor(b, n), LARGEST)
    size = b.if_(convolved, lambda: next_power(b, n * 2 - 1), lambda: n)[0]
    # tables: roots of the transform, then the chirp and the transform of the filter with room behind it
    tables = b.alloc((size * 2 + n * 2 + size * 4) * 8, "f64")
    cos, sin = tables, b.view(tables, size * 8, "f64")
    chirp = Area(b, b.view(tables, size * 16, "f64"), b.view(tables, (size * 2 + n) * 8, "f64"), 1)
    filter_at = size * 2 + n * 2
    filter_ = Area(b, b.view(tables, filter_at * 8, "f64"), b.view(tables, (filter_at + size * 2) * 8, "f64"), 1)
    missing = b.is_null(tables)
    b.fail(missing, 2)

    def transform(data: Area, sign: Any) -> None:
        b.call(transform_kernel(data.lanes), [data.re, data.im, cos, sin], [size, sign])

    def prepare() -> None:
        fill_roots(b, cos, sin, size, size, lambda k: k)
        b.if_(convolved, make_filter)

    def make_filter() -> None:
        fill_roots(b, chirp.re, chirp.im, n * 2, n, lambda k: b.rem(k * k, b.splat(n * 2, k.type.lanes)))

        def zero(i: Value) -> None:
            filter_.store(i, Pair(b.const(0.0, "f64"), b.const(0.0, "f64")))

        def mirror(k: Value) -> None:
            w = chirp.load(k)
            chirp.store(k, Pair(w.re, w.im * sign))
            turned = Pair(w.re, -(w.im * sign))
            filter_.store(k, turned)
            filter_.store(b.select(b.eq(k, 0), b.const(0), size - k), turned)

        b.for_(0, size, 1, zero)
        b.for_(0, n, 1, mirror)
        transform(filter_, b.const(-1.0, "f64"))

    def run(first: Value, lanes: int, memory: Buffer) -> None:
        """Some neighbouring lines."""
        data = Area(b, memory, b.view(memory, size * (2 * 8 * lanes), "f64"), lanes)
        line = b.lanes(lanes) + first
        o, i = b.div(line, at_least_one(b, inner)), b.rem(line, at_least_one(b, inner))
        source_at, goal_at = o * (n * inner) + i, o * (kept * inner) + i

        def load(t: Value) -> Pair:
            at = source_at + t * inner
            if real:
                value = b.convert(b.gather(x, at), "f64")
                return Pair(value, b.const(0.0, value))
            re, im = (b.convert(b.gather(x, at * 2 + k), "f64") for k in range(2))
            return Pair(re, im)

        def store(t: Value, value: Pair) -> None:
            at = (goal_at + t * inner) * 2
            for k, part in enumerate((value.re, value.im)):
                b.scatter(out, at + k, b.convert(part * scale, goal))

        def wide(p: Pair) -> Pair:
            return Pair(b.splat(p.re, lanes), b.splat(p.im, lanes))

        def directly() -> None:
            b.for_(0, n, 1, lambda t: data.store(t, load(t)))
            transform(data, sign)
            b.for_(0, kept, 1, lambda t: store(t, data.load(t)))

        def by_convolution() -> None:
            zeros = b.const(0.0, VType("f64", lanes))
            b.for_(n, size, 1, lambda t: data.store(t, Pair(zeros, zeros)))
            b.for_(0, n, 1, lambda t: data.store(t, load(t).times(wide(chirp.load(t)))))
            transform(data, b.const(-1.0, "f64"))
            b.for_(0, size, 1, lambda t: data.store(t, data.load(t).times(wide(filter_.load(t)))))
            transform(data, b.const(1.0, "f64"))
            share = 1.0 / b.convert(size, "f64")
            b.for_(0, kept, 1, lambda t: store(t, data.load(t).times(wide(chirp.load(t))).scaled(share)))

        b.if_(convolved, by_convolution, directly)

    whole = b.div(lines, LANES)

    def chunk(lo: Value, hi: Value) -> None:
        memory = b.alloc(size * (4 * 8 * LANES), "f64")
        lost = b.is_null(memory)
        b.fail(lost, 2)

        def unit(u: Value) -> None:
            b.if_(
                b.lt(u, whole),
                lambda: run(u * LANES, LANES, memory),
                lambda: run(whole * LANES + u - whole, 1, memory),
            )

        b.if_(~lost, lambda: b.for_(lo, hi, 1, unit))
        b.free(memory)

    def work() -> None:
        prepare()
        units = whole + b.rem(lines, LANES)
        b.parallel(0, units, b.max(b.const(512) / at_least_one(b, size), 1), chunk)

    b.if_(~missing & b.gt(n, 0) & b.gt(lines, 0), work)
    b.free(tables)
    return b.finish()
