"""Arithmetic that is exact up to one rounding: sums, products, quotients, remainders, extremes, signs, rounding.

The reference is NumPy's meaning (`duograph.ops.arithmetic`): integers wrap around, bool has ``or``, ``exclusive or``
and ``and`` for ``add``, ``sub`` and ``mul``. LLVM leaves integer division by zero and of the smallest number by -1
undefined, so divisors are made safe first.
"""

from __future__ import annotations

from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Value
from ..math import complex_arithmetic as cplx
from ..math.integers import largest, quotient, remainder, smallest
from ..math.remainders import fmod as float_fmod
from ..math.remainders import python_mod
from ..rule import Complex, pointwise

# ---- sums, products, quotients --------------------------------------------------------------------------------------


@pointwise("add")
def add(b: Builder, x: Any, y: Any) -> Any:
    if isinstance(x, Complex):
        return Complex(x.re + y.re, x.im + y.im)
    return x | y if x.type.is_bool else x + y


@pointwise("sub")
def sub(b: Builder, x: Any, y: Any) -> Any:
    if isinstance(x, Complex):
        return Complex(x.re - y.re, x.im - y.im)
    return x ^ y if x.type.is_bool else x - y


@pointwise("mul")
def mul(b: Builder, x: Any, y: Any) -> Any:
    if isinstance(x, Complex):
        return cplx.mul(b, x, y)
    return x & y if x.type.is_bool else x * y


@pointwise("div")
def div(b: Builder, x: Any, y: Any) -> Any:
    return cplx.div(b, x, y) if isinstance(x, Complex) else x / y


@pointwise("neg")
def neg(b: Builder, x: Any) -> Any:
    return Complex(-x.re, -x.im) if isinstance(x, Complex) else -x


@pointwise("square")
def square(b: Builder, x: Any) -> Any:
    return cplx.mul(b, x, x) if isinstance(x, Complex) else x * x


@pointwise("reciprocal")
def reciprocal(b: Builder, x: Any) -> Any:
    return cplx.reciprocal(b, x) if isinstance(x, Complex) else b.const(1, x) / x


# ---- quotients and remainders ---------------------------------------------------------------------------------------


def _saturated(b: Builder, x: Value) -> Value:
    """What integer division by zero gives: the largest number of the type, the smallest or 0, by the sign of ``x``."""
    over = b.select(b.gt(x, 0), b.const(largest(x.type), x), b.const(0, x))
    return b.select(b.lt(x, 0), b.const(smallest(x.type), x), over) if x.type.is_signed else over


def _float_quotient(b: Builder, x: Value, y: Value, round_: Any) -> Value:
    """The quotient is taken in float64 before it is rounded."""
    return b.convert(round_(b.convert(x, "f64") / b.convert(y, "f64")), x.type)


@pointwise("floor_div")
def floor_div(b: Builder, x: Value, y: Value) -> Value:
    if x.type.is_float:
        return _float_quotient(b, x, y, b.floor)
    q = quotient(b, x, y)
    if x.type.is_signed:
        # a remainder of the other sign than the divisor's means that truncation went up
        rest = x - q * y
        q = b.select(b.ne(rest, 0) & b.lt(rest ^ y, 0), q - 1, q)
    return b.select(b.eq(y, 0), _saturated(b, x), q)


@pointwise("trunc_div")
def trunc_div(b: Builder, x: Value, y: Value) -> Value:
    if x.type.is_float:
        return _float_quotient(b, x, y, b.trunc)
    return b.select(b.eq(y, 0), _saturated(b, x), quotient(b, x, y))


@pointwise("mod")
def mod(b: Builder, x: Value, y: Value) -> Value:
    if x.type.is_float:
        return python_mod(b, x, y)
    rest = remainder(b, x, y)
    if not x.type.is_signed:
        return rest
    return b.select(b.ne(rest, 0) & b.lt(rest ^ y, 0), rest + y, rest)


@pointwise("fmod")
def fmod(b: Builder, x: Value, y: Value) -> Value:
    return float_fmod(b, x, y) if x.type.is_float else remainder(b, x, y)


# ---- extremes and signs ---------------------------------------------------------------------------------------------


@pointwise("maximum")
def maximum(b: Builder, x: Value, y: Value) -> Value:
    if x.type.is_bool:
        return x | y
    if not x.type.is_float:
        return b.max(x, y)
    return b.select(b.isnan(x), x, b.select(b.gt(x, y), x, y))  # of two equal zeros the second, as NumPy on x86


@pointwise("minimum")
def minimum(b: Builder, x: Value, y: Value) -> Value:
    if x.type.is_bool:
        return x & y
    if not x.type.is_float:
        return b.min(x, y)
    return b.select(b.isnan(x), x, b.select(b.lt(x, y), x, y))


@pointwise("relu")
def relu(b: Builder, x: Value) -> Value:
    if not x.type.is_float:
        return b.max(x, b.const(0, x))
    return b.select(b.le(x, 0.0), b.const(0.0, x), x)  # -0.0 gives 0.0, NaN stays


@pointwise("sign")
def sign(b: Builder, x: Any) -> Any:
    if isinstance(x, Complex):
        return cplx.sign(b, x)
    if x.type.is_bool:
        return x
    zero, one = b.const(0, x), b.const(1, x)
    up = b.select(b.gt(x, zero), one, zero)
    return b.select(b.lt(x, zero), b.const(-1, x), up) if x.type.is_signed or x.type.is_float else up


@pointwise("abs")
def abs_(b: Builder, x: Any) -> Any:
    if isinstance(x, Complex):
        return cplx.magnitude(b, x)
    return b.abs(x) if x.type.is_float or x.type.is_signed else x


# ---- rounding, neighbours -------------------------------------------------------------------------------------------

pointwise("floor")(lambda b, x: b.floor(x))
pointwise("ceil")(lambda b, x: b.ceil(x))
pointwise("trunc")(lambda b, x: b.trunc(x) if x.type.is_float else x)
pointwise("round")(lambda b, x: b.rint(x))
pointwise("copysign")(lambda b, x, y: b.copysign(x, y))


@pointwise("nextafter")
def nextafter(b: Builder, x: Value, y: Value) -> Value:
    """Floats of one sign are ordered like their bits."""
    bits = b.bitcast(x, "i32" if x.type.elem == "f32" else "i64")
    away = b.lt(x, y) ^ b.lt(x, 0.0)  # from zero, or towards it
    step = b.bitcast(b.select(away, bits + 1, bits - 1), x.type)
    least = b.copysign(b.bitcast(b.const(1, bits), x.type), y)
    moved = b.select(b.eq(x, 0.0), least, step)
    return b.select(b.isnan(x) | b.isnan(y), x + y, b.select(b.eq(x, y), y, moved))
