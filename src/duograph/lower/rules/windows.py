"""Sliding windows: a strided view, and the sum that puts windows back."""

from __future__ import annotations

from functools import cache

from ..kernels.accumulate import accumulator, plus, store_accumulated
from ..kernels.fill import zero
from ..kernels.strided import move
from ..kernels.walk import at_least_one
from ..layout import contiguous_strides
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..lowering import Lowering, product
from ..rule import kernel


@kernel("sliding_window")
def sliding_window(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    axis = c.attrs["axis"]
    own = list(contiguous_strides(x.shape))
    along = own[axis]
    own[axis] = along * c.attrs["step"]
    move(c, x, out, out.shape, [*own, along * c.attrs["dilation"]], contiguous_strides(out.shape))


@kernel("sliding_window_sum")
def sliding_window_sum(c: Lowering) -> None:
    """Element by element of the windows, so that sums have the order of the reference."""
    (x,), (out,) = c.ins, c.outs
    axis = c.attrs["axis"]
    elem, parts = accumulator(x)
    total = out if elem == out.elem else c.temp(elem, out.size * parts)
    zero(c, total, out.size if total is out else out.size * parts)
    outer, inner = product(x.shape[:axis]), product(x.shape[axis + 1 : -1])
    numbers = [outer, x.shape[axis], c.attrs["extent"], inner]
    numbers += [c.attrs["size"], c.attrs["step"], c.attrs["dilation"]]
    c.call(_window_sum(x.elem, elem, parts), [x, total], numbers)
    store_accumulated(c, total, out)


@cache
def _window_sum(source: str, elem: str, parts: int) -> Function:
    b = Builder(f"window_sum_{elem}")
    x, total = b.buffer("x", source), b.buffer("total", elem)
    outer, count, extent, inner = (b.dim(k) for k in ("outer", "count", "extent", "inner"))
    size, step, dilation = (b.dim(k) for k in ("size", "step", "dilation"))
    outside = b.gt((size - 1) * dilation + (count - 1) * step + 1, extent) & b.gt(count, 0)
    b.fail(outside, 1)
    windows = b.select(outside, 0, count)

    def one(o: Value) -> None:
        def tap(k: Value) -> None:
            def window(w: Value) -> None:
                to = (o * extent + k * dilation + w * step) * inner
                start = (o * count + w) * inner * size + k

                def single(i: Value) -> None:
                    for part in range(parts):
                        value = b.convert(b.load(x, (start + i * size) * parts + part), elem)
                        place = (to + i) * parts + part
                        b.store(total, place, plus(b.load(total, place), value))

                b.for_(0, inner, 1, single)

            b.for_(0, windows, 1, window)

        b.for_(0, size, 1, tap)

    work = at_least_one(b, count * inner * size)
    b.parallel_for(0, outer, b.max(b.const(8192) / work, 1), one)
    return b.finish()
