"""Where in the user's program a collective stands: for errors that name the line of each rank.

Nothing is written down until ranks do not fit together. A compiled program says which node it runs (`running`); a call
that a thread runs later keeps the place at which it was asked for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, TypeAlias

from duograph.base.source import span_of_instruction, user_frame

__all__ = ["Place", "here", "of", "place", "running"]

Place: TypeAlias = "Any"
"""A node of a graph, or a code object and the number of its instruction; ``None``: unknown."""


class _Here(threading.local):
    at: Place = None
    worker: Any = None


here = _Here()
"""``here.at``: the place of this thread, if a program that is compiled or a thread that works for others says so;
``here.worker``: the `Worker` whose thread it is."""


def place() -> Place:
    """Where this thread is."""
    if here.at is not None:
        return here.at
    frame = user_frame()
    return None if frame is None else (frame.f_code, frame.f_lasti)


@contextmanager
def running(at: Place, worker: Any = None) -> Iterator[None]:
    """Within the block, this thread is at ``at``, and works for ``worker``."""
    before, here.at, here.worker = (here.at, here.worker), at, worker or here.worker
    try:
        yield
    finally:
        here.at, here.worker = before


def of(at: Place) -> str:
    """``train.py:12``, or nothing if that is not known."""
    if at is None:
        return ""
    if isinstance(at, tuple) and isinstance(at[0], CodeType):
        span = span_of_instruction(*at)
    else:
        origins = at.context.origins.get(at, ())
        if not origins:
            return ""
        span = origins[-1].users
    return f"{os.path.basename(span.file)}:{span.line}"
