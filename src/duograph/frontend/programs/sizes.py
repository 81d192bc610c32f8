"""What a program finds out about sizes while it runs, as far as gradients cannot do without."""

from __future__ import annotations

from duograph.core.borders import symbols_in
from duograph.core.types import TensorType, TupleType
from duograph.ir.control import scan, while_loop
from duograph.ir.node import Graph, finds_sizes
from duograph.ir.printer import all_graphs


def has_changing_loops(graph: Graph) -> bool:
    """Whether a loop in ``graph`` carries floats whose size changes. Whether a graph can compute its gradient comes out
    too late for a tape outside (`UnknownSizeError`); a program that is captured with its gradient can do without."""
    for g in all_graphs(graph):
        for node in g.nodes:
            if node.op in (while_loop, scan) and finds_sizes(node) and isinstance(node.type, TupleType):
                known = symbols_in(tuple([o.type for o in node.operands]))
                tensors = [t for t in node.type.items if isinstance(t, TensorType) and not t.dtype.is_integer]
                if any(not symbols_in(t) <= known for t in tensors):
                    return True
    return False


def finds_any_size(graph: Graph) -> bool:
    """Whether sizes are only found while ``graph`` runs. If its paths give results of such sizes, a gradient outside
    does not know what the path that was not taken would have saved."""
    return any(finds_sizes(node) for g in all_graphs(graph) for node in g.nodes)
