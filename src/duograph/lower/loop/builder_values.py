"""What `Builder` computes: constants, arithmetic and vectors, with what is known folded."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

from .ir import Block, Function, Instr, Value
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


class Values:
    """The part of `Builder` that makes values of others."""

    def __init__(self, name: str) -> None:
        self.function = Function(name)
        self._next = 0
        self._block: Block = self.function.body
        self._constants: list[dict[Any, Value]] = [{}]  # per open block: constants made there

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
        if a.type == BOOL and op in ("and", "or") and (a.const is not None or b.const is not None):
            known, other = (a, b) if a.const is not None else (b, a)
            return other if known.const == (op == "and") else known
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

    def product(self, factors: Sequence[Index]) -> Any:
        """All factors multiplied; 1 if there are none."""
        return reduce(self.mul, factors) if factors else 1

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
        """The C library's function of ``f64`` scalars, which is what Python's floats and `math` use (`verify.LIBM`)."""
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
