"""A graph that fails, made small: delta debugging over its nodes.

Each candidate is a graph by itself, and is taken if it fails in the same way: one of the graphs inside; the part that
leads to a single node; and the graph with some nodes replaced by parameters, which get the values that the nodes had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from duograph.core.types import TOKEN, ScalarType, TensorType
from duograph.ir.control import make_tuple
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Apply, Const, Graph, Node, Param, reachable
from duograph.ir.printer import all_graphs
from duograph.ir.walk import count_nodes, substitute

from .replay import why_it_fails

__all__ = ["shrunk"]

Values = list[Any] | None
How = Callable[[Graph, int, Values], str]


def shrunk(graph: Graph, level: int, values: Sequence[Any] | None, how: How = why_it_fails) -> tuple[Graph, Values]:
    """The smallest graph that was found to fail as ``graph`` does, and values for it.

    Raises:
        ValueError: the graph does not fail.
    """
    kept = None if values is None else list(values)
    wanted = how(graph, level, kept)
    if not wanted:
        raise ValueError("the graph does not fail here")

    def fails(candidate: Graph, given: Values) -> bool:
        return how(candidate, level, given) == wanted

    while True:
        before = count_nodes(graph), len(graph.params)
        for step in (_inner, _single, _cut, _trimmed):
            graph, kept = step(graph, kept, fails)
        if (count_nodes(graph), len(graph.params)) >= before:
            return graph, kept


Fails = Callable[[Graph, Values], bool]


def _inner(graph: Graph, values: Values, fails: Fails) -> tuple[Graph, Values]:
    """One of the graphs of branches and loops, by itself."""
    for inner in all_graphs(graph)[:0:-1]:
        if fails(inner, None):
            return inner, None
    return graph, values


def _single(graph: Graph, values: Values, fails: Fails) -> tuple[Graph, Values]:
    """What leads to the first node that is enough."""
    for node in graph.nodes:
        if node.type is not TOKEN and node is not graph.output:
            made = _with_output(graph, node)
            if fails(made, values):
                return made, values
    return graph, values


def _cut(graph: Graph, values: Values, fails: Fails) -> tuple[Graph, Values]:
    """With as many nodes as possible replaced by parameters, half of them at once, then ever fewer."""
    size = max(len(graph.nodes) // 2, 1)
    while size:
        at = 0
        while at < len(graph.nodes):
            nodes = [n for n in graph.nodes[at : at + size] if _can_be_given(n) and n is not graph.output]
            made, given = _given(graph, values, nodes)
            if nodes and count_nodes(made) < count_nodes(graph) and fails(made, given):
                graph, values = made, given
            else:
                at += size
        size //= 2
    return graph, values


def _trimmed(graph: Graph, values: Values, fails: Fails) -> tuple[Graph, Values]:
    """Without parameters that nothing reads."""
    used = reachable(graph.output)
    kept = [i for i, p in enumerate(graph.params) if p in used]
    made = graph.context.graph(
        graph.context.fresh_name(graph.name), tuple([graph.params[i] for i in kept]), graph.output
    )
    given = None if values is None else [values[i] for i in kept]
    return (made, given) if len(kept) < len(graph.params) and fails(made, given) else (graph, values)


def _with_output(graph: Graph, output: Node) -> Graph:
    return graph.context.graph(graph.context.fresh_name(graph.name), graph.params, output)


def _can_be_given(node: Apply) -> bool:
    return isinstance(node.type, TensorType | ScalarType)


def _given(graph: Graph, values: Values, nodes: Sequence[Apply]) -> tuple[Graph, Values]:
    """``graph`` with parameters in the place of ``nodes``, and the values that these had."""
    if not nodes:
        return graph, values
    context = graph.context
    params: list[Param] = [context.param(context.fresh_name("p"), node.type) for node in nodes]
    inner = substitute(graph, dict(zip(nodes, params, strict=True)))
    made = context.graph(context.fresh_name(graph.name), (*graph.params, *params), inner.output)
    if values is None or isinstance(graph.output, Const):
        return made, None
    try:
        known = Interpreter().run(_with_output(graph, context.apply(make_tuple, tuple(nodes), {})), values)
    except Exception:  # noqa: BLE001 - then values are made up
        return made, None
    return made, [*values, *known]
