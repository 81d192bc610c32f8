"""Calling a compiled graph from dynamic mode, with gradients.

A `GraphFunction` is a graph and something that runs it. Under a tape the call is one entry: the forward graph with
residuals runs, and its pull runs the backward graph, which is again called through the GraphFunction, so that outer
tapes record it (gradients of any order).

What a tape makes of a call depends on the graph and on which inputs it watches, not on the call: a `Level` has it. With
several tapes, the innermost one differentiates the graph, the next one what that gives: levels are a chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from duograph.core.op import rules_version, state
from duograph.core.types import TupleType
from duograph.ir.node import Graph
from duograph.tensor.eager import wrap_result
from duograph.tensor.tensor import Tensor

from . import recording  # noqa: F401 (the recording rules of control ops register themselves)
from .entries import Underivable
from .levels import Level
from .tape import Tape, taping
from .unfold import can_unfold, unfold

Run = Callable[[Graph, list[Any]], Any]
Call = Callable[..., Sequence[Any]]
"""``(*inputs) -> outputs``: Tensors, numbers and residual objects."""


class GraphFunction:
    """``graph``, run by ``run(graph, values) -> value of its output`` on arrays, numbers and residual objects.

    Args:
        graph: any closed graph.
        run: runs it, and what is derived from it.
        native: ``(graph, inputs) -> call`` gives something faster than ``run`` for inputs of this kind; ``None``: not
            now.
    """

    def __init__(self, graph: Graph, run: Run, native: Callable[[Graph, Sequence[Any]], Call | None] | None = None):
        self.graph, self.run, self.native = graph, run, native
        self.calls: dict[Graph, Call] = {}
        self._levels: dict[Any, Level] = {}

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Outputs for Tensors and numbers; recorded by the active tapes."""
        return self.call(self.graph, list(inputs))

    def call(self, graph: Graph, inputs: Sequence[Any], is_backward: bool = False) -> list[Any]:
        """Runs ``graph`` in dynamic mode, and tells the tapes.

        Raises:
            Underivable: tapes need what only plain Python can tell. Backward graphs are run op by op, then.
        """
        tapes = state.tapes
        chain: list[tuple[Level, Tape, Sequence[Any]]] = []
        inner, is_seen = graph, False  # whether outer tapes have recorded it already
        for k in range(len(tapes) - 1, -1, -1):
            variables = [tapes[k].variable(x) for x in inputs]
            if all(v is None for v in variables):
                continue
            try:
                level = self.level(inner, tuple([v is not None for v in variables]))
            except Underivable:
                if not (is_backward and can_unfold(inner)):
                    raise
                with taping(tapes[: k + 1]):
                    results, is_seen = unfold(inner, inputs), True
                break
            chain.append((level, tapes[k], variables))
            inner = level.forward
        else:
            with taping([]):
                results = list(self.call_of(inner, inputs)(*inputs))
        return record(chain, inputs, results, is_seen)

    def level(self, graph: Graph, active: tuple[bool, ...]) -> Level:
        """What a tape that watches the inputs ``active`` makes of calls of ``graph``.

        Raises:
            Underivable: it needs what only plain Python can tell.
        """
        key = graph, active, rules_version[0]
        found = self._levels.get(key)
        if found is None:
            found = self._levels[key] = Level(self, graph, active)
        return found

    def call_of(self, graph: Graph, inputs: Sequence[Any]) -> Call:
        """What runs ``graph`` on inputs like these while no tape records."""
        found = self.calls.get(graph) if state.observer is None else partial(self.run_on, graph)
        if found is None:
            found = partial(self.run_on, graph) if self.native is None else self.native(graph, inputs)
            if found is None:
                return partial(self.run_on, graph)
            self.calls[graph] = found
        return found

    def run_on(self, graph: Graph, *inputs: Any) -> Sequence[Any]:
        """What ``run`` gives for Tensors and numbers."""
        out = self.run(graph, [x.array() if isinstance(x, Tensor) else x for x in inputs])
        outs = list(out) if isinstance(graph.output.type, TupleType) else [out]
        return [wrap_result(o) if isinstance(o, np.ndarray | np.generic) else o for o in outs]


def record(
    chain: Sequence[tuple[Level, Tape, Sequence[Any]]], ins: Sequence[Any], results: list[Any], is_seen: bool = False
) -> list[Any]:
    """Tells tapes of a call whose innermost forward graph gave ``results``; gives what the call gives.

    Args:
        chain: levels and their tapes, innermost first, with the variables of ``ins``.
        ins: what the call was given.
        results: of the forward graph of the last level.
        is_seen: whether tapes further out have recorded the call.
    """
    for level, tape, variables in reversed(chain):
        results = level.record(tape, ins, variables, results, is_seen)
        is_seen = True
    return results
