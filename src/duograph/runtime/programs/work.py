"""How many floating-point operations an operator takes, by the usual count.

A product takes two for each pair that it multiplies and adds; so do convolutions and their gradients. An elementwise
operator takes one for each element of its result, whatever that costs, and a reduction one for each that it reads.
Comparisons, casts, choices, and what moves, draws or sorts elements take none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from duograph.core.op import Op
from duograph.core.types import TensorType, TupleType
from duograph.ir.node import Apply
from duograph.lower.loop.ir import Function
from duograph.lower.rule import Pointwise, rule_of
from duograph.runtime.kernels.kernels import calls_of

__all__ = ["arithmetic_of", "flops_of", "flops_of_nodes"]

_FREE = frozenset({"cast", "select", "neg", "abs", "sign"})
_ROWS = {"softmax": 5, "log_softmax": 5}
"""Operations per element: the largest, a difference, the exponential, the sum, and a quotient or a difference."""


def flops_of(op: Op, attrs: Mapping[str, Any], operands: Sequence[Any], results: Sequence[Any]) -> int | None:
    """The floating-point operations of one call.

    Args:
        op: the operator.
        attrs: its attributes.
        operands: tensors or tensor types; others have no ``shape``.
        results: likewise.

    Returns:
        How many; ``None`` where a size is not known.
    """
    out = results[0] if results else None
    dtype = getattr(out, "dtype", None)
    if dtype is None or not (dtype.is_floating or dtype.is_complex):
        return 0
    shapes = [tuple(x.shape) for x in (*operands, out) if getattr(x, "shape", None) is not None]
    if not shapes or any(not isinstance(n, int) for shape in shapes for n in shape):
        return None
    size, first = prod(shapes[-1]), prod(shapes[0])
    match op.name:
        case "matmul":
            return 2 * size * shapes[0][-2 if attrs.get("transpose_a") else -1]
        case "conv" | "conv_input_grad":
            return 2 * (size if op.name == "conv" else first) * prod(shapes[1][1:])
        case "conv_weight_grad":
            return 2 * prod(shapes[1]) * prod(shapes[-1][1:])
    if op.name.startswith(("reduce_", "cum")) or op.name in _ROWS:
        return first * _ROWS.get(op.name, 1)
    return size if op.name not in _FREE and isinstance(rule_of(op), Pointwise) else 0


def flops_of_nodes(nodes: Iterable[Apply]) -> int | None:
    """The floating-point operations of nodes of a graph; ``None`` where a size is not known."""
    total = 0
    for node in nodes:
        results = node.type.items if isinstance(node.type, TupleType) else (node.type,)
        known = [x.type if isinstance(x.type, TensorType) else None for x in node.operands]
        found = flops_of(node.op, node.attrs, known, results)
        if found is None:
            return None
        total += found
    return total


def arithmetic_of(lowering: Any) -> Function | None:
    """Of the calls of a lowering, the one that does its arithmetic: others arrange operands and results."""
    functions = [call.function for call in calls_of(lowering)]
    multiplying = [function for function in functions if "fma" in function.text]
    return next(iter(multiplying or functions[-1:]), None)
