"""Reductions, products, convolutions and pools in ONNX's operators.

A resampling of an axis is a product with the matrix that it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duograph.ir.node import Apply
from duograph.ops.image import resize_axis

from .registry import number, operator, type_of
from .writer import NoForm, Writer, dtype_of

# ---- reductions and order --------------------------------------------------------------------------------------------

_REDUCTIONS = {
    "reduce_sum": "ReduceSum", "reduce_mean": "ReduceMean", "reduce_prod": "ReduceProd", "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin", "reduce_all": "ReduceMin", "reduce_any": "ReduceMax",
}  # fmt: skip


@operator(*_REDUCTIONS)
def _reduce(w: Writer, node: Apply, x: str, *, axis: Any, keep_dims: bool) -> str:
    given, wanted = type_of(node), dtype_of(node.type)
    if not axis:
        return x if given == wanted else w.cast(x, wanted)
    between = np.dtype(np.int32) if given == np.bool_ else given if given.kind == "f" else wanted
    x = x if given == between else w.cast(x, between)
    kind = _REDUCTIONS[node.op.name]
    result = w.op(kind, x, w.ints(*axis), keepdims=int(keep_dims))
    return result if between == wanted else w.cast(result, wanted)


@operator("argmax", "argmin")
def _position(w: Writer, node: Apply, x: str, *, axis: int, **how: Any) -> str:
    kind = "ArgMax" if node.op.name == "argmax" else "ArgMin"
    keep = len(getattr(node.type, "shape", ())) == len(node.operands[0].shape)
    return w.cast(w.op(kind, x, axis=axis, keepdims=int(keep)), dtype_of(node.type))


@operator("topk")
def _topk(w: Writer, node: Apply, x: str, *, k: Any, axis: int, largest: bool, index_dtype: Any) -> list[str]:
    count = w.op("Reshape", w.size(k), w.ints(1))
    values, places = w.op("TopK", x, count, outputs=2, axis=axis, largest=int(largest))
    return [values, w.cast(places, np.dtype(index_dtype.numpy))]


@operator("sort")
def _sort(w: Writer, node: Apply, x: str, *, axis: int, descending: bool, index_dtype: Any) -> list[str]:
    size = node.operands[0].shape[axis]
    return _topk(w, node, x, k=size, axis=axis, largest=descending, index_dtype=index_dtype)


@operator("cumsum")
def _cumsum(w: Writer, node: Apply, x: str, *, axis: int, exclusive: bool, reverse: bool) -> str:
    return w.op("CumSum", x, w.constant(np.int64(axis)), exclusive=int(exclusive), reverse=int(reverse))


@operator("softmax")
def _softmax(w: Writer, node: Apply, x: str, *, axis: int) -> str:
    return w.op("Softmax", x, axis=axis)


@operator("log_softmax")
def _log_softmax(w: Writer, node: Apply, x: str, *, axis: int) -> str:
    return w.op("LogSoftmax", x, axis=axis)


@operator("standardize")
def _standardize(w: Writer, node: Apply, x: str, *, axis: Any, epsilon: float) -> str:
    axes = w.ints(*axis)
    centred = w.op("Sub", x, w.op("ReduceMean", x, axes, keepdims=1))
    variance = w.op("ReduceMean", w.op("Mul", centred, centred), axes, keepdims=1)
    return w.op("Div", centred, w.op("Sqrt", w.op("Add", variance, number(w, node, epsilon))))


# ---- products --------------------------------------------------------------------------------------------------------


def _turned(w: Writer, node: Apply, index: int, name: str, turn: bool) -> str:
    rank = len(node.operands[index].shape)
    if not turn or rank < 2:
        return name
    return w.op("Transpose", name, perm=[*range(rank - 2), rank - 1, rank - 2])


@operator("matmul")
def _matmul(w: Writer, node: Apply, x: str, y: str, *, transpose_a: bool, transpose_b: bool) -> str:
    return w.op("MatMul", _turned(w, node, 0, x, transpose_a), _turned(w, node, 1, y, transpose_b))


def _pads(padding: Any) -> list[int]:
    return [*(front for front, _ in padding), *(back for _, back in padding)]


@operator("conv")
def _conv(w: Writer, node: Apply, x: str, y: str, *, stride: Any, padding: Any, dilation: Any, groups: int) -> str:
    how: dict[str, Any] = {
        "strides": list(stride),
        "pads": _pads(padding),
        "dilations": list(dilation),
        "group": groups,
    }
    return w.op("Conv", x, y, **how)


@operator("conv_input_grad")
def _conv_transpose(
    w: Writer, node: Apply, x: str, y: str, *, input_size: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> str:
    sizes, kernel = node.operands[0].shape[2:], node.operands[1].shape[2:]
    if not all(isinstance(n, int) for n in (*sizes, *input_size)):
        raise NoForm("a transposed convolution whose size is not known has no ONNX form")
    extra = [
        wanted - ((n - 1) * s - front - back + d * (k - 1) + 1)
        for wanted, n, k, s, (front, back), d in zip(input_size, sizes, kernel, stride, padding, dilation)
    ]
    how: dict[str, Any] = {
        "strides": list(stride),
        "pads": _pads(padding),
        "dilations": list(dilation),
        "group": groups,
    }
    return w.op("ConvTranspose", x, y, **how, output_padding=extra)


def _rounded_up(node: Apply, kernel: Any, stride: Any, padding: Any, dilation: Any) -> bool:
    """Whether the last window is one that only rounding up adds."""
    size = node.type.items[0].shape if hasattr(node.type, "items") else node.type.shape  # type: ignore[attr-defined]
    for n, out, k, s, (front, back), d in zip(node.operands[0].shape[2:], size[2:], kernel, stride, padding, dilation):
        if not isinstance(n, int) or out != (n + front + back - d * (k - 1) - 1) // s + 1:
            return True
    return False


@operator("max_pool")
def _max_pool(
    w: Writer, node: Apply, x: str, *, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> list[Any]:
    """The positions have no ONNX form: there they are of the whole tensor."""
    up = ceil_mode and _rounded_up(node, kernel, stride, padding, dilation)
    how: dict[str, Any] = {
        "kernel_shape": list(kernel),
        "strides": list(stride),
        "pads": _pads(padding),
        "dilations": list(dilation),
    }
    return [w.op("MaxPool", x, **how, ceil_mode=int(up)), None]


@operator("avg_pool")
def _avg_pool(
    w: Writer, node: Apply, x: str, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor: int = 0,
) -> str:  # fmt: skip
    if ceil_mode and _rounded_up(node, kernel, stride, padding, (1,) * len(kernel)):
        raise NoForm("a mean over windows that reach beyond the padding has no ONNX form that all runtimes agree on")
    how: dict[str, Any] = {"kernel_shape": list(kernel), "strides": list(stride), "pads": _pads(padding)}
    counted = int(count_include_pad or bool(divisor))
    mean = w.op("AveragePool", x, **how, count_include_pad=counted)
    return w.op("Mul", mean, number(w, node, math.prod(kernel) / divisor)) if divisor else mean


@operator("resize_axis")
def _resize_axis(w: Writer, node: Apply, x: str, *, axis: int, size: Any, mode: str, align: bool, scale: float) -> str:
    extent = node.operands[0].shape[axis]
    if mode == "area" and size == 1:
        return w.op("ReduceMean", x, w.ints(axis), keepdims=1)
    if not isinstance(extent, int) or not isinstance(size, int):
        raise NoForm("resampling from or to a size that is not known has no ONNX form")
    dtype = type_of(node)
    if dtype.kind != "f":
        raise NoForm(f"resampling of {dtype} has no ONNX form")
    unit = np.eye(extent, dtype=np.float64)
    matrix = resize_axis.reference(unit, axis=1, size=size, mode=mode, align=align, scale=scale)  # type: ignore[attr-defined]
    rank = len(node.operands[0].shape)
    perm = [*(i for i in range(rank) if i != axis), axis]
    product = w.op("MatMul", w.op("Transpose", x, perm=perm), w.constant(matrix.astype(dtype)))
    return w.op("Transpose", product, perm=np.argsort(perm).tolist())
