"""Things of which a process has one: made by the first caller; other threads that ask meanwhile wait.

`functools.cache` does not do that: two threads that ask at the same time both make the thing, and each gets its own.
For a value that is a fault of speed; for what is put in place somewhere (a slot of a class, a table) it is one of life.

    @once
    def machine(size: int) -> Machine: ...
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from .fork import fork_safe_lock

__all__ = ["Once", "lazy", "once"]

P = ParamSpec("P")
R = TypeVar("R")


class Once(Generic[P, R]):
    """A function that is called once for each tuple of arguments; see `once`."""

    def __init__(self, function: Callable[P, R], lock: threading.RLock) -> None:
        functools.update_wrapper(self, function)
        self._function, self._lock = function, lock
        self._made: dict[Any, R] = {}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        key = (args, tuple(kwargs.items())) if kwargs else args
        try:
            return self._made[key]
        except KeyError:
            pass
        with self._lock:
            if key not in self._made:
                made = self._function(*args, **kwargs)
                self._made[key] = made  # after an error or Ctrl-C there is nothing: the next call tries again
            return self._made[key]

    def cache_clear(self) -> None:
        """Forgets what was made."""
        self._made.clear()


def once(function: Callable[P, R], lock: threading.RLock | None = None) -> Once[P, R]:
    """``function``, run by one thread at a time and once for the same arguments; if it raises, again at the next call.

    Args:
        function: its arguments are hashable.
        lock: under which it runs, for functions that take a lock themselves. Default: one of its own. A fork waits for
            it.
    """
    return Once(function, fork_safe_lock() if lock is None else lock)


class lazy(Generic[R]):
    """A property that is computed at its first use: `functools.cached_property` without a lock.

    That of CPython 3.11 has one for all objects of the class; held by another thread, it would stay locked in the child
    of a fork. Here two threads may compute the value, each the same.
    """

    def __init__(self, function: Callable[[Any], R]) -> None:
        self._function, self._name = function, function.__name__
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> R:
        value = vars(instance)[self._name] = self._function(instance)
        return value
