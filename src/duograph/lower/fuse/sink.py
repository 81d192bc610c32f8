"""The sink that goes on computing: elementwise nodes applied to the results of a kernel while they are in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.lower.layout import collapse, contiguous_strides
from duograph.lower.loop.builder import Builder, Index
from duograph.lower.loop.ir import Value
from duograph.lower.loop.types import BITS
from duograph.lower.lowering import Extent, Memory, Number, Operand, Sink, unravel
from duograph.lower.program import Program, apply_step, constant_element, splat
from duograph.lower.rule import Element

Known = dict[int, Element]

BRIEF = 3
"""Steps of a program that may be written out many times."""


class FusingSink(Sink):
    """Runs ``program`` on each result of the kernel, which is its leaf number ``taken``, and stores the results.

    What is the same everywhere is computed when the kernel starts, what depends on the row in `row`, the rest for each
    vector.
    """

    def __init__(
        self, program: Program, taken: int | None, value: Operand, space: Sequence[Extent], outs: Sequence[Operand]
    ) -> None:
        super().__init__(value)
        self.program, self.taken, self.space, self.outs = program, taken, tuple(space), list(outs)
        self.reads = [n for n, leaf in enumerate(program.leaves) if leaf.in_memory and n != taken]
        self.strides = {n: _settled(self.space, program.leaves[n].strides) for n in self.reads}
        rows = self.space[:-1]
        loops, walks = collapse(rows, [contiguous_strides(rows), *[self.strides[n][:-1] for n in self.reads]])
        self.row_loops = loops
        self.row_walks = dict(zip(self.reads, walks[1:], strict=True))
        self.buffers: list[Memory] = [*[program.leaves[n].memory for n in self.reads], *outs]
        self.dims: list[Number] = [
            *[leaf.operand for leaf in program.leaves if leaf.operand.is_scalar and leaf.constant is None],
            *self.space[1:],
            *self.row_loops[1:],
            *[s for n in self.reads for s in (*self.strides[n], *self.row_walks[n]) if _is_number(s)],
        ]

    @property
    def key(self) -> str:
        kinds = [
            "".join("n" if _is_number(s) else str(s) for s in (*self.strides[n], *self.row_walks[n]))
            for n in self.reads
        ]
        shape = (len(self.space), len(self.row_loops), self.taken)
        return f"fuse:{self.program.key()!r}:{kinds}:{shape}:{self.out.elem}"

    def inplace(self, buffers: Sequence[Memory], kernel_reads: Sequence[Operand]) -> tuple[tuple[int, int], ...]:
        """Pairs for `KernelCall.inplace`: what is read where a result is written, and by the sink alone. Each element
        is stored once, after the loads for it."""
        whole = contiguous_strides(self.space)
        place = {id(x): k for k, x in enumerate(buffers)}
        pairs = []
        for n in self.reads:
            leaf = self.program.leaves[n]
            alone = [id(leaf.memory) == id(self.program.leaves[m].memory) for m in self.reads].count(True) == 1
            same = [a == w for a, w, e in zip(self.strides[n], whole, self.space, strict=True) if e != 1]
            if not alone or not all(same) or leaf.memory in kernel_reads or leaf.offset:
                continue
            for out in self.outs:
                if id(leaf.memory) in place and id(out) in place and BITS[leaf.operand.elem] == BITS[out.elem]:
                    pairs.append((place[id(leaf.memory)], place[id(out)]))
        return tuple(pairs)

    @property
    def can_mask(self) -> bool:
        return all(BITS[x.elem] >= 32 and not x.is_complex for x in self._all_operands())

    @property
    def is_brief(self) -> bool:
        return len(self.program.steps) <= BRIEF

    def _all_operands(self) -> list[Operand]:
        return [self.out, *self.outs, *[self.program.leaves[n].operand for n in self.reads]]

    def joins(self, axes: int) -> bool:
        whole = contiguous_strides(self.space)
        for n in self.reads:
            tail = self.strides[n][len(self.space) - axes :]
            natural = whole[len(self.space) - axes :]
            if any(s != 0 for s in tail) and any(s != w for s, w in zip(tail, natural, strict=True)):
                return False
        return axes >= 1

    def declare(self, b: Builder) -> None:
        program = self.program
        self.bufs = {n: b.buffer(f"fused{n}", program.leaves[n].operand.elem) for n in self.reads}
        self.out_bufs = [b.buffer(f"out{k}", out.elem) for k, out in enumerate(self.outs)]
        known: Known = {}
        for n, leaf in enumerate(program.leaves):
            if leaf.operand.is_scalar and leaf.constant is None:
                known[n] = b.dim(f"scalar{n}", leaf.operand.elem)
        self.extents = [b.dim(f"out_extent{i}") for i in range(1, len(self.space))]
        self.row_extents: list[Any] = [0, *[b.dim(f"rows{i}") for i in range(1, len(self.row_loops))]]
        self.steps: dict[int, list[Any]] = {}
        self.row_steps: dict[int, list[Any]] = {}
        for n in self.reads:
            both = [b.dim(f"step{n}") if _is_number(s) else s for s in (*self.strides[n], *self.row_walks[n])]
            self.steps[n], self.row_steps[n] = both[: len(self.space)], both[len(self.space) :]
        for n, leaf in enumerate(program.leaves):
            if leaf.constant is not None:
                known[n] = constant_element(b, leaf)
            elif n in self.bufs and not any(_is_number(s) or s for s in self.strides[n]):
                known[n] = b.load(self.bufs[n], 0)
        self.levels = self._levels()
        self.known = known
        self.compute(b, known, 0, 1)

    def _levels(self) -> list[int]:
        """Per value: 0 the same everywhere, 1 per row, 2 per element."""
        levels = []
        for n, leaf in enumerate(self.program.leaves):
            if n == self.taken:
                levels.append(2)
            elif leaf.in_memory:
                strides = self.strides[n]
                rows = any(_is_number(s) or s for s in strides[:-1])
                levels.append(2 if strides and (_is_number(strides[-1]) or strides[-1]) else int(rows))
            else:
                levels.append(0)
        for step in self.program.steps:
            levels += [max((levels[a] for a in step.args), default=0)] * len(step.outs)
        return levels

    def compute(self, b: Builder, known: Known, level: int, lanes: int) -> None:
        """Adds to ``known`` what changes no more often than ``level`` says."""
        number = len(self.program.leaves)
        for step in self.program.steps:
            if number not in known and self.levels[number] <= level:
                known.update(enumerate(apply_step(b, step, [known[a] for a in step.args], lanes), number))  # type: ignore[arg-type]
            number += len(step.outs)

    # ---- results -------------------------------------------------------------------------------------------------

    def store(self, b: Builder, coords: Sequence[Any], value: Any, mask: Value | None = None) -> None:
        base: Any = coords[0] if len(coords) > 1 else 0
        for coord, extent in zip(coords[1:-1], self.extents, strict=False):
            base = b.add(b.mul(base, extent), coord)
        if len(coords) > 1:
            base = b.mul(base, self.extents[-1])
        at = {n: self._moved(b, coords[:-1], self.steps[n][:-1]) for n in self.reads}
        self.store_row(b, self._row(b, base, at), coords[-1] if coords else 0, value, mask)

    def row(self, b: Builder, row: Index) -> Any:
        base = b.mul(row, self.extents[-1]) if self.extents else row
        coords = unravel(b, row, self.row_extents) if self.row_loops else []
        return self._row(b, base, {n: self._moved(b, coords, self.row_steps[n]) for n in self.reads})

    def _moved(self, b: Builder, coords: Sequence[Any], steps: Sequence[Any]) -> Index:
        at: Any = 0
        for coord, step in zip(coords, steps, strict=True):
            at = b.add(at, b.mul(coord, step))
        return at

    def _row(self, b: Builder, base: Index, at: dict[int, Index]) -> tuple[Index, dict[int, Index], Known]:
        known = dict(self.known)
        for n, buf in self.bufs.items():
            if n not in known and self.levels[n] == 1:
                known[n] = b.load(buf, at[n])
        self.compute(b, known, 1, 1)
        return base, at, known

    def store_row(self, b: Builder, row: Any, column: Index, value: Any, mask: Value | None = None) -> None:
        base, at, known = row
        known, lanes = dict(known), value.type.lanes
        if self.taken is not None:
            known[self.taken] = value
        for n, buf in self.bufs.items():
            if n not in known:
                known[n] = self._load(b, n, buf, b.add(at[n], b.mul(column, self.steps[n][-1])), lanes, mask)
        self.compute(b, known, 2, lanes)
        for buf, number in zip(self.out_bufs, self.program.results, strict=True):
            result = splat(b, known[number], lanes)
            assert isinstance(result, Value)
            b.store(buf, b.add(base, column), result, mask)

    def _load(self, b: Builder, n: int, buf: Any, index: Index, lanes: int, mask: Value | None) -> Value:
        step = self.steps[n][-1]
        if isinstance(step, int) or lanes == 1:
            return b.load(buf, index, lanes, mask)
        return b.gather(buf, b.lanes(lanes) * b.value(step) + b.value(index), mask)


def _is_number(stride: Extent) -> bool:
    """Whether a stride is a run-time number; 0 and 1 are written into the code."""
    return not (isinstance(stride, int) and stride in (0, 1))


def _settled(space: Sequence[Extent], strides: Sequence[Extent]) -> tuple[Extent, ...]:
    """``strides`` with those of loops of extent 1, which may be anything, like that of the loop around."""
    made: list[Extent] = []
    for n, s in zip(space, strides, strict=True):
        made.append(made[-1] if isinstance(n, int) and n == 1 and made else s)
    return tuple(made)
