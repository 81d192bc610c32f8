"""Ordering along an axis. Ties keep their order, NaN is the largest number."""

from __future__ import annotations

from functools import cache

from ..kernels.sorting import precedes, select_kernel, sort_kernel
from ..kernels.walk import at_least_one
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..loop.types import VType
from ..lowering import Lowering, product
from ..rule import kernel
from .cumulative import along

FEW_BEST = 64
"""Up to here the largest elements are picked without sorting."""


@kernel("sort")
def sort(c: Lowering) -> None:
    (x,), (values, places) = c.ins, c.outs
    outer, n, inner = along(x, c.attrs["axis"])
    function = sort_kernel(x.elem, places.elem, c.attrs["descending"])
    c.call(function, [x, values, places], [outer, n, inner, n])


@kernel("topk")
def topk(c: Lowering) -> None:
    (x,), (values, places), k = c.ins, c.outs, c.attrs["k"]
    outer, n, inner = along(x, c.attrs["axis"])
    if not x.shape:
        k = 1  # a scalar is given as it is, whatever k
    if isinstance(k, int) and k == 0:
        return
    if isinstance(k, int) and k <= FEW_BEST and not (isinstance(n, int) and n < 2 * k):
        contiguous = isinstance(inner, int) and inner == 1
        function = select_kernel(x.elem, places.elem, c.attrs["largest"], k, contiguous)
        c.call(function, [x, values, places], [outer, n, inner])
    else:
        function = sort_kernel(x.elem, places.elem, c.attrs["largest"])
        c.call(function, [x, values, places], [outer, n, inner, k])


@kernel("searchsorted")
def searchsorted(c: Lowering) -> None:
    (boundaries, values), (out,) = c.ins, c.outs
    n = boundaries.shape[-1]
    shared = len(boundaries.shape) == 1
    per_row = 1 if shared else values.shape[-1]
    function = _searchsorted(values.elem, out.elem, bool(c.attrs["right"]), shared)
    c.call(function, [boundaries, values, out], [product(values.shape), n, per_row])


@cache
def _searchsorted(elem: str, index: str, right: bool, shared: bool) -> Function:
    """Bisection of eight values at a time, by selects: nothing is mispredicted, and loads overlap."""
    b = Builder(f"searchsorted_{elem}")
    boundaries, values, out = b.buffer("boundaries", elem), b.buffer("values", elem), b.buffer("out", index)
    count, n, per_row = b.dim("count"), b.dim("n"), b.dim("per_row")
    wide = {"f16": "f32", "bf16": "f32", "bool": "u8"}.get(elem, elem)

    def some(i: Value, lanes: int) -> None:
        value = b.convert(b.load(values, i, lanes), wide)
        zero = b.const(0, VType("i64", lanes))
        start = zero if shared else b.div(b.lanes(lanes) + i, at_least_one(b, per_row)) * n
        last = start + (n - 1)

        def goes_on(_: Value, left: Value) -> Value:
            return b.any(b.gt(left, 0))

        def halve(first: Value, left: Value) -> tuple[Value, Value]:
            half = b.shr(left, 1)
            # lanes that are done look at an element once more, which is harmless
            middle = b.convert(b.gather(boundaries, b.min(start + first + half, last)), wide)
            beyond = ~precedes(b, value, middle) if right else precedes(b, middle, value)
            beyond = beyond & b.gt(left, 0)
            return b.select(beyond, first + half + 1, first), b.select(beyond, left - half - 1, half)

        first, _ = b.while_([zero, b.splat(n, lanes)], goes_on, halve)
        b.store(out, i, b.convert(first, index))

    b.parallel(0, count, 1024, lambda lo, hi: b.vector_loop(lo, hi, 8, some))
    return b.finish()
