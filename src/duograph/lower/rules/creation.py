"""Tensors from nothing. Numbers that are known when the op is lowered are stored as bits; others are converted."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from duograph.core.dim import Dim

from ..kernels.fill import as_raw, fill, fill_pattern, words_of, zero
from ..kernels.walk import SEGMENT, at_least_one, raw
from ..layout import contiguous_strides
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..loop.types import VType
from ..lowering import Lowering, product
from ..math.conversions import to_half, to_integer
from ..rule import kernel


def number_as(b: Builder, x: Value, elem: str) -> Value:
    """An ``i64`` or ``f64`` as NumPy's ``astype`` gives it."""
    if x.type.is_float and VType(elem).is_integer:
        return to_integer(b, x, elem)
    if x.type.elem == "f64" and elem == "f16":
        return to_half(b, x)
    return b.convert(x, elem)


def store_number(b: Builder, out: Buffer, i: Value, value: Value, parts: int) -> None:
    """Stores a real number; a complex one gets the imaginary part 0."""
    if parts == 1:
        b.store(out, i, value)
        return
    lanes = value.type.lanes
    zeros = b.splat(b.const(0, value.type.with_lanes(1)), lanes) if lanes > 1 else b.const(0, value.type)
    if lanes == 1:
        b.store(out, i * 2, value)
        b.store(out, i * 2 + 1, zeros)
    else:
        b.store(out, i * 2, b.shuffle(value, zeros, [k // 2 + (k % 2) * lanes for k in range(2 * lanes)]))


# ---- one number ------------------------------------------------------------------------------------------------------


@kernel("full")
def full(c: Lowering) -> None:
    (out,), value = c.outs, c.attrs["value"]
    if isinstance(value, Dim):
        c.call(_full_of_dim(out.elem, 2 if out.is_complex else 1), [out], [out.size, value])
    else:
        fill(c, out, value)


@cache
def _full_of_dim(elem: str, parts: int) -> Function:
    """Filled with a size that is known at run time."""
    b = Builder(f"full_{elem}")
    out, n = b.buffer("out", elem), b.dim("n")
    value = number_as(b, b.dim("value"), elem)
    b.parallel_for(0, n, SEGMENT, lambda i: store_number(b, out, i, value, parts))
    return b.finish()


# ---- sequences -------------------------------------------------------------------------------------------------------


@kernel("arange")
def arange(c: Lowering) -> None:
    (out,) = c.outs
    start, step = c.attrs["start"], c.attrs["step"]
    kind = "i64" if c.attrs["dtype"].is_integer else "f64"
    numbers = [_number(x, kind) for x in (start, step)]
    kinds = tuple("i64" if isinstance(x, Dim) else kind for x in numbers)  # sizes are whole numbers in registers
    c.call(_arange(out.elem, kind, kinds, 2 if out.is_complex else 1), [out], [out.size, *numbers])


def _number(x: Any, kind: str) -> Any:
    if isinstance(x, Dim):
        return x
    return _wrapped(int(x)) if kind == "i64" else float(x)


def _wrapped(x: int) -> int:
    x &= (1 << 64) - 1
    return x - (1 << 64) if x >> 63 else x


@cache
def _arange(elem: str, kind: str, kinds: tuple[str, ...], parts: int) -> Function:
    b = Builder(f"arange_{elem}")
    out, n = b.buffer("out", elem), b.dim("n")
    start, step = (b.convert(b.dim(*of), kind) for of in zip(("start", "step"), kinds, strict=True))

    def chunk(lo: Value, hi: Value) -> None:
        def some(i: Value, lanes: int) -> None:
            index = b.convert(b.lanes(lanes) + i, kind)
            store_number(b, out, i, number_as(b, index * step + start, elem), parts)

        b.vector_loop(lo, hi, 8, some)

    b.parallel(0, n, 8192, chunk)
    return b.finish()


@kernel("linspace")
def linspace(c: Lowering) -> None:
    (out,) = c.outs
    start, stop = float(c.attrs["start"]), float(c.attrs["stop"])
    c.call(_linspace(out.elem, 2 if out.is_complex else 1), [out], [out.size, start, stop])


@cache
def _linspace(elem: str, parts: int) -> Function:
    """As ``numpy.linspace``: the last element is ``stop`` itself; a step that vanishes is applied in two parts."""
    b = Builder(f"linspace_{elem}")
    out, n = b.buffer("out", elem), b.dim("n")
    start, stop = b.dim("start", "f64"), b.dim("stop", "f64")
    delta = stop - start
    intervals = b.convert(b.max(n - 1, 1), "f64")
    single = b.le(n, 1)
    step = delta / intervals
    vanishing = b.eq(step, 0.0) & ~single
    last = n - 1

    def chunk(lo: Value, hi: Value) -> None:
        def some(i: Value, lanes: int) -> None:
            at = b.lanes(lanes) + i
            index = b.convert(at, "f64")
            parts_of = (index / intervals) * delta
            value = b.select(vanishing, parts_of, index * b.select(single, delta, step)) + start
            value = b.select(b.eq(at, last) & b.gt(at, 0), stop, value)
            store_number(b, out, i, number_as(b, value, elem), parts)

        b.vector_loop(lo, hi, 8, some)

    b.parallel(0, n, 4096, chunk)
    return b.finish()


@kernel("iota")
def iota(c: Lowering) -> None:
    (out,), axis = c.outs, c.attrs["axis"]
    extent, stride = (out.size, 1) if axis is None else (out.shape[axis], contiguous_strides(out.shape)[axis])
    c.call(_iota(out.elem, 2 if out.is_complex else 1), [out], [out.size, extent, stride])


@cache
def _iota(elem: str, parts: int) -> Function:
    """Runs of ``stride`` equal numbers 0, 1, ... ``extent`` - 1, over and over."""
    b = Builder(f"iota_{elem}")
    out = b.buffer("out", elem)
    n, extent, stride = b.dim("n"), b.dim("extent"), b.dim("stride")
    whole = b.eq(stride, 1) & b.eq(n, extent)

    def number(i: Value) -> Value:
        return b.convert(i, elem)

    def chunk(lo: Value, hi: Value) -> None:
        def straight() -> None:
            b.vector_loop(lo, hi, 8, lambda i, lanes: store_number(b, out, i, number(b.lanes(lanes) + i), parts))

        def runs() -> None:
            step, size = at_least_one(b, stride), at_least_one(b, extent)

            def single(i: Value, left: Value, index: Value) -> tuple[Value, Value]:
                store_number(b, out, i, number(index), parts)
                ended = b.eq(left, 1)
                following = b.select(b.eq(index + 1, extent), 0, index + 1)
                return b.select(ended, stride, left - 1), b.select(ended, following, index)

            b.for_(lo, hi, 1, single, (step - b.rem(lo, step), b.rem(lo / step, size)))

        b.if_(whole, straight, runs)

    b.parallel(0, n, 8192, chunk)
    return b.finish()


# ---- ones among zeros ------------------------------------------------------------------------------------------------


@kernel("eye")
def eye(c: Lowering) -> None:
    (out,) = c.outs
    elem, parts = raw(out)
    zero(c, out, out.size)
    (one, *_) = words_of(1, out.dtype.numpy)
    c.call(_diagonal_ones(elem), [out], [*out.shape, one, parts])


@cache
def _diagonal_ones(elem: str) -> Function:
    b = Builder(f"eye_{elem}")
    out = b.buffer("out", elem)
    n, m, one, parts = (b.dim(k) for k in ("n", "m", "one", "parts"))
    value = b.convert(one, elem)
    b.for_(0, b.min(n, m), 1, lambda i: b.store(out, i * (m + 1) * parts, value))
    return b.finish()


@kernel("one_hot")
def one_hot(c: Lowering) -> None:
    (indices,), (out,) = c.ins, c.outs
    elem, parts = raw(out)
    words = words_of(1, np.dtype(out.dtype.numpy))
    c.call(_one_hot(indices.elem, elem), [indices, out], [product(indices.shape), c.attrs["depth"], parts, words[0]])


@cache
def _one_hot(index: str, elem: str) -> Function:
    """Rows of zeros with at most one element set."""
    b = Builder(f"one_hot_{elem}")
    indices, out = b.buffer("indices", index), b.buffer("out", elem)
    count, depth, parts = b.dim("count"), b.dim("depth"), b.dim("parts")
    (one,) = as_raw(b, [b.dim("one")], elem)
    zeros = [b.const(0, elem)]
    length = depth * parts

    def row(r: Value) -> None:
        fill_pattern(b, out, r * length, zeros, length)
        i = b.convert(b.load(indices, r), "i64")  # of a uint64 too large: negative, so outside as well
        b.if_(b.ge(i, 0) & b.lt(i, depth), lambda: b.store(out, r * length + i * parts, one))

    b.parallel_for(0, count, b.max(b.const(8192) / at_least_one(b, length), 1), row)
    return b.finish()
