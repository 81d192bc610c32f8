"""Constants: their bits in any dtype, and memory filled with them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from duograph.ops.creation import filled

from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from ..lowering import Extent, Lowering, Operand, Temporary
from .walk import SEGMENT, raw, run, run_lanes


def words_of(value: Any, dtype: np.dtype) -> list[int]:
    """``value`` as NumPy stores it in ``dtype``: one word per raw element, signed as dims are."""
    size = min(dtype.itemsize, 8)
    return [int(w) for w in filled((1,), value, dtype).view(f"u{size}").view(f"i{size}")]


def as_raw(b: Builder, words: Sequence[Value], elem: str) -> list[Value]:
    """Dims as raw elements."""
    return [b.convert(w, elem) for w in words]


def pattern(b: Builder, parts: Sequence[Value], lanes: int) -> Value:
    """``lanes`` elements of the repeated ``parts`` (one or two)."""
    if len(parts) == 1 or lanes == 1:
        return b.splat(parts[0], lanes) if lanes > 1 else parts[0]
    pair = b.insert(b.splat(parts[0], 2), 1, parts[1])
    return b.shuffle(pair, pair, [k % 2 for k in range(lanes)])


def fill_pattern(b: Builder, dst: Buffer, at: Index, parts: Sequence[Value], n: Index) -> None:
    """``n`` raw elements (a multiple of the parts) set to the repeated parts."""
    run(b, n, run_lanes(dst.elem), lambda i, k: b.store(dst, b.add(at, i), pattern(b, parts, k)))


@cache
def fill_kernel(elem: str, parts: int) -> Function:
    b = Builder(f"fill_{elem}")
    out = b.buffer("out", elem)
    n = b.dim("n")
    values = as_raw(b, [b.dim(f"value{k}") for k in range(parts)], elem)

    def chunk(lo: Value, hi: Value) -> None:
        fill_pattern(b, out, lo, values, hi - lo)

    b.parallel(0, n, SEGMENT, chunk)
    return b.finish()


def fill_words(c: Lowering, dst: Operand | Temporary, words: Sequence[int], size: Extent) -> None:
    """Adds the filling of ``size`` elements of ``dst`` with the number whose raw elements are ``words``."""
    elem, parts = raw(dst)
    if len(words) == 2 and words[0] == words[1]:
        words = words[:1]
    c.call(fill_kernel(elem, len(words)), [dst], [size * parts, *words])


def fill(c: Lowering, dst: Operand, value: Any) -> None:
    """Adds the filling of ``dst`` with a number that is known now."""
    fill_words(c, dst, words_of(value, dst.dtype.numpy), dst.size)


def zero(c: Lowering, dst: Operand | Temporary, size: Extent) -> None:
    """Adds the filling of ``size`` elements of ``dst`` with zero bytes."""
    elem, parts = raw(dst)
    c.call(fill_kernel(elem, 1), [dst], [size * parts, 0])


@cache
def failing_kernel(code: int) -> Function:
    b = Builder("fails")
    b.fail(b.const(True, "bool"), code)
    return b.finish()


def always_fails(c: Lowering, code: int = 1) -> None:
    """What the operands' shapes alone say is an error: the reference is to raise it."""
    c.call(failing_kernel(code), [])
