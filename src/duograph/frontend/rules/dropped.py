"""Who observes the destruction of an object: finalizers run where the last reference goes, within a program."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.core.dtype import DType
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .errors import Uncapturable
from .facts import HEAP_TYPE, lookup, slots_of
from .policy import check_look, look_of, module_kind
from .watch import watched

CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(...), DType, range, slice)
_SEQUENCES: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
_BARE = frozenset({dict, list, tuple, types.FunctionType})
"""What has no finalizer of its own."""
_SILENT = frozenset({bool, int, float, complex, str, bytes, type(None), Tensor, Parameter})
MOST_LOOKED_THROUGH = 64
"""Objects at which each capture looks for one of its arguments."""
MOST_HELD = 1000
"""Objects, constants left out, that are looked at; what holds more may hold anything."""


def check_dropped(value: Any) -> None:
    """Refuses to release an outside object where somebody observes its destruction, or that of something it holds,
    however deep: that is in the middle of the program.

    Args:
        value: what an attribute, or a container, does not hold any more.
    """
    work, seen = [value], {id(value)}
    while work:
        found = work.pop()
        kind = type(found)
        check_look(kind)
        if isinstance(found, (*CONSTANTS, Tensor, types.ModuleType, type)) or _is_our_own(found):
            continue
        is_function = isinstance(found, types.FunctionType)
        if not is_function and (
            watched(kind, "__del__") is not None or any(r.__callback__ for r in weakref.getweakrefs(found))
        ):
            raise Uncapturable(f"an object of class {kind.__qualname__!r} whose destruction can be observed")
        held = [v for v in _held_by(found) if type(v) not in _SILENT and id(v) not in seen]
        seen.update(map(id, held))
        if len(seen) > MOST_HELD:
            raise Uncapturable(f"an object of class {type(value).__qualname__!r} is dropped, which holds many others")
        work += held


def _is_our_own(value: Any) -> bool:
    """What this package keeps with objects of the user, such as versions of their methods; a Cell is his."""
    return module_kind(type(value).__module__) == "framework" and "_cells" not in raw_getattr(value, "__dict__", ())


def _held_by(value: Any) -> Iterable[Any]:
    """What goes when ``value`` does, as far as nobody else has it."""
    if isinstance(value, types.FunctionType):
        cells = [c.cell_contents for c in value.__closure__ or () if c != types.CellType()]
        spaces = () if _is_of_module(value.__globals__) else (value.__globals__,)
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        return (*cells, *spaces, *defaults, *vars(value).values())
    own: list[Any] = list(raw_getattr(value, "__dict__", {}).values())
    if isinstance(value, dict):
        own += (*dict.keys(value), *dict.values(value))
    for plain in _SEQUENCES:
        if isinstance(value, plain):
            own += plain.__iter__(value)
    if not type(value).__flags__ & HEAP_TYPE:  # methods, iterators, generators
        own += gc.get_referents(value)
    for member in slots_of(type(value)):
        own += _slot(member, value)
    return own


def _is_of_module(namespace: dict[str, Any]) -> bool:
    module = sys.modules.get(namespace.get("__name__", ""))
    return type(module) is types.ModuleType and vars(module) is namespace


def _slot(member: types.MemberDescriptorType, value: Any) -> tuple[Any, ...]:
    try:
        return (member.__get__(value),)
    except AttributeError:  # nothing is there
        return ()


def awaited_in(value: Any, silent: set[int]) -> bool | None:
    """Whether a program waits for the end of an outside object: its class has a ``__del__`` of the user's, or somebody
    has asked for it with ``weakref.finalize``; or so it is with what it holds, as far as a short look shows. ``None``:
    files and the like close with it, or a weak reference shows whether it is there. ``silent``: ids of objects for
    whose end nobody waits; those that are found to be so join them."""
    work, seen, closes = [value], {id(value)}, False
    while work:
        found = work.pop()
        kind = type(found)
        if kind not in _BARE:
            if kind in _SILENT or isinstance(found, (*CONSTANTS, Tensor, types.ModuleType, type)) or _is_our_own(found):
                continue
            finalizer = lookup(kind, "__del__")
            references = weakref.getweakrefs(found)
            if isinstance(finalizer, types.FunctionType) or any(map(_finalizes, references)) or _is_suspended(found):
                return True
            closes = closes or finalizer is not None or bool(references)
        if len(seen) < MOST_LOOKED_THROUGH and not look_of(kind):
            held = [v for v in _held_by(found) if type(v) not in _SILENT and id(v) not in seen and id(v) not in silent]
            seen.update(map(id, held))
            work += held
    if closes:
        return None
    if len(seen) < MOST_LOOKED_THROUGH:  # all of them were looked at
        silent |= seen
    return False


def _is_suspended(value: Any) -> bool:
    """Whether ``value`` is a generator or coroutine that has begun: its ``finally`` clauses run when it is dropped."""
    kind = type(value)
    return (kind is types.GeneratorType and value.gi_suspended) or (kind is types.CoroutineType and value.cr_suspended)


def _finalizes(reference: weakref.ReferenceType[Any]) -> bool:
    if not issubclass(type(reference), weakref.ReferenceType):  # a proxy, which shows what the object has
        return False
    return isinstance(reference.__callback__, weakref.finalize)


def is_dropped_silently(value: Any) -> bool:
    """Whether `check_dropped` lets ``value`` go."""
    if type(value) in _SILENT:
        return True
    try:
        check_dropped(value)
    except Uncapturable:
        return False
    return True
