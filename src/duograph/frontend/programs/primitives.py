"""Primitives that only captured programs contain: effects on the Python world."""

from __future__ import annotations

from duograph.core.op import primitive
from duograph.core.types import TOKEN
from duograph.ir.control import anchor


@primitive
class py_effect:
    """``target(*values)`` for its effect; gives the next token. Never folded, moved or dropped."""

    effects = ("io",)
    layout = "any"

    def infer(token, *operands, target):
        return TOKEN

    def reference(token, *operands, target):
        target(*operands)


__all__ = ["anchor", "py_effect"]
