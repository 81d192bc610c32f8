"""Memory of native code for as many values as a call has, which is not known when the code is written."""

from __future__ import annotations

from .asm import Function, Value, Variable

FEW_WORDS = 2048
"""This many lie on the stack of the thread, which may have little of it; more are allocated."""


def room(f: Function, words: Value) -> tuple[Value, Variable]:
    """Code that finds uninitialised memory for ``words`` of 8 bytes.

    Returns:
        Its address, null if there is none, and what `PyMem_RawFree` is to be called with at the end.
    """
    heap, at, ready = f.variable("ptr", 0), f.variable("ptr"), f.label("ready")
    with f.if_(words.above(FEW_WORDS)):
        heap.set(f.api("PyMem_RawMalloc", words * 8))
        at.set(heap.get())
        f.goto(ready)
    at.set(f.row("ptr", words))
    f.place(ready)
    return at.get(), heap
