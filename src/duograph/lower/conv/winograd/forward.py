"""Winograd's algorithm F(2x2, 3x3): which convolutions are computed by it, and the calls of the forward direction.

**Meaning.** A convolution over two spatial axes with a 3x3 kernel, no stride, no dilation, sums in float32 and at least
`CHANNELS` channels per group on either side, its gradient in the input, which is the same algorithm over ``dout`` with
flipped weights, and its gradient in the weight (`winograd.grad`) are computed so. The choice is a function of dtype,
kernel and channels alone. The result is cut into tiles of 2x2, the first at (0, 0); tiles may stick out. For each of
them, with d the 4x4 elements that it sees (those outside of the image are zeros) and g the weights:

* V = B^T d B: ``(d0 - d2, d1 + d2, d2 - d1, d1 - d3)`` along h, then along w;
* U = G g G^T: ``(g0, 0.5 * ((g0 + g2) + g1), 0.5 * ((g0 + g2) - g1), g2)`` along h, then along w;
* M: for each of the 16 positions one chain ``fma(U[o, c], V[c], acc)`` over the channels of the group from +0.0;
* Y = A^T M A: ``((m0 + m1) + m2, (m1 - m2) - m3)`` along h, then along w.

The result is Y where that is finite, and the chain of the direct algorithm where it is not (`winograd.repair`):
infinities and NaN stay in the windows that see them, and nothing overflows that would not have overflown.

Windows that see nothing but zeros (of the padding or of the image) have the result +0.0, if the weights are finite: the
transforms of d keep zeros where a window sees zeros only, chains of such products are +0.0, and Y sums no others. In
the gradient in the input these are elements that no window sees. In the gradient in the weight it takes a rule.

**How.** A thread takes a block of tiles, transforms what they see into its part of the scratch memory, multiplies, and
transforms back, all in its cache (`winograd.tiles`). Weights are transformed before, once per call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.lower.conv.correlate import Tile
from duograph.lower.conv.geometry import Axis, Padded, padded_row
from duograph.lower.conv.images import grain_of, pad
from duograph.lower.conv.parts import round_up
from duograph.lower.conv.slots import WORDS, most_slots
from duograph.lower.lowering import Lowering, Memory, Operand
from duograph.lower.rule import Refused

from .segments import segment_lanes
from .tiles import GAP, Form, tiles_function
from .weights import weights_function

CHANNELS = 16
"""Fewer channels than this, on either side, do not pay for the transforms."""

ITEMS = 8
"""Fewer items than this are made more by cutting output channels."""

FEW = 64
"""If there are no more tiles, they are one block, and weights are transformed where they are used."""


class UnknownAlgorithm(Refused):
    """Whether Winograd's algorithm is used depends on sizes that are not known yet: one op at a time, then."""


def suits(elem: str, inner: Any, count: Any, kernel: Any, attrs: dict[str, Any]) -> bool:
    """Whether a convolution with ``inner`` x ``count`` channels per group is computed by Winograd's algorithm.

    Raises:
        UnknownAlgorithm: channels or kernel are symbolic, and that decides.
    """
    if (
        elem != "f32"
        or len(kernel) != 2
        or any((*[s != 1 for s in attrs["stride"]], *[d != 1 for d in attrs["dilation"]]))
    ):
        return False
    if any(isinstance(n, int) and n != 3 for n in kernel):
        return False
    if any(isinstance(n, int) and n < CHANNELS for n in (inner, count)):
        return False
    if not all(isinstance(n, int) for n in (inner, count, *kernel)):
        raise UnknownAlgorithm(f"a {kernel[0]}x{kernel[1]} convolution of {inner} -> {count} channels")
    return True


def lower_winograd(k: Any) -> None:
    """The calls of a `Correlation` that `suits`."""
    c = k.c
    d, h, w = (phases[0] for phases in k.phases)
    x, step, channel, image = image_of(c, k.x, k.axes)
    batch, groups, inner, count = k.x.shape[0], k.groups, k.inner, k.count
    tiles = batch * ((h.outputs + 1) // 2) * ((w.outputs + 1) // 2)
    form = choose_form(k.target, tiles, inner, count, segment_lanes(w.outputs))
    packed = k.packed(d, h, w, Tile(form.rows, 1, 1), inner * 9)
    blocks = -(-count // form.rows)
    weights = c.temp("f32", 16 if form.fresh else groups * 16 * blocks * inner * form.rows)
    if not form.fresh:
        dims = [groups, blocks, inner, grain_of(inner * form.rows * 16)]
        c.call(weights_function(form.rows), [packed, weights], dims)
    together, splits, parts = schedule(form, groups, tiles, inner, blocks)
    seen, made = inner * form.tiles + GAP, together * form.rows * form.tiles + GAP
    own = inner * form.rows * together if form.fresh else 0
    share = round_up(16 * (seen + made + own), 16)
    scratch, flags = c.temp("f32", parts * share), c.temp("i64", parts * WORDS)
    sizes = [a.size for a in k.axes]
    dims = [
        batch, groups, image, inner * channel, channel, step, sizes[1], sizes[2],
        h.outputs, w.outputs, h.start - k.image.fronts[1], w.start - k.image.fronts[2],
        inner, count, blocks, together, splits, parts, share,
    ]  # fmt: skip
    f = tiles_function(form, c.sink)
    c.call(f, [x, weights, packed, scratch, flags, *c.sink.buffers], [*dims, *c.sink.dims])


def schedule(form: Form, groups: int, tiles: Any, inner: int, blocks: int) -> tuple[int, int, int]:
    """Blocks of output channels that are multiplied together; parts of these channels; parts of the scratch memory."""
    together = 1 if form.fresh else max(1, min(blocks, 64 // form.rows))
    if not isinstance(tiles, int):
        return together, 1, most_slots()
    items = groups * -(-tiles // form.tiles)
    work = 16 * inner * form.rows * blocks * min(tiles, form.tiles) / 50  # nanoseconds of an item
    splits = 1
    while items * splits < ITEMS and splits * 2 <= blocks and work / splits > 40_000:
        splits *= 2
    return max(1, min(together, blocks // splits)), splits, max(1, min(items * splits, most_slots()))


def image_of(c: Lowering, x: Operand, axes: Sequence[Axis]) -> tuple[Memory, Any, Any, Any]:
    """The image in float32; elements from row to row, from channel to channel, from image to image."""
    sizes = [a.size for a in axes]
    if x.elem == "f32":
        return x, sizes[2], sizes[1] * sizes[2], x.shape[1] * sizes[1] * sizes[2]
    image = Padded(1, sizes[1], padded_row(sizes[2], 1), 1, (0, 0, 0))
    return pad(c, x, image, sizes), image.row, image.channel, x.shape[1] * image.channel


def choose_form(target: Any, tiles: Any, inner: int, count: int, segment: int) -> Form:
    """The block of tiles and the micro-kernel; both were measured, and neither shows in the results."""
    lanes = max(4, target.lanes(4))
    few = isinstance(tiles, int) and 0 < tiles <= FEW
    if lanes >= 16:  # high and narrow where weights come from far away, or where there is little
        narrow = inner > 128 or (isinstance(tiles, int) and tiles <= 4 * FEW)
        rows = 16 if narrow and -count % 16 < 8 else 8
        block, vectors = 32, 16 // rows
    else:
        block, rows, vectors = (48, 8, 1) if few else (48, 8 if target.vector_registers >= 32 else 4, 3)
    width = vectors * lanes
    if few:  # one block, so that weights are used once
        block = round_up(tiles, width)
    elif isinstance(tiles, int) and tiles and inner * count <= 128 * 128:
        # enough blocks for the threads, where that is cheap
        block = min(block, round_up(-(-tiles // ITEMS), width))
    return Form(block, rows, vectors, lanes, segment, few)
