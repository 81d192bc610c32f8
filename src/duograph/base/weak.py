"""What is known of objects that others own: it goes when they go.

A ``WeakKeyDictionary`` asks whether keys are *equal*, and two code objects may be that without being one (of two files,
say). Here a key is an object and no other, ever: an address that is used again belongs to another object, and finds
nothing.
"""

from __future__ import annotations

import functools
import weakref
from typing import Generic, TypeVar

__all__ = ["WeakTable"]

K = TypeVar("K")
V = TypeVar("V")


class WeakTable(Generic[K, V]):
    """A table by identity that keeps no key alive; its values must not do so either."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[int, tuple[weakref.ref[K], V]] = {}

    def get(self, key: K) -> V | None:
        """What is known of ``key``, ``None`` if there is nothing."""
        found = self._held.get(id(key))
        return found[1] if found is not None and found[0]() is key else None

    def __setitem__(self, key: K, value: V) -> None:
        # Called before the memory of the key is free for others, and without a line of Python that Ctrl-C could stop.
        gone = functools.partial(self._held.pop, id(key))
        self._held[id(key)] = weakref.ref(key, gone), value

    def __len__(self) -> int:
        return len(self._held)
