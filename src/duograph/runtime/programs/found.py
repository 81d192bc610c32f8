"""Ops that find how large their result is, natively: count, allocate, fill (`lower/found.py`). Others run in Python."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from duograph.core.types import TensorType
from duograph.ir.node import Apply
from duograph.lower import found
from duograph.lower.loop.ir import Function, Value
from duograph.lower.loop.types import NUMPY

from .emit import Emitter, Scope, knows
from .values import Memory, Number, Tree

_COMPARED = set(NUMPY.values())


def emit(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    """Writes the code of a node that finds a size; ``None`` if it has to run in Python."""
    rule = _RULES.get(node.op.name)
    return None if rule is None else rule(e, node, operands, scope)


def _result(e: Emitter, node: Apply, axis: int, count: Callable[[], Value], scope: Scope) -> tuple[Memory, Value]:
    """Memory for the result of ``node``, of which ``count`` finds the extent along ``axis``; that extent."""
    assert isinstance(node.type, TensorType)
    size = node.type.shape[axis]
    if not knows(scope.symbols, node.type):
        scope.symbols[size] = count()
    return e.result(node, 0, node.type, scope), e.b.value(e.dim(size, scope.symbols))


def _counted(e: Emitter, mask: Memory, scope: Scope) -> Value:
    words = e.b.alloca("i64", 1, 8)
    count = found.count_hits(mask.elem)
    _call(e, count, [e.buffer(mask), words], [_size(e, mask, scope)])
    return e.b.load(words, 0)


def _size(e: Emitter, memory: Memory, scope: Scope, first: int = 0, last: int | None = None) -> Any:
    """The number of elements of ``memory``, or the product of some of its extents."""
    extents = [e.dim(n, scope.symbols) for n in memory.type.shape[first:last]]
    total: Any = prod(n for n in extents if isinstance(n, int))
    for n in extents:
        if not isinstance(n, int):
            total = e.b.mul(n, total)
    return total


def _call(e: Emitter, function: Function, buffers: list[Any], dims: list[Any]) -> None:
    e.b.call(e.build.kernel(function), buffers, dims, is_safe=True)


def _nonzero(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    (x,) = operands
    assert isinstance(x, Memory)
    rank = len(x.type.shape)
    if rank == 0 or x.type.dtype.numpy not in _COMPARED:
        return None
    out, count = _result(e, node, 0, lambda: _counted(e, x, scope), scope)
    extents = [e.dim(n, scope.symbols) for n in x.type.shape]
    _call(e, found.coordinates_of_hits(x.elem, rank), [e.buffer(x), e.buffer(out)], [*extents, count])
    return out


def _masked_select(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    x, mask = operands
    assert isinstance(x, Memory) and isinstance(mask, Memory)
    elem = found.WORDS.get(x.type.dtype.itemsize)
    if elem is None:
        return None
    out, count = _result(e, node, 0, lambda: _counted(e, mask, scope), scope)
    _call(
        e,
        found.values_of_hits(elem),
        [e.buffer(x, elem), e.buffer(mask), e.buffer(out, elem)],
        [_size(e, x, scope), count],
    )
    return out


def _range_slice(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    x, start, stop = operands
    assert isinstance(x, Memory) and isinstance(start, Number) and isinstance(stop, Number)
    elem, axis, step = found.WORDS.get(x.type.dtype.itemsize), node.attrs["axis"], node.attrs.get("step", 1)
    if elem is None:
        return None
    n = e.dim(x.type.shape[axis], scope.symbols)
    first, length = found.slice_bounds(e.b, start.value, stop.value, step, n)
    out, length = _result(e, node, axis, lambda: length, scope)
    outer, inner = _size(e, x, scope, 0, axis), _size(e, x, scope, axis + 1)
    dims = [outer, n, inner, first, length]
    _call(e, found.strided_rows(elem, step), [e.buffer(x, elem), e.buffer(out, elem)], dims)
    return out


_RULES = {"nonzero": _nonzero, "masked_select": _masked_select, "range_slice": _range_slice}
