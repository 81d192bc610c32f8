"""What op declarations share: type rules of uniform families, and gradients back through broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dtype import DType
from duograph.core.op import NOT_DIFFERENTIABLE, Op, define
from duograph.core.shapes import broadcast_shapes
from duograph.core.types import TensorType, Type


def tensor(op: str, x: Type) -> TensorType:
    """``x`` as a tensor type; `TypeError` naming ``op`` for anything else."""
    if not isinstance(x, TensorType):
        raise TypeError(f"{op} needs a Tensor, got {x}")
    return x


def same_dtype(op: str, *types: Type) -> DType:
    """The common dtype of the operands; primitives do not promote, the public functions do."""
    first = tensor(op, types[0]).dtype
    for t in types[1:]:
        if tensor(op, t).dtype is not first:
            raise TypeError(f"{op}: operands must have one dtype, got {' and '.join(str(t.dtype) for t in types)}")  # type: ignore[attr-defined]
    return first


def elementwise(op: str) -> Callable[..., TensorType]:
    """Type rule of elementwise ops: one dtype, broadcast shapes."""

    def infer(x: Type, y: Type) -> TensorType:
        dtype = same_dtype(op, x, y)
        return TensorType(dtype, broadcast_shapes(x.shape, y.shape))  # type: ignore[attr-defined]

    return infer


def comparison(op: str) -> Callable[..., TensorType]:
    """Type rule of comparisons: one dtype in, bool out."""

    def infer(x: Type, y: Type) -> TensorType:
        same_dtype(op, x, y)
        return TensorType(dt.bool_, broadcast_shapes(x.shape, y.shape))  # type: ignore[attr-defined]

    return infer


def unary(
    name: str,
    reference: Callable[..., Any],
    bprop: Any = NOT_DIFFERENTIABLE,
    doc: str = "",
    layout: str = "contiguous",
    result: Callable[[TensorType], TensorType] = lambda x: x,
    **rules: Any,
) -> Op:
    """Declares an elementwise op of one operand; ``bprop(x, out, dout)`` gives the one gradient.

    float16 and bfloat16 are computed in float32 and rounded once.
    """

    def infer(x):  # type: ignore[no-untyped-def]
        return result(tensor(name, x))

    def rule(ins: Any, out: Any, dout: Any) -> tuple[Any, ...]:
        return (bprop(ins[0], out, dout),)

    return define(
        name,
        __doc__=doc,
        infer=infer,
        reference=in_float32(reference),
        bprop=bprop if bprop is NOT_DIFFERENTIABLE else rule,
        layout=layout,
        **rules,
    )


_HALF = (np.dtype(np.float16), dt.bfloat16.numpy)


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """``kernel`` with float16 and bfloat16 arrays computed in float32 and rounded once at the end."""

    def wrapped(*arrays: Any, **attrs: Any) -> Any:
        half = next((a.dtype for a in arrays if isinstance(a, np.ndarray) and a.dtype in _HALF), None)
        if half is None:
            return kernel(*arrays, **attrs)
        wide = [a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype in _HALF else a for a in arrays]
        out = kernel(*wide, **attrs)
        return np.asarray(out).astype(half) if np.asarray(out).dtype == np.float32 else out

    return wrapped


def sum_to(grad: Any, shape: Any) -> Any:
    """``grad`` summed over the axes that broadcasting from ``shape`` had added: the gradient of broadcasting."""
    from .movement import reshape
    from .reduce import reduce_sum

    if tuple(grad.shape) == tuple(shape):
        return grad
    extra = len(grad.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if isinstance(n, int) and n == 1 and grad.shape[i + extra] != 1
    )
    if axes:
        grad = reduce_sum(grad, axis=axes, keep_dims=False)
    return grad if tuple(grad.shape) == tuple(shape) else reshape(grad, shape=tuple(shape))
