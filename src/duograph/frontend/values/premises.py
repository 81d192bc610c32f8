"""What the refusal of a capture was about: numbers, texts and flags that the program had read until then.

A function that could not be captured may be captured later, when what it read has changed: a layer that initialises
itself from its first input, a debug flag. Nothing is kept alive by this, and nothing of the user's runs: owners are
known weakly, and attributes and items are looked up in dictionaries.
"""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from duograph.core.op import value_key

from ..guards.guard import Guard, GuardSet
from ..guards.kinds import SIMPLE
from ..rules.facts import MISSING
from ..rules.policy import look_of
from ..rules.sources import Source

MOST = 200
"""Assumptions of one refusal that are looked at."""
_LACKS = ("no attribute", "no own attribute", "no value")
_OWN_DICTIONARY = "__dict__"


class Premise:
    """A value that was read, and how to find it again."""

    __slots__ = ("_path", "_root", "_value")

    def __init__(self, root: Callable[[Sequence[Any]], Any], path: tuple[tuple[str, Any], ...], value: Any) -> None:
        self._root, self._path, self._value = root, path, value

    @property
    def is_flag(self) -> bool:
        """Whether it chooses between ways of a program, as numbers that count do not."""
        return type(self._value) in (bool, str, type(None)) or self._value is MISSING

    def holds(self, args: Sequence[Any]) -> bool:
        """Whether the value is still what it was; what cannot be found any more is not known to have changed."""
        found = self._root(args)
        for kind, key in self._path[:-1]:
            found = _step(found, kind, key)
            if found is MISSING:
                return True
        if self._path:
            found = _step(found, *self._path[-1])
        if found is MISSING or self._value is MISSING:
            return found is self._value
        return type(found) is type(self._value) and value_key(found) == value_key(self._value)


def premises_of(guards: GuardSet, args: Sequence[Any]) -> tuple[Premise, ...]:
    """The premises among the assumptions of a capture that was refused."""
    made = [premise for guard in guards.guards[-MOST:] for premise in _premises(guard)]  # the latest ones decided
    return tuple([premise for premise in made if premise.holds(args)])  # what is not found says nothing


def _premises(guard: Guard) -> list[Premise]:
    """What a guard is about, and that it is not there: it may be an attribute of a class, which is hidden later."""
    value, source = guard.wanted, guard.source
    path: list[tuple[str, Any]] = []
    if guard.check in _LACKS and type(value) is str:
        path, value = [("attr", value)], MISSING
    elif guard.check != "equal" or type(value) not in SIMPLE:
        return []
    while source.kind in ("attr", "item"):
        if type(source.key) not in SIMPLE:
            return []
        path.insert(0, (source.kind, source.key))
        source = source.base
    root = _root(source, bool(path))
    return [] if root is None else [Premise(root, tuple(path), v) for v in dict.fromkeys((value, MISSING))]


def _root(source: Source, has_path: bool) -> Callable[[Sequence[Any]], Any] | None:
    key = source.key
    if source.kind == "arg":
        return lambda args: args[key]
    held: Any = source.base.value if source.kind in ("pinned", "global", "cell") else None
    if source.kind == "pinned":
        try:
            weak = weakref.ref(held)
        except TypeError:
            return None
        return lambda args: weak()
    if source.kind == "global":
        name = held.get("__name__")
        if type(name) is not str or _namespace(name) is not held:
            return None
        return lambda args: _namespace(name).get(key, MISSING)
    if source.kind == "cell" and not has_path:
        return lambda args: held.cell_contents if _is_full(held) else MISSING
    return None


def _namespace(name: str) -> dict[str, Any]:
    module = sys.modules.get(name)
    return vars(module) if type(module) is types.ModuleType else {}


def _is_full(cell: types.CellType) -> bool:
    try:
        return type(cell.cell_contents) in SIMPLE
    except ValueError:
        return False


def _step(owner: Any, kind: str, key: Any) -> Any:
    """An attribute in the dictionary of ``owner``, or an item of a plain container."""
    cls = type(owner)
    if kind == "item":
        if cls is dict:
            return dict.get(owner, key, MISSING)
        return owner[key] if cls in (list, tuple) and type(key) is int and 0 <= key < len(owner) else MISSING
    if look_of(cls) or isinstance(owner, type):
        return MISSING
    held = getattr(owner, _OWN_DICTIONARY, None)
    return held.get(key, MISSING) if type(held) is dict else MISSING
