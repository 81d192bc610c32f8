"""What `conv_weight_grad` calls: padded image, ``dout`` with channels last, `outer`, and the result put in order."""

from __future__ import annotations

from math import lcm, prod
from typing import Any

from duograph.core.dim import definitely_le
from duograph.lower.conv.batch.weight_grad import batch_weight_grad
from duograph.lower.conv.winograd.forward import suits
from duograph.lower.conv.winograd.grad import lower_winograd_grad

from ..lowering import Lowering, Memory
from ..target import current_target
from .correlate import Tile
from .geometry import Padded, merged, padded_row, three_axes
from .images import Plain, grain_of, pad, turned
from .outer import finish_function, outer_function
from .pack import table_function
from .pad import WIDE
from .parts import compute_elem, round_up, size_of


def lower_weight_grad(c: Lowering) -> None:
    """Gradient in the weight."""
    x, dout = c.ins
    (out,) = c.outs
    groups, elem = c.attrs["groups"], compute_elem(x.elem)
    if suits(elem, out.shape[1], out.shape[0] // groups, out.shape[2:], c.attrs):
        lower_winograd_grad(c)
        return
    axes = three_axes(x.shape[2:], out.shape[2:], dout.shape[2:], c.attrs)
    axes = merged(axes) or axes
    inner, count = out.shape[1], out.shape[0] // groups
    tile = weight_tile(size_of(elem), inner * prod(a.kernel for a in axes), count)
    if (images := batch_weight_grad(c, axes, groups, inner, count, tile)) is not None:
        images.lower()
        return
    extents = [a.reach for a in axes]
    sizes, fronts = [a.size for a in axes], tuple([a.front for a in axes])
    image: Any = Padded(extents[0], extents[1], padded_row(extents[2], 1), 1, fronts)  # type: ignore[arg-type]
    padded: Memory
    if x.elem == elem and fronts == (0, 0, 0) and all(definitely_le(n, m) for n, m in zip(extents, sizes, strict=True)):
        image, padded = Plain(sizes), x
    else:
        padded = pad(c, x, image, sizes)
    channel = image.channel
    batch, pixels = x.shape[0], axes[0].count * axes[1].count * axes[2].count
    taps = prod(a.kernel for a in axes)
    depthwise = (inner, count) == (1, 1) and groups > 1
    rows, steps = count, (image.step_d, image.step_h, 1)
    if depthwise:  # all groups side by side, in lanes
        rows, groups = groups, 1
    k = inner * taps
    tile = weight_tile(size_of(elem), k, rows)
    width = round_up(rows, lcm(WIDE, tile.vectors * tile.lanes))
    if depthwise:
        padded = turned(c, padded, batch, rows, channel, width)
        steps = tuple([s * width for s in steps])
        image_size = group_size = round_up(channel, WIDE) * width
    else:
        image_size, group_size = groups * inner * channel, inner * channel
    k_padded = round_up(k, tile.rows)
    table = c.temp("i64", k_padded)
    by_tap = [a.dilation * s for a, s in zip(axes, steps, strict=True)]
    # one phase: the length of a row does not matter
    c.call(table_function(), [table], [inner, *[a.kernel for a in axes], k_padded, channel, *by_tap, 1, 0])
    last = turned(c, dout, batch * groups, rows, pixels, width)
    total = c.temp(elem, groups * k_padded * width)
    strides = [a.stride * s for a, s in zip(axes, steps, strict=True)]
    k_tiles, columns = k_padded // tile.rows, width // (tile.vectors * tile.lanes)
    items = groups * k_tiles * columns
    grain = max(1, items // 16) if isinstance(items, int) else 4
    dims = [
        batch, groups, image_size, group_size, *strides, *[a.count for a in axes],
        round_up(pixels, WIDE) * width, width, k_tiles, columns, grain,
    ]  # fmt: skip
    c.call(outer_function(elem, tile, depthwise), [padded, last, table, total], dims)
    f = finish_function(elem, c.sink)
    extra = [] if c.sink.joins(len(out.shape) - 1) else list(out.shape[1:])
    dims = [batch, groups, rows, k, k_padded, width, grain_of(8 * k), *extra]
    c.call(f, [total, *c.sink.buffers], [*dims, *c.sink.dims])


def weight_tile(itemsize: int, k: Any, count: Any) -> Tile:
    """Rows (of k) x vectors (of output channels) for the gradient in the weight."""
    target = current_target()
    lanes = max(1, target.lanes(itemsize))
    if not isinstance(count, int) or not isinstance(k, int):
        return Tile(6, 2, lanes)
    while lanes > 4 and count <= lanes // 2:
        lanes //= 2
    best = None
    for vectors in (4, 3, 2, 1):
        # sums, the vectors of a pixel, a number of the image; and some registers for the compiler where there are many
        room = target.vector_registers - vectors - 1 - (4 if target.vector_registers >= 32 else 0)
        for rows in range(1, min(14, room // vectors) + 1):
            waste = (
                -(-k // rows) * rows / max(k, 1) * (-(-count // (vectors * lanes)) * vectors * lanes) / max(count, 1)
            )
            depth = max(1.0, 8 / (rows * vectors))  # too few chains wait for each other
            cost = waste * depth * (1 + 0.3 * (rows + vectors) / (rows * vectors))
            if best is None or cost < best[0]:
                best = cost, Tile(rows, vectors, lanes)
    assert best is not None
    return best[1]
