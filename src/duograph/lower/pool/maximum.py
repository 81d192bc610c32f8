"""Maximum pooling: values, and where they stand in their plane."""

from __future__ import annotations

from itertools import product
from typing import Any

from ..conv.parts import below, built_once, split
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..loop.types import SIGNED, VType
from .window import Form, Windows

_INFINITY = float("inf")


def lowest(type: VType) -> Any:
    """What every number of the type is at least."""
    if type.is_float:
        return -_INFINITY
    return -(1 << (type.bits - 1)) if type.elem in SIGNED else 0


@built_once
def max_pool_function(elem: str, form: Form) -> Function:
    """Buffers: x, values, indices. Dims: planes, grain, and those of `Windows`."""
    return (_UncutMaxPool if form.rows else _MaxPool)(elem, form).build()


def greater(b: Builder, value: Value, best: Value) -> Value:
    """Whether ``value`` displaces ``best``: it is greater, or the first NaN."""
    if not value.type.is_float:
        return b.gt(value, best)
    return b.not_(b.le(value, best)) & b.eq(best, best)


class _MaxPool:
    def __init__(self, elem: str, form: Form) -> None:
        self.b = b = Builder("max_pool")
        self.x, self.values, self.indices = b.buffer("x", elem), b.buffer("values", elem), b.buffer("indices", "i64")
        self.planes, self.grain = b.dim("planes"), b.dim("grain")
        self.form, self.windows = form, Windows(b, form)
        # half types are compared as float32
        self.elem = "f32" if elem in ("f16", "bf16") else elem

    def build(self) -> Function:
        b, w = self.b, self.windows

        def plane(p: Any) -> None:
            start, out = p * w.plane, p * w.outputs

            def row(base_d: Any, base_h: Any, done: Any, ranges: Any) -> None:
                (d0, d1), (h0, h1) = ranges

                def line(kd: Any, kh: Any) -> Any:
                    """Where the row of taps (kd, kh) begins in the plane."""
                    depth = b.add(base_d, b.mul(kd, w.dilation[0]))
                    y = b.add(base_h, b.mul(kh, w.dilation[1]))
                    return b.mul(b.add(b.mul(depth, w.size[1]), y), w.size[2])

                def over_rows(body: Any, carried: list[Value]) -> list[Value]:
                    return w.lines(ranges, lambda kd, kh, *c: body(line(kd, kh), *c), carried)

                def full(x: Any, base: Any) -> None:
                    first = line(d0, h0) + base
                    init = [self.tap(w.loader(self.x, start + first)(0)), self.at(first)]
                    best, place = over_rows(lambda at, *c: self.whole_row(start, at + base, *c), init)
                    self.store(out + done + x, best, place, None)

                def part(x: Any, base: Any, count: Any) -> None:
                    init = [self.constant(lowest(VType(self.elem)), self.elem), self.constant(-1, "i32")]
                    best, place = over_rows(lambda at, *c: self.part_row(start, at, base, *c), init)
                    # no tap inside: the place of the last tap
                    last = line(b.sub(w.kernel[0], 1), b.sub(w.kernel[1], 1)) + base
                    last = last + b.mul(b.sub(w.kernel[2], 1), w.dilation[2])
                    place = b.select(b.lt(place, 0), self.at(last), place)
                    self.store(out + done + x, best, place, count)

                w.vectors(full, part, b.lt(b.value(d0), d1) & b.lt(b.value(h0), h1))

            w.rows(row)

        b.parallel_for(0, self.planes, self.grain, plane)
        return b.finish()

    def constant(self, value: Any, elem: str) -> Value:
        return self.b.const(value, VType(elem, self.form.lanes))

    def tap(self, value: Value) -> Value:
        return self.b.convert(value, self.elem)

    def at(self, first: Any) -> Value:
        """Places in the plane of all lanes, given that of the first."""
        b, lanes = self.b, self.form.lanes
        start = b.convert(b.value(first), "i32")
        if lanes == 1:
            return start
        step = b.convert(b.value(self.windows.stride[2]), "i32")
        return b.lanes(lanes, "i32") * b.splat(step, lanes) + b.splat(start, lanes)

    def whole_row(self, start: Any, at: Any, best: Value, place: Value) -> list[Value]:
        """The maximum so far or that of a row of taps, which is found first: short chains of comparisons."""
        b, w = self.b, self.windows
        load, places = w.loader(self.x, start + at), self.at(at)

        def tap(kw: Any, best: Value, place: Value) -> list[Value]:
            value = self.tap(load(kw))
            better = greater(b, value, best)
            shift = b.convert(b.value(b.mul(kw, w.dilation[2])), "i32")
            here = places + b.splat(shift, self.form.lanes)
            return [b.select(better, value, best), b.select(better, here, place)]

        value, here = w.taps(tap, [self.tap(load(0)), places])
        better = greater(b, value, best)
        return [b.select(better, value, best), b.select(better, here, place)]

    def part_row(self, start: Any, at: Any, base: Any, best: Value, place: Value) -> list[Value]:
        """The same for windows of which some taps are outside; places are -1 as long as nothing was inside."""
        b, w = self.b, self.windows
        places = self.at(at + base)

        def tap(kw: Any, best: Value, place: Value) -> list[Value]:
            value, inside = w.masked(self.x, start + at, base, kw)
            value = self.tap(value)
            # where all is lowest, the first place inside counts, never one in the padding
            better = inside & (greater(b, value, best) | b.lt(place, 0))
            shift = b.convert(b.value(b.mul(kw, w.dilation[2])), "i32")
            here = places + b.splat(shift, self.form.lanes)
            return [b.select(better, value, best), b.select(better, here, place)]

        nothing = [self.constant(lowest(VType(self.elem)), self.elem), self.constant(-1, "i32")]
        value, here = w.taps(tap, nothing)
        better = b.ge(here, 0) & (greater(b, value, best) | b.lt(place, 0))
        return [b.select(better, value, best), b.select(better, here, place)]

    def store(self, at: Any, best: Value, place: Value, count: Any) -> None:
        b, lanes = self.b, self.form.lanes
        mask = None if count is None or lanes == 1 else below(b, count, lanes)
        b.store(self.values, at, b.convert(best, self.values.elem), mask)
        b.store(self.indices, at, b.convert(place, "i64"), mask)


class _UncutMaxPool(_MaxPool):
    """Windows that lie inside: what is known of their taps is computed once, places are found as offsets."""

    def build(self) -> Function:
        self.b.parallel(0, self.planes, self.grain, self.chunk)
        return self.b.finish()

    def chunk(self, begin: Any, end: Any) -> None:
        b, w, lanes = self.b, self.windows, self.form.lanes
        self.lines: list[Any] = []  # where rows of taps begin, relative to the first
        self.offsets: list[list[Value]] = []  # the same for each tap, in all lanes
        for kd, kh in product(range(self.form.rows[0]), range(self.form.rows[1])):  # type: ignore[index]
            depth, y = b.mul(w.dilation[0], kd), b.mul(w.dilation[1], kh)
            line = b.mul(b.add(b.mul(w.size[1], depth), y), w.size[2])
            taps = [b.add(line, b.mul(w.dilation[2], kw)) for kw in range(self.form.width)]
            self.lines.append(line)
            self.offsets.append([b.splat(b.convert(b.value(tap), "i32"), lanes) for tap in taps])
        masks: dict[tuple[int, int], Value] = {}
        reach = b.add(b.mul(b.sub(w.count[2], 1), w.stride[2]), w.kernel[2])
        if self.form.narrow:
            firsts = range(0, self.form.width, self.form.step)
            masks = {(k, n): below(b, b.sub(reach, k), n) for k in firsts for n in [lanes * self.form.step]}
            masks |= {(k, n): below(b, b.sub(reach, k), n) for k in range(self.form.width) for n in [lanes]}
            self.stored = below(b, w.count[2], lanes)
        self.masks = lambda first, lanes: masks.get((first, lanes))
        b.for_(begin, end, 1, self.plane)

    def plane(self, p: Any) -> None:
        b, w = self.b, self.windows

        def row(base_d: Any, base_h: Any, done: Any, _: Any) -> None:
            first = b.mul(b.add(b.mul(base_d, w.size[1]), base_h), w.size[2])
            start, goal = b.add(b.mul(p, w.plane), first), b.add(b.mul(p, w.outputs), done)

            def vector(x: Any, base: Any) -> None:
                best, place = self.taps(b.add(start, base))
                place = place + self.at(b.add(first, base))
                mask = self.stored if self.form.narrow else None
                b.store(self.values, goal + x, b.convert(best, self.values.elem), mask)
                b.store(self.indices, goal + x, b.convert(place, "i64"), mask)

            w.vectors(vector, lambda *_: None)

        w.rows(row)

    def taps(self, start: Any) -> tuple[Value, Value]:
        """Maxima of windows of which the first taps are at ``start``, and the offsets of their places."""
        found: list[tuple[Value, Value]] = []
        for line, offsets in zip(self.lines, self.offsets, strict=True):
            load = self.windows.loader(self.x, self.b.add(start, line), self.masks)
            # the maximum of a row of taps is found first: short chains of comparisons
            found.append(self.first_greatest([(self.tap(load(kw)), at) for kw, at in enumerate(offsets)]))
        return self.first_greatest(found)

    def first_greatest(self, found: list[tuple[Value, Value]]) -> tuple[Value, Value]:
        best, place = found[0]
        for value, here in found[1:]:
            better = greater(self.b, value, best)
            best, place = self.b.select(better, value, best), self.b.select(better, here, place)
        return best, place


@built_once
def adaptive_function(elem: str) -> Function:
    """Buffers: x, values, indices. Dims: planes, grain, sizes n, output sizes o.

    Window i covers [i * n // o, -(-(i + 1) * n // o)).
    """
    b = Builder("adaptive_max_pool")
    x, values, indices = b.buffer("x", elem), b.buffer("values", elem), b.buffer("indices", "i64")
    planes, grain = b.dim("planes"), b.dim("grain")
    size, count = ([b.dim(f"{name}_{axis}") for axis in "dhw"] for name in ("size", "count"))
    inner = "f32" if elem in ("f16", "bf16") else elem
    empty = b.eq(size[0] * size[1] * size[2], 0) & b.gt(planes * count[0] * count[1] * count[2], 0)
    b.fail(empty, 1)

    def span(axis: int, i: Any) -> tuple[Any, Any]:
        n, o = size[axis], count[axis]
        return b.div(i * n, o), b.ceil_div((i + 1) * n, o)

    def cell(p: Any, out: Any) -> None:
        rest, x0 = split(b, out, count[2])
        z, y = split(b, rest, count[1])
        (d0, d1), (h0, h1), (w0, w1) = span(0, z), span(1, y), span(2, x0)
        start = p * size[0] * size[1] * size[2]

        def at(d: Any, h: Any, w: Any) -> Any:
            return (d * size[1] + h) * size[2] + w

        def tap(place: Any, best: Value, where: Value) -> list[Value]:
            value = b.convert(b.load(x, start + place), inner)
            better = greater(b, value, best)
            return [b.select(better, value, best), b.select(better, place, where)]

        first = at(d0, h0, w0)
        best, where = b.for_(
            d0, d1, 1,
            lambda d, *c: b.for_(
                h0, h1, 1, lambda h, *c: b.for_(w0, w1, 1, lambda w, *c: tap(at(d, h, w), *c), c), c
            ),
            [b.convert(b.load(x, start + first), inner), first],
        )  # fmt: skip
        goal = p * count[0] * count[1] * count[2] + out
        b.store(values, goal, b.convert(best, elem))
        b.store(indices, goal, where)

    def plane(p: Any) -> None:
        b.for_(0, count[0] * count[1] * count[2], 1, lambda out: cell(p, out))

    todo = b.select(empty, 0, planes)
    b.parallel_for(0, todo, grain, plane)
    return b.finish()
