"""Gradients of values in the middle of a call that is being stepped through."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.autodiff.compiled import GraphFunction
from duograph.autodiff.grads import grad
from duograph.core.types import TensorType
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Graph, Node
from duograph.ir.walk import substitute
from duograph.tensor.tensor import Tensor, wrap

from .run import Run

__all__ = ["gradient_of"]


def gradient_of(run: Run, name: str) -> Any:
    """The gradient of the sum of the floating-point results of a run for the value of a variable.

    Raises:
        LookupError: no value of the graph has this name.
        ValueError: it has no gradient: it is no floating-point tensor, or the result none.
    """
    node, value = _named(run, name)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fcV":
        raise ValueError(f"{name} is no tensor of floating-point numbers")
    graph = run.graph
    if node in graph.params:
        index, others = graph.params.index(node), list(run.inputs)  # type: ignore[arg-type]
        cut: Graph = graph
    else:
        param = graph.context.param(graph.context.fresh_name(name), node.type)
        inner = substitute(graph, {node: param})
        cut = graph.context.graph(graph.context.fresh_name(graph.name), (*graph.params, param), inner.output)
        index, others = len(graph.params), [*run.inputs, None]
    function = GraphFunction(cut, lambda g, values: Interpreter().run(g, values))
    inputs = [wrap(v) if isinstance(v, np.ndarray) else v for v in others]

    def total(x: Any) -> Any:
        results = [
            y
            for y in function([*inputs[:index], x, *inputs[index + 1 :]])
            if isinstance(y, Tensor) and y.dtype.is_floating
        ]
        if not results:
            raise ValueError("the call gives no tensor of floating-point numbers")
        sums = [y.sum() for y in results]
        return sum(sums[1:], sums[0])

    return grad(total)(wrap(value.copy()))


def _named(run: Run, name: str) -> tuple[Node, Any]:
    """The node of the outermost graph that a name stands for now, and its value."""
    found: tuple[Node, Any] | None = None
    for param, value in zip(run.graph.params, run.inputs, strict=True):
        if param.name == name and isinstance(param.type, TensorType):
            found = param, value
    outermost = set(run.graph.nodes)
    for at in range(run.position):
        node = run.nodes[at].node
        if node in outermost and name in [n for _, n in node.context.variables.get(node, ())]:
            found = node, run.value_at(at)
    if found is None:
        raise LookupError(
            f"no value of the outermost function has the name {name!r}; branches and loops have their own"
        )
    return found
