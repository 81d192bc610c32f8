"""Exceptions are effects: what may raise is computed although nobody reads its result; so is a loop that may not end.

While a function is captured, an `anchor` ties every operation that may raise (`Op.raises`) to a chain of numbers, whose
end is the last output of the graph. The number is always 0: what counts is that the operations are reachable. So every
rewrite may drop what nobody reads, and none drops an exception. In the end this pass takes out of the anchors what is
computed anyway, which as a rule is everything::

    anchor(x, a, b), where a is read by others    ->  anchor(x, b)
    anchor(x)                                     ->  x

A ``while_loop`` is computed anyway where others read a tensor that it changes; what else they read of it may turn out
to be what it was given (`simplify.control`).

Where effects follow (a print), anchors stay: the token of the effect is anchored, too, and waits for what might raise.

An exception is an operation of the compiled program that fails. Nothing outside has been changed by then, so the call
starts again as plain Python (`jit.function`), which raises, or catches, at the user's line: the order among exceptions
and other effects, and who catches what, are Python's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.core.types import StackType, TensorType, TokenType, TupleType
from duograph.ir.control import anchor, sized, tuple_get, while_loop
from duograph.ir.node import Apply, Graph, Node, Param
from duograph.ir.printer import all_graphs
from duograph.ir.walk import Rebuild, same_node, with_origin

from .manager import Pass
from .simplify.tuples import items_of


@dataclass(frozen=True)
class Anchors:
    """Takes out of anchors what is computed anyway, and has ``then`` tidy up what they leave behind."""

    then: Pass
    name: str = "anchors"

    def run(self, graph: Graph) -> Graph:
        if any(_orders_effects(node) for g in all_graphs(graph) for node in g.nodes):
            return graph
        released = _Released(graph).graph(graph)
        return graph if released is graph else self.then.run(released)


def _orders_effects(node: Apply) -> bool:
    """Whether the anchor ``node`` makes an effect wait for what might raise before it."""
    return node.op is anchor and isinstance(node.type, TokenType)


class _Released(Rebuild):
    def __init__(self, graph: Graph) -> None:
        super().__init__(self._emit, graph)
        self.needed: set[Node] = set()

    def nodes(self, graph: Graph, mapping: dict[Node, Node]) -> Node:
        """As `Rebuild.nodes`, having looked what only anchors keep."""
        self.needed |= _kept_by_anchors(graph)
        return super().nodes(graph, mapping)

    def _emit(self, node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
        if node.op is not anchor:
            return same_node(node, operands, attrs)
        kept = [new for old, new in zip(node.operands[1:], operands[1:], strict=True) if old in self.needed]
        if not kept:
            return operands[0]
        return with_origin(node.context.apply(node.op, (operands[0], *kept), attrs, node.tag), node)


def _kept_by_anchors(graph: Graph) -> set[Node]:
    """The fewest operands of anchors without which something that an anchor keeps would not be computed."""
    computed: set[Node] = set()

    def visit(root: Node) -> None:
        work = [root]
        while work:
            node = work.pop()
            if node not in computed:
                computed.add(node)
                if isinstance(node, Apply):
                    work.extend(node.operands[:1] if node.op is anchor else node.operands)

    visit(graph.output)
    needed: set[Node] = set()
    anchored = {v for node in graph.nodes if node.op is anchor for v in node.operands[1:] if isinstance(v, Apply)}
    for value in sorted(anchored, key=lambda v: -v.serial):  # the later ones may read the earlier ones
        if value not in computed or (value.op is while_loop and not _changes_what_is_read(value, computed)):
            needed.add(value)
            visit(value)
    return needed


def _changes_what_is_read(loop: Apply, computed: set[Node]) -> bool:
    """Whether one of the ``computed`` nodes is a tensor of ``loop``, or a stack, that an iteration replaces."""
    body: Graph = loop.attrs["body"]
    assert isinstance(loop.type, TupleType)
    read = {n.attrs["index"] for n in computed if isinstance(n, Apply) and n.op is tuple_get and n.operands[0] is loop}
    given = items_of(body.output)
    return any(
        isinstance(loop.type.items[i], TensorType | StackType) and not isinstance(_unanchored(given[i]), Param)
        for i in read
    )


def _unanchored(value: Node) -> Node:
    while isinstance(value, Apply) and value.op in (anchor, sized):
        value = value.operands[0]
    return value
