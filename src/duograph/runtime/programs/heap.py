"""Memory that native programs allocate while they run: two regions per run, each a chain of chunks.

Stack cells, packed residuals and values whose size is known only inside the program live in the region ``CELLS``,
frames of called functions in ``FRAMES``. A region grows geometrically; it is cut back to a mark where a loop iteration
or a call ends whose results cannot refer to what was allocated in it, and released as a whole when the run ends, also
after a failure.

A region is three words of the context block: address of the newest chunk, bytes used of it, address of the last piece.
A chunk begins with the address of the chunk before it, its size, and how much of the one before was in use.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Function
from duograph.runtime.kernels.status import MEMORY

HEADER = 64
FIRST = 1 << 16
KEPT = 1 << 24
"""Bytes of the first chunk; largest chunk that is kept from one run to the next."""


@functools.cache
def alloc_function() -> Function:
    """``ctx[region + 2] =`` address of ``nbytes`` new bytes, 64-byte aligned; failure 2 if there are none."""
    b = Builder("region_alloc")
    ctx = b.buffer("ctx", "i64")
    region, nbytes = b.dim("region"), b.dim("nbytes")
    size = b.mul(b.div(b.add(b.max(nbytes, 1), 63), 64), 64)
    chunk, used = b.load(ctx, region), b.load(ctx, b.add(region, 1))
    has = b.ne(chunk, 0)
    (capacity,) = b.if_(has, lambda: b.load(b.at(chunk, "i64"), 1), lambda: b.const(0))

    def grow() -> None:
        wanted = b.max(b.add(size, HEADER), b.max(b.mul(capacity, 2), FIRST))
        made = b.alloc(wanted, "i64")
        b.fail(b.is_null(made), MEMORY)
        b.leave()
        b.store(made, 0, chunk)
        b.store(made, 1, wanted)
        b.store(made, 2, used)
        b.store(ctx, region, b.address(made))
        b.store(ctx, b.add(region, 1), b.const(HEADER))

    b.if_(b.gt(b.add(used, size), capacity), grow)
    used = b.load(ctx, b.add(region, 1))
    b.store(ctx, b.add(region, 2), b.add(b.load(ctx, region), used))
    b.store(ctx, b.add(region, 1), b.add(used, size))
    return b.finish()


@functools.cache
def cut_function() -> Function:
    """Releases what was allocated since the region stood at ``chunk`` and ``used``."""
    b = Builder("region_cut")
    ctx = b.buffer("ctx", "i64")
    region, chunk, used = b.dim("region"), b.dim("chunk"), b.dim("used")

    def back(newest: Any) -> Any:
        memory = b.at(newest, "i64")
        before = b.load(memory, 0)
        b.free(memory)
        return before

    # the very first chunk stays: a loop that allocates in it does not ask the system in every iteration
    def more(newest: Any) -> Any:
        return b.ne(newest, chunk) & b.ne(b.load(b.at(newest, "i64"), 0), 0)

    newest = b.load(ctx, region)

    def cut() -> None:
        (left,) = b.while_([newest], more, back)
        b.store(ctx, region, left)
        b.store(ctx, b.add(region, 1), b.select(b.eq(left, chunk), used, HEADER))

    b.if_(b.ne(newest, 0), cut)
    return b.finish()


def reset(ctx: Any, region: int) -> None:
    """Releases a region at the end of a run, but for one chunk of moderate size, which the next run begins with.

    Args:
        ctx: the context block, a ctypes array of words.
        region: number of its first word.
    """
    chunk = ctx[region]
    if not chunk:
        return
    words = ctypes.cast(chunk, ctypes.POINTER(ctypes.c_int64))
    older, size = words[0], words[1]
    if older == 0 and size <= KEPT:
        ctx[region + 1] = HEADER
        return
    gone, kept = [], 0
    while chunk:
        words = ctypes.cast(chunk, ctypes.POINTER(ctypes.c_int64))
        older, size = words[0], words[1]
        if not kept and size <= KEPT:
            kept, first = chunk, words
        else:
            gone.append(chunk)
        chunk = older
    # No call between these lines, and chunks are forgotten before they are freed: an interrupt must not leave the
    # address of memory that is gone.
    if kept:
        first[0] = 0
    ctx[region], ctx[region + 1] = kept, HEADER
    free = _free()
    for chunk in gone:
        free(chunk)


def give_back(ctx: Any, region: int) -> None:
    """Frees all chunks of a region."""
    free, chunk = _free(), ctx[region]
    ctx[region] = ctx[region + 1] = 0  # see `reset`
    while chunk:
        older = ctypes.cast(chunk, ctypes.POINTER(ctypes.c_int64))[0]
        free(chunk)
        chunk = older


@functools.cache
def _free() -> Any:
    function = ctypes.CDLL(None).free
    function.argtypes, function.restype = [ctypes.c_void_p], None
    return function
