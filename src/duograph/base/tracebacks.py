"""Tracebacks of errors that nobody catches: the user's frames; those of this package are folded away.

A mistake in a call of an operator comes to light many frames below the user's line. Python's hooks for such errors,
that of the main thread and that of the others, show the traceback without our frames, and say how many there were;
``DUOGRAPH_TRACEBACK=full`` shows all. The exception itself keeps its traceback: debuggers, and programs that catch
it, see everything. The hook that was there before is called, with the shorter traceback.

Faults of this package (`InternalError`) are never folded.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from .config import config
from .diagnostics import InternalError, without_internal_frames

_installed = False


def fold_tracebacks() -> None:
    """Puts the hooks in front of those that are there; once in a process."""
    global _installed
    if _installed:
        return
    _installed = True
    of_main, of_threads = sys.excepthook, threading.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if getattr(error, "code", None) == "DG0604":  # nobody's code is to blame for an environment variable
            print(f"duograph: {error}", file=sys.stderr)
            return
        with _folded(error, trace) as shown:
            of_main(kind, error, shown)

    def show_in_thread(args: Any) -> None:
        with _folded(args.exc_value, args.exc_traceback) as shown:
            of_threads(threading.ExceptHookArgs((args.exc_type, args.exc_value, shown, args.thread)))

    sys.excepthook, threading.excepthook = show, show_in_thread


@contextmanager
def _folded(error: BaseException | None, trace: TracebackType | None) -> Iterator[TracebackType | None]:
    """Within the block the exception, and those that led to it, have tracebacks without frames of this package."""
    chain = _chain(error)
    if config().traceback == "full" or any(isinstance(e, InternalError) for e in chain):
        yield trace
        return
    whole = [e.__traceback__ for e in chain]
    shown = without_internal_frames(trace)
    hidden = _length(trace) - _length(shown)
    try:
        for e in chain:
            short = without_internal_frames(e.__traceback__)
            if e is not error:
                hidden += _length(e.__traceback__) - _length(short)
            e.__traceback__ = short
        yield shown
    finally:
        for e, entries in zip(chain, whole, strict=True):
            e.__traceback__ = entries
    if hidden and sys.stderr is not None:
        frames = "one frame" if hidden == 1 else f"{hidden} frames"
        print(f"({frames} of duograph not shown; DUOGRAPH_TRACEBACK=full shows them)", file=sys.stderr)


def _chain(error: BaseException | None) -> list[BaseException]:
    """The exception, its causes and contexts, and what they group; each once."""
    found: list[BaseException] = []
    left = [error]
    while left:
        e = left.pop()
        if e is None or any(e is other for other in found):
            continue
        found.append(e)
        left += [e.__cause__, e.__context__, *(e.exceptions if isinstance(e, BaseExceptionGroup) else ())]
    return found


def _length(trace: TracebackType | None) -> int:
    count = 0
    while trace is not None:
        count, trace = count + 1, trace.tb_next
    return count


__all__ = ["fold_tracebacks"]
