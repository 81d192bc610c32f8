"""Memory that is used again once nobody has it any more.

New memory of some megabytes costs as much as what is done with it: the system gives it page by page, and clears them.
"""

from __future__ import annotations

import math
import sys
import threading
from typing import Any

import numpy as np

__all__ = ["KEPT", "Kept"]

KEPT = 1 << 26
"""Bytes that are kept at most."""


class Kept:
    """Blocks of memory; arrays in them are views, whose references tell whether a block is free."""

    def __init__(self) -> None:
        self._blocks: list[np.ndarray] = []
        self._choosing = threading.Lock()

    def copy(self, x: np.ndarray) -> np.ndarray:
        """A C-contiguous copy."""
        made = self.empty(x.shape, x.dtype)
        made[...] = x
        return made

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array that nobody else has."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        with self._choosing:
            free = [i for i, count in enumerate(_references(self._blocks)) if count == _UNUSED]
            for i in free:
                if size <= self._blocks[i].size <= 2 * size:
                    return self._blocks[i][:size].view(dtype).reshape(shape)
            for i in reversed(free):
                if sum(block.size for block in self._blocks) + size > KEPT:
                    del self._blocks[i]
            block = np.empty(size, np.uint8)
            if sum(other.size for other in self._blocks) + size <= KEPT:
                self._blocks.append(block)
            return block.view(dtype).reshape(shape)


def _references(blocks: list[np.ndarray]) -> list[int]:
    return [sys.getrefcount(block) for block in blocks]


_UNUSED = _references([np.empty(0, np.uint8)])[0]
