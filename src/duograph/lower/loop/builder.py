"""`Builder`: writes loop IR from Python, folding what is known.

    b = Builder("scale")
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32")
    n = b.dim("n")
    def row(i, lanes):
        b.store(out, i, b.load(x, i, lanes) * 2.0)
    b.vector_loop(0, n, 16, row)        # vectors of 16, then single elements for the rest
    function = b.finish()

Wherever an index or extent is expected, a Python int is as good as a `Value`: the same rule writes the general kernel
(extents are `dim`s) and the specialised one (extents are ints). Python numbers next to a `Value` take its type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .builder_values import Index, Values
from .ir import Block, Buffer, Function, Instr, Value
from .types import BOOL, I64, VType

__all__ = ["Builder", "Index"]


class Builder(Values):
    """Builds one `Function`."""

    # ---- parameters ----------------------------------------------------------------------------------------------

    def buffer(self, name: str, elem: str) -> Buffer:
        """A buffer parameter, in order."""
        buf = Buffer(self._id(), elem, name)
        self.function.buffers.append(buf)
        return buf

    def dim(self, name: str, type: str = "i64") -> Value:
        """An 8-byte run-time number, in order: ``i64`` or ``f64``."""
        value = Value(self._id(), VType(type), self)
        self.function.dims.append(value)
        self.function.dim_names.append(name)
        return value

    def finish(self) -> Function:
        """The function. The builder must not be used afterwards."""
        assert self._block is self.function.body, "a region is still open"
        return self.function

    # ---- memory --------------------------------------------------------------------------------------------------

    def load(self, buf: Buffer, index: Index, lanes: int = 1, mask: Value | None = None) -> Value:
        """``lanes`` neighbouring elements from ``index`` on; masked lanes are zero and not read."""
        operands = (buf, self.value(index)) if mask is None else (buf, self.value(index), mask)
        return self.emit("load", operands, VType(buf.elem, lanes))

    def store(self, buf: Buffer, index: Index, value: Value, mask: Value | None = None) -> None:
        """Writes ``value`` (scalar or vector) from element ``index`` on."""
        assert value.type.elem == buf.elem, f"store of {value.type} to {buf}"
        buf.written = True
        operands = (buf, self.value(index), value) if mask is None else (buf, self.value(index), value, mask)
        self.emit("store", operands)

    def gather(self, buf: Buffer, indices: Value, mask: Value | None = None) -> Value:
        """Elements at a vector of indices (``i64``)."""
        if indices.type.lanes == 1:
            return self.load(buf, indices, 1, mask)
        operands = (buf, indices) if mask is None else (buf, indices, mask)
        return self.emit("gather", operands, VType(buf.elem, indices.type.lanes))

    def scatter(self, buf: Buffer, indices: Value, value: Value, mask: Value | None = None) -> None:
        """Writes lanes one by one, in order; with equal indices the last one stands."""
        if indices.type.lanes == 1:
            return self.store(buf, indices, value, mask)
        buf.written = True
        self.emit("scatter", (buf, indices, value) if mask is None else (buf, indices, value, mask))
        return None

    def load_strided(self, buf: Buffer, index: Index, stride: Index, lanes: int) -> Value:
        """``lanes`` elements ``stride`` apart; stride 0 and 1 known in advance are a splat and a plain load."""
        known = stride if isinstance(stride, int) else stride.const
        if lanes == 1 or known == 1:
            return self.load(buf, index, lanes)
        if known == 0:
            return self.splat(self.load(buf, index), lanes)
        offsets = self.lanes(lanes) * self.value(stride)
        return self.gather(buf, offsets + self.value(index))

    def prefetch(self, buf: Buffer, index: Index) -> None:
        self.emit("prefetch", (buf, self.value(index)))

    def atomic_add(self, buf: Buffer, index: Index, value: Value) -> Value:
        """Adds to an integer element; gives what was there before."""
        buf.written = True
        return self.emit("atomic_add", (buf, self.value(index), value), value.type)

    def alloca(self, elem: str, count: int, align: int = 64) -> Buffer:
        """Scratch memory on the stack of the running thread; reserved once, at the entry of the function or of the
        enclosing parallel region, wherever this is written."""
        return self._buffer("alloca", (), elem, count=count, align=align)

    def view(self, buf: Buffer, byte_offset: Index, elem: str) -> Buffer:
        """The memory of ``buf`` from ``byte_offset`` on, as elements of another type."""
        return self._buffer("view", (buf, self.value(byte_offset)), elem)

    def alloc(self, nbytes: Index, elem: str = "u8") -> Buffer:
        """Heap memory (64-byte aligned); `is_null` if there is none left."""
        return self._buffer("alloc", (self.value(nbytes),), elem)

    def free(self, buf: Buffer) -> None:
        self.emit("free", (buf,))

    def is_null(self, buf: Buffer) -> Value:
        return self.emit("is_null", (buf,), BOOL)

    def same_memory(self, a: Buffer, b: Buffer) -> Value:
        """Whether two buffers begin at one address: an output took the place of an input."""
        return self.emit("same_memory", (a, b), BOOL)

    def copy(self, dst: Buffer, dst_index: Index, src: Buffer, src_index: Index, count: Index) -> None:
        """Copies ``count`` elements between buffers of one element type that do not overlap."""
        assert dst.elem == src.elem
        dst.written = True
        self.emit("copy", (dst, self.value(dst_index), src, self.value(src_index), self.value(count)))

    def address(self, buf: Buffer) -> Value:
        """Where ``buf`` is, as an ``i64``."""
        return self.emit("address", (buf,), I64)

    def at(self, address: Value, elem: str) -> Buffer:
        """The memory at ``address``."""
        return self._buffer("at", (address,), elem)

    def _buffer(self, op: str, operands: tuple[Any, ...], elem: str, **attrs: Any) -> Buffer:
        buf = Buffer(self._id(), elem)
        self._block.instrs.append(Instr(op, operands, {"elem": elem, **attrs}, (buf,)))
        return buf

    # ---- control -------------------------------------------------------------------------------------------------

    def _region(self, args: tuple[Value, ...], body: Callable[..., Any], wanted: int | None = None) -> Block:
        block = Block(args)
        outer, self._block = self._block, block
        self._constants.append({})
        try:
            made = body(*args)
            if made is None:
                made = ()
            elif isinstance(made, Value):
                made = (made,)
            block.yields = tuple(made)
        finally:
            self._block = outer
            self._constants.pop()
        assert wanted is None or len(block.yields) == wanted, f"region yields {len(block.yields)}, wanted {wanted}"
        return block

    def for_(
        self, lo: Index, hi: Index, step: Index, body: Callable[..., Any], init: Sequence[Value] = ()
    ) -> tuple[Value, ...]:
        """``for i in range(lo, hi, step)``: ``body(i, *carried)`` returns the next carried values; the last ones.

        ``step`` is positive.
        """
        lo, hi, step = self.value(lo), self.value(hi), self.value(step)
        args = (self._value(I64), *[self._value(v.type) for v in init])
        block = self._region(args, body, len(init))
        results = tuple([self._value(v.type) for v in init])
        self._block.instrs.append(Instr("for", (lo, hi, step, *init), {}, results, (block,)))
        return results

    def while_(self, init: Sequence[Value], cond: Callable[..., Value], body: Callable[..., Any]) -> tuple[Value, ...]:
        """While ``cond(*carried)`` holds, carried = ``body(*carried)``."""
        test = self._region(tuple([self._value(v.type) for v in init]), cond, 1)
        block = self._region(tuple([self._value(v.type) for v in init]), body, len(init))
        results = tuple([self._value(v.type) for v in init])
        self._block.instrs.append(Instr("while", tuple(init), {}, results, (test, block)))
        return results

    def if_(self, cond: Value, then: Callable[[], Any], orelse: Callable[[], Any] | None = None) -> tuple[Value, ...]:
        """Runs one of two regions; their values. A condition known in advance leaves only its region."""
        if cond.const is not None:
            chosen = then if cond.const else orelse
            made = chosen() if chosen is not None else ()
            return () if made is None else (made,) if isinstance(made, Value) else tuple(made)
        yes = self._region((), then)
        no = self._region((), orelse or (lambda: None), len(yes.yields))
        results = tuple([self._value(v.type) for v in yes.yields])
        self._block.instrs.append(Instr("if", (cond,), {}, results, (yes, no)))
        return results

    def parallel(self, lo: Index, hi: Index, grain: Index, body: Callable[[Value, Value], Any]) -> None:
        """``body(begin, end)`` for chunks of ``grain`` (at least 1) iterations, on any threads in any order.

        What chunks write must not overlap, and nothing may depend on how the range was cut.
        """
        args = (self._value(I64), self._value(I64))
        block = self._region(args, body, 0)
        operands = (self.value(lo), self.value(hi), self.value(grain))
        self._block.instrs.append(Instr("parallel", operands, {}, (), (block,)))

    def parallel_for(self, lo: Index, hi: Index, grain: Index, body: Callable[[Value], Any]) -> None:
        """``body(i)`` for every ``i`` from ``lo`` on before ``hi``, chunks of ``grain`` on any threads (`parallel`)."""
        self.parallel(lo, hi, grain, lambda begin, end: self.for_(begin, end, 1, body))

    def vector_loop(self, lo: Index, hi: Index, lanes: int, body: Callable[[Value, int], None]) -> None:
        """``body(i, lanes)`` for whole vectors from ``lo``, then ``body(i, 1)`` for what is left before ``hi``."""
        if lanes == 1:
            self.for_(lo, hi, 1, lambda i: body(i, 1))
            return
        count = self.sub(hi, lo)
        whole = self.sub(count, self.rem(count, lanes))
        end = self.add(lo, whole)
        self.for_(lo, end, lanes, lambda i: body(i, lanes))
        self.for_(end, hi, 1, lambda i: body(i, 1))

    def fail(self, cond: Value, code: int) -> None:
        """Notes failure ``code`` (1..255) if ``cond``; execution goes on."""
        if cond.const is None or cond.const:
            self.emit("fail", (cond,), code=code)

    def cycles(self) -> Value:
        """A counter that the processor's clock advances."""
        return self.emit("cycles", (), I64)

    def leave(self) -> None:
        """Ends the function here if a failure has been noted. Not inside `parallel`."""
        self.emit("leave", ())

    def call(
        self,
        function: str | Function,
        buffers: Sequence[Buffer],
        dims: Sequence[Index | Value],
        is_safe: bool = False,
    ) -> None:
        """Calls another function of the kernel ABI; a failure there is one here.

        A `Function` is loaded with this one (`Function.linked`); of a symbol somebody else has to take care, and say
        whether it cannot fail.
        """
        if isinstance(function, Function):
            writes = [buf.written for buf in function.buffers]
            self.function.linked[function.symbol] = function
            safe = None if function.can_fail else 1
            function = function.symbol
        else:
            writes, safe = [True] * len(buffers), 1 if is_safe else None
        for buf, written in zip(buffers, writes, strict=True):
            buf.written = buf.written or written
        values = [self.value(d) for d in dims]
        attrs: dict[str, Any] = {"function": function, "n_buffers": len(buffers), **({"safe": safe} if safe else {})}
        self.emit("call", (*buffers, *values), **attrs)
