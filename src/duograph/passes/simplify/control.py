"""Control flow made smaller, without a change of what is computed.

    cond(true, args; then, orelse)            ->  then(args)
    cond(p, args; f, f)                       ->  f(args)
    scan(0, carry; body), while false         ->  carry
    scan(1, carry; body)                      ->  body(0, carry)
    a carry that the body passes on unchanged  ->  an invariant
    a constant operand                        ->  a constant in the graphs that get it
    an operand given twice, or never read     ->  given once, or not at all
    a result that nobody reads                ->  not computed

Of a ``while_loop`` that an `anchor` keeps, as it may have no end, at least one result stays.

The parts that work on operands look at one node (`_Operands`); dropping results needs to know who reads them
(`_Results`). Graphs that call themselves are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duograph.core.borders import symbols_in
from duograph.core.dim import Symbol
from duograph.core.types import TokenType, TupleType
from duograph.ir.control import anchor, call, cond, make_tuple, scan, tuple_get, undef, while_loop
from duograph.ir.node import (
    Apply,
    Const,
    Graph,
    Node,
    Param,
    finds_sizes,
    introduced,
    reachable,
    sizes_in_attrs,
    told_sizes,
)
from duograph.ir.sizes import keeping_sizes
from duograph.ir.walk import (
    Rebuild,
    can_inline,
    equal,
    inline,
    recursive_graphs,
    retyped,
    same_node,
    users,
    with_origin,
)

from .tuples import items_of, simplified

_GRAPHS = {call: ("graph",), cond: ("then", "orelse"), while_loop: ("cond", "body"), scan: ("body",)}


@dataclass(frozen=True)
class Control:
    """Simplifies control operators."""

    name: str = "control"

    def run(self, graph: Graph) -> Graph:
        graph = _Operands(graph).graph(graph)
        return _Results(graph).graph(graph)


# ---- one node -------------------------------------------------------------------------------------------------------


class _Operands(Rebuild):
    def __init__(self, graph: Graph) -> None:
        super().__init__(self._emit, graph)
        self.recursive = recursive_graphs(graph)

    def _emit(self, node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
        graphs = [attrs[k] for k in _GRAPHS.get(node.op, ())]
        if not graphs or any(g in self.recursive for g in graphs):
            return simplified(node, operands, attrs)
        taken = _straightened(node, operands, attrs)
        if taken is not None:
            return taken
        if node.op in (while_loop, scan):
            return _loop(node, operands, attrs)
        return _branch(node, operands, attrs)


def _straightened(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node | None:
    """The result where it is known which way control goes."""
    first = operands[0] if operands else None
    if node.op is cond:
        if isinstance(first, Const):
            return _inlined(node, attrs["then" if first.value else "orelse"], operands[1:])
        if attrs["then"] is attrs["orelse"] or equal(attrs["then"], attrs["orelse"]):
            return _inlined(node, attrs["then"], operands[1:])
    elif node.op is scan and isinstance(first, Const):
        if first.value <= 0:
            return _same_type(node, _tuple(node, operands[1 : 1 + attrs["n_carry"]]))
        if first.value == 1:
            return _inlined(node, attrs["body"], (node.context.const(0), *operands[1:]))
    elif node.op is while_loop:
        test = attrs["cond"].output
        if isinstance(test, Const) and not test.value:
            return _same_type(node, _tuple(node, operands[: attrs["n_carry"]]))
    return None


def _inlined(node: Apply, graph: Graph, args: Sequence[Node]) -> Node | None:
    return _same_type(node, inline(graph, args)) if can_inline(graph) else None


def _same_type(node: Apply, new: Node) -> Node | None:
    """``new`` in the place of ``node``, unless others know its sizes by names that only ``node`` gives them."""
    return new if new.type == node.type else None


def _tuple(node: Node, items: Sequence[Node]) -> Apply:
    return node.context.apply(make_tuple, tuple(items), {})


def _branch(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
    """``call`` and ``cond`` with operands that say something, and results that are operands handed through."""
    names = _GRAPHS[node.op]
    lead = 1 if node.op is cond else 0
    graphs, kept = _with_operands([attrs[n] for n in names], operands[lead:], 0)
    new_operands = (*operands[:lead], *kept)
    attrs = {**attrs, **dict(zip(names, graphs, strict=True))}
    new = same_node(node, new_operands, node.attrs if _same_graphs(attrs, node.attrs) else attrs)
    if isinstance(new.type, TupleType) and not any(isinstance(t, TupleType) for t in new.type.items):
        return _handed_through(node, new, graphs, kept)
    return new


def _handed_through(node: Apply, new: Node, graphs: list[Graph], args: Sequence[Node]) -> Node:
    """Results that every branch gives from the same parameter, or as the same constant, need no branch."""
    items = [items_of(g.output) for g in graphs]
    results = items_of(new)
    found = False
    for i, alternatives in enumerate(zip(*items, strict=True)):
        if all(isinstance(a, Const) and a is alternatives[0] for a in alternatives):
            results[i], found = alternatives[0], True
            continue
        positions = {g.params.index(a) if a in g.params else -1 for g, a in zip(graphs, alternatives, strict=True)}
        if len(positions) == 1 and -1 not in positions:
            results[i], found = args[positions.pop()], True
    return with_origin(_tuple(node, results), node) if found else new


def _loop(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
    """Loops: carries that never change become invariants; invariants that say something move in."""
    names = _GRAPHS[node.op]
    lead, n = (1 if node.op is scan else 0), attrs["n_carry"]
    carry, invariants = operands[lead : lead + n], operands[lead + n :]
    body: Graph = attrs["body"]
    graphs = [attrs[name] for name in names]
    outputs = items_of(body.output)
    fixed = [i for i in range(n) if outputs[i] is body.params[lead + i]]
    if len(fixed) == n and node.op is while_loop:
        fixed = fixed[1:]
    if fixed:
        moving = [i for i in range(n) if i not in fixed]

        def order(params: Sequence[Param]) -> list[Param]:
            skip = len(params) - n - len(invariants)  # the counter of a scan
            carries = params[skip : skip + n]
            rest = params[skip + n :]
            return [*params[:skip], *[carries[i] for i in moving], *[carries[i] for i in fixed], *rest]

        context = node.context
        new_graphs = []
        for g in graphs:
            output = _tuple(node, [outputs[i] for i in moving]) if g is body else g.output
            new_graphs.append(context.graph(g.name, tuple(order(g.params)), output))
        new_attrs = {**attrs, **dict(zip(names, new_graphs, strict=True)), "n_carry": len(moving)}
        operands_ = (*operands[:lead], *[carry[i] for i in moving], *[carry[i] for i in fixed], *invariants)
        loop = _with_results(node, context.apply(node.op, operands_, new_attrs, node.tag), moving)
        results = [with_origin(item, node) for item in items_of(loop)]
        return _tuple(node, [results[moving.index(i)] if i in moving else carry[i] for i in range(n)])
    graphs, kept = _with_operands(graphs, invariants, n, [len(g.params) - n - len(invariants) for g in graphs])
    attrs = {**attrs, **dict(zip(names, graphs, strict=True))}
    same = node.attrs if _same_graphs(attrs, node.attrs) else attrs
    return same_node(node, (*operands[: lead + n], *kept), same)


def _same_graphs(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(a[k] is b[k] for k in a)


def _with_operands(
    graphs: list[Graph], args: Sequence[Node], offset: int, leads: list[int] | None = None
) -> tuple[list[Graph], tuple[Node, ...]]:
    """Graphs that know what is known about their arguments, and the arguments that remain.

    Args:
        graphs: closed graphs that all get ``args``, behind a lead and ``offset`` other parameters.
        args: what they get.
        offset: number of parameters (carries) in front that are not touched.
        leads: further parameters in front, per graph.
    """
    starts = [offset + lead for lead in (leads or [0] * len(graphs))]
    read = [_params_read(g) for g in graphs]
    keep: list[int] = []
    mappings: list[dict[Node, Node]] = [{} for _ in graphs]
    for i, arg in enumerate(args):
        if not any(g.params[s + i] in r for g, s, r in zip(graphs, starts, read, strict=True)):
            continue
        earlier = next((j for j in keep if args[j] is arg), None)
        if isinstance(arg, Const):
            for g, s, m in zip(graphs, starts, mappings, strict=True):
                m[g.params[s + i]] = arg
        elif earlier is not None and not isinstance(arg.type, TokenType):
            for g, s, m in zip(graphs, starts, mappings, strict=True):
                m[g.params[s + i]] = g.params[s + earlier]
        else:
            keep.append(i)
    if len(keep) == len(args):
        return graphs, tuple(args)
    new = []
    for g, s, mapping in zip(graphs, starts, mappings, strict=True):
        params = (*g.params[:s], *[g.params[s + i] for i in keep])
        output = Rebuild(same_node, g, descend=False).nodes(g, dict(mapping)) if mapping else g.output
        new.append(g.context.graph(g.name, params, output))
    return new, tuple(args[i] for i in keep)


def _params_read(graph: Graph) -> set[Node]:
    """The parameters that ``graph`` reads: values, or the sizes that only attributes mention."""
    read: set[Node] = {o for node in graph.nodes for o in node.operands if isinstance(o, Param)}
    if isinstance(graph.output, Param):
        read.add(graph.output)
    mentioned = _mentioned(graph)
    if mentioned:
        told = {s for p in read for s in told_sizes(p.type)}.union(*map(introduced, graph.nodes))
        for param in graph.params:
            if not mentioned.isdisjoint(set(told_sizes(param.type)) - told):
                read.add(param)
                told.update(told_sizes(param.type))
    return read


def _mentioned(graph: Graph) -> set[Symbol]:
    """The sizes that attributes of the nodes of ``graph`` are computed from."""
    return set().union(*map(sizes_in_attrs, graph.nodes))


# ---- results that nobody reads --------------------------------------------------------------------------------------


class _Results(Rebuild):
    """Drops results of control operators that nobody reads."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(self._emit, graph)
        self.recursive = recursive_graphs(graph)
        self.read: dict[Node, set[int]] = {}

    def nodes(self, graph: Graph, mapping: dict[Node, Node]) -> Node:
        """As `Rebuild.nodes`, after the readers of each value were found."""
        readers = users(graph)
        mentioned = _mentioned(graph)
        for node in graph.nodes:
            self.read.pop(node, None)  # another graph may have the same node, and read less of it
            if node.op in _GRAPHS and isinstance(node.type, TupleType) and node is not graph.output:
                using = readers.get(node, [])
                if all(u.op is tuple_get or u.op is anchor for u in using):
                    self.read[node] = {u.attrs["index"] for u in using if u.op is tuple_get}
                    if mentioned and finds_sizes(node):  # attributes may know sizes by the names they have here
                        items = enumerate(node.type.items)
                        self.read[node] |= {i for i, t in items if not mentioned.isdisjoint(symbols_in(t))}
        return super().nodes(graph, mapping)

    def _emit(self, node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
        read = self.read.get(node)
        if read is None or any(attrs[k] in self.recursive for k in _GRAPHS[node.op]):
            return simplified(node, operands, attrs)
        assert isinstance(node.type, TupleType)
        wanted = _wanted_results(node, attrs, read)
        if len(wanted) == len(node.type.items):
            return same_node(node, operands, attrs)
        order = sorted(wanted)
        new = (_fewer_carries if node.op in (while_loop, scan) else _fewer_results)(node, operands, attrs, order)
        results = {i: with_origin(item, node) for i, item in zip(order, items_of(new), strict=True)}
        context = node.context
        return _tuple(node, [
            results[i] if i in results else context.apply(undef, (), {"type": t}) for i, t in enumerate(node.type.items)
        ])  # fmt: skip


def _wanted_results(node: Apply, attrs: dict[str, Any], read: set[int]) -> set[int]:
    """The results that are to be computed; one at least, by which an anchor holds the node that nobody reads."""
    assert isinstance(node.type, TupleType)
    if node.op not in (while_loop, scan):
        return read or {0}
    return _needed_carries(node, attrs, read) or _needed_carries(node, attrs, {0} if node.type.items else set())


def _needed_carries(node: Apply, attrs: dict[str, Any], read: set[int]) -> set[int]:
    """The carries that are read, or on which the condition or another needed carry depends."""
    body: Graph = attrs["body"]
    n, lead = attrs["n_carry"], 1 if node.op is scan else 0
    carries = {p: i for i, p in enumerate(body.params[lead : lead + n])}
    needed, work = set(read), set(read)
    if node.op is while_loop:
        of_test = {p: i for i, p in enumerate(attrs["cond"].params[:n])}
        work |= {of_test[p] for p in _params_of(attrs["cond"].output) if p in of_test}
    outputs = items_of(body.output)
    # Effects inside must go on happening: what carries a token is needed.
    work |= {i for i, p in enumerate(body.params[lead : lead + n]) if isinstance(p.type, TokenType)}
    needed |= work
    while work:
        i = work.pop()
        for p in _params_of(outputs[i]):
            if p in carries and carries[p] not in needed:
                needed.add(carries[p])
                work.add(carries[p])
    return needed


def _params_of(root: Node) -> set[Param]:
    return {n for n in reachable(root) if isinstance(n, Param)}


def _fewer_carries(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any], order: list[int]) -> Node:
    """The loop with the carries of ``order`` only."""
    n, lead = attrs["n_carry"], 1 if node.op is scan else 0
    new_attrs = dict(attrs, n_carry=len(order))
    for name in _GRAPHS[node.op]:
        g: Graph = attrs[name]
        skip = lead if name == "body" else 0
        params = (*g.params[:skip], *[g.params[skip + i] for i in order], *g.params[skip + n :])
        output = g.output
        if name == "body":
            items = items_of(g.output)
            output = keeping_sizes(g, {}, _tuple(node, [items[i] for i in order]))
        new_attrs[name] = node.context.graph(g.name, params, output)
    carry = operands[lead : lead + n]
    new_operands = (*operands[:lead], *[carry[i] for i in order], *operands[lead + n :])
    return _with_results(node, node.context.apply(node.op, new_operands, new_attrs, node.tag), order)


def _with_results(node: Apply, new: Apply, order: list[int]) -> Node:
    """``new``, which gives the results ``order`` of ``node``."""
    assert isinstance(node.type, TupleType)
    return with_origin(retyped(new, TupleType(tuple([node.type.items[i] for i in order]))), node)


def _fewer_results(node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any], order: list[int]) -> Node:
    """The call or branch with the results of ``order`` only."""
    new_attrs = dict(attrs)
    for name in _GRAPHS[node.op]:
        g: Graph = attrs[name]
        items = items_of(g.output)
        output = keeping_sizes(g, {}, _tuple(node, [items[i] for i in order]))
        new_attrs[name] = g.context.graph(g.name, g.params, output)
    return _with_results(node, node.context.apply(node.op, operands, new_attrs, node.tag), order)
