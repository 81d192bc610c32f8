"""Sizes that are only known while a program runs: who finds one stays in the graph while attributes mention it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from duograph.core.dim import Symbol
from duograph.core.types import ScalarType, TensorType, TokenType, TupleType

from .control import anchor, make_tuple, sized, tuple_get
from .node import Apply, Graph, Node, finds_sizes, introduced, reachable, sizes_in_attrs, told_sizes


def with_tells(outputs: Sequence[Node], tells: Iterable[Node]) -> Sequence[Node]:
    """``outputs`` of a graph, from one of which ``tells`` are reached, which nobody needs but for their sizes."""
    tells = tuple(tells)
    kinds = [type(node.type) for node in outputs]
    place = next((kinds.index(kind) for kind in (TensorType, ScalarType, TokenType) if kind in kinds), -1)
    if place < 0 or not tells:
        return outputs
    keep = sized if kinds[place] is TensorType else anchor
    kept = tells[0].context.apply(keep, (outputs[place], *tells), {})
    return [*outputs[:place], kept, *outputs[place + 1 :]]


def unknown_sizes(reached: Iterable[Node]) -> set[Symbol]:
    """The sizes that attributes of these nodes mention, and none of them finds."""
    nodes = [node for node in reached if isinstance(node, Apply)]
    missing = {size for node in nodes for size in sizes_in_attrs(node)}
    if missing:
        missing.difference_update(*map(introduced, nodes))
    return missing


def keeping_sizes(graph: Graph, mapping: Mapping[Node, Node], output: Node) -> Node:
    """``output``, which takes the place of that of ``graph``, with whom everything is reached that finds a size which
    attributes mention: a rewrite may have dropped what nobody read for its values.

    Args:
        graph: as it was.
        mapping: what has become of its nodes.
        output: its new output.
    """
    finders = [n for n in graph.nodes if (n.op.data_dependent or n.op.structured) and finds_sizes(n)]
    if not finders:
        return output
    reached = reachable(output)
    missing = unknown_sizes(reached).difference(*(told_sizes(p.type) for p in graph.params))
    if not missing:
        return output
    of_finders = [n for n in graph.nodes if n in finders or (n.op is tuple_get and n.operands[0] in finders)]
    found = dict.fromkeys(mapping.get(node, node) for node in of_finders)
    tells = [node for node in found if node not in reached and not missing.isdisjoint(told_sizes(node.type))]
    if not isinstance(output.type, TupleType):
        return with_tells([output], tells)[0]
    context = graph.context
    if isinstance(output, Apply) and output.op is make_tuple:
        items: Sequence[Node] = output.operands
    else:
        items = [context.apply(tuple_get, (output,), {"index": i}) for i in range(len(output.type.items))]
    kept = with_tells(items, tells)
    return output if kept is items else context.apply(make_tuple, tuple(kept), {})
