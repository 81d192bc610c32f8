"""The verifier: is this graph well-formed, and does it keep the contract of its stage?

Always: operands belong to the graph's context, graphs are closed, the type of each node is what its op infers, effect
tokens are used once (so that effects have one order), parameters have different names. Per stage:

    captured        anything the front ends emit
    differentiated  gradients are expanded: the same ops, and stacks of residuals
    canonical       no tags (equal computations are one node) and no marks that only gradients read

A broken graph is a fault of this package, never of the user: the error is internal, and shows the graph with the
complaint under the guilty node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from duograph.base.diagnostics import Diagnostic, InternalError
from duograph.base.failures import is_from_outside
from duograph.core.borders import stands_for, symbols_in
from duograph.core.types import TokenType

from .node import Apply, Const, Graph, Node, Param, finds_sizes, is_wide
from .printer import all_graphs, print_graph
from .walk import recursive_graphs


@dataclass(frozen=True)
class Stage:
    """What graphs may contain at one point of their way."""

    name: str
    forbidden: frozenset[str] = frozenset()
    tags: bool = True


STAGES = {
    stage.name: stage
    for stage in (
        Stage("captured"),
        Stage("differentiated"),
        Stage("canonical", forbidden=frozenset({"stop_gradient", "identity", "assigned"}), tags=False),
    )
}


class IllFormedGraph(InternalError):
    """A graph that breaks the rules of MindIR, or the contract of its stage."""


def verify(graph: Graph, stage: str = "captured", after: str = "") -> None:
    """Checks ``graph`` and everything it refers to.

    Args:
        graph: the entry.
        stage: whose contract it must keep; a key of `STAGES`.
        after: what was done to the graph last, for the message.

    Raises:
        IllFormedGraph: with code DG0702 (ill-formed) or DG0703 (breaks the contract).
    """
    contract = STAGES[stage]
    recursive = recursive_graphs(graph)
    for g in all_graphs(graph):
        for node, code, complaint in _complaints(g, contract, g in recursive):
            where = f" after {after}" if after else ""
            shown = print_graph(g, notes={node: complaint}) if node is not None else print_graph(g)
            message = f"@{g.name} is wrong{where} ({stage}): {complaint}"
            raise IllFormedGraph(Diagnostic(code, message, notes=(shown.rstrip(),)))


def _complaints(graph: Graph, stage: Stage, recursive: bool) -> Iterator[tuple[Node | None, str, str]]:
    context = graph.context
    names = [p.name for p in graph.params]
    if len(set(names)) != len(names):
        yield None, "DG0702", "two parameters have one name"
    params = set(graph.params)
    if isinstance(graph.output, Param) and graph.output not in params:
        yield None, "DG0702", f"the output %{graph.output.name} is free: it is not a parameter of this graph"
    token_uses: dict[Node, int] = {}
    computed: set[Node] = set()
    for node in graph.nodes:
        computed.add(node)
        for operand in node.operands:
            if isinstance(operand, Apply) and operand not in computed:
                yield node, "DG0702", f"the operand {operand!r} is computed after it"
            if operand.context is not context:
                yield node, "DG0702", f"the operand {operand!r} belongs to another context"
            if is_wide(operand):
                yield node, "DG0702", "a number does not fit into 64 bits"
            if isinstance(operand, Param) and operand not in params:
                yield node, "DG0702", f"%{operand.name} is free: it is not a parameter of this graph"
            given_back = node is graph.output and node.op.name == "make_tuple"  # which may happen twice
            if isinstance(operand.type, TokenType) and not isinstance(operand, Const) and not given_back:
                token_uses[operand] = token_uses.get(operand, 0) + 1
                if token_uses[operand] > 1:
                    yield node, "DG0702", "its token was used before: the order of effects is not defined"
        for value in node.attrs.values():
            if isinstance(value, Graph) and value.context is not context:
                yield node, "DG0702", f"@{value.name} belongs to another context"
        yield from _type_complaints(node)
        if node.op.name in stage.forbidden and not recursive:
            yield node, "DG0703", f"{node.op.name} must not occur in {stage.name} graphs"
        # what finds sizes (or did, before results were dropped) keeps its tag (`passes/canonicalise.py`)
        if node.tag and not stage.tags and not recursive and not (node.op.structured or finds_sizes(node)):
            yield node, "DG0703", f"tags must not occur in {stage.name} graphs"


def _type_complaints(node: Apply) -> Iterator[tuple[Node, str, str]]:
    types = tuple([o.type for o in node.operands])
    try:
        inferred = node.op.infer(*types, **node.attrs)
    except Exception as error:
        if is_from_outside(error):
            raise
        yield node, "DG0702", f"{node.op.name} does not take these operands: {error}"
        return
    if inferred != node.type and not (finds_sizes(node) and stands_for(node.type, inferred, symbols_in(types), {})):
        yield node, "DG0702", f"its type is {node.type}, but {node.op.name} gives {inferred}"
    if node.op.effects and not (types and isinstance(types[0], TokenType)):
        yield node, "DG0702", f"{node.op.name} has effects, its first operand must be a token"
