"""Going over graphs: users, counts, rebuilding, inlining, cloning, equality.

Nodes do not change; to change a graph is to rebuild it. `rebuild` visits every node of a graph and of its sub-graphs,
operands first, and asks ``emit`` for what is to stand in its place. Where nothing changes, interning gives the same
objects back, so ``rebuild(g) is g``. A graph that calls itself is kept as it is (it cannot be rebuilt piecemeal), but
`clone` copies it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duograph.base.components import strongly_connected
from duograph.core.borders import renamed, stands_for, symbols_in
from duograph.core.dim import Symbol
from duograph.core.op import Op, attrs_key, value_key
from duograph.core.types import TupleType, Type

from .node import Apply, Const, Context, Graph, Node, finds_sizes
from .printer import all_graphs
from .sizes import keeping_sizes

Emit = Callable[[Apply, tuple[Node, ...], dict[str, Any]], Node]
"""``emit(node, new_operands, new_attrs)``: the node that takes the place of ``node``."""


def users(graph: Graph) -> dict[Node, list[Apply]]:
    """For every value of ``graph`` the applications that have it as an operand, in program order."""
    found: dict[Node, list[Apply]] = {}
    for node in graph.nodes:
        for operand in dict.fromkeys(node.operands):
            found.setdefault(operand, []).append(node)
    return found


def count_nodes(graph: Graph) -> int:
    """How many applications ``graph`` and the graphs it refers to have."""
    return sum(len(g.nodes) for g in all_graphs(graph))


def count_ops(graph: Graph) -> dict[Op, int]:
    """How often each op occurs in ``graph`` and the graphs it refers to."""
    counts: dict[Op, int] = {}
    for g in all_graphs(graph):
        for node in g.nodes:
            counts[node.op] = counts.get(node.op, 0) + 1
    return counts


def recursive_graphs(graph: Graph) -> set[Graph]:
    """The graphs among those that ``graph`` refers to (and itself) that lie on a cycle of calls."""
    if not graph.subgraphs:
        return set()
    groups = strongly_connected([graph], lambda g: g.subgraphs)
    return {g for group in groups for g in group if len(group) > 1 or g in g.subgraphs}


def same_node(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
    """The `Emit` that changes nothing but what the operands and sub-graphs force."""
    if operands == node.operands and attrs is node.attrs:
        return node
    return with_origin(node.context.apply(node.op, operands, attrs, node.tag), node)


def with_origin(new: Node, old: Node) -> Node:
    """``new``, which stands for ``old``: it stems from the same lines, unless it has lines of its own."""
    if new is not old:
        if old in old.context.origins:
            new.context.origins.setdefault(new, old.context.origins[old])
        if old in old.context.variables:
            new.context.variables.setdefault(new, old.context.variables[old])
        if old in old.context.iterations:
            new.context.iterations.setdefault(new, old.context.iterations[old])
    return retyped(new, old.type) if isinstance(new, Apply) and new is not old else new


def retyped(new: Apply, declared: Type, first: bool = False) -> Apply:
    """``new`` with the names of ``declared`` for the sizes that it finds: what is built on it knows them by these.
    ``first``: ``declared`` is about the first results of ``new`` only."""
    if new.type == declared or not finds_sizes(new):
        return new
    made = new.type
    if first and isinstance(made, TupleType):
        items = declared.items if isinstance(declared, TupleType) else (declared,)
        declared = TupleType((*items, *made.items[len(items) :]))
    names: dict[Any, Any] = {}
    known = symbols_in(tuple([o.type for o in new.operands]))
    if not stands_for(declared, made, known, names):
        return new
    back = {size: name for name, size in names.items() if name is not size and isinstance(size, Symbol)}
    named = new.context.variant(new, renamed(declared, back) if first else declared)
    if new in new.context.origins:
        new.context.origins.setdefault(named, new.context.origins[new])
    return named


class Rebuild:
    """One pass of rebuilding; sub-graphs are rebuilt once. See `rebuild`."""

    def __init__(self, emit: Emit, graph: Graph, descend: bool = True) -> None:
        self.emit, self.descend = emit, descend
        self.graphs: dict[Graph, Graph] = {g: g for g in recursive_graphs(graph)} if descend else {}

    def graph(self, graph: Graph) -> Graph:
        """The rebuilt ``graph``."""
        found = self.graphs.get(graph)
        if found is None:
            mapping: dict[Node, Node] = {}
            output = self.nodes(graph, mapping)
            same = output is graph.output
            if not same:
                output = keeping_sizes(graph, mapping, output)
            self.graphs[graph] = found = graph if same else graph.context.graph(graph.name, graph.params, output)
        return found

    def nodes(self, graph: Graph, mapping: dict[Node, Node]) -> Node:
        """What happens to the output of ``graph`` when ``mapping`` says what some values (parameters) become."""
        descend = self.descend and bool(graph.subgraphs)
        for node in graph.nodes:
            if node in mapping:
                continue
            operands = tuple([mapping.get(o, o) for o in node.operands]) if mapping else node.operands
            new = self.emit(node, operands, self.attrs(node) if descend else node.attrs)
            if new is not node:
                mapping[node] = new
        return mapping.get(graph.output, graph.output)

    def attrs(self, node: Apply) -> dict[str, Any]:
        """The attributes of ``node`` with its graphs rebuilt; the very same dict if none changed."""
        new = {k: self.graph(v) if isinstance(v, Graph) else v for k, v in node.attrs.items()}
        return node.attrs if all(new[k] is v for k, v in node.attrs.items()) else new


def rebuild(graph: Graph, emit: Emit = same_node, descend: bool = True) -> Graph:
    """``graph`` with every node replaced by what ``emit`` gives for it; ``descend``: in its sub-graphs too."""
    return Rebuild(emit, graph, descend).graph(graph)


def substitute(graph: Graph, mapping: Mapping[Node, Node]) -> Graph:
    """``graph`` with some of its own values (not those of sub-graphs) replaced by others of the same type."""
    for old, new in mapping.items():
        if old.type != new.type:
            raise TypeError(f"{old!r} cannot be replaced by {new!r}: another type")
    becomes = dict(mapping)
    output = keeping_sizes(graph, becomes, Rebuild(same_node, graph, descend=False).nodes(graph, becomes))
    return graph.context.graph(graph.name, graph.params, output)


def can_inline(graph: Graph) -> bool:
    """Whether ``graph`` may become part of another one: no size has a name that is its own."""
    return not any(finds_sizes(node) for node in graph.nodes)


def inline(graph: Graph, args: Sequence[Node]) -> Node:
    """The output of ``graph`` computed from ``args``, as nodes of the caller (same context)."""
    if tuple(p.type for p in graph.params) != tuple(a.type for a in args):
        raise TypeError(f"@{graph.name} cannot be inlined: arguments {[str(a.type) for a in args]} do not fit")
    return Rebuild(same_node, graph, descend=False).nodes(graph, dict(zip(graph.params, args, strict=True)))


def clone(graph: Graph, context: Context, keep_tags: bool = True) -> Graph:
    """``graph`` and all it refers to in another context."""
    recursive = recursive_graphs(graph)
    done: dict[Graph, Graph] = {}

    def visit(g: Graph) -> Graph:
        if g in done:
            return done[g]
        params = tuple(context.param(p.name, p.type) for p in g.params)
        if g in recursive:
            done[g] = Graph(context, g.name, params, context.param("recursive result", g.output.type))
        mapping: dict[Node, Node] = dict(zip(g.params, params, strict=True))

        def value(node: Node) -> Node:
            return context.const(node.value) if isinstance(node, Const) else mapping[node]

        for node in g.nodes:
            attrs = {k: visit(v) if isinstance(v, Graph) else v for k, v in node.attrs.items()}
            new = context.apply(node.op, tuple([value(o) for o in node.operands]), attrs, node.tag if keep_tags else 0)
            mapping[node] = with_origin(new, node)
        if g in recursive:
            done[g].output = value(g.output)
        else:
            done[g] = context.graph(g.name, params, value(g.output))
        return done[g]

    return visit(graph)


def equal(a: Graph, b: Graph, tags: bool = True) -> bool:
    """Whether two graphs, also of different contexts, are the same program up to names; ``tags``: also in tags.

    Constants are compared by bits, opaque objects by identity.
    """
    return _same_graphs(a, b, tags, set())


def _same_graphs(a: Graph, b: Graph, tags: bool, assumed: set[tuple[Graph, Graph]]) -> bool:
    if (a, b) in assumed:
        return True
    assumed.add((a, b))
    if len(a.params) != len(b.params) or any(p.type != q.type for p, q in zip(a.params, b.params)):
        return False
    pairs: dict[Node, Node] = dict(zip(a.params, b.params, strict=True))

    def same(x: Node, y: Node) -> bool:
        if isinstance(x, Const) or isinstance(y, Const):
            return isinstance(x, Const) and isinstance(y, Const) and _same_consts(x, y)
        return pairs.get(x) is y

    # Every node of `a` is paired with the node of `b` that stands at the same place of the expression.
    work: list[tuple[Node, Node]] = [(a.output, b.output)]
    while work:
        x, y = work[-1]
        if not isinstance(x, Apply) or not isinstance(y, Apply) or x in pairs:
            if not same(x, y):
                return False
            work.pop()
            continue
        if x.op is not y.op or len(x.operands) != len(y.operands) or x.type != y.type or (tags and x.tag != y.tag):
            return False
        waiting = [(p, q) for p, q in zip(x.operands, y.operands) if isinstance(p, Apply) and p not in pairs]
        if waiting:
            work.extend(reversed(waiting))
            continue
        if not all(same(p, q) for p, q in zip(x.operands, y.operands)):
            return False
        if not all(_same_attrs(x.attrs[k], y.attrs[k], tags, assumed) for k in x.attrs):
            return False
        pairs[x] = y
        work.pop()
    return True


def same_but_tags(a: Node, b: Node) -> bool:
    """Whether two nodes of one context have the same value for certain: equal expressions but for their tags, without
    effects, of nodes that find no sizes unless they are one node."""
    seen: set[tuple[Node, Node]] = set()
    work = [(a, b)]
    while work:
        x, y = work.pop()
        if x is y or (x, y) in seen:
            continue
        if not isinstance(x, Apply) or not isinstance(y, Apply) or x.op is not y.op or x.op.effects or finds_sizes(x):
            return False
        if x.type != y.type or len(x.operands) != len(y.operands) or attrs_key(x.attrs) != attrs_key(y.attrs):
            return False
        seen.add((x, y))
        work.extend(zip(x.operands, y.operands, strict=True))
    return True


def _same_attrs(x: Any, y: Any, tags: bool, assumed: set[tuple[Graph, Graph]]) -> bool:
    if isinstance(x, Graph) and isinstance(y, Graph):
        return _same_graphs(x, y, tags, assumed)
    return bool(value_key(x) == value_key(y))


def _same_consts(x: Const, y: Const) -> bool:
    if x.type != y.type:
        return False
    if hasattr(x.value, "tobytes"):
        return bool(x.value.tobytes() == y.value.tobytes())
    return x.value is y.value or (type(x.value) in (bool, int, float) and value_key(x.value) == value_key(y.value))
