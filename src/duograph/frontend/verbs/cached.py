"""Calls of functions under `functools.lru_cache`: what the cache holds is read, and the call counted after each run.

    @functools.cache
    def window(size): return Tensor(numpy.hanning(size))

    y = x * window(16)      # the Tensor is an input, found in the cache; the call is a hit, as it is in Python

Of a method, the object is part of what is asked for; its class must compare and hash it by identity, as classes do.
Asking the function would count as a call, so a guard looks at what its cache refers to, as the garbage collector does.
What is not in it yet is computed by Python (`NotYet`), and the next call is captured.
"""

from __future__ import annotations

import functools
import gc
import types
from dataclasses import dataclass
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.core.dtype import DType

from ..rules import sources
from ..rules.errors import NotYet, Uncapturable
from ..rules.policy import is_user_class
from ..rules.watch import watched
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
                if _is_same(held[place], key):
                    return held[place + 1]
        raise KeyError(key)


def is_cached_method(method: types.MethodType) -> bool:
    """Whether a method is what its class defines under its name; a guard says that it stays so."""
    return watched(type(method.__self__), raw_getattr(method.__func__, "__name__", "")) is method.__func__


def call_cached(calls: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``fn(*args, **kwargs)`` of a function under `functools.lru_cache`."""
    session = calls.session
    if session.is_made_inside(fn) or not all(_is_key(session, v) for v in (*args, *kwargs.values())):
        raise Uncapturable(f"the cached function {fn.__qualname__!r} with arguments that are not plain values")
    if fn not in calls.caches:
        calls.caches[fn] = Entries(fn)
    entries, call = calls.caches[fn], repr((_told(args), {name: _told(v) for name, v in kwargs.items()}))
    hit = entries.note(call, _Hit(fn, args, kwargs))
    try:
        found = entries[call]
    except KeyError:
        raise NotYet(f"the cached function {fn.__qualname__!r}, which has not been called with this yet") from None
    session.defer(hit, ())
    return session.external(found, sources.item(sources.pinned(entries), call))


def _is_key(session: Any, value: Any) -> bool:
    """Whether ``value`` is found again in a cache without code of the user."""
    kind = type(value)
    if kind is tuple:
        return all(_is_key(session, v) for v in value)
    if kind in _KEYS:
        return True
    if session.is_made_inside(value) or not is_user_class(kind):
        return False
    session.note_identity(value)
    return all(watched(kind, name) is vars(object)[name] for name in ("__hash__", "__eq__"))


def _told(value: Any) -> Any:
    """What a key is told apart by, which has a text that nobody else makes."""
    if type(value) is tuple:
        return tuple([_told(v) for v in value])
    return value if type(value) in _KEYS else (..., id(value))


def _is_same(a: Any, b: Any) -> bool:
    """``a == b`` of keys; other entries may have objects of the user in them."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_is_same, a, b))
    return a is b or (type(a) in _KEYS and type(b) in _KEYS and bool(a == b))
