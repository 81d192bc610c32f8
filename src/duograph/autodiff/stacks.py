"""Saved values on their way from a forward to a backward graph.

A loop whose trip count is not known pushes the residuals of every iteration on a *stack*; a recursive function packs
its own into an opaque *object*. Both are immutable linked cells at run time, so a push or a pop is O(1) and a graph can
be run backward any number of times. Their cotangents are stacks and objects again, which makes these ops
differentiable: what is pushed last is popped first, in both directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.borders import differ_in_sizes
from duograph.core.dim import UnknownSizeError, fresh_symbol
from duograph.core.dtype import bool_, float64, int64
from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.types import BOOL, INT, OBJECT, StackType, TensorType, TupleType

from .entries import Residual


class StackCell(Residual):
    """``items`` on top of ``rest``; ``depth`` cells in all. Items are arrays, numbers, cells, or None (no value)."""

    __slots__ = ("depth", "items", "rest")

    def __init__(self, rest: StackCell | None, items: tuple[Any, ...]) -> None:
        self.rest, self.items = rest, items
        self.depth: int = 0 if rest is None else rest.depth + 1


@primitive
class stack_new:
    """An empty stack of tuples of the types ``items``."""

    layout = "any"

    def infer(*, items):
        return StackType(TupleType(items))

    def reference(*, items):
        return StackCell(None, ())


def _sum_items(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_sum(x, y) for x, y in zip(a, b, strict=True))


def _sum(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, StackCell):
        rest = None if a.rest is None else _sum(a.rest, b.rest)
        return StackCell(rest, _sum_items(a.items, b.items))
    return np.add(a, b) if isinstance(a, np.ndarray) else a or b


@primitive
class residual_add:
    """The sum of two cotangents of one stack or object, item by item."""

    layout = "any"

    def infer(a, b):
        return a

    def reference(a, b):
        return _sum(a, b)

    def bprop(ins, out, dout):
        return dout, dout


@primitive
class stack_push:
    """``stack`` with a tuple of ``items`` on top."""

    layout = "any"
    structured = True

    def infer(stack, *items):
        if stack != StackType(TupleType(items)):
            kind = UnknownSizeError if differ_in_sizes(stack, StackType(TupleType(items))) else TypeError
            raise kind(f"stack_push: {TupleType(items)} does not go on a {stack}")
        return stack

    def reference(stack, *items):
        return StackCell(stack, items)


@primitive
class stack_pop:
    """``stack`` without its top, and the items of the top."""

    layout = "any"
    structured = True

    def infer(stack):
        return TupleType((stack, *stack.item.items))

    def reference(stack):
        return (stack.rest, *stack.items)


@primitive
class cotangent_pop:
    """As ``stack_pop``, for the cotangent of a stack: where nothing was pushed the items are neutral and undefined."""

    layout = "any"
    structured = True

    def infer(stack, *, items):
        return TupleType((stack, *items))

    def reference(stack, *, items):
        if stack is None:
            return (None, *[_nothing(t) for t in items])
        return (stack.rest, *stack.items)


def _nothing(type: Any) -> Any:
    if isinstance(type, TensorType):
        return np.full(type.shape, -0.0 if type.dtype.is_floating else 0, type.dtype.numpy)
    return False if type == BOOL else None


@primitive
class stack_rows:
    """The items of all tuples on ``stack``: of each a tensor with one row per tuple, beginning with the lowest.
    ``items``: their types."""

    layout = "any"
    data_dependent = True
    structured = True
    bprop = NOT_DIFFERENTIABLE

    def infer(stack, *, items):
        if stack != StackType(TupleType(items)):
            raise TypeError(f"stack_rows: {stack} has no items of the types {TupleType(items)}")
        size = fresh_symbol("rows", 0)
        layouts = [(t.dtype, t.shape) if isinstance(t, TensorType) else (ROWS[t.kind], ()) for t in items]
        return TupleType(tuple([TensorType(dtype, (size, *shape)) for dtype, shape in layouts]))

    def reference(stack, *, items):
        tuples = []
        while stack.rest is not None:
            tuples.append(stack.items)
            stack = stack.rest
        columns = zip(*reversed(tuples), strict=True) if tuples else [()] * len(items)
        return tuple([_stacked(t, rows) for t, rows in zip(items, columns, strict=True)])


ROWS = {"bool": bool_, "int": int64, "float": float64}
"""What numbers are as rows, by their kinds."""


def _stacked(type: Any, rows: Any) -> Any:
    shape, dtype = (type.shape, type.dtype) if isinstance(type, TensorType) else ((), ROWS[type.kind])
    return np.array(rows, dtype.numpy).reshape((len(rows), *shape))


@primitive
class stack_size:
    """How many tuples are on ``stack``."""

    layout = "any"
    bprop = NOT_DIFFERENTIABLE

    def infer(stack):
        return INT

    def reference(stack):
        return stack.depth


@primitive
class pack:
    """Values as one opaque object."""

    layout = "any"
    structured = True

    def infer(*items):
        return OBJECT

    def reference(*items):
        return StackCell(None, items)


@primitive
class unpack:
    """The values of the types ``types`` in an object made by ``pack``."""

    layout = "any"
    structured = True

    def infer(obj, *, types):
        return TupleType(types)

    def reference(obj, *, types):
        return tuple(obj.items)
