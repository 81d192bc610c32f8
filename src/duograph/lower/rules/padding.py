"""``pad`` in all modes, and its adjoint, which adds what was copied."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..kernels.accumulate import accumulator, add_runs, store_accumulated
from ..kernels.fill import as_raw, fill_pattern, words_of, zero
from ..kernels.strided import copy_all
from ..kernels.walk import at_least_one, copy_run, dims, raw, walk
from ..layout import contiguous_strides
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..lowering import Extent, Lowering, product
from ..rule import kernel


@kernel("pad")
def pad(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    mode = c.attrs["mode"]
    elem, parts = raw(x)
    axes: list[tuple[Extent, Extent, Extent]] = []  # size, elements before, elements behind
    whole = [*zip(x.shape, c.attrs["padding"], strict=True), *([(parts, (0, 0))] if parts > 1 else [])]
    for n, (before, after) in whole:
        unpadded = _is_zero(before) and _is_zero(after)
        if axes and unpadded and (mode == "constant" or (_is_zero(axes[-1][1]) and _is_zero(axes[-1][2]))):
            axes[-1] = tuple(k * n for k in axes[-1])  # type: ignore[assignment]
        else:
            axes.append((n, before, after))
    if not axes:
        copy_all(c, x, out, 1)
        return
    extents = [n for n, _, _ in axes]
    numbers = [*extents, *[k for _, k, _ in axes], *[k for _, _, k in axes], *contiguous_strides(extents)]
    if mode == "constant":
        words = words_of(c.attrs["value"], x.dtype.numpy)
        c.call(_constant(elem, len(axes), len(words)), [x, out], [*numbers, *words])
    else:
        run = _is_zero(axes[-1][1]) and _is_zero(axes[-1][2])
        c.call(_copying(elem, len(axes), mode, run), [x, out], numbers)


def _is_zero(n: Extent) -> bool:
    return isinstance(n, int) and n == 0


def _axes(b: Builder, rank: int) -> tuple[list[Value], ...]:
    extents, before, after, strides = (dims(b, k, rank) for k in ("extent", "before", "after", "stride"))
    return extents, before, [n + p + q for n, p, q in zip(extents, before, after, strict=True)], strides


@cache
def _constant(elem: str, rank: int, parts: int) -> Function:
    """Row by row: what lies outside is filled, the rest is one run."""
    b = Builder(f"pad_{elem}_{rank}")
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    extents, before, padded, strides = _axes(b, rank)
    value = as_raw(b, [b.dim(f"value{k}") for k in range(parts)], elem)
    n, left, length = extents[-1], before[-1], padded[-1]
    right = length - n - left

    def row(at: list[Any], coords: list[Any]) -> None:
        (target,) = at
        inside: Any = b.const(True, "bool")
        source: Any = 0
        for c, k, size, stride in zip(coords, before, extents, strides, strict=False):
            inner = b.sub(c, k)
            inside = inside & b.ge(inner, 0) & b.lt(inner, size)
            source = b.add(source, inner * stride)

        def with_elements() -> None:
            fill_pattern(b, out, target, value, left)
            copy_run(b, out, target + left, x, source, n)
            fill_pattern(b, out, target + left + n, value, right)

        b.if_(inside, with_elements, lambda: fill_pattern(b, out, target, value, length))

    _rows(b, padded, row)
    return b.finish()


def _rows(b: Builder, padded: list[Value], row: Any) -> None:
    """``row`` for every row of the padded array."""
    length = padded[-1]
    outer = padded[:-1]
    steps: list[Any] = []
    step: Any = length
    for extent in reversed(outer):
        steps.insert(0, step)
        step = step * extent
    grain = b.max(b.const(16384) / at_least_one(b, length), 1)

    def chunk(lo: Value, hi: Value) -> None:
        walk(b, lo, hi, outer, [steps], [0], row, coordinates=True)

    b.parallel(0, b.product(outer), grain, chunk)


@cache
def _copying(elem: str, rank: int, mode: str, run: bool) -> Function:
    """Row by row: elements outside are copies of others. ``run``: the last axis is not padded."""
    b = Builder(f"pad_{mode}_{elem}_{rank}")
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    extents, before, padded, strides = _axes(b, rank)
    n, left, length = extents[-1], before[-1], padded[-1]

    def row(at: list[Any], coords: list[Any]) -> None:
        (target,) = at
        source: Any = 0
        for c, k, size, stride in zip(coords, before, extents, strides, strict=False):
            source = b.add(source, source_index(b, mode, b.sub(c, k), size) * stride)
        copy_run(b, out, b.add(target, left), x, source, n)
        if not run:

            def outside(i: Value) -> None:
                b.store(out, target + i, b.load(x, b.add(source, source_index(b, mode, i - left, n))))

            b.for_(0, left, 1, outside)
            b.for_(left + n, length, 1, outside)

    _rows(b, padded, row)
    return b.finish()


def source_index(b: Builder, mode: str, i: Value, n: Value) -> Value:
    """The element that stands at ``i``, counted from the first one that is not padding."""
    if mode == "replicate":
        return b.min(b.max(i, 0), n - 1)
    if mode == "reflect":
        i = b.abs(i)
        return b.min(i, n + n - 2 - i)
    wrapped = b.select(b.lt(i, 0), i + n, i)
    return b.select(b.ge(wrapped, n), wrapped - n, wrapped)


# ---- adjoint ---------------------------------------------------------------------------------------------------------


@kernel("pad_adjoint")
def pad_adjoint(c: Lowering) -> None:
    """Axis by axis, in ascending order of the padded index."""
    (dout,), (out,) = c.ins, c.outs
    mode = c.attrs["mode"]
    shape = list(dout.shape)
    padded = [axis for axis, pair in enumerate(c.attrs["padding"]) if not (_is_zero(pair[0]) and _is_zero(pair[1]))]
    if not padded:
        copy_all(c, dout, out, out.size)
        return
    here: Any = dout
    elem, parts = accumulator(dout)
    for number, axis in enumerate(padded):
        before, _ = c.attrs["padding"][axis]
        n, long = c.attrs["shape"][axis], shape[axis]
        shape[axis] = n
        outer, inner = product(shape[:axis]), product(shape[axis + 1 :]) * parts
        last = number == len(padded) - 1
        there: Any = out if last and elem == out.elem else c.temp(elem, product(shape) * parts)
        zero(c, there, product(shape) * (parts if there is not out else 1))
        c.call(_fold(here.elem, elem, mode), [here, there], [outer, n, long, before, inner])
        here = there
    store_accumulated(c, here, out)


@cache
def _fold(source: str, elem: str, mode: str) -> Function:
    b = Builder(f"pad_adjoint_{mode}_{elem}")
    x, total = b.buffer("x", source), b.buffer("total", elem)
    outer, n, long, before, inner = (b.dim(k) for k in ("outer", "n", "long", "before", "inner"))

    def one(o: Value) -> None:
        def row(i: Value) -> None:
            to = (o * n + source_index(b, mode, i - before, n)) * inner
            add_runs(b, total, to, x, (o * long + i) * inner, inner)

        b.for_(0, long, 1, row)

    b.parallel_for(0, outer, b.max(b.const(16384) / at_least_one(b, long * inner), 1), one)
    return b.finish()
