"""What a reduction program computes when: levels of values, and passes over the reduced elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from duograph.lower.cost import op_cost
from duograph.lower.layout import moves
from duograph.lower.program import ElementStep, Program, Reduction

from .loops import Loops

EXPENSIVE = 0.3
"""Nanoseconds per element from which a value is kept in memory for a later pass instead of computed again."""


@dataclass
class Stage:
    """One pass over the reduced elements of a task: value numbers of reductions, of results stored, of values kept in
    scratch memory, and of everything that has to be computed or loaded for that, in order."""

    folds: list[int] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)
    saves: list[int] = field(default_factory=list)
    needs: list[int] = field(default_factory=list)


@dataclass
class Analysis:
    """Values of a reduction program: per number its step (``None`` for a leaf), its level (0 the same everywhere,
    1 per result, 2 per element), and the passes: of values by how many reductions must have ended before."""

    steps: list[tuple[ElementStep | Reduction, int] | None]
    levels: list[int]
    passes: list[Stage]


def analyse(program: Program, loops: Loops) -> Analysis:
    """Levels, stages and passes of ``program``."""
    steps: list[tuple[ElementStep | Reduction, int] | None] = []
    levels, stages = [], []
    walks = iter(loops.walks)
    for leaf in program.leaves:
        level = 0
        if leaf.in_memory:
            kept, reduced, lane = next(walks)
            inner, outer = ([*reduced], [*kept, lane]) if loops.columns else ([*reduced, lane], kept)
            level = 2 if any(moves(s) for s in inner) else 1 if any(moves(s) for s in outer) else 0
        steps.append(None)
        levels.append(level)
        stages.append(0)
    for step in program.steps:
        first = len(steps)
        reduces = isinstance(step, Reduction)
        level = 1 if reduces else max((levels[a] for a in step.args), default=0)
        level = 2 if isinstance(step, ElementStep) and step.per_element else level
        stage = max((stages[a] for a in step.args), default=0) + reduces
        for _ in step.outs:
            steps.append((step, first))
            levels.append(level)
            stages.append(stage)
    return Analysis(steps, levels, _passes(program, steps, levels, stages))


def _passes(program: Program, steps: list[Any], levels: list[int], stages: list[int]) -> list[Stage]:
    folds = [n for n, s in enumerate(steps) if s is not None and isinstance(s[0], Reduction)]
    full = [n for n in program.results if levels[n] == 2]
    count = max([stages[n] for n in folds] + [stages[n] + 1 for n in full], default=0)
    passes = [Stage() for _ in range(count)]
    for n in folds:
        passes[stages[n] - 1].folds.append(n)
    for n in full:
        passes[stages[n]].stores.append(n)

    def needs(stage: Stage, ready: set[int]) -> list[int]:
        seen: set[int] = set()
        work = [*[a for n in stage.folds for a in steps[n][0].args], *stage.stores]
        while work:
            n = work.pop()
            if n in seen or levels[n] < 2:
                continue
            seen.add(n)
            if n not in ready and steps[n] is not None:
                work.extend(steps[n][0].args)
        return sorted(seen)

    wanted = [set(needs(p, set())) for p in passes]
    ready: set[int] = set()
    for k, stage in enumerate(passes):
        stage.needs = needs(stage, ready)
        for n in stage.needs:
            step = steps[n]
            later = any(n in w for w in wanted[k + 1 :])
            if later and n not in ready and step is not None and op_cost(step[0].op.name) >= EXPENSIVE:
                stage.saves.append(n)
        ready |= set(stage.saves)
    for k, stage in enumerate(passes):  # what only led to another value that is kept is not needed any more
        stage.saves = [n for n in stage.saves if any(n in later.needs for later in passes[k + 1 :])]
    return passes
