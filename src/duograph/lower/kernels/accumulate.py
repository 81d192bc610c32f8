"""Sums that are gathered in memory, in the order of the reference.

Half types are accumulated in float32 and rounded once at the end. Complex sums are pairs of real ones.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from ..lowering import Extent, Lowering, Operand, Temporary
from .walk import SEGMENT, run_lanes


def accumulator(x: Operand) -> tuple[str, int]:
    """The element type in which values of ``x`` are accumulated, and how many of them a value has."""
    return ("f32" if x.elem in ("f16", "bf16") else x.elem), (2 if x.is_complex else 1)


def plus(x: Value, y: Value) -> Value:
    """The sum; of bools, whether one of them holds."""
    return x | y if x.type.is_bool else x + y


def times(x: Value, y: Value) -> Value:
    """The product; of bools, whether both hold."""
    return x & y if x.type.is_bool else x * y


def add_runs(b: Builder, dst: Buffer, at: Index, src: Buffer, start: Index, n: Index) -> None:
    """``dst[at + i] += src[start + i]`` for ``n`` elements."""

    def some(i: Value, lanes: int) -> None:
        value = b.convert(b.load(src, b.add(start, i), lanes), dst.elem)
        place = b.add(at, i)
        b.store(dst, place, plus(b.load(dst, place, lanes), value))

    b.vector_loop(0, n, run_lanes(dst.elem), some)


@cache
def converting_copy(source: str, target: str) -> Function:
    """``count`` neighbouring elements in another type."""
    b = Builder(f"convert_{source}_{target}")
    x, out = b.buffer("x", source), b.buffer("out", target)
    n = b.dim("n")

    def some(i: Value, lanes: int) -> None:
        b.store(out, i, b.convert(b.load(x, i, lanes), target))

    b.parallel(0, n, SEGMENT, lambda lo, hi: b.vector_loop(lo, hi, 16, some))
    return b.finish()


def convert_all(c: Lowering, src: Operand | Temporary, dst: Operand | Temporary, count: Extent) -> None:
    """Adds a conversion of ``count`` elements (two per complex number)."""
    c.call(converting_copy(src.elem, dst.elem), [src, dst], [count])


def store_accumulated(c: Lowering, total: Any, out: Operand) -> None:
    """Adds the rounding of what was accumulated to the type of ``out``, if it was not accumulated there."""
    if total is not out:
        convert_all(c, total, out, out.size)
