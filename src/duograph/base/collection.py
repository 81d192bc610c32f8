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
from typing import ParamSpec, TypeVar

__all__ = ["members", "no_collection"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_off_for: list[int] = []  # threads that have turned the collector off


def no_collection(fn: Callable[P, R]) -> Callable[P, R]:
    """``fn``, while which the cycle collector does not start by itself.

    What was made in it counts as old afterwards, so that it is not all looked at as soon as the call ends.

    No context manager: Ctrl-C at the entry of its ``__exit__`` would leave the collector off. In a `finally` nothing is
    interrupted before the first call has been made.
    """

    @functools.wraps(fn)
    def uncollected(*args: P.args, **kwargs: P.kwargs) -> R:
        if not gc.isenabled():
            return fn(*args, **kwargs)
        _off_for.append(threading.get_ident())
        try:
            gc.disable()
            return fn(*args, **kwargs)
        finally:
            gc.enable()
            _off_for.clear()
            if not gc.get_freeze_count():  # or what the user has frozen would thaw
                gc.freeze()
                gc.unfreeze()

    return uncollected


def members(weak: weakref.WeakSet[T]) -> list[T]:
    """What is in a weak set now. To iterate over it raises an error if another thread adds something meanwhile."""
    references = list(weak.data)  # type: ignore[attr-defined]  # one step: no Python function is called
    return [found for reference in references if (found := reference()) is not None]


def _in_child() -> None:
    if _off_for and threading.get_ident() not in _off_for:  # who would turn it on is not here
        _off_for.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
