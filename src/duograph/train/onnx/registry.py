"""Where the operators of MindIR enter what they are in ONNX: ``operator(writer, node, *names, **attributes)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.ir.node import Apply

from .writer import Writer, dtype_of

__all__ = ["OPERATORS", "number", "operator", "type_of"]

OPERATORS: dict[str, Callable[..., Any]] = {}


def operator(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function for the operators of some names."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return enter


def type_of(node: Apply, index: int = 0) -> Any:
    """NumPy's dtype of an operand."""
    return dtype_of(node.operands[index].type)


def number(w: Writer, node: Apply, value: float) -> str:
    """A number of the dtype of the first operand."""
    return w.constant(np.array(value, type_of(node)))
