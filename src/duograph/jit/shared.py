"""Versions that serve whoever holds the same: other functions of one code, other instances of one class.

A function that is decorated within another one, or a Cell that is compiled, is there anew with each call of what makes
it. What was captured for one is valid for the next (`frontend.programs.structural`), so versions are kept here by what
they depend on. They know no object but classes, modules and what these hold, and keep nothing else alive.

Who has versions here is known by its address, which is nobody else's as long as they are found by it: a `Shared` holds
its code or class, and is found only while it lives. It lives as long as a function that uses it, or as it is among the
latest ones that have versions. Whether anybody else still has the code, so that there will be another function of it,
nothing tells; codes of which there has only been one function make room first, as those that ``exec`` makes do.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from duograph.base.fork import fork_safe_lock
from duograph.base.lookup import raw_hasattr

from .entries import Entries
from .entry import Entry
from .options import JitOptions
from .policy import MOST_ENTRIES, MOST_LOOKED_AT, MOST_OWNERS, MOST_SINGLE


class Shared:
    """The versions for all functions of one code, or all instances of one class.

    Args:
        owner: the code or the class. ``None``: nobody else will find them.
    """

    def __init__(self, owner: Any = None) -> None:
        self.owner = owner
        self.users = 0  # functions, or instances, that have asked for it
        self.entries: tuple[Entry, ...] = ()

    def add(self, entry: Entry) -> None:
        """What ``entry`` computes is kept for others, if it is not bound to the objects that it knows."""
        made = entry.for_others()
        if made is not None:
            self.put(made)

    def put(self, entry: Entry) -> None:
        """A version for others; the oldest goes where there is no room."""
        self.entries = (entry, *self.entries[: MOST_ENTRIES - 1])
        if self.owner is not None:
            with _lock:
                _keep(self)

    def find(self, names: tuple[str, ...], values: Sequence[Any], level: str, tried: Sequence[Entry]) -> Entry | None:
        """A version of this ``jit_level`` that is valid for these arguments, other than those that were ``tried``."""
        fitting = (e for e in self.entries if e.names == names and e.level == level)
        others = (e for e in fitting if e not in tried and not e.is_like_one_of(tried))
        return next((e for e in others if e.matches(values)), None)

    def drop(self, entry: Entry) -> None:
        """Takes out a version that has turned out to be wrong, or of no use, and its form for others."""
        self.entries = tuple([e for e in self.entries if e is not entry and not e.is_like_one_of([entry])])


_found: dict[tuple[int, JitOptions], weakref.ref[Shared]] = {}
_several: OrderedDict[Shared, None] = OrderedDict()
_single: OrderedDict[Shared, None] = OrderedDict()
_lock = fork_safe_lock()


def shared_by(subject: Any, options: JitOptions) -> Shared:
    """What is kept for the code of a function, or the class of a Cell."""
    owner = subject.__code__ if type(subject) is types.FunctionType else type(subject)
    with _lock:
        key = id(owner), options
        reference = _found.get(key)
        shared = reference() if reference is not None else None
        if shared is None:
            shared = Shared(owner)
            _found[key] = weakref.ref(shared, functools.partial(_found.pop, key))
        shared.users += 1
        if shared.entries:
            _keep(shared)
        return shared


def _keep(shared: Shared) -> None:
    """Keeps what has versions, at the cost of what was kept before."""
    _single.pop(shared, None)
    kept, most = (_several, MOST_OWNERS) if shared.users > 1 else (_single, MOST_SINGLE)
    kept[shared] = None
    kept.move_to_end(shared)
    if len(kept) > most:
        kept.popitem(last=False)


def forget() -> None:
    """From now on nothing that was compiled before serves others."""
    with _lock:
        for table in (_found, _several, _single):
            table.clear()


def subject_of(function: Any) -> Any:
    """What versions of ``function`` get in front of the arguments, so that they can serve others: the Python function,
    if what defines it may do so again, or the Cell. ``None``: they serve one function, or are those of an instance."""
    if function.options.signature is not None:
        return None
    if function.target is not None:
        return function.target if raw_hasattr(function.target, "run_instead") else None
    fn = function.fn
    if type(fn) is not types.FunctionType or function._method is not None:
        return None
    return fn if fn.__closure__ or "<locals>" in fn.__qualname__ or fn.__name__ == "<lambda>" else None


def for_others(store: Entries, names: tuple[str, ...], values: list[Any]) -> Entry | None:
    """A version for the objects of this call, which hold the same as those that one of the latest ones knows."""
    for entry in store.compiled[:MOST_LOOKED_AT]:
        made = entry.for_others(values) if entry.names == names else None
        if made is not None:
            if entry.hits <= 1:
                store.drop(entry)
            store.add(made)
            made.prepare(values)
            made.verify(values)
            return made
    return None
