"""The gradient in the weight: tiles of (k, output channels) in registers, one walk over the pixels of each image.

``dout`` stands with the channels last, so a pixel gives ``vectors`` vectors of output channels; the image gives one
number per k at that pixel, found through the table of offsets. Every element of the result is one chain over the
pixels of an image; images are added up in order.
"""

from __future__ import annotations

from typing import Any

from ..lanes import transposed
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..lowering import Sink
from .correlate import Tile
from .pad import WIDE
from .parts import built_once, multiply_add, size_of, split, zeros

DIMS = (
    "batch", "groups", "image", "group", "step_d", "step_h", "step_w",  # the padded image
    "od", "oh", "ow", "dout_image", "width",  # pixels; elements of one image and group, and of one pixel, of dout
    "k_tiles", "column_tiles", "grain",
)  # fmt: skip


@built_once
def outer_function(elem: str, tile: Tile, depthwise: bool = False) -> Function:
    """Buffers: padded image, ``dout`` with channels last, table, result (groups, k padded, width). Dims: `DIMS`.

    ``depthwise``: every channel is a group of its own; the image has channels last too, groups count as one, and lane
    by lane a channel of the image meets its channel of ``dout``.
    """
    b = Builder("conv_weight_grad")
    image, dout = b.buffer("image", elem), b.buffer("dout", elem)
    table, total = b.buffer("table", "i64"), b.buffer("total", elem)
    d = {name: b.dim(name) for name in DIMS}
    size, lanes = size_of(elem), tile.lanes

    def one(n: Any, item: Any) -> None:
        rest, kt = split(b, item, d["k_tiles"])
        g, ct = split(b, rest, d["column_tiles"])
        start = n * d["image"] + g * d["group"]
        column = ct * (tile.vectors * lanes)
        if depthwise:
            start = start + column
        views = [b.view(image, (start + b.load(table, kt * tile.rows + i)) * size, elem) for i in range(tile.rows)]
        there = b.view(dout, ((n * d["groups"] + g) * d["dout_image"] + column) * size, elem)

        def pixel(_: Any, at: Any, x: Any, *acc: Any) -> Any:
            parts = [b.load(there, at + j * lanes, lanes) for j in range(tile.vectors)]
            out = []
            for i, view in enumerate(views):
                if depthwise:
                    values = [b.load(view, x + j * lanes, lanes) for j in range(tile.vectors)]
                else:
                    values = [b.splat(b.load(view, x), lanes)] * tile.vectors
                out += [
                    multiply_add(b, value, part, acc[i * tile.vectors + j])
                    for j, (value, part) in enumerate(zip(values, parts, strict=True))
                ]
            return (at + d["width"], x + d["step_w"], *out)

        def row(r: Any, x: Any, at: Any, *acc: Any) -> Any:
            at, _, *sums = b.for_(0, d["ow"], 1, pixel, [at, x + r * d["step_h"], *acc])
            return (at, *sums)

        def depth(z: Any, at: Any, *acc: Any) -> Any:
            x = z * d["step_d"]
            return b.for_(0, d["oh"], 1, lambda r, at, *acc: row(r, x, at, *acc), [at, *acc])

        init = [b.const(0), *[zeros(b, elem, lanes)] * (tile.rows * tile.vectors)]
        _, *acc = b.for_(0, d["od"], 1, depth, init)
        fresh = b.eq(n, 0)
        k_padded = d["k_tiles"] * tile.rows
        for i in range(tile.rows):
            at = (g * k_padded + kt * tile.rows + i) * d["width"] + column
            for j in range(tile.vectors):
                before = b.select(fresh, zeros(b, elem, lanes), b.load(total, at + j * lanes, lanes))
                b.store(total, at + j * lanes, before + acc[i * tile.vectors + j])

    items = d["groups"] * d["column_tiles"] * d["k_tiles"]

    def chunk(lo: Any, hi: Any) -> None:
        # image by image, so that its dout stays in the cache for all tiles of the chunk
        b.for_(0, d["batch"], 1, lambda n: b.for_(lo, hi, 1, lambda item: one(n, item)))

    b.parallel(0, items, d["grain"], chunk)
    return b.finish()


def finish_function(elem: str, sink: Sink) -> Function:
    """(groups, k padded, width) into the sink: (output channel, channel, *kernel). An empty batch gives zeros.

    Dims: batch, groups, channels of a group, k, k padded, width, grain; then, unless the sink takes all axes behind the
    first as one, the extents of these axes.
    """
    return _finish(elem, sink, sink.joins(len(sink.out.shape) - 1))


@built_once
def _finish(elem: str, sink: Sink, flat: bool) -> Function:
    return _Finish(elem, sink, flat).build()


class _Finish:
    def __init__(self, elem: str, sink: Sink, flat: bool) -> None:
        self.b = b = Builder("conv_weight_finish")
        self.elem, self.sink, self.flat = elem, sink, flat
        self.total = b.buffer("total", elem)
        self.batch, self.groups, self.count, self.k, self.k_padded, self.width, self.grain = (
            b.dim(name) for name in ("batch", "groups", "count", "k", "k_padded", "width", "grain")
        )
        self.extents = [] if flat else [b.dim(f"extent{i}") for i in range(1, len(sink.out.shape))]
        sink.declare(b)

    def build(self) -> Function:
        b = self.b
        self.some = b.gt(self.batch, 0)
        if self.flat:
            blocks = b.ceil_div(self.count, WIDE)
            items = self.groups * blocks
            b.parallel_for(0, items, self.grain, lambda item: self.block(*split(b, item, blocks)))
        else:
            b.parallel_for(0, self.groups * self.count, self.grain, self.channel)
        return b.finish()

    def value(self, at: Any, lanes: int) -> Value:
        b = self.b
        return b.select(self.some, b.load(self.total, at, lanes), zeros(b, self.elem, lanes))

    def block(self, g: Any, block: Any) -> None:
        """`WIDE` output channels, square by square."""
        b, sink = self.b, self.sink
        i = block * WIDE
        start = g * self.k_padded * self.width + i
        rows = b.min(self.count - i, WIDE)
        spread = b.alloca(self.elem, WIDE * WIDE)
        between = [b.const(0)] * (len(sink.out.shape) - 2)

        def square(k: Any) -> None:
            lines = [self.value(start + b.min(k + j, self.k_padded - 1) * self.width, WIDE) for j in range(WIDE)]
            for j, line in enumerate(transposed(b, lines)):
                b.store(spread, j * WIDE, line)
            left = b.min(self.k - k, WIDE)

            def store(j: Any, lanes: int, first: Any) -> None:
                value = b.load(spread, j * WIDE + first, lanes)
                sink.store(b, (g * self.count + i + j, *between, k + first), b.convert(value, sink.out.elem))

            b.if_(
                b.eq(left, WIDE),
                lambda: b.for_(0, rows, 1, lambda j: store(j, WIDE, 0)) and None,
                lambda: b.for_(0, rows, 1, lambda j: b.for_(0, left, 1, lambda m: store(j, 1, m)) and None) and None,
            )

        b.for_(0, self.k, WIDE, square)

    def channel(self, o: Any) -> None:
        """One output channel, element by element with all its coordinates."""
        b = self.b
        g, i = split(b, o, self.count)

        def walk(extents: Any, coords: Any, at: Any) -> Any:
            if not extents:
                self.sink.store(b, (o, *coords), b.convert(self.value(at, 1), self.sink.out.elem))
                return (at + self.width,)
            first, *rest = extents
            return b.for_(0, first, 1, lambda j, at: walk(rest, (*coords, j), at), [at])

        walk(self.extents, (), g * self.k_padded * self.width + i)
