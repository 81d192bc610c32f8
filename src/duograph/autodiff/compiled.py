"""Calling a compiled graph from dynamic mode, with gradients.

A `GraphFunction` is a graph and something that runs it. Under a tape the call is one entry: the forward graph with
residuals runs, and its pull runs the backward graph, which is again called through a GraphFunction, so that outer tapes
record it (gradients of any order).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from duograph.core.op import state
from duograph.core.types import TupleType
from duograph.ir.node import Graph
from duograph.tensor.eager import wrap_result
from duograph.tensor.tensor import Tensor

from . import recording  # noqa: F401 (the recording rules of control ops register themselves)
from .control import finish_call
from .graph_vjp import derivative_of
from .tape import Underivable, taping
from .unfold import can_unfold, expand, pull_again, unfold

Run = Callable[[Graph, list[Any]], Any]


class GraphFunction:
    """``graph``, run by ``run(graph, values) -> value of its output`` on arrays, numbers and residual objects."""

    def __init__(self, graph: Graph, run: Run) -> None:
        self.graph, self.run = graph, run

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Outputs for Tensors and numbers; recorded by the active tapes."""
        return call_graph(self.graph, list(inputs), self.run)


def call_graph(graph: Graph, inputs: list[Any], run: Run, is_backward: bool = False) -> list[Any]:
    """Runs ``graph`` in dynamic mode; the innermost tape sees what is left when its own part has been split off.

    Raises:
        Underivable: tapes need what only plain Python can tell. Backward graphs are run op by op, then.
    """
    tapes = state.tapes
    if not tapes:
        values = [x.array() if isinstance(x, Tensor) else x for x in inputs]
        out = run(graph, values)
        outs = list(out) if isinstance(graph.output.type, TupleType) else [out]
        return [wrap_result(o) if isinstance(o, np.ndarray | np.generic) else o for o in outs]
    tape = tapes[-1]
    active = [tape.variable(x) is not None for x in inputs]
    if not any(active):
        with taping(tapes[:-1]):
            return call_graph(graph, inputs, run, is_backward)
    try:
        derivative = derivative_of(graph, active)
        forward = derivative.forward()
    except Underivable:
        if is_backward and can_unfold(graph):
            return unfold(graph, inputs)
        raise
    with taping(tapes[:-1]):
        results = call_graph(forward, inputs, run, is_backward)

    def launch(backward: Graph, args: list[Any]) -> list[Any]:
        return call_graph(backward, args, run, True)

    def again(operands: Sequence[Any], *cotangents: Any) -> list[Any]:
        return pull_again(graph, operands, *cotangents)

    unfolds = can_unfold(graph)
    out, entry = finish_call(tape, derivative, inputs, results, launch, again if unfolds else None)
    if unfolds and entry and not any(t.variable(x) is not None for t in tapes[:-1] for x in inputs):
        tape.calls.append((entry, partial(expand, graph=graph)))
    return [out] if derivative.single else list(out)
