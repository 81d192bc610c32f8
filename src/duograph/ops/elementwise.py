"""Elementwise operators as families: type rules, declarations of one and of two operands, batching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.op import NOT_DIFFERENTIABLE, Op, define, get_op
from duograph.core.shapes import broadcast_shapes
from duograph.core.types import TensorType, Type

from .movement import reshape, sum_to
from .rules import camel, in_float32, require_kind, same_dtype


def elementwise(op: str, kinds: str = "bifc") -> Callable[..., TensorType]:
    """Type rule of elementwise ops: one dtype, broadcast shapes."""

    def infer(x: Type, y: Type) -> TensorType:
        dtype = same_dtype(op, x, y)
        require_kind(op, x, kinds)
        return TensorType(dtype, broadcast_shapes(x.shape, y.shape, op=camel(op)))  # type: ignore[attr-defined]

    return infer


def comparison(op: str, kinds: str = "bifc") -> Callable[..., TensorType]:
    """Type rule of comparisons: one dtype in, bool out."""
    same = elementwise(op, kinds)
    return lambda x, y: same(x, y).with_dtype(dt.bool_)


def elementwise_batch(name: str) -> Any:
    """Batch rule of broadcasting elementwise ops: batch axes in front, ranks aligned behind them."""

    def batch(in_axes: tuple[int | None, ...], operands: tuple[Any, ...], **attrs: Any) -> tuple[Any, Any]:
        ranks = [len(x.shape) - (axis is not None) for axis, x in zip(in_axes, operands, strict=True)]
        rank = max(ranks)
        aligned = [
            reshape(x, shape=(x.shape[0], *(1,) * (rank - r), *x.shape[1:])) if axis is not None and r < rank else x
            for axis, x, r in zip(in_axes, operands, ranks, strict=True)
        ]
        return get_op(name)(*aligned, **attrs), 0

    return batch


def unary(
    name: str,
    reference: Callable[..., Any],
    bprop: Any = NOT_DIFFERENTIABLE,
    doc: str = "",
    layout: str = "contiguous",
    result: Callable[[TensorType], TensorType] = lambda x: x,
    kinds: str = "bifc",
    **rules: Any,
) -> Op:
    """Declares an elementwise op of one operand; ``bprop(x, out, dout)`` gives the one gradient.

    float16 and bfloat16 are computed in float32 and rounded once.
    """

    def infer(x):  # type: ignore[no-untyped-def]
        return result(require_kind(name, x, kinds))

    def rule(ins: Any, out: Any, dout: Any) -> tuple[Any, ...]:
        return (bprop(ins[0], out, dout),)

    return define(
        name,
        __doc__=doc,
        infer=infer,
        reference=in_float32(reference),
        bprop=bprop if bprop is NOT_DIFFERENTIABLE else rule,
        layout=layout,
        **{"batch": elementwise_batch(name), **rules},
    )


def binary(
    name: str,
    reference: Callable[..., Any],
    bprop: Any = NOT_DIFFERENTIABLE,
    doc: str = "",
    layout: str = "any",
    kinds: str = "bifc",
    infer: Callable[..., TensorType] | None = None,
) -> Op:
    """Declares a broadcasting elementwise op of two operands.

    ``bprop(x, y, out, dout)`` gives a pair of gradients of the broadcast shape (values, thunks or ``None``); they are
    summed to the shapes of the operands here.
    """

    def rule(ins: Any, out: Any, dout: Any) -> tuple[Any, ...]:
        grads = bprop(*ins, out, dout)
        return tuple(_summed(grad, x) for grad, x in zip(grads, ins, strict=True))

    return define(
        name,
        __doc__=doc,
        infer=infer or elementwise(name, kinds),
        reference=in_float32(reference),
        bprop=bprop if bprop is NOT_DIFFERENTIABLE else rule,
        batch=elementwise_batch(name),
        layout=layout,
    )


def _summed(grad: Any, x: Any) -> Any:
    if grad is None:
        return None
    return lambda: sum_to(grad() if callable(grad) else grad, x.shape)


__all__ = ["binary", "comparison", "elementwise", "elementwise_batch", "unary"]
