"""Movement: the result holds the elements of the operand, at other places. All of it is strided copies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from duograph.core.dim import dim_max

from ..kernels.strided import copy_all, move
from ..layout import broadcast_strides, contiguous_strides
from ..lowering import Extent, Lowering
from ..rule import kernel


@kernel("reshape")
def reshape(c: Lowering) -> None:
    copy_all(c, c.ins[0], c.outs[0], c.outs[0].size)


def read_strided(c: Lowering, strides: Sequence[Extent], offset: Extent = 0, shape: Any = None) -> None:
    """The whole result from a strided view of the operand."""
    (out,) = c.outs
    shape = out.shape if shape is None else shape
    move(c, c.ins[0], out, shape, strides, contiguous_strides(shape), offset)


@kernel("transpose")
def transpose(c: Lowering) -> None:
    own = contiguous_strides(c.ins[0].shape)
    read_strided(c, [own[p] for p in c.attrs["perm"]])


@kernel("broadcast_to")
def broadcast_to(c: Lowering) -> None:
    read_strided(c, broadcast_strides(c.ins[0].shape, c.outs[0].shape))


@kernel("flip")
def flip(c: Lowering) -> None:
    x = c.ins[0]
    axes = {a % len(x.shape) for a in c.attrs["axes"]} if x.shape else set()
    own = contiguous_strides(x.shape)
    offset: Extent = 0
    for a in axes:
        offset = offset + (x.shape[a] - 1) * own[a]
    read_strided(c, [-s if a in axes else s for a, s in enumerate(own)], offset)


@kernel("tile")
def tile(c: Lowering) -> None:
    """Every axis becomes two: the copies, which do not move in the operand, and the elements."""
    x = c.ins[0]
    multiples = c.attrs["multiples"]
    pairs = list(zip(multiples, x.shape, contiguous_strides(x.shape), strict=True))
    shape = [n for m, extent, _ in pairs for n in (m, extent)]
    read_strided(c, [s for _, _, step in pairs for s in (0, step)], shape=shape)


@kernel("repeat_interleave")
def repeat_interleave(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    repeats, axis = c.attrs["repeats"], c.attrs["axis"]
    own = contiguous_strides(x.shape)
    if not isinstance(repeats, tuple):
        shape = (*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :])
        read_strided(c, (*own[: axis + 1], 0, *own[axis + 1 :]), shape=shape)
        return
    # neighbours with equal counts are one copy
    place, first = 0, 0
    steps = contiguous_strides(out.shape)
    for count, run in itertools.groupby(repeats):
        n = len(list(run))
        extents = (*x.shape[:axis], n, count, *x.shape[axis + 1 :])
        xs = (*own[: axis + 1], 0, *own[axis + 1 :])
        os = (*steps[:axis], steps[axis] * count, steps[axis], *steps[axis + 1 :])
        move(c, x, out, extents, xs, os, first * own[axis], place * steps[axis])
        place, first = place + n * count, first + n


@kernel("roll")
def roll(c: Lowering) -> None:
    """Every rolled axis is cut in two where it wraps around; every combination of parts is a copy."""
    (x,), (out,) = c.ins, c.outs
    own = contiguous_strides(x.shape)
    total: dict[int, Any] = {}
    for shift, axis in zip(c.attrs["shifts"], c.attrs["axes"], strict=True):
        axis %= len(x.shape)
        total[axis] = total.get(axis, 0) + shift
    if any(isinstance(n, int) and n == 0 for n in x.shape):
        return
    # per axis: (extent, where it begins in the operand, where in the result)
    parts = []
    for a, n in enumerate(x.shape):
        if a not in total:
            parts.append([(n, 0, 0)])
            continue
        k = total[a] % dim_max(n, 1)
        parts.append([(n - k, 0, k)] if isinstance(k, int) and k == 0 else [(n - k, 0, k), (k, n - k, 0)])
    for choice in itertools.product(*parts):
        source: Extent = 0
        target: Extent = 0
        for (_, src, dst), step in zip(choice, own, strict=True):
            source, target = source + src * step, target + dst * step
        move(c, x, out, [n for n, _, _ in choice], own, own, source, target)
