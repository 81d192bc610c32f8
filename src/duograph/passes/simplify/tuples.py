"""Tuples disappear where their items are known.

tuple_get(make_tuple(a, b), 0)                      ->  a
make_tuple(tuple_get(t, 0), tuple_get(t, 1))        ->  t, if t has two items
anchor(x, make_tuple(tuple_get(t, 0), 1))           ->  anchor(x, t)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.core.types import TupleType
from duograph.ir.control import anchor, make_tuple, tuple_get, undef
from duograph.ir.node import Apply, Graph, Node
from duograph.ir.walk import rebuild, same_node


@dataclass(frozen=True)
class Tuples:
    """Removes tuples that are only made to be taken apart, or the other way round."""

    name: str = "tuples"

    def run(self, graph: Graph) -> Graph:
        return rebuild(graph, simplified)


def simplified(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
    """`Emit` that leaves out pairs of ``make_tuple`` and ``tuple_get``."""
    if node.op is tuple_get:
        return item(operands[0], attrs["index"], node, attrs)
    if node.op is make_tuple and operands:
        source = _source(operands)
        if source is not None:
            return source
    if node.op is anchor:
        operands = _anchored(operands)
        if len(operands) == 1:
            return operands[0]
    return same_node(node, operands, attrs)


def _anchored(operands: tuple[Node, ...]) -> tuple[Node, ...]:
    """The operands of an anchor, with what computes the items of tuples that are made, in the place of these."""
    if not any(_is_made(value) for value in operands[1:]):
        return operands
    found: dict[Node, None] = {}
    for value in operands[1:]:
        items = value.operands if _is_made(value) else ()  # type: ignore[attr-defined]
        found |= dict.fromkeys(_computing(item) for item in items) if items else {value: None}
    return operands[0], *[value for value in found if isinstance(value, Apply) and value.op is not undef]


def _is_made(value: Node) -> bool:
    return isinstance(value, Apply) and value.op is make_tuple


def _computing(item: Node) -> Node:
    """The operation whose result ``item`` is."""
    return item.operands[0] if isinstance(item, Apply) and item.op is tuple_get else item


def item(value: Node, index: int, like: Apply | None = None, attrs: dict[str, Any] | None = None) -> Node:
    """The ``index``-th item of a tuple-typed node."""
    if isinstance(value, Apply) and value.op is make_tuple:
        return value.operands[index]
    if like is not None and attrs is not None:
        return same_node(like, (value,), attrs)
    return value.context.apply(tuple_get, (value,), {"index": index})


def items_of(value: Node) -> list[Node]:
    """All items of a tuple-typed node."""
    assert isinstance(value.type, TupleType)
    return [item(value, i) for i in range(len(value.type.items))]


def _source(operands: tuple[Node, ...]) -> Node | None:
    """The tuple whose items, all of them in order, ``operands`` are."""
    first = operands[0]
    if not isinstance(first, Apply) or first.op is not tuple_get:
        return None
    source = first.operands[0]
    if not isinstance(source.type, TupleType) or len(source.type.items) != len(operands):
        return None
    for i, operand in enumerate(operands):
        if not isinstance(operand, Apply) or operand.op is not tuple_get:
            return None
        if operand.operands[0] is not source or operand.attrs["index"] != i:
            return None
    return source
