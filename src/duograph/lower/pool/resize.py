"""Resizing along one axis: tables of places and weights, and weighted sums of a few places.

The tables are computed by a kernel of their own, with the operations of the reference (`duograph.ops.image`) in
float64. They stand tap by tap: ``places[k * out + j]`` is the k-th place that output ``j`` reads.
"""

from __future__ import annotations

from typing import Any

from ..conv.parts import built_once, compute_elem, masked_loop
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..loop.types import VType

TAPS = {"nearest": 1, "nearest-exact": 1, "linear": 2, "linear-corner": 2, "cubic": 4}
"""Places per output; of ``area`` as many as the widest window has."""


@built_once
def taps_function(mode: str, align: bool, elem: str) -> Function:
    """Buffers: places, weights. Dims: outputs, size, taps, step (f64: places per output), grain."""
    b = Builder("resize_taps")
    places, weights = b.buffer("places", "i64"), b.buffer("weights", elem)
    outputs, size, taps = b.dim("outputs"), b.dim("size"), b.dim("taps")
    step = b.dim("step", "f64")

    def put(j: Any, k: Any, place: Value, weight: Value) -> None:
        at = b.add(b.mul(k, outputs), j)
        b.store(places, at, place)
        b.store(weights, at, b.convert(weight, elem))

    def whole(x: Value) -> Value:
        """A float that is a whole number near the extents, as an index."""
        return b.convert(x, "i64")

    def clipped(place: Value) -> Value:
        return b.max(b.min(place, size - 1), 0)

    one = b.const(1.0, "f64")

    def area(j: Any) -> None:
        start, stop = b.div(j * size, outputs), b.ceil_div((j + 1) * size, outputs)
        share = b.convert(stop - start, "f64")

        def tap(k: Any) -> None:
            place = start + k
            inside = b.select(b.lt(place, stop), one, 0.0)
            put(j, k, b.min(place, size - 1), inside / share)

        b.for_(0, taps, 1, tap)

    def nearest(j: Any) -> None:
        if align:
            place = whole(b.floor(b.convert(j, "f64") * step + 0.5))
        elif mode == "nearest":
            place = b.min(whole(b.floor(b.convert(j, "f32") * b.convert(step, "f32"))), size - 1)
        else:
            place = clipped(whole(b.floor((b.convert(j, "f64") + 0.5) * step)))
        put(j, 0, place, one)

    def source(j: Any) -> Value:
        at = b.convert(j, "f64")
        return at * step if align or mode == "linear-corner" else (at + 0.5) * step - 0.5

    def linear(j: Any) -> None:
        at = source(j)
        at = b.select(b.gt(at, 0.0), at, 0.0)
        low = b.min(whole(b.floor(at)), size - 1)
        t = at - b.convert(low, "f64")
        t = b.select(b.gt(t, 1.0), one, t)
        put(j, 0, low, 1.0 - t)
        put(j, 1, b.min(low + 1, size - 1), t)

    def cubic(j: Any) -> None:
        at = source(j)
        floor = b.floor(at)
        t, low = b.rint((at - floor) * 1024.0) / 1024.0, whole(floor)
        near = [_keys(b, d, -0.75 if align else -0.5) for d in (1.0 + t, t, 1.0 - t, 2.0 - t)]
        if not align:  # without what is outside
            for k, weight in enumerate(near):
                place = low + (k - 1)
                near[k] = b.select(b.ge(place, 0), b.select(b.lt(place, size), weight, 0.0), 0.0)
            total = near[0] + near[1] + near[2] + near[3]
            near = [weight / total for weight in near]
        for k, weight in enumerate(near):
            put(j, k, clipped(low + (k - 1)), weight)

    bodies = {"area": area, "linear": linear, "linear-corner": linear, "cubic": cubic}
    body = bodies[mode] if mode in bodies else {"nearest": nearest, "nearest-exact": nearest}[mode]
    b.for_(0, outputs, 1, body)
    return b.finish()


def _keys(b: Builder, d: Value, a: float) -> Value:
    """Keys' cubic convolution kernel at distance ``d``."""
    inner = (d * (a + 2) - (a + 3)) * d * d + 1.0
    outer = (((d - 5.0) * d + 8.0) * d - 4.0) * a
    return b.select(b.le(d, 1.0), inner, b.select(b.lt(d, 2.0), outer, 0.0))


@built_once
def resize_function(elem: str, weighted: bool, rows: bool) -> Function:
    """Buffers: x (outer, size, inner), places, weights, out. Dims: outer, size, outputs, inner, taps, grain.

    ``weighted``: sums of taps, else a copy of the one place. ``rows``: vectors along ``inner``, else along the outputs.
    """
    b = Builder("resize_axis")
    number = compute_elem(elem) if weighted else elem
    x, places = b.buffer("x", elem), b.buffer("places", "i64")
    weights = b.buffer("weights", number) if weighted else None
    out = b.buffer("out", elem)
    outer, size, outputs, inner, taps, grain = (
        b.dim(name) for name in ("outer", "size", "outputs", "inner", "taps", "grain")
    )

    def total(lanes: int, term: Any) -> Value:
        """The sum over the taps of what ``term(k)`` gives as (weight, value); weights of zero count for nothing."""

        def tap(k: Any, acc: Value) -> Value:
            weight, value = term(k)
            product = b.convert(value, number) * weight
            return acc + b.select(b.eq(weight, 0.0), b.const(0.0, product), product)

        return b.for_(0, taps, 1, tap, [b.const(0, VType(number, lanes))])[0]

    def by_rows(o: Any) -> None:
        def line(j: Any) -> None:
            def some(r: Any, lanes: int, mask: Value | None) -> None:
                if weights is None:
                    value = b.load(x, (o * size + b.load(places, j)) * inner + r, lanes, mask)
                else:
                    value = total(
                        lanes,
                        lambda k: (
                            b.splat(b.load(weights, k * outputs + j), lanes),
                            b.load(x, (o * size + b.load(places, k * outputs + j)) * inner + r, lanes, mask),
                        ),
                    )
                b.store(out, (o * outputs + j) * inner + r, b.convert(value, elem), mask)

            masked_loop(b, inner, 16, elem, some)

        b.for_(0, outputs, 1, line)

    def by_outputs(o: Any) -> None:
        def some(j: Any, lanes: int) -> None:
            if weights is None:
                value = b.gather(x, b.load(places, j, lanes) + o * size)
            else:
                value = total(
                    lanes,
                    lambda k: (
                        b.load(weights, k * outputs + j, lanes),
                        b.gather(x, b.load(places, k * outputs + j, lanes) + o * size),
                    ),
                )
            b.store(out, o * outputs + j, b.convert(value, elem))

        b.vector_loop(0, outputs, 8, some)

    b.parallel_for(0, outer, grain, by_rows if rows else by_outputs)
    return b.finish()


@built_once
def unresize_function(elem: str, rows: bool) -> Function:
    """The adjoint, from ``dout`` (outer, outputs, inner) to ``total`` (outer, size, inner).

    Buffers: dout, places, weights, total. Dims and ``rows`` as for `resize_function`.
    """
    b = Builder("resize_axis_grad")
    number = compute_elem(elem)
    dout, places, weights, total = (
        b.buffer(name, type)
        for name, type in (("dout", elem), ("places", "i64"), ("weights", number), ("total", number))
    )
    outer, size, outputs, inner, taps, grain = (
        b.dim(name) for name in ("outer", "size", "outputs", "inner", "taps", "grain")
    )

    def one(o: Any) -> None:
        goal = o * size * inner
        b.vector_loop(
            goal, goal + size * inner, 16, lambda i, lanes: b.store(total, i, b.const(0, VType(number, lanes)))
        )

        def add(k: Any, j: Any) -> None:
            weight = b.load(weights, k * outputs + j)
            at = goal + b.load(places, k * outputs + j) * inner
            source = (o * outputs + j) * inner

            def some(r: Any, lanes: int, mask: Value | None) -> None:
                product = b.convert(b.load(dout, source + r, lanes, mask), number) * b.splat(weight, lanes)
                b.store(total, at + r, b.load(total, at + r, lanes, mask) + product, mask)

            if rows:
                masked_loop(b, inner, 16, elem, some)
            else:
                b.for_(0, inner, 1, lambda r: some(r, 1, None))

        b.for_(0, taps, 1, lambda k: b.for_(0, outputs, 1, lambda j: add(k, j)))

    b.parallel_for(0, outer, grain, one)
    return b.finish()
