"""Compiling without Python's cycle collector; weak sets that other threads change.

A compiler makes many objects and keeps nearly all of them until it is done: collections find little and take a tenth of
the time.
"""

from __future__ import annotations

import functools
import gc
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

__all__ = ["collections", "members", "no_collection"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

MANY = 20_000
"""Objects that are worth being kept from the collector."""

_off_for: list[int] = []  # threads that have turned the collector off


def no_collection(fn: Callable[P, R]) -> Callable[P, R]:
    """``fn``, while which the cycle collector does not start by itself; it runs once, over what is young, at the end.

    A compiler's objects refer to each other in cycles, and to what the user's program has: arguments, their closures,
    generators. Those must not live longer than they do in plain Python, where the last reference to them is the
    program's (finalizers, weak references). What is left then counts as old, so that it is not all looked at again.

    No context manager: Ctrl-C at the entry of its ``__exit__`` would leave the collector off. In a `finally` nothing is
    interrupted before the first call has been made.
    """

    @functools.wraps(fn)
    def uncollected(*args: P.args, **kwargs: P.kwargs) -> R:
        if not gc.isenabled():
            try:
                return fn(*args, **kwargs)
            finally:
                if not _off_for:  # the user has turned it off; else whoever has turns it on
                    gc.collect(0)
        _off_for.append(threading.get_ident())
        try:
            gc.disable()
            return fn(*args, **kwargs)
        finally:
            gc.enable()
            _off_for.clear()
            made = gc.get_count()[0]
            _collect_as_usual()
            gc.collect(0)
            # Not if the user has frozen anything, which would thaw; to ask for that is to count it.
            if made > MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()

    return uncollected


def _collect_as_usual() -> None:
    """Lets the collector start, if it is due, with the generation that is.

    It starts by itself only when there are enough young objects. Calls of ``gc.collect(0)`` alone, at the end of each
    compilation, would keep it from the older ones, and a compiled function that is dropped is part of those.
    """
    (young, middle, _), (enough, often, _) = gc.get_count(), gc.get_threshold()
    if enough and (young > enough or middle > often):
        # Sets come from no free list, so each is counted. 3.11 starts here, later versions at a call in Python.
        _made: list[Any] = [set() for _ in range(max(enough - young, 0) + 1)]
        _nothing()


def _nothing() -> None:
    pass


def collections() -> int:
    """How many times the cycle collector has run in this process."""
    return sum(generation["collections"] for generation in gc.get_stats())


def members(weak: weakref.WeakSet[T]) -> list[T]:
    """What is in a weak set now. To iterate over it raises an error if another thread adds something meanwhile."""
    references = list(weak.data)  # type: ignore[attr-defined]  # one step: no Python function is called
    return [found for reference in references if (found := reference()) is not None]


def _in_child() -> None:
    if _off_for and threading.get_ident() not in _off_for:  # the thread that would turn it on is not here
        _off_for.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
