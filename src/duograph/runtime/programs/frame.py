"""One function of an executable while it is written: its loop IR, its memory, its clock.

Where blocks lie is decided when the function is complete; until then code refers to them by *relocations*: `i64` values
that become constants (or, for blocks of symbolic size, results of arithmetic at the entry) when the plan is made.
"""

from __future__ import annotations

from typing import Any

from duograph.core.dim import Atom, Dim, Sum, Symbol, by_name, symbols_of
from duograph.core.types import TensorType
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Block as Region
from duograph.lower.loop.ir import Buffer, Function, Instr, Value
from duograph.lower.loop.types import I64

from .arena import ALIGN, ArenaPlan, Block, Extent, plan_arena
from .values import Memory, bytes_of

# Words of the context block that every run hands to its code (`ctx`, an array of i64).
NEEDED, RUN, CONSTANTS, FRAMES, CELLS, ITERATIONS, LOOKED, RESULTS = 0, 1, 2, 4, 8, 12, 13, 16
"""Bytes of arena that the call needs; number of the run; table of constants; two regions (chunk, used, last address);
iterations and clock when a loop last looked whether it is to stop; first word of the results."""


class UnknownExtent(Exception):
    """Code needs a size that has no value there.

    Attributes:
        nodes: the control operators around the place, the innermost first: one that runs in Python does not need it.
    """

    def __init__(self, extent: Symbol) -> None:
        super().__init__(f"the size {extent} is not known there")
        self.nodes: list[Any] = []


class Frame:
    """Builds one function. Subclasses of `Emitter` write what it does."""

    def __init__(self, name: str, debug: bool) -> None:
        self.b = Builder(name)
        self.debug = debug
        self.blocks: list[Block] = []
        self.time = 0
        self.arena = Buffer(self.b._id(), "u8", "arena")
        self.ctx: Buffer
        self.plan: ArenaPlan
        self._relocations: list[tuple[Value, Block, int]] = []
        self._known: dict[tuple[Block, int], Value] = {}
        self._sizes: dict[Dim, Value] = {}  # that are computed at the entry
        self._is_entry = False
        self._outside: dict[Block, Buffer] = {}  # buffers that blocks of other kinds than the arena's are
        self._loops: list[tuple[int, set[Block]]] = []
        self.entry_symbols: dict[Symbol, Any] = {}

    # ---- the clock -----------------------------------------------------------------------------------------------

    def touch(self, memory: Memory) -> None:
        """Notes that ``memory`` is used now; in a loop, what comes from outside is used until the loop ends."""
        for block in memory.blocks:
            block.end = max(block.end, self.time)
            for begin, touched in self._loops:
                if block.begin < begin:
                    touched.add(block)
                    break

    def enter_loop(self) -> None:
        self.time += 1
        self._loops.append((self.time, set()))

    def leave_loop(self) -> None:
        self.time += 1
        _, touched = self._loops.pop()
        for block in touched:
            block.end = max(block.end, self.time)
            for begin, outer in self._loops:
                if block.begin < begin:
                    outer.add(block)
                    break

    # ---- memory --------------------------------------------------------------------------------------------------

    def block(self, name: str, nbytes: Extent, kind: str = "arena", buffer: Buffer | None = None) -> Block:
        """A new block, alive from now on; ``buffer``: the parameter that it is, if it is none of the arena."""
        block = Block(name, nbytes, kind, self.time, self.time, number=len(self.blocks))
        self.blocks.append(block)
        if buffer is not None:
            self._outside[block] = buffer
        return block

    def tensor(self, name: str, type: TensorType) -> Memory:
        """New memory for a tensor of a size that is known when the program starts."""
        nbytes = bytes_of(type)
        if not isinstance(nbytes, int):
            for symbol in sorted(symbols_of(nbytes) - self.entry_symbols.keys(), key=by_name):
                raise UnknownExtent(symbol)
        return Memory(type, self.block(name, bytes_of(type)))

    def buffer(self, memory: Memory, elem: str | None = None) -> Buffer:
        """``memory`` as a buffer of loop IR."""
        self.touch(memory)
        elem = elem or memory.elem
        if memory.block is None:
            assert memory.address is not None
            return self.b.at(memory.address, elem)
        return self._buffer(memory.block, memory.offset, elem)

    def _buffer(self, block: Block, offset: int, elem: str) -> Buffer:
        outside = self._outside.get(block)
        if outside is not None:
            return outside if offset == 0 and outside.elem == elem else self.b.view(outside, offset, elem)
        key = (block, offset)
        if key not in self._known:
            self._known[key] = Value(self.b._id(), I64, self.b)
            self._relocations.append((self._known[key], block, offset))
        return self.b.view(self.arena, self._known[key], elem)

    def scratch(self, name: str, nbytes: Extent, elem: str) -> Buffer:
        """Memory that is used now and no longer."""
        return self._buffer(self.block(name, nbytes), 0, elem)

    def address(self, memory: Memory) -> Value:
        """Where ``memory`` is."""
        if memory.block is None:
            assert memory.address is not None
            self.touch(memory)
            return memory.address
        return self.b.address(self.buffer(memory))

    def copy(self, target: Memory, source: Memory, symbols: dict[Symbol, Any] | None = None) -> None:
        """Copies a tensor."""
        if target.nbytes == 0:
            return
        count = self.dim(target.nbytes, symbols)
        self.b.copy(self.buffer(target, "u8"), 0, self.buffer(source, "u8"), 0, count)

    # ---- symbolic sizes ------------------------------------------------------------------------------------------

    def dim(self, extent: Any, symbols: dict[Symbol, Any] | None = None) -> Any:
        """The value of an extent: an int, or code that computes it. Python's floor division and modulo."""
        known = self.entry_symbols if symbols is None else symbols
        b = self.b
        if isinstance(extent, Symbol):
            if extent not in known:
                raise UnknownExtent(extent)
            return known[extent]
        if isinstance(extent, Dim) and self._is_known_early(extent, known):
            if extent not in self._sizes:
                self._sizes[extent] = Value(b._id(), I64, b)
            return self._sizes[extent]
        if isinstance(extent, Sum):
            total: Any = extent.const
            for monomial, factor in extent.terms:
                term: Any = factor
                for part in monomial:
                    term = b.mul(self.dim(part, symbols), term)
                total = b.add(term, total)
            return total
        if isinstance(extent, Atom):
            args = [self.dim(x, symbols) for x in extent.args]
            if extent.op in ("min", "max"):
                result = args[0]
                for x in args[1:]:
                    result = (b.min if extent.op == "min" else b.max)(result, x)
                return result
            return floor_divided(b, *args)[extent.op == "%"]
        assert not isinstance(extent, Dim), extent
        return extent

    def _is_known_early(self, extent: Dim, known: dict[Symbol, Any]) -> bool:
        """Whether ``extent`` is computed once, at the entry: steps often need the same one."""
        early = self.entry_symbols
        return not self._is_entry and all(
            s in early and known.get(s) is early[s] and isinstance(early[s], Value) for s in symbols_of(extent)
        )

    # ---- the end -------------------------------------------------------------------------------------------------

    def finish(self, reserve: Any, always: bool = False) -> Function:
        """Plans the memory and closes the function.

        Args:
            reserve: called with the number of bytes (int or value) that the arena must have, inside the code of the
                entry; gives its address.
            always: reserve even if nothing lies in the arena.
        """
        self.plan = plan_arena(self.blocks, self.debug)
        b = self.b
        entry = Region()
        body, b._block = b._block, entry
        constants, b._constants = b._constants, [{}]
        total: Any = self.plan.size
        self._is_entry = True
        for size, value in self._sizes.items():
            b._block.instrs.append(Instr("add", (b.value(self.dim(size)), b.const(0)), {}, (value,)))
        starts = []
        padded: dict[Extent, Any] = {}
        for extent in self.plan.slots:
            starts.append(total)
            if extent not in padded:
                nbytes = b.add(self.dim(extent), ALIGN - 1 + (ALIGN if self.debug else 0))
                padded[extent] = b.max(b.binary("and", nbytes, -ALIGN), ALIGN)
            total = b.add(total, padded[extent])
        if self._relocations or always:
            address = reserve(total)
            b._block.instrs.append(Instr("at", (address,), {"elem": "u8"}, (self.arena,)))
        for value, block, offset in self._relocations:
            start = starts[block.offset] if block.is_symbolic else block.offset
            if isinstance(start, int):
                value.const = start + offset
            else:
                b._block.instrs.append(Instr("add", (start, b.const(offset)), {}, (value,)))
        b._block, b._constants = body, constants
        body.instrs[:0] = entry.instrs
        return b.finish()


def floor_divided(b: Builder, x: Any, y: Any) -> tuple[Any, Any]:
    """Python's ``x // y`` and ``x % y``; by zero it is 0 and ``x`` (somebody has noted the failure)."""
    if isinstance(x, int) and isinstance(y, int):
        return (x // y, x % y) if y else (0, x)
    if isinstance(y, int) and y > 0 and y & (y - 1) == 0:
        return b.shr(x, y.bit_length() - 1), b.binary("and", x, y - 1)
    x, y = b.value(x), b.value(y)
    zero = b.eq(y, 0)
    safe = b.select(zero | b.eq(y, -1), 1, y)
    quotient, rest = b.div(x, safe), b.rem(x, safe)
    wrong = b.ne(rest, 0) & b.ne(b.lt(rest, 0), b.lt(safe, 0))
    quotient = b.select(wrong, b.sub(quotient, 1), quotient)
    rest = b.select(wrong, b.add(rest, safe), rest)
    minus = b.eq(y, -1)
    quotient = b.select(minus, b.neg(x), b.select(zero, 0, quotient))
    return quotient, b.select(minus, 0, b.select(zero, x, rest))


__all__ = ["CELLS", "CONSTANTS", "FRAMES", "NEEDED", "RESULTS", "RUN", "Frame", "UnknownExtent", "floor_divided"]
