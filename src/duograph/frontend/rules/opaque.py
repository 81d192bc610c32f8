"""Objects that change and cannot be put back: iterators, generators, NumPy arrays, byte arrays, files in memory,
checksums, random generators, exceptions that get notes.

Capture runs one piece of code several times from the same tracked state (`World.restore`), but nobody can restore an
iterator. So a clock notes when each of these objects was made and last changed; going back to a moment between the two
is refused, and changing one that came from outside always is.
"""

from __future__ import annotations

import array
import copy
import hashlib
import io
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .errors import Uncapturable

_HASH: type = type(hashlib.md5(usedforsecurity=False))
_BITS = np.random.BitGenerator
_DRAWING = (random.Random, np.random.RandomState, np.random.Generator)
_OPAQUE = (np.ndarray, bytearray, memoryview, array.array, _HASH, _BITS, *_DRAWING)


def is_iterator(obj: Any) -> bool:
    """Whether taking values from ``obj`` changes it."""
    return hasattr(type(obj), "__next__")


def is_opaque(obj: Any) -> bool:
    """Whether ``obj`` can change in a way that the tracked state does not cover."""
    return isinstance(obj, _OPAQUE) or is_iterator(obj)


def is_advanced(obj: Any) -> bool:
    """Whether native code that is given ``obj`` changes it: takes values from it, or draws."""
    return is_iterator(obj) or isinstance(obj, _DRAWING)


def is_file(obj: Any) -> bool:
    """Whether ``obj`` is a file in memory, whose contents are not among its attributes."""
    return isinstance(obj, io.StringIO | io.BytesIO)


def maker_of(obj: Any) -> Callable[[], Any]:
    """What makes objects as ``obj`` is now.

    Raises:
        Uncapturable: nothing does, or another object shares what it holds.
    """
    if is_iterator(obj) or isinstance(obj, _BITS):
        raise Uncapturable(f"a {type(obj).__name__} object made inside leaves the compiled function")
    if isinstance(obj, _HASH):
        return obj.copy().copy  # type: ignore[attr-defined, no-any-return]
    shares = isinstance(obj, np.random.Generator | np.random.RandomState)  # its bits with a shallow copy
    copied = copy.deepcopy if shares else copy.copy
    return partial(copied, copied(obj))


class Opaque:
    """Births and last changes of such objects, by a clock that ticks with each of these events."""

    def __init__(self) -> None:
        self.clock = 0
        self._born: dict[int, tuple[Any, int]] = {}
        self._changed: dict[int, tuple[Any, int]] = {}

    def made(self, obj: Any) -> None:
        """``obj`` may have been made just now, by the program."""
        if is_opaque(obj) and id(obj) not in self._born:
            self.clock += 1
            self._born[id(obj)] = (obj, self.clock)

    def change(self, obj: Any) -> None:
        """``obj`` is about to change. An array that shares memory with another changes that one too."""
        while isinstance(obj, np.ndarray | memoryview) and (base := _base(obj)) is not None:
            obj = base
        self.clock += 1
        self._changed[id(obj)] = (obj, self.clock)

    def changed_since(self, moment: int) -> Any:
        """An object that existed at ``moment`` and has changed since, or ``None``."""
        for key, (obj, changed) in self._changed.items():
            if changed > moment and self._born.get(key, (obj, 0))[1] <= moment:
                return obj
        return None

    def check(self, moment: int) -> None:
        """Refuses to go back to ``moment`` if an object that existed then has changed since."""
        obj = self.changed_since(moment)
        if obj is not None:
            kind = type(obj).__name__
            raise Uncapturable(f"a change of a {kind} object in code that runs on several tensor-dependent paths")


def _base(obj: Any) -> Any:
    return obj.base if isinstance(obj, np.ndarray) else obj.obj
