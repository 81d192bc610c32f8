"""Reading by integer tensors. Negative indices count from the end; one outside is noted, and the reference raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.core.dim import definitely_le
from duograph.core.shapes import slice_range
from duograph.ops.advanced_indexing import _Layout

from ..kernels.fill import always_fails
from ..kernels.indexed import (
    Index,
    Others,
    axis_strides,
    element_gather,
    gather_rows,
    size_checks,
    table_of_offsets,
)  # fmt: skip
from ..kernels.strided import copy_all
from ..kernels.walk import Axes, raw
from ..layout import broadcast_strides, collapse, contiguous_strides
from ..lowering import Extent, Lowering, Operand, product
from ..rule import kernel


@kernel("gather")
def gather(c: Lowering) -> None:
    (x, indices), (out,), axis = c.ins, c.outs, c.attrs["axis"]
    elem, parts = raw(x)
    count = product(indices.shape)
    shape = x.shape or (1,)
    own = contiguous_strides(shape)
    table = table_of_offsets(c, [Index(indices, (1,), shape[axis], own[axis])], (count,), parts)
    others = Others(shape[:axis], own[:axis], shape[axis + 1 :], own[axis + 1 :])
    gather_rows(c, x, table, count, others.scaled(parts), out, elem)


def coordinates(x_shape: Axes, indices: Operand) -> tuple[list[Index], Extent, Others]:
    """Rows of coordinates (last axis) as one index tensor per leading axis; how many rows; and what they leave."""
    depth = indices.shape[-1]
    assert isinstance(depth, int)
    own = contiguous_strides(x_shape)
    count = product(indices.shape[:-1])
    columns = [Index(indices, (depth,), x_shape[k], own[k], start=k) for k in range(depth)]
    return columns, count, Others((), (), x_shape[depth:], own[depth:])


@kernel("gather_nd")
def gather_nd(c: Lowering) -> None:
    (x, indices), (out,) = c.ins, c.outs
    elem, parts = raw(x)
    columns, count, others = coordinates(x.shape, indices)
    table = table_of_offsets(c, columns, (count,), parts)
    gather_rows(c, x, table, count, others.scaled(parts), out, elem)


@kernel("gather_elements")
def gather_elements(c: Lowering) -> None:
    (x, indices), (out,), axis = c.ins, c.outs, c.attrs["axis"]
    elem, parts = raw(x)
    if not x.shape:
        table = table_of_offsets(c, [Index(indices, (1,), 1, 1)], (1,))
        gather_rows(c, x, table, 1, Others((), (), (), ()).scaled(parts), out, elem)
        return
    checks = size_checks(indices.shape, x.shape, axis)
    if checks is None:
        always_fails(c)
        return
    strides, step = axis_strides(x.shape, axis)
    axes, (xs, _) = collapse(indices.shape, [strides, contiguous_strides(indices.shape)])
    if not axes:
        axes, xs = [1], [0]
    function = element_gather(elem, indices.elem, len(axes), parts, len(checks))
    numbers = [x.shape[axis], step, product(x.shape), *axes, *xs, *[n for pair in checks for n in pair]]
    c.call(function, [x, indices, out], numbers)


# ---- NumPy's advanced indexing ---------------------------------------------------------------------------------------


class IndexPlan:
    """What a spec says about memory: the block of index tensors, the axes before and behind it, and where they begin.

    Attributes:
        checks: pairs that must be in order (integers in the spec, against extents known at run time).
    """

    def __init__(self, x_shape: Axes, tensors: Sequence[Operand], spec: Any) -> None:
        layout = _Layout(x_shape, [t.shape for t in tensors], spec)
        own = contiguous_strides(x_shape)
        self.block, self.shape = tuple(layout.block), tuple(layout.shape)
        self.indices = [
            Index(t, broadcast_strides(t.shape, self.block), x_shape[axis], own[axis])
            for t, axis in zip(tensors, layout.index_axes, strict=True)
        ]
        self.offset: Extent = 0
        self.checks: list[tuple[Extent, Extent]] = []
        others: list[tuple[Extent, Extent]] = []
        axis = 0
        for entry in spec:
            if entry is None:
                others.append((1, 0))
                continue
            n, step = x_shape[axis], own[axis]
            if isinstance(entry, tuple):
                first, length = slice_range(n, *entry)
                self.offset = self.offset + first * step
                others.append((length, step * (1 if entry[2] is None else entry[2])))
            elif entry != "index":
                self.offset = self.offset + (entry if entry >= 0 else n + entry) * step
                least = entry + 1 if entry >= 0 else -entry
                if definitely_le(least, n) is not True:
                    self.checks.append((least, n))
            axis += 1
        others += zip(x_shape[axis:], own[axis:], strict=True)
        before, after = others[: layout.place], others[layout.place :]
        self.others = Others(*_unzipped(before), *_unzipped(after))


def _unzipped(pairs: Sequence[tuple[Extent, Extent]]) -> tuple[Axes, Axes]:
    return tuple(n for n, _ in pairs), tuple(s for _, s in pairs)


@kernel("advanced_get")
def advanced_get(c: Lowering) -> None:
    (x, *tensors), (out,) = c.ins, c.outs
    elem, parts = raw(x)
    plan = IndexPlan(x.shape, tensors, c.attrs["spec"])
    if any(isinstance(n, int) and n == 0 for n in plan.block):
        copy_all(c, x, out, 0)  # no index is looked at
        return
    table = table_of_offsets(c, plan.indices, plan.block, parts)
    count = product(plan.block)
    gather_rows(c, x, table, count, plan.others.scaled(parts), out, elem, plan.offset * parts, plan.checks)
