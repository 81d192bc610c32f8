"""Where a GEMM puts its results: straight into memory, or through the sink of the op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Value
from ..loop.types import BITS
from ..lowering import Extent, Memory, Number
from ..rule import Complex
from .kind import Kind

__all__ = ["ColumnOutput", "MatrixOutput", "Output", "SinkOutput"]


class Output:
    """What kernels ask: ``declare`` once, ``row`` for each row and ``store`` for each vector of it.

    Attributes:
        direct: the tile may write whole panels to ``buffer`` itself; ``place`` says where a row begins there.
        can_mask: masked vectors are taken.
        lanes: the length of vectors that are taken; 0: any.
        settled: ``buffers`` and ``dims`` are known before ``declare``.
        key: tells outputs apart that need other code.
        buffers, dims: what the kernel is to be called with, in the order of the parameters that ``declare`` adds.
    """

    direct = False
    can_mask = False
    lanes = 0
    settled = False
    key: Any
    buffers: list[Memory]
    dims: list[Number]

    def declare(self, b: Builder, kind: Kind) -> None:
        """Adds parameters to the kernel under construction."""
        raise NotImplementedError

    def row(self, b: Builder, batch: Index, row: Index, rows: Index) -> Any:
        """What `store` needs to know of row ``row`` (of ``rows``) of product ``batch``."""
        raise NotImplementedError

    def store(self, b: Builder, row: Any, column: Index, value: Value, mask: Value | None) -> None:
        """Results from ``column`` on."""
        raise NotImplementedError


@dataclass
class MatrixOutput(Output):
    """Matrices in memory: element (t, r, c) lies at ``offset + t * batch_step + r * row_step + c``.

    Of complex matrices all numbers count pairs.
    """

    memory: Memory
    row_step: Extent
    batch_step: Extent = 0
    offset: Extent = 0

    direct = True
    settled = True

    def __post_init__(self) -> None:
        self.buffers = [self.memory]
        self.dims = [self.row_step, self.batch_step, self.offset]
        self.can_mask = BITS[self.memory.elem] >= 32
        self.key = "matrix"

    def declare(self, b: Builder, kind: Kind) -> None:
        assert self.memory.elem == kind.acc, f"results of type {kind.acc} cannot go to {self.memory.elem} directly"
        self.buffer: Buffer = b.buffer("out", kind.acc)
        scale = 2 if kind.is_complex else 1
        self.steps = [b.mul(b.dim(name), scale) for name in ("out_row_step", "out_batch_step", "out_offset")]

    def place(self, b: Builder, batch: Index, row: Index) -> Any:
        """Where row ``row`` of matrix ``batch`` begins."""
        row_step, batch_step, offset = self.steps
        return b.add(b.add(b.mul(batch, batch_step), b.mul(row, row_step)), offset)

    def row(self, b: Builder, batch: Index, row: Index, rows: Index) -> Any:
        return self.place(b, batch, row)

    def store(self, b: Builder, row: Any, column: Index, value: Value, mask: Value | None) -> None:
        b.store(self.buffer, b.add(row, column), value, mask)


class SinkOutput(Output):
    """The sink of an op; its output is the stack of matrices, one after the other."""

    def __init__(self, sink: Any, elem: str, is_complex: bool) -> None:
        self.sink, self.elem, self.is_complex = sink, elem, is_complex
        self.can_mask = sink.can_mask and BITS[elem] >= 32 and not is_complex
        self.key = ("sink", sink.key)

    def declare(self, b: Builder, kind: Kind) -> None:
        self.sink.declare(b)
        self.buffers, self.dims = list(self.sink.buffers), list(self.sink.dims)

    def row(self, b: Builder, batch: Index, row: Index, rows: Index) -> Any:
        return self.sink.row(b, b.add(b.mul(batch, rows), row))

    def store(self, b: Builder, row: Any, column: Index, value: Value, mask: Value | None) -> None:
        """``value`` as the op's own type: rounded to a half type, a truth value, a complex pair."""
        if self.elem == "bool":
            self.sink.store_row(b, row, column, b.ne(value, 0), mask)
        elif self.is_complex:
            lanes = range(0, value.type.lanes, 2)
            if len(lanes) == 1:
                parts = [b.extract(value, part) for part in range(2)]
            else:
                parts = [b.shuffle(value, value, [lane + part for lane in lanes]) for part in range(2)]
            self.sink.store_row(b, row, b.div(column, 2), Complex(*parts), None)
        else:
            self.sink.store_row(b, row, column, b.convert(value, self.elem), mask)


class ColumnOutput(Output):
    """A product of one column, computed as one row (its transpose), element by element."""

    lanes = 1

    def __init__(self, inner: Output, rows: Extent) -> None:
        self.inner, self.count = inner, rows
        self.key = ("column", inner.key)

    def declare(self, b: Builder, kind: Kind) -> None:
        self.rows = b.dim("rows")
        self.inner.declare(b, kind)
        self.buffers, self.dims = self.inner.buffers, [self.count, *self.inner.dims]

    def row(self, b: Builder, batch: Index, row: Index, rows: Index) -> Any:
        return batch

    def store(self, b: Builder, row: Any, column: Index, value: Value, mask: Value | None) -> None:
        self.inner.store(b, self.inner.row(b, row, column, self.rows), 0, value, mask)
