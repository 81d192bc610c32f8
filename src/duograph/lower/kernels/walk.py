"""What data movement stands on: raw elements, axes joined where memory allows, walks over rows, runs of elements.

Movement does not look at values, so kernels treat elements by their size alone: ``u8``, ``u16``, ``u32``, ``u64``; a
complex128 is two neighbouring ``u64`` on an axis of its own. One kernel then serves every dtype of a size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..loop.builder import Builder, Index
from ..loop.ir import Buffer, Value
from ..loop.types import BITS
from ..lowering import Extent, Operand, Temporary

Axes: TypeAlias = "tuple[Extent, ...]"

SEGMENT = 16384
"""Elements of a row that one iteration of a parallel walk handles at most; also about what a chunk should move."""


def raw(memory: Operand | Temporary) -> tuple[str, int]:
    """The unsigned element type that has the size of the elements of ``memory``, and how many make one element."""
    bits = BITS[memory.elem]
    if isinstance(memory, Operand) and memory.is_complex:
        return ("u64", bits // 32)
    return f"u{bits}", 1


def dims(b: Builder, name: str, count: int) -> list[Value]:
    """``count`` dims in a row."""
    return [b.dim(f"{name}{i}") for i in range(count)]


def at_least_one(b: Builder, x: Index) -> Any:
    """``x``, but no divisor that is zero: extents of empty arrays are never walked over, but may be divided by."""
    return max(x, 1) if isinstance(x, int) else b.max(x, 1)


def walk(
    b: Builder,
    lo: Index,
    hi: Index,
    extents: Sequence[Index],
    strides: Sequence[Sequence[Index]],
    starts: Sequence[Index],
    body: Callable[..., None],
    coordinates: bool = False,
) -> None:
    """``body(offsets)`` for the positions ``lo`` to ``hi`` (row-major) of the axes ``extents``.

    ``offsets[k]`` is ``starts[k]`` plus coordinates times ``strides[k]``. It is carried along, not computed anew: a
    step adds the stride of the last axis, and what takes back to the beginning of an axis that is at its end.
    With ``coordinates`` the body gets them as its second argument.
    """
    rank = len(extents)
    if rank == 0:
        b.for_(lo, hi, 1, lambda _: body(list(starts), []) if coordinates else body(list(starts)))
        return
    if rank == 1:

        def single(i: Value) -> None:
            offsets = [b.add(first, b.mul(s[0], i)) for first, s in zip(starts, strides, strict=True)]
            body(offsets, [i]) if coordinates else body(offsets)

        b.for_(lo, hi, 1, single)
        return
    coords: list[Any] = []
    rest: Any = lo
    for extent in reversed(extents[1:]):
        size = at_least_one(b, extent)
        coords.append(b.rem(rest, size))
        rest = b.div(rest, size)
    coords = [rest, *reversed(coords)]
    offsets = []
    for first, s in zip(starts, strides, strict=True):
        total: Any = first
        for c, step in zip(coords, s, strict=True):
            total = b.add(total, b.mul(c, step))
        offsets.append(total)
    # what an offset gains when axis j ends and axis j - 1 steps
    carry = [[b.sub(s[j - 1], b.mul(extents[j], s[j])) for j in range(1, rank)] for s in strides]
    first_kept = 0 if coordinates else 1

    def step_on(i: Value, *state: Value) -> list[Value]:
        here = list(state[: rank - first_kept])
        offs = list(state[rank - first_kept :])
        body(list(offs), list(here)) if coordinates else body(list(offs))
        offs = [b.add(o, s[rank - 1]) for o, s in zip(offs, strides, strict=True)]
        ended: Any = None
        for j in range(rank - 1, 0, -1):
            at = j - first_kept
            moved = b.add(here[at], 1 if ended is None else b.convert(ended, "i64"))
            ended = b.eq(moved, extents[j])
            here[at] = b.select(ended, 0, moved)
            offs = [b.add(o, b.select(ended, c[j - 1], b.const(0))) for o, c in zip(offs, carry, strict=True)]
        if coordinates:
            here[0] = b.add(here[0], b.convert(ended, "i64"))
        return [*here, *offs]

    b.for_(lo, hi, 1, step_on, [b.value(v) for v in (*coords[first_kept:], *offsets)])


def parallel_rows(
    b: Builder,
    extents: Sequence[Index],
    strides: Sequence[Sequence[Index]],
    starts: Sequence[Index],
    length: Index,
    inner: Sequence[Index],
    body: Callable[[list[Any], Any], None],
) -> None:
    """``body(offsets, n)`` for rows of ``length`` elements, cut into segments of ``n``, on several threads.

    ``inner[k]`` is the stride of operand ``k`` along the row.
    """
    segments = b.ceil_div(length, SEGMENT)
    axes = [*extents, segments]
    ahead = [[*s, b.mul(step, SEGMENT)] for s, step in zip(strides, inner, strict=True)]
    done = [*[0] * len(extents), SEGMENT]  # one more operand: how much of the row lies before
    count = b.product(axes)
    grain = b.max(b.div(b.value(SEGMENT), b.max(b.value(length), 1)), 1)

    def chunk(lo: Value, hi: Value) -> None:
        def row(offsets: list[Any]) -> None:
            body(offsets[:-1], b.min(b.sub(length, offsets[-1]), b.value(SEGMENT)))

        walk(b, lo, hi, axes, [*ahead, done], [*starts, 0], row)

    b.parallel(0, count, grain, chunk)


# ---- runs ------------------------------------------------------------------------------------------------------------


def run_lanes(elem: str) -> int:
    """Elements in 64 bytes."""
    return 512 // BITS[elem]


def run(b: Builder, n: Index, lanes: int, body: Callable[[Any, int], None]) -> None:
    """``body(i, lanes)`` over ``n`` elements: whole vectors and a last one that overlaps; single ones if there are few.

    For bodies that may handle an element twice: what they read must not be what they write.
    """
    n = b.value(n)
    if lanes == 1:
        b.for_(0, n, 1, lambda i: body(i, 1))
        return

    def vectors() -> None:
        last = n - lanes
        b.for_(0, last, lanes, lambda i: body(i, lanes))
        body(last, lanes)

    def narrow() -> None:
        if lanes > 4:
            run(b, n, lanes // 4, body)
        else:
            b.for_(0, n, 1, lambda i: body(i, 1))

    b.if_(b.ge(n, lanes), vectors, narrow)


def copy_run(b: Builder, dst: Buffer, at: Index, src: Buffer, start: Index, n: Index) -> None:
    """``n`` neighbouring elements.

    Never the C library's ``memcpy``: from 2 KiB on it uses string instructions, which measured ten times slower where
    source and destination lie a few bytes apart modulo a page (``roll`` by 5).
    """
    lanes = run_lanes(dst.elem)
    run(b, n, lanes, lambda i, k: b.store(dst, b.add(at, i), b.load(src, b.add(start, i), k)))


def fill_run(b: Builder, dst: Buffer, at: Index, value: Value, n: Index) -> None:
    """``n`` neighbouring elements set to a scalar."""
    lanes = run_lanes(dst.elem)
    run(b, n, lanes, lambda i, k: b.store(dst, b.add(at, i), b.splat(value, k)))
