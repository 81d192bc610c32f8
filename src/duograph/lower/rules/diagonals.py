"""Diagonals, triangles and bands of matrices."""

from __future__ import annotations

from functools import cache
from typing import Any

from duograph.core.dim import dim_max, dim_min
from duograph.core.op import get_op
from duograph.core.types import TensorType

from ..kernels.fill import always_fails, fill_pattern
from ..kernels.strided import copy_all, move
from ..kernels.walk import at_least_one, copy_run, raw
from ..layout import broadcast_strides, contiguous_strides
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..lowering import Extent, Lowering, product
from ..rule import kernel


def _diagonal_of(shape: Any, offset: int, axis1: int, axis2: int) -> tuple[Extent, list[Extent]]:
    """Where the diagonal begins in a contiguous array, and the strides of the array of diagonals."""
    own = contiguous_strides(shape)
    start = own[axis1] * max(-offset, 0) + own[axis2] * max(offset, 0)
    rest = [s for i, s in enumerate(own) if i not in (axis1 % len(shape), axis2 % len(shape))]
    return start, [*rest, own[axis1] + own[axis2]]


@kernel("diagonal")
def diagonal(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    start, strides = _diagonal_of(x.shape, **c.attrs)
    move(c, x, out, out.shape, strides, contiguous_strides(out.shape), start)


@kernel("diagonal_update")
def diagonal_update(c: Lowering) -> None:
    (base, value), (out,) = c.ins, c.outs
    copy_all(c, base, out, out.size)
    start, strides = _diagonal_of(base.shape, **c.attrs)
    shape = get_op("diagonal").infer(base.type, **c.attrs).shape  # type: ignore[attr-defined]
    move(c, value, out, shape, broadcast_strides(value.shape, shape), strides, 0, start)


# ---- triangles -------------------------------------------------------------------------------------------------------


def _triangle(c: Lowering, lower: bool) -> None:
    (x,), (out,) = c.ins, c.outs
    elem, parts = raw(x)
    rows, columns = x.shape[-2:]
    # the first column of row 0 that belongs to the upper part
    cut = dim_min(dim_max(c.attrs["diagonal"], -1 << 62), 1 << 62) + (1 if lower else 0)
    numbers = [product(x.shape[:-1]), rows, columns, cut, parts]
    c.call(_triangle_kernel(elem, lower), [x, out], numbers, inplace=[(0, 1)])


kernel("tril")(lambda c: _triangle(c, lower=True))
kernel("triu")(lambda c: _triangle(c, lower=False))


@cache
def _triangle_kernel(elem: str, lower: bool) -> Function:
    """Every row is two runs: one is copied, the other is zero."""
    b = Builder(f"{'tril' if lower else 'triu'}_{elem}")
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    count, rows, columns, cut, parts = (b.dim(k) for k in ("count", "rows", "columns", "cut", "parts"))
    zero = [b.const(0, elem)]
    length = columns * parts
    height = at_least_one(b, rows)

    def row(r: Value) -> None:
        start = r * length
        edge = b.min(b.max(b.rem(r, height) + cut, 0), columns) * parts
        if lower:
            copy_run(b, out, start, x, start, edge)
            fill_pattern(b, out, start + edge, zero, length - edge)
        else:
            fill_pattern(b, out, start, zero, edge)
            copy_run(b, out, start + edge, x, start + edge, length - edge)

    b.parallel_for(0, count, b.max(b.const(16384) / at_least_one(b, length), 1), row)
    return b.finish()


# ---- bands -----------------------------------------------------------------------------------------------------------


@kernel("diagonals_of")
def diagonals_of(c: Lowering) -> None:
    (x, padding), (out,) = c.ins, c.outs
    elem, parts = raw(x)
    c.call(_bands(elem, parts, writing=False), [x, padding, out], _band_numbers(c, x.shape))


@kernel("with_diagonals")
def with_diagonals(c: Lowering) -> None:
    (x, rows), (out,) = c.ins, c.outs
    copy_all(c, x, out, out.size)
    packed: Any = get_op("diagonals_of").infer(x.type, TensorType(x.dtype, ()), **c.attrs)
    if tuple(rows.shape) != tuple(packed.shape):
        always_fails(c)
        return
    elem, parts = raw(x)
    c.call(_bands(elem, parts, writing=True), [out, rows], _band_numbers(c, x.shape))


def _band_numbers(c: Lowering, shape: Any) -> list[Any]:
    lower, upper = c.attrs["lowest"], c.attrs["highest"]
    above, below = (int(side == "LEFT") for side in c.attrs["alignment"].split("_"))
    return [product(shape[:-2]), shape[-2], shape[-1], lower, upper, above, below]


@cache
def _bands(elem: str, parts: int, writing: bool) -> Function:
    """Diagonals as rows: read with padding around them, or written onto the matrices."""
    b = Builder(f"bands_{elem}")
    matrix = b.buffer("matrix", elem)
    padding = None if writing else b.buffer("padding", elem)
    packed = b.buffer("packed", elem)
    count, rows, columns, lower, upper, above, below = (
        b.dim(k) for k in ("count", "rows", "columns", "lower", "upper", "above", "below")
    )
    bands = upper - lower + 1
    width = b.min(rows + b.min(upper, 0), columns - b.max(lower, 0))
    fill = [b.load(padding, k) for k in range(parts)] if padding is not None else []

    def element(target: Buffer, at: Value, source: Buffer, start: Value) -> None:
        for k in range(parts):
            b.store(target, at * parts + k, b.load(source, start * parts + k))

    def band(r: Value) -> None:
        d = upper - b.rem(r, bands)
        size = b.min(rows + b.min(d, 0), columns - b.max(d, 0))
        left = (b.ge(d, 0) & b.ne(above, 0)) | (b.le(d, 0) & b.ne(below, 0))
        row = r * width
        place = row + b.select(left, b.const(0), width - size)
        first = b.div(r, bands) * rows * columns + b.max(-d, 0) * columns + b.max(d, 0)
        if not writing:
            fill_pattern(b, packed, row * parts, fill, width * parts)

        def single(i: Value) -> None:
            there, here = first + i * (columns + 1), place + i
            if writing:
                element(matrix, there, packed, here)
            else:
                element(packed, here, matrix, there)

        b.for_(0, size, 1, single)

    b.parallel_for(0, count * bands, b.max(b.const(8192) / at_least_one(b, width), 1), band)
    return b.finish()
