"""Imports that Ctrl-C cannot cut in half.

Python removes a module from `sys.modules` if its import is interrupted, and the next import begins again; but its
submodules and whatever it registered elsewhere stay, and not every module can stand that (`pathlib` of CPython 3.13.0
raises `NameError` from then on). Signal handlers run on the main thread only, so another thread's import is never
interrupted: the wait for it is, and the import goes on to its end.
"""

from __future__ import annotations

import _imp
import importlib
import operator
import os
import sys
import threading
from types import ModuleType

__all__ = ["import_whole", "start_thread"]


def import_whole(name: str) -> ModuleType:
    """The module ``name``, imported on a thread of its own if it is not there yet.

    Where an earlier wait was interrupted, its thread may still be at work; it is waited for again. The main thread
    itself stays out of the import system until the module is whole: a signal between two of `importlib`'s instructions
    leaves its global lock held (CPython 3.11 to 3.13), and every other import of the process would wait for ever.

    Raises:
        ImportError: there is no such module, or whatever else its import raises.
    """
    found = sys.modules.get(name)
    if found is not None and not _is_initializing(found):
        return found
    if threading.current_thread() is not threading.main_thread() or _holds_import_lock():
        return importlib.import_module(name)  # a finder that imports holds the lock which the other thread would need
    worker = _running.get(name)
    if worker is None or not worker.has_begun:
        if worker is None and found is not None:
            for other in list(_running.values()):  # which may have come to it
                other.wait()
            if not _is_initializing(found):
                return found
            return importlib.import_module(name)  # this thread is in the middle of it, or one that nobody here started
        worker = _running[name] = _Import(name)
        try:
            start_thread(worker)
        except RuntimeError:  # no more threads, or the interpreter is ending
            _running.pop(name, None)
            return importlib.import_module(name)
    worker.wait()
    _running.pop(name, None)
    if worker.error is not None:
        raise worker.error
    return sys.modules[name]


class _Import(threading.Thread):
    """The import of one module, and what it raised."""

    def __init__(self, name: str) -> None:
        super().__init__(name="duograph import")
        self.module_name = name
        self.has_begun = self.has_ended = False
        self.error: BaseException | None = None
        self._end = threading.Lock()
        self._end.acquire()

    def run(self) -> None:
        self.has_begun = True
        try:
            importlib.import_module(self.module_name)
        except BaseException as error:  # noqa: BLE001 - raised where the module is wanted
            self.error = error
        self.has_ended = True
        self._end.release()

    def wait(self) -> None:
        """Returns when the import has ended.

        Not `Thread.join`: after an interrupted one CPython 3.11 takes the thread to be over. An interrupted wait may
        leave the lock taken, which is why the flag decides.
        """
        while not self.has_ended:
            self._end.acquire(timeout=0.05)


_running: dict[str, _Import] = {}  # imports whose main thread waits for them, or did until it was interrupted
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # their threads are not there


def _holds_import_lock() -> bool:
    """Whether this thread holds `importlib`'s global lock: `_imp.lock_held` says whether any does."""
    try:
        list(map(operator.call, (_imp.release_lock, _imp.acquire_lock)))  # in C: no signal comes between the two
    except RuntimeError:
        return False
    return True


def _is_initializing(module: ModuleType) -> bool:
    return getattr(module.__spec__, "_initializing", False)


def start_thread(thread: threading.Thread) -> None:
    """``thread.start()``, with the error that a signal handler raises meanwhile.

    ``Thread.start`` takes it for its own failure and forgets the thread, which may have forgotten itself: `KeyError`.

    Raises:
        RuntimeError: there can be no more threads.
    """
    try:
        thread.start()
    except KeyError as error:
        if error.__context__ is None:
            raise
        raise error.__context__ from None
