"""Reductions of rows: vectors run along the reduced elements (see `lower.reduce.reduction` for the order)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core.types import ScalarType
from duograph.lower.access import Rest, load_element, store_element
from duograph.lower.cost import LARGE, interleaved
from duograph.lower.fold import Parts
from duograph.lower.loop.builder import Index
from duograph.lower.loop.ir import Value
from duograph.lower.program import splat

from .kernel import HEAVY, WIDTH, Known, ReduceKernel
from .loops import BLOCKS, LINE
from .passes import Stage

Vectors = Callable[[Value, "Rest | None"], list[Parts]]
"""``(j, rest)``: the vector of elements from ``j`` on, as accumulators."""
Spans = Callable[[Value], list[list[Parts]]]
"""``(j)``: the same of the next four vectors, computed side by side."""


class RowKernel(ReduceKernel):
    """A task is a row, or a section of one."""

    def tasks(self, known: Known) -> None:
        b = self.b
        outer = b.product(self.reduced)
        self.per_line: Any = 1 if self.plan.short else b.ceil_div(self.lane, LINE)
        self.lines = b.mul(outer, self.per_line)
        self.per_block = 1 if self.plan.short else b.max(b.div(LINE, b.max(self.lane, 1)), 1)
        self.per_section = b.mul(self.per_block, BLOCKS)
        self.sections: Any = 1 if self.mode == "whole" else b.ceil_div(self.lines, self.per_section)
        rows = b.product(self.kept)
        count = b.mul(rows, self.sections) if self.mode == "split" else rows
        size = b.mul(outer, self.lane)
        if self.mode == "split":
            size = b.min(size, LINE * BLOCKS)
        chunk = b.max(b.div(self.grain, b.max(size, 1)), 1)

        b.parallel_for(0, b.mul(count, self.enabled), chunk, lambda p: self.task(known, p))

    def task(self, known: Known, number: Value) -> None:
        b = self.b
        row = b.div(number, self.sections) if self.mode == "split" else number
        bases = self.bases([-1, *self.buffers], self.split_index(row, self.kept), 0, {-1: 0, **self.offsets})
        known = dict(known)
        for n, buf in self.buffers.items():
            if self.analysis.levels[n] == 1:
                known[n] = load_element(b, buf, bases[n], 0, 1, self.pairs[n])
        self.compute(known, 1, 1)
        first = 0  # of the partial results of a pass
        for stage in self.passes:
            if self.mode == "split":
                begin = b.mul(b.sub(number, b.mul(row, self.sections)), self.per_section)
                self.store_partials(self.section(known, bases, stage, begin), number, first)
                return
            if self.mode == "serial" and stage.folds:

                def one(s: Value, stage: Stage = stage, known: Known = known, first: int = first) -> None:
                    totals = self.section(known, bases, stage, b.mul(s, self.per_section))
                    self.store_partials(totals, b.add(b.mul(row, self.sections), s), first)

                b.for_(0, self.sections, 1, one)
                totals = self.of_sections(stage, row, first)
                first += sum(len(parts) for parts in totals)
            else:
                totals = self.block_range(known, bases, stage, 0, self.lines)
            self.finish(known, stage, totals)
            self.compute(known, 1, 1)
        for n, out in self.outs.items():
            if self.analysis.levels[n] < 2:
                store_element(b, out, row, known[n])

    def section(self, known: Known, bases: dict[int, Index], stage: Stage, begin: Index) -> list[Parts]:
        return self.block_range(known, bases, stage, begin, self.b.min(self.b.add(begin, self.per_section), self.lines))

    def block_range(self, known: Known, bases: dict[int, Index], stage: Stage, begin: Index, end: Index) -> list[Parts]:
        """The blocks of lines ``begin`` to ``end``, one after the other."""
        b = self.b
        wide = self.spread(known, stage, self.lanes * WIDTH)
        known = self.spread(known, stage, self.lanes)
        used = [-1, *[n for n in stage.needs if n in self.buffers]]
        if self.plan.short:
            vectors, spans = self.vectors(known, bases, stage, 0), self.spans(wide, bases, stage, 0)
            acc = self.line(stage, 0, self.lane, self.start(stage), vectors, spans)
            return self.combine(stage, self.identities(stage, 1), self.joined(stage, acc))
        loops, lane_at = self.reduced, len(self.kept)

        def line(t: Value, acc: list[list[Parts]]) -> list[list[Parts]]:
            q = b.div(t, self.per_line)
            lo = b.mul(b.sub(t, b.mul(q, self.per_line)), LINE)
            hi = b.min(b.add(lo, LINE), self.lane)
            inside = self.bases(used, self.split_index(q, loops), lane_at, bases) if loops else bases
            before = b.mul(q, self.lane)
            vectors, spans = self.vectors(known, inside, stage, before), self.spans(wide, inside, stage, before)
            return self.line(stage, lo, hi, acc, vectors, spans)

        def block(t: Value, totals: list[Parts]) -> list[Parts]:
            last = b.min(b.add(t, self.per_block), end)
            acc = self.loop(t, last, 1, self.start(stage), line)
            return self.combine(stage, totals, self.joined(stage, acc))

        return self.loop(begin, end, self.per_block, self.identities(stage, 1), block)

    def vectors(self, known: Known, bases: dict[int, Index], stage: Stage, before: Index) -> Vectors:
        """The vectors of one line; ``before`` is how many reduced elements come before its row."""
        b = self.b

        def at(j: Value, rest: Rest | None) -> list[Parts]:
            here = self.elements_at(known, bases, stage, j, self.lanes, rest)
            return self.lifted(stage, here, self.index_vector(stage, b.add(before, j), along=True), rest)

        return at

    def elements_at(
        self, known: Known, bases: dict[int, Index], stage: Stage, j: Value, lanes: int, rest: Rest | None
    ) -> Known:
        """``known`` and what the pass needs of ``lanes`` elements of a row, from ``j`` on."""
        b = self.b

        def index(n: int) -> tuple[Index, Any]:
            step = self.walk_of[n][-1]
            return b.add(bases[n], b.mul(j, step)), step

        return self.elements(known, stage, index, b.add(bases[-1], j), lanes, rest)

    def spans(self, known: Known, bases: dict[int, Index], stage: Stage, before: Index) -> Spans | None:
        """Four vectors of a line at once, where the steps before the reduction are a long chain."""
        b, lanes = self.b, self.lanes
        if not stage.folds or any(self.pairs) or interleaved(self.program) == 1:
            return None
        used = {a for n in stage.folds for a in self.analysis.steps[n][0].args}  # type: ignore[index]

        def at(j: Value) -> list[list[Parts]]:
            here = self.elements_at(known, bases, stage, j, lanes * WIDTH, None)
            made = []
            for w in range(WIDTH):
                mine = {n: self.part(here[n], range(w * lanes, (w + 1) * lanes)) for n in used}  # type: ignore[arg-type]
                index = self.index_vector(stage, b.add(b.add(before, j), w * lanes), along=True)
                made.append(self.lifted(stage, {**here, **mine}, index))
            return made

        return at

    def line(
        self,
        stage: Stage,
        lo: Index,
        hi: Index,
        acc: list[list[Parts]],
        vectors: Vectors,
        spans: Spans | None = None,
    ) -> list[list[Parts]]:
        """Adds elements ``lo`` to ``hi`` to four vectors of accumulators."""
        b, lanes = self.b, self.lanes
        span = lanes * WIDTH

        def turn(j: Value, acc: list[list[Parts]]) -> list[list[Parts]]:
            return [*acc[1:], self.append(stage, acc[0], vectors(j, None))]

        def all_(j: Value, acc: list[list[Parts]]) -> list[list[Parts]]:
            return [self.append(stage, a, vectors(b.add(j, w * lanes), None)) for w, a in enumerate(acc)]

        def together(j: Value, acc: list[list[Parts]]) -> list[list[Parts]]:
            assert spans is not None
            return [self.append(stage, a, new) for a, new in zip(acc, spans(j), strict=True)]

        def tail(j: Value, first: list[Parts]) -> list[Parts]:
            return self.append(stage, first, vectors(j, Rest(b, b.min(b.sub(hi, j), lanes), lanes)))

        def one(j: Value, acc: list[list[Parts]]) -> list[list[Parts]]:
            """`turn` or `tail`, without a second copy of code that is large."""
            first = tail(j, acc[0])
            turns = b.splat(b.lt(j, whole), lanes)

            def either(x: Parts, y: Parts) -> Parts:
                return tuple([b.select(turns, p, q) for p, q in zip(x, y, strict=True)])

            pairs = zip([*acc[1:], first], [first, *acc[1:]], strict=True)
            return [[either(x, y) for x, y in zip(*pair, strict=True)] for pair in pairs]

        whole = b.sub(hi, b.rem(b.sub(hi, lo), span))
        if self.code_of(stage) > LARGE:
            return self.loop(lo, hi, lanes, acc, one)
        if spans is not None:
            acc = self.loop(lo, whole, span, acc, together)
        elif self.code_of(stage) > HEAVY or not stage.folds:
            if not stage.folds:
                whole = b.sub(hi, b.rem(b.sub(hi, lo), lanes))
            acc = self.loop(lo, whole, lanes, acc, turn)
        else:
            acc = self.loop(lo, whole, span, acc, all_)
        return [self.loop(whole, hi, lanes, acc[0], tail), *acc[1:]]

    def start(self, stage: Stage) -> list[list[Parts]]:
        return [self.identities(stage, self.lanes) for _ in range(WIDTH)]

    def joined(self, stage: Stage, acc: list[list[Parts]]) -> list[Parts]:
        """Four vectors of accumulators as one scalar: ``(0 + 1) + (2 + 3)``, then halves with halves."""
        all_ = self.combine(stage, self.combine(stage, acc[0], acc[1]), self.combine(stage, acc[2], acc[3]))
        lanes = self.lanes
        while lanes > 1:
            half = lanes // 2
            low = [tuple([self.part(x, range(half)) for x in parts]) for parts in all_]
            high = [tuple([self.part(x, range(half, lanes)) for x in parts]) for parts in all_]
            all_ = self.combine(stage, low, high)
            lanes = half
        return all_

    def part(self, x: Value, lanes: range) -> Value:
        return self.b.extract(x, lanes[0]) if len(lanes) == 1 else self.b.shuffle(x, x, lanes)

    def spread(self, known: Known, stage: Stage, lanes: int) -> Known:
        """``known`` with what the pass uses in all of ``lanes``."""
        used = {a for n in stage.folds for a in self.analysis.steps[n][0].args}  # type: ignore[index]
        for n in stage.needs:
            found = self.analysis.steps[n]
            if found is not None:
                step = found[0]
                used |= {a for a, t in zip(step.args, step.types, strict=True) if not isinstance(t, ScalarType)}  # type: ignore[union-attr]
        return {n: splat(self.b, v, lanes) if n in used else v for n, v in known.items()}

    # ---- several sections ------------------------------------------------------------------------------------------

    def store_partials(self, totals: list[Parts], at: Index, first: int) -> None:
        for k, part in enumerate([p for parts in totals for p in parts]):
            self.b.store(self.partials[first + k], at, part)

    def of_sections(self, stage: Stage, row: Index, first: int) -> list[Parts]:
        """The results of the sections of a row, reduced like a row."""
        b = self.b
        base = b.mul(row, self.sections)

        def vectors(j: Value, rest: Rest | None) -> list[Parts]:
            made, at = [], first
            for fold in self.folds(stage):
                parts = []
                for _ in fold.parts:
                    parts.append(load_element(b, self.partials[at], b.add(base, j), 1, self.lanes, rest=rest))
                    at += 1
                if rest is not None:
                    mask = rest.mask(self.lanes)
                    pairs = zip(parts, fold.identity(b, self.lanes), strict=True)
                    parts = [b.select(mask, x, e) for x, e in pairs]  # type: ignore[arg-type]
                made.append(tuple(parts))
            return made  # type: ignore[return-value]

        def block(lo: Value, totals: list[Parts]) -> list[Parts]:
            acc = self.line(stage, lo, b.min(b.add(lo, LINE), self.sections), self.start(stage), vectors)
            return self.combine(stage, totals, self.joined(stage, acc))

        return self.loop(0, self.sections, LINE, self.identities(stage, 1), block)
