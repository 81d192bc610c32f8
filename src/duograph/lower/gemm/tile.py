"""The micro-kernel: a block of rows of the product, one panel wide, with accumulators in registers.

`block_function` is compiled once per number type, layout of A and width; it serves all sizes. Every element is one
chain of ``fma`` over k in order. The chain may be cut: the accumulators are stored, and loaded again when it goes
on (``more``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from .kind import Kind

__all__ = ["ROWS", "STEPS", "block_function"]

ROWS, STEPS = "rows", "steps"
"""How A lies: `ROWS`: neighbours in memory belong to one row; `STEPS`: to one k (A transposed, or packed)."""


@functools.cache
def block_function(kind: Kind, layout: str, vectors: int) -> Function:
    """C[m, vectors * lanes] = A[m, k] B[k, vectors * lanes], or with ``more`` C += A B.

    Buffers: ``a``, ``w`` (B), ``c``, at their first element. Dims::

        m, k     extents
        a_step   elements from one row of A to the next (`ROWS`), from one k to the next (`STEPS`)
        a_tile   `STEPS`: elements from one tile of ``kind.rows`` rows to the next
        w_step   elements from one k of B to the next
        c_step   elements from one row of C to the next
        more     0: chains start at zero; 1: at what C holds
    """
    b = Builder(f"gemm_{layout}_{vectors}")
    a, w, c = b.buffer("a", kind.acc), b.buffer("w", kind.acc), b.buffer("c", kind.acc)
    m, k, a_step, a_tile, w_step, c_step, more = [
        b.dim(name) for name in ("m", "k", "a_step", "a_tile", "w_step", "c_step", "more")
    ]
    tile = _Tile(b, kind, layout, vectors, a, w, c, k, a_step, w_step, c_step, more)
    rest = b.rem(m, kind.rows)
    whole = b.sub(m, rest)

    def a_start(row: Value) -> Any:
        return b.mul(row, a_step) if layout == ROWS else b.mul(b.div(row, kind.rows), a_tile)

    b.for_(0, whole, kind.rows, lambda row: tile.emit(kind.rows, a_start(row), row))
    last = a_start(whole)
    for part in kind.parts(kind.rows):
        before = rest & ~(2 * part - 1)

        def some(part: int = part, before: Value = before) -> None:
            start = b.add(last, b.mul(before, a_step) if layout == ROWS else before)
            tile.emit(part, start, b.add(whole, before))

        b.if_(b.ne(rest & part, 0), some)
    return b.finish()


class _Tile:
    """Writes the code of tiles of some rows."""

    def __init__(
        self, b: Builder, kind: Kind, layout: str, vectors: int, a: Buffer, w: Buffer, c: Buffer, *dims: Value
    ) -> None:
        self.b, self.kind, self.layout, self.vectors = b, kind, layout, vectors
        self.a, self.w, self.c = a, w, c
        self.k, self.a_step, self.w_step, self.c_step, self.more = dims

    def emit(self, rows: int, a_start: Index, row: Index) -> None:
        """``rows`` rows from ``row`` on; their part of A begins at element ``a_start``."""
        b, kind = self.b, self.kind
        starts = [b.mul(b.add(row, r), self.c_step) for r in range(rows)]
        places = [b.add(start, v * kind.lanes) for start in starts for v in range(self.vectors)]
        zero = b.const(0, kind.vector)
        sums = b.if_(
            b.ne(self.more, 0),
            lambda: tuple([b.load(self.c, place, kind.lanes) for place in places]),
            lambda: (zero,) * len(places),
        )
        operand = self.row_major(rows, a_start) if self.layout == ROWS else self.step_major(a_start)
        sums = b.for_(0, self.k, 1, lambda k, *s: self.step(k, s, rows, operand), sums)
        for place, value in zip(places, sums, strict=True):
            b.store(self.c, place, value)

    def row_major(self, rows: int, start: Index) -> Callable[[Value, int], Value]:
        """Rows in threes, each group with a base of its own: fewer registers than one pointer per row."""
        b, size = self.b, self.kind.size
        bases = [
            b.view(self.a, b.mul(b.add(start, b.mul(self.a_step, first)), size), self.kind.acc)
            for first in range(0, rows, 3)
        ]
        within = [0, self.a_step, b.mul(self.a_step, 2)]

        def operand(k: Value, row: int) -> Value:
            return b.load(bases[row // 3], b.add(k, within[row % 3]))

        return operand

    def step_major(self, start: Index) -> Callable[[Value, int], Value]:
        b = self.b
        base = b.view(self.a, b.mul(start, self.kind.size), self.kind.acc)
        return lambda k, row: b.load(base, b.add(b.mul(k, self.a_step), row))

    def step(self, k: Value, sums: tuple[Value, ...], rows: int, operand: Any) -> tuple[Value, ...]:
        """One link of all chains. Not unrolled: the loop costs nothing beside them, and LLVM, given more, spills."""
        b, kind, n = self.b, self.kind, self.vectors
        place = b.mul(k, self.w_step)
        panel = [b.load(self.w, b.add(place, v * kind.lanes), kind.lanes) for v in range(n)]
        out = []
        for r in range(rows):
            x = b.splat(operand(k, r), kind.lanes)
            out += [kind.chain(b, x, panel[v], sums[r * n + v]) for v in range(n)]
        return tuple(out)
