"""``fft`` and ``rfft``, axis by axis, in float64 whatever the type, rounded at the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

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

Load: TypeAlias = "Callable[[Value], Pair]"
Store: TypeAlias = "Callable[[Value, Pair], None]"

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
    return _Lines(source, goal, real).build()


class _Lines:
    """Transforms lines of ``n`` numbers, `LANES` neighbouring ones at a time.

    Lengths with large factors are convolved (Bluestein); ``size``, the length of transforms, is then a power of two.
    """

    def __init__(self, source: str, goal: str, real: bool) -> None:
        self.b = b = Builder(f"{'rfft' if real else 'fft'}_{source}")
        self.goal, self.real = goal, real
        self.x, self.out = b.buffer("x", source), b.buffer("out", goal)
        self.outer, self.n, self.inner, self.kept = (b.dim(name) for name in ("outer", "n", "inner", "kept"))
        self.sign, self.division = b.dim("sign", "f64"), b.dim("division")

    def build(self) -> Function:
        b, n = self.b, self.n
        lines = self.outer * self.inner
        b.fail(b.lt(n, 1) & b.gt(lines, 0), 1)
        length, one = b.convert(n, "f64"), b.const(1.0, "f64")
        divisor = b.select(b.eq(self.division, 1), b.sqrt(length), b.select(b.eq(self.division, 2), length, one))
        self.scale = 1.0 / divisor
        self.convolved = b.gt(largest_factor(b, n), LARGEST)
        self.size = size = b.if_(self.convolved, lambda: next_power(b, n * 2 - 1), lambda: n)[0]
        # tables: roots of the transform, then the chirp and the transform of the filter with room behind it
        tables = b.alloc((size * 2 + n * 2 + size * 4) * 8, "f64")
        self.cos, self.sin = tables, b.view(tables, size * 8, "f64")
        self.chirp = Area(b, b.view(tables, size * 16, "f64"), b.view(tables, (size * 2 + n) * 8, "f64"), 1)
        filter_at = (size * 2 + n * 2) * 8
        self.filter = Area(b, b.view(tables, filter_at, "f64"), b.view(tables, filter_at + size * 16, "f64"), 1)
        missing = b.is_null(tables)
        b.fail(missing, 2)
        whole = b.div(lines, LANES)

        def work() -> None:
            self.fill_tables()
            units = whole + b.rem(lines, LANES)
            grain = b.max(b.const(512) / at_least_one(b, size), 1)
            b.parallel(0, units, grain, lambda lo, hi: self.chunk(lo, hi, whole))

        b.if_(~missing & b.gt(n, 0) & b.gt(lines, 0), work)
        b.free(tables)
        return b.finish()

    def fill_tables(self) -> None:
        fill_roots(self.b, self.cos, self.sin, self.size, self.size, lambda k: k)
        self.b.if_(self.convolved, self.make_filter)

    def make_filter(self) -> None:
        """The chirp, and the transform of the filter that convolves with it."""
        b, n, chirp, filter_ = self.b, self.n, self.chirp, self.filter
        fill_roots(b, chirp.re, chirp.im, n * 2, n, lambda k: b.rem(k * k, b.splat(n * 2, k.type.lanes)))

        def zero(i: Value) -> None:
            filter_.store(i, Pair(b.const(0.0, "f64"), b.const(0.0, "f64")))

        def mirror(k: Value) -> None:
            w = chirp.load(k)
            chirp.store(k, Pair(w.re, w.im * self.sign))
            turned = Pair(w.re, -(w.im * self.sign))
            filter_.store(k, turned)
            filter_.store(b.select(b.eq(k, 0), b.const(0), self.size - k), turned)

        b.for_(0, self.size, 1, zero)
        b.for_(0, n, 1, mirror)
        self.transform(filter_, b.const(-1.0, "f64"))

    def transform(self, data: Area, sign: Any) -> None:
        self.b.call(transform_kernel(data.lanes), [data.re, data.im, self.cos, self.sin], [self.size, sign])

    def chunk(self, lo: Value, hi: Value, whole: Value) -> None:
        """Units of `LANES` lines, ``whole`` of them, then of one line each."""
        b = self.b
        memory = b.alloc(self.size * (4 * 8 * LANES), "f64")
        lost = b.is_null(memory)
        b.fail(lost, 2)

        def unit(u: Value) -> None:
            b.if_(
                b.lt(u, whole),
                lambda: self.unit(u * LANES, LANES, memory),
                lambda: self.unit(whole * LANES + u - whole, 1, memory),
            )

        b.if_(~lost, lambda: b.for_(lo, hi, 1, unit))
        b.free(memory)

    def unit(self, first: Value, lanes: int, memory: Buffer) -> None:
        """Some neighbouring lines."""
        b, inner = self.b, self.inner
        data = Area(b, memory, b.view(memory, self.size * (2 * 8 * lanes), "f64"), lanes)
        line = b.lanes(lanes) + first
        o, i = b.div(line, at_least_one(b, inner)), b.rem(line, at_least_one(b, inner))
        source_at, goal_at = o * (self.n * inner) + i, o * (self.kept * inner) + i

        def load(t: Value) -> Pair:
            return self.load(source_at + t * inner)

        def store(t: Value, value: Pair) -> None:
            self.store((goal_at + t * inner) * 2, value)

        b.if_(self.convolved, lambda: self.convolve(data, load, store), lambda: self.directly(data, load, store))

    def directly(self, data: Area, load: Load, store: Store) -> None:
        b = self.b
        b.for_(0, self.n, 1, lambda t: data.store(t, load(t)))
        self.transform(data, self.sign)
        b.for_(0, self.kept, 1, lambda t: store(t, data.load(t)))

    def convolve(self, data: Area, load: Load, store: Store) -> None:
        b, size, n = self.b, self.size, self.n

        def factor(area: Area, t: Value) -> Pair:
            one = area.load(t)
            return Pair(b.splat(one.re, data.lanes), b.splat(one.im, data.lanes))

        zeros = b.const(0.0, VType("f64", data.lanes))
        b.for_(n, size, 1, lambda t: data.store(t, Pair(zeros, zeros)))
        b.for_(0, n, 1, lambda t: data.store(t, load(t).times(factor(self.chirp, t))))
        self.transform(data, b.const(-1.0, "f64"))
        b.for_(0, size, 1, lambda t: data.store(t, data.load(t).times(factor(self.filter, t))))
        self.transform(data, b.const(1.0, "f64"))
        share = 1.0 / b.convert(size, "f64")
        b.for_(0, self.kept, 1, lambda t: store(t, data.load(t).times(factor(self.chirp, t)).scaled(share)))

    def load(self, at: Value) -> Pair:
        b = self.b
        if self.real:
            value = b.convert(b.gather(self.x, at), "f64")
            return Pair(value, b.const(0.0, value))
        re, im = (b.convert(b.gather(self.x, at * 2 + k), "f64") for k in range(2))
        return Pair(re, im)

    def store(self, at: Value, value: Pair) -> None:
        for k, part in enumerate((value.re, value.im)):
            self.b.scatter(self.out, at + k, self.b.convert(part * self.scale, self.goal))
