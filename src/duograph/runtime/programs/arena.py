"""Memory planning: which blocks of an executable lie where in its arena.

A *block* is memory for one value (or for several that follow each other in place). The emitter notes when a block is
first and last touched, on a clock that counts the steps of the program as they are written; a loop is one stretch.
Blocks of known size get offsets at once, the largest first, each at the lowest place that is free for as long as it
lives. Blocks whose size depends on symbolic dimensions share *slots* with others of the same size; where slots begin is
computed when a call enters, so one plan serves every size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from duograph.core.dim import Dim

Extent: TypeAlias = "int | Dim"

ALIGN = 64
RED_ZONE = 64
"""Bytes behind each block that nobody may write to, in debug mode."""


@dataclass(eq=False)
class Block:
    """Memory for values.

    Attributes:
        name: what it holds, for the table.
        nbytes: size; symbolic in dimensions that are known at entry.
        kind: ``arena``, ``input``, ``output``, ``constant`` or ``region`` (allocated while the program runs).
        begin, end: first and last time it is touched, both included.
        refs: how many live values of the program being emitted lie in it.
        offset: where it lies in the arena: bytes, or the number of a slot of symbolic size.
    """

    name: str
    nbytes: Extent
    kind: str = "arena"
    begin: int = 0
    end: int = 0
    refs: int = 0
    offset: int = 0
    number: int = 0

    @property
    def is_symbolic(self) -> bool:
        return isinstance(self.nbytes, Dim)


@dataclass
class ArenaPlan:
    """Where blocks lie: ``size`` bytes at known offsets, then one piece per entry of ``slots``."""

    blocks: list[Block]
    size: int = 0
    slots: list[Extent] = field(default_factory=list)
    debug: bool = False

    def table(self) -> str:
        """The plan as text: one line per block, by time."""
        total = sum(b.nbytes for b in self.blocks if isinstance(b.nbytes, int))
        head = f"arena of {self.size} bytes for {len(self.blocks)} blocks ({total} bytes if nothing were shared)"
        lines = [head, f"{'offset':>10}  {'bytes':>12}  {'from':>5} {'to':>5}  value"]
        for b in sorted(self.blocks, key=lambda b: (b.begin, b.offset)):
            at = f"slot {b.offset}" if b.is_symbolic else str(b.offset)
            lines.append(f"{at:>10}  {b.nbytes!s:>12}  {b.begin:>5} {b.end:>5}  {b.name}")
        lines.extend(f"slot {i}: {extent} bytes" for i, extent in enumerate(self.slots))
        return "\n".join(lines)

    def red_zones(self) -> list[tuple[int, int]]:
        """Offset and length of memory that nobody may write to (debug mode, blocks of known size)."""
        if not self.debug:
            return []
        return [(b.offset + _padded(b.nbytes), RED_ZONE) for b in self.blocks if isinstance(b.nbytes, int)]


def plan_arena(blocks: Iterable[Block], debug: bool = False) -> ArenaPlan:
    """Gives each block of kind ``arena`` its place.

    Args:
        blocks: all blocks of a function; others than those of the arena are left alone.
        debug: no memory is shared, and a red zone follows each block.
    """
    mine = [b for b in blocks if b.kind == "arena"]
    plan = ArenaPlan(mine, debug=debug)
    known = [b for b in mine if not b.is_symbolic]
    if debug:
        for block in known:
            block.offset, plan.size = plan.size, plan.size + _padded(block.nbytes) + RED_ZONE
    else:
        plan.size = _place(known)
    busy_until: list[int] = []
    for block in sorted((b for b in mine if b.is_symbolic), key=lambda b: b.begin):
        for slot, extent in enumerate(plan.slots):
            if extent == block.nbytes and busy_until[slot] < block.begin and not debug:
                break
        else:
            slot = len(plan.slots)
            plan.slots.append(block.nbytes)
            busy_until.append(0)
        block.offset, busy_until[slot] = slot, block.end
    return plan


def _place(blocks: Sequence[Block]) -> int:
    """Lowest free place for each block, large blocks first; the size of the whole."""
    placed = np.empty((4, len(blocks)), np.int64)  # offsets, ends, first and last uses; sorted by offset
    size = 0
    for count, block in enumerate(sorted(blocks, key=lambda b: (-_bytes(b), b.begin, b.number))):
        length, (offsets, ends, first, last) = _padded(block.nbytes), placed[:, :count]
        alive = (first <= block.end) & (last >= block.begin)
        free = np.maximum.accumulate(np.concatenate(([0], ends[alive])))  # behind all that begin before
        fits = free[:-1] + length <= offsets[alive]
        at = int(free[fits.argmax() if fits.any() else -1])
        block.offset = at
        size = max(size, at + length)
        k = int(offsets.searchsorted(at))
        placed[:, k + 1 : count + 1] = placed[:, k:count]
        placed[:, k] = at, at + length, block.begin, block.end
    return size


def _bytes(block: Block) -> int:
    assert isinstance(block.nbytes, int)
    return block.nbytes


def _padded(nbytes: Any) -> int:
    return max(ALIGN, -(-int(nbytes) // ALIGN) * ALIGN)
