"""Memory of eager results: blocks are kept for the next result of their size, up to a cap.

Fresh memory from the system is slow: the first touch of each page is a fault, which costs more than most elementwise
ops. So what a dead result leaves is handed to the next one. NumPy frees the memory of an array through the handler that
the array names (NEP 49); arrays that native code makes name ours. Arrays that NumPy makes itself are not counted here.
"""

from __future__ import annotations

import ctypes

import numpy as np

from duograph.base.config import config
from duograph.core.kernel import at_memory_shortage
from duograph.runtime.python.asm import Loaded
from duograph.runtime.python.cpython import Unsupported, address_of, keep_for_ever

from .records import Words, output_words

HANDLER_NAME = b"duograph"


class _Allocator(ctypes.Structure):
    _fields_ = (
        ("context", ctypes.c_void_p), ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p), ("free", ctypes.c_void_p),
    )  # fmt: skip


class _Handler(ctypes.Structure):
    """``PyDataMem_Handler``."""

    _fields_ = (("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", _Allocator))


_code: list[Loaded] = []


def start(code: Loaded) -> None:
    """Makes the allocator in the code of the launcher the one of eager results.

    Raises:
        Unsupported: arrays do not take the handler as expected.
    """
    code.set("cap", config().memory_cache << 20)
    entries = {n: code.address(f"dg_handler_{n}") for n in ("malloc", "calloc", "realloc", "free")}
    handler = _Handler(HANDLER_NAME, 1, _Allocator(None, **entries))
    keep_for_ever(handler)  # arrays may live until the very end
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    capsule = make(ctypes.addressof(handler), b"mem_handler", None)
    code.set_object("handler", capsule)
    _check(code)
    _code[:] = [code]
    at_memory_shortage.add(empty_cache)


def _check(code: Loaded) -> None:
    """Makes an array as native code does, and lets it go.

    Raises:
        Unsupported: it is not what it should be.
    """
    if ctypes.sizeof(_Handler) != 168:
        raise Unsupported("the layout of NumPy's memory handlers")
    like = np.empty((2, 3), np.float32)
    words = Words()
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(code.address("dg_array"))
    before = code.get("allocated")
    made = make(words.array(output_words(words, like)))
    name = np._core.multiarray.get_handler_name(made)
    same = (made.dtype, made.shape, made.strides, str(made.flags)) == (
        like.dtype, like.shape, like.strides, str(like.flags),
    )  # fmt: skip
    if name != HANDLER_NAME.decode() or not same or address_of(made) % 64:
        raise Unsupported("an array over our own memory")
    made[...] = 1
    del made
    if code.get("allocated") != before:
        raise Unsupported("memory of an array that is gone")


def copy_of(array: np.ndarray) -> np.ndarray:
    """A contiguous copy in our own memory, which begins at a cache line."""
    for code in _code:
        words = Words()
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(code.address("dg_array"))
        made: np.ndarray = make(words.array(output_words(words, np.ascontiguousarray(array))))
        made[...] = array
        return made
    return np.array(array, order="C")


def empty_cache() -> None:
    """Gives all memory that waits for the next result back to the system."""
    for code in _code:
        ctypes.PYFUNCTYPE(None)(code.address("dg_empty"))()


def trim() -> None:
    """Lets the C library return what was freed to the system; glibc keeps much of it otherwise."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(ctypes.c_size_t(0))


def memory_stats() -> dict[str, int]:
    """Bytes in use and held, now and at most, and how many requests were served."""
    names = ("allocated", "allocated_peak", "reserved", "reserved_peak", "cached", "allocations", "reuses")
    return {name: _code[0].get(name) if _code else 0 for name in names}


def reset_peaks(*which: str) -> None:
    """Resets the peaks to what is in use (``"allocated"``) or held (``"reserved"``) now."""
    for code in _code:
        for name in which:
            code.set(f"{name}_peak", code.get(name))
