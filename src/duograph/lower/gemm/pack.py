"""Packing: a strip of an operand copied so that the micro-kernel reads it from front to back.

A packed strip is ``width`` wide: element j of step k lies at ``k * width + j``. For B the strip is a panel of columns,
for A a tile of rows; both are the same copy. Half types become float32 and bool a byte on the way.

**Complex** products are real ones of twice the depth: A is read as the real matrix [re im re im ...] (which it is, in
memory), B as the real matrix that has for each complex row two real rows, ``re im re im ...`` and ``-im re -im re
...``. So each real part is the chain fma(a.re, b.re), fma(a.im, -b.im), ... over k, each imaginary part the chain
fma(a.re, b.im), fma(a.im, b.re), ...
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..lanes import transposed
from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from ..loop.types import BITS
from .kind import Kind

__all__ = ["pack_complex_columns", "pack_complex_rows", "pack_strip", "transposed"]

CHUNK = 128
"""Steps that are packed of one group of a strip before the next: what is written stays in the first cache."""


@functools.cache
def pack_strip(kind: Kind, steps_inside: bool, width: int) -> Function:
    """Packs ``n <= width`` columns (or rows of A) of ``k`` steps.

    ``steps_inside``: neighbours in memory are of one column; else of one step. Buffers ``x``, ``out``; dims ``n``,
    ``k``, ``step``: elements from one column to the next (``steps_inside``) or from one step to the next. What lies
    beyond ``n`` in the strip is undefined.
    """
    b = Builder(f"gemm_pack_{'t' if steps_inside else 'n'}_{width}")
    x, out = b.buffer("x", kind.elem), b.buffer("out", kind.acc)
    n, k, step = b.dim("n"), b.dim("k"), b.dim("step")

    def element(j: Index, s: Index) -> None:
        place = b.add(b.mul(j, step), s) if steps_inside else b.add(b.mul(s, step), j)
        b.store(out, b.add(b.mul(s, width), j), b.convert(b.load(x, place), kind.acc))

    def elements(first: Index) -> None:
        b.for_(first, k, 1, lambda s: b.for_(0, n, 1, lambda j: element(j, s)))

    if not steps_inside:
        masked = BITS[kind.elem] >= 32 and width == kind.columns
        part = (lambda: _copy_parts(b, kind, x, out, n, k, step)) if masked else (lambda: elements(0))
        b.if_(b.eq(n, width), lambda: _copy_rows(b, kind, x, out, k, step, width), part)
    elif BITS[kind.acc] < 32:
        elements(0)
    else:
        side = 32 // (BITS[kind.acc] // 8)
        whole = b.sub(k, b.rem(k, side))
        _transpose_blocks(b, kind, x, out, n, whole, step, width, side)
        elements(whole)
    return b.finish()


def _copy_rows(b: Builder, kind: Kind, x: Buffer, out: Buffer, k: Value, step: Value, width: int) -> None:
    def one(s: Value) -> None:
        start, goal = b.mul(s, step), b.mul(s, width)
        for at, lanes in _pieces(width, kind.lanes):
            b.store(out, b.add(goal, at), b.convert(b.load(x, b.add(start, at), lanes), kind.acc))

    b.for_(0, k, 1, one)


def _copy_parts(b: Builder, kind: Kind, x: Buffer, out: Buffer, n: Value, k: Value, step: Value) -> None:
    """Rows of a panel that is not whole."""
    starts = range(0, kind.columns, kind.lanes)
    lanes = b.lanes(kind.lanes, "i32")
    masks = [b.lt(lanes + at, b.splat(b.convert(n, "i32"), kind.lanes)) for at in starts]

    def one(s: Value) -> None:
        for at, mask in zip(starts, masks, strict=True):
            part = b.load(x, b.add(b.mul(s, step), at), kind.lanes, mask)
            b.store(out, b.add(b.mul(s, kind.columns), at), part)

    b.for_(0, k, 1, one)


def _transpose_blocks(
    b: Builder, kind: Kind, x: Buffer, out: Buffer, n: Value, k: Value, step: Value, width: int, side: int
) -> None:
    """Squares of ``side`` x ``side`` elements through registers. Missing columns repeat the last one."""
    last = b.sub(n, 1)

    def group(first: Index, count: int, low: Value, high: Value) -> None:
        starts = [b.mul(b.min(b.add(first, i), last), step) for i in range(side)]

        def square(s: Value) -> None:
            rows = [b.convert(b.load(x, b.add(start, s), side), kind.acc) for start in starts]
            for i, row in enumerate(transposed(b, rows)):
                goal = b.add(b.mul(b.add(s, i), width), first)
                for at, lanes in _pieces(count, side):
                    part = row if lanes == side else b.shuffle(row, row, range(at, at + lanes))
                    b.store(out, b.add(goal, at), part if lanes > 1 else b.extract(part, 0))

        b.for_(low, high, side, square)

    def chunk(low: Value) -> None:
        high = b.min(b.add(low, CHUNK), k)
        full = width - width % side
        b.for_(0, b.min(n, full), side, lambda first: group(first, side, low, high))
        if full < width:
            b.if_(b.lt(full, n), lambda: group(full, width - full, low, high))

    b.for_(0, k, CHUNK, chunk)


def _pieces(width: int, largest: int) -> list[tuple[int, int]]:
    """``width`` cut into powers of two, none above ``largest``: where each begins, and its length."""
    pieces, at = [], 0
    while at < width:
        lanes = min(largest, 1 << ((width - at).bit_length() - 1))
        pieces.append((at, lanes))
        at += lanes
    return pieces


@functools.cache
def pack_complex_columns(kind: Kind) -> Function:
    """Packs ``n`` complex columns of B as real ones. Dims ``n``, ``k``; ``step``, ``column``: pairs from one k,
    from one column to the next."""
    b = Builder("gemm_pack_complex_columns")
    x, out = b.buffer("x", kind.elem), b.buffer("out", kind.acc)
    n, k, step, column = b.dim("n"), b.dim("k"), b.dim("step"), b.dim("column")
    swap = [lane ^ 1 for lane in range(kind.lanes)]
    even = b.const([lane % 2 == 0 for lane in range(kind.lanes)], f"boolx{kind.lanes}")

    def vector(v: int) -> Callable[[Value], None]:
        lanes = b.lanes(kind.lanes)
        number = b.min(b.shr(lanes, 1) + v * kind.lanes // 2, b.splat(b.sub(n, 1), kind.lanes))
        parts = number * b.splat(b.mul(column, 2), kind.lanes) + (lanes & 1)

        def one(s: Value) -> None:
            pairs = b.gather(x, parts + b.mul(b.mul(s, step), 2))
            goal = b.add(b.mul(s, 2 * kind.columns), v * kind.lanes)
            b.store(out, goal, pairs)
            turned = b.shuffle(pairs, pairs, swap)
            b.store(out, b.add(goal, kind.columns), b.select(even, b.neg(turned), turned))

        return one

    for v in range(kind.vectors):
        b.for_(0, k, 1, vector(v))
    return b.finish()


@functools.cache
def pack_complex_rows(kind: Kind) -> Function:
    """Packs ``n`` rows of a transposed complex A: two real steps for each complex one. Dims ``n``, ``k``, ``step``."""
    b = Builder("gemm_pack_complex_rows")
    x, out = b.buffer("x", kind.elem), b.buffer("out", kind.acc)
    n, k, step = b.dim("n"), b.dim("k"), b.dim("step")

    def one(s: Value) -> None:
        def row(j: Value) -> None:
            place = b.mul(b.add(b.mul(s, step), j), 2)
            for part in range(2):
                goal: Any = b.add(b.mul(b.add(b.mul(s, 2), part), kind.rows), j)
                b.store(out, goal, b.load(x, b.add(place, part)))

        b.for_(0, n, 1, row)

    b.for_(0, k, 1, one)
    return b.finish()
