"""A row times matrices, and matrices times a column: nothing is used twice, so nothing is packed.

The chains are those of the tile. Along the columns of B as stored they are vectors; where B is stored transposed its
squares are turned in registers. Either way B is read in rows, from beginning to end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from ..loop.types import BITS, VType
from .kind import Kind
from .output import Output
from .pack import transposed
from .stack import offsets, spans

__all__ = ["RowVariant", "build_row_product", "fits_row_product"]

WIDTH = 512
"""Most columns of a chunk of the product; a chunk is what a thread takes."""

LEAST = 64
"""Fewest columns of a chunk, where there are as many."""

UNROLL = 8
"""Rows of B that are added at a time."""

GRAIN = 60_000
"""Multiply-adds that are worth a chunk of their own: it is memory that takes the time."""


@dataclass(frozen=True)
class RowVariant:
    """What the code depends on: numbers, whether B is stored as n x k, loops over stacks."""

    kind: Kind
    transposed: bool
    batch: int


def fits_row_product(kind: Kind) -> bool:
    """Whether this module can do numbers of ``kind``."""
    return not kind.is_complex and BITS[kind.acc] >= 32


def build_row_product(variant: RowVariant, output: Output) -> Function:
    """out[t, 0, :] = x[t, :] B[t]. Buffers ``x``, ``w``, then the output's. Dims as in `driver.build_driver`, but for
    ``m``: loops, ``n``, ``k``, ``x_step`` (to the next element of x), ``w_step``, ``x_offset``, ``w_offset``.
    """
    return _RowProduct(variant, output).build()


class _RowProduct:
    def __init__(self, variant: RowVariant, output: Output) -> None:
        self.v, self.kind, self.out = variant, variant.kind, output
        self.b = Builder("row_product_t" if variant.transposed else "row_product")
        self.side = 32 // self.kind.size

    def build(self) -> Function:
        b, kind = self.b, self.kind
        self.x, self.w = b.buffer("x", kind.elem), b.buffer("w", kind.elem)
        loops = [tuple([b.dim(f"{name}{i}") for name in ("extent", "x", "w")]) for i in range(self.v.batch)]
        n, self.k, self.x_step, self.w_step, x_offset, w_offset = (
            b.dim(name) for name in ("n", "k", "x_step", "w_step", "x_offset", "w_offset")
        )
        self.out.declare(b, kind)
        eighth = b.mul(b.ceil_div(b.max(n, 1), 8 * LEAST), LEAST)
        width = b.min(eighth, WIDTH)
        chunks = b.ceil_div(n, width)
        stack: Any = 1
        for extent, _, _ in loops:
            stack = b.mul(stack, extent)
        work = b.mul(b.min(n, width), b.max(self.k, 1))

        def some(begin: Value, end: Value) -> None:
            sums = b.alloca(kind.acc, WIDTH)

            def chunk(number: Value) -> None:
                first, batch = b.mul(b.rem(number, chunks), width), b.div(number, chunks)
                self.x_base, self.w_base = offsets(b, loops, batch, (x_offset, w_offset))
                columns = b.min(b.sub(n, first), width)
                (self.across if self.v.transposed else self.along)(sums, first, columns)
                row = self.out.row(b, batch, 0, 1)

                def store(at: Index, lanes: int, mask: Value | None) -> None:
                    self.out.store(b, row, b.add(first, at), b.load(sums, at, lanes), mask)

                spans(b, columns, self.out.lanes or kind.lanes, self.out.can_mask, store)

            b.for_(begin, end, 1, chunk)

        grain = b.div(b.add(b.const(GRAIN), work), b.max(work, 1))
        b.parallel(0, b.mul(stack, chunks), grain, some)
        return b.finish()

    def element(self, k: Index) -> Value:
        """Element k of x."""
        place = self.b.add(self.x_base, self.b.mul(k, self.x_step))
        return self.b.convert(self.b.load(self.x, place), self.kind.acc)

    def along(self, sums: Buffer, first: Value, columns: Value) -> None:
        """B as stored: rows of B, times elements of x, are added to the sums, some rows at a time."""
        b, kind = self.b, self.kind
        zero = b.const(0, VType(kind.acc, kind.lanes))
        b.for_(0, columns, kind.lanes, lambda at: b.store(sums, at, zero))

        def rows(k: Value, count: int) -> None:
            factors = [self.element(b.add(k, i)) for i in range(count)]
            splats = [b.splat(x, kind.lanes) for x in factors]
            places = [b.add(b.add(self.w_base, first), b.mul(b.add(k, i), self.w_step)) for i in range(count)]

            def add(at: Index, lanes: int, mask: Value | None) -> None:
                total = b.load(sums, at, lanes)
                for x, place in zip(splats if lanes > 1 else factors, places, strict=True):
                    part = b.load(self.w, b.add(place, at), lanes, mask)
                    total = kind.chain(b, x, b.convert(part, kind.acc), total)
                b.store(sums, at, total)

            spans(b, columns, kind.lanes, BITS[kind.elem] >= 32, add)

        whole = b.sub(self.k, b.rem(self.k, UNROLL))
        b.for_(0, whole, UNROLL, lambda k: rows(k, UNROLL))
        b.for_(whole, self.k, 1, lambda k: rows(k, 1))

    def across(self, sums: Buffer, first: Value, columns: Value) -> None:
        """B transposed: two squares at a time, that is chains for ``2 * side`` columns, so that two are under way."""
        b, kind, side = self.b, self.kind, self.side
        last = b.sub(columns, 1)
        base = b.add(self.w_base, b.mul(first, self.w_step))
        whole = b.sub(self.k, b.rem(self.k, side))

        def pair(at: Value) -> None:
            starts = [b.add(base, b.mul(b.min(b.add(at, i), last), self.w_step)) for i in range(2 * side)]

            def squares(k: Value, *totals: Value) -> list[Value]:
                factors = [b.splat(self.element(b.add(k, i)), side) for i in range(side)]
                out = []
                for half, total in enumerate(totals):
                    own = starts[half * side : (half + 1) * side]
                    rows = [b.convert(b.load(self.w, b.add(start, k), side), kind.acc) for start in own]
                    for x, column in zip(factors, transposed(b, rows), strict=True):
                        total = kind.chain(b, x, column, total)
                    out.append(total)
                return out

            def single(k: Value, *totals: Value) -> list[Value]:
                x = b.splat(self.element(k), side)
                out = []
                for half, total in enumerate(totals):
                    column = total
                    for i, start in enumerate(starts[half * side : (half + 1) * side]):
                        part = b.convert(b.load(self.w, b.add(start, k)), kind.acc)
                        column = b.insert(column, i, part)
                    out.append(kind.chain(b, x, column, total))
                return out

            zero = b.const(0, VType(kind.acc, side))
            totals = b.for_(0, whole, side, squares, [zero, zero])
            totals = b.for_(whole, self.k, 1, single, totals)
            for half, total in enumerate(totals):
                b.store(sums, b.add(at, half * side), total)

        b.for_(0, columns, 2 * side, pair)
