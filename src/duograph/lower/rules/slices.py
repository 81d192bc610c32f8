"""Slices, updates of slices, joins: strided copies from a place, or to a place.

An update copies the base first. Where the base dies with the op, the memory plan may give the result its place, and the
copy is one of a buffer onto itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from duograph.core.shapes import slice_range

from ..kernels.fill import always_fails
from ..kernels.strided import copy_all, copy_strided_run, move
from ..kernels.walk import Axes, dims, parallel_rows, raw
from ..layout import broadcast_strides, collapse, contiguous_strides
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..lowering import Extent, Lowering
from ..rule import kernel


def _places(shape: Axes, slices: Any) -> tuple[Extent, list[Extent]]:
    """Where a tuple of slices begins in a contiguous array, and its strides."""
    offset: Extent = 0
    strides = list(contiguous_strides(shape))
    for axis, (start, stop, step) in enumerate(slices):
        first, _ = slice_range(shape[axis], start, stop, step)
        offset = offset + first * strides[axis]
        strides[axis] = strides[axis] * (1 if step is None else step)
    return offset, strides


@kernel("strided_slice")
def strided_slice(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    offset, strides = _places(x.shape, c.attrs["slices"])
    move(c, x, out, out.shape, strides, contiguous_strides(out.shape), offset)


@kernel("slice_update")
def slice_update(c: Lowering) -> None:
    (base, value), (out,) = c.ins, c.outs
    copy_all(c, base, out, out.size)
    offset, strides = _places(base.shape, c.attrs["slices"])
    move(c, value, out, value.shape, contiguous_strides(value.shape), strides, 0, offset)


@kernel("dynamic_slice")
def dynamic_slice(c: Lowering) -> None:
    (x, *starts), (out,) = c.ins, c.outs
    own = contiguous_strides(x.shape)
    where = [
        (start, x.shape[axis], size, own[axis])
        for start, axis, size in zip(starts, c.attrs["axes"], c.attrs["sizes"], strict=True)
    ]
    move(c, x, out, out.shape, own, contiguous_strides(out.shape), starts=where)


@kernel("dynamic_update")
def dynamic_update(c: Lowering) -> None:
    (base, value, *starts), (out,) = c.ins, c.outs
    copy_all(c, base, out, out.size)
    own = contiguous_strides(base.shape)
    if len(value.shape) != len(base.shape) or _misfits(value.shape, base.shape, c.attrs["axes"]):
        always_fails(c)
        return
    where = [
        (start, base.shape[axis], value.shape[axis], own[axis])
        for start, axis in zip(starts, c.attrs["axes"], strict=True)
    ]
    extents = tuple(value.shape[a] if a in c.attrs["axes"] else n for a, n in enumerate(base.shape))
    move(c, value, out, extents, broadcast_strides(value.shape, extents), own, starts=where, into=True)


def _misfits(value: Axes, base: Axes, free: Any) -> bool:
    """Whether ``value`` is known not to broadcast to ``base`` along the axes that are not ``free``."""
    return any(
        isinstance(v, int) and isinstance(n, int) and v not in (1, n)
        for a, (v, n) in enumerate(zip(value, base, strict=True))
        if a not in free
    )


@kernel("concat")
def concat(c: Lowering) -> None:
    (out,), axis = c.outs, c.attrs["axis"]
    strides = contiguous_strides(out.shape)
    place: Extent = 0
    for x in c.ins:
        move(c, x, out, x.shape, contiguous_strides(x.shape), strides, 0, place * strides[axis])
        place = place + x.shape[axis]


# ---- bounds known at run time ----------------------------------------------------------------------------------------


@kernel("range_update")
def range_update(c: Lowering) -> None:
    """``base[start:stop:step] = value`` along one axis; the length of the slice is a run-time number."""
    (base, value, start, stop), (out,) = c.ins, c.outs
    axis, step = c.attrs["axis"], c.attrs["step"]
    copy_all(c, base, out, out.size)
    missing = len(base.shape) - len(value.shape)
    padded = ((1,) * missing + tuple(value.shape)) if missing >= 0 else ()
    if (not padded and base.shape) or step == 0 or _misfits(padded, base.shape, (axis,)):
        always_fails(c)
        return
    elem, parts = raw(out)
    steps = broadcast_strides(padded, (*base.shape[:axis], padded[axis], *base.shape[axis + 1 :]))
    own = contiguous_strides(base.shape)
    outer, (outer_v, outer_o) = collapse(
        base.shape[:axis], [[s * parts for s in steps[:axis]], [s * parts for s in own[:axis]]]
    )
    inner, (inner_v, inner_o) = collapse(
        (*base.shape[axis + 1 :], parts),
        [[*[s * parts for s in steps[axis + 1 :]], 1], [*[s * parts for s in own[axis + 1 :]], 1]],
    )
    if not inner:
        inner, inner_v, inner_o = [1], [1], [1]
    whole = isinstance(inner_v[-1], int) and inner_v[-1] == 1
    # the axis itself stands between the outer and the inner ones
    function = _range_update(elem, len(outer), len(inner), whole)
    along = contiguous_strides(padded)[axis] * parts
    numbers = [base.shape[axis], step, padded[axis], along, own[axis] * parts]
    c.check(_misfitting(), [start, stop, *numbers[:3]])
    c.call(function, [value, out], [start, stop, *numbers, *outer, *outer_v, *outer_o, *inner, *inner_v, *inner_o])


@cache
def _misfitting() -> Function:
    """Fails where `_range_update` does."""
    b = Builder("misfitting")
    start, stop, extent, step, given = (b.dim(name) for name in ("start", "stop", "extent", "step", "given"))
    _, length = slice_bounds(b, extent, start, stop, step)
    b.fail(b.ne(given, length) & b.ne(given, 1), 1)
    return b.finish()


@cache
def _range_update(elem: str, outer: int, inner: int, whole: bool) -> Function:
    b = Builder(f"range_update_{elem}")
    value, out = b.buffer("value", elem), b.buffer("out", elem)
    start, stop, extent, step = (b.dim(name) for name in ("start", "stop", "extent", "step"))
    given, along, stride = b.dim("given"), b.dim("value_stride"), b.dim("out_stride")
    outer_n, outer_v, outer_o = (dims(b, f"outer_{k}", outer) for k in ("extent", "v", "o"))
    inner_n, inner_v, inner_o = (dims(b, f"inner_{k}", inner) for k in ("extent", "v", "o"))
    first, length = slice_bounds(b, extent, start, stop, step)
    misfit = b.ne(given, length) & b.ne(given, 1)
    b.fail(misfit, 1)
    count = b.select(misfit, 0, length)
    moves = b.select(b.eq(given, 1), 0, along)
    steps = [1 if whole else inner_v[-1], 1]

    def row(at: list[Any], n: Any) -> None:
        copy_strided_run(b, out, at[1], 1, value, at[0], steps[0], n)

    parallel_rows(
        b,
        [*outer_n, count, *inner_n[:-1]],
        [[*outer_v, moves, *inner_v[:-1]], [*outer_o, stride * step, *inner_o[:-1]]],
        [0, first * stride],
        inner_n[-1],
        steps,
        row,
    )
    return b.finish()


def slice_bounds(b: Builder, extent: Value, start: Value, stop: Value, step: Value) -> tuple[Value, Value]:
    """First index and number of elements of Python's ``range(extent)[start:stop:step]``; ``step`` is not 0."""
    forward = b.gt(step, 0)
    lowest = b.select(forward, b.const(0), b.const(-1))
    highest = b.select(forward, extent, extent - 1)

    def bound(x: Value) -> Value:
        x = b.select(b.lt(x, 0), x + extent, x)
        return b.min(b.max(x, lowest), highest)

    first, last = bound(start), bound(stop)
    distance = b.max(b.select(forward, last - first, first - last), 0)
    size = b.max(b.abs(step), 1)
    return first, (distance + size - 1) / size
