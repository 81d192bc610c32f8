"""Boxes in images: crops that are resized, regions that are averaged, suppression of all but the best boxes.

Places and weights are computed in float64 and rounded to the type in which is summed, as in `duograph.ops.boxes`. Sums
have the order of the reference: neighbour by neighbour, then cell by cell. Gradients are shared among threads by image
or channel, never by box.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..kernels.accumulate import accumulator, store_accumulated
from ..kernels.fill import zero
from ..kernels.indexed import place
from ..kernels.sorting import sort_kernel
from ..kernels.strided import move
from ..kernels.walk import at_least_one
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..lowering import Lowering
from ..rule import kernel

Tap = tuple[Value, Value, Value]
"""Row, column and weight (float64) of a neighbour."""


def _clamped(b: Builder, x: Value, high: Value) -> Value:
    """``x`` in [0, high]; NaN becomes 0, which no one reads."""
    x = b.select(b.gt(x, 0.0), x, b.const(0.0, x))
    return b.select(b.lt(x, high), x, high)


def _bilinear(b: Builder, y: Value, x: Value, height: Value, width: Value) -> list[Tap]:
    """The four neighbours of a place."""
    ends = []
    for at, size in ((y, height), (x, width)):
        last = size - 1
        at = _clamped(b, at, b.convert(b.max(last, 0), "f64"))
        low = b.floor(at)
        near = b.convert(low, "i64")
        far = at - low
        ends.append(((near, 1.0 - far), (b.min(near + 1, last), far)))
    rows, cols = ends
    return [(row, col, wy * wx) for row, wy in rows for col, wx in cols]


# ---- crops -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Crop:
    """The dims of crop kernels."""

    boxes: Value
    images: Value
    height: Value
    width: Value
    channels: Value
    rows: Value
    columns: Value

    @staticmethod
    def dims(b: Builder) -> _Crop:
        names = ("boxes", "images", "height", "width", "channels", "rows", "columns")
        return _Crop(*[b.dim(name) for name in names])

    def taps(self, b: Builder, boxes: Buffer, box: Value, i: Value, j: Value, method: str) -> tuple[list[Tap], Value]:
        """The neighbours of cell ``(i, j)`` of a box, and whether it lies inside the image."""

        def at(k: int, extent: Value, cell: Value, count: Value) -> Value:
            low, high = (b.convert(b.load(boxes, box * 4 + k + s), "f32") for s in (0, 2))
            last = b.convert(extent - 1, "f32")
            middle = b.convert((low + high) * 0.5 * last, "f64")
            # the step is a float32 number, its multiples and their sum with the start are float64
            step = (high - low) * last / b.convert(b.max(count - 1, 1), "f32")
            place = b.convert(low * last, "f64") + b.convert(cell, "f64") * b.convert(step, "f64")
            return b.select(b.eq(count, 1), middle, place)

        y, x = at(0, self.height, i, self.rows), at(1, self.width, j, self.columns)
        inside = b.const(True, "bool")
        for value, extent in ((y, self.height), (x, self.width)):
            inside = inside & b.ge(value, 0.0) & b.le(value, b.convert(extent - 1, "f64"))
        if method == "nearest":
            near = []
            for value, extent in ((y, self.height), (x, self.width)):
                last = b.convert(b.max(extent - 1, 0), "f64")
                near.append(b.convert(_clamped(b, b.floor(value + 0.5), last), "i64"))
            return [(near[0], near[1], b.const(1.0, "f64"))], inside
        return _bilinear(b, y, x, self.height, self.width), inside


def _crop_numbers(image: Any, boxes: Any, size: Any) -> list[Any]:
    return [boxes.shape[0], *image[:3], image[3], *size]


@kernel("crop_and_resize")
def crop_and_resize(c: Lowering) -> None:
    (image, boxes, indices), (out,) = c.ins, c.outs
    function = _crop(image.elem, boxes.elem, indices.elem, c.attrs["method"])
    numbers = [*_crop_numbers(image.shape, boxes, c.attrs["size"]), float(c.attrs["outside"])]
    c.call(function, [image, boxes, indices, out], numbers)


@cache
def _crop(elem: str, box_elem: str, index: str, method: str) -> Function:
    b = Builder("crop_and_resize")
    image, boxes = b.buffer("image", elem), b.buffer("boxes", box_elem)
    indices, out = b.buffer("indices", index), b.buffer("out", elem)
    d = _Crop.dims(b)
    wide = "f32" if elem in ("f16", "bf16") else elem
    outside = b.convert(b.convert(b.dim("outside", "f64"), wide), elem)

    def row(r: Value) -> None:
        many = at_least_one(b, d.rows)
        box, i = b.div(r, many), b.rem(r, many)
        source, bad = place(b, b.load(indices, box), d.images)
        b.fail(b.lt(bad, 0), 1)

        def cell(j: Value) -> None:
            taps, inside = d.taps(b, boxes, box, i, j, method)
            to = (r * d.columns + j) * d.channels
            starts = [((source * d.height + y) * d.width + x) * d.channels for y, x, _ in taps]
            weights = [b.convert(w, wide) for _, _, w in taps]

            def channel(k: Value) -> None:
                total: Any = b.const(0.0, wide)
                for start, weight in zip(starts, weights, strict=True):
                    total = total + b.convert(b.load(image, start + k), wide) * weight
                b.store(out, to + k, b.convert(total, elem))

            def fill() -> None:
                b.for_(0, d.channels, 1, lambda k: b.store(out, to + k, outside))

            b.if_(inside, lambda: b.for_(0, d.channels, 1, channel), fill)

        b.if_(b.gt(d.images * d.height * d.width, 0), lambda: b.for_(0, d.columns, 1, cell))

    work = at_least_one(b, d.columns * d.channels)
    b.parallel_for(0, d.boxes * d.rows, b.max(b.const(2048) / work, 1), row)
    return b.finish()


@kernel("crop_grad")
def crop_grad(c: Lowering) -> None:
    (dout, boxes, indices), (out,) = c.ins, c.outs
    elem, _ = accumulator(dout)
    total = out if elem == out.elem else c.temp(elem, out.size)
    zero(c, total, out.size)
    function = _crop_grad(dout.elem, elem, boxes.elem, indices.elem, c.attrs["method"])
    c.call(function, [dout, boxes, indices, total], _crop_numbers(c.attrs["shape"], boxes, c.attrs["size"]))
    store_accumulated(c, total, out)


@cache
def _crop_grad(elem: str, wide: str, box_elem: str, index: str, method: str) -> Function:
    """Neighbour by neighbour, then in the order of the cells; every image by one thread."""
    b = Builder("crop_grad")
    dout, boxes = b.buffer("dout", elem), b.buffer("boxes", box_elem)
    indices, total = b.buffer("indices", index), b.buffer("total", wide)
    d = _Crop.dims(b)

    def one(image: Value) -> None:
        def add_tap(number: int) -> None:
            def box(n: Value) -> None:
                source, bad = place(b, b.load(indices, n), d.images)
                b.fail(b.lt(bad, 0), 1)

                def cell(p: Value) -> None:
                    columns = at_least_one(b, d.columns)
                    taps, inside = d.taps(b, boxes, n, b.div(p, columns), b.rem(p, columns), method)
                    y, x, weight = taps[number]
                    factor = b.convert(weight, wide)
                    to = ((image * d.height + y) * d.width + x) * d.channels
                    start = (n * d.rows * d.columns + p) * d.channels

                    def channel(k: Value) -> None:
                        value = b.select(inside, b.convert(b.load(dout, start + k), wide), b.const(0.0, wide))
                        b.store(total, to + k, b.load(total, to + k) + value * factor)

                    b.for_(0, d.channels, 1, channel)

                mine = b.eq(source, image) & b.gt(d.height * d.width, 0)
                b.if_(mine, lambda: b.for_(0, d.rows * d.columns, 1, cell))

            b.for_(0, d.boxes, 1, box)

        for number in range(1 if method == "nearest" else 4):
            add_tap(number)

    b.parallel_for(0, d.images, 1, one)
    return b.finish()


# ---- regions of interest ---------------------------------------------------------------------------------------------


class _Region:
    """One region: its image, the size of its cells, and how many samples a cell has."""

    def __init__(self, b: Builder, rois: Buffer, r: Value, numbers: _RegionDims, mode: int) -> None:
        self.b, self.d = b, numbers
        first, *corners = (b.convert(b.load(rois, r * 5 + k), "f32") for k in range(5))
        image = b.convert(first, "f64")
        whole = b.trunc(image)
        small = b.lt(b.abs(whole), 2.0**31)
        number = b.convert(b.select(small, whole, b.const(0.0, "f64")), "i64")
        self.image, bad = place(b, number, numbers.images)
        b.fail(b.lt(bad, 0) | ~small, 1)
        self.x0, self.y0, x1, y1 = (b.convert(v, "f64") * numbers.scale for v in corners)
        self.cell_h = self._extent(y1 - self.y0, mode) / b.convert(numbers.rows, "f64")
        self.cell_w = self._extent(x1 - self.x0, mode) / b.convert(numbers.columns, "f64")
        self.count_h, self.count_w = self._count(self.cell_h), self._count(self.cell_w)

    def _extent(self, difference: Value, mode: int) -> Value:
        if mode:
            return difference + self.d.scale
        return self.b.select(self.b.gt(difference, 1.0), difference, self.b.const(1.0, "f64"))

    def _count(self, cell: Value) -> Value:
        b, top = self.b, self.b.ceil(cell)
        small = b.lt(b.abs(top), 2.0**31)
        b.fail(~small, 1)
        found = b.convert(b.select(small, top, b.const(0.0, "f64")), "i64")
        return b.select(b.gt(self.d.samples, 0), self.d.samples, found)

    def taps(self, i: Value, j: Value, k: Value, m: Value) -> list[Tap]:
        """The neighbours of sample ``(k, m)`` of cell ``(i, j)``; their weights make the mean over the cell."""
        b, d = self.b, self.d
        places = []
        for start, cell, size, at, count in (
            (self.y0, self.cell_h, i, k, self.count_h),
            (self.x0, self.cell_w, j, m, self.count_w),
        ):
            part = (b.convert(at, "f64") + 0.5) * cell / b.convert(count, "f64")
            places.append(start + b.convert(size, "f64") * cell + part)
        y, x = places
        inside = b.const(True, "bool")
        for value, extent in ((y, d.height), (x, d.width)):
            inside = inside & b.ge(value, -1.0) & b.le(value, b.convert(extent, "f64"))
        number = b.convert(self.count_h * self.count_w, "f64")
        weighed = []
        for row, col, weight in _bilinear(b, y, x, d.height, d.width):
            weighed.append((row, col, b.select(inside, weight, b.const(0.0, "f64")) / number))
        return weighed

    def samples(self, body: Callable[..., Any], init: list[Value]) -> tuple[Value, ...]:
        """``body(k, m, *carried)`` for all samples of a cell."""
        b = self.b
        return b.for_(
            0, self.count_h, 1,
            lambda k, *outer: b.for_(0, self.count_w, 1, lambda m, *inner: body(k, m, *inner), outer),
            init,
        )  # fmt: skip


@dataclass(frozen=True)
class _RegionDims:
    regions: Value
    images: Value
    channels: Value
    height: Value
    width: Value
    rows: Value
    columns: Value
    samples: Value
    scale: Value

    @staticmethod
    def dims(b: Builder) -> _RegionDims:
        names = ("regions", "images", "channels", "height", "width", "rows", "columns", "samples")
        numbers = {name: b.dim(name) for name in names}
        return _RegionDims(**numbers, scale=b.dim("scale", "f64"))


def _region_numbers(c: Lowering, shape: Any, rois: Any) -> list[Any]:
    return [rois.shape[0], *shape, *c.attrs["size"], c.attrs["samples"], float(c.attrs["scale"])]


@kernel("roi_align")
def roi_align(c: Lowering) -> None:
    (x, rois), (out,) = c.ins, c.outs
    c.call(_roi_align(x.elem, rois.elem, c.attrs["mode"]), [x, rois, out], _region_numbers(c, x.shape, rois))


@cache
def _roi_align(elem: str, roi_elem: str, mode: int) -> Function:
    """The mean over each cell: the sums for the four neighbours are made apart, then added."""
    b = Builder("roi_align")
    x, rois, out = b.buffer("x", elem), b.buffer("rois", roi_elem), b.buffer("out", elem)
    d = _RegionDims.dims(b)
    wide = "f32" if elem in ("f16", "bf16") else elem
    cells = d.rows * d.columns

    def one(r: Value) -> None:
        region = _Region(b, rois, r, d, mode)

        def channel(ch: Value) -> None:
            plane = (region.image * d.channels + ch) * d.height

            def cell(p: Value) -> None:
                i, j = b.div(p, at_least_one(b, d.columns)), b.rem(p, at_least_one(b, d.columns))

                def sample(k: Value, m: Value, *sums: Value) -> list[Value]:
                    after = []
                    for total, (row, col, weight) in zip(sums, region.taps(i, j, k, m), strict=True):
                        value = b.convert(b.load(x, (plane + row) * d.width + col), wide)
                        after.append(total + value * b.convert(weight, wide))
                    return after

                sums = region.samples(sample, [b.const(0.0, wide)] * 4)
                total = ((sums[0] + sums[1]) + sums[2]) + sums[3]
                b.store(out, (r * d.channels + ch) * cells + p, b.convert(total, elem))

            b.for_(0, cells, 1, cell)

        b.if_(b.gt(d.images * d.height * d.width, 0), lambda: b.for_(0, d.channels, 1, channel))

    b.parallel_for(0, d.regions, 1, one)
    return b.finish()


@kernel("roi_align_grad")
def roi_align_grad(c: Lowering) -> None:
    (dout, rois), (out,) = c.ins, c.outs
    elem, _ = accumulator(dout)
    total = out if elem == out.elem else c.temp(elem, out.size)
    zero(c, total, out.size)
    function = _roi_align_grad(dout.elem, elem, rois.elem, c.attrs["mode"])
    c.call(function, [dout, rois, total], _region_numbers(c, c.attrs["shape"], rois))
    store_accumulated(c, total, out)


@cache
def _roi_align_grad(elem: str, wide: str, roi_elem: str, mode: int) -> Function:
    """Region by region, neighbour by neighbour, in the order of cells and samples; every channel by one thread."""
    b = Builder("roi_align_grad")
    dout, rois, total = b.buffer("dout", elem), b.buffer("rois", roi_elem), b.buffer("total", wide)
    d = _RegionDims.dims(b)
    cells = d.rows * d.columns

    def channel(ch: Value) -> None:
        def one(r: Value) -> None:
            region = _Region(b, rois, r, d, mode)
            plane = (region.image * d.channels + ch) * d.height

            def add_tap(number: int) -> None:
                def cell(p: Value) -> None:
                    i, j = b.div(p, at_least_one(b, d.columns)), b.rem(p, at_least_one(b, d.columns))
                    value = b.convert(b.load(dout, (r * d.channels + ch) * cells + p), wide)

                    def sample(k: Value, m: Value) -> None:
                        row, col, weight = region.taps(i, j, k, m)[number]
                        to = (plane + row) * d.width + col
                        b.store(total, to, b.load(total, to) + value * b.convert(weight, wide))

                    region.samples(sample, [])

                b.for_(0, cells, 1, cell)

            for number in range(4):
                add_tap(number)

        b.if_(b.gt(d.images * d.height * d.width, 0), lambda: b.for_(0, d.regions, 1, one))

    b.parallel_for(0, d.channels, 1, channel)
    return b.finish()


# ---- suppression -----------------------------------------------------------------------------------------------------


@kernel("nms_with_mask")
def nms_with_mask(c: Lowering) -> None:
    """Boxes are put in order of their scores; then each is compared with those that were kept before it."""
    (boxes,), (ranked, places, mask) = c.ins, c.outs
    n, fields = boxes.shape
    scores, order = c.temp(boxes.elem, n), c.temp("i64", n)
    move(c, boxes, scores, (n,), (fields,), (1,), 4)
    c.call(sort_kernel(boxes.elem, "i64", descending=True, with_values=False), [scores, order], [1, n, 1, n])
    function = _greedy(boxes.elem)
    c.call(function, [boxes, order, ranked, places, mask], [n, fields, float(c.attrs["threshold"])])


@cache
def _greedy(elem: str) -> Function:
    b = Builder("nms")
    boxes, order = b.buffer("boxes", elem), b.buffer("order", "i64")
    ranked, places, mask = b.buffer("ranked", elem), b.buffer("places", "i32"), b.buffer("mask", "bool")
    n, fields, threshold = b.dim("n"), b.dim("fields"), b.dim("threshold", "f64")
    wide = "f32" if elem in ("f16", "bf16") else elem
    limit = b.convert(threshold, wide)

    def rank(i: Value) -> None:
        start = b.load(order, i) * fields
        b.for_(0, fields, 1, lambda k: b.store(ranked, i * fields + k, b.load(boxes, start + k)))
        b.store(places, i, b.convert(i, "i32"))

    def corners(i: Value) -> list[Value]:
        return [b.convert(b.load(ranked, i * fields + k), wide) for k in range(4)]

    def larger(x: Value, y: Value) -> Value:
        return b.select(b.gt(x, y) | b.isnan(x), x, y)

    def smaller(x: Value, y: Value) -> Value:
        return b.select(b.lt(x, y) | b.isnan(x), x, y)

    def decide(i: Value) -> None:
        x0, y0, x1, y1 = corners(i)
        own = (x1 - x0) * (y1 - y0)

        def free(j: Value, kept: Value) -> Value:
            return b.lt(j, i) & b.ne(kept, 0)

        def compare(j: Value, kept: Value) -> tuple[Value, Value]:
            u0, v0, u1, v1 = corners(j)
            none = b.const(0.0, wide)
            common = larger(smaller(x1, u1) - larger(x0, u0), none) * larger(smaller(y1, v1) - larger(y0, v0), none)
            whole = own + (u1 - u0) * (v1 - v0) - common
            positive = b.gt(whole, 0.0)
            overlap = b.select(positive, common / b.select(positive, whole, 1.0), none)
            suppressed = b.load(mask, j) & b.gt(overlap, limit)
            return j + 1, b.select(suppressed, 0, kept)

        _, kept = b.while_([b.const(0), b.const(1)], free, compare)
        b.store(mask, i, b.ne(kept, 0))

    b.for_(0, n, 1, rank)
    b.for_(0, n, 1, decide)
    return b.finish()
