"""Elementwise ops and groups of them as loops over strided operands.

Loops are joined as far as all operands allow; extents and strides are run-time numbers, so one kernel serves every
shape of a broadcast pattern. Values are computed as far outside as what they depend on: scalars before all loops, what
is constant along a row before the row. The innermost loop runs over whole vectors; the rest of a row is one masked
vector, or single elements where the elements are too narrow for masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .access import Rest, load_element, store_element
from .cost import LARGE, code_size, grain_for, interleaved, program_cost
from .functions import Functions
from .layout import broadcast_strides, collapse, contiguous_strides, moves
from .loop.builder import Builder, Index
from .loop.ir import Buffer, Function, Value
from .loop.types import BITS
from .lowering import Extent, KernelCall, Lowering, Memory, Number, Operand
from .program import (
    ElementStep,
    Leaf,
    Program,
    apply_step,
    best_lanes,
    known_elements,
    single_step,
    splat,
)
from .rule import Element, Pointwise
from .target import current_target

ROW_CHUNK = 1 << 15
"""Rows longer than this are cut, so that threads can share them."""


def lower_pointwise(c: Lowering, rule: Pointwise) -> None:
    """Adds the call that computes one elementwise op."""
    space = c.outs[0].shape
    leaves = [Leaf(x, () if x.is_scalar else broadcast_strides(x.shape, space)) for x in c.ins]
    out = c.op.result_type(tuple([x.type for x in c.ins]), c.attrs)
    program = single_step(c.op, rule, c.attrs, leaves, out)
    call = lower_program(c.op.name, program, space, c.outs)
    if call is not None:
        c.calls.append(call)


def lower_program(name: str, program: Program, space: Sequence[Extent], outs: Sequence[Operand]) -> KernelCall | None:
    """The call that runs ``program`` over ``space`` and stores its results; ``None`` if there are no elements.

    ``outs`` are contiguous in ``space``. Each may lie where a leaf of equal element size lies that is read at the same
    index (`KernelCall.inplace`): all loads of an iteration come before its stores.
    """
    if any(isinstance(n, int) and n == 0 for n in space):
        return None
    in_memory = [leaf for leaf in program.leaves if leaf.in_memory]
    whole = contiguous_strides(space)
    loops, walks = collapse(space, [whole, *[leaf.strides for leaf in in_memory]])
    plan = _Plan(name, program, loops, walks[1:])
    function = plan.function()
    buffers: list[Memory] = [*[leaf.memory for leaf in in_memory], *outs]
    inplace = tuple(
        [
            (i, len(in_memory) + k)
            for i, leaf in enumerate(in_memory)
            for k, out in enumerate(outs)
            if tuple(walks[1 + i]) == tuple(walks[0]) and leaf.offset == 0 and _bytes(leaf.operand) == _bytes(out)
        ]
    )
    return KernelCall(function, tuple(buffers), tuple(plan.numbers()), inplace)


def _bytes(x: Operand) -> int:
    return BITS[x.elem] * (2 if x.is_complex else 1)


_functions = Functions()


@dataclass
class _Plan:
    """A program with its loops: what the code depends on (`key`), the numbers it is given, and the code.

    A stride is written into the code if it is 0, or 1 along the innermost loop, or that of a contiguous array; any
    other is a run-time number.
    """

    name: str
    program: Program
    loops: list[Extent]
    walks: list[list[Extent]]

    def kinds(self) -> tuple[str, ...]:
        """Per leaf in memory: ``0`` no step, ``1`` neighbour, ``c`` as in the results, ``s`` run-time number."""
        natural = contiguous_strides(self.loops)
        found = []
        for walk in self.walks:
            text = ""
            for d, step in enumerate(walk):
                if not moves(step):
                    text += "0"
                elif step == natural[d]:
                    text += "c"
                else:
                    text += "s"
            found.append(text)
        return tuple(found)

    @property
    def offsets(self) -> list[Extent]:
        return [leaf.offset for leaf in self.program.leaves if leaf.in_memory]

    @property
    def long_rows(self) -> bool:
        """Whether a row may be so long that it has to be cut."""
        return len(self.loops) > 1 and not (isinstance(self.loops[-1], int) and self.loops[-1] <= ROW_CHUNK)

    def numbers(self) -> list[Number]:
        """The dims of the call."""
        scalars: list[Number] = [f.operand for f in self.program.leaves if f.operand.is_scalar and f.constant is None]
        strides: list[Number] = []
        for kinds, walk, offset in zip(self.kinds(), self.walks, self.offsets, strict=True):
            strides += [step for kind, step in zip(kinds, walk, strict=True) if kind == "s"]
            strides += [] if isinstance(offset, int) and offset == 0 else [offset]
        return [*scalars, *self.loops, *strides]

    def function(self) -> Function:
        offsets = tuple([isinstance(o, int) and o == 0 for o in self.offsets])
        target = current_target().name
        key = (self.name, self.program.key(), len(self.loops), self.kinds(), offsets, self.long_rows, target)
        found = _functions.get(key)
        return _functions.put(key, _Emission(self).function()) if found is None else found


class _Emission:
    """Writes the kernel of a plan."""

    def __init__(self, plan: _Plan) -> None:
        self.plan, self.program = plan, plan.program
        self.b = Builder(plan.name)
        self.depth = len(plan.loops)
        self.kinds = plan.kinds()
        self.lanes, self.interleaved = best_lanes(self.program), interleaved(self.program)
        self.levels = self.value_levels()

    def value_levels(self) -> list[int]:
        """For every value, inside how many loops it changes."""
        kinds = iter(self.kinds)
        levels = []
        for leaf in self.program.leaves:
            kind = next(kinds) if leaf.in_memory else ""
            levels.append(max((d + 1 for d, k in enumerate(kind) if k != "0"), default=0))
        for step in self.program.steps:
            levels += [max((levels[a] for a in step.args), default=0)] * len(step.outs)
        return levels

    def function(self) -> Function:
        b, program = self.b, self.program
        self.buffers: dict[int, Buffer] = {}
        for i, leaf in enumerate(program.leaves):
            if leaf.in_memory:
                self.buffers[i] = b.buffer(f"x{i}", leaf.operand.elem)
        types = program.types()
        outs = [Operand(types[r]) for r in program.results]
        self.outs = [b.buffer(f"out{k}", o.elem) for k, o in enumerate(outs)]
        known = known_elements(b, program)
        self.extents = [b.dim(f"n{d}") for d in range(self.depth)]
        natural = contiguous_strides(self.extents)  # type: ignore[arg-type]
        self.steps: dict[int, list[Any]] = {}
        self.offsets: dict[int, Index] = {}
        for (i, kind), offset in zip(zip(self.buffers, self.kinds, strict=True), self.plan.offsets, strict=True):
            self.steps[i] = [
                0 if k == "0" else natural[d] if k == "c" else b.dim(f"stride{i}_{d}") for d, k in enumerate(kind)
            ]
            self.offsets[i] = 0 if isinstance(offset, int) and offset == 0 else b.dim(f"offset{i}")
        self.outermost(known)
        for out in self.outs:
            out.written = True
        return b.finish()

    def advance(self, known: dict[int, Element], level: int, bases: dict[int, Index]) -> dict[int, Element]:
        """``known`` and all values that change inside ``level`` loops only, as scalars."""
        known = dict(known)
        for i, buf in self.buffers.items():
            if i not in known and self.levels[i] <= level:
                known[i] = self.load(i, buf, bases[i], 0, 1, None)
        self.compute(known, level, 1)
        return known

    def compute(self, known: dict[int, Element], level: int, lanes: int) -> None:
        number = len(self.program.leaves)
        for step in self.program.steps:
            if number not in known and self.levels[number] <= level:
                assert isinstance(step, ElementStep)
                made = apply_step(self.b, step, [known[a] for a in step.args], lanes)
                known.update(enumerate(made, number))
            number += len(step.outs)

    # ---- loops ---------------------------------------------------------------------------------------------------

    def outermost(self, known: dict[int, Element]) -> None:
        b = self.b
        bases = dict(self.offsets)
        known = self.advance(known, 0, bases)
        grain = grain_for(program_cost(self.program, sum(BITS[o.elem] // 8 for o in self.outs)))
        if self.depth == 0:
            self.store(known, 0, 1, None)
        elif self.depth == 1:
            b.parallel(0, self.extents[0], grain, lambda lo, hi: self.row(known, bases, 0, lo, hi))
        else:
            self.rows(known, bases, grain)

    def rows(self, known: dict[int, Element], bases: dict[int, Index], grain: int) -> None:
        """All rows, or pieces of long rows, shared among threads."""
        b, inner = self.b, self.extents[-1]
        count = b.product(self.extents[:-1])
        pieces: Any = b.ceil_div(inner, ROW_CHUNK) if self.plan.long_rows else 1
        per_chunk = b.max(b.div(grain, b.max(b.min(inner, ROW_CHUNK), 1)), 1)

        def piece(p: Value) -> None:
            row = b.div(p, pieces) if self.plan.long_rows else p
            lo: Any = b.mul(b.sub(p, b.mul(row, pieces)), ROW_CHUNK) if self.plan.long_rows else 0
            hi = b.min(b.add(lo, ROW_CHUNK), inner) if self.plan.long_rows else inner
            self.piece(known, bases, row, lo, hi)

        b.parallel_for(0, b.mul(count, pieces), per_chunk, piece)

    def piece(self, known: dict[int, Element], bases: dict[int, Index], row: Value, lo: Index, hi: Index) -> None:
        b = self.b
        coords: list[Any] = []
        rest: Any = row
        for d in reversed(range(1, self.depth - 1)):
            quotient = b.div(rest, self.extents[d])
            coords.append(b.sub(rest, b.mul(quotient, self.extents[d])))
            rest = quotient
        coords.append(rest)
        coords.reverse()
        inside = {}
        for i, base in bases.items():
            for coord, step in zip(coords, self.steps[i][:-1], strict=True):
                base = b.add(base, b.mul(coord, step))
            inside[i] = base
        known = self.advance(known, self.depth - 1, inside)
        self.row(known, inside, b.mul(row, self.extents[-1]), lo, hi)

    def row(self, known: dict[int, Element], bases: dict[int, Index], out_base: Index, lo: Index, hi: Index) -> None:
        """Elements ``lo`` to ``hi`` of one row."""
        b, lanes = self.b, self.lanes
        wide = lanes * self.interleaved
        spread = self.spread(known, wide)

        def masked(i: Value, count: Value) -> None:
            self.elements(narrow, bases, out_base, i, lanes, Rest(b, count, lanes))

        if code_size(self.program.steps) > LARGE and self.can_mask():  # written once
            narrow = spread
            b.for_(lo, hi, lanes, lambda i: masked(i, b.min(b.sub(hi, i), lanes)))
            return
        rest = b.rem(b.sub(hi, lo), wide)
        end = b.sub(hi, rest)
        b.for_(lo, end, wide, lambda i: self.elements(spread, bases, out_base, i, wide, None))
        if not self.can_mask():
            b.for_(end, hi, 1, lambda i: self.elements(known, bases, out_base, i, 1, None))
            return
        narrow = self.spread(known, lanes)
        if wide == lanes:
            b.if_(b.gt(rest, 0), lambda: masked(end, rest))
        else:
            b.for_(end, hi, lanes, lambda i: masked(i, b.min(b.sub(hi, i), lanes)))

    def spread(self, known: dict[int, Element], lanes: int) -> dict[int, Element]:
        """``known`` with what the innermost loop uses in all lanes."""
        return {n: splat(self.b, v, lanes) if self.is_used_inside(n) else v for n, v in known.items()}

    def is_used_inside(self, number: int) -> bool:
        """Whether the innermost loop needs the value."""
        if number in self.program.results:
            return True
        first = len(self.program.leaves)
        for step in self.program.steps:
            if number in step.args and self.levels[first] == self.depth:
                leaf = self.program.leaves[number] if number < len(self.program.leaves) else None
                return leaf is None or not leaf.operand.is_scalar
            first += len(step.outs)
        return False

    def can_mask(self) -> bool:
        narrow = any(BITS[buf.elem] < 32 for buf in [*self.buffers.values(), *self.outs])
        return not narrow or current_target().has_masks

    def elements(
        self,
        known: dict[int, Element],
        bases: dict[int, Index],
        out_base: Index,
        i: Value,
        lanes: int,
        rest: Rest | None,
    ) -> None:
        known = dict(known)
        for k, buf in self.buffers.items():
            if k not in known:
                step = self.steps[k][-1]
                known[k] = self.load(k, buf, self.b.add(bases[k], self.b.mul(i, step)), step, lanes, rest)
        self.compute(known, self.depth, lanes)
        self.store(known, self.b.add(out_base, i), lanes, rest)

    # ---- memory --------------------------------------------------------------------------------------------------

    def load(self, leaf: int, buf: Buffer, index: Index, step: Any, lanes: int, rest: Rest | None) -> Element:
        return load_element(self.b, buf, index, step, lanes, self.program.leaves[leaf].operand.is_complex, rest)

    def store(self, known: dict[int, Element], index: Index, lanes: int, rest: Rest | None) -> None:
        for buf, number in zip(self.outs, self.program.results, strict=True):
            store_element(self.b, buf, index, splat(self.b, known[number], lanes), rest)


__all__ = ["lower_pointwise", "lower_program"]
