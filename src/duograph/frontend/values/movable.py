"""Outside objects in whose place there may be others that hold the same (`structural`): what decides that.

Their kind does, and what the program does with them. Whoever compares an object, hashes it, shows it, or hands it to
code that is not interpreted tells `Identified.note_identity`.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from typing import Any

import numpy as np

from duograph.base.lookup import raw_getattr
from duograph.core.dim import Atom, Sum, Symbol
from duograph.core.dtype import DType
from duograph.ops.scalar import Scalar
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from ..guards.guard import GuardSet
from ..rules import sources
from ..rules.dropped import CONSTANTS, awaited_in
from ..rules.errors import Uncapturable
from ..rules.exact import value_text
from ..rules.facts import HEAP_TYPE, lookup
from ..rules.policy import check_look, is_interpreted, is_user_class, look_of, module_kind
from ..rules.sources import Pin, Source
from .text import GraphText
from .world import CONTAINERS, World

PLAIN = frozenset({
    *(str, int, float, bool, type(None), Tensor, Parameter, Scalar, GraphText, DType, Symbol, Atom, Sum),
})  # fmt: skip
"""Exactly these classes: any code may have such operands (`_check` refuses none of them)."""
_ENTERS_BY_VALUE = (Tensor, *CONSTANTS, tuple, *CONTAINERS)
_STAYING = frozenset({
    *(*PLAIN, types.ModuleType, types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodType),
})  # fmt: skip
"""Classes of objects that nobody waits for; methods are made anew whenever they are asked for."""
_PLAIN_BASES = ("abc", "typing", "builtins", "contextlib")
_BY_VALUE = (BaseException, tuple, int, float, complex, str, bytes, dict, list, set, frozenset, deque)


def moves(value: Any) -> bool:
    """Whether another object of this kind may stand for ``value``, if it holds the same."""
    kind = type(value)
    if kind is types.FunctionType:
        return is_interpreted(value) and module_kind(value.__module__) != "framework"
    if kind is functools.partial or kind is types.SimpleNamespace or value_text(value) is not None:
        return True
    if not kind.__flags__ & HEAP_TYPE or type(kind) is not type or look_of(kind):
        return False
    if lookup(kind, "__getattribute__") is not object.__getattribute__ or issubclass(kind, _BY_VALUE):
        return False
    is_cell = "_cells" in raw_getattr(value, "__dict__", ()) and hasattr(kind, "construct")
    return all(_holds_in_dictionary(base, is_cell) for base in kind.__mro__)


def _holds_in_dictionary(base: type, of_cell: bool) -> bool:
    """Whether what this class adds to an object is in its dictionary or its slots, where guards see it."""
    if is_user_class(base) or base.__module__ in _PLAIN_BASES:
        return True
    return of_cell and module_kind(base.__module__) == "framework"


def _stays(value: Any) -> bool:
    """Whether ``value`` holds nothing that could end with it: a class, a function by itself, the names of a module."""
    if isinstance(value, types.FunctionType):
        return not value.__closure__
    return isinstance(value, type) or (type(value) is dict and "__builtins__" in value)


def is_found_by_name(value: Any) -> bool:
    """Whether ``value`` is a function that a module holds under its name: it is there once, and stays."""
    return type(value) is types.FunctionType and value.__globals__.get(value.__name__) is value


class Identified:
    """A part of `Session`."""

    guards: GuardSet
    world: World
    entered: Any

    def __init__(self) -> None:
        super().__init__()
        self._object_sources: dict[int, tuple[Any, Source]] = {}
        self._found: dict[int, Source] = {}
        self._seen = 0  # guards that this is known of
        self._identified: set[int] = set()  # ids of those of which it matters which ones they are
        self.without_dictionary: dict[int, Any] = {}  # made by the program; attributes set on them are in the overlay
        self.parts: dict[int, Any] = {}  # slices of Cells from outside: made by the program, of what a guard has

    def _enter_method(self, method: types.MethodType, source: Source) -> bool:
        """A bound method from outside, which Python makes anew whenever it is asked for; whether it is one of an object
        and a function."""
        owner = method.__self__
        check_look(type(owner), owner)
        if type(method.__func__) is not types.FunctionType or isinstance(owner, (*_ENTERS_BY_VALUE, type)):
            return False
        known = self._object_sources.setdefault(id(method), (method, source))[1]
        if known != source:
            self.guards.same_objects[known, source] = None
        self.guards.add(source, "type", types.MethodType)
        self.entered(method.__func__, sources.attr(source, "__func__"))
        self.entered(owner, sources.attr(source, "__self__"))
        return True

    def _enter_array(self, value: np.ndarray, source: Source) -> np.ndarray:
        """A NumPy array from outside: what the program makes of it says what else is assumed (`Session.of_array`)."""
        known = self._object_sources.setdefault(id(value), (value, source))[1]
        if known != source:
            self.guards.same_objects[known, source] = None
        self.guards.add(source, "type", np.ndarray)
        return value

    def note_identity(self, value: Any, depth: int = 4, is_asked: bool = False) -> None:
        """It matters which object ``value`` is, or one that it holds: no other may stand for it. Of dates and the like
        only if the program asks for that itself."""
        kind = type(value)
        if kind in PLAIN or (not is_asked and value_text(value) is not None):
            return
        known = self._object_sources.get(id(value))
        if known is not None:
            self._identified.add(id(value))
            if kind is types.MethodType or kind is np.ndarray:
                self.guards.add(known[1], "is", Pin(value))
        if not depth:
            return
        if isinstance(value, dict):
            held: Any = (*value, *value.values())
        elif isinstance(value, list | tuple | set | frozenset | deque):
            held = value
        else:
            held = vars(value).values() if self.world.is_tracked(value) else ()
        if not PLAIN.issuperset(map(type, held)):
            for v in held:
                self.note_identity(v, depth - 1, is_asked)

    def check_outside(self, obj: Any) -> None:
        """Refuses to take what the program has made for something that it has found."""
        if id(obj) in self.without_dictionary and not self.world.is_tracked(obj):
            raise Uncapturable(f"an object of class {type(obj).__qualname__!r}, made inside, which has slots")

    def movable(self) -> dict[int, Any]:
        """Outside objects, by id, in whose place there may be others that hold the same."""
        found = [(key, held) for key, (held, _) in self._object_sources.items() if key not in self._identified]
        return {key: held for key, held in found if moves(held)}

    def awaited(self) -> list[tuple[Any, bool | None]]:
        """The outside objects whose destruction the user's program observes at once: no version should keep them alive.
        With each, what `awaited_in` says."""
        found = [v for k, (v, _) in self._object_sources.items() if type(v) not in _STAYING or k in self._identified]
        silent: set[int] = set()
        looked_at = []
        for held in reversed(found):  # what others hold comes first: they need not look at it again
            if id(held) not in silent and not _stays(held):
                looked_at.append((held, awaited_in(held, silent)))
        return [known for known in reversed(looked_at) if known[1] is not False]

    def found_at(self, source: Source) -> Source:
        """``source`` by the way on which the program comes to it in any call: not from objects known by identity
        (`structural`)."""
        match source.kind:
            case "pinned":
                at = self._ways().get(id(source.base.value))
                return source if at is None else self.found_at(at)
            case "cell":
                at = self._ways().get(id(source.base.value))
                return source if at is None else sources.attr(self.found_at(at), "cell_contents")
            case "attr" | "item" | "array" | "extent":
                return Source(source.kind, self.found_at(source.base), source.key)
        return source

    def _ways(self) -> dict[int, Source]:
        """Where objects known by identity, and the closure cells of functions among them, were found first."""
        guards = self.guards.guards
        for guard in guards[self._seen :]:
            if guard.check == "is" and isinstance(guard.expected, Pin):
                value = guard.expected.value
                self._found.setdefault(id(value), guard.source)
                for i, variable in enumerate(value.__closure__ or () if type(value) is types.FunctionType else ()):
                    self._found.setdefault(id(variable), sources.item(sources.attr(guard.source, "__closure__"), i))
        self._seen = len(guards)
        return self._found

    def source_at(self, value: Any) -> Source | None:
        """Where an object was found; ``None`` for what is not from outside."""
        return self._object_sources[id(value)][1] if id(value) in self._object_sources else None
