"""How LLVM spells types, constants and simple instructions."""

from __future__ import annotations

import struct
from typing import Any

from duograph.lower.loop.types import VType, float_bits

_INT = {"i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64"}
LLVM = {**_INT, "f32": "float", "f64": "double", "bool": "i1", "f16": "i16", "bf16": "i16"}
FLOAT_CMP = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}

BINARY = {
    "add": ("fadd", "add", "add"), "sub": ("fsub", "sub", "sub"), "mul": ("fmul", "mul", "mul"),
    "div": ("fdiv", "sdiv", "udiv"), "rem": ("frem", "srem", "urem"),
    "min": ("", "llvm.smin", "llvm.umin"), "max": ("", "llvm.smax", "llvm.umax"),
    "and": ("", "and", "and"), "or": ("", "or", "or"), "xor": ("", "xor", "xor"),
    "shl": ("", "shl", "shl"), "shr": ("", "ashr", "lshr"),
}  # fmt: skip
FLOAT_UNARY = {"abs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint"}
BITS_OF = {"popcount": "ctpop", "clz": "ctlz", "ctz": "cttz"}


def llvm_type(type: VType) -> str:
    """How LLVM calls the type of a value."""
    base = LLVM[type.elem]
    return base if type.lanes == 1 else f"<{type.lanes} x {base}>"


def memory_type(type: VType) -> str:
    base = "i8" if type.elem == "bool" else LLVM[type.elem]
    return base if type.lanes == 1 else f"<{type.lanes} x {base}>"


def suffix(type: VType) -> str:
    """The part of an intrinsic's name that says its type."""
    base = {"float": "f32", "double": "f64", "half": "f16"}.get(LLVM[type.elem], LLVM[type.elem])
    return base if type.lanes == 1 else f"v{type.lanes}{base}"


def literal(value: Any, type: VType) -> str:
    """A constant as LLVM writes it."""
    if isinstance(value, tuple):
        return f"<{', '.join(f'{LLVM[type.elem]} {literal(v, type.with_lanes(1))}' for v in value)}>"
    if type.lanes > 1:
        if value == 0 and not (isinstance(value, float) and str(value)[0] == "-"):
            return "zeroinitializer"
        return f"splat ({LLVM[type.elem]} {literal(value, type.with_lanes(1))})"
    if type.is_bool:
        return "true" if value else "false"
    if type.elem in ("f32", "f64"):
        if type.elem == "f32":
            value = _round_f32(value)
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    if type.is_float:  # half types are carried as their bits
        return str(int(type.numpy.type(value).view("uint16")))
    return str(value)


def _round_f32(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def type_of(typed: str) -> str:
    """The type of a typed operand: everything before its last word, vectors and splats included."""
    if typed.startswith("<"):
        return typed[: typed.index(">") + 1]
    return typed.split(" ", 1)[0]


def memory_suffix(type: VType) -> str:
    base = {"float": "f32", "double": "f64"}.get(LLVM[type.elem], LLVM[type.elem])
    base = "i8" if type.elem == "bool" else base
    return base if type.lanes == 1 else f"v{type.lanes}{base}"


def word(dim: Any) -> int:
    if dim.type.is_float:
        return float_bits(dim.const)
    return int(dim.const)
