"""Tracebacks of errors that nobody catches: the user's frames; those of this package are folded away.

A mistake in a call of an operator comes to light many frames below the user's line. Python's hooks for such errors,
that of the main thread and that of the others, show the traceback without our frames, and say how many there were;
``DUOGRAPH_TRACEBACK=full`` shows all. The exception itself keeps its traceback: debuggers, and programs that catch
it, see everything. The hook that was there before is called, with the shorter traceback.

Faults of this package (`InternalError`) are never folded.
"""

from __future__ import annotations

import re
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from .config import config
from .diagnostics import InternalError, without_internal_frames
from .hints import add_hint

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
    _fold_in_ipython()


def ipython_shell() -> Any:
    """The shell of IPython, or of Jupyter, that this process runs; ``None`` if it runs none."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def _fold_in_ipython() -> None:
    """IPython, and so Jupyter, shows errors by itself: where it runs, and nobody else has asked for errors, it gets the
    shorter tracebacks, with one line of each frame, of the first and the last."""
    shell = ipython_shell()
    if shell is None or shell.custom_exceptions:
        return

    def show(shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: Any = None) -> None:
        style, inside = shell.InteractiveTB, _without(trace, shell.run_code.__code__.co_filename)
        with _folded(error, inside) as shown:
            is_short = _length(shown) < _length(inside)
            if is_short:
                style.structured_traceback = _with_one_line(style.structured_traceback)
            try:
                shell.showtraceback((kind, error, _ends(shown) if is_short else shown), tb_offset=0)
            finally:
                vars(style).pop("structured_traceback", None)
        sys.last_traceback = trace  # for %tb and %debug

    shell.set_custom_exc((Exception,), show)


def _with_one_line(structured: Any) -> Any:
    """IPython's ``structured_traceback`` with the line that ran of each frame, and not those around it."""

    def short(*args: Any, **options: Any) -> list[str]:
        return [_shortened(part) for part in structured(*args, **options, context=2)]

    return short


def _shortened(part: str) -> str:
    head, *lines = part.split("\n")
    if not _plain(head).startswith(("Cell ", "File ")):
        return part
    return "\n".join([head, *[line for line in lines if "-> " in _plain(line)]])


def _plain(text: str) -> str:
    """A text without the codes that colour it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _without(trace: TracebackType | None, file: str) -> TracebackType | None:
    """The traceback without what has called the user's code."""
    while trace is not None and trace.tb_frame.f_code.co_filename == file:
        trace = trace.tb_next
    return trace


def _ends(trace: TracebackType | None) -> TracebackType | None:
    """The first frame of a traceback, and the last one."""
    last = trace
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if trace is None or trace is last or trace.tb_next is last:
        return trace
    return TracebackType(last, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


@contextmanager
def _folded(
    error: BaseException | None, trace: TracebackType | None, is_counted: bool = True
) -> Iterator[TracebackType | None]:
    """Within the block the exception, and those that led to it, have tracebacks without frames of this package."""
    add_hint(error, trace)
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
    if hidden and is_counted and sys.stderr is not None:
        frames = "one frame" if hidden == 1 else f"{hidden} frames"
        print(f"({frames} of duograph not shown; DUOGRAPH_TRACEBACK=full shows them)", file=sys.stderr)


def folded_text(error: BaseException) -> str:
    """An exception, its traceback and what led to it, as it would be shown."""
    with _folded(error, error.__traceback__, is_counted=False):
        return "".join(traceback.format_exception(error))


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


__all__ = ["fold_tracebacks", "folded_text", "ipython_shell"]
