"""Primitives that only captured programs contain: effects on the Python world, and marks of the frontend."""

from __future__ import annotations

from duograph.core.op import primitive
from duograph.core.types import TOKEN, TensorType


@primitive
class py_effect:
    """``target(*values)`` for its effect; gives the next token. Never folded, moved or dropped."""

    effects = ("io",)
    layout = "any"

    def infer(token, *operands, target):
        return TOKEN

    def reference(token, *operands, target):
        target(*operands)


@primitive
class relabel:
    """``x`` itself, with dimensions described by other symbols (a loop carry whose size changes)."""

    layout = "any"

    def infer(x, *, type):
        return type

    def reference(x, *, type):
        return x

    def bprop(ins, out, dout, *, type):
        return (relabel(dout, type=TensorType(type.dtype, tuple(ins[0].shape))),)
