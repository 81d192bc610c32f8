"""Writing by integer tensors: the base is copied, then updates are combined into it in their order.

Half types are combined in float32 and rounded once at the end, as the reference does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.ops.segments import _SEGMENT, _segment_start

from ..kernels.accumulate import accumulator, convert_all, store_accumulated
from ..kernels.fill import always_fails, fill_words, words_of
from ..kernels.indexed import Index, Others, axis_strides, size_checks, table_of_offsets
from ..kernels.scattered import element_scatter, scatter_rows
from ..kernels.strided import copy_all, materialize
from ..kernels.walk import Axes, raw
from ..layout import collapse, contiguous_strides
from ..lowering import Extent, Lowering, Operand, product
from ..rule import kernel
from .indexing import IndexPlan, coordinates


class Target:
    """Where updates are combined: the result, or float32 memory that is rounded into it.

    Attributes:
        elem, source: element types of the target and of the updates in the kernel.
        unit: how many of them an element of the op has.
        parts: 2 if the kernel has to see complex numbers as pairs.
    """

    def __init__(self, c: Lowering, base: Operand, reduction: str) -> None:
        self.c, self.base = c, base
        (self.out,) = c.outs
        if reduction == "none":
            self.elem, self.unit = raw(base)
            self.source = self.elem
        else:
            self.elem, self.unit = accumulator(base)
            self.source = base.elem
        self.parts = 2 if base.is_complex and reduction in ("mul", "max", "min") else 1
        if self.parts == 2:
            self.unit = 1
        self.rounded = reduction != "none" and self.elem != base.elem
        self.memory: Any = c.temp(self.elem, base.size) if self.rounded else self.out

    def begin(self) -> None:
        """Copies the base."""
        if self.rounded:
            convert_all(self.c, self.base, self.memory, self.base.size)
        else:
            copy_all(self.c, self.base, self.out, self.base.size)

    def end(self) -> None:
        if self.rounded:
            store_accumulated(self.c, self.memory, self.out)

    def rows(
        self, updates: Any, table: Any, count: Extent, others: Others, reduction: str, shape: Axes, **rest: Any
    ) -> None:
        """Combines ``updates``; ``shape`` is that of the target."""
        size = product(shape) * self.unit
        scatter_rows(
            self.c, self.memory, self.elem, updates, self.source, table, count, others.scaled(self.unit), size,
            reduction, self.parts, **rest,
        )  # fmt: skip


@kernel("index_add")
def index_add(c: Lowering) -> None:
    (x, indices, value), axis = c.ins, c.attrs["axis"]
    target = Target(c, x, "add")
    target.begin()
    own = contiguous_strides(x.shape)
    count = indices.shape[0]
    table = table_of_offsets(c, [Index(indices, (1,), x.shape[axis], own[axis])], (count,), target.unit)
    others = Others(x.shape[:axis], own[:axis], x.shape[axis + 1 :], own[axis + 1 :])
    target.rows(value, table, count, others, "add", x.shape)
    target.end()


@kernel("scatter_nd_update")
def scatter_nd_update(c: Lowering) -> None:
    (x, indices, updates), reduction = c.ins, c.attrs["reduction"]
    target = Target(c, x, reduction)
    target.begin()
    columns, count, others = coordinates(x.shape, indices)
    table = table_of_offsets(c, columns, (count,), target.unit)
    target.rows(updates, table, count, others, reduction, x.shape)
    target.end()


@kernel("scatter_elements")
def scatter_elements(c: Lowering) -> None:
    (x, indices, updates), axis, reduction = c.ins, c.attrs["axis"], c.attrs["reduction"]
    target = Target(c, x, reduction)
    target.begin()
    if not x.shape:  # the index of a scalar is not looked at
        table = table_of_offsets(c, [], (1,))
        target.rows(updates, table, 1, Others((), (), (), ()), reduction, ())
        target.end()
        return
    checks = size_checks(indices.shape, x.shape, axis)
    if checks is None:
        always_fails(c)
        return
    strides, step = axis_strides(x.shape, axis)
    shape = indices.shape
    outer, (outer_s,) = collapse(shape[:axis], [strides[:axis]])
    inner, (inner_s,) = collapse(shape[axis + 1 :], [strides[axis + 1 :]])
    # raw complex128 numbers are pairs as well: an index per element leaves no axis to put the second half on
    parts = 2 if target.unit == 2 else target.parts
    function = element_scatter(
        target.elem, target.source, indices.elem, reduction, len(outer), len(inner), parts, len(checks)
    )
    numbers = [x.shape[axis], step, product(x.shape), shape[axis], *outer, *outer_s, *inner, *inner_s]
    c.call(function, [updates, indices, target.memory], [*numbers, *[n for pair in checks for n in pair]])
    target.end()


@kernel("unsorted_segment")
def unsorted_segment(c: Lowering) -> None:
    """Empty segments keep the number that the reduction begins with; negative ids are left out."""
    (x, ids), (out,) = c.ins, c.outs
    reduction, segments = _SEGMENT[c.attrs["reduction"]], c.attrs["num_segments"]
    target = Target(c, Operand(out.type), reduction)
    start = _segment_start(x.dtype.numpy, c.attrs["reduction"])
    words = words_of(start, x.dtype.numpy)
    if target.rounded:
        words = words_of(np.full((), start, x.dtype.numpy).astype(np.float32), np.dtype(np.float32))
    fill_words(c, target.memory, words, product(out.shape))
    inner = x.shape[len(ids.shape) :]
    count = product(ids.shape)
    table = table_of_offsets(c, [Index(ids, (1,), segments, product(inner))], (count,), target.unit, skip_negative=True)
    others = Others((), (), inner, contiguous_strides(inner))
    target.rows(x, table, count, others, reduction, out.shape, skip=True)
    target.end()


@kernel("advanced_put")
def advanced_put(c: Lowering) -> None:
    (x, value, *tensors), reduction = c.ins, c.attrs["reduction"]
    target = Target(c, x, reduction)
    target.begin()
    plan = IndexPlan(x.shape, tensors, c.attrs["spec"])
    if not any(isinstance(n, int) and n == 0 for n in plan.shape):
        value = materialize(c, value, plan.shape)  # type: ignore[assignment]
    if not any(isinstance(n, int) and n == 0 for n in plan.block):
        table = table_of_offsets(c, plan.indices, plan.block, target.unit)
        target.rows(
            value, table, product(plan.block), plan.others, reduction, x.shape,
            offset=plan.offset * target.unit, checks=plan.checks,
        )  # fmt: skip
    target.end()
