"""Conversions between numbers that mean the same for every value, also those out of range."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value


def to_integer(b: Builder, x: Value, elem: str) -> Value:
    """A float truncated to an integer type as x86-64 does it (``duograph.ops.cast``).

    Types up to 32 bits go through int32 (uint32 through int64), where everything outside of the range, and NaN, is the
    smallest value; narrower types keep the low bits.
    """
    if elem == "u64":
        big = b.ge(x, 2.0**63)
        low = b.bitcast(_to_signed(b, b.select(big, x - 2.0**63, x), "i64"), "u64")
        return b.select(big, low ^ (1 << 63), low)
    through = "i64" if elem in ("i64", "u32") else "i32"
    return b.convert(_to_signed(b, x, through), elem)


def _to_signed(b: Builder, x: Value, elem: str) -> Value:
    limit = 2.0 ** (31 if elem == "i32" else 63)
    # float32 has no numbers between -2**31 - 1 and -2**31, so that the bound is right without truncation first
    above = b.gt(x, -limit - 1.0) if x.type.elem == "f64" and elem == "i32" else b.ge(x, -limit)
    valid = above & b.lt(x, limit)  # false for NaN
    whole = b.convert(b.select(valid, x, b.const(0.0, x)), elem)
    return b.select(valid, whole, b.const(-(1 << (31 if elem == "i32" else 63)), whole))


def to_half(b: Builder, x: Value) -> Value:
    """float64 rounded once to float16.

    On the way through float32 the last bit is set where anything was lost ("round to odd"), so that the second
    rounding sees on which side of the middle the number lies.
    """
    single = b.convert(x, "f32")
    back = b.convert(single, "f64")
    inexact = b.ne(back, x) & b.lt(b.abs(x), float("inf"))
    bits = b.bitcast(single, "i32")
    # towards zero first: one less where the rounding went away from zero
    bits = b.select(inexact & b.gt(b.abs(back), b.abs(x)), bits - 1, bits)
    bits = b.select(inexact, bits | 1, bits)
    return b.convert(b.bitcast(bits, "f32"), "f16")
