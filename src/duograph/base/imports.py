"""Imports that Ctrl-C cannot cut in half.

Python removes a module from `sys.modules` if its import is interrupted, and the next import begins again; but its
submodules and whatever it registered elsewhere stay, and not every module can stand that (`pathlib` of CPython 3.13.0
raises `NameError` from then on). Signal handlers run on the main thread only, so another thread's import is never
interrupted: the wait for it is, and the import goes on to its end.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from types import ModuleType

__all__ = ["import_whole", "start_thread"]


def import_whole(name: str) -> ModuleType:
    """The module ``name``, imported on a thread of its own if it is not there yet.

    Raises:
        ImportError: there is no such module, or whatever else its import raises.
    """
    if name not in sys.modules and threading.current_thread() is threading.main_thread():
        worker = threading.Thread(target=_import, args=(name,), name="duograph import")
        try:
            start_thread(worker)
        except RuntimeError:  # no more threads, or the interpreter is ending
            pass
        else:
            worker.join()
    return importlib.import_module(name)  # there by now; or its error, raised here


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


def _import(name: str) -> None:
    with contextlib.suppress(BaseException):  # raised again where the module is wanted
        importlib.import_module(name)
