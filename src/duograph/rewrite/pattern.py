"""Patterns: what a rule looks for, written by calling ops on variables.

    pattern = build(lambda x: neg(neg(x)))                     # parameters are variables: any value
    pattern = build(lambda x, p=attr((1, 0)): transpose(x, perm=p))
    pattern = build(lambda x, one=filled(1): mul(x, one))

Calling an op while a pattern is being built gives a `PApply` instead of a node (the binder protocol of `core/op.py`);
nothing else is needed to describe a pattern. A variable that occurs twice must match the same node, which interning
makes the test "the same value, computed the same way".

    Pattern ::= Var(name)                any value; the default of a parameter says more:
              | Filled(name, values)     a constant all of whose elements are one of these numbers, bit by bit
              | Known(name)              any constant
              | Number(name)             a run-time Python number
              | PApply(op, operands, attrs)   attributes are values, or `AttrVar` that captures one
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duograph.core.op import Op, binding, no_recording, value_key
from duograph.core.types import SCALAR_KINDS, ScalarType, TensorType
from duograph.ir.node import Apply, Const, Node

Captures = dict[str, Any]


class Pattern:
    """Base of patterns."""

    __slots__ = ()

    def match(self, node: Node, captures: Captures) -> bool:
        """Whether ``node`` fits, given what was captured so far; extends ``captures``."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Var(Pattern):
    """Any value."""

    name: str

    def match(self, node: Node, captures: Captures) -> bool:
        return captures.setdefault(self.name, node) is node


@dataclass(frozen=True, slots=True)
class Number(Var):
    """Any run-time bool, int or float (of one of ``kinds``)."""

    kinds: tuple[str, ...] = SCALAR_KINDS

    def match(self, node: Node, captures: Captures) -> bool:
        fits = isinstance(node.type, ScalarType) and node.type.kind in self.kinds
        return fits and captures.setdefault(self.name, node) is node


@dataclass(frozen=True, slots=True)
class Known(Var):
    """Any constant: a `Const`, or ``full``."""

    def match(self, node: Node, captures: Captures) -> bool:
        known = isinstance(node, Const) or (isinstance(node, Apply) and node.op.name == "full")
        return known and captures.setdefault(self.name, node) is node


@dataclass(frozen=True, slots=True)
class Filled(Var):
    """A constant tensor whose elements all are the same number, one of ``values`` (told apart by bits)."""

    values: tuple[Any, ...] = ()

    def match(self, node: Node, captures: Captures) -> bool:
        element = element_of(node)
        if element is None:
            return False
        wanted = [np.asarray(v).astype(element.dtype).tobytes() for v in self.values if _fits(v, element.dtype)]
        return element.tobytes() in wanted and captures.setdefault(self.name, node) is node


def _fits(value: Any, dtype: np.dtype) -> bool:
    """Whether a number exists in a dtype: -0.0 and halves are not integers, -1 is not a bool."""
    if dtype.kind in "iu":
        return type(value) is int and (value >= 0 or dtype.kind == "i")
    if dtype.kind == "b":
        return value in (0, 1) and type(value) is int
    return True


def element_of(node: Node) -> np.ndarray | None:
    """The number (as a 0-d array) that every element of a constant tensor is, if it is one and not empty."""
    if not isinstance(node.type, TensorType):
        return None
    if isinstance(node, Apply) and node.op.name == "full":
        if not isinstance(node.attrs["value"], bool | int | float | complex):
            return None  # a size that is only known at run time
        return np.asarray(node.op.reference(shape=(), value=node.attrs["value"], dtype=node.attrs["dtype"]))
    if isinstance(node, Const) and node.value.size:
        first: np.ndarray = node.value.reshape(-1)[:1]
        if node.value.size == 1 or first.tobytes() * node.value.size == node.value.tobytes():
            return first.reshape(())
    return None


@dataclass(frozen=True, slots=True)
class AttrVar:
    """Captures an attribute; ``samples`` are the values that the self-check tries."""

    name: str
    samples: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class PApply(Pattern):
    """An application of ``op``."""

    op: Op
    operands: tuple[Any, ...]
    attrs: dict[str, Any] = field(hash=False)

    def match(self, node: Node, captures: Captures) -> bool:
        if not isinstance(node, Apply) or node.op is not self.op or len(node.operands) != len(self.operands):
            return False
        for name, wanted in self.attrs.items():
            found = node.attrs[name]
            if isinstance(wanted, AttrVar):
                if wanted.name not in captures:
                    captures[wanted.name] = found
                elif value_key(captures[wanted.name]) != value_key(found):
                    return False
            elif value_key(wanted) != value_key(found):
                return False
        return all(_match_operand(p, o, captures) for p, o in zip(self.operands, node.operands, strict=True))


def _match_operand(pattern: Any, node: Node, captures: Captures) -> bool:
    if isinstance(pattern, Pattern):
        return pattern.match(node, captures)
    return isinstance(node, Const) and value_key(node.value) == value_key(pattern)


# ---- building -------------------------------------------------------------------------------------------------------


class _PatternBinder:
    def bind(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> PApply:
        return PApply(op, operands, attrs)


@dataclass(frozen=True)
class _Wish:
    """What the default of a pattern's parameter asks for: a variable of another kind than `Var`."""

    make: Callable[[str], Any]


def attr(*samples: Any) -> Any:
    """Default of a parameter that captures an attribute; ``samples``: values that the self-check tries."""
    return _Wish(lambda name: AttrVar(name, samples))


def filled(*values: Any) -> Any:
    """Default of a parameter that stands for a constant tensor full of one of these numbers."""
    return _Wish(lambda name: Filled(name, values))


def known() -> Any:
    """Default of a parameter that stands for any constant."""
    return _Wish(Known)


def number(*kinds: str) -> Any:
    """Default of a parameter that stands for a run-time number of one of these kinds (default: any)."""
    return _Wish(lambda name: Number(name, kinds or SCALAR_KINDS))


def var(name: str) -> Var:
    """A pattern variable."""
    return Var(name)


def build(description: Callable[..., Any]) -> PApply:
    """The pattern that ``description`` makes of its parameters, which become variables of their names."""
    variables = []
    for p in inspect.signature(description).parameters.values():
        variables.append(p.default.make(p.name) if isinstance(p.default, _Wish) else Var(p.name))
    with binding(_PatternBinder()), no_recording():
        pattern = description(*variables)
    if not isinstance(pattern, PApply):
        raise TypeError(f"a pattern is an application of an op, got {pattern!r}")
    return pattern


def variables_of(pattern: Any) -> Iterator[Any]:
    """All variables of a pattern, attributes too, in order, with repetitions."""
    if isinstance(pattern, PApply):
        for part in (*pattern.operands, *pattern.attrs.values()):
            yield from variables_of(part)
    elif isinstance(pattern, Var | AttrVar):
        yield pattern
