"""How far the memory in use grows: what a leak does each time, and nothing else does.

It is measured in a process of its own, which has no other tests behind it, and no threads but the pool's. Its C library
is asked for the bytes in use, not the system for those that it has lent to the process: Python's objects come from
`malloc`, too (``PYTHONMALLOC``), so that the figure is the same after each round of work that leaks nothing.
"""

from __future__ import annotations

import ctypes
import gc
import resource
from collections.abc import Callable

from tests.unit.runtime.processes import alone

_EXACT = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", "GLOG_v": "3"}
"""Blocks that threads keep for themselves would count as in use; what runs as plain Python would be said on stderr."""


class _Figures(ctypes.Structure):
    """``struct mallinfo2`` of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
                     "keepcost")
    )  # fmt: skip


_mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
if _mallinfo is not None:
    _mallinfo.restype, _mallinfo.argtypes = _Figures, ()


def bytes_in_use() -> int:
    """Bytes of this process that were allocated and not freed; its largest size so far where no one tells them."""
    if _mallinfo is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    figures = _mallinfo()
    return figures.uordblks + figures.hblkhd


def least_growth(make: Callable[..., Callable[[], object]], *args: object) -> int:
    """In this process: by how many bytes one more call of ``make(*args)`` grows it, the least of three."""
    work = make(*args)
    work()
    found = []
    for _ in range(3):
        gc.collect()
        before = bytes_in_use()
        work()
        gc.collect()
        found.append(bytes_in_use() - before)
    return min(found)


def growth(make: Callable[..., Callable[[], object]], *args: object) -> int:
    """In a new process: by how many bytes one more call of ``make(*args)`` grows it.

    Args:
        make: a function of a module, which gives the work.
        args: what it is given; their ``repr`` must make them again.
    """
    return alone(least_growth, make, *args, **_EXACT)
