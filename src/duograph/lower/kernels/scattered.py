"""Writing by integer tensors: rows combined into places, always in the order of the updates.

Equal indices make updates meet, and floating-point sums depend on their order. So threads never share the updates
among each other; they share the columns (and what stands before the indexed axes), and each goes through all updates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Function, Value
from ..lowering import Extent, Lowering, Temporary
from .accumulate import plus, times
from .indexed import Others, guarded, place
from .walk import at_least_one, dims, run_lanes, walk

COLUMNS = 64  # of one thread's share: whole cache lines, whatever the element


def largest(b: Builder, x: Value, y: Value) -> Value:
    """As ``numpy.maximum``: NaN stays; of two zeros the second."""
    if x.type.is_bool:
        return x | y
    return b.select(b.gt(x, y) | b.isnan(x), x, y) if x.type.is_float else b.max(x, y)


def smallest(b: Builder, x: Value, y: Value) -> Value:
    if x.type.is_bool:
        return x & y
    return b.select(b.lt(x, y) | b.isnan(x), x, y) if x.type.is_float else b.min(x, y)


def combine(b: Builder, reduction: str, old: Sequence[Value], new: Sequence[Value]) -> list[Value]:
    """``old`` and ``new`` combined; complex numbers are two values each."""
    if reduction == "none":
        return list(new)
    if len(old) == 1 or reduction == "add":
        simple: dict[str, Callable[[Value, Value], Value]] = {
            "add": plus,
            "mul": times,
            "max": lambda x, y: largest(b, x, y),
            "min": lambda x, y: smallest(b, x, y),
        }
        return [simple[reduction](x, y) for x, y in zip(old, new, strict=True)]
    (xr, xi), (yr, yi) = old, new
    if reduction == "mul":
        return [xr * yr - xi * yi, xr * yi + xi * yr]
    # complex numbers are ordered by their real, then by their imaginary parts; NaN stays
    before = b.gt if reduction == "max" else b.lt
    keep = b.ge if reduction == "max" else b.le
    first = before(xr, yr) | (b.eq(xr, yr) & keep(xi, yi)) | b.isnan(xr) | b.isnan(xi)
    return [b.select(first, xr, yr), b.select(first, xi, yi)]


def combine_run(
    b: Builder, reduction: str, dst: Buffer, at: Index, src: Buffer, start: Index, n: Index, parts: int, step: Index = 1
) -> None:
    """A run of elements combined into another; ``step`` is the stride of the destination, in elements."""

    def some(i: Value, lanes: int) -> None:
        value = b.convert(b.load(src, b.add(start, i), lanes), dst.elem)
        to = b.add(at, b.mul(i, step))
        old = [] if reduction == "none" else [b.load(dst, to, lanes)]
        b.store(dst, to, combine(b, reduction, old, [value])[0])

    def pair(i: Value, _: int) -> None:
        new = [b.convert(b.load(src, b.add(b.mul(b.add(start, i), 2), k)), dst.elem) for k in range(2)]
        to = b.mul(b.add(at, b.mul(i, step)), 2)
        old = [b.load(dst, b.add(to, k)) for k in range(2)]
        for k, value in enumerate(combine(b, reduction, old, new)):
            b.store(dst, b.add(to, k), value)

    if parts == 2:
        b.vector_loop(0, n, 1, pair)
    else:
        b.vector_loop(0, n, run_lanes(dst.elem) if isinstance(step, int) and step == 1 else 1, some)


def scatter_rows(
    c: Lowering,
    target: Any,
    elem: str,
    updates: Any,
    source: str,
    table: Temporary,
    count: Extent,
    others: Others,
    size: Extent,
    reduction: str,
    parts: int = 1,
    offset: Extent = 0,
    skip: bool = False,
    checks: Sequence[tuple[Extent, Extent]] = (),
) -> None:
    """Adds the combination of contiguous ``updates`` (before, block, after) into ``target``.

    ``parts`` is 2 for complex numbers that must be seen as pairs; ``skip``: negative offsets are left out.
    """
    o = others.joined()
    whole = bool(o.after) and o.after_strides[-1] == 1
    function = _scatter(elem, source, reduction, len(o.before), len(o.after), whole, parts, skip, len(checks))
    numbers = [size, count, offset, *o.before, *o.before_strides, *o.after, *o.after_strides]
    c.call(function, [updates, table, target], [*numbers, *[n for pair in checks for n in pair]])


@cache
def _scatter(
    elem: str, source: str, reduction: str, before: int, after: int, whole: bool, parts: int, skip: bool, checks: int
) -> Function:
    b = Builder(f"scatter_{reduction}_{elem}")
    updates, table, target = b.buffer("updates", source), b.buffer("table", "i64"), b.buffer("target", elem)
    size, count, offset = b.dim("size"), b.dim("count"), b.dim("offset")
    before_n, before_s = dims(b, "before", before), dims(b, "before_stride", before)
    after_n, after_s = dims(b, "after", after), dims(b, "after_stride", after)
    length: Any = after_n[-1] if after else 1
    middle, middle_s = after_n[:-1], after_s[:-1]
    step: Any = 1 if whole or not after else after_s[-1]
    middle_count = b.product(middle)
    per_update = b.mul(middle_count, length)

    def unit(at: list[Any]) -> None:
        """One share: some columns, for one place before the indexed axes."""
        to, start, column = at
        n = b.min(b.sub(length, column), b.const(COLUMNS)) if after else 1

        def update(j: Value) -> None:
            where = b.load(table, j)

            def rows() -> None:
                first = b.add(b.add(to, where), b.mul(column, step))
                here = b.add(b.add(start, b.mul(j, per_update)), column)

                def one(offs: list[Any]) -> None:
                    combine_run(b, reduction, target, offs[0], updates, offs[1], n, parts, step)

                if middle:
                    packed = [length]
                    for extent in reversed(middle[1:]):
                        packed.insert(0, b.mul(packed[0], extent))
                    walk(b, 0, middle_count, middle, [middle_s, packed], [first, here], one)
                else:
                    one([first, here])

            if skip:
                b.if_(b.ge(where, 0), rows)
            else:
                rows()

        b.for_(0, count, 1, update)

    def work() -> None:
        blocks = b.ceil_div(length, COLUMNS)
        axes = [*before_n, blocks]
        block_size = b.mul(count, per_update)
        starts: list[Any] = []
        step_: Any = block_size
        for extent in reversed(before_n):
            starts.insert(0, step_)
            step_ = b.mul(step_, extent)
        strides = [[*before_s, 0], [*starts, 0], [*[0] * before, COLUMNS]]
        each = b.mul(b.mul(count, middle_count), b.min(b.value(length), b.const(COLUMNS)))
        grain = b.max(b.const(8192) / at_least_one(b, b.value(each)), 1)

        def chunk(lo: Value, hi: Value) -> None:
            walk(b, lo, hi, axes, strides, [offset, 0, 0], unit)

        b.parallel(0, b.product(axes), grain, chunk)

    guarded(b, checks, size, work)
    return b.finish()


@cache
def element_scatter(
    elem: str, source: str, index: str, reduction: str, outer: int, inner: int, parts: int, checks: int
) -> Function:
    """Every update has an index of its own along one axis; updates (outer, axis, inner) meet only along the axis."""
    b = Builder(f"scatter_elements_{reduction}_{elem}")
    updates, indices, target = b.buffer("updates", source), b.buffer("index", index), b.buffer("target", elem)
    size, step, total, count = b.dim("size"), b.dim("step"), b.dim("total"), b.dim("count")
    outer_n, outer_s = dims(b, "outer", outer), dims(b, "outer_stride", outer)
    inner_n, inner_s = dims(b, "inner", inner), dims(b, "inner_stride", inner)
    columns = b.product(inner_n)
    single = inner == 1  # one inner axis may be cut for threads

    def unit(at: list[Any]) -> None:
        to, start, column = at
        n = b.min(b.sub(columns, column), b.const(COLUMNS)) if single else columns

        def update(k: Value, bad: Value) -> Value:
            first = b.add(start, b.mul(k, columns))

            def one(offs: list[Any], bad: Value) -> Value:
                where, outside = place(b, b.load(indices, offs[1]), size)
                goal = b.add(offs[0], where * step)
                combine_run(b, reduction, target, goal, updates, offs[1], 1, parts)
                return bad | outside

            if inner == 0:
                return one([to, first], bad)
            if single:
                base = b.add(to, b.mul(column, inner_s[0]))

                def element(i: Value, bad: Value) -> Value:
                    return one([base + i * inner_s[0], b.add(b.add(first, column), i)], bad)

                return b.for_(0, n, 1, element, [bad])[0]

            def noted(offs: list[Any]) -> None:
                b.fail(b.lt(one(offs, b.const(0)), 0), 1)

            packed: list[Any] = [1]
            for extent in reversed(inner_n[1:]):
                packed.insert(0, b.mul(packed[0], extent))
            walk(b, 0, columns, inner_n, [inner_s, packed], [to, first], noted)
            return bad

        (bad,) = b.for_(0, count, 1, update, [b.const(0)])
        b.fail(b.lt(bad, 0), 1)

    def work() -> None:
        blocks = b.ceil_div(columns, COLUMNS) if single else 1
        axes = [*outer_n, blocks]
        starts: list[Any] = []
        step_: Any = b.mul(count, columns)
        for extent in reversed(outer_n):
            starts.insert(0, step_)
            step_ = b.mul(step_, extent)
        strides = [[*outer_s, 0], [*starts, 0], [*[0] * outer, COLUMNS]]
        share = b.min(b.value(columns), b.const(COLUMNS)) if single else b.value(columns)
        grain = b.max(b.const(8192) / at_least_one(b, share * count), 1)

        def chunk(lo: Value, hi: Value) -> None:
            walk(b, lo, hi, axes, strides, [0, 0, 0], unit)

        b.parallel(0, b.product(axes), grain, chunk)

    everything = b.mul(b.mul(b.product(outer_n), columns), count)
    b.fail(b.eq(total, 0) & b.gt(b.value(everything), 0), 1)
    guarded(b, checks, total, work)
    return b.finish()
