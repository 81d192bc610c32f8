"""Which lines hold how much memory: arrays are counted from their making to their end."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from duograph.base.fork import object_lock

from .events import Place


class Memory:
    """Bytes of the arrays that were made while this watched, by the line that made them.

    Attributes:
        held: bytes that are alive now, by line.
        peak: the most that was alive at a time, the workspace of compiled functions included.
        at_peak: what was held then, by line.
        workspace: the name of the compiled function that had a workspace then, and its bytes.
    """

    def __init__(self) -> None:
        self.held: dict[Place | None, int] = {}
        self.peak = 0
        self.at_peak: dict[Place | None, int] = {}
        self.workspace: tuple[str, int] = ("", 0)
        self._alive: dict[int, Any] = {}
        self._total = 0
        self._lock = object_lock()  # finalizers run in any thread

    def watch(self, value: Any, place: Place | None) -> int:
        """Counts the memory of a result that is new, which that of views is not; its bytes."""
        if isinstance(value, tuple | list):
            return sum([self.watch(v, place) for v in value])
        array = value if isinstance(value, np.ndarray) else getattr(value, "_data", None)
        while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
            array = array.base
        if not isinstance(array, np.ndarray) or id(array) in self._alive:
            return 0
        number, size = id(array), array.nbytes
        with self._lock:
            self._alive[number] = weakref.ref(array, lambda _: self._freed(number, size, place))
            self.held[place] = self.held.get(place, 0) + size
            self._total += size
            self._look()
        return size

    def use(self, name: str, workspace: int) -> None:
        """A compiled function of this name uses so many bytes while it runs."""
        with self._lock:
            self._look(name, workspace)

    def _look(self, name: str = "", workspace: int = 0) -> None:
        if self._total + workspace > self.peak:
            self.peak = self._total + workspace
            self.at_peak = dict(self.held)
            self.workspace = (name, workspace)

    def _freed(self, number: int, size: int, place: Place | None) -> None:
        with self._lock:
            self._alive.pop(number, None)
            self.held[place] -= size
            self._total -= size

    def stop(self) -> None:
        """Watches no more."""
        with self._lock:
            self._alive.clear()
