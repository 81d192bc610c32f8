"""Scratch memory too large for the stack: some slots, of which a chunk of a parallel region takes a free one.

The first slots are taken first, so as many of them are used as there are threads, and they stay in the caches, however
many chunks there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.base.cores import available_cores

from ..loop.builder import Builder
from ..loop.ir import Buffer, Value

WORDS = 8
"""Words from flag to flag: a cache line, so that threads do not take it from each other."""


def most_slots() -> int:
    """More than there are threads; which thread computes what does not show in results."""
    return max(16, 2 * available_cores())


def parallel_in_slots(
    b: Builder, flags: Buffer, slots: Any, items: Any, body: Callable[[Value, Any, Any], Any]
) -> None:
    """``body(slot, begin, end)`` for as many even parts of ``items`` items as there are slots, on any threads."""

    def chunk(lo: Value, hi: Value) -> None:
        _with_slot(b, flags, slots, lambda slot: body(slot, lo * items / slots, hi * items / slots))

    b.for_(0, slots, 1, lambda k: b.store(flags, k * WORDS, b.const(0)))  # all are free
    b.parallel(0, slots, 1, chunk)


def _with_slot(b: Builder, flags: Buffer, count: Any, body: Callable[[Value], Any]) -> None:
    """``body(slot)`` with a slot that nobody else has meanwhile. There must not be more chunks than slots."""
    one = b.const(1)

    def next_slot(slot: Value, _: Value) -> tuple[Value, Value]:
        slot = b.select(b.ge(slot + 1, count), 0, slot + 1)
        before = b.atomic_add(flags, slot * WORDS, one)
        b.if_(b.ne(before, 0), lambda: give_back(slot))
        return slot, before

    def give_back(slot: Value) -> None:
        b.atomic_add(flags, slot * WORDS, b.const(-1))

    slot, _ = b.while_([b.value(count), one], lambda _, taken: b.ne(taken, 0), next_slot)
    body(slot)
    give_back(slot)
