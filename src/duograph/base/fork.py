"""Locks that survive a fork.

A child process has only the thread that forked. A lock that another thread held at that moment would stay locked in the
child for ever, over data that thread had half changed. So a fork waits for the locks made here, and both processes go
on with them free.

Locks are taken for a fork in the opposite order of their making. A module makes its lock when it is loaded, after the
modules it uses; so locks are taken in the order in which calls take them, from the top down.
"""

from __future__ import annotations

import os
import threading

__all__ = ["fork_safe_lock"]


def fork_safe_lock() -> threading.RLock:
    """A lock for a module's own data, never to be dropped: the process keeps it to its end."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
