"""Reductions, and elementwise work around them, as kernels whose order depends on shape and dtype alone.

The shape that is reduced, as loops (extent 1 is no loop, neighbours of one kind are one loop), ends in one of two ways:

* **Rows**: the last loop is reduced. It is cut into lines of `LINE` elements. Element ``j`` of a line goes to lane
  ``j % L`` of accumulator ``j // L % 4`` as long as four whole vectors are left, the rest to accumulator 0. As many
  lines as fit into `LINE` elements make a block; its accumulators are added ``(0 + 1) + (2 + 3)``, the lanes halves
  with halves. `BLOCKS` blocks, one after the other, make a section.
* **Columns**: the last loop is kept, vectors run along it. `STEPS` elements, one after the other, make a block,
  `COLUMN_BLOCKS` blocks a section.

The results of several sections are reduced like a row (a column) of their own. Which vector, thread or kernel computes
a part never matters: sections are whole tasks.

A *reduction program* has elementwise steps before, between and after reductions over the same axes. It runs in passes
over the reduced elements of one task: softmax is three passes over a row that stays in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duograph.core import dtype as dt
from duograph.core.dim import substitute
from duograph.core.types import TensorType
from duograph.lower.fold import Fold
from duograph.lower.layout import contiguous_strides, moves
from duograph.lower.loop.ir import Function
from duograph.lower.loop.types import NUMPY
from duograph.lower.lowering import Extent, KernelCall, Memory, Number, Operand, Temporary, product
from duograph.lower.program import Leaf, Program, Reduction, Step
from duograph.lower.target import current_target

from .loops import LINE, STEPS, Loops, cases, loops_of
from .passes import Analysis, analyse


def lower_reduction(
    name: str,
    program: Program,
    shape: Sequence[Extent],
    axes: Sequence[int],
    outs: Sequence[Operand],
) -> list[KernelCall]:
    """The calls that run a reduction program over ``shape``, reduced over ``axes``.

    Results per element are contiguous in ``shape``, results of reductions in what is left of it.

    Raises:
        NotAffine: an operand has to be written to memory first.
    """
    calls = []
    for ones, enabled in cases(shape, axes):
        here = [substitute(n, ones) for n in shape]
        leaves = [
            Leaf(f.operand, tuple([substitute(s, ones) for s in f.strides]), f.offset, f.scratch)
            for f in program.leaves
        ]
        case = Program(leaves, program.steps, program.results) if ones else program
        calls += _lower_case(name, case, here, axes, outs, None, enabled)
    return calls


def _lower_case(
    name: str,
    program: Program,
    shape: Sequence[Extent],
    axes: Sequence[int],
    outs: Sequence[Operand],
    count: Extent | None,
    enabled: Extent,
) -> list[KernelCall]:
    """`lower_reduction` in one of its cases. ``count`` is how many elements a mean divides by, if not those reduced
    here; ``enabled`` is 0 at run time if it is another case."""
    in_memory = [leaf for leaf in program.leaves if leaf.in_memory]
    loops = loops_of(shape, axes, [contiguous_strides(shape), *[leaf.strides for leaf in in_memory]])
    whole = loops.walks.pop(0)
    if any(isinstance(n, int) and n == 0 for n in (*loops.kept, *([loops.lane] if loops.columns else []))):
        return []
    analysis = analyse(program, loops)
    sections = loops.sections
    single = isinstance(sections, int) and sections <= 1
    simple = len(analysis.passes) == 1 and not analysis.passes[0].stores
    split = simple and not single and (count is None or isinstance(sections, int))
    mode = "whole" if single else "split" if split else "serial"
    elements = loops.sequence if count is None else count
    plan = ReducePlan(name, program, loops, whole, analysis, mode, elements, enabled)
    tasks = product(loops.kept) * (loops.lane if loops.columns else 1)
    partials = [] if single else [Temporary(part, tasks * sections) for part in plan.partial_elems()]
    scratch = [Temporary(elem, product(shape) * each) for elem, each in plan.scratch_elems()]
    buffers: list[Memory] = [leaf.memory for leaf in in_memory]
    if split:
        first = KernelCall(plan.function(), (*buffers, *partials), tuple(plan.numbers()))
        return [first, *_second(plan, partials, sections, outs)]
    inplace = plan.inplace(outs)
    return [KernelCall(plan.function(), (*buffers, *outs, *partials, *scratch), tuple(plan.numbers()), inplace)]


def _second(plan: ReducePlan, partials: list[Temporary], sections: Extent, outs: Sequence[Operand]) -> list[KernelCall]:
    """Reduces the results of sections, and does what comes after the reduction."""
    program, loops, analysis = plan.program, plan.loops, plan.analysis
    lane = [loops.lane] if loops.columns else []
    shape = [*loops.kept, sections, *lane]
    leaves: list[Leaf] = []
    number_of: dict[int, int] = {}
    walks = iter(loops.walks)
    for n, leaf in enumerate(program.leaves):
        walk = next(walks) if leaf.in_memory else ([], [], 0)
        if analysis.levels[n] < 2:
            number_of[n] = len(leaves)
            strides = (*walk[0], 0, *([walk[2]] if lane else [])) if leaf.in_memory else ()
            leaves.append(Leaf(leaf.operand, strides, leaf.offset, leaf.scratch))
    parts = iter(partials)
    sources: dict[int, tuple[int, ...]] = {}
    folds = analysis.passes[0].folds
    for n in folds:
        first = len(leaves)
        for elem in plan.fold(n).parts:
            operand = Operand(TensorType(dt.from_numpy(NUMPY[elem]), ()))
            leaves.append(Leaf(operand, contiguous_strides(shape), 0, next(parts)))
        sources[n] = tuple(range(first, len(leaves)))
    second = Program(leaves)
    for n, found in enumerate(analysis.steps):
        if found is None or found[1] != n or analysis.levels[n] == 2:
            continue
        step = found[0]
        if isinstance(step, Reduction):
            made = second.add_step(Reduction(step.fold, sources[n], step.out, partial=True))
        else:
            args = tuple([number_of[a] for a in step.args])
            made = second.add_step(Step(step.op, step.rule, step.attrs, args, step.types, step.out))
        number_of.update(enumerate(made, n))
    second.results = [number_of[n] for n in program.results]
    return _lower_case(plan.name, second, shape, (len(loops.kept),), outs, plan.count, plan.enabled)


_functions: dict[Any, Function] = {}


@dataclass
class ReducePlan:
    """A reduction program with its loops: what its kernel depends on, and the numbers that the kernel is given.

    Attributes:
        whole: the walk of a contiguous array of the reduced shape.
        mode: ``whole``: a task is one section; ``split``: tasks are sections, another kernel reduces their results;
            ``serial``: a task goes through several sections and then reduces their results itself.
        count: elements per result.
        enabled: 0 at run time if the kernel is to do nothing.
    """

    name: str
    program: Program
    loops: Loops
    whole: tuple[list[Extent], list[Extent], Extent]
    analysis: Analysis
    mode: str
    count: Extent
    enabled: Extent

    def fold(self, number: int) -> Fold:
        """The fold of the reduction that makes value ``number``."""
        found = self.analysis.steps[number]
        assert found is not None and isinstance(found[0], Reduction)
        return found[0].fold

    def partial_elems(self) -> list[str]:
        """Element types of the results of sections."""
        return [part for stage in self.analysis.passes for n in stage.folds for part in self.fold(n).parts]

    def homes(self) -> dict[int, int]:
        """Values kept for later passes that need no scratch memory: they stay in the memory of a result of equal type,
        which is written when they are used for the last time (a softmax keeps its exponentials so), or are results."""
        types, passes = [Operand(t) for t in self.program.types()], self.analysis.passes
        stored = {r: k for k, stage in enumerate(passes) for r in stage.stores}
        found: dict[int, int] = {}
        for stage in passes:
            for n in stage.saves:
                last = max(k for k, other in enumerate(passes) if n in other.needs)
                for r, k in [*[(n, 0)] * (n in stored), *stored.items()]:
                    same = types[r].elem == types[n].elem and types[r].is_complex == types[n].is_complex
                    if r == n or (same and k >= last and r not in found.values() and r not in stage.saves):
                        found[n] = r
                        break
        return found

    def saved(self) -> list[int]:
        """Values kept in scratch memory."""
        homes = self.homes()
        return [n for stage in self.analysis.passes for n in stage.saves if n not in homes]

    def scratch_elems(self) -> list[tuple[str, int]]:
        """Element types of scratch memory, and numbers per element."""
        types = self.program.types()
        kept = [Operand(types[n]) for n in self.saved()]
        return [(x.elem, 2 if x.is_complex else 1) for x in kept]

    @property
    def short(self) -> bool:
        """Whether a task is a single line (in columns: a single block)."""
        if self.loops.columns:
            steps = product(self.loops.reduced)
            return isinstance(steps, int) and steps <= STEPS and len(self.loops.reduced) <= 1
        return not self.loops.reduced and isinstance(self.loops.lane, int) and self.loops.lane <= LINE

    def kinds(self) -> tuple[str, ...]:
        """Which strides of the operands are known: ``0``, and ``1`` along the last loop; ``s`` is a run-time number."""
        texts = []
        for kept, reduced, lane in [self.whole, *self.loops.walks]:
            text = "".join("s" if moves(s) else "0" for s in (*kept, *reduced))
            known = isinstance(lane, int) and lane in (0, 1)
            texts.append(text + (str(lane) if known else "s"))
        return tuple(texts)

    def numbers(self) -> list[Number]:
        """The dims of the call."""
        leaves = self.program.leaves
        scalars: list[Number] = [leaf.operand for leaf in leaves if leaf.operand.is_scalar and leaf.constant is None]
        strides: list[Number] = []
        for kinds, (kept, reduced, lane) in zip(self.kinds(), [self.whole, *self.loops.walks], strict=True):
            strides += [s for kind, s in zip(kinds, (*kept, *reduced, lane), strict=True) if kind == "s"]
        offsets: list[Number] = [leaf.offset for leaf in leaves if leaf.in_memory]
        return [
            *scalars,
            *self.loops.kept,
            *self.loops.reduced,
            self.loops.lane,
            self.count,
            self.enabled,
            *strides,
            *offsets,
        ]

    def inplace(self, outs: Sequence[Operand]) -> tuple[tuple[int, int], ...]:
        """Leaves that a result may overwrite: read at the same index, and in no pass after it is written."""
        analysis, types, homes = self.analysis, self.program.types(), self.homes()
        memory = [n for n, leaf in enumerate(self.program.leaves) if leaf.in_memory]
        found = []
        for position, (n, walk) in enumerate(zip(memory, self.loops.walks, strict=True)):
            last = max((k for k, stage in enumerate(analysis.passes) if n in stage.needs), default=-1)
            for k, out in enumerate(self.program.results):
                kept = [n for n, r in homes.items() if r == out]
                written = next(
                    (p for p, s in enumerate(analysis.passes) if out in s.stores or {*kept} & {*s.saves}), -1
                )
                same = Operand(types[n]).elem == outs[k].elem and Operand(types[n]).is_complex == outs[k].is_complex
                if walk == self.whole and 0 <= last <= written and same and self.program.leaves[n].offset == 0:
                    found.append((position, len(memory) + k))
        return tuple(found)

    def function(self) -> Function:
        """The kernel, from the table if an equal one was written before."""
        from .columns import ColumnKernel, vectors_per_tile
        from .rows import RowKernel

        loops = self.loops
        tile = vectors_per_tile(self) if loops.columns else 0
        sizes = (len(loops.kept), len(loops.reduced), loops.columns, self.mode, self.short, tile)
        key = (self.name, self.program.key(), self.kinds(), sizes, current_target().name)
        found = _functions.get(key)
        if found is None:
            if len(_functions) > 1024:
                _functions.clear()
            found = _functions[key] = (ColumnKernel if loops.columns else RowKernel)(self).function()
        return found
