"""Memory of eager results: blocks are kept for the next result of their size, up to a cap.

Fresh memory from the system is slow: the first touch of each page is a fault, which costs more than most elementwise
ops. So what a dead result leaves is handed to the next one. NumPy frees the memory of an array through the handler that
the array names (NEP 49); arrays that native code makes name ours. Arrays that NumPy makes itself are not counted here.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.config import config
from duograph.core.kernel import at_memory_shortage
from duograph.runtime.python.cpython import ARRAY_HANDLER, HEAD, Unsupported, keep_for_ever

if TYPE_CHECKING:
    from .launcher import Engine

HANDLER_NAME = b"duograph"


class _Allocator(ctypes.Structure):
    _fields_ = (
        ("context", ctypes.c_void_p), ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p), ("free", ctypes.c_void_p),
    )  # fmt: skip


class _Handler(ctypes.Structure):
    """``PyDataMem_Handler``."""

    _fields_ = (("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", _Allocator))


_engine: list[Any] = []


def fill(engine: Engine) -> None:
    """Gives the launcher what its allocator needs.

    Raises:
        Unsupported: arrays do not take the handler as expected.
    """
    libc = ctypes.CDLL(None)
    for name in ("aligned_alloc", "free", "memset", "memcpy"):
        engine.set(name, ctypes.cast(getattr(libc, name), ctypes.c_void_p).value or 0)
    engine.set("cap", config().memory_cache << 20)
    entries = {n: engine.linked.address(f"dg_handler_{n}") for n in ("malloc", "calloc", "realloc", "free")}
    handler = _Handler(HANDLER_NAME, 1, _Allocator(None, **entries))
    keep_for_ever(handler)  # arrays may live until the very end
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    capsule = make(ctypes.addressof(handler), b"mem_handler", None)
    engine._object("handler", capsule)
    _check(engine, capsule)
    _engine[:] = [engine]
    if empty_cache not in at_memory_shortage:
        at_memory_shortage.append(empty_cache)


def _check(engine: Engine, capsule: object) -> None:
    """Makes an array as native code does, and lets it go.

    Raises:
        Unsupported: it is not what it should be.
    """
    from .records import Words, output_words

    if ctypes.sizeof(_Handler) != 168 or HEAD + 72 != ARRAY_HANDLER:
        raise Unsupported("the layout of NumPy's memory handlers")
    like = np.empty((2, 3), np.float32)
    if ctypes.c_size_t.from_address(id(like) + ARRAY_HANDLER).value == 0:
        raise Unsupported("the place of an array's memory handler")
    words = Words()
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(engine.linked.address("dg_array"))
    before = engine.get("allocated")
    made = make(words.array(output_words(words, like)))
    name = np._core.multiarray.get_handler_name(made)
    same = (made.dtype, made.shape, made.strides, str(made.flags)) == (
        like.dtype, like.shape, like.strides, str(like.flags),
    )  # fmt: skip
    if name != HANDLER_NAME.decode() or not same or made.ctypes.data % 64:
        raise Unsupported("an array over our own memory")
    made[...] = 1
    del made
    if engine.get("allocated") != before:
        raise Unsupported("memory of an array that is gone")


def copy_of(array: np.ndarray) -> np.ndarray:
    """A contiguous copy in our own memory, which begins at a cache line."""
    from .records import Words, output_words

    for engine in _engine:
        words = Words()
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(engine.linked.address("dg_array"))
        made: np.ndarray = make(words.array(output_words(words, np.ascontiguousarray(array))))
        made[...] = array
        return made
    return np.array(array, order="C")


def empty_cache() -> None:
    """Gives all memory that waits for the next result back to the system."""
    for engine in _engine:
        ctypes.PYFUNCTYPE(None)(engine.linked.address("dg_empty"))()


def trim() -> None:
    """Lets the C library return what was freed to the system; glibc keeps much of it otherwise."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(ctypes.c_size_t(0))


def memory_stats() -> dict[str, int]:
    """Bytes in use and held, now and at most, and how many requests were served."""
    names = ("allocated", "allocated_peak", "reserved", "reserved_peak", "cached", "allocations", "reuses")
    return {name: _engine[0].get(name) if _engine else 0 for name in names}


def reset_peaks(*which: str) -> None:
    """Lets the peaks start anew from what is in use (``"allocated"``) or held (``"reserved"``) now."""
    for engine in _engine:
        for name in which:
            engine.set(f"{name}_peak", engine.get(name))
