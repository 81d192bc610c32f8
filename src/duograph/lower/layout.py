"""Loops and the strides of operands in them: broadcasting is stride 0; loops join where every operand allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .lowering import Extent

Strides: TypeAlias = "tuple[Extent, ...]"


def is_one(extent: Extent) -> bool:
    """Whether an extent is known to be 1."""
    return isinstance(extent, int) and extent == 1


def moves(stride: Extent) -> bool:
    """Whether an operand walks along a loop: its stride is not known to be 0."""
    return not (isinstance(stride, int) and stride == 0)


def contiguous_strides(shape: Sequence[Extent]) -> Strides:
    """Strides (in elements) of a C-contiguous array."""
    strides: list[Extent] = []
    step: Extent = 1
    for extent in reversed(shape):
        strides.append(step)
        step = step * extent
    return tuple(reversed(strides))


def broadcast_strides(shape: Sequence[Extent], space: Sequence[Extent]) -> Strides:
    """Strides of a contiguous operand of ``shape`` in loops over ``space``: 0 where it is repeated."""
    own = contiguous_strides(shape)
    extra = len(space) - len(shape)
    return (0,) * extra + tuple([0 if is_one(n) else s for n, s in zip(shape, own, strict=True)])


def collapse(extents: Sequence[Extent], strides: Sequence[Sequence[Extent]]) -> tuple[list[Extent], list[list[Extent]]]:
    """Fewer loops for the same elements in the same order: those of extent 1 go, neighbours join where each operand
    walks on evenly. The loops, and the strides of each operand in them.

    Symbolic extents are joined if the strides are the same *expression*; nothing is assumed about their values.
    """
    kept = [i for i, n in enumerate(extents) if not is_one(n)]
    loops: list[Extent] = []
    walks: list[list[Extent]] = [[] for _ in strides]
    for i in kept:
        n = extents[i]
        here = [s[i] for s in strides]
        if loops and all(w[-1] == step * n for w, step in zip(walks, here, strict=True)):
            loops[-1] = loops[-1] * n
            for w, step in zip(walks, here, strict=True):
                w[-1] = step
        else:
            loops.append(n)
            for w, step in zip(walks, here, strict=True):
                w.append(step)
    return loops, walks
