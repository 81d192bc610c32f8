"""The gradient in the weight: tiles of (k, output channels) in registers, one walk over the pixels of each image.

``dout`` stands with the channels last, so a pixel gives ``vectors`` vectors of output channels; the image gives one
number per k at that pixel, found through the table of offsets. Every element of the result is one chain over the pixels of
an image; images are added up in order.
"""

from __future__ import annotations

from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Function
from ..lowering import Sink
from .correlate import Tile
from .parts import cached, multiply_add, size_of, split, zeros

DIMS = (
    "batch", "groups", "image", "group", "step_d", "step_h", "step_w",  # the padded image
    "od", "oh", "ow", "dout_image", "width",  # pixels; elements of one image and group, and of one pixel, of dout
    "k_tiles", "column_tiles", "grain",
)  # fmt: skip


def outer_function(elem: str, tile: Tile) -> Function:
    """Buffers: padded image, ``dout`` with channels last, table, result (groups, k padded, width). Dims: `DIMS`."""
    return cached(("outer", elem, tile), lambda: _outer(elem, tile))


def _outer(elem: str, tile: Tile) -> Function:
    b = Builder("conv_weight_grad")
    image, dout = b.buffer("image", elem), b.buffer("dout", elem)
    table, total = b.buffer("table", "i64"), b.buffer("total", elem)
    d = {name: b.dim(name) for name in DIMS}
    size, lanes = size_of(elem), tile.lanes

    def one(n: Any, item: Any) -> None:
        rest, kt = split(b, item, d["k_tiles"])
        g, ct = split(b, rest, d["column_tiles"])
        start = n * d["image"] + g * d["group"]
        views = [b.view(image, (start + b.load(table, kt * tile.rows + i)) * size, elem) for i in range(tile.rows)]
        column = ct * (tile.vectors * lanes)
        there = b.view(dout, ((n * d["groups"] + g) * d["dout_image"] + column) * size, elem)

        def pixel(_: Any, at: Any, x: Any, *acc: Any) -> Any:
            parts = [b.load(there, at + j * lanes, lanes) for j in range(tile.vectors)]
            out = []
            for i, view in enumerate(views):
                value = b.splat(b.load(view, x), lanes)
                out += [multiply_add(b, value, part, acc[i * tile.vectors + j]) for j, part in enumerate(parts)]
            return (at + d["width"], x + d["step_w"], *out)

        def row(r: Any, x: Any, at: Any, *acc: Any) -> Any:
            at, _, *acc = b.for_(0, d["ow"], 1, pixel, [at, x + r * d["step_h"], *acc])
            return (at, *acc)

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
    b.parallel(
        0, items, d["grain"],
        lambda lo, hi: b.for_(0, d["batch"], 1, lambda n: b.for_(lo, hi, 1, lambda item: one(n, item))),
    )  # fmt: skip
    return b.finish()


def finish_function(elem: str, sink: Sink) -> Function:
    """(groups, k padded, width) into the sink: (output channel, channel, *kernel). An empty batch gives zeros."""
    return cached(("finish", elem, sink.key), lambda: _finish(elem, sink))


def _finish(elem: str, sink: Sink) -> Function:
    b = Builder("conv_weight_finish")
    total = b.buffer("total", elem)
    batch, groups, count, channels = (b.dim(name) for name in ("batch", "groups", "count", "channels"))
    taps = [b.dim(f"kernel{i}") for i in range(len(sink.out.shape) - 2)]
    k_padded, width, grain = (b.dim(name) for name in ("k_padded", "width", "grain"))
    sink.declare(b)
    nothing, some = zeros(b, elem, 1), b.gt(batch, 0)

    def channel(o: Any) -> None:
        g, i = split(b, o, count)
        start = g * k_padded * width + i

        def walk(extents: Any, coords: Any, at: Any) -> Any:
            if not extents:
                value = b.select(some, b.load(total, at), nothing)
                sink.store(b, (o, *coords), b.convert(value, sink.out.elem))
                return (at + width,)
            first, *rest = extents
            return b.for_(0, first, 1, lambda j, at: walk(rest, (*coords, j), at), [at])

        walk([channels, *taps], (), start)

    b.parallel(0, groups * count, grain, lambda lo, hi: b.for_(lo, hi, 1, lambda o: channel(o)))
    return b.finish()
