"""The code of a reduction kernel: tasks, passes, sections, blocks, vectors (`reduce.reduction` says in which order)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from duograph.lower.access import Rest, load_element, store_element
from duograph.lower.cost import code_size, grain_for, program_cost
from duograph.lower.fold import Fold, Parts
from duograph.lower.loop.builder import Builder, Index
from duograph.lower.loop.ir import Buffer, Function, Value
from duograph.lower.loop.types import BITS
from duograph.lower.lowering import Operand
from duograph.lower.program import Reduction, apply_step, as_stored, known_elements, splat, widen
from duograph.lower.rule import Element

from .passes import Stage
from .plan import ReducePlan

Known: TypeAlias = "dict[int, Element]"

WIDTH = 4
"""Vectors of accumulators."""
HEAVY = 12
"""Size of code from which a loop is written for fewer vectors at once."""


class ReduceKernel:
    """Writes the kernel of a plan: parameters, elements, accumulators. `RowKernel` and `ColumnKernel` differ in what a
    task and its vectors are."""

    def __init__(self, plan: ReducePlan) -> None:
        self.plan, self.program, self.analysis = plan, plan.program, plan.analysis
        self.b = Builder(plan.name)
        self.passes = plan.analysis.passes
        folds = [plan.fold(n) for stage in self.passes for n in stage.folds]
        self.lanes = min((f.lanes for f in folds), default=16)
        self.mode = plan.mode

    def function(self) -> Function:
        b, program, loops = self.b, self.program, self.plan.loops
        self.buffers: dict[int, Buffer] = {}
        for i, leaf in enumerate(program.leaves):
            if leaf.in_memory:
                self.buffers[i] = b.buffer(f"x{i}", leaf.operand.elem)
        types = program.types()
        self.pairs = [Operand(t).is_complex for t in types]
        results = [] if self.mode == "split" else program.results
        self.outs = {n: b.buffer(f"out{n}", Operand(types[n]).elem) for n in results}
        elems = [] if self.mode == "whole" else self.plan.partial_elems()
        self.partials = [b.buffer(f"partial{k}", elem) for k, elem in enumerate(elems)]
        self.saved = {n: b.buffer(f"kept{n}", Operand(types[n]).elem) for n in self.plan.saved()}
        if results:
            self.saved.update((n, self.outs[r]) for n, r in self.plan.homes().items())
        known = known_elements(b, program)
        self.kept = [b.dim(f"kept{d}_extent") for d in range(len(loops.kept))]
        self.reduced = [b.dim(f"reduced{d}") for d in range(len(loops.reduced))]
        self.lane = b.dim("lane")
        self.count = b.dim("count")
        self.enabled = b.dim("enabled")
        self.steps: list[list[Any]] = [
            [int(k) if k != "s" else b.dim(f"step{i}_{d}") for d, k in enumerate(kinds)]
            for i, kinds in enumerate(self.plan.kinds())
        ]
        self.walk_of = {n: self.steps[1 + k] for k, n in enumerate(self.buffers)}
        self.offsets: dict[int, Index] = {n: b.dim(f"offset{n}") for n in self.buffers}
        self.compute(known, 0, 1)
        for n, buf in self.buffers.items():
            if self.analysis.levels[n] == 0:
                known[n] = load_element(b, buf, self.offsets[n], 0, 1, self.pairs[n])
        self.compute(known, 0, 1)
        self.tasks(known)
        for out in (*self.outs.values(), *self.partials, *self.saved.values()):
            out.written = True
        return b.finish()

    def tasks(self, known: Known) -> None:
        """All tasks, shared among threads."""
        raise NotImplementedError

    def compute(self, known: Known, level: int, lanes: int) -> None:
        """Adds to ``known`` what can be computed of the values up to ``level``."""
        for number, found in enumerate(self.analysis.steps):
            if found is None or number in known or self.analysis.levels[number] > level:
                continue
            step, first = found
            if not isinstance(step, Reduction) and all(a in known for a in step.args):
                made = apply_step(self.b, step, [known[a] for a in step.args], lanes)
                known.update(enumerate(made, first))

    def elements(
        self,
        known: Known,
        stage: Stage,
        index: Callable[[int], tuple[Index, Any]],
        whole: Index,
        lanes: int,
        rest: Rest | None,
    ) -> Known:
        """``known`` and what the pass needs of one vector of elements; results and values to keep are stored."""
        b, known = self.b, dict(known)
        for n in stage.needs:
            if n in known:
                continue
            found = self.analysis.steps[n]
            if found is None:
                at, step = index(n)
                known[n] = load_element(b, self.buffers[n], at, step, lanes, self.pairs[n], rest)
            elif n in self.saved and n not in stage.saves:
                known[n] = load_element(b, self.saved[n], whole, 1, lanes, self.pairs[n], rest)
            else:
                step, first = found
                assert not isinstance(step, Reduction)
                known.update(enumerate(apply_step(b, step, [known[a] for a in step.args], lanes), first))
        for n in stage.stores:
            store_element(b, self.outs[n], whole, splat(b, known[n], lanes), rest)
        for n in stage.saves:
            if n in stage.stores:
                continue
            store_element(b, self.saved[n], whole, splat(b, known[n], lanes), rest)
        return known

    def lifted(self, stage: Stage, known: Known, index: Value | None, rest: Rest | None = None) -> list[Parts]:
        """One vector of elements as accumulators; with ``rest`` only its first lanes count."""
        b, made = self.b, []
        for n in stage.folds:
            found = self.analysis.steps[n]
            assert found is not None and isinstance(found[0], Reduction)
            step, fold = found[0], found[0].fold
            new: Any
            if step.partial:
                new = tuple([known[a] for a in step.args])
            else:
                new = fold.lift(b, widen(b, splat(b, known[step.args[0]], self.lanes)), index)
            if rest is not None:
                mask = rest.mask(self.lanes)
                new = tuple([b.select(mask, x, e) for x, e in zip(new, fold.identity(b, self.lanes), strict=True)])
            made.append(new)
        return made

    def finish(self, known: Known, stage: Stage, totals: Sequence[Parts]) -> None:
        """Adds the results of the reductions of a pass to ``known``."""
        for n, parts in zip(stage.folds, totals, strict=True):
            found = self.analysis.steps[n]
            assert found is not None and isinstance(found[0], Reduction)
            step, fold = found[0], found[0].fold
            result = fold.finish(self.b, parts, self.count)
            if fold.wants_index:
                result = self.b.convert(result, Operand(step.out).elem)  # type: ignore[arg-type]
            known[n] = as_stored(self.b, result, step.out)

    def code_of(self, stage: Stage) -> float:
        """How large the code of a pass is."""
        found = [self.analysis.steps[n] for n in stage.needs]
        return code_size({id(f[0]): f[0] for f in found if f is not None}.values())

    def folds(self, stage: Stage) -> list[Fold]:
        return [self.plan.fold(n) for n in stage.folds]

    def identities(self, stage: Stage, lanes: int) -> list[Parts]:
        return [f.identity(self.b, lanes) for f in self.folds(stage)]

    def append(self, stage: Stage, x: Sequence[Parts], y: Sequence[Parts]) -> list[Parts]:
        """Accumulators ``x`` after the vector of elements ``y``."""
        return [f.append(self.b, p, q) for f, p, q in zip(self.folds(stage), x, y, strict=True)]

    def combine(self, stage: Stage, x: Sequence[Parts], y: Sequence[Parts]) -> list[Parts]:
        return [f.combine(self.b, p, q) for f, p, q in zip(self.folds(stage), x, y, strict=True)]

    def index_vector(self, stage: Stage, start: Index, along: bool) -> Value | None:
        """Positions of a vector of elements (``along``: neighbours), if a fold of the pass wants them."""
        fold = next((f for f in self.folds(stage) if f.wants_index), None)
        if fold is None:
            return None
        first = self.b.splat(self.b.convert(self.b.value(start), fold.index), self.lanes)
        return first + self.b.lanes(self.lanes, fold.index) if along else first

    def loop(
        self, lo: Index, hi: Index, step: Index, state: list[Any], body: Callable[[Value, list[Any]], list[Any]]
    ) -> list[Any]:
        """A loop that carries nested lists of values."""
        flat, shape = _flatten(state)
        made = self.b.for_(lo, hi, step, lambda i, *vs: _flatten(body(i, _unflatten(shape, list(vs))))[0], flat)
        return _unflatten(shape, list(made))

    def bases(
        self, numbers: Sequence[int], coords: Sequence[Any], at: int, before: dict[int, Index]
    ) -> dict[int, Index]:
        """Where operands stand after moving along the loops ``at``, ``at + 1``, ...; number -1 is the whole array."""
        b, made = self.b, {}
        for n in numbers:
            steps = self.steps[0] if n == -1 else self.walk_of[n]
            base = before[n]
            for coord, step in zip(coords, steps[at : at + len(coords)], strict=True):
                base = b.add(base, b.mul(coord, step))
            made[n] = base
        return made

    def split_index(self, index: Index, extents: Sequence[Index]) -> list[Any]:
        """Coordinates of a row-major number in loops of ``extents``."""
        b, coords, rest = self.b, [], index
        for extent in reversed(extents[1:]):
            quotient = b.div(rest, extent)
            coords.append(b.sub(rest, b.mul(quotient, extent)))
            rest = quotient
        if extents:
            coords.append(rest)
        return list(reversed(coords))

    @property
    def grain(self) -> int:
        return grain_for(program_cost(self.program, sum(BITS[o.elem] // 8 for o in self.outs.values())))


def _flatten(state: Any) -> tuple[list[Value], Any]:
    """The values in nested lists and tuples, and what `_unflatten` needs to nest them again."""
    if isinstance(state, list | tuple):
        values: list[Value] = []
        shapes = []
        for part in state:
            inner, shape = _flatten(part)
            values += inner
            shapes.append(shape)
        return values, (type(state), shapes)
    return [state], None


def _unflatten(shape: Any, values: list[Value]) -> Any:
    if shape is None:
        return values.pop(0)
    kind, shapes = shape
    return kind([_unflatten(s, values) for s in shapes])
