"""Work that needs stack, and threads that have little of it.

Kernels keep panels on the stack (GEMM: 150 KiB), LLVM needs more than 200 KiB; a Python thread may have 32 KiB
(`threading.stack_size`). What needs much is handed to a thread made for it, which takes 0.1 ms: compilations always,
kernels if the thread that calls them has less than `ENOUGH`. Native launchers run nothing on such threads.

Python handles signals on the main thread only. So what runs here is never interrupted; the wait for it is, and the work
goes on to its end.
"""

from __future__ import annotations

import contextvars
import ctypes
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from duograph.base.carried import handed_over
from duograph.base.fork import fork_safe_lock
from duograph.base.imports import start_thread
from duograph.core.op import state

__all__ = ["apart", "has_little_stack", "start", "with_stack"]

T = TypeVar("T")

ENOUGH = 512 << 10
"""Bytes of stack on which every kernel and the code around it can run."""

STACK = 16 << 20
"""Bytes of stack of threads that are made here."""

_starting = fork_safe_lock()


def start(work: Callable[[], object]) -> threading.Thread:
    """A thread with much stack. The interpreter waits for it before it ends, as LLVM's own data go then.

    Raises:
        RuntimeError: there can be no more threads.
    """
    thread = threading.Thread(target=work, name="duograph", daemon=False)
    with _starting:
        before = threading.stack_size(STACK)
        try:
            start_thread(thread)
        finally:
            now = threading.stack_size(before)
            if now != STACK:  # the program has set another meanwhile: what it had before then is not to come back
                threading.stack_size(now)
    return thread


def apart(work: Callable[[], T]) -> T:
    """What ``work`` gives on a thread of its own; it finds the context, the dispatch state and the `carried` state of
    this one, which gets the latter back."""
    outcome: list[tuple[T | None, BaseException | None]] = []
    context, dispatch = contextvars.copy_context(), dict(state.__dict__)
    begin, end, take_back = handed_over()

    def run() -> None:
        state.__dict__.update(dispatch)
        begin()
        try:
            outcome.append((context.run(work), None))
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            outcome.append((None, error))
        end()

    try:
        thread = start(run)
    except RuntimeError:  # no more threads, or the interpreter is ending
        return work()
    thread.join()
    take_back()
    value, error = outcome[0]
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # there is one, as there is no error


def with_stack(work: Callable[[], T]) -> T:
    """What ``work`` gives, on this thread if it has enough stack."""
    return apart(work) if _mine.is_little else work()


def has_little_stack() -> bool:
    """Whether this thread has less stack than kernels may need."""
    return _mine.is_little


class _Mine(threading.local):
    """What is known of a thread."""

    def __init__(self) -> None:
        self.is_little = 0 < _stack_of_this_thread() < ENOUGH


def _stack_of_this_thread() -> int:
    """Bytes of stack of this thread; 0 if that is not known."""
    if not sys.platform.startswith("linux"):
        return threading.stack_size()
    library = ctypes.CDLL(None)
    attributes, address, size = (ctypes.c_char * 256)(), ctypes.c_void_p(), ctypes.c_size_t()
    library.pthread_self.restype = ctypes.c_void_p
    if library.pthread_getattr_np(ctypes.c_void_p(library.pthread_self()), attributes):
        return 0
    library.pthread_attr_getstack(attributes, ctypes.byref(address), ctypes.byref(size))
    library.pthread_attr_destroy(attributes)
    return size.value


_mine = _Mine()
