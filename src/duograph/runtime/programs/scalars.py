"""Python numbers inside executables: `scalar_binary`, `scalar_unary`, `tensor_item`, `scalar_tensor`, `dim_size`.

Ints are 64 bits here and Python's are not: where a result might not be Python's, failure 3 is noted and the call is
repeated by the interpreter. Functions that are not in the tables run in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core.types import ScalarType, TensorType
from duograph.ir.node import Apply
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Value
from duograph.runtime.kernels.status import OVERFLOW, ZERO_DIVISION

from .emit import Emitter, Scope
from .frame import floor_divided
from .values import SCALAR_OPS, Memory, Number, Tree

_EXACT = 1 << 53
"""Up to here every int is a float."""

_INF = float("inf")
_COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")


def emit(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree:
    """The value of a scalar op."""
    made = _WRITTEN[node.op.name](e, node, operands, scope)
    if made is None:
        return e.host(node, operands, scope, f"{node.op.name} {node.attrs.get('fn', '')} is computed by Python".strip())
    return made


def _binary(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    x, y = operands
    assert isinstance(x, Number) and isinstance(y, Number) and isinstance(node.type, ScalarType)
    fn, b = node.attrs["fn"], e.b
    floats = "float" in (x.type.kind, y.type.kind)
    if fn in ("max", "min"):
        if x.type != y.type:
            return None
        better = b.gt(y.value, x.value) if fn == "max" else b.lt(y.value, x.value)
        return Number(node.type, b.select(better, y.value, x.value))
    if floats:
        if fn in _COMPARE and x.type != y.type:
            for number in (x, y):
                if number.type.kind == "int":
                    _check_exact(b, number.value)
        function = _FLOAT_BINARY.get(fn)
        x_value, y_value = _as_float(b, x), _as_float(b, y)
    else:
        function = _INT_BINARY.get(fn)
        x_value, y_value = x.value, y.value
    if fn in _COMPARE:
        return Number(node.type, b.convert(b.compare(fn, x_value, y_value), "i64"))
    return None if function is None else Number(node.type, function(b, x_value, y_value))


def _unary(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    (x,) = operands
    assert isinstance(x, Number) and isinstance(node.type, ScalarType)
    fn, b = node.attrs["fn"], e.b
    if x.type.kind == "float":
        function = _FLOAT_UNARY.get(fn)
    else:
        function = _INT_UNARY.get(fn)
    return None if function is None else Number(node.type, function(b, x.value))


def _as_float(b: Builder, x: Number) -> Value:
    return b.convert(x.value, "f64")


def _check_exact(b: Builder, x: Value) -> None:
    b.fail(b.gt(x, _EXACT) | b.lt(x, -_EXACT), OVERFLOW)


def _add(b: Builder, x: Value, y: Value) -> Value:
    total = b.add(x, y)
    b.fail(b.lt((total ^ x) & (total ^ y), 0), OVERFLOW)
    return total  # type: ignore[no-any-return]


def _sub(b: Builder, x: Value, y: Value) -> Value:
    total = b.sub(x, y)
    b.fail(b.lt((x ^ y) & (total ^ x), 0), OVERFLOW)
    return total  # type: ignore[no-any-return]


def _mul(b: Builder, x: Value, y: Value) -> Value:
    size = b.abs(b.mul(b.convert(x, "f64"), b.convert(y, "f64")))
    b.fail(b.ge(size, 9.0e18), OVERFLOW)
    return b.mul(x, y)  # type: ignore[no-any-return]


def _truediv(b: Builder, x: Value, y: Value) -> Value:
    _check_exact(b, x)
    _check_exact(b, y)
    b.fail(b.eq(y, 0), ZERO_DIVISION)
    return b.div(b.convert(x, "f64"), b.convert(y, "f64"))  # type: ignore[no-any-return]


def _int_division(rest: bool) -> Callable[[Builder, Value, Value], Value]:
    def function(b: Builder, x: Value, y: Value) -> Value:
        b.fail(b.eq(y, 0), ZERO_DIVISION)
        b.fail(b.eq(y, -1) & b.eq(x, -(1 << 63)), OVERFLOW)
        return b.value(floor_divided(b, x, y)[rest])

    return function


def _float_divided(b: Builder, x: Value, y: Value) -> Value:
    b.fail(b.eq(y, 0.0), ZERO_DIVISION)
    return b.div(x, y)  # type: ignore[no-any-return]


def _int_pow(b: Builder, x: Value, y: Value) -> Value:
    """By squaring. A negative exponent makes a float, whose kind nobody foresaw: Python has to."""
    b.fail(b.lt(y, 0), OVERFLOW)

    def multiplied(p: Value, q: Value, wanted: Value) -> Value:
        size = b.abs(b.mul(b.convert(p, "f64"), b.convert(q, "f64")))
        b.fail(wanted & b.ge(size, 9.0e18), OVERFLOW)
        return b.select(wanted, b.mul(p, q), p)

    def square(base: Value, left: Value, total: Value) -> tuple[Value, Value, Value]:
        total = multiplied(total, base, b.ne(left & 1, 0))
        left = b.shr(left, 1)
        return multiplied(base, base, b.gt(left, 0)), left, total

    return b.while_([x, b.max(y, 0), b.const(1)], lambda base, left, total: b.gt(left, 0), square)[2]


def _lshift(b: Builder, x: Value, y: Value) -> Value:
    bits = b.max(b.min(y, 63), 0)
    shifted = x << bits
    whole = b.eq(b.shr(shifted, bits), x) & b.le(y, 63)
    b.fail(b.lt(y, 0) | ~(whole | b.eq(x, 0)), OVERFLOW)
    return shifted


def _rshift(b: Builder, x: Value, y: Value) -> Value:
    b.fail(b.lt(y, 0), OVERFLOW)
    return b.value(b.shr(x, b.max(b.min(y, 63), 0)))


_INT_BINARY: dict[str, Callable[[Builder, Any, Any], Value]] = {
    "add": _add, "sub": _sub, "mul": _mul, "truediv": _truediv,
    "floordiv": _int_division(False), "mod": _int_division(True),
    "pow": _int_pow, "lshift": _lshift, "rshift": _rshift,
    "and": lambda b, x, y: x & y, "or": lambda b, x, y: x | y, "xor": lambda b, x, y: x ^ y,
}  # fmt: skip


def _float_pow(b: Builder, x: Value, y: Value) -> Value:
    """The C library's, as Python's. Complex results and overflow are Python's to tell."""
    b.fail(b.eq(x, 0.0) & b.lt(y, 0.0) & b.gt(y, -_INF), ZERO_DIVISION)
    power = b.libm("pow", x, y)
    finite = b.lt(b.abs(x), _INF) & b.lt(b.abs(y), _INF)
    b.fail(finite & ~b.lt(b.abs(power), _INF), OVERFLOW)
    return power


def _float_divmod(b: Builder, x: Value, y: Value) -> tuple[Value, Value]:
    """Quotient and remainder as CPython computes them (``float_divmod``)."""
    b.fail(b.eq(y, 0.0), ZERO_DIVISION)
    rest = b.libm("fmod", x, y)
    quotient = (x - rest) / y
    some = b.ne(rest, 0.0)
    other_sign = some & b.ne(b.convert(b.lt(y, 0.0), "i64"), b.convert(b.lt(rest, 0.0), "i64"))
    rest = b.select(some, b.select(other_sign, rest + y, rest), b.copysign(b.const(0.0, "f64"), y))
    quotient = b.select(other_sign, quotient - 1.0, quotient)
    below = b.floor(quotient)
    below = b.select(b.gt(quotient - below, 0.5), below + 1.0, below)
    return b.select(b.ne(quotient, 0.0), below, b.copysign(b.const(0.0, "f64"), x / y)), rest


_FLOAT_BINARY: dict[str, Callable[[Builder, Any, Any], Value]] = {
    "add": Builder.add, "sub": Builder.sub, "mul": Builder.mul, "truediv": _float_divided,
    "pow": _float_pow, "floordiv": lambda b, x, y: _float_divmod(b, x, y)[0],
    "mod": lambda b, x, y: _float_divmod(b, x, y)[1],
}  # fmt: skip


def _int_neg(b: Builder, x: Value) -> Value:
    b.fail(b.eq(x, -(1 << 63)), OVERFLOW)
    return b.sub(0, x)  # type: ignore[no-any-return]


def _int_abs(b: Builder, x: Value) -> Value:
    return b.select(b.lt(x, 0), _int_neg(b, x), x)


def _to_bool(b: Builder, x: Value) -> Value:
    return b.convert(b.ne(x, 0.0 if x.type.is_float else 0), "i64")


def _to_int(rounding: str) -> Callable[[Builder, Value], Value]:
    def function(b: Builder, x: Value) -> Value:
        whole = b.unary(rounding, x)
        fits = b.lt(b.abs(whole), 9.0e18)  # false for NaN
        b.fail(~fits, OVERFLOW)
        return b.convert(b.select(fits, whole, 0.0), "i64")

    return function


def _of_math(name: str) -> Callable[[Builder, Value], Value]:
    """The C library's function; errors, infinities and NaN are Python's to tell."""

    def function(b: Builder, x: Value) -> Value:
        made = b.libm(name, x)
        b.fail(~b.lt(b.abs(made), _INF), OVERFLOW)
        return made

    return function


_OF_MATH = {
    f"math.{name}": _of_math(name)
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log", "log10"),
        *("log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh"),
    )
}


def _truth(test: Callable[[Builder, Value], Any]) -> Callable[[Builder, Value], Value]:
    return lambda b, x: b.convert(test(b, x), "i64")


_TESTS = {
    "math.isnan": _truth(lambda b, x: b.ne(x, x)),
    "math.isinf": _truth(lambda b, x: b.eq(b.abs(x), _INF)),
    "math.isfinite": _truth(lambda b, x: b.lt(b.abs(x), _INF)),
}

_INT_UNARY: dict[str, Callable[[Builder, Any], Value]] = {
    "neg": _int_neg, "abs": _int_abs, "invert": lambda b, x: x ^ -1, "not": lambda b, x: b.convert(b.eq(x, 0), "i64"),
    "float": lambda b, x: b.convert(x, "f64"), "bool": _to_bool,
    **dict.fromkeys(("pos", "int", "int64", "round", "floor", "ceil", "trunc"), lambda b, x: x),
}  # fmt: skip
_FLOAT_UNARY: dict[str, Callable[[Builder, Any], Value]] = {
    **_OF_MATH, **_TESTS, "math.fabs": Builder.abs,
    "neg": Builder.neg, "pos": lambda b, x: x, "abs": Builder.abs, "float": lambda b, x: x, "bool": _to_bool,
    "not": lambda b, x: b.convert(b.eq(x, 0.0), "i64"),
    "int": _to_int("trunc"), "trunc": _to_int("trunc"), "floor": _to_int("floor"), "ceil": _to_int("ceil"),
    "round": _to_int("rint"),
}  # fmt: skip


# ---- numbers and tensors --------------------------------------------------------------------------------------------


def _tensor_item(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    (x,) = operands
    assert isinstance(x, Memory) and isinstance(node.type, ScalarType)
    if x.type.dtype.is_complex or x.type.dtype.name.startswith("float8"):
        return None
    if any(n != 1 for n in x.type.shape):
        return None  # a size that is not 1, or not known: Python raises the error, or not
    b = e.b
    kind, elem = node.attrs["kind"], x.elem
    if elem == "u64" and kind != "bool":
        return None
    value = b.load(e.buffer(x), 0)
    if elem in ("f16", "bf16"):
        value = b.convert(value, "f32")
    if kind == "float":
        return Number(node.type, b.convert(b.convert(value, "i64") if elem == "bool" else value, "f64"))
    if kind == "bool":
        value = value if value.type.is_bool else b.ne(value, 0.0 if value.type.is_float else 0)
        return Number(node.type, b.convert(value, "i64"))
    if value.type.is_float:
        return Number(node.type, _to_int("trunc")(b, b.convert(value, "f64")))
    return Number(node.type, b.convert(value, "i64"))


def _scalar_tensor(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    (x,) = operands
    assert isinstance(x, Number) and isinstance(node.type, TensorType)
    b, value = e.b, x.value
    out = Memory(node.type, None)
    if out.type.dtype.is_complex or out.elem in ("f16", "bf16", "u64") or out.type.dtype.name.startswith("float8"):
        return None
    if out.elem == "bool":
        value = b.ne(value, 0.0 if value.type.is_float else 0)
    elif out.elem in ("f32", "f64"):
        if out.elem == "f32" and not value.type.is_float:
            _check_exact(b, value)  # beyond, NumPy rounds twice
            value = b.convert(value, "f64")
        value = b.convert(value, out.elem)
    else:
        if value.type.is_float:
            value = _to_int("trunc")(b, value)
        value = b.convert(value, out.elem)  # integers wrap (`ops.scalar.fitted`)
    memory = e.result(node, 0, node.type, scope)
    b.store(e.buffer(memory), 0, value)
    return memory


def _dim_size(e: Emitter, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
    (x,) = operands
    assert isinstance(x, Memory) and isinstance(node.type, ScalarType)
    return Number(node.type, e.b.value(e.dim(x.type.shape[node.attrs["axis"]], scope.symbols)))


_WRITTEN: dict[str, Callable[[Emitter, Apply, list[Tree], Scope], Tree | None]] = {
    "scalar_binary": _binary, "scalar_unary": _unary, "tensor_item": _tensor_item, "scalar_tensor": _scalar_tensor,
    "dim_size": _dim_size,
}  # fmt: skip
"""How each of `SCALAR_OPS` is written; ``None`` from one of them: Python has to."""
assert _WRITTEN.keys() == SCALAR_OPS
