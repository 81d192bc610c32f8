"""Graphs made to fit arguments whose sizes have other names.

A derivative is made once, with the names that sizes have in its graph; where it is run, the same sizes have the names
that results got there (``core/borders.py``). `adapted` gives the graph for arguments of the given types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duograph.core.borders import differ_in_sizes, renamed, symbols_in
from duograph.core.dim import Dim, Symbol, UnknownSizeError
from duograph.core.types import StackType, TensorType, Type
from duograph.ir.control import CONTROL_OPS, call_named, cond, scan
from duograph.ir.memo import Memo
from duograph.ir.node import Apply, Graph, Node, Param
from duograph.ir.walk import retyped, with_origin
from duograph.ops.cast import relabel
from duograph.tensor.tensor import type_of


def fitting(graph: Graph, args: Sequence[Any]) -> Graph:
    """`adapted` to the types of handles or numbers."""
    return adapted(graph, tuple([type_of(a) for a in args]))


_ADAPTED: Memo[tuple[Graph, tuple[Type, ...]], Graph] = Memo("graphs adapted to other names of sizes")


def adapted(graph: Graph, types: tuple[Type, ...]) -> Graph:
    """``graph`` with parameters of the types ``types``, which differ from what it has in names of sizes only."""
    expected = tuple([p.type for p in graph.params])
    if expected == types:
        return graph
    memo = _ADAPTED.of(graph.context)
    found = memo.get((graph, types))
    if found is None:
        if not differ_in_sizes(expected, types):
            raise TypeError(
                f"@{graph.name} takes ({', '.join(map(str, expected))}), got ({', '.join(map(str, types))})"
            )
        found = memo[graph, types] = _adapt(graph, types)
    return found


def _adapt(graph: Graph, types: tuple[Type, ...]) -> Graph:
    context = graph.context
    names: dict[Symbol, Any] = {}
    for param, type_ in zip(graph.params, types, strict=True):
        _learn(param.type, type_, names)
    params: list[Param] = []
    mapping: dict[Node, Node] = {}
    for param, type_ in zip(graph.params, types, strict=True):
        params.append(param if param.type == type_ else context.param(context.fresh_name(param.name), type_))
        new = params[-1]
        inner = renamed(param.type, names)
        if inner == type_:
            mapping[param] = new
        elif isinstance(inner, TensorType | StackType):
            mapping[param] = context.apply(relabel, (new,), {"type": inner})
        else:
            raise UnknownSizeError(f"sizes of a {param.type} have other names in @{graph.name}")
    return context.graph(context.fresh_name(graph.name), tuple(params), _rebuilt(graph, mapping, names))


def _learn(declared: Any, given: Any, names: dict[Symbol, Any]) -> None:
    """Notes what the sizes of a parameter are called in the argument; the first argument decides."""
    if isinstance(declared, TensorType):
        for inner, outer in zip(declared.shape, given.shape, strict=True):
            if isinstance(inner, Symbol):
                names.setdefault(inner, outer)


def _rebuilt(graph: Graph, mapping: dict[Node, Node], names: Mapping[Symbol, Any]) -> Node:
    """The output of ``graph`` where its own values, and its names of sizes, are replaced."""
    changed = {inner: outer for inner, outer in names.items() if inner != outer}
    if any(isinstance(d, Dim) and not isinstance(d, Symbol) for d in changed.values()):
        raise UnknownSizeError(f"a size in @{graph.name} is an expression outside")
    for node in graph.nodes:
        operands = tuple([mapping.get(o, o) for o in node.operands])
        attrs = {k: v if isinstance(v, Graph) else renamed(v, changed) for k, v in node.attrs.items()}
        if node.op in CONTROL_OPS and node.op is not call_named:
            lead = 1 if node.op is cond or node.op is scan else 0
            types = tuple([o.type for o in operands])
            for key, inner in attrs.items():
                if isinstance(inner, Graph) and key != "backward":
                    own = types if node.op is scan else types[lead:]
                    attrs[key] = _inner(inner, own, changed)
        if operands == node.operands and all(attrs[k] is v or attrs[k] == v for k, v in node.attrs.items()):
            continue
        new = node.context.apply(node.op, operands, attrs, node.tag)
        made = with_origin(new, node)
        mapping[node] = retyped(made, renamed(node.type, changed)) if isinstance(made, Apply) else made
    return mapping.get(graph.output, graph.output)


def _inner(graph: Graph, types: tuple[Type, ...], names: Mapping[Symbol, Any]) -> Graph:
    """A sub-graph of a graph whose sizes have got other names, which it may mention in attributes as well."""
    free = {s: outer for s, outer in names.items() if any(s in symbols_in(p.type) for p in graph.params)}
    if tuple([p.type for p in graph.params]) == types and not free:
        return graph
    return adapted(graph, types)
