"""The operators of MindIR in ONNX's: ``operator(writer, node, *names, **attributes)`` gives the name of the result.

What ONNX has no operator for is composed; a resampling of an axis is a product with the matrix that it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core.dim import Dim
from duograph.ir.node import Apply
from duograph.ops.image import resize_axis

from .schema import DTYPES
from .writer import NoForm, Writer, dtype_of

__all__ = ["OPERATORS"]

OPERATORS: dict[str, Callable[..., Any]] = {}


def _operator(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return enter


def _type(node: Apply, index: int = 0) -> Any:
    return dtype_of(node.operands[index].type)


def _number(w: Writer, node: Apply, value: float) -> str:
    """A number of the dtype of the first operand."""
    return w.constant(np.array(value, _type(node)))


# ---- element by element ----------------------------------------------------------------------------------------------

_SAME = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "maximum": "Max", "minimum": "Min", "neg": "Neg", "abs": "Abs",
    "sign": "Sign", "reciprocal": "Reciprocal", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sigmoid": "Sigmoid",
    "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh",
    "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "erf": "Erf",
    "floor": "Floor", "ceil": "Ceil", "round": "Round", "relu": "Relu", "isnan": "IsNaN", "isinf": "IsInf",
    "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor", "logical_not": "Not", "equal": "Equal",
    "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual",
    "pow": "Pow", "select": "Where", "softplus": "Softplus", "mish": "Mish",
}  # fmt: skip
for _name, _kind in _SAME.items():
    OPERATORS[_name] = lambda w, node, *xs, _kind=_kind: w.op(_kind, *xs)


@_operator("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")
def _bitwise(w: Writer, node: Apply, *xs: str) -> str:
    word = node.op.name.removeprefix("bitwise_").capitalize()
    return w.op(word if _type(node) == np.bool_ else f"Bitwise{word}", *xs)


@_operator("identity", "stop_gradient", "relabel", "assigned")
def _identity(w: Writer, node: Apply, x: str, *_: str, **__: Any) -> str:
    return x


@_operator("cast")
def _cast(w: Writer, node: Apply, x: str, *, dtype: Any) -> str:
    return w.cast(x, dtype_of(node.type))


@_operator("not_equal")
def _not_equal(w: Writer, node: Apply, x: str, y: str) -> str:
    return w.op("Not", w.op("Equal", x, y))


@_operator("square")
def _square(w: Writer, node: Apply, x: str) -> str:
    return w.op("Mul", x, x)


@_operator("rsqrt")
def _rsqrt(w: Writer, node: Apply, x: str) -> str:
    return w.op("Reciprocal", w.op("Sqrt", x))


@_operator("div")
def _div(w: Writer, node: Apply, x: str, y: str) -> str:
    if _type(node).kind == "f":
        return w.op("Div", x, y)
    dtype = dtype_of(node.type)  # of integers, a true division
    return w.op("Div", w.cast(x, dtype), w.cast(y, dtype))


@_operator("floor_div")
def _floor_div(w: Writer, node: Apply, x: str, y: str) -> str:
    return w.op("Floor", w.op("Div", x, y)) if _type(node).kind == "f" else w.floor_div(x, y)


@_operator("mod")
def _mod(w: Writer, node: Apply, x: str, y: str) -> str:
    if _type(node).kind != "f":
        return w.op("Mod", x, y)
    return w.op("Sub", x, w.op("Mul", w.op("Floor", w.op("Div", x, y)), y))


@_operator("fmod")
def _fmod(w: Writer, node: Apply, x: str, y: str) -> str:
    return w.op("Mod", x, y, fmod=1)


def _truncated(w: Writer, x: str) -> str:
    return w.op("Mul", w.op("Sign", x), w.op("Floor", w.op("Abs", x)))


@_operator("trunc_div")
def _trunc_div(w: Writer, node: Apply, x: str, y: str) -> str:
    quotient = w.op("Div", x, y)
    return _truncated(w, quotient) if _type(node).kind == "f" else quotient


@_operator("trunc")
def _trunc(w: Writer, node: Apply, x: str) -> str:
    return _truncated(w, x) if _type(node).kind == "f" else x


@_operator("isfinite")
def _isfinite(w: Writer, node: Apply, x: str) -> str:
    return w.op("Not", w.op("Or", w.op("IsNaN", x), w.op("IsInf", x)))


@_operator("log1p")
def _log1p(w: Writer, node: Apply, x: str) -> str:
    return w.op("Log", w.op("Add", x, _number(w, node, 1)))


@_operator("expm1")
def _expm1(w: Writer, node: Apply, x: str) -> str:
    return w.op("Sub", w.op("Exp", x), _number(w, node, 1))


@_operator("exp2")
def _exp2(w: Writer, node: Apply, x: str) -> str:
    return w.op("Pow", _number(w, node, 2), x)


@_operator("log2", "log10")
def _log_base(w: Writer, node: Apply, x: str) -> str:
    return w.op("Div", w.op("Log", x), _number(w, node, math.log(2 if node.op.name == "log2" else 10)))


@_operator("erfc")
def _erfc(w: Writer, node: Apply, x: str) -> str:
    return w.op("Sub", _number(w, node, 1), w.op("Erf", x))


@_operator("logit")
def _logit(w: Writer, node: Apply, x: str) -> str:
    return w.op("Log", w.op("Div", x, w.op("Sub", _number(w, node, 1), x)))


@_operator("tanhshrink")
def _tanhshrink(w: Writer, node: Apply, x: str) -> str:
    return w.op("Sub", x, w.op("Tanh", x))


@_operator("silu")
def _silu(w: Writer, node: Apply, x: str) -> str:
    return w.op("Mul", x, w.op("Sigmoid", x))


@_operator("fast_gelu")
def _fast_gelu(w: Writer, node: Apply, x: str) -> str:
    return w.op("Mul", x, w.op("Sigmoid", w.op("Mul", x, _number(w, node, 1.702))))


@_operator("normal_cdf")
def _normal_cdf(w: Writer, node: Apply, x: str) -> str:
    share = w.op("Erf", w.op("Mul", x, _number(w, node, math.sqrt(0.5))))
    return w.op("Mul", w.op("Add", share, _number(w, node, 1)), _number(w, node, 0.5))


@_operator("gelu")
def _gelu(w: Writer, node: Apply, x: str) -> str:
    return w.op("Mul", x, _normal_cdf(w, node, x))


@_operator("gelu_by_tanh")
def _gelu_by_tanh(w: Writer, node: Apply, x: str) -> str:
    cube = w.op("Mul", w.op("Mul", x, x), w.op("Mul", x, _number(w, node, 0.044715)))
    inner = w.op("Mul", w.op("Add", x, cube), _number(w, node, math.sqrt(2 / math.pi)))
    half = w.op("Mul", w.op("Add", w.op("Tanh", inner), _number(w, node, 1)), _number(w, node, 0.5))
    return w.op("Mul", x, half)


# ---- numbers of Python -----------------------------------------------------------------------------------------------

_OF_NUMBERS = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "Div", "lt": "Less", "le": "LessOrEqual", "gt": "Greater",
    "ge": "GreaterOrEqual", "eq": "Equal", "max": "Max", "min": "Min", "pow": "Pow",
}  # fmt: skip
_OF_BOOLS = {"and": "And", "or": "Or", "xor": "Xor"}
_OF_BITS = {"and": "BitwiseAnd", "or": "BitwiseOr", "xor": "BitwiseXor"}


@_operator("scalar_binary")
def _scalar_binary(w: Writer, node: Apply, a: str, b: str, *, fn: str) -> str:
    kinds = [_type(node, i) for i in (0, 1)]
    if fn in _OF_BOOLS and all(kind == np.bool_ for kind in kinds):
        return w.op(_OF_BOOLS[fn], a, b)
    common = np.dtype(np.float64 if fn == "truediv" or np.dtype(np.float64) in kinds else np.int64)
    a, b = (x if kind == common else w.cast(x, common) for x, kind in zip((a, b), kinds))
    if fn == "ne":
        return w.op("Not", w.op("Equal", a, b))
    if fn == "floordiv":
        return w.floor_div(a, b) if common.kind == "i" else w.op("Floor", w.op("Div", a, b))
    if fn == "mod":
        if common.kind == "i":
            return w.op("Mod", a, b)
        return w.op("Sub", a, w.op("Mul", w.op("Floor", w.op("Div", a, b)), b))
    kind = _OF_NUMBERS.get(fn) or (_OF_BITS.get(fn) if common.kind == "i" else None)
    if kind is None:
        raise NoForm(f"the operator {fn} of numbers has no ONNX form")
    result = w.op(kind, a, b)
    wanted = dtype_of(node.type)
    return result if fn in ("lt", "le", "gt", "ge", "eq") or wanted == common else w.cast(result, wanted)


@_operator("scalar_unary")
def _scalar_unary(w: Writer, node: Apply, a: str, *, fn: str) -> str:
    given, wanted = _type(node), dtype_of(node.type)
    if fn == "not":
        return w.op("Not", a if given == np.bool_ else w.cast(a, np.bool_))
    if fn == "invert":
        return w.op("BitwiseNot", a if given == np.int64 else w.cast(a, np.int64))
    if given.kind == "f" and fn in ("round", "floor", "ceil"):
        a = w.op(fn.capitalize(), a)
    a = a if given == wanted else w.cast(a, wanted)
    return w.op(fn.capitalize(), a) if fn in ("neg", "abs") else a


@_operator("tensor_item")
def _tensor_item(w: Writer, node: Apply, x: str, *, kind: str) -> str:
    name = x if _type(node) == dtype_of(node.type) else w.cast(x, dtype_of(node.type))
    return name if not node.operands[0].shape else w.op("Reshape", name, w.ints())


@_operator("scalar_tensor")
def _scalar_tensor(w: Writer, node: Apply, a: str, *, dtype: Any) -> str:
    return a if _type(node) == dtype_of(node.type) else w.cast(a, dtype_of(node.type))


@_operator("dim_size")
def _dim_size(w: Writer, node: Apply, x: str, *, axis: int) -> str:
    return w.op("Gather", w.op("Shape", x), w.constant(np.int64(axis)), axis=0)


# ---- shapes ----------------------------------------------------------------------------------------------------------


@_operator("reshape")
def _reshape(w: Writer, node: Apply, x: str, *, shape: Any) -> str:
    return w.reshape(x, shape)


@_operator("transpose")
def _transpose(w: Writer, node: Apply, x: str, *, perm: Any) -> str:
    return w.op("Transpose", x, perm=list(perm))


@_operator("broadcast_to")
def _broadcast_to(w: Writer, node: Apply, x: str, *, shape: Any) -> str:
    return w.op("Expand", x, w.shape(shape))


@_operator("tile")
def _tile(w: Writer, node: Apply, x: str, *, multiples: Any) -> str:
    rank = len(node.operands[0].shape)
    if len(multiples) > rank:
        x = w.reshape(x, (*(1,) * (len(multiples) - rank), *node.operands[0].shape))
    return w.op("Tile", x, w.shape((*(1,) * (rank - len(multiples)), *multiples)))


@_operator("flip")
def _flip(w: Writer, node: Apply, x: str, *, axes: Any) -> str:
    count = len(axes)
    far = -(2**62)
    return w.op("Slice", x, w.ints(*[-1] * count), w.ints(*[far] * count), w.ints(*axes), w.ints(*[-1] * count))


def _slice(w: Writer, x: str, axis: int, start: int, stop: int, step: int = 1) -> str:
    return w.op("Slice", x, w.ints(start), w.ints(stop), w.ints(axis), w.ints(step))


@_operator("roll")
def _roll(w: Writer, node: Apply, x: str, *, shifts: Any, axes: Any) -> str:
    for shift, axis in zip(shifts, axes):
        size = node.operands[0].shape[axis]
        if not isinstance(size, int) or not isinstance(shift, int):
            raise NoForm("it shifts along an axis whose size is not known")
        if size and shift % size:
            cut = size - shift % size
            x = w.op("Concat", _slice(w, x, axis, cut, size), _slice(w, x, axis, 0, cut), axis=axis)
    return x


_END = 2**62


@_operator("strided_slice")
def _strided_slice(w: Writer, node: Apply, x: str, *, slices: Any) -> str:
    parts = [(axis, *bounds) for axis, bounds in enumerate(slices) if bounds != (None, None, None)]
    if not parts:
        return x
    axes, starts, stops, steps = [], [], [], []
    for axis, start, stop, step in parts:
        step = 1 if step is None else step
        axes.append(axis)
        steps.append(step)
        starts.append((0 if step > 0 else _END) if start is None else start)
        stops.append((_END if step > 0 else -_END) if stop is None else stop)
    return w.op("Slice", x, w.shape(starts), w.shape(stops), w.ints(*axes), w.shape(steps))


@_operator("dynamic_slice")
def _dynamic_slice(w: Writer, node: Apply, x: str, *starts: str, axes: Any, sizes: Any) -> str:
    zero, one = w.constant(np.int64(0)), w.ints(1)
    places, stops = [], []
    for axis, size, start in zip(axes, sizes, starts):
        length = w.size(node.operands[0].shape[axis])
        start = w.op("Where", w.op("Less", start, zero), w.op("Add", start, length), start)
        places.append(w.op("Reshape", start, one))
        stops.append(w.op("Reshape", w.op("Add", start, w.size(size)), one))
    joined = [w.op("Concat", *names, axis=0) for names in (places, stops)]
    return w.op("Slice", x, *joined, w.ints(*axes))


@_operator("range_slice")
def _range_slice(w: Writer, node: Apply, x: str, start: str, stop: str, *, axis: int, step: int) -> str:
    bounds = [w.op("Reshape", name, w.ints(1)) for name in (start, stop)]
    return w.op("Slice", x, *bounds, w.ints(axis), w.ints(step))


@_operator("concat")
def _concat(w: Writer, node: Apply, *xs: str, axis: int) -> str:
    return w.op("Concat", *xs, axis=axis)


@_operator("pad")
def _pad(w: Writer, node: Apply, x: str, *, padding: Any, mode: str, value: Any) -> str:
    kinds = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "edge": "edge"}
    if mode not in kinds:
        raise NoForm(f"padding of the mode {mode!r} has no ONNX form")
    pads = w.shape([*(front for front, _ in padding), *(back for _, back in padding)])
    given = (_number(w, node, value),) if mode == "constant" else ()
    return w.op("Pad", x, pads, *given, mode=kinds[mode])


@_operator("tril", "triu")
def _triangle(w: Writer, node: Apply, x: str, *, diagonal: int) -> str:
    return w.op("Trilu", x, w.constant(np.int64(diagonal)), upper=int(node.op.name == "triu"))


# ---- making ----------------------------------------------------------------------------------------------------------


@_operator("full")
def _full(w: Writer, node: Apply, *, shape: Any, value: Any, dtype: Any) -> str:
    if isinstance(value, Dim):
        number = w.cast(w.size(value), dtype_of(node.type))
        return w.op("Expand", number, w.shape(shape)) if shape else number
    element = np.array(value).astype(dtype_of(node.type))
    if not shape:
        return w.constant(element)
    return w.op("ConstantOfShape", w.shape(shape), value=element.reshape(1))


@_operator("arange")
def _arange(w: Writer, node: Apply, *, start: Any, step: Any, size: Any, dtype: Any) -> str:
    made = dtype_of(node.type)
    if made.kind not in "fiu":
        raise NoForm(f"a range of {made} has no ONNX form")
    steps = w.op("Range", w.constant(np.int64(0)), w.size(size), w.constant(np.int64(1)))
    scaled = w.op("Mul", w.cast(steps, made), w.constant(np.array(step, made)))
    return w.op("Add", scaled, w.constant(np.array(start, made)))


@_operator("iota")
def _iota(w: Writer, node: Apply, *, shape: Any, axis: int, dtype: Any) -> str:
    steps = w.op("Range", w.constant(np.int64(0)), w.size(shape[axis]), w.constant(np.int64(1)))
    placed = w.reshape(w.cast(steps, dtype_of(node.type)), [n if i == axis else 1 for i, n in enumerate(shape)])
    return w.op("Expand", placed, w.shape(shape))


@_operator("one_hot")
def _one_hot(w: Writer, node: Apply, x: str, *, depth: Any, dtype: Any) -> str:
    """By comparing: ``OneHot`` counts negative indices from the end."""
    wide = x if _type(node) == np.int64 else w.cast(x, np.int64)
    column = w.op("Unsqueeze", wide, w.ints(-1))
    steps = w.op("Range", w.constant(np.int64(0)), w.size(depth), w.constant(np.int64(1)))
    return w.cast(w.op("Equal", column, steps), dtype_of(node.type))


# ---- reductions and order --------------------------------------------------------------------------------------------

_REDUCTIONS = {
    "reduce_sum": "ReduceSum", "reduce_mean": "ReduceMean", "reduce_prod": "ReduceProd", "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin", "reduce_all": "ReduceMin", "reduce_any": "ReduceMax",
}  # fmt: skip


@_operator(*_REDUCTIONS)
def _reduce(w: Writer, node: Apply, x: str, *, axis: Any, keep_dims: bool) -> str:
    given, wanted = _type(node), dtype_of(node.type)
    if not axis:
        return x if given == wanted else w.cast(x, wanted)
    between = np.dtype(np.int32) if given == np.bool_ else given if given.kind == "f" else wanted
    x = x if given == between else w.cast(x, between)
    kind = _REDUCTIONS[node.op.name]
    result = w.op(kind, x, w.ints(*axis), keepdims=int(keep_dims))
    return result if between == wanted else w.cast(result, wanted)


@_operator("argmax", "argmin")
def _position(w: Writer, node: Apply, x: str, *, axis: int, **how: Any) -> str:
    kind = "ArgMax" if node.op.name == "argmax" else "ArgMin"
    keep = len(getattr(node.type, "shape", ())) == len(node.operands[0].shape)
    return w.cast(w.op(kind, x, axis=axis, keepdims=int(keep)), dtype_of(node.type))


@_operator("topk")
def _topk(w: Writer, node: Apply, x: str, *, k: Any, axis: int, largest: bool, index_dtype: Any) -> list[str]:
    count = w.op("Reshape", w.size(k), w.ints(1))
    values, places = w.op("TopK", x, count, outputs=2, axis=axis, largest=int(largest))
    return [values, w.cast(places, np.dtype(index_dtype.numpy))]


@_operator("sort")
def _sort(w: Writer, node: Apply, x: str, *, axis: int, descending: bool, index_dtype: Any) -> list[str]:
    size = node.operands[0].shape[axis]
    return _topk(w, node, x, k=size, axis=axis, largest=descending, index_dtype=index_dtype)


@_operator("cumsum")
def _cumsum(w: Writer, node: Apply, x: str, *, axis: int, exclusive: bool, reverse: bool) -> str:
    return w.op("CumSum", x, w.constant(np.int64(axis)), exclusive=int(exclusive), reverse=int(reverse))


@_operator("softmax")
def _softmax(w: Writer, node: Apply, x: str, *, axis: int) -> str:
    return w.op("Softmax", x, axis=axis)


@_operator("log_softmax")
def _log_softmax(w: Writer, node: Apply, x: str, *, axis: int) -> str:
    return w.op("LogSoftmax", x, axis=axis)


@_operator("standardize")
def _standardize(w: Writer, node: Apply, x: str, *, axis: Any, epsilon: float) -> str:
    axes = w.ints(*axis)
    centred = w.op("Sub", x, w.op("ReduceMean", x, axes, keepdims=1))
    variance = w.op("ReduceMean", w.op("Mul", centred, centred), axes, keepdims=1)
    return w.op("Div", centred, w.op("Sqrt", w.op("Add", variance, _number(w, node, epsilon))))


# ---- products --------------------------------------------------------------------------------------------------------


def _turned(w: Writer, node: Apply, index: int, name: str, turn: bool) -> str:
    rank = len(node.operands[index].shape)
    if not turn or rank < 2:
        return name
    return w.op("Transpose", name, perm=[*range(rank - 2), rank - 1, rank - 2])


@_operator("matmul")
def _matmul(w: Writer, node: Apply, x: str, y: str, *, transpose_a: bool, transpose_b: bool) -> str:
    return w.op("MatMul", _turned(w, node, 0, x, transpose_a), _turned(w, node, 1, y, transpose_b))


def _pads(padding: Any) -> list[int]:
    return [*(front for front, _ in padding), *(back for _, back in padding)]


@_operator("conv")
def _conv(w: Writer, node: Apply, x: str, y: str, *, stride: Any, padding: Any, dilation: Any, groups: int) -> str:
    how = {"strides": list(stride), "pads": _pads(padding), "dilations": list(dilation), "group": groups}
    return w.op("Conv", x, y, **how)


@_operator("conv_input_grad")
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
    how = {"strides": list(stride), "pads": _pads(padding), "dilations": list(dilation), "group": groups}
    return w.op("ConvTranspose", x, y, **how, output_padding=extra)


def _rounded_up(node: Apply, kernel: Any, stride: Any, padding: Any, dilation: Any) -> bool:
    """Whether the last window is one that only rounding up adds."""
    size = node.type.items[0].shape if hasattr(node.type, "items") else node.type.shape  # type: ignore[attr-defined]
    for n, out, k, s, (front, back), d in zip(node.operands[0].shape[2:], size[2:], kernel, stride, padding, dilation):
        if not isinstance(n, int) or out != (n + front + back - d * (k - 1) - 1) // s + 1:
            return True
    return False


@_operator("max_pool")
def _max_pool(
    w: Writer, node: Apply, x: str, *, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> list[Any]:
    """The positions have no ONNX form: there they are of the whole tensor."""
    up = ceil_mode and _rounded_up(node, kernel, stride, padding, dilation)
    how = {"kernel_shape": list(kernel), "strides": list(stride), "pads": _pads(padding), "dilations": list(dilation)}
    return [w.op("MaxPool", x, **how, ceil_mode=int(up)), None]


@_operator("avg_pool")
def _avg_pool(
    w: Writer, node: Apply, x: str, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor: int = 0,
) -> str:  # fmt: skip
    if ceil_mode and _rounded_up(node, kernel, stride, padding, (1,) * len(kernel)):
        raise NoForm("a mean over windows that reach beyond the padding has no ONNX form that all runtimes agree on")
    how = {"kernel_shape": list(kernel), "strides": list(stride), "pads": _pads(padding)}
    counted = int(count_include_pad or bool(divisor))
    mean = w.op("AveragePool", x, **how, count_include_pad=counted)
    return w.op("Mul", mean, _number(w, node, math.prod(kernel) / divisor)) if divisor else mean


@_operator("resize_axis")
def _resize_axis(w: Writer, node: Apply, x: str, *, axis: int, size: Any, mode: str, align: bool, scale: float) -> str:
    extent = node.operands[0].shape[axis]
    if mode == "area" and size == 1:
        return w.op("ReduceMean", x, w.ints(axis), keepdims=1)
    if not isinstance(extent, int) or not isinstance(size, int):
        raise NoForm("resampling from or to a size that is not known has no ONNX form")
    dtype = _type(node)
    if dtype.kind != "f":
        raise NoForm(f"resampling of {dtype} has no ONNX form")
    unit = np.eye(extent, dtype=np.float64)
    matrix = resize_axis.reference(unit, axis=1, size=size, mode=mode, align=align, scale=scale)  # type: ignore[attr-defined]
    rank = len(node.operands[0].shape)
    perm = [*(i for i in range(rank) if i != axis), axis]
    product = w.op("MatMul", w.op("Transpose", x, perm=perm), w.constant(matrix.astype(dtype)))
    return w.op("Transpose", product, perm=np.argsort(perm).tolist())


# ---- by indices ------------------------------------------------------------------------------------------------------


@_operator("gather")
def _gather(w: Writer, node: Apply, x: str, indices: str, *, axis: int) -> str:
    return w.op("Gather", x, _index(w, node, indices), axis=axis)


def _index(w: Writer, node: Apply, name: str) -> str:
    return name if _type(node, 1) in (np.int32, np.int64) else w.cast(name, np.int64)


@_operator("gather_elements")
def _gather_elements(w: Writer, node: Apply, x: str, indices: str, *, axis: int, **how: Any) -> str:
    return w.op("GatherElements", x, _index(w, node, indices), axis=axis)


@_operator("gather_nd")
def _gather_nd(w: Writer, node: Apply, x: str, indices: str) -> str:
    return w.op("GatherND", x, w.cast(indices, np.int64))


_SCATTERS = {"none": "none", "update": "none", "add": "add", "mul": "mul", "max": "max", "min": "min"}


@_operator("scatter_elements")
def _scatter_elements(w: Writer, node: Apply, x: str, indices: str, updates: str, *, axis: int, reduction: str) -> str:
    if reduction not in _SCATTERS:
        raise NoForm(f"scattering by {reduction!r} has no ONNX form")
    return w.op("ScatterElements", x, _index(w, node, indices), updates, axis=axis, reduction=_SCATTERS[reduction])


@_operator("nonzero")
def _nonzero(w: Writer, node: Apply, x: str) -> str:
    found = w.op("Transpose", w.op("NonZero", x), perm=[1, 0])
    wanted = dtype_of(node.type)
    return found if DTYPES[wanted.type] == DTYPES[np.int64] else w.cast(found, wanted)
