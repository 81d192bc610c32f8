"""Locks that survive a fork.

A child process has only the thread that forked. A lock that another thread held at that moment would stay locked in the
child for ever, over data that thread had half changed. There are two answers:

`fork_safe_lock`, for a module's own data: a fork waits for it, and both processes go on with it free, the data whole.
Such locks are all taken before a fork, in no order that threads would have to keep: if one is not free for long, all
are released, and next time that one comes first.

`object_lock`, for an object's data, which is right after each single change: a fork does not wait (whoever holds it may
be running a user's program, for as long as that likes), and the child finds it free.

Python's own locks of modules are of the first kind: much of the package is imported when it is first used, and a module
whose import was under way in another thread would be half made in the child, and locked. A fork waits for those, too,
and holds the interpreter's import lock from then on: without it no import can begin before the fork.
"""

from __future__ import annotations

import _imp
import importlib
import logging  # noqa: F401 - so that its own lock is taken for a fork after ours: modules make loggers when they are imported
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

__all__ = ["fork_safe_lock", "object_lock"]

_IMPORTED_LATE = ("difflib", "duograph", "llvmlite", "mpi4py", "numpy", "socket")
"""What functions import; a test keeps the list complete."""
_PATIENCE = 10.0
"""Seconds that a fork waits for imports; whoever imports may wait for something that never comes."""
_LONG = 0.1
"""Seconds that a fork waits for a lock while it has others; the owner of that lock may want one of those.

As long it waits for modules' locks that nobody holds: a thread that looks for one takes it in a moment, or an error of
an import that has failed keeps it.
"""


class _Taken(threading.local):
    """What this thread has taken for its fork; others may fork at the same time."""

    def __init__(self) -> None:
        self.locks: list[threading.RLock] = []
        self.imports = 0


_taken = _Taken()
_locks: list[threading.RLock] = []
_of_objects: weakref.WeakSet[threading.RLock] = weakref.WeakSet()


def fork_safe_lock() -> threading.RLock:
    """A lock for a module's own data, never to be dropped: the process keeps it to its end."""
    lock = threading.RLock()
    _locks.append(lock)
    return lock


def object_lock() -> threading.RLock:
    """A lock that goes with an object. What it guards must be right between any two bytecodes of its holder."""
    lock = threading.RLock()
    _of_objects.add(lock)
    return lock


def _before() -> None:
    begun = time.monotonic()
    awaited = None
    while True:
        awaited = _take_all(awaited)
        if awaited is not None:
            continue
        _imp.acquire_lock()  # looking for a module's lock needs it, and for a moment only
        _taken.imports += 1
        # A module that was imported while this thread waited for a lock has brought one more, which may be held by now.
        is_whole = all(lock._is_owned() for lock in _locks)  # type: ignore[attr-defined]
        patience = max(map(_patience_with, list(_module_locks.items())), default=0.0)
        if is_whole and time.monotonic() >= begun + patience:
            return
        _release()  # imports may need a lock for that
        time.sleep(0.001)


def _take_all(first: threading.RLock | None) -> threading.RLock | None:
    """Waits for one lock, and not for long for all others; gives the one that was not free, and takes none then."""
    if first is not None:
        _taken.locks.append(first)
        first.acquire()
    for lock in tuple(_locks):
        _taken.locks.append(lock)
        if not lock.acquire(timeout=_LONG):
            _taken.locks.pop()
            _release()
            return lock
    return None


def _release() -> None:
    while _taken.imports:
        _taken.imports -= 1
        if _imp.lock_held():  # the child of some versions of Python has given it back itself
            _imp.release_lock()
    while _taken.locks:
        lock = _taken.locks.pop()
        if lock._is_owned():  # type: ignore[attr-defined]  # else Ctrl-C has ended the wait for it
            lock.release()


def _in_child() -> None:
    _release()
    for lock in list(_of_objects):
        if not lock._is_owned():  # type: ignore[attr-defined]  # a thread that forks while holding it releases it
            lock._at_fork_reinit()  # type: ignore[attr-defined]


_module_locks: dict[str, Callable[[], Any]] = importlib._bootstrap._module_locks  # type: ignore[attr-defined]


def _patience_with(item: tuple[str, Callable[[], Any]]) -> float:
    """Seconds that a fork may wait for the lock of a module that another thread holds, or will take next."""
    name, reference = item
    lock = reference() if name.startswith(_IMPORTED_LATE) else None
    if lock is None or lock.owner == threading.get_ident():
        return 0.0
    return _LONG if lock.owner is None else _PATIENCE


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_in_child)
