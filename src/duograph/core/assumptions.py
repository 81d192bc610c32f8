"""What shape rules assume of unknown sizes: the callback that is told, and what is remembered of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from .dim import Extent

Assume: TypeAlias = "Callable[[Extent, Extent], object] | None"
Assumed: TypeAlias = "list[tuple[bool, Extent, Extent]]"
"""Pairs of extents that are taken to be equal, and whether that was to broadcast them."""


class Layout:
    """How far apart the elements of a tensor from outside are that is not contiguous, as one of two assumed equals: it
    is as it is in this call.

    Attributes:
        tensor: the tensor, or the symbolic one that stands for it.
    """

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


class _Listener(threading.local):
    """Per thread: the callback for assumptions of shape rules whose caller passes none (set by a capture)."""

    def __init__(self) -> None:
        self.assume: Assume = None
        self.assume_broadcast: Assume = None  # of what is broadcast: the op that does it will say the same
        self.assume_layout: Callable[[Any], object] | None = None  # of a `Layout`: its tensor
        self.is_strided: Callable[[Any], bool] | None = None  # whether a symbolic tensor stands for such a one


listener = _Listener()


@contextmanager
def assumptions() -> Iterator[list[tuple[Extent, Extent]]]:
    """Collects what shape rules assume in the block: pairs of extents that are taken to be equal."""
    found: list[tuple[Extent, Extent]] = []
    before = listener.assume, listener.assume_broadcast
    listener.assume = listener.assume_broadcast = lambda a, b: found.append((a, b))
    try:
        yield found
    finally:
        listener.assume, listener.assume_broadcast = before


@contextmanager
def overheard() -> Iterator[Assumed]:
    """Collects what shape rules assume in the block, which the listener is told all the same."""
    found: Assumed = []
    before = listener.assume, listener.assume_broadcast

    def hear(of_broadcast: bool, a: Extent, b: Extent) -> None:
        found.append((of_broadcast, a, b))
        told = before[of_broadcast]
        if told is not None:
            told(a, b)

    listener.assume, listener.assume_broadcast = partial(hear, False), partial(hear, True)
    try:
        yield found
    finally:
        listener.assume, listener.assume_broadcast = before


@contextmanager
def applied_again() -> Iterator[None]:
    """What shape rules assume of ops that were applied before was told then, and is checked where they run. But not
    what they assume of broadcasting: that matters to gradients, which may have been no concern then."""
    before, listener.assume = listener.assume, None
    try:
        yield
    finally:
        listener.assume = before


def tell(assumed: Assumed) -> None:
    """Tells the listener again what a shape rule has assumed."""
    for of_broadcast, a, b in assumed:
        told = listener.assume_broadcast if of_broadcast else listener.assume
        if told is not None:
            told(a, b)
