"""Gradients of values in the middle of a call that is being stepped through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.autodiff.compiled import GraphFunction
from duograph.autodiff.grads import grad
from duograph.autodiff.unfold import Unfolding, can_unfold
from duograph.base.tree import leaves
from duograph.core.types import TensorType
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Apply, Graph, Node
from duograph.ir.walk import substitute
from duograph.tensor.tensor import Tensor, wrap

from .run import Run

__all__ = ["gradient_of"]


def gradient_of(run: Run, name: str, function: str = "") -> Any:
    """The gradient of the sum of the floating-point results of a run for the value that a variable has now.

    Args:
        run: of the outermost graph.
        name: of the variable.
        function: of the user, that it is a variable of; others are asked if that has none of this name.

    Raises:
        LookupError: no value of the graph has this name.
        ValueError: it has no gradient: it is no floating-point tensor, or the result none; or it is a value within a
            branch or loop of a program that is not run again for it (it has effects, or gradients of its own).
    """
    node, at, value = _named(run, name, function)
    if value is None:
        raise ValueError(
            f"the value of {name} is not kept any more: go back to where it is computed, or step with more of 'keep'"
        )
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fcV":
        raise ValueError(f"{name} is not a tensor of floating-point numbers")
    return grad(lambda x: _total(_results(run, node, at, x)))(wrap(value.copy()))


def _total(results: Sequence[Any]) -> Any:
    sums = [y.sum() for y in results if isinstance(y, Tensor) and y.dtype.is_floating]
    if not sums:
        raise ValueError("the call gives no tensor of floating-point numbers")
    return sum(sums[1:], sums[0])


def _results(run: Run, node: Node, at: int, x: Any) -> Sequence[Any]:
    """What the call gives if ``node``, the run's ``at``-th one, or a parameter, is ``x``."""
    graph = run.graph
    if node not in graph.params and node not in graph.nodes:
        if not can_unfold(graph):
            raise ValueError(f"a value in a branch or loop of @{graph.name}, which is not run again for its gradient")
        out = _Given(at, x).run(graph, [wrap(v) if isinstance(v, np.ndarray) else v for v in run.inputs])
        return [wrap(y) if isinstance(y, np.ndarray) else y for y in leaves(out)]
    if node in graph.params:
        index, others = graph.params.index(node), list(run.inputs)  # type: ignore[arg-type]
        cut: Graph = graph
    else:
        param = graph.context.param(graph.context.fresh_name("x"), node.type)
        inner = substitute(graph, {node: param})
        cut = graph.context.graph(graph.context.fresh_name(graph.name), (*graph.params, param), inner.output)
        index, others = len(graph.params), [*run.inputs, None]
    function = GraphFunction(cut, lambda g, values: Interpreter().run(g, values))
    inputs = [wrap(v) if isinstance(v, np.ndarray) else v for v in others]
    found: Sequence[Any] = function([*inputs[:index], x, *inputs[index + 1 :]])
    return found


class _Given(Unfolding):
    """Runs a graph with another value for one of the nodes of the run."""

    def __init__(self, at: int, x: Any) -> None:
        self._at, self._x, self._count = at, x, -1

    def run_node(self, node: Apply, operands: list[Any]) -> Any:
        self._count += 1
        return self._x if self._count == self._at else super().run_node(node, operands)


def _named(run: Run, name: str, function: str) -> tuple[Node, int, Any]:
    """The node that a name stands for now, how many nodes were run before it, and its value."""
    found: dict[bool, tuple[Node, int, Any]] = {}
    for param, value in zip(run.graph.params, run.inputs, strict=True):
        if param.name == name and isinstance(param.type, TensorType):
            found[function == run.function] = param, -1, value
    for at in range(run.position):
        node = run.nodes[at].node
        for owner, variable in node.context.variables.get(node, ()):
            if variable == name:
                found[owner == function] = node, at, run.value_at(at)
    if not found:
        raise LookupError(f"no value of the graph has the name {name!r}")
    return found.get(True) or found[False]
