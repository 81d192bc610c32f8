"""What the collectives of a call have given, so that none is done twice.

A compiled program that fails is repeated as plain Python, from its beginning (``passes/anchors.py``). Other ranks have
gone on meanwhile: what this one has exchanged with them must not be exchanged again. So a call notes what its
collectives gave (`recorded`), and while plain Python repeats it, they give that again (`replayed`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from duograph.base.carried import carried

from .errors import CommunicationError
from .worker import Work

__all__ = ["Notes", "begun_once", "once", "recorded", "replayed"]

Notes = list[tuple[Any, Any]]
"""What was called, and what it gave, in order."""


class _Here(threading.local):
    notes: Notes | None = None
    given: Notes | None = None


_here = carried(_Here())


class _Failure:
    """Notes that a call failed: other ranks have the error, too, and do not come again."""

    def __init__(self, key: Any) -> None:
        self._key = key

    def __enter__(self) -> None:
        """Nothing has happened yet."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, CommunicationError) and _here.notes is not None:
            _here.notes.append((self._key, Work.failed(error)))


def once(key: Any, call: Callable[[], Any]) -> Any:
    """``call()``, or what it gave the first time. ``key`` says what is called."""
    if _here.given:
        known, value = _here.given.pop(0)
        if known == key:
            return value.result() if isinstance(value, Work) else value
        _here.given = None  # the program goes another way than it went: nothing of it is known
    with _Failure(key):
        value = call()
    if _here.notes is not None:
        _here.notes.append((key, value))
    return value


def begun_once(key: Any, submit: Callable[[], Work]) -> Work:
    """As `once`, for a call that runs while the program goes on."""
    if _here.given:
        return Work.done(once(key, lambda: submit().result()))
    work = submit()
    if _here.notes is not None:
        _here.notes.append((key, work))
    return work


@contextmanager
def recorded(notes: Notes) -> Iterator[None]:
    """Within the block, what collectives give to this thread is also added to ``notes``."""
    before, _here.notes = _here.notes, notes
    try:
        yield
    finally:
        _here.notes = before


@contextmanager
def replayed(notes: Notes) -> Iterator[None]:
    """Within the block, collectives of this thread give what is in ``notes``, as long as that lasts."""
    before, _here.given = _here.given, list(notes)
    try:
        yield
    finally:
        _here.given = before
