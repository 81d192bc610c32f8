"""Loops over stacks of matrices, and over the vectors of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..loop.builder import Builder, Index
from ..loop.ir import Value

__all__ = ["offsets", "spans"]


def offsets(b: Builder, loops: Sequence[tuple[Any, ...]], number: Index, starts: Sequence[Any]) -> list[Any]:
    """First elements of the matrices of product ``number``: ``starts`` moved by the loops, ``(extent, step, ...)``."""
    places = list(starts)
    for i, (extent, *steps) in reversed(list(enumerate(loops))):
        at = b.rem(number, extent) if i else number
        places = [b.add(place, b.mul(at, step)) for place, step in zip(places, steps, strict=True)]
        number = b.div(number, extent) if i else number
    return places


def spans(
    b: Builder,
    count: Value,
    lanes: int,
    can_mask: bool,
    body: Callable[[Index, int, Value | None], None],
    smallest: int = 1,
) -> None:
    """``body(at, lanes, mask)`` for all whole vectors of ``count`` elements, then for the rest: masked, or in pieces of
    ``smallest``."""
    rest = b.rem(count, lanes)
    whole = b.sub(count, rest)
    b.for_(0, whole, lanes, lambda at: body(at, lanes, None))
    if lanes == smallest:
        return
    if can_mask:
        mask = b.lt(b.lanes(lanes, "i32"), b.splat(b.convert(rest, "i32"), lanes))
        b.if_(b.gt(rest, 0), lambda: body(whole, lanes, mask))
    else:
        b.for_(whole, count, smallest, lambda at: body(at, smallest, None))
