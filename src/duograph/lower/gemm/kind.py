"""What kind of numbers a GEMM multiplies, and in tiles of which size."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..loop.builder import Builder
from ..loop.ir import Value
from ..loop.types import BITS, VType
from ..target import Target, current_target

__all__ = ["Kind", "kind_of"]

_NAMES = {"f32": "float32", "f64": "float64"}


@dataclass(frozen=True)
class Kind:
    """The arithmetic of a GEMM and the size of its register tile.

    Attributes:
        elem: element type of both operands in memory.
        acc: element type of accumulators and of packed operands.
        is_complex: operands are pairs; a pair counts as two columns of real numbers (see `pack`).
        rows: rows of the tile.
        lanes: length of its vectors.
        vectors: vectors in one of its rows.
    """

    elem: str
    acc: str
    is_complex: bool
    rows: int
    lanes: int
    vectors: int

    @property
    def columns(self) -> int:
        """Columns of the tile, which is the width of a packed panel."""
        return self.lanes * self.vectors

    @property
    def converts(self) -> bool:
        """Whether operands must be packed because the tile computes in another type."""
        return self.elem != self.acc

    @property
    def size(self) -> int:
        """Bytes of one accumulator."""
        return BITS[self.acc] // 8

    @property
    def elem_size(self) -> int:
        """Bytes of one number in memory."""
        return BITS[self.elem] // 8

    @property
    def vector(self) -> VType:
        return VType(self.acc, self.lanes)

    def parts(self, rows: int) -> list[int]:
        """Tiles of which the rest of a block, fewer rows than ``rows``, can be put together: powers of two."""
        return [1 << bit for bit in reversed(range((rows - 1).bit_length()))]

    def chain(self, b: Builder, x: Value, y: Value, sum_: Value) -> Value:
        """One link of the chain that makes an element of the product."""
        if self.elem == "bool":
            return sum_ | (x & y)
        if sum_.type.is_float:
            return b.fma(x, y, sum_)
        return sum_ + x * y


def kind_of(elem: str, is_complex: bool = False) -> Kind:
    """The kind for operands of element type ``elem`` on the current target."""
    return _kind(elem, is_complex, current_target())


@functools.lru_cache
def _kind(elem: str, is_complex: bool, target: Target) -> Kind:
    acc = {"f16": "f32", "bf16": "f32", "bool": "u8"}.get(elem, elem)
    if acc in _NAMES:
        tile = target.tiles[_NAMES[acc]]
        lanes = target.lanes(BITS[acc] // 8)
        return Kind(elem, acc, is_complex, tile.rows, lanes, tile.columns // lanes)
    # Integers: correct first; a small tile is little code.
    return Kind(elem, acc, is_complex, 4, 8 if BITS[acc] == 64 else 16, 2)
