"""The plan of a reduction: a program with its loops, what its kernel depends on, the numbers that this is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duograph.lower.fold import Fold
from duograph.lower.layout import moves
from duograph.lower.lowering import Extent, Number, Operand, product
from duograph.lower.program import Program, Reduction

from .loops import LINE, STEPS, Loops
from .passes import Analysis


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
