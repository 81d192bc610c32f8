"""The blocked GEMM: which part of the product is computed when, by whom, from which copies.

A *task* is a block of rows times some panels of columns (of one matrix of the stack). It packs a panel of B, K-block by
K-block, onto its stack and hands it to `tile.block_function`. Tasks share nothing, so any thread may take any of them;
how the product is cut into tasks, blocks and tiles changes no bit, because every element stays one chain over k.

All extents and strides are run-time numbers: one driver serves all shapes. It is little code, since what is hot lives
in functions of their own that are compiled once for all drivers; so a driver with a fused epilogue costs little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from ..target import current_target
from .kind import Kind
from .output import Output
from .pack import pack_complex_columns, pack_strip
from .stack import offsets, spans
from .tile import ROWS, STEPS, block_function

__all__ = ["Variant", "build_driver"]

K_BLOCK = 512
"""Most steps that are packed at once."""

ROW_BLOCK = 240
"""Most rows of a block."""

PACKING = 6
"""As many rows cost what it costs to pack a panel."""

GROUP = 8
"""Most panels of a task."""

TASKS = 4
"""Fewer tasks than this are made more by cutting rows."""

GRAIN = 100_000
"""Multiply-adds that are worth a chunk of their own (about 2 us)."""


@dataclass(frozen=True)
class Variant:
    """What the code of a driver depends on, besides its output.

    Attributes:
        kind: numbers and tile.
        transpose_a, transpose_b: the operand is stored as k x m, n x k.
        packed_a: A arrives packed into tiles of ``kind.rows`` rows (`pack_strip`), one matrix after the other.
        narrow: there is a tile of one vector for a narrow last panel.
        batch: number of loops over stacks of matrices.
    """

    kind: Kind
    transpose_a: bool = False
    transpose_b: bool = False
    packed_a: bool = False
    narrow: bool = False
    batch: int = 0


def build_driver(variant: Variant, output: Output) -> Function:
    """The driver. Buffers ``a``, ``w``, then those of the output. Dims::

        extent, a, w     for each batch loop: extent, elements from one matrix of A and of B to the next
        m, n, k          extents of one product
        a_step, w_step   elements from one row of the stored matrix to the next (A packed: unused)
        a_offset, w_offset   first elements

    and those of the output. All count pairs if the matrices are complex.
    """
    return _Driver(variant, output).build()


@dataclass
class _Task:
    """The part of the product under way."""

    batch: Any
    a_base: Any
    w_base: Any
    row: Any
    rows: Any
    panel: Buffer
    scratch: Buffer
    column: Any = 0
    columns: Any = 0
    step: Any = 0
    steps: Any = 0


class _Driver:
    def __init__(self, variant: Variant, output: Output) -> None:
        self.v, self.kind, self.out = variant, variant.kind, output
        self.b = Builder("gemm")
        self.scale = 2 if self.kind.is_complex else 1  # real numbers in an element
        self.layout = STEPS if variant.packed_a or variant.transpose_a else ROWS

    def build(self) -> Function:
        b, kind, v = self.b, self.kind, self.v
        self.a = b.buffer("a", kind.acc if v.packed_a else kind.elem)
        self.w = b.buffer("w", kind.elem)
        self.loops = [tuple([b.dim(f"{name}{i}") for name in ("extent", "a", "w")]) for i in range(v.batch)]
        self.m, n, k = (b.dim(name) for name in "mnk")
        self.a_step, self.w_step = b.dim("a_step"), b.dim("w_step")
        self.a_offset, self.w_offset = b.dim("a_offset"), b.dim("w_offset")
        self.out.declare(b, kind)
        self.n, self.k = b.mul(n, self.scale), b.mul(k, self.scale)  # as a real product
        self.k_blocks = b.max(b.ceil_div(self.k, K_BLOCK), 1)
        self.k_block = b.mul(b.ceil_div(b.max(self.k, 1), b.mul(self.k_blocks, self.scale)), self.scale)

        panels = b.ceil_div(self.n, kind.columns)
        stack: Any = 1
        for extent, _, _ in self.loops:
            stack = b.mul(stack, extent)
        row_block = self.row_block(b.mul(stack, panels))
        row_blocks = b.ceil_div(self.m, row_block)
        rows = b.add(b.min(row_block, self.m), PACKING)
        work = b.mul(b.mul(rows, kind.columns), b.max(self.k, 1))
        grain = b.div(b.add(b.const(GRAIN), work), work)

        groups, group = self.groups(b.mul(stack, row_blocks), panels)

        def chunk(begin: Value, end: Value) -> None:
            panel = b.alloca(kind.acc, K_BLOCK * kind.columns)
            scratch = b.alloca(kind.acc, ROW_BLOCK // kind.rows * kind.rows * kind.columns)

            def task(number: Value) -> None:
                first = b.mul(b.rem(number, groups), group)
                number = b.div(number, groups)
                row = b.mul(b.rem(number, row_blocks), row_block)
                batch = b.div(number, row_blocks)
                a_base, w_base = offsets(b, self.loops, batch, (self.a_offset, self.w_offset))
                rows = b.min(b.sub(self.m, row), row_block)
                last = b.min(b.add(first, group), panels)
                self.task(_Task(batch, a_base, w_base, row, rows, panel, scratch), first, last)

            b.for_(begin, end, 1, task)

        b.parallel(0, b.mul(b.mul(stack, groups), row_blocks), grain, chunk)
        return b.finish()

    def groups(self, strips: Value, panels: Value) -> tuple[Any, Any]:
        """Number of groups of panels, and panels of a group, which are one task: threads that write to neighbouring
        panels at the same time take cache lines from each other."""
        b = self.b
        group = b.max(b.min(b.div(b.mul(strips, panels), 4 * TASKS), GROUP), 1)
        return b.ceil_div(panels, group), group

    def row_block(self, strips: Value) -> Value:
        """Rows of a task: as many as the caches bear, but no fewer tasks than `TASKS` if there is work for them."""
        b, kind = self.b, self.kind
        most = ROW_BLOCK // kind.rows
        l2_share = current_target().caches.l2 * 9 // 16  # for a block of A, beside a panel of B
        cached = b.div(l2_share // (kind.size * kind.rows), b.max(self.k_block, 1))
        tiles = b.min(b.max(cached, 4), most)
        worth = b.div(GRAIN // (kind.rows * kind.columns), b.max(self.k, 1))
        few = b.lt(strips, 2 * TASKS) & b.gt(strips, TASKS)  # five panels for two threads: one would wait for the other
        cuts = b.select(few, b.const(2), b.ceil_div(TASKS, b.max(strips, 1)))
        spread = b.ceil_div(b.max(self.m, 1), b.mul(cuts, kind.rows))
        return b.mul(b.min(tiles, b.max(spread, b.max(worth, 1))), kind.rows)

    def task(self, t: _Task, first: Value, last: Value) -> None:
        """Panels ``first`` up to ``last`` of a block of rows. Only the last of a matrix may be narrow."""
        b = self.b

        def blocks(body: Callable[[], None]) -> None:
            def block(number: Value) -> None:
                t.step = b.mul(number, self.k_block)
                t.steps = b.min(b.sub(self.k, t.step), self.k_block)
                body()

            b.for_(0, self.k_blocks, 1, block)

        def panels(body: Callable[[Value], None]) -> None:
            b.for_(first, last, 1, lambda number: body(self.place(t, number)))

        if self.out.direct:  # accumulators wait in the output, so that a block of A is used for all panels at once
            blocks(lambda: panels(lambda whole: self.multiply_panel(t, whole)))
            b.if_(self.place(t, b.sub(last, 1)), lambda: None, lambda: self.finish_rows(t))
        else:

            def panel(whole: Value) -> None:
                blocks(lambda: self.multiply_panel(t, whole))
                self.finish_rows(t)

            panels(panel)

    def multiply_panel(self, t: _Task, whole: Value) -> None:
        """The current block of K of the current panel."""
        b = self.b
        if self.may_read_in_place:
            in_place = whole & b.le(t.rows, self.kind.rows)
            b.if_(in_place, lambda: self.multiply_in_place(t), lambda: self.pack_and_multiply(t, whole))
        else:
            self.pack_and_multiply(t, whole)

    def place(self, t: _Task, panel: Value) -> Value:
        """Makes ``panel`` the current one; whether it is whole."""
        b, columns = self.b, self.kind.columns
        t.column = b.mul(panel, columns)
        t.columns = b.min(b.sub(self.n, t.column), columns)
        return b.eq(t.columns, columns)

    @property
    def may_read_in_place(self) -> bool:
        """Packing pays from two tiles on; what one tile reads, it may read where it lies."""
        return not self.v.transpose_b and not self.kind.converts and not self.kind.is_complex

    def multiply_in_place(self, t: _Task) -> None:
        b = self.b
        place = b.add(t.w_base, b.add(b.mul(t.step, self.w_step), t.column))
        panel = b.view(self.w, b.mul(place, self.kind.size), self.kind.acc)
        self.multiply(t, panel, self.w_step, self.kind.vectors, self.out.direct)

    def pack_and_multiply(self, t: _Task, whole: Value) -> None:
        b, kind, v = self.b, self.kind, self.v
        inside, across = (self.w_step, 1) if v.transpose_b else (1, self.w_step)  # from one column, one k to the next
        step, column = b.div(t.step, self.scale), b.div(t.column, self.scale)
        place = b.add(t.w_base, b.add(b.mul(step, across), b.mul(column, inside)))
        source = b.view(self.w, b.mul(place, self.scale * kind.elem_size), kind.elem)
        columns, steps = b.div(t.columns, self.scale), b.div(t.steps, self.scale)
        if kind.is_complex:
            b.call(pack_complex_columns(kind), [source, t.panel], [columns, steps, across, inside])
        else:
            pack = pack_strip(kind, v.transpose_b, kind.columns)
            b.call(pack, [source, t.panel], [columns, steps, self.w_step])

        def rest() -> None:
            def wide() -> None:
                self.multiply(t, t.panel, kind.columns, kind.vectors, False)

            if v.narrow and kind.vectors > 1:
                one = b.le(t.columns, kind.lanes)
                b.if_(one, lambda: self.multiply(t, t.panel, kind.columns, 1, False), wide)
            else:
                wide()

        if self.out.direct:
            b.if_(whole, lambda: self.multiply(t, t.panel, kind.columns, kind.vectors, True), rest)
        else:
            rest()

    def multiply(self, t: _Task, panel: Buffer, w_step: Index, vectors: int, direct: bool) -> None:
        """The block of A times a panel, to the output or to the scratch block."""
        b, kind, v = self.b, self.kind, self.v
        if v.packed_a:
            a_step: Any = kind.rows
            a_tile: Any = b.mul(self.k, kind.rows)
            start = b.add(b.mul(t.row, self.k), b.mul(t.step, kind.rows))
            start = b.add(b.mul(t.a_base, self.scale), start)
        elif v.transpose_a:
            assert self.scale == 1, "a transposed complex A is packed"
            a_step, a_tile = self.a_step, kind.rows
            start = b.add(t.a_base, b.add(b.mul(t.step, self.a_step), t.row))
        else:
            a_step, a_tile = b.mul(self.a_step, self.scale), 0
            start = b.add(b.mul(t.a_base, self.scale), b.add(b.mul(t.row, a_step), t.step))
        a = b.view(self.a, b.mul(start, kind.size), kind.acc)
        if direct:
            place = b.add(self.out.place(b, t.batch, t.row), t.column)  # type: ignore[attr-defined]
            c, c_step = b.view(self.out.buffer, b.mul(place, kind.size), kind.acc), self.out.steps[0]  # type: ignore[attr-defined]
            self.out.buffer.written = True  # type: ignore[attr-defined]
        else:
            c, c_step = t.scratch, kind.columns
        more = b.min(t.step, 1)
        tile = block_function(kind, self.layout, vectors)
        b.call(tile, [a, panel, c], [t.rows, t.steps, a_step, a_tile, w_step, c_step, more])

    def finish_rows(self, t: _Task) -> None:
        """Hands the block in the scratch memory to the output: whole vectors, then the rest of the row."""
        b, kind, out = self.b, self.kind, self.out

        def one(r: Value) -> None:
            row = out.row(b, t.batch, b.add(t.row, r), self.m)
            start = b.mul(r, kind.columns)

            def store(at: Index, lanes: int, mask: Value | None) -> None:
                out.store(b, row, b.add(t.column, at), b.load(t.scratch, b.add(start, at), lanes), mask)

            spans(b, t.columns, kind.lanes, out.can_mask, store, self.scale)

        b.for_(0, t.rows, 1, one)
