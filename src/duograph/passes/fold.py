"""Constant folding: what depends on constants only is computed now, by the kernel that would compute it later.

    %0 = add(const<f32[]>1.0, const<f32[]>2.0)      ->      const<f32[]>3.0

Not folded: effects, control operators, symbolic sizes, results that would be large (``max_elements``) and computations
that fail, whose error belongs to run time. ``full`` counts as a constant, but is not made one: it is shorter as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from duograph.core.dim import Dim
from duograph.core.kernel import as_value, compute
from duograph.core.types import ScalarType, TensorType, Type
from duograph.ir.node import Apply, Const, Graph, Node, is_wide, sizes_in_attrs
from duograph.ir.walk import rebuild, same_node, with_origin
from duograph.ops.creation import full


@dataclass(frozen=True)
class Fold:
    """Folds constants whose results have at most ``max_elements`` elements."""

    name: str = "fold"
    max_elements: int = 1 << 14

    def run(self, graph: Graph) -> Graph:
        return rebuild(graph, self._emit)

    def _emit(self, node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
        new = same_node(node, operands, attrs)
        if not isinstance(new, Apply) or not operands or new.op.structured or new.op.effects:
            return new
        if not self._is_small(new.type) or not all(self._is_known(o) for o in operands) or sizes_in_attrs(new):
            return new
        try:
            value = as_value(compute(new.op, [_value(o) for o in operands], attrs), new.type)
        except (ArithmeticError, TypeError, ValueError, IndexError, RuntimeError):  # raised again at run time
            return new
        if isinstance(value, np.ndarray):
            value = np.array(value, order="C")
        const = node.context.const(value)
        return with_origin(const, node) if const.type == new.type and not is_wide(const) else new

    def _is_small(self, type: Type) -> bool:
        if isinstance(type, ScalarType):
            return True
        return (
            isinstance(type, TensorType)
            and all(isinstance(n, int) for n in type.shape)
            and math.prod([n for n in type.shape if isinstance(n, int)]) <= self.max_elements
        )

    def _is_known(self, node: Node) -> bool:
        if isinstance(node, Const):
            return isinstance(node.type, TensorType | ScalarType)
        return (
            isinstance(node, Apply)
            and node.op is full
            and not isinstance(node.attrs["value"], Dim)
            and self._is_small(node.type)
        )


def _value(node: Node) -> Any:
    return node.value if isinstance(node, Const) else compute(node.op, [], node.attrs)  # type: ignore[attr-defined]
