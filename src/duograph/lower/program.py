"""A pointwise program: elementwise ops over leaves, in order, as one loop body computes them.

    Program     ::= Leaf*  ElementStep*      values are numbered: leaves first, then the results of the steps
    Leaf        ::= memory at an affine index of the loops | run-time scalar | constant
    ElementStep ::= op(values) -> value, or several

The same program is emitted as vectors, as one masked vector for the rest of a row, and as scalars; each op rounds half
types by itself, so what is fused has the bits of what is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duograph.core.op import Op, attrs_key
from duograph.core.types import ScalarType, TensorType, TupleType, Type

from .fold import Fold
from .loop.builder import Builder
from .loop.ir import Value
from .loop.types import BITS, VType, element_of
from .lowering import Extent, Memory, Operand, Temporary
from .rule import Complex, Element, Pointwise


@dataclass(eq=False)
class Leaf:
    """An operand and where its element lies: ``offset + sum(strides[d] * coordinate[d])`` over the loops.

    Scalars and constants of one element have no memory access; they are known outside of all loops. ``scratch`` is the
    memory if it is not an operand; ``operand`` then only tells the type.
    """

    operand: Operand
    strides: tuple[Extent, ...] = ()
    offset: Extent = 0
    scratch: Temporary | None = None

    @property
    def constant(self) -> Any:
        """The one number it always is, or ``None``."""
        value = self.operand.value
        if value is None or (isinstance(value, np.ndarray) and value.size != 1):
            return None
        return value.reshape(()).item() if isinstance(value, np.ndarray) else value

    @property
    def memory(self) -> Memory:
        return self.operand if self.scratch is None else self.scratch

    @property
    def in_memory(self) -> bool:
        return not self.operand.is_scalar and self.constant is None


@dataclass(eq=False)
class ElementStep:
    """One elementwise op on earlier values. ``per_element``: its result counts as different for each element of the
    loops, though it may be the same."""

    op: Op
    rule: Pointwise
    attrs: dict[str, Any]
    args: tuple[int, ...]
    types: tuple[Type, ...]
    out: Type
    per_element: bool = False
    outs: tuple[TensorType, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.outs = self.out.items if isinstance(self.out, TupleType) else (self.out,)  # type: ignore[assignment]

    @property
    def key(self) -> tuple[Any, ...]:
        outs = tuple([type_key(t) for t in self.outs])
        return self.op.name, attrs_key(self.attrs), self.args, outs, self.per_element


@dataclass(eq=False)
class Reduction:
    """One reduction of an earlier value (``partial``: of its accumulator, component by component) over the reduced
    loops; only `lower.reduce.reduction` knows what to do with it."""

    fold: Fold
    args: tuple[int, ...]
    out: TensorType
    partial: bool = False
    outs: tuple[TensorType, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.outs = (self.out,)

    @property
    def key(self) -> tuple[Any, ...]:
        return self.fold, self.args, self.partial, type_key(self.out)


@dataclass(eq=False)
class Program:
    """Leaves and steps; ``results`` are the numbers of the values that leave the loop."""

    leaves: list[Leaf] = field(default_factory=list)
    steps: list[ElementStep | Reduction] = field(default_factory=list)
    results: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.leaves) + sum([len(s.outs) for s in self.steps])

    def add_step(self, step: ElementStep | Reduction) -> tuple[int, ...]:
        """Appends a step; the numbers of its values."""
        first = self.count
        self.steps.append(step)
        return tuple(range(first, first + len(step.outs)))

    def types(self) -> list[Type]:
        """The type of every value."""
        return [leaf.operand.type for leaf in self.leaves] + [t for s in self.steps for t in s.outs]

    def key(self) -> tuple[Any, ...]:
        """What the code depends on, besides where leaves lie."""
        leaves = tuple([_leaf_key(leaf) for leaf in self.leaves])
        return leaves, tuple([s.key for s in self.steps]), tuple(self.results)


def _leaf_key(leaf: Leaf) -> Any:
    constant = leaf.constant
    if constant is None:
        return type_key(leaf.operand.type)
    return type_key(leaf.operand.type), type(constant).__name__, np.asarray(constant).tobytes()


def type_key(type: Type) -> str:
    """A type without its shape."""
    return type.dtype.name if isinstance(type, TensorType) else str(type)


def single_step(op: Op, rule: Pointwise, attrs: dict[str, Any], leaves: Sequence[Leaf], out: Type) -> Program:
    """The program of one op on all leaves."""
    program = Program(list(leaves))
    types = tuple([leaf.operand.type for leaf in leaves])
    program.results = list(program.add_step(ElementStep(op, rule, attrs, tuple(range(len(leaves))), types, out)))
    return program


# ---- elements -------------------------------------------------------------------------------------------------------


def splat(b: Builder, element: Element, lanes: int) -> Element:
    """``element`` in all lanes."""
    if isinstance(element, Complex):
        return Complex(b.splat(element.re, lanes), b.splat(element.im, lanes))
    return b.splat(element, lanes)


def widen(b: Builder, element: Element) -> Element:
    """Half types as float32, others as they are."""
    if isinstance(element, Value) and element.type.elem in ("f16", "bf16"):
        if element.const is not None:  # exact, and no instruction
            return b.const(element.const, element.type.with_elem("f32"))
        return b.convert(element, "f32")
    return element


def constant_element(b: Builder, leaf: Leaf) -> Element:
    """The constant of a leaf as a scalar."""
    value, elem = leaf.constant, leaf.operand.elem
    if leaf.operand.is_complex:
        number = complex(value)
        return Complex(b.const(number.real, VType(elem)), b.const(number.imag, VType(elem)))
    if elem in ("f16", "bf16"):
        value = float(VType(elem).numpy.type(value))
    elif elem == "f32":
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    return b.const(value, VType(elem))


def known_elements(b: Builder, program: Program) -> dict[int, Element]:
    """The leaves that are not in memory: numbers of the call become dims, constants are written down."""
    known: dict[int, Element] = {}
    for i, leaf in enumerate(program.leaves):
        if leaf.operand.is_scalar and leaf.constant is None:
            known[i] = b.dim(f"scalar{i}", leaf.operand.elem)
    for i, leaf in enumerate(program.leaves):
        if leaf.constant is not None:
            known[i] = constant_element(b, leaf)
    return known


def apply_step(b: Builder, step: ElementStep, args: Sequence[Element], lanes: int) -> tuple[Element, ...]:
    """The results of ``step`` on elements of ``lanes`` lanes (fewer are spread), rounded to their types."""
    values: list[Any] = []
    for arg, type_ in zip(args, step.types, strict=True):
        if not isinstance(type_, ScalarType):
            arg = splat(b, arg, lanes)
            if not step.rule.raw_half:
                arg = widen(b, arg)
        values.append(arg)
    extra: dict[str, Any] = {"types": step.types, "out": step.out} if step.rule.wants_types else {}
    made = step.rule.function(b, *values, **step.attrs, **extra)
    results = made if isinstance(made, tuple) else (made,)
    return tuple([as_stored(b, r, t) for r, t in zip(results, step.outs, strict=True)])


def as_stored(b: Builder, element: Element, type: TensorType) -> Element:
    """``element`` as its type keeps it."""
    if isinstance(element, Complex):
        return element
    elem = element_of(type.dtype.numpy)
    if elem in ("f16", "bf16") and element.type.elem == "f32":
        return b.convert(element, elem)
    assert element.type.elem == elem, f"a rule gave {element.type} for {type}"
    return element


def best_lanes(program: Program) -> int:
    """Lanes per vector: 16 float32, 8 of 64-bit types and of ops that compute in them, 32 if there are only bytes."""
    widest = 8
    for type_ in program.types():
        if isinstance(type_, TensorType):
            bits = BITS[element_of(type_.dtype.numpy)]
            widest = max(widest, 32 if bits == 16 else bits)
    if any(isinstance(step, ElementStep) and step.rule.wide for step in program.steps):
        widest = 64
    return {8: 32, 16: 16, 32: 16, 64: 8}[widest]
