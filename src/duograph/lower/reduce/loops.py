"""The loops of a reduction, and what their extents say about the order of accumulation (`lower.reduce.reduction`)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duograph.core.dim import Symbol, ceil_div, dim_max, dim_min, substitute
from duograph.lower.layout import collapse, contiguous_strides, is_one
from duograph.lower.lowering import Extent, product

LINE = 4096
BLOCKS = 16
STEPS = 128
COLUMN_BLOCKS = 8


class NotAffine(Exception):
    """An operand does not walk evenly over the reduced loops that make a row; it has to be in memory first."""


@dataclass
class Loops:
    """The loops of a reduction, and how operands walk them.

    Attributes:
        kept: extents of the kept loops; in columns without the last one.
        reduced: extents of the reduced loops; in rows without the last one.
        lane: the last loop, along which vectors run.
        columns: whether that one is kept.
        walks: per operand its strides over kept loops, reduced loops and the last one.
    """

    kept: list[Extent]
    reduced: list[Extent]
    lane: Extent
    columns: bool
    walks: list[tuple[list[Extent], list[Extent], Extent]]

    @property
    def sequence(self) -> Extent:
        """Elements that one result is made of."""
        total = product(self.reduced)
        return total if self.columns else total * self.lane

    @property
    def sections(self) -> Extent:
        """How many sections the reduced elements of one result make."""
        if self.columns:
            return ceil_div(product(self.reduced), STEPS * COLUMN_BLOCKS)
        lines = product(self.reduced) * ceil_div(self.lane, LINE)
        return ceil_div(ceil_div(lines, lines_per_block(self.lane)), BLOCKS)


def lines_per_block(lane: Extent) -> Extent:
    """Lines that a block of rows of ``lane`` elements holds."""
    return dim_max(1, LINE // dim_max(lane, 1))


def loops_of(shape: Sequence[Extent], axes: Sequence[int], strides: Sequence[Sequence[Extent]]) -> Loops:
    """The loops of reducing ``shape`` over ``axes``; ``strides`` of the operands are over all of ``shape``.

    Raises:
        NotAffine: an operand has no single stride along the reduced dimensions that make a row.
    """
    runs: list[tuple[bool, list[int]]] = []
    for i, n in enumerate(shape):
        if is_one(n):
            continue
        if runs and runs[-1][0] == (i in axes):
            runs[-1][1].append(i)
        else:
            runs.append((i in axes, [i]))
    columns = not any(reduced for reduced, _ in runs) or not runs[-1][0]
    last = runs.pop() if runs else (False, [])

    def is_even(dims: list[int]) -> bool:
        """Whether every operand walks evenly over the neighbouring dimensions ``dims``."""
        return all(walk[i] == walk[j] * shape[j] for walk in strides for i, j in itertools.pairwise(dims))

    reduced_dims = [i for reduced, dims in runs if reduced for i in dims]
    kept_dims = [i for reduced, dims in runs if not reduced for i in dims]
    lane = last[1]
    while columns and not is_even(lane):  # any part of a row will do
        kept_dims.append(lane[0])
        lane = lane[1:]
    if not is_even(lane):
        raise NotAffine
    kept, kept_walks = _collapsed(shape, kept_dims, strides)
    reduced, reduced_walks = _collapsed(shape, reduced_dims, strides)
    lane_walks = [walk[lane[-1]] if lane else 0 for walk in strides]
    walks = list(zip(kept_walks, reduced_walks, lane_walks, strict=True))
    return Loops(kept, reduced, product([shape[i] for i in lane]), columns, walks)


def is_uneven(shape: Sequence[Extent], axes: Sequence[int], strides: Sequence[Extent]) -> bool:
    """Whether an operand makes `loops_of` raise `NotAffine`."""
    try:
        loops_of(shape, axes, [strides])
    except NotAffine:
        return True
    return False


def _collapsed(
    shape: Sequence[Extent], dims: list[int], strides: Sequence[Sequence[Extent]]
) -> tuple[list[Extent], list[list[Extent]]]:
    """Loops over some dimensions, joined where they can be, and the strides of the operands in them."""
    extents = [shape[i] for i in dims]
    loops, walks = collapse(
        extents, [contiguous_strides(extents), *[tuple([walk[i] for i in dims]) for walk in strides]]
    )
    return loops, walks[1:]


def cases(shape: Sequence[Extent], axes: Sequence[int]) -> list[tuple[dict[Symbol, Extent], Extent]]:
    """Which symbols to take as 1, and a number that is 1 if that is so at run time and else 0.

    An extent of 1 is no loop, so extents that turn out to be 1 can change the order. Where they do, there is another
    kernel for that, and all but one of them find that they have no tasks.
    """
    symbols = list(dict.fromkeys(n for n in shape if isinstance(n, Symbol) and n.lo <= 1))
    one = {s: dim_min(s, 1) - dim_min(dim_max(s - 1, 0), 1) for s in symbols}  # 1 if it is 1, else 0
    kernels: list[tuple[dict[Symbol, Extent], Extent]] = [({}, 1)]
    for k in range(len(symbols) + 1):
        for ones in itertools.combinations(symbols, k):
            taken: dict[Symbol, Extent] = dict.fromkeys(ones, 1)
            actual = [substitute(n, taken) for n in shape]
            order = _order(actual, axes, actual)
            fitting = [
                i
                for i, (known, _) in enumerate(kernels)
                if known.keys() <= taken.keys() and _order([substitute(n, known) for n in shape], axes, actual) == order
            ]
            if fitting and fitting[0] == 0:
                continue
            holds = product([one[s] if s in taken else 1 - one[s] for s in symbols])
            if fitting:
                known, enabled = kernels[fitting[0]]
                kernels[fitting[0]] = (known, enabled + holds)
            else:
                kernels.append((taken, holds))
    general: Extent = 1
    for _, enabled in kernels[1:]:
        general = general - enabled
    return [({}, general), *kernels[1:]]


def _order(shape: Sequence[Extent], axes: Sequence[int], actual: Sequence[Extent]) -> Any:
    """What the loops of ``shape`` say about the order of sums over an array of the shape ``actual``."""
    runs: list[tuple[bool, list[int]]] = []
    for i in [i for i, n in enumerate(shape) if not is_one(n)]:
        if not runs or runs[-1][0] != (i in axes):
            runs.append((i in axes, []))
        runs[-1][1].append(i)
    real = [(reduced, [i for i in dims if not is_one(actual[i])]) for reduced, dims in runs]
    reduced = [i for is_reduced, dims in real if is_reduced for i in dims]
    if not reduced:
        return None
    return (reduced, real[-1][1]) if real[-1][0] else reduced
