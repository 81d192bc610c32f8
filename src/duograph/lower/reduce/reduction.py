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

from duograph.core import dtype as dt
from duograph.core.dim import substitute
from duograph.core.types import TensorType
from duograph.lower.layout import contiguous_strides
from duograph.lower.loop.ir import Function
from duograph.lower.loop.types import NUMPY
from duograph.lower.lowering import Extent, KernelCall, Memory, Operand, Temporary, product
from duograph.lower.program import ElementStep, Leaf, Program, Reduction
from duograph.lower.target import current_target

from ..functions import Functions
from .columns import ColumnKernel, vectors_per_tile
from .loops import cases, loops_of
from .passes import analyse
from .plan import ReducePlan
from .rows import RowKernel


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
        first = KernelCall(_function(plan), (*buffers, *partials), tuple(plan.numbers()))
        return [first, *_second(plan, partials, sections, outs)]
    inplace = plan.inplace(outs)
    return [KernelCall(_function(plan), (*buffers, *outs, *partials, *scratch), tuple(plan.numbers()), inplace)]


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
            made = second.add_step(ElementStep(step.op, step.rule, step.attrs, args, step.types, step.out))
        number_of.update(enumerate(made, n))
    second.results = [number_of[n] for n in program.results]
    return _lower_case(plan.name, second, shape, (len(loops.kept),), outs, plan.count, plan.enabled)


_functions = Functions()


def _function(plan: ReducePlan) -> Function:
    """The kernel of a plan, from the table if an equal one was written before."""
    loops = plan.loops
    tile = vectors_per_tile(plan) if loops.columns else 0
    sizes = (len(loops.kept), len(loops.reduced), loops.columns, plan.mode, plan.short, tile)
    key = (plan.name, plan.program.key(), plan.kinds(), sizes, current_target().name)
    found = _functions.get(key)
    if found is None:
        found = _functions.put(key, (ColumnKernel if loops.columns else RowKernel)(plan).function())
    return found
