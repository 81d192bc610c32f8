"""Writing a value that nobody else has: its memory changes hands instead of its contents being copied."""

from __future__ import annotations

import sys

import numpy as np

from duograph.core.op import state

from .alias import fresh_stamp
from .eager import write
from .tensor import Tensor

COUNTS_TELL = sys.version_info < (3, 14)
"""Up to Python 3.13 every variable that holds an object is counted in its reference count."""


def give(target: Tensor, value: Tensor, holders: int = 0) -> None:
    """`write` for values that the caller will not use again, except to read them before the next write to ``target``.

    Where nobody could tell the difference, ``target`` takes over the array of ``value``: no other tensor and no NumPy
    array shows the memory of either.

    Args:
        target: what is written.
        value: the new contents.
        holders: how many variables hold ``value`` besides the argument of this function.
    """
    old, new = target._data, value._data
    if (
        COUNTS_TELL
        and sys.getrefcount(value) == holders + 2  # the argument here, and that of `getrefcount`
        and value._view is target._view is None
        and isinstance(value._storage, int)
        and type(old) is type(new) is np.ndarray
        and sys.getrefcount(old) == sys.getrefcount(new) == 3  # the tensor, the variable here, the argument
        and old.base is new.base is None
        and old.shape == new.shape
        and old.dtype is new.dtype
        and old.flags.writeable
        and new.flags.carray
        and state.binder is None
        and not state.tapes
    ):
        target._data = new
        alias = target._alias
        alias.version = stamp = fresh_stamp()
        alias.writes = [(stamp, None)]
    else:
        write(target, value)
