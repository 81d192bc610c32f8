"""Writing a value that nobody else has: its memory changes hands instead of its contents being copied."""

from __future__ import annotations

import sys

from duograph.core.op import state

from .alias import fresh_stamp
from .eager import write
from .tensor import Tensor

_COUNTS_TELL = sys.version_info < (3, 14)
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
    if (
        _COUNTS_TELL
        and sys.getrefcount(value) == holders + 2  # the argument here, and that of `getrefcount`
        and state.binder is None
        and not state.tapes
        and value._view is target._view is None
        and isinstance(value._storage, int)
        and _is_alone(target)
        and _is_alone(value)
        and value.array().shape == target.array().shape
        and value.array().dtype is target.array().dtype
    ):
        target._data = value._data
        alias = target._alias
        alias.version = stamp = fresh_stamp()
        alias.writes = [(stamp, None)]
    else:
        write(target, value)


def _is_alone(tensor: Tensor) -> bool:
    """Whether only this tensor refers to its array, which owns its memory."""
    array = tensor.array()
    flags = array.flags
    return flags.owndata and flags.c_contiguous and flags.writeable and sys.getrefcount(array) <= 4
