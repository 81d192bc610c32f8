"""Kernels of ops that find how large their result is: one counts, one fills memory that was found in between.

All loops stop with the last element that is wanted. So they can store every element that they meet at the place of the
next hit, without a branch: what is no hit is overwritten, and no store is out of bounds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .loop.builder import Builder
from .loop.ir import Buffer, Function, Value
from .loop.types import I64, NUMPY

WORDS = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
"""By size in bytes, the elements as which values are moved that nobody looks at."""


def _hit(b: Builder, x: Buffer, at: Any) -> Value:
    """1 if an element is not zero (NaN is not), else 0."""
    value = b.load(x, at)
    if x.elem in ("f16", "bf16"):  # whatever the format: all bits but the sign
        bits = b.bitcast(value, "u16")
        return b.convert(b.ne(bits & 0x7FFF, 0), I64)
    return b.convert(b.ne(value, 0), I64)


@functools.cache
def count_hits(elem: str) -> Function:
    """``words[0] =`` how many of ``n`` elements are not zero."""
    b = Builder(f"count_hits_{elem}")
    x, words, n = b.buffer("x", elem), b.buffer("words", "i64"), b.dim("n")
    start, total = b.const(0), b.const(0)
    if elem == "bool":
        start = b.mul(b.div(n, 8), 8)
        (total,) = b.for_(0, start, 8, lambda i, t: b.add(t, _hits_of_word(b, _word(b, x, i))), [total])
    b.store(words, 0, b.for_(start, n, 1, lambda i, t: b.add(t, _hit(b, x, i)), [total])[0])
    return b.finish()


def _word(b: Builder, mask: Buffer, at: Any) -> Value:
    """Eight elements of a mask from ``at`` on, bytes that are 0 or 1."""
    return b.load(b.view(mask, at, "u64"), 0)


def _hits_of_word(b: Builder, word: Value) -> Value:
    """How many of eight bytes are not zero: NumPy's views of other bytes as bools have more than 1 in them. The bits of
    each are brought to its lowest one; the product has the sum of these in its highest byte."""
    for bits in (4, 2, 1):
        word = word | b.shr(word, bits)
    word = word & b.const(_ONES, "u64")
    return b.convert(b.shr(b.mul(word, b.const(_ONES, "u64")), 56), I64)


_ONES = 0x0101010101010101


def _each_hit(b: Builder, mask: Buffer, n: Any, k: Value, count: Value, put: Callable[[Value, Value], None]) -> Value:
    """Calls ``put(k, i)`` for the elements ``i`` of ``n`` that are not zero, the k-th hit last, until ``k`` is
    ``count``; the last ``k``. Where eight elements of a mask are zero they are skipped."""

    def element(i: Value, k: Value) -> tuple[Value, Value]:
        put(k, i)
        return b.add(i, 1), b.add(k, _hit(b, mask, i))

    if mask.elem != "bool":
        return b.while_([b.const(0), k], lambda i, k: b.lt(i, n) & b.lt(k, count), element)[1]

    def several(i: Value, k: Value) -> tuple[Value, ...]:
        """Eight of which ``put`` may get any: so many hits are left."""
        word = _word(b, mask, i)

        def each(is_full: bool) -> Value:
            at = k
            for j in range(8):
                put(at, b.add(i, j))
                at = b.add(at, 1 if is_full else _hit(b, mask, b.add(i, j)))
            return at

        full = lambda: b.if_(b.eq(word, b.const(_ONES, "u64")), lambda: each(True), lambda: each(False))  # noqa: E731
        return b.add(i, 8), b.if_(b.eq(word, b.const(0, "u64")), lambda: k, full)[0]

    def one(i: Value, k: Value) -> tuple[Value, ...]:
        is_far = b.le(b.add(i, 8), n)
        (word,) = b.if_(is_far, lambda: _word(b, mask, i), lambda: b.const(1, "u64"))
        return b.if_(b.eq(word, b.const(0, "u64")), lambda: (b.add(i, 8), k), lambda: element(i, k))

    enough = lambda i, k: b.le(b.add(k, 8), count) & b.le(b.add(i, 8), n)  # noqa: E731
    i, k = b.while_([b.const(0), k], enough, several)
    return b.while_([i, k], lambda i, k: b.lt(i, n) & b.lt(k, count), one)[1]


@functools.cache
def coordinates_of_hits(elem: str, rank: int) -> Function:
    """The coordinates of the ``count`` elements that are not zero, in row-major order: ``int64[count, rank]``."""
    b = Builder(f"coordinates_of_hits_{elem}_{rank}")
    x, out = b.buffer("x", elem), b.buffer("out", "i64")
    shape = [b.dim(f"n{axis}") for axis in range(rank)]
    count = b.dim("count")

    def along(row: Any, k: Value, place: Sequence[Value]) -> Value:
        axis = len(place)
        start = b.mul(row, shape[axis])
        if axis < rank - 1:
            return b.for_(0, shape[axis], 1, lambda i, k: along(b.add(start, i), k, [*place, i]), [k])[0]

        def put(k: Value, i: Value) -> None:
            for column, coordinate in enumerate([*place, i]):
                b.store(out, b.add(b.mul(k, rank), column), coordinate)

        size = NUMPY[elem].itemsize
        return _each_hit(b, b.view(x, b.mul(start, size), elem), shape[axis], k, count, put)

    along(0, b.const(0), [])
    return b.finish()


@functools.cache
def values_of_hits(elem: str) -> Function:
    """The ``count`` elements of ``x``, of ``n``, for which ``mask`` holds."""
    b = Builder(f"values_of_hits_{elem}")
    x, mask, out = b.buffer("x", elem), b.buffer("mask", "bool"), b.buffer("out", elem)
    n, count = b.dim("n"), b.dim("count")
    _each_hit(b, mask, n, b.const(0), count, lambda k, i: b.store(out, k, b.load(x, i)))
    return b.finish()


def slice_bounds(b: Builder, start: Any, stop: Any, step: int, n: Any) -> tuple[Value, Value]:
    """First index and length of ``range(n)[start:stop:step]``, as `slice.indices` has them."""
    lowest, highest = (0, n) if step > 0 else (-1, b.sub(n, 1))

    def clamped(bound: Any) -> Value:
        bound = b.value(bound)
        bound = b.select(b.lt(bound, 0), b.add(b.max(bound, b.sub(-1, n)), n), bound)  # no sum that overflows
        return b.max(b.min(bound, highest), lowest)

    first, last = clamped(start), clamped(stop)
    span = b.sub(last, first) if step > 0 else b.sub(first, last)
    return first, b.div(b.add(b.max(span, 0), abs(step) - 1), abs(step))


@functools.cache
def strided_rows(elem: str, step: int) -> Function:
    """``out[o, j] = x[o, first + step * j]`` for ``outer`` times ``length`` rows of ``inner`` elements."""
    b = Builder(f"strided_rows_{elem}_{step}".replace("-", "m"))
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    outer, n, inner, first, length = (b.dim(name) for name in ("outer", "n", "inner", "first", "length"))

    def block(o: Value) -> None:
        source, target = b.add(b.mul(o, n), first), b.mul(o, length)
        if step == 1:
            b.copy(out, b.mul(target, inner), x, b.mul(source, inner), b.mul(length, inner))
            return

        def row(j: Value) -> None:
            at = b.mul(b.add(source, b.mul(j, step)), inner)
            to = b.mul(b.add(target, j), inner)
            b.for_(0, inner, 1, lambda i: b.store(out, b.add(to, i), b.load(x, b.add(at, i))))

        b.for_(0, length, 1, row)

    b.for_(0, outer, 1, block)
    return b.finish()
