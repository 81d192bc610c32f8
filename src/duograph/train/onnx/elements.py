"""Operators of elements and of Python's numbers in ONNX's; what ONNX has no operator for is composed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duograph.ir.node import Apply

from .registry import OPERATORS, number, operator, type_of
from .writer import NoForm, Writer, dtype_of

# ---- element by element ----------------------------------------------------------------------------------------------

_SAME = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "maximum": "Max", "minimum": "Min", "neg": "Neg",
    "abs": "Abs", "sign": "Sign", "reciprocal": "Reciprocal", "exp": "Exp", "log": "Log", "sqrt": "Sqrt",
    "sigmoid": "Sigmoid",
    "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh",
    "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "erf": "Erf",
    "floor": "Floor", "ceil": "Ceil", "round": "Round", "relu": "Relu", "isnan": "IsNaN", "isinf": "IsInf",
    "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor", "logical_not": "Not", "equal": "Equal",
    "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual",
    "pow": "Pow", "select": "Where", "softplus": "Softplus", "mish": "Mish",
}  # fmt: skip
for _name, _kind in _SAME.items():
    OPERATORS[_name] = lambda w, node, *xs, _kind=_kind: w.op(_kind, *xs)


@operator("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")
def _bitwise(w: Writer, node: Apply, *xs: str) -> str:
    word = node.op.name.removeprefix("bitwise_").capitalize()
    return w.op(word if type_of(node) == np.bool_ else f"Bitwise{word}", *xs)


@operator("identity", "stop_gradient", "relabel", "assigned")
def _identity(w: Writer, node: Apply, x: str, *_: str, **__: Any) -> str:
    return x


@operator("cast")
def _cast(w: Writer, node: Apply, x: str, *, dtype: Any) -> str:
    return w.cast(x, dtype_of(node.type))


@operator("not_equal")
def _not_equal(w: Writer, node: Apply, x: str, y: str) -> str:
    return w.op("Not", w.op("Equal", x, y))


@operator("square")
def _square(w: Writer, node: Apply, x: str) -> str:
    return w.op("Mul", x, x)


@operator("rsqrt")
def _rsqrt(w: Writer, node: Apply, x: str) -> str:
    return w.op("Reciprocal", w.op("Sqrt", x))


@operator("floor_div")
def _floor_div(w: Writer, node: Apply, x: str, y: str) -> str:
    return w.op("Floor", w.op("Div", x, y)) if type_of(node).kind == "f" else w.floor_div(x, y)


@operator("mod")
def _mod(w: Writer, node: Apply, x: str, y: str) -> str:
    if type_of(node).kind != "f":
        return w.op("Mod", x, y)
    return w.op("Sub", x, w.op("Mul", w.op("Floor", w.op("Div", x, y)), y))


@operator("fmod")
def _fmod(w: Writer, node: Apply, x: str, y: str) -> str:
    return w.op("Mod", x, y, fmod=1)


def _truncated(w: Writer, x: str) -> str:
    return w.op("Mul", w.op("Sign", x), w.op("Floor", w.op("Abs", x)))


@operator("trunc_div")
def _trunc_div(w: Writer, node: Apply, x: str, y: str) -> str:
    quotient = w.op("Div", x, y)
    return _truncated(w, quotient) if type_of(node).kind == "f" else quotient


@operator("trunc")
def _trunc(w: Writer, node: Apply, x: str) -> str:
    return _truncated(w, x) if type_of(node).kind == "f" else x


@operator("isfinite")
def _isfinite(w: Writer, node: Apply, x: str) -> str:
    return w.op("Not", w.op("Or", w.op("IsNaN", x), w.op("IsInf", x)))


@operator("log1p")
def _log1p(w: Writer, node: Apply, x: str) -> str:
    return w.op("Log", w.op("Add", x, number(w, node, 1)))


@operator("expm1")
def _expm1(w: Writer, node: Apply, x: str) -> str:
    return w.op("Sub", w.op("Exp", x), number(w, node, 1))


@operator("exp2")
def _exp2(w: Writer, node: Apply, x: str) -> str:
    return w.op("Pow", number(w, node, 2), x)


@operator("log2", "log10")
def _log_base(w: Writer, node: Apply, x: str) -> str:
    return w.op("Div", w.op("Log", x), number(w, node, math.log(2 if node.op.name == "log2" else 10)))


@operator("erfc")
def _erfc(w: Writer, node: Apply, x: str) -> str:
    return w.op("Sub", number(w, node, 1), w.op("Erf", x))


@operator("logit")
def _logit(w: Writer, node: Apply, x: str) -> str:
    return w.op("Log", w.op("Div", x, w.op("Sub", number(w, node, 1), x)))


@operator("tanhshrink")
def _tanhshrink(w: Writer, node: Apply, x: str) -> str:
    return w.op("Sub", x, w.op("Tanh", x))


@operator("silu")
def _silu(w: Writer, node: Apply, x: str) -> str:
    return w.op("Mul", x, w.op("Sigmoid", x))


@operator("fast_gelu")
def _fast_gelu(w: Writer, node: Apply, x: str) -> str:
    return w.op("Mul", x, w.op("Sigmoid", w.op("Mul", x, number(w, node, 1.702))))


@operator("normal_cdf")
def _normal_cdf(w: Writer, node: Apply, x: str) -> str:
    share = w.op("Erf", w.op("Mul", x, number(w, node, math.sqrt(0.5))))
    return w.op("Mul", w.op("Add", share, number(w, node, 1)), number(w, node, 0.5))


@operator("gelu")
def _gelu(w: Writer, node: Apply, x: str) -> str:
    return w.op("Mul", x, _normal_cdf(w, node, x))


@operator("gelu_by_tanh")
def _gelu_by_tanh(w: Writer, node: Apply, x: str) -> str:
    cube = w.op("Mul", w.op("Mul", x, x), w.op("Mul", x, number(w, node, 0.044715)))
    inner = w.op("Mul", w.op("Add", x, cube), number(w, node, math.sqrt(2 / math.pi)))
    half = w.op("Mul", w.op("Add", w.op("Tanh", inner), number(w, node, 1)), number(w, node, 0.5))
    return w.op("Mul", x, half)


# ---- numbers of Python -----------------------------------------------------------------------------------------------

_OF_NUMBERS = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "Div", "lt": "Less", "le": "LessOrEqual", "gt": "Greater",
    "ge": "GreaterOrEqual", "eq": "Equal", "max": "Max", "min": "Min", "pow": "Pow",
}  # fmt: skip
_OF_BOOLS = {"and": "And", "or": "Or", "xor": "Xor"}
_OF_BITS = {"and": "BitwiseAnd", "or": "BitwiseOr", "xor": "BitwiseXor"}


@operator("scalar_binary")
def _scalar_binary(w: Writer, node: Apply, a: str, b: str, *, fn: str) -> str:
    kinds = [type_of(node, i) for i in (0, 1)]
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


@operator("scalar_unary")
def _scalar_unary(w: Writer, node: Apply, a: str, *, fn: str) -> str:
    given, wanted = type_of(node), dtype_of(node.type)
    if fn == "not":
        return w.op("Not", a if given == np.bool_ else w.cast(a, np.bool_))
    if fn == "invert":
        return w.op("BitwiseNot", a if given == np.int64 else w.cast(a, np.int64))
    if given.kind == "f" and fn in ("round", "floor", "ceil"):
        a = w.op(fn.capitalize(), a)
    a = a if given == wanted else w.cast(a, wanted)
    return w.op(fn.capitalize(), a) if fn in ("neg", "abs") else a


@operator("tensor_item")
def _tensor_item(w: Writer, node: Apply, x: str, *, kind: str) -> str:
    name = x if type_of(node) == dtype_of(node.type) else w.cast(x, dtype_of(node.type))
    return name if not node.operands[0].shape else w.op("Reshape", name, w.ints())


@operator("scalar_tensor")
def _scalar_tensor(w: Writer, node: Apply, a: str, *, dtype: Any) -> str:
    return a if type_of(node) == dtype_of(node.type) else w.cast(a, dtype_of(node.type))


@operator("dim_size")
def _dim_size(w: Writer, node: Apply, x: str, *, axis: int) -> str:
    return w.op("Gather", w.op("Shape", x), w.constant(np.int64(axis)), axis=0)
