"""Types of loop IR: machine numbers, alone or in vectors.

``bool`` is one bit as a value and one byte (0 or 1) in memory; every other element is stored as it is. Signedness is
part of the type (``i32``, ``u32``), so that an instruction means one thing.
"""

from __future__ import annotations

import functools
import struct
from dataclasses import dataclass

import ml_dtypes
import numpy as np

NUMPY = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
"""The NumPy dtype of each element type: what a buffer of it holds."""

BITS = {name: 8 if name == "bool" else dtype.itemsize * 8 for name, dtype in NUMPY.items()}
FLOATS = ("f16", "bf16", "f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")


@dataclass(frozen=True, slots=True)
class VType:
    """``lanes`` numbers of type ``elem``; one lane is a scalar."""

    elem: str
    lanes: int = 1

    @property
    def is_float(self) -> bool:
        return self.elem in FLOATS

    @property
    def is_signed(self) -> bool:
        return self.elem in SIGNED

    @property
    def is_bool(self) -> bool:
        return self.elem == "bool"

    @property
    def is_integer(self) -> bool:
        return self.elem in SIGNED or self.elem in UNSIGNED

    @property
    def bits(self) -> int:
        """Bits of one element in memory."""
        return BITS[self.elem]

    @property
    def numpy(self) -> np.dtype:
        return NUMPY[self.elem]

    def with_elem(self, elem: str) -> VType:
        return VType(elem, self.lanes)

    def with_lanes(self, lanes: int) -> VType:
        return VType(self.elem, lanes)

    def __str__(self) -> str:
        return self.elem if self.lanes == 1 else f"{self.elem}x{self.lanes}"


def parse_vtype(text: str) -> VType:
    """What `str` printed."""
    elem, _, lanes = text.partition("x")
    if elem not in NUMPY:
        raise ValueError(f"not a type of loop IR: {text!r}")
    return VType(elem, int(lanes) if lanes else 1)


I64 = VType("i64")
I32 = VType("i32")
BOOL = VType("bool")
F32 = VType("f32")
F64 = VType("f64")


@functools.cache
def element_of(dtype: object) -> str:
    """The element type that holds values of a NumPy dtype (complex numbers are pairs of their real type, float8 is
    bytes: `lowering.numpy_only` keeps kernels from computing with them)."""
    kind = np.dtype(dtype)  # type: ignore[call-overload]
    if kind.kind == "c":
        return "f32" if kind.itemsize == 8 else "f64"
    for name, own in NUMPY.items():
        if own == kind:
            return name
    if kind.name.startswith("float8"):
        return "u8"
    raise TypeError(f"no element type of loop IR holds {kind}")


def float_bits(value: float) -> int:
    """The bits of a float64, as the signed word that kernels are given."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def float_of_bits(word: int) -> float:
    """The float64 that has these bits."""
    return float(struct.unpack("<d", struct.pack("<q", word))[0])
