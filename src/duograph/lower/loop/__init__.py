"""Loop IR: kernels as structured SSA with explicit vectors (`ir`), a builder, a printer, a verifier, an interpreter."""

from .builder import Builder
from .ir import Block, Buffer, Function, Instr, Value
from .types import BOOL, F32, F64, I32, I64, VType, element_of

__all__ = [
    "BOOL",
    "F32",
    "F64",
    "I32",
    "I64",
    "Block",
    "Buffer",
    "Builder",
    "Function",
    "Instr",
    "VType",
    "Value",
    "element_of",
]
