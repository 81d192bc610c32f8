"""Captured graphs become canonical: equal computations become one node, marks that only gradients read vanish.

    %0 = mul!1(%x, %x)                   %0 = mul(%x, %x)
    %1 = mul!2(%x, %x)           ->      %1 = add(%0, %0)
    %2 = stop_gradient!3(%1)             return %1
    %3 = add!4(%0, %2)

Interning does the work: without tags, equal nodes are the same object. Gradients must be expanded before, since the sum
of two contributions is not the double of one (``ir/node.py``). Effects keep their order, which is in their tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.ir.control import make_tuple, tuple_get
from duograph.ir.node import Apply, Graph, Node, finds_sizes
from duograph.ir.walk import rebuild, with_origin
from duograph.ops.cast import assigned, identity, stop_gradient

_TRANSPARENT = (identity, stop_gradient, assigned)


@dataclass(frozen=True)
class DropTags:
    """Drops tags and marks; common sub-expressions become one node."""

    name: str = "drop_tags"

    def run(self, graph: Graph) -> Graph:
        return rebuild(graph, _untagged)


def _untagged(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
    if node.op in _TRANSPARENT:
        return operands[0]
    if node.op is tuple_get and isinstance(operands[0], Apply) and operands[0].op is make_tuple:
        return operands[0].operands[attrs["index"]]
    keeps_tag = finds_sizes(node)
    if (node.tag == 0 or keeps_tag) and operands == node.operands and attrs is node.attrs:
        return node
    # two results whose sizes depend on data stay apart: what follows calls each size by its own name
    tag = node.tag if keeps_tag else 0
    return with_origin(node.context.apply(node.op, operands, attrs, tag), node)
