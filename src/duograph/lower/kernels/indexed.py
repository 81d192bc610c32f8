"""Reading by integer tensors, in two steps: indices become element offsets (checked, clamped), then rows are copied.

The result of an indexing op is (before, block, after): the block is what the index tensors span, the others are axes
of the source that are read as they are. Offsets of the block stand in a table of ``i64``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..layout import collapse, contiguous_strides
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..loop.types import UNSIGNED
from ..lowering import Extent, Lowering, Operand, Temporary, product
from .strided import copy_strided_run
from .walk import Axes, dims, parallel_rows, walk

LANES = 8


@dataclass(frozen=True)
class Index:
    """An index tensor: its elements, its strides over the block, the size of the axis it indexes, and its stride."""

    tensor: Operand
    strides: Axes
    size: Extent
    step: Extent
    start: Extent = 0


@dataclass(frozen=True)
class Others:
    """Axes that are not indexed: extents and strides in the indexed array, before and behind the block."""

    before: Axes
    before_strides: Axes
    after: Axes
    after_strides: Axes

    def scaled(self, parts: int) -> Others:
        """The same with every element of ``parts`` raw ones: one more axis behind."""
        if parts == 1:
            return self
        before, after = ([s * parts for s in strides] for strides in (self.before_strides, self.after_strides))
        return Others(self.before, tuple(before), (*self.after, parts), (*after, 1))

    def joined(self) -> Others:
        before, (before_strides,) = collapse(self.before, [self.before_strides])
        after, (after_strides,) = collapse(self.after, [self.after_strides])
        return Others(tuple(before), tuple(before_strides), tuple(after), tuple(after_strides))


def place(b: Builder, index: Value, size: Value) -> tuple[Value, Value]:
    """Where an index points: counted from the end if negative, then clamped; and a number that is negative if outside.

    Unsigned indices of 64 bits that are too large come out negative, and are outside.
    """
    wide = b.convert(index, "i64")
    if index.type.elem not in UNSIGNED:
        wide = b.select(b.lt(wide, 0), wide + size, wide)
    last = size - 1
    return b.max(b.min(wide, last), 0), wide | (last - wide)


def table_of_offsets(
    c: Lowering, indices: Sequence[Index], block: Axes, parts: int = 1, skip_negative: bool = False
) -> Temporary:
    """Adds the computation of the table; with ``skip_negative`` negative indices give the offset -1."""
    table = c.temp("i64", product(block))
    axes, strides = collapse(block, [i.strides for i in indices])
    if not axes:
        axes, strides = [1], [[1] for _ in indices]
    simple = len(axes) == 1 and all(isinstance(s[0], int) and s[0] in (0, 1) for s in strides)
    steps = tuple(int(s[0]) for s in strides) if simple else None  # type: ignore[arg-type]
    function = _offsets(tuple(i.tensor.elem for i in indices), len(axes), steps, skip_negative)
    numbers = [n for i, s in zip(indices, strides, strict=True) for n in (i.size, i.step * parts, i.start, *s)]
    c.call(function, [*[i.tensor for i in indices], table], [*axes, *numbers])
    return table


@cache
def _offsets(elems: tuple[str, ...], rank: int, steps: tuple[int, ...] | None, skip_negative: bool) -> Function:
    b = Builder("offsets")
    indices = [b.buffer(f"index{k}", elem) for k, elem in enumerate(elems)]
    table = b.buffer("table", "i64")
    extents = dims(b, "extent", rank)
    numbers = [
        (b.dim(f"size{k}"), b.dim(f"step{k}"), b.dim(f"start{k}"), dims(b, "stride", rank)) for k in range(len(elems))
    ]
    count = b.product(extents)

    def store(at: Any, places: list[Value], bad: Value) -> Value:
        """Stores the offsets for indices loaded from ``places``; ``bad`` with what was found outside."""
        total: Any = 0
        for index, (size, step, _, _) in zip(places, numbers, strict=True):
            to, outside = place(b, index, size)
            offset = to * step
            if skip_negative and index.type.elem not in UNSIGNED:
                wide = b.convert(index, "i64")
                offset = b.select(b.lt(wide, 0), -1, offset)
                outside = (size - 1) - wide
            bad = bad | outside
            total = b.add(total, offset)
        b.store(table, at, total if isinstance(total, Value) else b.splat(b.const(0), bad.type.lanes))
        return bad

    def simple(lo: Value, hi: Value) -> None:
        def some(i: Value, bad: Value) -> Value:
            lanes = bad.type.lanes
            loaded = []
            for buf, step, (_, _, start, _) in zip(indices, steps or (), numbers, strict=True):
                at = b.add(start, i) if step else start
                loaded.append(b.load(buf, at, lanes) if step else b.splat(b.load(buf, at), lanes))
            return store(i, loaded, bad)

        whole = hi - b.rem(hi - lo, LANES)
        (wide,) = b.for_(lo, whole, LANES, some, [b.splat(b.const(0), LANES)])
        (single,) = b.for_(whole, hi, 1, some, [b.const(0)])
        b.fail(b.lt(b.fold_lanes(wide, lambda x, y: x | y) | single, 0), 1)

    def general(lo: Value, hi: Value) -> None:
        starts = [start for _, _, start, _ in numbers]

        def one(at: list[Any]) -> None:
            loaded = [b.load(buf, i) for buf, i in zip(indices, at, strict=False)]
            b.fail(b.lt(store(at[-1], loaded, b.const(0)), 0), 1)

        walk(b, lo, hi, extents, [*[s for _, _, _, s in numbers], _row_major(b, extents)], [*starts, 0], one)

    b.parallel(0, count, 4096, simple if steps is not None else general)
    return b.finish()


def _row_major(b: Builder, extents: Sequence[Value]) -> list[Any]:
    strides: list[Any] = []
    step: Any = 1
    for extent in reversed(extents):
        strides.insert(0, step)
        step = b.mul(extent, step)
    return strides


# ---- rows ------------------------------------------------------------------------------------------------------------


def gather_rows(
    c: Lowering,
    x: Operand,
    table: Temporary,
    count: Extent,
    others: Others,
    out: Operand,
    elem: str,
    offset: Extent = 0,
    checks: Sequence[tuple[Extent, Extent]] = (),
) -> None:
    """Adds the copying of rows; ``checks`` are pairs ``(a, b)`` with ``a <= b`` unless the program is wrong."""
    o = others.joined()
    whole = bool(o.after) and o.after_strides[-1] == 1
    function = _gather(elem, len(o.before), len(o.after), whole, len(checks))
    numbers = [product(x.shape), count, offset, *o.before, *o.before_strides, *o.after, *o.after_strides]
    c.call(function, [x, table, out], [*numbers, *[n for pair in checks for n in pair]])


def guarded(b: Builder, checks: int, size: Value, body: Any) -> None:
    """``body()`` if all pairs are in order and the indexed array is not empty; notes the failure otherwise."""
    fits: Any = b.const(True, "bool")
    for k in range(checks):
        fits = fits & b.le(b.dim(f"below{k}"), b.dim(f"limit{k}"))
    if checks:
        b.fail(~fits, 1)
    b.if_(fits & b.gt(size, 0), body)


@cache
def _gather(elem: str, before: int, after: int, whole: bool, checks: int) -> Function:
    b = Builder(f"gather_{elem}")
    x, table, out = b.buffer("x", elem), b.buffer("table", "i64"), b.buffer("out", elem)
    size, count, offset = b.dim("size"), b.dim("count"), b.dim("offset")
    before_n, before_s = dims(b, "before", before), dims(b, "before_stride", before)
    after_n, after_s = dims(b, "after", after), dims(b, "after_stride", after)

    def elements() -> None:
        """The block is the last axis of the result: rows of single elements."""

        def row(at: list[Any], n: Any) -> None:
            def some(i: Value, lanes: int) -> None:
                b.store(out, b.add(at[1], i), b.gather(x, b.load(table, b.add(at[2], i), lanes) + at[0]))

            b.vector_loop(0, n, LANES, some)

        places = _row_major(b, [*before_n, count])[:-1]
        parallel_rows(b, before_n, [before_s, places, [0] * before], [offset, 0, 0], count, [0, 1, 1], row)

    def rows() -> None:
        axes = [*before_n, count, *after_n[:-1]]
        source: list[Any] = [*before_s, 0, *after_s[:-1]]
        places = _row_major(b, [*axes, after_n[-1]])[:-1]
        row: list[Any] = [*[0] * before, 1, *[0] * (after - 1)]
        steps = [1 if whole else after_s[-1], 1, 0]

        def copy(at: list[Any], n: Any) -> None:
            copy_strided_run(b, out, at[1], 1, x, b.add(at[0], b.load(table, at[2])), steps[0], n)

        parallel_rows(b, axes, [source, places, row], [offset, 0, 0], after_n[-1], steps, copy)

    guarded(b, checks, size, rows if after else elements)
    return b.finish()


# ---- one index per element -------------------------------------------------------------------------------------------


@cache
def element_gather(elem: str, index: str, rank: int, parts: int, checks: int) -> Function:
    """``out[i] = x[offset(i) + index[i] * step]``, the offset walking along the axes that are not indexed."""
    b = Builder(f"gather_elements_{elem}")
    x, indices, out = b.buffer("x", elem), b.buffer("index", index), b.buffer("out", elem)
    size, step, total = b.dim("size"), b.dim("step"), b.dim("total")
    extents, strides = dims(b, "extent", rank), dims(b, "stride", rank)

    def rows() -> None:
        def row(at: list[Any], n: Any) -> None:
            start, first = at

            def one(i: Value, bad: Value) -> Value:
                to, outside = place(b, b.load(indices, first + i), size)
                source = start + i * strides[-1] + to * step
                for k in range(parts):
                    value = b.load(x, b.add(b.mul(source, parts), k))
                    b.store(out, b.add(b.mul(first + i, parts), k), value)
                return bad | outside

            (bad,) = b.for_(0, n, 1, one, [b.const(0)])
            b.fail(b.lt(bad, 0), 1)

        places = _row_major(b, extents)
        parallel_rows(b, extents[:-1], [strides[:-1], places[:-1]], [0, 0], extents[-1], [strides[-1], 1], row)

    # with an empty array every index is outside: that must be noted, but nothing may be read
    b.fail(b.eq(total, 0) & b.gt(b.product(extents), 0), 1)
    guarded(b, checks, total, rows)
    return b.finish()


def size_checks(indices: Axes, x: Axes, axis: int) -> list[tuple[Extent, Extent]] | None:
    """Pairs that a kernel has to compare: an index tensor may not reach beyond ``x`` along other axes. ``None`` if it
    is known to."""
    pairs: list[tuple[Extent, Extent]] = []
    for a, (k, n) in enumerate(zip(indices, x, strict=True)):
        if a == axis or k is n:
            continue
        if isinstance(k, int) and isinstance(n, int):
            if k > n:
                return None
            continue
        pairs.append((k, n))
    return pairs


def axis_strides(shape: Axes, axis: int) -> tuple[list[Extent], Extent]:
    """Strides of a contiguous array with the one of ``axis`` set to 0; and that one."""
    own: list[Extent] = list(contiguous_strides(shape))
    step, own[axis] = own[axis], 0
    return own, step


__all__ = [
    "Index", "Others", "axis_strides", "element_gather", "gather_rows", "guarded", "place", "size_checks",
    "table_of_offsets",
]  # fmt: skip
