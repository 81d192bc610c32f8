"""The micro-kernel of depthwise convolution: every channel of the result reads one channel of the image.

There is no other channel to share pixels with, so a tile is some rows of one vector each, and a row of the image that
has been loaded serves all rows of the tile whose windows see it. The taps are unrolled, which is why kernel size and
strides are part of the form. The chains are those of `correlate`: (kh, kw) ascend for every output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Function, Value
from .parts import below, built_once, multiply_add, size_of, split, unsigned_zero, zeros

DIMS = (
    "batch", "channels", "image", "channel", "base", "row", "phase",  # the padded image
    "th", "tw", "weight", "by_channel", "by_h", "by_w", "grain",
)  # fmt: skip


@dataclass(frozen=True)
class DepthwiseForm:
    """Kernel, strides, and the tile: ``rows`` rows of a vector of ``lanes``."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    rows: int
    lanes: int


@built_once
def depthwise_function(elem: str, form: DepthwiseForm, rank: int, sink: Any) -> Function:
    """Buffers: padded image, weights, and the sink's. Dims: `DIMS` and the sink's."""
    return _Depthwise(elem, form, rank, sink).build()


class _Depthwise:
    def __init__(self, elem: str, form: DepthwiseForm, rank: int, sink: Any) -> None:
        self.b = b = Builder("conv_depthwise")
        self.elem, self.form, self.rank, self.sink = elem, form, rank, sink
        self.image, self.weights = b.buffer("image", elem), b.buffer("weights", sink.out.elem)
        self.dims = {name: b.dim(name) for name in DIMS}
        sink.declare(b)

    def build(self) -> Function:
        b, d = self.b, self.dims
        b.parallel_for(0, d["batch"] * d["channels"], d["grain"], self.plane)
        return b.finish()

    def plane(self, item: Any) -> None:
        """One channel of one image, in strips of rows."""
        b, d, form = self.b, self.dims, self.form
        n, c = split(b, item, d["channels"])
        self.scratch = b.alloca(self.elem, form.rows * form.lanes)
        first = d["weight"] + c * d["by_channel"]
        taps = {}
        for i in range(form.kernel[0]):
            for j in range(form.kernel[1]):
                w = b.load(self.weights, first + d["by_h"] * i + d["by_w"] * j)
                taps[i, j] = b.splat(b.convert(w, self.elem), form.lanes)
        start = n * d["image"] + c * d["channel"] + d["base"]

        def strip(r: Any) -> None:
            top = b.min(r, d["th"] - form.rows)  # the last strip ends with the image; what it has already is not stored
            rows = b.view(self.image, (start + top * (d["row"] * form.stride[0])) * size_of(self.elem), self.elem)
            b.for_(0, d["tw"], form.lanes, lambda column: self.tile(n, c, rows, top, r - top, column, taps))

        b.for_(0, d["th"], form.rows, strip)

    def tile(self, n: Any, c: Any, rows: Any, top: Any, skip: Any, column: Any, taps: dict[Any, Value]) -> None:
        b, form = self.b, self.form
        acc = [zeros(b, self.elem, form.lanes)] * form.rows
        (kh, kw), (sh, sw) = form.kernel, form.stride
        for y in range((form.rows - 1) * sh + kh):
            seen = [(i, y - i * sh) for i in range(form.rows) if 0 <= y - i * sh < kh]
            line = self.dims["row"] * y + column
            for j in range(kw if seen else 0):
                pixels = b.load(rows, line + self.dims["phase"] * (j % sw) + j // sw, form.lanes)
                for i, tap in seen:
                    acc[i] = multiply_add(b, taps[tap, j], pixels, acc[i])
        for i, value in enumerate(acc):
            b.store(self.scratch, i * form.lanes, unsigned_zero(b, value))
        left = self.dims["tw"] - column
        b.for_(skip, form.rows, 1, lambda i: self.store((n, c, top + i, column), i * form.lanes, left))

    def store(self, coords: Any, at: Any, left: Any) -> None:
        """One row of the tile, as far as it lies in the result."""
        b, lanes, sink = self.b, self.form.lanes, self.sink
        coords = coords if self.rank == 2 else (*coords[:2], coords[3])

        def value(at: Any, lanes: int) -> Any:
            return b.convert(b.load(self.scratch, at, lanes), sink.out.elem)

        def partly() -> None:
            if sink.can_mask:
                sink.store(b, coords, value(at, lanes), below(b, left, lanes))
            else:
                b.for_(0, left, 1, lambda k: sink.store(b, (*coords[:-1], coords[-1] + k), value(at + k, 1)))

        b.if_(b.ge(left, lanes), lambda: sink.store(b, coords, value(at, lanes)), partly)
