"""What a program can read besides its arguments: the table that `test_readable` goes through.

An entry is a function of one tensor that reads something outside, and one or more ways to change that for a while::

    @reads(attribute(sys, "argv", ["a", "b"]))
    def arguments_of_the_process(x):
        return x * len(sys.argv)

The tables are in ``readable_system.py`` (interpreter, operating system, clocks), ``readable_python.py`` (the standard
library), ``readable_numpy.py`` (NumPy, installed packages, this package), ``readable_operators.py``,
``readable_classes.py`` and ``readable_objects.py`` (what the user defines), and ``readable_data.py`` (containers,
iterators, text).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MISSING: Any = object()
"""As a new value: the name is gone."""

READABLES: list[Readable] = []


@dataclass(frozen=True)
class Readable:
    """``fn`` reads what ``changes`` change, each a function that gives a context manager.

    ``by_itself`` gives what may change without them, too, between any two calls: that of a clock, say.
    """

    fn: Callable[[Any], Any]
    changes: tuple[Callable[[], Any], ...]
    by_itself: Callable[[], Any] | None = None

    @property
    def name(self) -> str:
        return f"{self.fn.__module__.rpartition('_')[2]}:{self.fn.__name__}"


def reads(
    *changes: Callable[[], Any], by_itself: Callable[[], Any] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares an entry."""

    def declare(fn: Callable[..., Any]) -> Callable[..., Any]:
        READABLES.append(Readable(fn, changes, by_itself))
        return fn

    return declare


def attribute(owner: Any, name: str, value: Any) -> Callable[[], Any]:
    """Another value of ``owner.name``."""

    @contextlib.contextmanager
    def change() -> Iterator[None]:
        own = isinstance(owner, type) and name not in vars(type)
        before = vars(owner).get(name, MISSING) if own else getattr(owner, name, MISSING)
        _set(owner, name, value)
        try:
            yield
        finally:
            _set(owner, name, before)

    return change


def _set(owner: Any, name: str, value: Any) -> None:
    if value is MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


def item(owner: Any, key: Any, value: Any) -> Callable[[], Any]:
    """Another value of ``owner[key]``."""

    @contextlib.contextmanager
    def change() -> Iterator[None]:
        try:
            before = owner[key]
        except KeyError:
            before = MISSING
        if value is MISSING:
            del owner[key]
        else:
            owner[key] = value
        try:
            yield
        finally:
            if before is MISSING:
                del owner[key]
            else:
                owner[key] = before

    return change


def calling(do: Callable[[], Any], undo: Callable[[], Any] = lambda: None) -> Callable[[], Any]:
    """``do()`` before, ``undo()`` afterwards."""

    @contextlib.contextmanager
    def change() -> Iterator[None]:
        do()
        try:
            yield
        finally:
            undo()

    return change


def setting(get: Callable[[], Any], put: Callable[..., Any], value: Any) -> Callable[[], Any]:
    """``put(value)`` before; afterwards what ``get()`` gave, as one argument or, if it is a tuple, as several."""

    @contextlib.contextmanager
    def change() -> Iterator[None]:
        before = get()
        put(value)
        try:
            yield
        finally:
            put(*before) if isinstance(before, tuple) else put(before)

    return change


def nothing() -> Any:
    """No change."""
    return contextlib.nullcontext()


def second() -> tuple[int, str]:
    """What the clocks of the system show: the one that is exact, and the one that is some milliseconds late."""
    return int(time.time()), time.ctime()


def another_second() -> Any:
    """Waits until both clocks show another one."""
    before = second()
    while any(now == then for now, then in zip(second(), before, strict=True)):
        time.sleep(0.005)
    return contextlib.nullcontext()
