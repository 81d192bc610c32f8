"""The gradient in the weight with images as lanes: every lane of an accumulator is the chain of an image.

A tile is ``rows`` output channels x all taps of a row of the kernel, for as many images as a vector has lanes. For each
pixel one load per channel of ``dout`` and one per tap of the image, rows x taps multiply-adds: no lane is lost to few
channels. Images and some rows of ``dout`` are packed into scratch memory of the thread first, as in `batch.correlate`.
What comes out is ``P_n`` for every image n; `batch_sums_function` adds them up in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.lower.conv.parts import built_once, compute_elem, multiply_add, size_of, split, zeros
from duograph.lower.conv.slots import parallel_in_slots
from duograph.lower.lanes import transposed
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Function

from .pack import blank, image_views, pack_row


@dataclass(frozen=True)
class BatchOuter:
    """``rows`` output channels x ``taps`` along w, ``dilation`` apart; windows ``step`` apart; ``lanes`` images."""

    rows: int
    taps: int
    dilation: int
    step: int
    lanes: int


AXIS = ("size", "front", "dilation", "taps", "step", "outputs", "extent")
"""Of an axis: `geometry.Axis`, and how far windows reach from the first zero on."""

DIMS = (
    "batch", "groups", "inner", "count", "wide", "lines", "slots", "room",
    *[f"{name}_{axis}" for axis in "dhw" for name in AXIS],
)  # fmt: skip


@built_once
def batch_outer_function(elem: str, form: BatchOuter) -> Function:
    """Buffers: images, ``dout`` (of type ``elem``), result, packed images and flags of slots. Dims: `DIMS`.

    Result: (batches, groups, count rounded up to tiles, k, lanes). ``wide``: places of a packed row of the image;
    ``lines``: rows of ``dout`` that are packed together.
    """
    return _BatchOuter(elem, form).build()


class _BatchOuter:
    def __init__(self, elem: str, form: BatchOuter) -> None:
        self.b = b = Builder("conv_batch_weight_grad")
        self.form, self.elem = form, compute_elem(elem)
        self.x, self.dout, self.out = b.buffer("x", elem), b.buffer("dout", elem), b.buffer("parts", self.elem)
        self.packed, self.flags = b.buffer("packed", self.elem), b.buffer("flags", "i64")
        self.dims = {name: b.dim(name) for name in DIMS}

    def build(self) -> Function:
        b, d, form = self.b, self.dims, self.form
        blocks = b.ceil_div(d["count"], form.rows)
        self.k = d["inner"] * d["taps_d"] * d["taps_h"] * form.taps
        self.row = d["wide"] * form.lanes
        self.plane = d["extent_d"] * d["extent_h"] * self.row
        self.line = d["outputs_w"] * form.lanes
        items = b.ceil_div(d["batch"], form.lanes) * d["groups"] * blocks

        def item(index: Any, there: Any) -> Any:
            images, block = split(b, index, blocks)
            batch, g = split(b, images, d["groups"])
            first = batch * form.lanes
            last = b.min(d["batch"] - first, form.lanes) - 1
            b.if_(b.ne(images, there), lambda: self.pack_images(first, last, g))
            self.channels(first, last, g, block, index * form.rows)
            return images

        def work(slot: Any, lo: Any, hi: Any) -> None:
            self.near = b.view(self.packed, slot * d["room"] * size_of(self.elem), self.elem)
            b.for_(lo, hi, 1, item, [b.const(-1)])

        parallel_in_slots(b, self.flags, d["slots"], items, work)
        return b.finish()

    def pack_images(self, first: Any, last: Any, g: Any) -> None:
        """All channels of a group with their padding, images last."""
        b, d, lanes = self.b, self.dims, self.form.lanes
        size = d["size_d"] * d["size_h"] * d["size_w"]
        views = image_views(b, self.x, first, d["groups"] * d["inner"] * size, last, lanes)
        width = b.min(d["size_w"], d["extent_w"] - d["front_w"])

        def row(source: Any, z: Any, y: Any, goal: Any) -> Any:
            inside = b.ge(z, 0) & b.lt(z, d["size_d"]) & b.ge(y, 0) & b.lt(y, d["size_h"])
            end = goal + self.row

            def copy() -> None:
                begin = goal + d["front_w"] * lanes
                blank(b, self.near, goal, begin, lanes)
                start = source + (z * d["size_h"] + y) * d["size_w"]
                pack_row(b, views, start, width, self.near, begin, end)

            b.if_(inside, copy, lambda: blank(b, self.near, goal, end, lanes))
            return end

        def plane(source: Any, z: Any, goal: Any) -> Any:
            return b.for_(
                0, d["extent_h"], 1, lambda y, goal: row(source, z - d["front_d"], y - d["front_h"], goal), [goal]
            )

        def channel(c: Any, goal: Any) -> Any:
            source = (g * d["inner"] + c) * size
            return b.for_(0, d["extent_d"], 1, lambda z, goal: plane(source, z, goal), [goal])

        b.for_(0, d["inner"], 1, channel, [b.const(0)])

    def channels(self, first: Any, last: Any, g: Any, block: Any, index: Any) -> None:
        """A block of output channels: some rows of ``dout`` at a time meet all taps."""
        b, d, form = self.b, self.dims, self.form
        size = d["outputs_d"] * d["outputs_h"] * d["outputs_w"]
        views = image_views(b, self.dout, first, d["groups"] * d["count"] * size, last, form.lanes)
        begin = d["inner"] * self.plane

        def some(depth: Any, row: Any) -> None:
            count = b.min(d["outputs_h"] - row, d["lines"])

            def pack(i: Any) -> None:
                o = g * d["count"] + b.min(block * form.rows + i, d["count"] - 1)
                source = o * size + (depth * d["outputs_h"] + row) * d["outputs_w"]
                goal = begin + i * d["lines"] * self.line
                pack_row(b, views, source, count * d["outputs_w"], self.near, goal, goal)

            b.for_(0, form.rows, 1, pack)
            fresh = b.eq(depth + row, 0)
            start = depth * d["step_d"] * d["extent_h"] * self.row + row * d["step_h"] * self.row

            def over(extent: Any, body: Any) -> None:
                b.for_(0, extent, 1, body)

            def taps(c: Any, jd: Any, jh: Any) -> None:
                at = start + c * self.plane + (jd * d["dilation_d"] * d["extent_h"] + jh * d["dilation_h"]) * self.row
                k = ((c * d["taps_d"] + jd) * d["taps_h"] + jh) * form.taps
                self.tile(at, begin, count, (index * self.k + k) * form.lanes, fresh)

            over(d["inner"], lambda c: over(d["taps_d"], lambda jd: over(d["taps_h"], lambda jh: taps(c, jd, jh))))

        b.for_(0, d["outputs_d"], 1, lambda z: b.for_(0, d["outputs_h"], d["lines"], lambda y: some(z, y)))

    def tile(self, image: Any, dout: Any, count: Any, goal: Any, fresh: Any) -> None:
        """Goes on with the chains at ``goal`` over ``count`` rows of ``dout``."""
        b, d, form = self.b, self.dims, self.form
        lanes = form.lanes
        places = [goal + i * self.k * lanes + j * lanes for i in range(form.rows) for j in range(form.taps)]
        init = [b.select(fresh, zeros(b, self.elem, lanes), b.load(self.out, place, lanes)) for place in places]
        between = d["lines"] * self.line
        lines = [b.view(self.near, (dout + between * i) * size_of(self.elem), self.elem) for i in range(form.rows)]

        def pixel(_: Any, x: Any, at: Any, *acc: Any) -> Any:
            parts = [b.load(line, at, lanes) for line in lines]
            pixels = [b.load(self.near, x + j * form.dilation * lanes, lanes) for j in range(form.taps)]
            sums = [
                multiply_add(b, value, part, acc[i * form.taps + j])
                for i, part in enumerate(parts)
                for j, value in enumerate(pixels)
            ]
            return (x + form.step * lanes, at + lanes, *sums)

        def row(_: Any, x: Any, at: Any, *acc: Any) -> Any:
            _, _, *sums = b.for_(0, d["outputs_w"], 1, pixel, [x, at, *acc])
            return (x + d["step_h"] * self.row, at + self.line, *sums)

        _, _, *acc = b.for_(0, count, 1, row, [image, b.const(0), *init])
        for place, value in zip(places, acc, strict=True):
            b.store(self.out, place, value)


@built_once
def batch_sums_function(elem: str, lanes: int) -> Function:
    """Adds up what `batch_outer_function` made, image by image: (groups, k padded, width), for `finish_function`.

    Dims: batch, groups, count, count rounded up to tiles, k, k padded, width, grain.
    """
    b = Builder("conv_batch_sums")
    parts, total = b.buffer("parts", elem), b.buffer("total", elem)
    batch, groups, count, rows, k, k_padded, width, grain = (
        b.dim(name) for name in ("batch", "groups", "count", "rows", "k", "k_padded", "width", "grain")
    )
    columns = b.ceil_div(count, lanes)

    def square(index: Any) -> None:
        """``lanes`` output channels at one tap: images become rows, channels lanes."""
        rest, place = split(b, index, k)
        g, column = split(b, rest, columns)
        spread = b.alloca(elem, lanes * lanes)
        first = column * lanes
        offsets = [(b.min(first + i, rows - 1) * k + place) * lanes for i in range(lanes)]

        def images(n: Any, sum: Any) -> Any:
            start = (b.div(n, lanes) * groups + g) * rows * k * lanes
            lines = [b.load(parts, start + offset, lanes) for offset in offsets]
            lines = transposed(b, lines)

            def some() -> Any:
                for i, line in enumerate(lines):
                    b.store(spread, i * lanes, line)
                return b.for_(0, batch - n, 1, lambda i, sum: sum + b.load(spread, i * lanes, lanes), [sum])

            def whole() -> Any:
                total = sum
                for line in lines:
                    total = total + line
                return total

            return b.if_(b.ge(batch - n, lanes), whole, some)

        (sum,) = b.for_(0, batch, lanes, images, [zeros(b, elem, lanes)])
        b.store(total, (g * k_padded + place) * width + first, sum)

    b.parallel_for(0, groups * columns * k, grain, square)
    return b.finish()
