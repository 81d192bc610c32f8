"""Pooling, values at positions of planes, resizing (`duograph.lower.pool`)."""

from __future__ import annotations

from math import gcd, prod
from typing import Any

from duograph.core.dim import Dim

from ..kernels.accumulate import accumulator, convert_all
from ..loop.types import BITS
from ..lowering import Lowering, Memory, Sink, product
from ..pool.average import avg_pool_function, shares_function, spread_function
from ..pool.maximum import adaptive_function, max_pool_function
from ..pool.maximum_grad import cells_of, max_pool_grad_function, scatter_sink_function
from ..pool.planes import gather_function, scatter_function
from ..pool.resize import TAPS, resize_function, taps_function, unresize_function
from ..pool.window import form_of, narrowed, window_numbers
from ..rule import Refused, kernel


def grain_of(elements: Any, wanted: int = 8192, items: Any = None) -> int:
    """How many planes of ``elements`` steps make a chunk that is worth a thread. If there are ``items`` planes, the
    number of chunks is a power of two, so that threads get equal parts."""
    if not isinstance(elements, int):
        return 1
    grain = max(1, wanted // max(1, elements))
    return -(-items // (1 << (-(-items // grain) - 1).bit_length())) if isinstance(items, int) and items else grain


# ---- maximum --------------------------------------------------------------------------------------------------------


@kernel("max_pool")
def max_pool(c: Lowering) -> None:
    (x,), (values, indices) = c.ins, c.outs
    how, size, count = c.attrs, x.shape[2:], values.shape[2:]
    fronts = [front for front, _ in how["padding"]]
    form = form_of(how["kernel"], how["stride"], how["dilation"], count, size, fronts)
    numbers = window_numbers(size, count, how["kernel"], how["stride"], fronts, how["dilation"])
    form = narrowed(form, count[-1]) if BITS[x.elem] >= 32 else form
    planes = x.shape[0] * x.shape[1]
    grain = grain_of(product(count) * prod(how["kernel"]), 16384, planes)
    c.call(max_pool_function(x.elem, form), [x, values, indices], [planes, grain, *numbers])


@kernel("adaptive_max_pool")
def adaptive_max_pool(c: Lowering) -> None:
    (x,), (values, indices) = c.ins, c.outs
    missing = [1] * (5 - len(x.shape))
    extents = [*missing, *x.shape[2:], *missing, *values.shape[2:]]
    dims = [x.shape[0] * x.shape[1], grain_of(product(x.shape[2:])), *extents]
    c.call(adaptive_function(x.elem), [x, values, indices], dims)


# ---- values at positions --------------------------------------------------------------------------------------------


@kernel("gather_planes")
def gather_planes(c: Lowering) -> None:
    (x, indices), (out,) = c.ins, c.outs
    size, count = product(x.shape[2:]), product(indices.shape[2:])
    f = gather_function(x.elem, indices.elem, 2 if x.is_complex else 1)
    c.call(f, [x, indices, out], [x.shape[0] * x.shape[1], grain_of(count), size, count])


@kernel("scatter_planes", sinks=True)
def scatter_planes(c: Lowering) -> None:
    (x, indices), (out,), sink = c.ins, c.outs, c.sink
    size, count, planes = out.shape[2:], indices.shape[2:], x.shape[0] * x.shape[1]
    fits = x.elem != "bool" and not x.is_complex and indices.elem in ("i32", "i64")
    cells = cells_of(c.attrs.get("windows"), size, count) if fits else None
    if cells is not None:
        sink.overwrites = size[-1] % 16 == 0
        missing = [1] * (3 - len(size))
        dims = [planes, grain_of(product(size), 16384, planes), *missing, *size, *missing, *count]
        f = max_pool_grad_function(x.elem, indices.elem, cells, sink)
        c.call(f, [x, indices, *sink.buffers], [*dims, *sink.dims])
    elif not x.is_complex and (type(sink) is not Sink or accumulator(x)[0] != x.elem):
        dims = [planes, grain_of(product(size) + product(count)), product(size), product(count), out.shape[-1]]
        f = scatter_sink_function(x.elem, indices.elem, sink)
        c.call(f, [x, indices, *sink.buffers], [*dims, *sink.dims])
    else:
        _scatter(c, add=True)


@kernel("max_unpool")
def max_unpool(c: Lowering) -> None:
    _scatter(c, add=False)


def _scatter(c: Lowering, add: bool) -> None:
    (x, indices), (out,) = c.ins, c.outs
    parts = 2 if x.is_complex else 1
    size, count = product(out.shape[2:]), product(indices.shape[2:])
    dims = [x.shape[0] * x.shape[1], grain_of(size + count), size, count]
    c.call(scatter_function(x.elem, indices.elem, parts, add), [x, indices, out], dims)


def _accumulate(c: Lowering, elem: str, add: Any) -> None:
    """``add(memory)``, and the conversion of the sums if they are not of the result's type."""
    (out,) = c.outs
    parts = 2 if out.is_complex else 1
    total: Memory = out if elem == out.elem else c.temp(elem, out.size * parts)
    add(total)
    if total is not out:
        convert_all(c, total, out, out.size * parts)


# ---- average --------------------------------------------------------------------------------------------------------


def _average(how: dict[str, Any], planes: Any, size: Any, count: Any) -> tuple[Any, list[Any], list[Any]]:
    """(form, dims of the windows, dims of the divisors) of a mean pooling."""
    rank = len(size)
    fronts = [front for front, _ in how["padding"]]
    ones = [1] * rank
    form = form_of(how["kernel"], how["stride"], ones, count, size, fronts)
    numbers = window_numbers(size, count, how["kernel"], how["stride"], fronts, ones)
    low, high = [0] * rank, list(size)
    if how["count_include_pad"]:
        low, high = [-front for front in fronts], [n + back for n, (_, back) in zip(size, how["padding"], strict=True)]
    # an axis that is not there has one element, which is covered
    missing = 3 - rank
    divisors: list[Any] = [*[0] * missing, *low, *[1] * missing, *high]
    if how["divisor"]:
        divisors.append(float(how["divisor"]))
    grain = grain_of(product(count) * prod(how["kernel"]) // 4)
    return form, [planes, grain, *numbers], divisors


@kernel("avg_pool")
def avg_pool(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    form, numbers, divisors = _average(c.attrs, x.shape[0] * x.shape[1], x.shape[2:], out.shape[2:])
    c.call(avg_pool_function(x.elem, form, bool(c.attrs["divisor"])), [x, out], [*numbers, *divisors])


@kernel("avg_pool_grad")
def avg_pool_grad(c: Lowering) -> None:
    (dout,), (out,) = c.ins, c.outs
    form, numbers, divisors = _average(c.attrs, out.shape[0] * out.shape[1], out.shape[2:], dout.shape[2:])
    elem, _ = accumulator(dout)
    shares = c.temp(elem, dout.size)
    c.call(shares_function(dout.elem, form, bool(c.attrs["divisor"])), [dout, shares], [*numbers, *divisors])
    _accumulate(c, elem, lambda total: c.call(spread_function(elem, form), [shares, total], numbers))


# ---- resizing -------------------------------------------------------------------------------------------------------


def _tables(c: Lowering, elem: str, size: int, outputs: int) -> tuple[list[Memory], int]:
    """The tables of places and weights of an axis of ``size`` elements read by ``outputs`` places, and the taps."""
    mode, scale = c.attrs["mode"], c.attrs["scale"]
    if isinstance(size, Dim) or isinstance(outputs, Dim):
        raise Refused("an axis whose size is only known at run time")
    align = c.attrs["align"] and mode != "nearest-exact"
    # The window of place j is as long as ceil((j * size mod outputs + size) / outputs), and the largest remainder is
    # outputs - gcd: found without a loop over the places, of which there may be more than anybody can count.
    taps = TAPS.get(mode) or -((gcd(size, outputs) - outputs - size) // outputs)
    if align:
        step = (size - 1) / (outputs - 1) if outputs > 1 else 0.0
    else:
        step = 1.0 / scale if scale else size / outputs if outputs else 0.0
    places, weights = c.temp("i64", outputs * taps), c.temp(elem, outputs * taps)
    c.call(taps_function(mode, align, elem), [places, weights], [outputs, size, taps, step])
    return [places, weights], taps


@kernel("resize_axis")
def resize_axis(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    axis = c.attrs["axis"]
    elem, _ = accumulator(x)
    weighted = not c.attrs["mode"].startswith("nearest")
    size, outputs = x.shape[axis], out.shape[axis]
    (places, weights), taps = _tables(c, elem if weighted else "f32", size, outputs)
    weighted = weighted and taps > 1
    outer, inner = product(x.shape[:axis]), product(x.shape[axis + 1 :])
    rows = not isinstance(inner, int) or inner > 1
    tables = [places, weights] if weighted else [places]
    grain = grain_of(outputs * inner * taps)
    dims = [outer, size, outputs, inner, taps, grain]
    c.call(resize_function(x.elem, weighted, rows), [x, *tables, out], dims)


@kernel("resize_axis_grad")
def resize_axis_grad(c: Lowering) -> None:
    (dout,), (out,) = c.ins, c.outs
    axis = c.attrs["axis"]
    elem, _ = accumulator(dout)
    size, outputs = out.shape[axis], dout.shape[axis]
    tables, taps = _tables(c, elem, size, outputs)
    outer, inner = product(out.shape[:axis]), product(out.shape[axis + 1 :])
    dims = [outer, size, outputs, inner, taps, grain_of(outputs * inner * taps)]
    f = unresize_function(dout.elem, not isinstance(inner, int) or inner > 1)
    _accumulate(c, elem, lambda total: c.call(f, [dout, *tables, total], dims))
