"""Comparisons, logic, bits, choice and tests of floats."""

from __future__ import annotations

from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Value
from ..rule import Complex, pointwise

# ---- comparisons ----------------------------------------------------------------------------------------------------


@pointwise("equal")
def equal(b: Builder, x: Any, y: Any) -> Value:
    if isinstance(x, Complex):
        return b.eq(x.re, y.re) & b.eq(x.im, y.im)
    return b.eq(x, y)


@pointwise("not_equal")
def not_equal(b: Builder, x: Any, y: Any) -> Value:
    if isinstance(x, Complex):
        return b.ne(x.re, y.re) | b.ne(x.im, y.im)
    return b.ne(x, y)


def _ordered(name: str, pred: str) -> None:
    """Of bools, false is less than true."""

    def rule(b: Builder, x: Value, y: Value) -> Value:
        if x.type.is_bool:
            x, y = b.convert(x, "u8"), b.convert(y, "u8")
        return b.compare(pred, x, y)

    pointwise(name)(rule)


for _name, _pred in (("less", "lt"), ("less_equal", "le"), ("greater", "gt"), ("greater_equal", "ge")):
    _ordered(_name, _pred)


# ---- logic and bits -------------------------------------------------------------------------------------------------

for _kind in ("logical", "bitwise"):
    pointwise(f"{_kind}_and")(lambda b, x, y: x & y)
    pointwise(f"{_kind}_or")(lambda b, x, y: x | y)
    pointwise(f"{_kind}_xor")(lambda b, x, y: x ^ y)
    pointwise(f"{_kind}_not")(lambda b, x: ~x)


def _shift(b: Builder, x: Value, y: Value, op: str) -> Value:
    """Narrow integers are shifted as 32-bit ones; the count is taken modulo the width."""
    narrow = x.type
    if narrow.bits < 32:
        x, y = b.convert(x, "i32"), b.convert(y, "i32")
    count = y & (x.type.bits - 1)
    return b.convert(b.binary(op, x, count), narrow)


pointwise("bitwise_left_shift")(lambda b, x, y: _shift(b, x, y, "shl"))
pointwise("bitwise_right_shift")(lambda b, x, y: _shift(b, x, y, "shr"))


# ---- choice ---------------------------------------------------------------------------------------------------------


@pointwise("select", raw_half=True)
def select(b: Builder, condition: Value, x: Any, y: Any) -> Any:
    if isinstance(x, Complex):
        return Complex(b.select(condition, x.re, y.re), b.select(condition, x.im, y.im))
    return b.select(condition, x, y)


# ---- tests of floats ------------------------------------------------------------------------------------------------


def _never(b: Builder, x: Value) -> Value:
    return b.const(False, x.type.with_elem("bool"))


def _is_infinite(b: Builder, x: Value) -> Value:
    return b.eq(b.abs(x), float("inf")) if x.type.is_float else _never(b, x)


def _is_nan(b: Builder, x: Value) -> Value:
    return b.isnan(x) if x.type.is_float else _never(b, x)


def _is_finite(b: Builder, x: Value) -> Value:
    return b.lt(b.abs(x), float("inf")) if x.type.is_float else ~_never(b, x)


@pointwise("isinf")
def isinf(b: Builder, x: Any) -> Value:
    return _is_infinite(b, x.re) | _is_infinite(b, x.im) if isinstance(x, Complex) else _is_infinite(b, x)


@pointwise("isnan")
def isnan(b: Builder, x: Any) -> Value:
    return _is_nan(b, x.re) | _is_nan(b, x.im) if isinstance(x, Complex) else _is_nan(b, x)


@pointwise("isfinite")
def isfinite(b: Builder, x: Any) -> Value:
    return _is_finite(b, x.re) & _is_finite(b, x.im) if isinstance(x, Complex) else _is_finite(b, x)


@pointwise("signbit")
def signbit(b: Builder, x: Value) -> Value:
    if x.type.is_float:
        return b.lt(b.bitcast(x, "i32" if x.type.elem == "f32" else "i64"), 0)
    return b.lt(x, 0) if x.type.is_signed else _never(b, x)
