"""A row times matrices, and matrices times a column: nothing is used twice, so nothing is packed.

The chains are those of the tile. Along the columns of B as stored they are vectors; where B is stored transposed its
squares are turned in registers. Either way B is read in rows, from beginning to end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..lanes import transposed
from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from ..loop.types import BITS, VType
from .kind import Kind
from .output import Output
from .stack import offsets, spans

__all__ = ["RowVariant", "build_row_product", "fits_row_product"]

WIDTH, LEAST = 4096, 512
"""Most columns of a chunk of the product, and fewest where there are as many; a chunk is what a thread takes. B as
stored is read in rows as long as a chunk is wide: the longer, the better memory follows."""

ACROSS = 64
"""Columns of a chunk where B is transposed."""

RUN = 128
"""Elements of a column that are copied together."""

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
        width: Any = ACROSS
        if not self.v.transposed:
            quarter = b.mul(b.ceil_div(n, 4 * kind.lanes), kind.lanes)
            width = b.min(b.max(quarter, LEAST), WIDTH)
        chunks = b.ceil_div(n, width)
        stack: Any = 1
        for extent, _, _ in loops:
            stack = b.mul(stack, extent)
        work = b.mul(b.min(n, width), b.max(self.k, 1))

        def some(begin: Value, end: Value) -> None:
            sums = b.alloca(kind.acc, ACROSS if self.v.transposed else WIDTH)

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
        """B transposed: two squares at a time, that is chains for ``2 * side`` columns, so that two are under way.

        Columns a multiple of 4 KiB apart would drive each other out of the cache while they are read square by square:
        a run of each is copied together first.
        """
        b, kind, side = self.b, self.kind, self.side
        last, base = b.sub(columns, 1), b.add(self.w_base, b.mul(first, self.w_step))
        near = b.alloca(kind.acc, 2 * side * RUN)
        zeros = [b.const(0, VType(kind.acc, side))] * 2
        collide = b.eq(b.rem(self.w_step, 4096 // kind.elem_size), 0)

        def pair(at: Value) -> None:
            def start_of(i: Index) -> Any:
                return b.add(base, b.mul(b.min(b.add(at, i), last), self.w_step))

            def copied() -> Any:
                def run(low: Value, *totals: Value) -> Any:
                    count = b.min(b.sub(self.k, low), RUN)
                    b.for_(0, 2 * side, 1, lambda i: self.copy(near, b.mul(i, RUN), b.add(start_of(i), low), count))
                    return self.chains(near, [i * RUN for i in range(2 * side)], low, count, totals)

                return b.for_(0, self.k, RUN, run, zeros)

            def in_place() -> Any:
                return self.chains(self.w, [start_of(i) for i in range(2 * side)], 0, self.k, tuple(zeros))

            totals = b.if_(collide, copied, in_place)
            for half, total in enumerate(totals):
                b.store(sums, b.add(at, half * side), total)

        b.for_(0, columns, 2 * side, pair)

    def copy(self, near: Buffer, goal: Value, start: Value, count: Value) -> None:
        b = self.b

        def some(k: Index, lanes: int, mask: Value | None) -> None:
            b.store(near, b.add(goal, k), b.convert(b.load(self.w, b.add(start, k), lanes, mask), self.kind.acc))

        spans(b, count, self.kind.lanes, BITS[self.kind.elem] >= 32, some)

    def chains(self, buf: Buffer, starts: list[Any], low: Index, count: Value, totals: tuple[Value, ...]) -> Any:
        """``count`` links from k = ``low`` on; the columns begin at ``starts`` of ``buf``."""
        b, side = self.b, self.side
        whole = b.sub(count, b.rem(count, side))

        def element(start: Index, k: Value, lanes: int) -> Value:
            return b.convert(b.load(buf, b.add(k, start), lanes), self.kind.acc)

        def squares(k: Value, *totals: Value) -> list[Value]:
            factors = [b.splat(self.element(b.add(b.add(k, low), i)), side) for i in range(side)]
            out = []
            for half, total in enumerate(totals):
                own = starts[half * side : (half + 1) * side]
                for x, column in zip(factors, transposed(b, [element(s, k, side) for s in own]), strict=True):
                    total = self.kind.chain(b, x, column, total)
                out.append(total)
            return out

        def single(k: Value, *totals: Value) -> list[Value]:
            x = b.splat(self.element(b.add(k, low)), side)
            out = []
            for half, total in enumerate(totals):
                column = total
                for i in range(side):
                    column = b.insert(column, i, element(starts[half * side + i], k, 1))
                out.append(self.kind.chain(b, x, column, total))
            return out

        totals = b.for_(0, whole, side, squares, totals)
        return b.for_(whole, count, 1, single, totals)
