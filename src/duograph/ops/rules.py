"""What op declarations share: type rules of uniform families, gradients back through broadcasting, batching."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dtype import DType
from duograph.core.op import NO_RULE, NOT_DIFFERENTIABLE, Op, define, get_op
from duograph.core.shapes import broadcast_shapes, show_shape, taken_equal_shapes
from duograph.core.types import TensorType, Type

# ---- types ----------------------------------------------------------------------------------------------------------


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


def camel(op: str) -> str:
    """The name that MindSpore's messages show: ``reduce_sum`` is ``ReduceSum``."""
    return "".join(part[:1].upper() + part[1:] for part in op.split("_"))


def kind_of(dtype: DType) -> str:
    """One letter: ``b`` bool, ``i`` integer, ``f`` floating, ``c`` complex."""
    return "b" if dtype.is_bool else "i" if dtype.is_integer else "f" if dtype.is_floating else "c"


def require_dtype(op: str, dtype: Any) -> DType:
    """``dtype`` if it is one; the ``x.dtype`` of a NumPy array that was taken for a tensor is none."""
    if not isinstance(dtype, DType):
        raise TypeError(f"{op}: the dtype must be one of mindspore, but got {type(dtype).__name__}")
    return dtype


def require_kind(op: str, x: Type, kinds: str, argument: str = "input") -> TensorType:
    """``x`` as a tensor type whose dtype is of one of ``kinds`` (letters of `kind_of`).

    Raises:
        TypeError: it is not, with MindSpore's text.
    """
    x = tensor(op, x)
    if kind_of(x.dtype) not in kinds:
        allowed = sorted(str(d) for d in dt.DTYPES if kind_of(d) in kinds and not d.name.startswith("float8"))
        raise TypeError(
            f"For primitive[{camel(op)}], the input argument[{argument}] must be a type of "
            f"{{{', '.join(allowed)}}}, but got {x.dtype}."
        )
    return x


def require_shape(op: str, x: TensorType, shape: Sequence[Any], argument: str) -> None:
    """Kernels rely on what an op says about the shapes of its operands: they do not look again.

    Raises:
        ValueError: the extents of ``x`` are not those of ``shape``.
    """
    if not taken_equal_shapes(x.shape, shape):
        raise ValueError(
            f"For '{camel(op)}', the shape of '{argument}' must be {show_shape(shape)}, but got {show_shape(x.shape)}."
        )


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


# ---- uniform families -----------------------------------------------------------------------------------------------


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


_HALF = (np.dtype(np.float16), dt.bfloat16.numpy)


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """``kernel`` with float16 and bfloat16 arrays computed in float32 and rounded once at the end."""

    def wrapped(*arrays: Any, **attrs: Any) -> Any:
        half = None
        for a in arrays:
            if type(a) is np.ndarray and a.dtype.itemsize == 2 and a.dtype in _HALF:
                half = a.dtype
        if half is None:
            return kernel(*arrays, **attrs)
        wide = [a.astype(np.float32) if type(a) is np.ndarray and a.dtype == half else a for a in arrays]
        out = kernel(*wide, **attrs)
        return tuple(_narrow(o, half) for o in out) if isinstance(out, tuple) else _narrow(out, half)

    return wrapped


def _narrow(out: Any, half: np.dtype) -> Any:
    array = np.asarray(out)
    return array.astype(half) if array.dtype == np.float32 else out


def is_half(array: np.ndarray) -> bool:
    """Whether ``array`` is float16 or bfloat16."""
    return array.dtype in _HALF


# ---- gradients ------------------------------------------------------------------------------------------------------


def sum_to(grad: Any, shape: Any) -> Any:
    """``grad`` summed over the axes that broadcasting from ``shape`` had added: the gradient of broadcasting."""
    if grad.shape == shape or tuple(grad.shape) == tuple(shape):
        return grad
    from .movement import reshape
    from .reduce import reduce_sum

    extra = len(grad.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if isinstance(n, int) and n == 1 and grad.shape[i + extra] != 1
    )
    if axes:
        grad = reduce_sum(grad, axis=axes, keep_dims=False)
    return grad if tuple(grad.shape) == tuple(shape) else reshape(grad, shape=tuple(shape))


def in_shape_of(grad: Any, x: Any) -> Any:
    """``grad`` in the shape of ``x``, which it has, though its symbolic dimensions may be written in another way."""
    from .movement import reshape

    return grad if tuple(grad.shape) == tuple(x.shape) else reshape(grad, shape=tuple(x.shape))


# ---- batching (vmap) ------------------------------------------------------------------------------------------------


def elementwise_batch(name: str) -> Any:
    """Batch rule of broadcasting elementwise ops: batch axes in front, ranks aligned behind them."""

    def batch(in_axes: tuple[int | None, ...], operands: tuple[Any, ...], **attrs: Any) -> tuple[Any, Any]:
        from .movement import reshape

        ranks = [len(x.shape) - (axis is not None) for axis, x in zip(in_axes, operands, strict=True)]
        rank = max(ranks)
        aligned = [
            reshape(x, shape=(x.shape[0], *(1,) * (rank - r), *x.shape[1:])) if axis is not None and r < rank else x
            for axis, x, r in zip(in_axes, operands, ranks, strict=True)
        ]
        return get_op(name)(*aligned, **attrs), 0

    return batch


def batch_with(name: str, shift: Callable[..., dict[str, Any]]) -> Any:
    """Batch rule of one-operand ops whose attributes name axes: ``shift(size, rank, **attrs)`` gives them for the
    operand with a batch axis of ``size`` in front (``rank`` without it)."""

    def batch(in_axes: tuple[int | None, ...], operands: tuple[Any, ...], **attrs: Any) -> tuple[Any, Any]:
        (x,) = operands
        out = get_op(name)(x, **shift(x.shape[0], len(x.shape) - 1, **attrs))
        return out, (0,) * len(out) if isinstance(out, tuple) else 0

    return batch


__all__ = [
    "NO_RULE",
    "batch_with", "binary", "camel", "comparison", "elementwise", "elementwise_batch", "in_float32",
    "in_shape_of", "is_half",
    "kind_of", "require_kind", "same_dtype", "sum_to", "tensor", "unary",
]  # fmt: skip
