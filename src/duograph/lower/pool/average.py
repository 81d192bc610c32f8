"""Mean pooling and its adjoint."""

from __future__ import annotations

from math import prod
from typing import Any

from ..conv.parts import below, built_once, compute_elem
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..loop.types import VType
from .window import Form, Windows


class Divisors:
    """What sums are divided by: the number of elements, or a number for all.

    Dims: the extents that count as covered, [low, high) per axis, and the number (0: count).
    """

    def __init__(self, b: Builder, windows: Windows, elem: str, fixed: bool) -> None:
        self.b, self.windows, self.elem = b, windows, elem
        self.low = [b.dim(f"low_{axis}") for axis in "dhw"]
        self.high = [b.dim(f"high_{axis}") for axis in "dhw"]
        self.fixed = b.convert(b.dim("divisor", "f64"), elem) if fixed else None

    def covered(self, axis: int, base: Any) -> Any:
        """Elements of a window that count along an axis."""
        b = self.b
        return b.min(base + self.windows.kernel[axis], self.high[axis]) - b.max(base, self.low[axis])

    def along_row(self, base_d: Any, base_h: Any, base: Any, lanes: int) -> Value:
        """The divisors of ``lanes`` windows of a row of which the first starts at ``base``."""
        b = self.b
        if self.fixed is not None:
            return b.splat(self.fixed, lanes)
        if self.windows.form.rows:  # no window is cut
            return b.const(prod(self.windows.kernel), VType(self.elem, lanes))
        outer = b.convert(self.covered(0, base_d) * self.covered(1, base_h), "i32")
        first, step, kernel, high, low = (
            b.splat(b.convert(b.value(v), "i32"), lanes)
            for v in (base, self.windows.stride[2], self.windows.kernel[2], self.high[2], self.low[2])
        )
        start = b.lanes(lanes, "i32") * step + first
        inner = b.min(start + kernel, high) - b.max(start, low)
        return b.convert(inner * b.splat(outer, lanes), VType(self.elem, lanes))


@built_once
def avg_pool_function(elem: str, form: Form, fixed: bool) -> Function:
    """Buffers: x, out. Dims: planes, grain, those of `Windows` and of `Divisors`."""
    return _AvgPool(elem, form, fixed).build()


class _AvgPool:
    def __init__(self, elem: str, form: Form, fixed: bool) -> None:
        self.b = b = Builder("avg_pool")
        self.x, self.out = b.buffer("x", elem), b.buffer("out", elem)
        self.planes, self.grain = b.dim("planes"), b.dim("grain")
        self.form, self.windows, self.elem = form, Windows(b, form), compute_elem(elem)
        self.divisors = Divisors(b, self.windows, self.elem, fixed)

    def build(self) -> Function:
        b, w, lanes = self.b, self.windows, self.form.lanes
        nothing = b.const(0.0, VType(self.elem, lanes))

        def plane(p: Any) -> None:
            start, out = p * w.plane, p * w.outputs

            def row(base_d: Any, base_h: Any, done: Any, ranges: Any) -> None:
                def over_rows(body: Any) -> Value:
                    def line(kd: Any, kh: Any, total: Value) -> list[Value]:
                        depth, y = b.add(base_d, kd), b.add(base_h, kh)
                        return [body(start + (depth * w.size[1] + y) * w.size[2], total)]

                    return w.lines(ranges, line, [nothing])[0]

                def full(x: Any, base: Any) -> None:
                    def line(at: Any, total: Value) -> Value:
                        load = w.loader(self.x, at + base)
                        return w.taps(lambda kw, t: [t + b.convert(load(kw), self.elem)], [total])[0]

                    self.store(
                        out + done + x, over_rows(line), self.divisors.along_row(base_d, base_h, base, lanes), None
                    )

                def part(x: Any, base: Any, count: Any) -> None:
                    def tap(at: Any, kw: Any, total: Value) -> list[Value]:
                        value, inside = w.masked(self.x, at, base, kw)
                        return [total + b.select(inside, b.convert(value, self.elem), nothing)]

                    total = over_rows(lambda at, total: w.taps(lambda kw, t: tap(at, kw, t), [total])[0])
                    self.store(out + done + x, total, self.divisors.along_row(base_d, base_h, base, lanes), count)

                w.vectors(full, part)

            w.rows(row)

        b.parallel_for(0, self.planes, self.grain, plane)
        return b.finish()

    def store(self, at: Any, total: Value, divisor: Value, count: Any) -> None:
        b, lanes = self.b, self.form.lanes
        mask = None if count is None or lanes == 1 else below(b, count, lanes)
        b.store(self.out, at, b.convert(total / divisor, self.out.elem), mask)


@built_once
def shares_function(elem: str, form: Form, fixed: bool) -> Function:
    """``dout / divisor`` at every position. Buffers: dout, shares. Dims as `avg_pool_function`."""
    b = Builder("avg_pool_shares")
    dout, out = b.buffer("dout", elem), b.buffer("shares", compute_elem(elem))
    planes, grain = b.dim("planes"), b.dim("grain")
    w = Windows(b, form)
    divisors = Divisors(b, w, out.elem, fixed)

    def plane(p: Any) -> None:
        def share(at: Any, lanes: int, divisor: Value) -> None:
            b.store(out, at, b.convert(b.load(dout, at, lanes), out.elem) / divisor)

        def row(base_d: Any, base_h: Any, done: Any, _: Any) -> None:
            start = p * w.outputs + done

            def some(x: Any, lanes: int) -> None:
                first = x * w.stride[2] - w.front[2]
                share(start + x, lanes, divisors.along_row(base_d, base_h, first, lanes))

            b.vector_loop(0, w.count[2], form.lanes, some)

        if fixed or form.rows:  # one divisor for all
            start = p * w.outputs
            b.vector_loop(start, start + w.outputs, 16, lambda at, n: share(at, n, divisors.along_row(0, 0, 0, n)))
        else:
            w.rows(row)

    b.parallel_for(0, planes, grain, plane)
    return b.finish()


@built_once
def spread_function(elem: str, form: Form) -> Function:
    """Zeros, plus every share added to the elements of its window that exist, tap by tap. Buffers: shares, total.

    Dims: planes, grain, and those of `Windows`.
    """
    b = Builder("avg_pool_spread")
    shares, total = b.buffer("shares", elem), b.buffer("total", elem)
    planes, grain = b.dim("planes"), b.dim("grain")
    w = Windows(b, form)

    def positions(axis: int, tap: Any) -> tuple[Any, Any]:
        """The range of positions whose element ``tap`` exists."""
        shift, step = b.sub(w.front[axis], tap), w.stride[axis]
        lo = b.ceil_div(b.max(shift, 0), step)
        return lo, b.min(w.count[axis], b.ceil_div(b.max(w.size[axis] + shift, 0), step))

    def plane(p: Any) -> None:
        start, source = p * w.plane, p * w.outputs
        b.vector_loop(0, w.plane, 16, lambda i, lanes: b.store(total, start + i, b.const(0, VType(elem, lanes))))

        def rows(kd: Any, kh: Any, body: Any) -> None:
            """``body(goal, from_)``: where the rows begin that meet in the tap."""
            (d0, d1), (h0, h1) = positions(0, kd), positions(1, kh)

            def row(z: Any, y: Any) -> None:
                line_d, line_h = z * w.stride[0] + kd - w.front[0], y * w.stride[1] + kh - w.front[1]
                goal = start + (line_d * w.size[1] + line_h) * w.size[2] - w.front[2]
                body(goal, source + (z * w.count[1] + y) * w.count[2])

            b.for_(d0, d1, 1, lambda z: b.for_(h0, h1, 1, lambda y: row(z, y)))

        def add(at: Any, value: Value) -> None:
            b.store(total, at, b.load(total, at, value.type.lanes) + value)

        def tap(goal: Any, from_: Any, kw: Any, w0: Any, w1: Any, lanes: int) -> None:
            at = b.add(goal, kw)
            b.vector_loop(
                w0, w1, lanes, lambda x, lanes: add(at + b.mul(x, w.stride[2]), b.load(shares, from_ + x, lanes))
            )

        def pair(goal: Any, from_: Any, kw: int) -> None:
            """Taps kw and kw + 1 of stride 2, which add to neighbours and never to the same element."""
            (a0, a1), (b0, b1) = positions(2, kw), positions(2, kw + 1)
            lo = b.max(a0, b0)
            hi = b.max(lo, b.min(a1, b1))

            def both(x: Any) -> None:
                value = b.load(shares, from_ + x, 8, below(b, hi - x, 8))
                at, mask = goal + x * 2 + kw, below(b, (hi - x) * 2, 16)
                old = b.load(total, at, 16, mask)
                b.store(total, at, old + b.shuffle(value, value, [k // 2 for k in range(16)]), mask)

            b.for_(lo, hi, 8, both)
            for k, first, last in ((kw, a0, a1), (kw + 1, b0, b1)):
                tap(goal, from_, k, first, b.min(lo, last), 1)
                tap(goal, from_, k, hi, last, 1)

        def width(kd: Any, kh: Any) -> None:
            if form.step != 2:
                lanes = 16 if form.step == 1 else 1
                b.for_(
                    0, w.kernel[2], 1,
                    lambda kw: rows(kd, kh, lambda goal, from_: tap(goal, from_, kw, *positions(2, kw), lanes)),
                )  # fmt: skip
                return
            for kw in range(0, form.width - 1, 2):
                rows(kd, kh, lambda goal, from_, kw=kw: pair(goal, from_, kw))  # type: ignore[misc]
            if form.width % 2:
                kw = form.width - 1
                rows(kd, kh, lambda goal, from_: tap(goal, from_, kw, *positions(2, kw), 1))

        b.for_(0, w.kernel[0], 1, lambda kd: b.for_(0, w.kernel[1], 1, lambda kh: width(kd, kh)))

    b.parallel_for(0, planes, grain, plane)
    return b.finish()
