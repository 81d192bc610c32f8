"""LLVM text of conversions between float32 and half precision, whose values are carried as their bits (``i16``).

bfloat16, and float16 where the processor cannot convert it, are done with integers: LLVM would call a library.
"""

from __future__ import annotations

from typing import Protocol

from duograph.lower.loop.types import VType


class Writer(Protocol):
    """What is needed of the emitter."""

    def temp(self, text: str) -> str: ...


class _Words:
    """Writes operations on 32-bit words of ``type``'s lanes."""

    def __init__(self, out: Writer, type: VType) -> None:
        lanes = type.lanes
        self.out = out
        self.many = (lambda t: t) if lanes == 1 else (lambda t: f"<{lanes} x {t}>")
        self.word, self.single, self.bits, self.cond = (self.many(t) for t in ("i32", "float", "i16", "i1"))

    def number(self, value: int) -> str:
        return str(value) if self.word == "i32" else f"splat (i32 {value})"

    def real(self, value: str) -> str:
        return value if self.word == "i32" else f"splat (float {value})"

    def op(self, name: str, x: str, value: int | str) -> str:
        return self.out.temp(f"{name} {self.word} {x}, {self.number(value) if isinstance(value, int) else value}")

    def select(self, test: str, x: str, value: int, then: str, otherwise: str) -> str:
        """``then`` where ``x`` (as unsigned) compares so to ``value``."""
        cond = self.out.temp(f"icmp {test} {self.word} {x}, {self.number(value)}")
        return self.out.temp(f"select {self.cond} {cond}, {self.word} {then}, {self.word} {otherwise}")

    def as_word(self, x: str) -> str:
        return self.out.temp(f"bitcast {self.single} {x} to {self.word}")

    def as_single(self, x: str) -> str:
        return self.out.temp(f"bitcast {self.word} {x} to {self.single}")


def widen_half(out: Writer, x: str, type: VType, has_f16: bool) -> str:
    """The float32 values of the half-precision bits ``x``."""
    w = _Words(out, type)
    if type.elem == "f16" and has_f16:
        half = w.many("half")
        return out.temp(f"fpext {half} {out.temp(f'bitcast {w.bits} {x} to {half}')} to {w.single}")
    wide = out.temp(f"zext {w.bits} {x} to {w.word}")
    if type.elem == "bf16":
        return w.as_single(w.op("shl", wide, 16))
    # exponent and mantissa as those of a float32 that is 2**-112 of the number; infinity and NaN are set apart
    magnitude = w.op("shl", w.op("and", wide, 0x7FFF), 13)
    scaled = w.as_word(out.temp(f"fmul {w.single} {w.as_single(magnitude)}, {w.real('0x46F0000000000000')}"))
    special = w.op("or", magnitude, 0x7F800000)
    value = w.select("uge", magnitude, 0x7C00 << 13, special, scaled)
    return w.as_single(w.op("or", value, w.op("shl", w.op("and", wide, 0x8000), 16)))


def narrow_half(out: Writer, x: str, type: VType, has_f16: bool) -> str:
    """The float32 values ``x`` rounded (to nearest, ties to even) to half-precision bits."""
    w = _Words(out, type)
    if type.elem == "f16" and has_f16:
        half = w.many("half")
        return out.temp(f"bitcast {half} {out.temp(f'fptrunc {w.single} {x} to {half}')} to {w.bits}")
    raw = w.as_word(x)
    magnitude = w.op("and", raw, 0x7FFFFFFF)
    if type.elem == "bf16":
        shifted = w.op("lshr", raw, 16)
        rounded = w.op("lshr", w.op("add", raw, w.op("add", w.op("and", shifted, 1), 0x7FFF)), 16)
        chosen = w.select("ugt", magnitude, 0x7F800000, w.op("or", shifted, 0x40), rounded)
        return out.temp(f"trunc {w.word} {chosen} to {w.bits}")
    odd = w.op("and", w.op("lshr", magnitude, 13), 1)
    normal = w.op("lshr", w.op("add", w.op("add", magnitude, odd), 0xFFF - (112 << 23)), 13)
    # adding 1/2 leaves the number in units of the smallest float16 in the low bits
    moved = out.temp(f"fadd {w.single} {w.as_single(magnitude)}, {w.real('0x3FE0000000000000')}")
    small = w.op("sub", w.as_word(moved), 0x3F000000)
    value = w.select("ult", magnitude, 0x38800000, small, normal)
    value = w.select("uge", magnitude, 0x477FF000, w.number(0x7C00), value)
    value = w.select("ugt", magnitude, 0x7F800000, w.number(0x7E00), value)
    signed = w.op("or", value, w.op("and", w.op("lshr", raw, 16), 0x8000))
    return out.temp(f"trunc {w.word} {signed} to {w.bits}")
