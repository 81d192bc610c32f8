"""What the results of a graph may be besides values of their own: operands, or each other, on some path.

To a tape that sees a program run, a tensor that a branch passes on is one variable; around the graph of the branch,
result and operand are two. `Derivative.shared` tells walks which those are; they look whether a sum suffers from it.
"""

from __future__ import annotations

from typing import Any

from duograph.core.types import TupleType
from duograph.ir.control import call, cond, make_tuple, scan, tuple_get, while_loop
from duograph.ir.interpreter import run
from duograph.ir.memo import Memo
from duograph.ir.node import Apply, Const, Graph, Node, Param, reachable, sizes_in_attrs

Origins = dict[Any, None]  # a set in order


_ORIGINS: Memo[Graph, list[Origins]] = Memo("origins of results")


def origins_of_results(graph: Graph) -> list[Origins]:
    """Per output of ``graph``, the values that it may be: itself, or what branches, loops and called graphs pass on."""
    memo = _ORIGINS.of(graph.context)
    found = memo.get(graph)
    if found is None:
        known: dict[Node, Origins] = {}
        for node in graph.nodes:
            if node.op is tuple_get and isinstance(node.operands[0], Apply):
                known[node] = _origins(node, node.operands[0], node.attrs["index"], known)
            elif node.op in (cond, call) and not isinstance(node.type, TupleType):
                known[node] = _origins(node, node, 0, known)
        out = graph.output
        if not isinstance(out.type, TupleType):
            found = [known.get(out, {out: None})]
        elif isinstance(out, Apply) and out.op is make_tuple:
            found = [known.get(o, {o: None}) for o in out.operands]
        else:
            assert isinstance(out, Apply)
            found = [_origins((out, i), out, i, known) for i in range(len(out.type.items))]
        memo[graph] = found
    return found


def _origins(value: Any, producer: Apply, index: int, known: dict[Node, Origins]) -> Origins:
    """What ``value`` may be, a result of ``producer``."""
    operands = producer.operands
    if producer.op is while_loop or producer.op is scan:  # there may be no iteration
        start = operands[index + (producer.op is scan)]
        return {value: None, **known.get(start, {start: None})}
    if producer.op is not cond and producer.op is not call:
        return {value: None}
    keys: tuple[str, ...] = ("graph",)
    if producer.op is cond:
        taken = constant_test(operands[0])
        keys = ("then", "orelse") if taken is None else ("then",) if taken else ("orelse",)
        operands = operands[1:]
    found: Origins = {}
    for key in keys:
        graph: Graph = producer.attrs[key]
        for origin in origins_of_results(graph)[index]:
            if isinstance(origin, Param):
                operand = operands[graph.params.index(origin)]
                found.update(known.get(operand, {operand: None}))
            else:
                found[producer, key, origin] = None
    return found


def constant_test(test: Node) -> bool | None:
    """The value of the test of a branch if that is the same in every run: it is computed without the sizes, too, that
    only a run knows."""
    if any(map(_varies, reachable(test))):
        return None
    if isinstance(test, Const):
        return bool(test.value)
    try:
        return bool(run(test.context.graph(test.context.fresh_name("test"), (), test)))
    except (ArithmeticError, TypeError, ValueError, IndexError, RuntimeError):  # raised by the run that gets there
        return None


def _varies(node: Node) -> bool:
    """Whether another run may give another value of ``node``, by itself and not for its operands' sake."""
    if isinstance(node, Apply):
        return bool(node.op.effects or sizes_in_attrs(node))
    return isinstance(node, Param)
