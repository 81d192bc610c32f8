"""Calls of functions under `functools.lru_cache`: what the cache holds is read, and the call counted after each run.

    @functools.cache
    def window(size): return Tensor(numpy.hanning(size))

    y = x * window(16)      # the Tensor is an input, found in the cache; the call is a hit, as it is in Python

Asking the function would count as a call, so a guard looks at what its cache refers to, as the garbage collector does.
What is not in it yet is computed by Python (`NotYet`), and the next call is captured.
"""

from __future__ import annotations

import functools
import gc
from dataclasses import dataclass
from typing import Any

from duograph.core.dtype import DType

from ..rules import sources
from ..rules.errors import NotYet, Uncapturable
from .deferred import Step

CACHED = type(functools.lru_cache(lambda: None))
_KEYS = (int, float, bool, str, bytes, type(None), DType)
_TAIL = 6
MOST_ENTRIES = 256
"""Of a cache with a bound: its entries are looked through one by one."""


@dataclass(frozen=True)
class _Hit(Step):
    """Calls a function whose cache has the result, which counts the call and makes it the latest."""

    fn: Any
    args: tuple[Any, ...]
    named: dict[str, Any]

    def __call__(self) -> None:
        self.fn(*self.args, **self.named)

    def key(self, mark: Any) -> Any:
        """What the cache has the result under; ``mark`` is in front of the names."""
        typed, args = self.fn.cache_parameters()["typed"], self.args
        if len(args) == 1 and not self.named and not typed and type(args[0]) in (int, str):
            return args[0]
        names = (mark, *(part for pair in self.named.items() for part in pair)) if self.named else ()
        types = tuple(map(type, (*args, *self.named.values()))) if typed else ()
        return (*args, *names, *types)


class Entries:
    """What the cache of a function holds, by the calls of a program as texts: arguments that are equal are not one.

    Raises:
        Uncapturable: the cache is laid out in another way than CPython's.
    """

    def __init__(self, fn: Any) -> None:
        self.fn, self.__name__ = fn, f"cache of {fn.__qualname__}"
        held = gc.get_referents(fn)  # class, entries, table, function, mark, class of entries, of figures, names
        if len(held) < _TAIL or type(held[-6]) is not dict or type(held[-4]) is not object:
            raise Uncapturable(f"the cached function {fn.__qualname__!r}")
        self._table, self._mark, self._link = held[-6], held[-4], held[-3]
        self._keys: dict[str, Any] = {}
        self.hits: dict[str, _Hit] = {}

    def note(self, call: str, hit: _Hit) -> _Hit:
        """The step of a call, which is one for all calls that are alike."""
        self._keys[call] = hit.key(self._mark)
        return self.hits.setdefault(call, hit)

    def __getitem__(self, call: str) -> Any:
        """What a call would be answered with.

        Raises:
            KeyError: the function would be called, or there are too many entries to look through.
        """
        key = self._keys[call]
        found = self._table[key]
        if type(found) is not self._link:
            return found
        if len(self._table) <= MOST_ENTRIES:
            held = gc.get_referents(self.fn)
            for place in range(1, len(held) - _TAIL, 3):  # key, result, class
                if held[place] == key:
                    return held[place + 1]
        raise KeyError(key)


def call_cached(calls: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``fn(*args, **kwargs)`` of a function under `functools.lru_cache`."""
    session = calls.session
    if session.is_made_inside(fn) or not all(map(_is_key, (*args, *kwargs.values()))):
        raise Uncapturable(f"the cached function {fn.__qualname__!r} with arguments that are no plain values")
    if fn not in calls.caches:
        calls.caches[fn] = Entries(fn)
    entries, call = calls.caches[fn], repr((args, kwargs))
    hit = entries.note(call, _Hit(fn, args, kwargs))
    try:
        found = entries[call]
    except KeyError:
        raise NotYet(f"the cached function {fn.__qualname__!r}, which has not been called with this yet") from None
    session.defer(hit, ())
    return session.external(found, sources.item(sources.pinned(entries), call))


def _is_key(value: Any) -> bool:
    return all(map(_is_key, value)) if type(value) is tuple else type(value) in _KEYS
