"""What a compiled program prints: at once, and not a second time if the call starts again as plain Python.

A program prints while it runs (`PrintTarget`, called by a `py_effect`). If an operation then fails, plain Python
answers the call from its beginning (``passes/anchors.py``), and would print all of it again. So what a call has printed
is noted (`noted`), and while plain Python repeats the call, that much of its output is held back (`withheld`).
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from duograph.base.carried import carried
from duograph.distributed import journal

from ..values.recipe import Run
from .execute import as_user_values


class _Noted(threading.local):
    def __init__(self) -> None:
        self.texts: list[str] | None = None
        self.left: Noted | None = None


_state = carried(_Noted())


class PrintTarget:
    """Prints recipes of values."""

    __slots__ = ("kwargs", "recipes")

    def __init__(self, recipes: list[Any], kwargs: dict[str, Any]) -> None:
        self.recipes, self.kwargs = recipes, kwargs

    def __call__(self, *values: Any) -> None:
        run = Run((), as_user_values(values))
        shown = [r.build(run) for r in self.recipes]
        if _state.texts is None:
            builtins.print(*shown, **self.kwargs)
            return
        if getattr(sys, "stdout", None) is None:  # nothing is printed, or `print` raises its error
            builtins.print(*shown, **self.kwargs)
        else:
            builtins.print(*shown, **self.kwargs, file=_Noting(sys.stdout, _state.texts))


class _Noting:
    """The stream ``stream``, which notes what it has taken, piece by piece as `print` writes."""

    __slots__ = ("_stream", "_texts")

    def __init__(self, stream: Any, texts: list[str]) -> None:
        self._stream, self._texts = stream, texts

    def write(self, text: str) -> None:
        self._stream.write(text)
        self._texts.append(text)  # not what the stream has refused: plain Python raises its error

    def flush(self) -> None:
        self._stream.flush()


class Noted:
    """What a call has done before it failed.

    Attributes:
        texts: what it has printed.
        collectives: what its collectives gave.
    """

    __slots__ = ("collectives", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.collectives: journal.Notes = []

    def __bool__(self) -> bool:
        return bool(self.texts or self.collectives)


class Printed:
    """What native calls of one version print (`runtime.calls.native.Effects`): calls come one after the other."""

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: list[str] = []

    def run(self, effect: Callable[[], Any]) -> Any:
        """A step of a call, whose output is noted."""
        before, _state.texts = _state.texts, self._texts
        try:
            return effect()
        finally:
            _state.texts = before

    def ended(self) -> list[str] | None:
        """What a call has printed, which is forgotten here."""
        texts = self._texts
        if not texts:
            return None
        self._texts = []
        return texts

    def failed(self, done: list[str]) -> None:
        """Python is to repeat the call of this thread that has printed this (`left_over`)."""
        _state.left = Noted()
        _state.left.texts = done


def left_over() -> Noted | None:
    """What a native call has done that has failed just now, in this thread; once."""
    left = _state.left
    if left is not None:
        _state.left = None
    return left


@contextmanager
def noted() -> Iterator[Noted]:
    """Within the block, what this thread's programs print, and what ranks gave them, is noted."""
    found = Noted()
    before, _state.texts = _state.texts, found.texts
    try:
        with journal.recorded(found.collectives):
            yield found
    finally:
        _state.texts = before


class _Withholding:
    """The stream ``stream``, without the first ``text`` that the thread which made it writes to it."""

    def __init__(self, stream: Any, text: str) -> None:
        self._stream, self._text, self._thread = stream, text, threading.get_ident()

    def write(self, text: str) -> int:
        shown = text
        if self._text and threading.get_ident() == self._thread:
            n = min(len(text), len(self._text))
            if text[:n] == self._text[:n]:
                shown, self._text = text[n:], self._text[n:]
            else:  # not what was printed before: nothing of it may be lost
                self._text = ""
        if shown:
            self._stream.write(shown)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def withheld(noted: Noted) -> Iterator[None]:
    """Within the block, nothing that this thread has done before is done again: ``sys.stdout`` does not show it, and
    collectives give what they gave."""
    with journal.replayed(noted.collectives), _silent("".join(noted.texts)):
        yield


@contextmanager
def _silent(text: str) -> Iterator[None]:
    if not text:
        yield
        return
    outer = sys.stdout
    mine = sys.stdout = _Withholding(outer, text)
    try:
        yield
    finally:
        if sys.stdout is mine:
            sys.stdout = outer
