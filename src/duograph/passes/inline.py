"""Calls replaced by the body of what they call.

    %0 = call(%x, graph=@f) : f32[3]      ->      the nodes of @f, with %x in the place of its parameter

A graph is inlined where it is called once, or is small. Graphs that call themselves stay calls, and those
that find sizes: a graph has its own names for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.ir.control import call
from duograph.ir.node import Apply, Graph, Node
from duograph.ir.printer import all_graphs
from duograph.ir.walk import can_inline, inline, rebuild, recursive_graphs, same_node


@dataclass(frozen=True)
class Inline:
    """Inlines calls of graphs with one caller, or with at most ``max_nodes`` nodes."""

    name: str = "inline"
    max_nodes: int = 32

    def run(self, graph: Graph) -> Graph:
        recursive = recursive_graphs(graph)
        callers: dict[Graph, int] = {}
        for g in all_graphs(graph):
            for node in g.nodes:
                if node.op is call:
                    callee = node.attrs["graph"]
                    callers[callee] = callers.get(callee, 0) + 1
        wanted = {
            g
            for g, n in callers.items()
            if g not in recursive and (n == 1 or len(g.nodes) <= self.max_nodes) and can_inline(g)
        }

        def emit(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
            if node.op is call and node.attrs["graph"] in wanted:
                return inline(attrs["graph"], operands)
            return same_node(node, operands, attrs)

        return rebuild(graph, emit)
