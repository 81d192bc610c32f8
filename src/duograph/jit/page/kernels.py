"""Kernels of compiled functions as objects: what each computes, of which lines, and its code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from duograph.base.source import CalledSpan, Span
from duograph.ir.node import Apply, Graph
from duograph.ir.printer import all_graphs
from duograph.lower.emit.functions import emit_functions
from duograph.lower.loop.ir import Function
from duograph.lower.target import current_target
from duograph.runtime.kernels.kernels import calls_of
from duograph.runtime.programs.steps import steps_of, traffic_of
from duograph.runtime.programs.work import arithmetic_of, flops_of_nodes

__all__ = ["Kernel", "kernels_of", "layer_of_node", "spans_of"]


@dataclass(frozen=True)
class Kernel:
    """A call of machine code in a compiled graph, or a step that runs in Python.

    Attributes:
        name: of the code; equal kernels have one name.
        operators: what it computes.
        spans: the user's expressions that these come from.
        layers: the layers that they are in: ``Net.fc (Dense)``.
        bytes: of operands and results, each counted once; ``None`` where sizes vary. Of several calls that make up an
            operator, the one that does its arithmetic has them, and its operations.
        flops: floating-point operations (`runtime.programs.work`); ``None`` where sizes vary.
        seconds: a call, on average, in the latest `duograph.profile`; ``None``: there is none.
        reason: why it runs in Python; empty: it does not.
        nodes: of the graph.
    """

    name: str
    operators: tuple[str, ...]
    spans: tuple[Span, ...]
    layers: tuple[str, ...]
    bytes: int | None
    flops: int | None = None
    seconds: float | None = None
    reason: str = ""
    nodes: tuple[Apply, ...] = field(default=(), repr=False)
    _function: Function | None = field(default=None, repr=False)

    @property
    def loops(self) -> str:
        """Its loop nest, as text; empty for a step in Python."""
        return "" if self._function is None else self._function.text

    @property
    def llvm(self) -> str:
        """Its LLVM text for this machine, before LLVM optimises it; empty for a step in Python."""
        return "" if self._function is None else emit_functions([self._function], current_target())


def kernels_of(graph: Graph, level: int, events: Sequence[Any] = ()) -> Iterator[Kernel]:
    """The kernels of a graph and of those that it refers to, in order.

    Args:
        graph: an optimised graph.
        level: of optimisation in the code generator (`jit.entry.LEVELS`).
        events: of a profile of its calls.
    """
    durations: dict[Any, list[int]] = defaultdict(list)
    for event in events:
        durations[event.symbol, event.operators].append(event.duration)

    def seconds(symbol: str, operators: tuple[str, ...]) -> float | None:
        found = durations.get((symbol, operators))
        return sum(found) / len(found) / 1e9 if found else None

    for part in all_graphs(graph):
        for step in steps_of(part, level):
            nodes = tuple(dict.fromkeys(step.inside or step.nodes))
            told: dict[str, Any] = {
                "operators": tuple([node.op.name for node in nodes]),
                "spans": tuple(dict.fromkeys(span for node in nodes for span in spans_of(node))),
                "layers": tuple(dict.fromkeys(layer for node in nodes if (layer := layer_of_node(node)))),
                "nodes": nodes,
            }
            if step.lowering is not None:
                arithmetic = arithmetic_of(step.lowering)
                for call in calls_of(step.lowering):
                    is_it = call.function is arithmetic
                    moved, flops = (traffic_of(step.lowering), flops_of_nodes(nodes)) if is_it else (0, 0)
                    symbol = call.function.symbol
                    took = seconds(symbol, told["operators"])
                    yield Kernel(symbol, bytes=moved, flops=flops, seconds=took, _function=call.function, **told)
            elif step.reason:
                took = seconds("", told["operators"])
                yield Kernel(f"{step.nodes[0].op.name} (Python)", bytes=None, seconds=took, reason=step.reason, **told)


def spans_of(node: Apply) -> list[Span]:
    """The user's expressions that a node comes from."""
    return [span.users for span in node.context.origins.get(node, ())]


def layer_of_node(node: Apply) -> str:
    """The layer that a node is in; empty: none, or it is not known."""
    return next((s.layer for s in node.context.origins.get(node, ()) if isinstance(s, CalledSpan)), "")
