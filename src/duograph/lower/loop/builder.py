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

import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .ir import Block, Buffer, Function, Instr, Value
from .types import BOOL, I64, VType, parse_vtype

Index: TypeAlias = "Value | int"

_INTEGER_FOLDS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "div": lambda a, b: int(a / b) if abs(a) < 2**52 else a // b,
    "rem": lambda a, b: a - b * int(a / b) if abs(a) < 2**52 else a % b,
}
_PREDICATES = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


class Builder:
    """Builds one `Function`."""

    def __init__(self, name: str) -> None:
        self.function = Function(name)
        self._next = 0
        self._block = self.function.body
        self._constants: list[dict[Any, Value]] = [{}]  # per open block: constants made there

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

    # ---- plumbing ------------------------------------------------------------------------------------------------

    def _id(self) -> int:
        self._next += 1
        return self._next

    def _value(self, type: VType) -> Value:
        return Value(self._id(), type, self)

    def emit(self, op: str, operands: Sequence[Any], result: VType | None = None, **attrs: Any) -> Any:
        """Appends an instruction; its value, or ``None``."""
        results = () if result is None else (self._value(result),)
        self._block.instrs.append(Instr(op, tuple(operands), attrs, results))
        return results[0] if results else None

    def const(self, value: Any, type: Any = I64) -> Value:
        """A constant of ``type`` (a `VType`, its text, or a `Value` whose type is meant); a sequence gives lanes."""
        vtype = type.type if isinstance(type, Value) else parse_vtype(type) if isinstance(type, str) else type
        value = tuple(_plain(v, vtype) for v in value) if isinstance(value, list | tuple) else _plain(value, vtype)
        key = (vtype, _bits_key(value))
        for known in self._constants:
            if key in known:
                return known[key]
        result = Value(self._id(), vtype, self, value)
        # constants live where they are first needed: dominance is that of the block
        self._block.instrs.append(Instr("const", (), {"value": value}, (result,)))
        self._constants[-1][key] = result
        return result

    def value(self, x: Any, like: Any = I64) -> Value:
        """``x`` as a `Value`: Python and NumPy numbers become constants of the type of ``like``."""
        return x if isinstance(x, Value) else self.const(x, like)

    def _same(self, a: Any, b: Any) -> tuple[Value, Value]:
        if isinstance(a, Value):
            b = self.value(b, a)
        else:
            a = self.value(a, b if isinstance(b, Value) else I64)
            b = self.value(b, a)
        if a.type.lanes != b.type.lanes and a.type.elem == b.type.elem:
            if a.type.lanes == 1:
                a = self.splat(a, b.type.lanes)
            elif b.type.lanes == 1:
                b = self.splat(b, a.type.lanes)
        if a.type != b.type:
            raise TypeError(f"loop IR operands differ: {a.type} and {b.type}")
        return a, b

    # ---- arithmetic ----------------------------------------------------------------------------------------------

    def binary(self, op: str, a: Any, b: Any) -> Any:
        """``add sub mul div rem min max and or xor shl shr``."""
        if isinstance(a, int) and isinstance(b, int):
            return _INTEGER_FOLDS[op](a, b)
        a, b = self._same(a, b)
        if a.type == I64:
            if (
                a.const is not None
                and b.const is not None
                and op in _INTEGER_FOLDS
                and (b.const or op not in ("div", "rem"))
            ):
                return self.const(_wrap64(_INTEGER_FOLDS[op](a.const, b.const)))
            if b.const == 0 and op in ("add", "sub", "or", "shl", "shr", "xor"):
                return a
            if a.const == 0 and op in ("add", "or"):
                return b
            if b.const == 1 and op in ("mul", "div"):
                return a
            if a.const == 1 and op == "mul":
                return b
            if op == "mul" and (a.const == 0 or b.const == 0):
                return self.const(0)
        return self.emit(op, (a, b), a.type)

    def add(self, a: Index, b: Index) -> Any:
        """``a + b``, also of two Python ints."""
        return self.binary("add", a, b)

    def sub(self, a: Index, b: Index) -> Any:
        return self.binary("sub", a, b)

    def mul(self, a: Index, b: Index) -> Any:
        return self.binary("mul", a, b)

    def div(self, a: Any, b: Any) -> Any:
        """Quotient; of integers truncated towards zero."""
        return self.binary("div", a, b)

    def rem(self, a: Any, b: Any) -> Any:
        """Remainder with the sign of ``a``."""
        return self.binary("rem", a, b)

    def min(self, a: Any, b: Any) -> Any:
        """Smaller of two integers (floats: use `select`, which says what NaN does)."""
        return self.binary("min", a, b)

    def max(self, a: Any, b: Any) -> Any:
        return self.binary("max", a, b)

    def shr(self, a: Any, b: Any) -> Any:
        """Shift right: arithmetic for signed, logical for unsigned types."""
        return self.binary("shr", a, b)

    def ceil_div(self, a: Index, b: Index) -> Any:
        """``ceil(a / b)`` of non-negative integers."""
        return self.div(self.add(a, self.sub(b, 1)), b)

    def unary(self, op: str, x: Value) -> Value:
        """``neg abs sqrt floor ceil trunc rint not popcount clz ctz``."""
        return self.emit(op, (x,), x.type)

    def neg(self, x: Value) -> Value:
        return self.unary("neg", x)

    def abs(self, x: Value) -> Value:
        return self.unary("abs", x)

    def sqrt(self, x: Value) -> Value:
        return self.unary("sqrt", x)

    def floor(self, x: Value) -> Value:
        return self.unary("floor", x)

    def ceil(self, x: Value) -> Value:
        return self.unary("ceil", x)

    def trunc(self, x: Value) -> Value:
        return self.unary("trunc", x)

    def rint(self, x: Value) -> Value:
        """Nearest whole number, halves to even."""
        return self.unary("rint", x)

    def not_(self, x: Value) -> Value:
        return self.unary("not", x)

    def fma(self, a: Any, b: Any, c: Any) -> Value:
        """``a * b + c``, rounded once."""
        first = next(x for x in (a, b, c) if isinstance(x, Value))
        lanes = max(x.type.lanes for x in (a, b, c) if isinstance(x, Value))
        a, b, c = (self.broadcast(self.value(x, first.type), lanes) for x in (a, b, c))
        return self.emit("fma", (a, b, c), a.type)

    def copysign(self, a: Value, b: Value) -> Value:
        """Magnitude of ``a`` with the sign of ``b``."""
        a, b = self._same(a, b)
        return self.emit("copysign", (a, b), a.type)

    def compare(self, pred: str, a: Any, b: Any) -> Value:
        """``eq ne lt le gt ge``; of floats ordered, except that ``ne`` is true for NaN."""
        if isinstance(a, int) and isinstance(b, int):
            return self.const(_PREDICATES[pred](a, b), BOOL)
        a, b = self._same(a, b)
        if a.type == I64 and a.const is not None and b.const is not None:
            return self.const(_PREDICATES[pred](a.const, b.const), BOOL)
        return self.emit("cmp", (a, b), a.type.with_elem("bool"), pred=pred)

    def eq(self, a: Any, b: Any) -> Value:
        return self.compare("eq", a, b)

    def ne(self, a: Any, b: Any) -> Value:
        return self.compare("ne", a, b)

    def lt(self, a: Any, b: Any) -> Value:
        return self.compare("lt", a, b)

    def le(self, a: Any, b: Any) -> Value:
        return self.compare("le", a, b)

    def gt(self, a: Any, b: Any) -> Value:
        return self.compare("gt", a, b)

    def ge(self, a: Any, b: Any) -> Value:
        return self.compare("ge", a, b)

    def isnan(self, x: Value) -> Value:
        return self.ne(x, x)

    def select(self, cond: Value, a: Any, b: Any) -> Value:
        """``a`` where ``cond`` else ``b``, lane by lane."""
        a, b = self._same(a, b)
        if cond.const is not None and cond.type == BOOL:
            return a if cond.const else b
        if cond.type.lanes > a.type.lanes == 1:
            a, b = self.splat(a, cond.type.lanes), self.splat(b, cond.type.lanes)
        return self.emit("select", (cond, a, b), a.type)

    def convert(self, x: Value, type: Any) -> Value:
        """The same number in another element type (``type``: its name, or a `VType` of equal lanes)."""
        elem = type.elem if isinstance(type, VType) else type
        if elem == x.type.elem:
            return x
        if x.const is not None and not isinstance(x.const, tuple) and x.type.is_integer:
            return self.const(x.const, x.type.with_elem(elem))
        return self.emit("convert", (x,), x.type.with_elem(elem))

    def bitcast(self, x: Value, type: Any) -> Value:
        """The same bits as another type of equal size (``type``: an element name keeps the lanes)."""
        vtype = x.type.with_elem(type) if isinstance(type, str) else type
        return x if vtype == x.type else self.emit("bitcast", (x,), vtype)

    # ---- vectors -------------------------------------------------------------------------------------------------

    def splat(self, x: Value, lanes: int) -> Value:
        """``x`` in all lanes."""
        if lanes == 1 or x.type.lanes == lanes:
            return x
        if x.const is not None:
            return self.const(x.const, x.type.with_lanes(lanes))
        return self.emit("splat", (x,), x.type.with_lanes(lanes))

    broadcast = splat

    def lanes(self, lanes: int, elem: str = "i64") -> Value:
        """``0, 1, 2, ...``; for one lane the constant 0."""
        return self.const(0, VType(elem)) if lanes == 1 else self.emit("lanes", (), VType(elem, lanes))

    def extract(self, x: Value, lane: int) -> Value:
        """One lane as a scalar."""
        return x if x.type.lanes == 1 else self.emit("extract", (x,), x.type.with_lanes(1), lane=lane)

    def any(self, x: Value) -> Value:
        """Whether any lane of a bool vector holds."""
        return x if x.type.lanes == 1 else self.emit("any", (x,), BOOL)

    def libm(self, name: str, *xs: Value) -> Value:
        """``pow``, ``fmod``: the C library's function of ``f64`` scalars, which is what Python's floats use."""
        return self.emit("libm", xs, xs[0].type, name=name)

    def insert(self, x: Value, lane: int, value: Value) -> Value:
        return self.emit("insert", (x, value), x.type, lane=lane)

    def shuffle(self, a: Value, b: Value, mask: Sequence[int]) -> Value:
        """Lanes ``mask`` of ``a`` followed by ``b``."""
        return self.emit("shuffle", (a, b), a.type.with_lanes(len(mask)), mask=tuple(mask))

    def fold_lanes(self, x: Value, combine: Callable[[Value, Value], Value]) -> Value:
        """All lanes combined into one, halves with halves: a fixed tree. Lanes must be a power of two."""
        while x.type.lanes > 2:
            half = x.type.lanes // 2
            x = combine(self.shuffle(x, x, range(half)), self.shuffle(x, x, range(half, 2 * half)))
        if x.type.lanes == 2:
            x = combine(self.extract(x, 0), self.extract(x, 1))
        return x

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


def _plain(value: Any, type: VType) -> Any:
    """A Python number of the kind of ``type``; integers wrap around."""
    if type.is_bool:
        return bool(value)
    if type.is_float:
        return float(value)
    value, bits = int(value), type.bits
    value &= (1 << bits) - 1
    return value - (1 << bits) if type.is_signed and value >> (bits - 1) else value


def _bits_key(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple([_bits_key(v) for v in value])
    return struct.pack("<d", value) if isinstance(value, float) else value


def _wrap64(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
