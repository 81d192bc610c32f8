"""Reductions of columns: vectors run along the kept elements (see `lower.reduce.reduction` for the order)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.lower.access import Rest, load_element, store_element
from duograph.lower.cost import code_size
from duograph.lower.fold import Parts
from duograph.lower.loop.builder import Index
from duograph.lower.loop.ir import Value
from duograph.lower.program import splat
from duograph.lower.target import current_target

from .kernel import HEAVY, WIDTH, Known, ReduceKernel
from .loops import COLUMN_BLOCKS, STEPS
from .passes import Stage
from .plan import ReducePlan

AHEAD = 8
"""How many rows ahead long rows are fetched."""
Totals = list[list[Parts]]
"""Per vector of columns and fold its components."""


class ColumnKernel(ReduceKernel):
    """A task is a tile of neighbouring columns, or a section of one."""

    def tasks(self, known: Known) -> None:
        b = self.b
        self.length = b.product(self.reduced)
        per_section = STEPS * COLUMN_BLOCKS
        self.sections: Any = 1 if self.mode == "whole" else b.ceil_div(self.length, per_section)
        vectors = vectors_per_tile(self.plan)
        width = vectors * self.lanes
        tiles = b.ceil_div(self.lane, width)
        count = b.mul(b.product(self.kept), tiles)
        size = b.mul(self.length, width)
        if self.mode == "split":
            count = b.mul(count, self.sections)
            size = b.min(size, per_section * width)
        chunk = b.max(b.div(self.grain, b.max(size, 1)), 1)

        def task(p: Value) -> None:
            section: Any = 0
            if self.mode == "split":
                q = b.div(p, self.sections)
                section, p = b.sub(p, b.mul(q, self.sections)), q
            row = b.div(p, tiles)
            lo = b.mul(b.sub(p, b.mul(row, tiles)), width)
            rest = b.min(b.sub(self.lane, lo), width)

            def part() -> None:
                def vector(c: Value) -> None:
                    left = Rest(b, b.min(b.sub(b.add(lo, rest), c), self.lanes), self.lanes)
                    self.tile(known, row, section, c, 1, left)

                b.for_(lo, b.add(lo, rest), self.lanes, vector)

            b.if_(b.eq(rest, width), lambda: self.tile(known, row, section, lo, vectors, None), part)

        b.parallel_for(0, b.mul(count, self.enabled), chunk, task)

    def tile(self, known: Known, row: Value, section: Index, column: Value, vectors: int, rest: Rest | None) -> None:
        """All passes over ``vectors`` vectors of columns."""
        b = self.b
        bases = self.bases([-1, *self.buffers], self.split_index(row, self.kept), 0, {-1: 0, **self.offsets})
        starts = [b.add(column, w * self.lanes) for w in range(vectors)]
        tiles = []
        for start in starts:
            mine = dict(known)
            for n, buf in self.buffers.items():
                if self.analysis.levels[n] == 1:
                    step = self.walk_of[n][-1]
                    at = b.add(bases[n], b.mul(start, step))
                    mine[n] = load_element(b, buf, at, step, self.lanes, self.pairs[n], rest)
            self.compute(mine, 1, self.lanes)
            tiles.append(mine)
        first = 0
        for stage in self.passes:
            if self.mode == "split":
                begin = b.mul(section, STEPS * COLUMN_BLOCKS)
                totals = self.section(tiles, bases, stage, starts, begin, rest)
                self.store_partials(totals, row, section, starts, first, rest)
                return
            if self.mode == "serial" and stage.folds:

                def one(s: Value, stage: Stage = stage, first: int = first) -> None:
                    begin = b.mul(s, STEPS * COLUMN_BLOCKS)
                    totals = self.section(tiles, bases, stage, starts, begin, rest)
                    self.store_partials(totals, row, s, starts, first, rest)

                b.for_(0, self.sections, 1, one)
                totals = self.of_sections(stage, row, starts, first, rest)
                first += sum(len(parts) for parts in totals[0])
            else:
                totals = self.range(tiles, bases, stage, starts, 0, self.length, rest)
            for mine, total in zip(tiles, totals, strict=True):
                self.finish(mine, stage, total)
                self.compute(mine, 1, self.lanes)
        for n, out in self.outs.items():
            if self.analysis.levels[n] < 2:
                for start, mine in zip(starts, tiles, strict=True):
                    at = b.add(b.mul(row, self.lane), start)
                    store_element(b, out, at, splat(b, mine[n], self.lanes), rest)

    def section(
        self,
        tiles: list[Known],
        bases: dict[int, Index],
        stage: Stage,
        starts: list[Any],
        begin: Index,
        rest: Rest | None,
    ) -> Totals:
        end = self.b.min(self.b.add(begin, STEPS * COLUMN_BLOCKS), self.length)
        return self.range(tiles, bases, stage, starts, begin, end, rest)

    def range(
        self,
        tiles: list[Known],
        bases: dict[int, Index],
        stage: Stage,
        starts: list[Any],
        begin: Index,
        end: Index,
        rest: Rest | None,
    ) -> Totals:
        """The reduced elements ``begin`` to ``end``, block by block."""
        b = self.b
        used = [-1, *[n for n in stage.needs if n in self.buffers]]

        def step(t: Value) -> list[list[Parts]]:
            inside = self.bases(used, self.split_index(t, self.reduced), len(self.kept), bases)
            made = []
            for start, known in zip(starts, tiles, strict=True):
                for n in used[1:] if self.is_far() else ():
                    walk = self.walk_of[n]
                    ahead = b.add(inside[n], b.mul(walk[len(self.kept)], AHEAD))
                    b.prefetch(self.buffers[n], b.add(ahead, b.mul(start, walk[-1])))

                def index(n: int, start: Any = start) -> tuple[Index, Any]:
                    walk = self.walk_of[n][-1]
                    return b.add(inside[n], b.mul(start, walk)), walk

                here = self.elements(known, stage, index, b.add(inside[-1], start), self.lanes, rest)
                made.append(self.lifted(stage, here, self.index_vector(stage, t, along=False)))
            return made

        return self.blocks(stage, len(starts), begin, end, step)

    def is_far(self) -> bool:
        """Whether rows are so long that the processor does not see the next one coming."""
        lane = self.plan.loops.lane
        return len(self.reduced) == 1 and isinstance(lane, int) and lane >= 1024

    def blocks(self, stage: Stage, vectors: int, begin: Index, end: Index, step: Callable[[Value], Totals]) -> Totals:
        """``step(t)`` for ``t`` from ``begin`` to ``end`` accumulated, `STEPS` at a time."""
        b = self.b

        def start() -> Totals:
            return [self.identities(stage, self.lanes) for _ in range(vectors)]

        def add(x: Totals, y: Totals) -> Totals:
            return [self.combine(stage, p, q) for p, q in zip(x, y, strict=True)]

        def append(t: Value, acc: Totals) -> Totals:
            return [self.append(stage, p, q) for p, q in zip(acc, step(t), strict=True)]

        def block(t: Any, totals: Totals) -> Totals:
            last = end if self.plan.short else b.min(b.add(t, STEPS), end)
            return add(totals, self.loop(t, last, 1, start(), append))

        return block(begin, start()) if self.plan.short else self.loop(begin, end, STEPS, start(), block)

    # ---- several sections ------------------------------------------------------------------------------------------

    def place(self, row: Index, section: Index, start: Index) -> Index:
        """Where the result of a section is kept."""
        b = self.b
        return b.add(b.mul(b.add(b.mul(row, self.sections), section), self.lane), start)

    def store_partials(
        self, totals: Totals, row: Index, section: Index, starts: list[Any], first: int, rest: Rest | None
    ) -> None:
        for total, start in zip(totals, starts, strict=True):
            for k, part in enumerate([p for parts in total for p in parts]):
                store_element(self.b, self.partials[first + k], self.place(row, section, start), part, rest)

    def of_sections(self, stage: Stage, row: Index, starts: list[Any], first: int, rest: Rest | None) -> Totals:
        """The results of the sections of columns, reduced like columns."""

        def step(s: Value) -> Totals:
            made = []
            for start in starts:
                at, vector = first, []
                for fold in self.folds(stage):
                    parts = []
                    for _ in fold.parts:
                        place = self.place(row, s, start)
                        parts.append(load_element(self.b, self.partials[at], place, 1, self.lanes, rest=rest))
                        at += 1
                    vector.append(tuple(parts))
                made.append(vector)
            return made  # type: ignore[return-value]

        return self.blocks(stage, len(starts), 0, self.sections, step)


def vectors_per_tile(plan: ReducePlan) -> int:
    """How many vectors of columns a tile has: so many that rows are read in long pieces, but few enough for registers
    and for code size."""
    size = code_size(plan.program.steps)
    if size > HEAVY:
        return 1
    if len(plan.program.steps) > 1:
        return WIDTH // 2
    lane = plan.loops.lane
    wide = current_target().vector_registers >= 32 and isinstance(lane, int) and (lane >= 1024 or lane % 128 == 0)
    return 2 * WIDTH if wide else WIDTH
