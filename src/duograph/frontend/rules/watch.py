"""What is looked up on classes while a session captures: it may be replaced later, so it is guarded."""

from __future__ import annotations

import threading
from typing import Any, Protocol

from duograph.core import kernel
from duograph.core.traits import traits_of
from duograph.tensor.tensor import Tensor

from .facts import HEAP_TYPE, lookup
from .policy import is_user_class
from .sources import Pin

_OWN = ("duograph.frontend.", "duograph.ops.", "duograph.tensor.", "duograph.core.")


class Watcher(Protocol):
    """What is asked of a session here.

    Attributes:
        watched: what classes were found to define, by id of the class and name.
        guards: gets a guard for each.
    """

    watched: dict[tuple[int, str], Any]
    guards: Any

    def source_of(self, value: Any) -> Any:
        """Where ``value`` can be found again."""


class _Watch(threading.local):
    """The session that captures in this thread: look-ups on classes are reported to it."""

    session: Watcher | None = None


watch = _Watch()


def watched(cls: type, name: str) -> Any:
    """`lookup`, with a guard: what a class defines may be replaced, and what it does not define may appear."""
    session = watch.session
    if session is None or not cls.__flags__ & HEAP_TYPE:
        return lookup(cls, name)
    known = session.watched.get((id(cls), name), session)
    if known is not session:
        return known
    found = lookup(cls, name)
    if not _is_settled(cls) or is_user_class(cls) or (issubclass(cls, Tensor) and are_methods_native()):
        session.guards.add(session.source_of(cls), "defines", (name, Pin(found)))
        session.watched[id(cls), name] = found
    return found


def _is_settled(cls: type) -> bool:
    """Whether a class stands for tensors or run-time numbers: what it defines is put in place while programs run."""
    return cls.__module__.startswith(_OWN) or traits_of(cls.__module__).settled


def are_methods_native() -> bool:
    """Whether the methods of Tensor are those that they will be for good (`kernel.at_first_native`)."""
    return not kernel.at_first_native.functions
