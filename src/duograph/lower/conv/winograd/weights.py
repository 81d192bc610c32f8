"""Transformed weights of Winograd's algorithm."""

from __future__ import annotations

from typing import Any

from duograph.lower.conv.parts import built_once, split
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Buffer, Function


def spread(b: Builder, g: list[Any]) -> list[Any]:
    """G g: three numbers to four."""
    outer = g[0] + g[2]
    return [g[0], (outer + g[1]) * 0.5, (outer - g[1]) * 0.5, g[2]]


def transform_weights(b: Builder, packed: Buffer, start: Any, out: Buffer, goal: Any, between: Any, rows: int) -> None:
    """One channel of a block of ``rows`` packed weights; positions are ``between`` elements apart."""
    g = [[b.load(packed, start + (3 * i + j) * rows, rows) for j in range(3)] for i in range(3)]
    columns = [spread(b, [g[i][j] for i in range(3)]) for j in range(3)]
    for i in range(4):
        for j, value in enumerate(spread(b, [columns[j][i] for j in range(3)])):
            b.store(out, goal + between * (4 * i + j), value)


@built_once
def weights_function(rows: int) -> Function:
    """Packed weights (groups, blocks, channels, 9, ``rows``) into (groups, 16, blocks, channels, ``rows``)."""
    b = Builder("winograd_weights")
    packed, out = b.buffer("packed", "f32"), b.buffer("weights", "f32")
    groups, blocks, channels, grain = (b.dim(name) for name in ("groups", "blocks", "channels", "grain"))
    run = channels * rows
    between = blocks * run

    def block(index: Any) -> None:
        g, ob = split(b, index, blocks)
        goal = g * between * 16 + ob * run

        def channel(c: Any) -> None:
            transform_weights(b, packed, index * run * 9 + c * (9 * rows), out, goal + c * rows, between, rows)

        b.for_(0, channels, 1, channel)

    b.parallel_for(0, groups * blocks, grain, block)
    return b.finish()
