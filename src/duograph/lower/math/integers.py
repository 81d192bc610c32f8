"""Integer division and powers that never trap."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from ..loop.types import VType
from .common import any_lane

_EXACT_IN = {"i8": "f32", "u8": "f32", "i16": "f32", "u16": "f32", "i32": "f64", "u32": "f64"}
"""Floats in which the truncated quotient of two such integers is right: the quotient is at least ``1 / divisor`` away
from the next whole number, farther than its rounding error. Processors have vector division of floats alone."""


def largest(type: VType) -> int:
    """The largest number of an integer type."""
    return (1 << (type.bits - type.is_signed)) - 1


def smallest(type: VType) -> int:
    """The smallest number of an integer type."""
    return -(1 << (type.bits - 1)) if type.is_signed else 0


def quotient(b: Builder, x: Value, y: Value) -> Value:
    """``x / y`` truncated; the smallest number by -1 wraps around, anything by 0 is unspecified but defined."""
    unsafe = b.eq(y, 0)
    if x.type.is_signed:
        unsafe = unsafe | b.eq(y, -1)
    safe = b.select(unsafe, b.const(1, y), y)
    wide = _EXACT_IN.get(x.type.elem)
    if wide is None or x.type.lanes == 1:
        q = b.div(x, safe)
    else:
        q = b.convert(b.trunc(b.convert(x, wide) / b.convert(safe, wide)), x.type)
    return b.select(b.eq(y, -1), -x, q) if x.type.is_signed else q


def remainder(b: Builder, x: Value, y: Value) -> Value:
    """The remainder with the sign of ``x``; modulo 0 it is 0."""
    return b.select(b.eq(y, 0), b.const(0, x), x - quotient(b, x, y) * y)


def power(b: Builder, x: Value, y: Value) -> Value:
    """``x ** y`` modulo 2 to the width, by repeated squaring; negative exponents as in ``duograph.ops.power``."""
    if x.type.is_bool:
        return x | ~y
    one, zero = b.const(1, x), b.const(0, x)
    count = b.select(b.lt(y, zero), zero, y) if x.type.is_signed else y

    def goes_on(base: Value, rest: Value, product: Value) -> Value:
        return any_lane(b, b.ne(rest, zero))

    def step(base: Value, rest: Value, product: Value) -> tuple[Value, ...]:
        product = b.select(b.ne(rest & one, zero), product * base, product)
        return base * base, b.shr(rest, one), product

    *_, product = b.while_((x, count, one), goes_on, step)
    if not x.type.is_signed:
        return product
    minus = b.const(-1, x)
    unit = b.select(b.ne(y & one, zero), minus, one)
    inverse = b.select(b.eq(x, minus), unit, b.select(b.eq(x, one), one, zero))
    inverse = b.select(b.eq(x, zero), b.const(smallest(x.type), x), inverse)
    return b.select(b.lt(y, zero), inverse, product)
