"""Loop IR: what a kernel does, as structured SSA with explicit vectors and loops.

    Function ::= func name(buffers; dims) { Block }           the kernel ABI, see `docs/native.md`
    Block    ::= (args) Instr* ; ends in `yield` values        regions of loops and branches
    Instr    ::= results = op operands {attrs} regions

Buffers are typed memory, addressed by element: parameters, `alloca` (scratch on the stack), `view` (another element
type or offset on the same memory), `alloc` (heap). Dims are 8-byte run-time numbers (extents, strides, scalar
operands). Values are scalars or vectors; there is no implicit conversion and no hidden broadcast.

Instructions
    const {value}                                   number, or tuple of lanes
    add sub mul div rem min max and or xor shl shr  same types; div/rem of integers truncate; min/max integers only
    neg abs sqrt floor ceil trunc rint not popcount clz ctz
    fma a b c                                       a*b+c rounded once
    copysign a b
    cmp {pred: eq ne lt le gt ge}                   floats: ordered, but ne is true for NaN
    select c a b                                    c: bool of the same lanes, or one bool
    convert {type}   bitcast {type}                 value-preserving / bit-preserving
    splat {lanes}  lanes {}                         scalar to vector / vector 0, 1, 2, ... of its type
    extract {lane}  insert {lane}  shuffle {mask}   one lane; lanes of two vectors by constant numbers
    any x                                           whether any lane of a bool vector is true
    libm {name} a [b]                               a function of the C library (f64), where Python's bits are wanted
    load buf index [mask] {lanes}                   `lanes` neighbouring elements from index (a scalar i64)
    store buf index value [mask]
    gather buf indices [mask]  scatter buf indices value [mask]
    prefetch buf index
    alloca {elem, count, align}  view buf byte_offset {elem}  alloc bytes {elem}  free buf
    is_null buf   copy dst di src si count          memcpy of elements
    same_memory a b                                 whether two buffers begin at one address (an input given up)
    address buf   at address {elem}                 memory as a number, and back (executables only)
    for lo hi step init... {region(i, carried...)}  -> carried
    while init... {region -> cond}{region -> next}  -> carried
    if cond {region}{region}                        -> results
    parallel lo hi grain {region(begin, end)}       chunks of about `grain` iterations, any thread, any order
    fail cond {code}                                notes a failure (the largest code wins) and goes on
    cycles                                          a counter that the processor's clock advances
    leave                                           ends the function at once if a failure has been noted
    call {function} buffers... dims...              another function of the same ABI; its status is noted like `fail`,
                                                    unless it is `safe`, that is cannot fail
    atomic_add buf index value                      integers only; gives the old value; orders other accesses

A kernel that notes a failure still runs to its end and stays inside its buffers (indices are clamped by who wrote it):
the caller finds the status and repeats the computation with the reference, which raises the user's error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .types import VType


class Value:
    """An SSA value. Arithmetic operators emit instructions through the builder that made it."""

    __slots__ = ("builder", "const", "id", "type")

    def __init__(self, id: int, type: VType, builder: Any, const: Any = None) -> None:
        self.id, self.type, self.builder, self.const = id, type, builder, const

    def __repr__(self) -> str:
        return f"%{self.id}: {self.type}"

    def __add__(self, other: Any) -> Value:
        return self.builder.binary("add", self, other)

    def __radd__(self, other: Any) -> Value:
        return self.builder.binary("add", other, self)

    def __sub__(self, other: Any) -> Value:
        return self.builder.binary("sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return self.builder.binary("sub", other, self)

    def __mul__(self, other: Any) -> Value:
        return self.builder.binary("mul", self, other)

    def __rmul__(self, other: Any) -> Value:
        return self.builder.binary("mul", other, self)

    def __truediv__(self, other: Any) -> Value:
        return self.builder.binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return self.builder.binary("div", other, self)

    def __and__(self, other: Any) -> Value:
        return self.builder.binary("and", self, other)

    def __or__(self, other: Any) -> Value:
        return self.builder.binary("or", self, other)

    def __xor__(self, other: Any) -> Value:
        return self.builder.binary("xor", self, other)

    def __lshift__(self, other: Any) -> Value:
        return self.builder.binary("shl", self, other)

    def __rshift__(self, other: Any) -> Value:
        return self.builder.binary("shr", self, other)

    def __neg__(self) -> Value:
        return self.builder.unary("neg", self)

    def __invert__(self) -> Value:
        return self.builder.unary("not", self)


class Buffer:
    """Typed memory. ``elem`` is the element type; ``written`` is set by the first store."""

    __slots__ = ("elem", "id", "name", "written")

    def __init__(self, id: int, elem: str, name: str = "") -> None:
        self.id, self.elem, self.name, self.written = id, elem, name, False

    def __repr__(self) -> str:
        return f"&{self.name or self.id}: {self.elem}"


Operand: TypeAlias = "Value | Buffer"


class Instr:
    """One instruction. ``results`` are values or one buffer."""

    __slots__ = ("attrs", "op", "operands", "regions", "results")

    def __init__(
        self,
        op: str,
        operands: tuple[Operand, ...],
        attrs: dict[str, Any],
        results: tuple[Operand, ...],
        regions: tuple[Block, ...] = (),
    ) -> None:
        self.op, self.operands, self.attrs, self.results, self.regions = op, operands, attrs, results, regions


class Block:
    """A region: arguments, instructions, and the values it yields to the instruction that it belongs to."""

    __slots__ = ("args", "instrs", "yields")

    def __init__(self, args: tuple[Value, ...] = ()) -> None:
        self.args = args
        self.instrs: list[Instr] = []
        self.yields: tuple[Value, ...] = ()

    def walk(self) -> Iterator[Instr]:
        """All instructions, also of inner regions."""
        for instr in self.instrs:
            yield instr
            for region in instr.regions:
                yield from region.walk()


@dataclass
class Function:
    """A kernel: ``status name(buffers, dims)``. Its printed text (without the name) is its identity."""

    name: str
    buffers: list[Buffer] = field(default_factory=list)
    dims: list[Value] = field(default_factory=list)
    dim_names: list[str] = field(default_factory=list)
    body: Block = field(default_factory=Block)
    _text: str | None = None
    _symbol: str | None = None
    linked: dict[str, Function] = field(default_factory=dict)  # functions that this one calls, by symbol
    may_fail: bool | None = None  # or something that it calls, wherever that is; None: nobody has asked
    fixed_symbol: str = ""  # of functions that call each other: their text cannot contain a hash of itself

    @property
    def text(self) -> str:
        """Printed form; stable for equal content."""
        if self._text is None:
            from .printer import show_function

            self._text = show_function(self)
        return self._text

    @property
    def symbol(self) -> str:
        """Linker name: a readable prefix and a hash of the content."""
        if self.fixed_symbol:
            return self.fixed_symbol
        if self._symbol is None:
            digest = hashlib.sha256(self.text.encode()).hexdigest()[:24]
            self._symbol = f"k_{re.sub('[^A-Za-z0-9_.]', '_', self.name)}_{digest}"
        return self._symbol

    @property
    def can_fail(self) -> bool:
        """Whether a failure may be noted, here or in what is called."""
        return any(i.op == "fail" or (i.op == "call" and not i.attrs.get("safe")) for i in self.body.walk())

    @property
    def callees(self) -> tuple[str, ...]:
        """Symbols of the functions that this one calls."""
        names = {i.attrs["function"]: None for i in self.body.walk() if i.op == "call"}
        return tuple(names)
