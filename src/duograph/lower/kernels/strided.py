"""Strided copies: what is behind ``transpose``, slices, ``concat``, ``broadcast_to``, ``flip``, ``roll``, ``tile`` ...

Source and destination are arrays described by extents, strides and an offset. Axes are joined first; then the strides
of the last axis choose the inner loop. If the source runs along another axis than the destination, the two axes are
walked in tiles that are transposed in registers, so that both sides touch whole cache lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..lanes import transposed
from ..layout import broadcast_strides, collapse, contiguous_strides
from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from ..loop.types import BITS
from ..lowering import Extent, Lowering, Operand, Temporary, product
from .walk import (
    SEGMENT,
    Axes,
    at_least_one,
    copy_run,
    dims,
    fill_run,
    parallel_rows,
    raw,
    run_lanes,
    walk,
)  # fmt: skip


def move(
    c: Lowering,
    src: Operand | Temporary,
    dst: Operand | Temporary,
    extents: Sequence[Extent],
    src_strides: Sequence[Extent],
    dst_strides: Sequence[Extent],
    src_offset: Extent = 0,
    dst_offset: Extent = 0,
    starts: Sequence[tuple[Any, Extent, Extent, Extent]] = (),
    into: bool = False,
) -> None:
    """Adds a copy of a strided array to ``c``; strides and offsets count elements.

    ``starts`` are run-time indices where the block begins in the source (``into``: in the destination): the index (a
    scalar operand), the size of its axis, the size of the block along it, and the stride.
    """
    if any(isinstance(n, int) and n == 0 for n in extents) and not starts:
        return
    elem, parts = raw(dst)
    if parts > 1:
        extents = (*extents, parts)
        src_strides = (*[s * parts for s in src_strides], 1)
        dst_strides = (*[s * parts for s in dst_strides], 1)
        src_offset, dst_offset = src_offset * parts, dst_offset * parts
        starts = [(i, n, k, stride * parts) for i, n, k, stride in starts]
    axes, (xs, os) = collapse(extents, [src_strides, dst_strides])
    if not axes:
        axes, xs, os = [1], [1], [1]
    twin = None if starts else _transposed_axis(xs, os)
    if twin is not None and not _is_below(axes[twin], 4):
        order = [*[i for i in range(len(axes)) if i not in (twin, len(axes) - 1)], twin, len(axes) - 1]
        axes, xs, os = ([t[i] for i in order] for t in (axes, xs, os))
        function = transposing_copy(elem, len(axes))
    else:
        function = strided_copy(elem, len(axes), _kind(xs[-1]), _kind(os[-1]), len(starts), into)
    given = [number for start in starts for number in start]
    if starts:
        c.check(_misplaced(len(starts)), given)
    c.call(function, [src, dst], [*axes, *xs, *os, src_offset, dst_offset, *given])


def copy_all(c: Lowering, src: Operand | Temporary, dst: Operand | Temporary, size: Extent) -> None:
    """Adds a copy of ``size`` elements in a row; if the destination was given the source's memory, nothing moves."""
    elem, parts = raw(dst)
    c.call(whole_copy(elem), [src, dst], [size * parts], inplace=[(0, 1)])


@cache
def whole_copy(elem: str) -> Function:
    b = Builder(f"copy_{elem}")
    x, out, n = b.buffer("x", elem), b.buffer("out", elem), b.dim("n")
    moved = b.select(b.same_memory(x, out), 0, n)
    b.parallel(0, moved, SEGMENT, lambda lo, hi: copy_run(b, out, lo, x, lo, hi - lo))
    return b.finish()


def materialize(c: Lowering, x: Operand, shape: Axes) -> Operand | Temporary:
    """``x`` repeated up to ``shape``: itself if that changes nothing, else in scratch memory."""
    if tuple(x.shape) == tuple(shape):
        return x
    parts = 2 if x.is_complex else 1
    scratch = c.temp(x.elem, product(shape) * parts)
    strides = [s * parts for s in broadcast_strides(x.shape, shape)]
    # the scratch memory has real elements: a complex number is two of them
    move(c, x, scratch, (*shape, parts), (*strides, 1), (*[s * parts for s in contiguous_strides(shape)], 1))
    return scratch


def _is_below(n: Extent, limit: int) -> bool:
    return isinstance(n, int) and n < limit


def _kind(stride: Extent) -> str:
    return {0: "0", 1: "1", -1: "-1"}.get(stride, "s") if isinstance(stride, int) else "s"


def _transposed_axis(xs: Sequence[Extent], os: Sequence[Extent]) -> int | None:
    """The axis along which the source runs, if the destination runs along the last one."""
    if not (isinstance(os[-1], int) and os[-1] == 1) or (isinstance(xs[-1], int) and xs[-1] in (0, 1)):
        return None
    return next((i for i in range(len(xs) - 1) if isinstance(xs[i], int) and xs[i] == 1), None)


# ---- rows ------------------------------------------------------------------------------------------------------------


@cache
def strided_copy(elem: str, rank: int, x_kind: str, out_kind: str, starts: int = 0, into: bool = False) -> Function:
    """Copies rows. The kinds say what is known about the strides of the last axis: ``0``, ``1``, ``-1`` or ``s``.

    With ``starts``, the block begins at so many run-time indices of the source (``into``: of the destination); each
    is four dims: the index, the size of its axis, the size of the block and the stride.
    """
    b = Builder(f"copy_{elem}_{rank}")
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    extents, xs, os = dims(b, "extent", rank), dims(b, "x_stride", rank), dims(b, "out_stride", rank)
    offsets: list[Any] = [b.dim("x_offset"), b.dim("out_offset")]
    steps = [int(k) if k != "s" else s[-1] for k, s in ((x_kind, xs), (out_kind, os))]
    bad, begins = _begins(b, starts)
    for begin in begins:
        offsets[into] = offsets[into] + begin

    def row(at: list[Any], n: Any) -> None:
        copy_strided_run(b, out, at[1], steps[1], x, at[0], steps[0], n)

    def copy() -> None:
        parallel_rows(b, extents[:-1], [xs[:-1], os[:-1]], offsets, extents[-1], steps, row)

    if bad is None:
        copy()
    else:
        b.fail(bad, 1)
        b.if_(~bad, copy)
    return b.finish()


def _begins(b: Builder, starts: int) -> tuple[Any, list[Any]]:
    """Whether a block of `strided_copy` is not inside, and how many elements from there it begins, for each index."""
    bad: Any = None
    begins = []
    for k in range(starts):
        start, size, block, stride = (b.dim(f"{name}{k}") for name in ("start", "size", "block", "stride"))
        first = b.select(b.lt(start, 0), start + size, start)
        outside = b.lt(first, 0) | b.gt(first, size - block)
        bad = outside if bad is None else bad | outside
        begins.append(first * stride)
    return bad, begins


@cache
def _misplaced(starts: int) -> Function:
    """Fails where `strided_copy` does."""
    b = Builder(f"misplaced_{starts}")
    bad, _ = _begins(b, starts)
    b.fail(bad, 1)
    return b.finish()


def copy_strided_run(
    b: Builder, out: Buffer, at: Index, out_step: Index, x: Buffer, start: Index, x_step: Index, n: Index
) -> None:
    """A run of ``n`` elements with strides; the cases that are known when the kernel is written are vectors."""
    known = tuple(s if isinstance(s, int) else None for s in (x_step, out_step))
    if known == (1, 1):
        copy_run(b, out, at, x, start, n)
    elif known == (0, 1):
        fill_run(b, out, at, b.load(x, start), n)
    elif known == (-1, 1):
        lanes = run_lanes(out.elem)

        def backwards(i: Value, k: int) -> None:
            v = b.load(x, b.sub(b.sub(start, i), k - 1), k)
            b.store(out, b.add(at, i), v if k == 1 else b.shuffle(v, v, range(k - 1, -1, -1)))

        b.vector_loop(0, n, lanes, backwards)
    else:

        def single(i: Value) -> None:
            b.store(out, b.add(at, b.mul(i, out_step)), b.load(x, b.add(start, b.mul(i, x_step))))

        b.for_(0, n, 1, single)


# ---- tiles -----------------------------------------------------------------------------------------------------------

_BLOCK = 256  # elements along the last axis that one unit of work covers


@cache
def transposing_copy(elem: str, rank: int) -> Function:
    """Copies where the source runs along the last axis but one, ``p``, and the destination along the last, ``q``."""
    b = Builder(f"transpose_{elem}_{rank}")
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    extents, xs, os = dims(b, "extent", rank), dims(b, "x_stride", rank), dims(b, "out_stride", rank)
    x0, out0 = b.dim("x_offset"), b.dim("out_offset")
    wide = 512 // BITS[elem]  # one cache line of the source
    tile = {8: 16, 16: 8, 32: 8, 64: 4}[BITS[elem]]
    np_, nq = extents[-2], extents[-1]
    x_q, out_p = xs[-1], os[-2]
    axes = [*extents[:-2], b.ceil_div(np_, wide), b.ceil_div(nq, _BLOCK)]
    x_steps = [*xs[:-2], wide, b.mul(x_q, _BLOCK)]
    out_steps = [*os[:-2], b.mul(out_p, wide), _BLOCK]
    p_steps = [*[0] * (rank - 2), wide, 0]
    q_steps = [*[0] * (rank - 2), 0, _BLOCK]

    def unit(offsets: list[Any]) -> None:
        source, target, p0, q0 = offsets
        rows, columns = b.min(np_ - p0, b.const(wide)), b.min(nq - q0, b.const(_BLOCK))
        whole_rows, whole_columns = rows - b.rem(rows, tile), columns - b.rem(columns, tile)

        def tile_rows(p: Value) -> None:
            b.for_(0, whole_columns, tile, lambda q: block(p, q))

        def block(p: Value, q: Value) -> None:
            source_at, target_at = source + p + q * x_q, target + p * out_p + q
            lines = []
            for _ in range(tile):
                lines.append(b.load(x, source_at, tile))
                source_at = source_at + x_q
            for line in transposed(b, lines):
                b.store(out, target_at, line)
                target_at = target_at + out_p

        def singles(p_lo: Index, p_hi: Index, q_lo: Index, q_hi: Index) -> None:
            def line(p: Value) -> None:
                source_at, target_at = source + p, target + p * out_p
                b.for_(q_lo, q_hi, 1, lambda q: b.store(out, target_at + q, b.load(x, source_at + q * x_q)))

            b.for_(p_lo, p_hi, 1, line)

        b.for_(0, whole_rows, tile, tile_rows)
        singles(0, whole_rows, whole_columns, columns)
        singles(whole_rows, rows, 0, columns)

    def chunk(lo: Value, hi: Value) -> None:
        walk(b, lo, hi, axes, [x_steps, out_steps, p_steps, q_steps], [x0, out0, 0, 0], unit)

    covered = b.mul(b.min(b.const(wide), at_least_one(b, np_)), b.min(b.const(_BLOCK), at_least_one(b, nq)))
    b.parallel(0, b.product(axes), b.max(b.div(b.const(16384), covered), 1), chunk)
    return b.finish()
