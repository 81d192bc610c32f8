"""Results that there is no memory for: which are never tried, and what is said of them."""

from __future__ import annotations

import math
import os
from functools import cache
from typing import Any

from duograph.base.limits import soft_limit

from .dtype import DType
from .types import TensorType, TupleType, Type

ADDRESSABLE = 1 << 47
"""Bytes that a process can have at all."""


@cache
def installed() -> int:
    """Bytes of memory that this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not told by this system
        return ADDRESSABLE


def obtainable() -> int:
    """Bytes that this process may have at most: what is installed, or its own limit (``ulimit -v``)."""
    limit = soft_limit("RLIMIT_AS")
    return installed() if limit is None or limit < 0 else min(limit, installed())


def size_of(found: Type) -> int:
    """Bytes of the largest tensor in a result of the type ``found``; where sizes vary, at the least."""
    if isinstance(found, TupleType):
        return max([size_of(item) for item in found.items], default=0)
    if not isinstance(found, TensorType):
        return 0
    sizes: list[int] = [n if isinstance(n, int) else int(max(n.lo, 0)) for n in found.shape]
    return math.prod(sizes) * found.dtype.itemsize


def is_shape(found: TensorType) -> bool:
    """Whether an array may have the shape: NumPy counts the bytes of what has no elements by its other extents."""
    sizes: list[int] = [n if isinstance(n, int) else int(max(n.lo, 1)) for n in found.shape]
    return math.prod([n for n in sizes if n]) * found.dtype.itemsize < 1 << 63


def check_memory(op: str, found: Type) -> None:
    """Refuses results that no memory can hold, also where nobody looks at them.

    Raises:
        MemoryError: a result is one.
    """
    if isinstance(found, TensorType):
        if size_of(found) >= ADDRESSABLE and all(type(n) is int for n in found.shape):
            raise no_memory(op, found.shape, found.dtype)
    elif isinstance(found, TupleType):
        for item in found.items:
            check_memory(op, item)


def no_memory(op: str, shape: tuple[Any, ...], dtype: DType) -> MemoryError:
    """The error for a result of ``op`` of this shape (numbers only) and dtype."""
    size = readable(math.prod(shape) * dtype.itemsize)
    return MemoryError(
        f"out of memory: the result of '{op}' of shape {shape} and dtype {dtype.name} takes {size}; "
        "compute it in smaller pieces"
    )


def readable(size: int) -> str:
    """A number of bytes to read: ``7.3 TiB``."""
    value, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.4g} {unit}"
