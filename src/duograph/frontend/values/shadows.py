"""How numbers, strings, tuples and containers from outside enter a program, and what is assumed of them.

* Numbers and strings are baked in. One of a class of the user may hold attributes: it is guarded by identity.
* A tuple is taken apart.
* A list, dict, set or deque gets a *shadow*: a copy that is made without running code of its class, with the same
  attributes. What the program changes is written back when it has ended.

An object of these kinds may be found in several places at once. Where the program changes one, the other shadows of
its class are guarded to stand for other objects.
"""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.core.dtype import DType, as_dtype
from duograph.core.types import scalar_type
from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.scalar import Scalar

from ..guards.guard import GuardSet
from ..rules import sources
from ..rules.dropped import CONSTANTS, check_dropped
from ..rules.errors import Uncapturable
from ..rules.exact import is_made_again
from ..rules.facts import HEAP_TYPE
from ..rules.policy import check_keys
from ..rules.sources import Pin, Source
from .factories import Factory, get_factory, set_factory
from .journals import Journal, Journals
from .text import GraphText, UnreadText
from .world import World, contents, is_own_dictionary, new_tuple, put_item, set_contents

if TYPE_CHECKING:
    from duograph.ir.node import Param

MAX_PAIRS = 10_000
"""This many pairs of containers are guarded to be different objects."""
MANY = 64
"""This many numbers in a list are looked at together."""
_SIMPLE = frozenset({int, float, str, bool, type(None)})
_KINDS: tuple[Any, ...] = (OrderedDict, defaultdict, list, dict, set, deque)
_READS = frozenset({
    *("get", "keys", "values", "items", "index", "count", "copy", "union", "intersection", "difference"),
    *("symmetric_difference", "issubset", "issuperset", "isdisjoint", "most_common", "elements", "total"),
    *("__contains__", "__getitem__", "__len__", "__iter__", "__reversed__", "__eq__", "__ne__", "__or__", "__and__"),
    *("__sub__", "__xor__", "__add__", "__mul__", "__missing__"),
})  # fmt: skip
"""Methods of containers that change nothing."""
_REBUILDS = ("update", "intersection_update", "symmetric_difference_update", "__ior__", "__iand__", "__ixor__")
"""Methods of sets that make room for all that may come, or build a new table: elements one by one do not."""
_ORDERLESS = frozenset({
    *("add", "discard", "remove", "clear", "update", "difference_update", "intersection_update", "issubset"),
    *("symmetric_difference_update", "issuperset", "isdisjoint", "__contains__", "__len__"),
})  # fmt: skip
"""Methods of sets for which the order of their elements does not matter."""
_OF_NUMPY = frozenset({
    *(np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16),
    np.uint8,
})  # fmt: skip
_NAMESPACES = ("__dict__", "__globals__")
_TABLES = ("_params", "_cells", "_buffers")


def new_blank(kind: Any, cls: type, maxlen: int | None = None, factory: Any = None) -> Any:
    """An empty container of class ``cls``, which derives from the built-in ``kind``; nothing of the user runs."""
    made = kind.__new__(cls)
    if kind is deque:
        deque.__init__(made, (), maxlen)
    elif kind is defaultdict:
        defaultdict.__init__(made, factory)
    return made


def facts_of_container(value: Any) -> tuple[Any, type, int | None, Any]:
    """Arguments of `new_blank` that make a container like ``value``."""
    kind = next(k for k in _KINDS if isinstance(value, k))
    return (
        kind,
        type(value),
        vars(deque)["maxlen"].__get__(value) if kind is deque else None,
        get_factory(value) if kind is defaultdict else None,
    )


def may_be_input(value: Any) -> bool:
    """Whether a number may be an input of a graph: Python's, and NumPy's that hold such. Texts are passed on."""
    return type(value) in (int, float, bool, str) or type(value) in _OF_NUMPY


def is_number_of_numpy(value: Any) -> bool:
    """Whether ``value``, of a class of NumPy's, is a number, which never changes."""
    return type(value).__module__ == "numpy" and value.dtype.kind in "biufc"


def _has_slots(cls: type) -> bool:
    return any(
        isinstance(v, types.MemberDescriptorType)
        for base in cls.__mro__
        if base.__flags__ & HEAP_TYPE and base not in _KINDS
        for v in vars(base).values()
    )


def _is_told_by_value(value: Any) -> bool:
    """Whether an equal object of this class is as good: it has no attributes of its own, nor code of the user."""
    return not type(value).__flags__ & HEAP_TYPE or type(value).__module__.split(".")[0] in ("numpy", "duograph")


class Shadows(Journals):
    """A part of `Session`."""

    dynamic: set[Source]
    guards: GuardSet
    inputs: list[tuple[Source, Param]]
    world: World
    initial_contents: dict[int, Any]
    add_input: Any
    found_at: Any
    as_size: Any
    external: Any
    entered: Any

    def __init__(self) -> None:
        super().__init__()
        self.originals: dict[int, tuple[Any, Source]] = {}  # id(shadow) -> outside container and its source
        self.tuples: dict[int, tuple[Any, Source]] = {}  # id(tuple of the program) -> it, and its source
        self._shadows: dict[int, Any] = {}
        self._texts: dict[Source, GraphText] = {}  # that vary
        self._numpy_numbers: dict[Source, NumpyScalar] = {}
        self._changed: set[int] = set()  # ids of shadows that the program has called a changing method of, or more
        self._tuples: dict[tuple[int, Source], tuple[Any, ...]] = {}  # (id(outside tuple), source) -> tuple
        self._keep: list[Any] = []

    # -- constants and tuples ----------------------------------------------------------------------------------

    def external_constant(self, value: Any, source: Source) -> Any:
        """An outside number, string or the like."""
        varies = bool(self.dynamic) and (source in self.dynamic or self.found_at(source) in self.dynamic)
        if isinstance(value, np.generic) and varies and may_be_input(value):
            return self._numpy_number(value, source)
        if varies and type(value) is str:
            self.guards.add(source, "type", str)
            known_as = source if source in self.dynamic else self.found_at(source)
            return self._texts.setdefault(source, GraphText([(str, UnreadText(source, known_as))]))
        if type(value) is int and (size := self.as_size(value, source)) is not None:
            return size
        if (varies and type(value) in (int, float, bool)) or getattr(type(value), "__ms_mutable__", False):
            for known, param in self.inputs:
                if known == source:
                    return Scalar(param)
            self.guards.add(source, "type", type(value))
            return Scalar(self.add_input(source, source_name(source), scalar_type(value)))
        if self.log.unsteady:
            self.check_steady(source)
        if isinstance(value, DType) or not _is_told_by_value(value):
            self.guards.add(source, "is", Pin(value))
            return value
        if isinstance(value, slice) and not all(
            isinstance(v, CONSTANTS) for v in (value.start, value.stop, value.step)
        ):
            raise Uncapturable("a slice from outside whose bounds are objects")
        if value != value:  # containers look for a NaN by its identity
            self.guards.add(source, "is", Pin(value))
        self.guards.add(source, "equal", value)
        return value

    def _numpy_number(self, value: Any, source: Source) -> NumpyScalar:
        """What stands for a number of NumPy's that varies."""
        known = self._numpy_numbers.get(source)
        if known is None:
            self.guards.add(source, "type", type(value))
            param = self.add_input(sources.number(source), source_name(source), scalar_type(value.item()))
            known = NumpyScalar(Scalar(param), type(value), as_dtype(type(value)), source)
            self._numpy_numbers[source] = known
        return known

    def external_tuple(self, value: tuple[Any, ...], source: Source) -> Any:
        """An outside tuple: itself, or one of what stands for its items."""
        known = self._tuples.get((id(value), source))
        if known is value:  # all of it stands for itself; optimizers look through theirs once per parameter
            return value
        self.guards.add(source, "type", type(value))
        self.guards.add(source, "len", len(value))
        items = [self._held(v, sources.item(source, i)) for i, v in enumerate(value)]
        is_itself = all(a is b for a, b in zip(items, value, strict=True))
        self._guard_attributes_of_tuple(value, source, is_itself)
        if known is not None and all(a is b for a, b in zip(items, known, strict=True)):
            return known
        made = value if is_itself else new_tuple(type(value), items)
        self._tuples[id(value), source] = made
        self._keep.append(value)
        if made:  # there is one empty tuple only
            self.tuples.setdefault(id(made), (made, source))
        return made

    def _guard_attributes_of_tuple(self, value: Any, source: Source, is_itself: bool) -> None:
        if _is_told_by_value(value) or not raw_hasattr(value, "__dict__"):
            return
        if not vars(value):
            self.guards.add(sources.attr(source, "__dict__"), "keys", [])
        elif is_itself:
            self.guards.add(source, "is", Pin(value))
        else:
            raise Uncapturable(f"a tuple of class {type(value).__qualname__!r} that holds a container and attributes")

    # -- containers --------------------------------------------------------------------------------------------

    def shadow(self, value: Any, source: Source) -> Any:
        """What stands for an outside container, which is never modified by capture."""
        shadow = self._shadows.get(id(value))
        if shadow is not None:
            known = self.originals[id(shadow)][1]
            if known != source:
                self.guards.same_objects[known, source] = None
            if not self.world.is_tracked(shadow) and id(shadow) in self.initial_contents:
                # first met on a path that was left again (and not: inside of itself)
                set_contents(shadow, self.initial_contents[id(shadow)])
                self.world.track(shadow)
            return shadow
        self.guards.add(source, "type", type(value))
        facts = facts_of_container(value)
        if self.may_be_journal(value, source):
            return self._journal(value, source, facts[2])
        self.check_steady(source)
        if issubclass(type(value), dict):
            check_keys(value)
        shadow = new_blank(*facts)
        self._shadows[id(value)] = shadow
        self._keep.append(value)
        self.originals[id(shadow)] = (value, source)
        if facts[0] is deque:
            self.guards.add(sources.attr(source, "maxlen"), "equal", facts[2])
        elif facts[0] is defaultdict:
            set_factory(shadow, Factory.of(self.external(facts[3], sources.attr(source, "default_factory"))))
        self._fill(shadow, value, source)
        self._copy_attributes(shadow, value, source)
        self.initial_contents[id(shadow)] = contents(shadow)
        return self.world.track(shadow)

    def _journal(self, value: Any, source: Source, maxlen: int | None) -> Journal:
        """What stands for an outside container that is written, and not read."""
        journal = Journal()
        self._shadows[id(value)] = self.journals[id(journal)] = journal
        self._keep.append(value)
        self.originals[id(journal)] = (value, source)
        if type(value) is deque:
            self.guards.add(sources.attr(source, "maxlen"), "equal", maxlen)
        self.initial_contents[id(journal)] = []
        self.world.track(journal)
        return journal

    def _fill(self, shadow: Any, value: Any, source: Source) -> None:
        if isinstance(value, set):
            if not all(isinstance(v, CONSTANTS) for v in value):
                raise Uncapturable("a set of objects from outside")
            self.guards.add(source, "elements", list(value))
            set.update(shadow, value)
        elif isinstance(value, dict):
            self.guards.add(source, "keys", list(value))
            take = self.entered if self.holds_written(value) else self._held
            for k, v in value.items():
                put_item(shadow, k, take(v, sources.item(source, k)))
        else:
            kind: Any = list if isinstance(value, list) else deque
            kind.extend(shadow, value)
            if self._is_plain(value, source):
                self.guards.add(source, "items", tuple(value))
                return
            self.guards.add(source, "len", len(value))
            for i, v in enumerate(value):
                put_item(shadow, i, self._held(v, sources.item(source, i)))

    def _is_plain(self, value: Any, source: Source) -> bool:
        """Whether a list is long, and holds numbers and texts only, none of which is known to vary: one guard does."""
        if type(value) is not list or len(value) < MANY or not _SIMPLE.issuperset(map(type, value)):
            return False
        return not any(v != v for v in value) and not any(s.base == source for s in self.dynamic)

    def _held(self, value: Any, source: Source) -> Any:
        """`external` for what a container holds: nobody looks into it before that is in hand."""
        found = self.entered(value, source)
        self.check_held(found)
        return found

    def _copy_attributes(self, shadow: Any, value: Any, source: Source) -> None:
        """Attributes of an object whose class derives from a container's."""
        if type(value) in _KINDS:
            return
        held = raw_getattr(value, "__dict__")
        if is_own_dictionary(value):
            self.guards.same_objects[source, sources.attr(source, "__dict__")] = None
            shadow.__dict__ = shadow
            return
        if (held is not None and type(held) is not dict) or _has_slots(type(value)):
            raise Uncapturable(
                f"a container of class {type(value).__qualname__!r}, which keeps attributes in its own way"
            )
        if held is not None:
            place = sources.attr(source, "__dict__")
            self.guards.add(place, "keys", list(held))
            for name, v in held.items():
                vars(shadow)[name] = self.external(v, sources.item(place, name))

    def is_in_hand(self, container: Any) -> bool:
        """Whether the program has come to an outside container."""
        return id(container) in self._shadows

    def shadows(self) -> list[tuple[Any, tuple[Any, Source]]]:
        """Every shadow with the outside container and source that it stands for."""
        return [(self._shadows[id(value)], (value, source)) for value, source in self.originals.values()]

    def note_call(self, owner: Any, name: str) -> None:
        """The method ``name`` of a container is about to run natively."""
        if isinstance(owner, set) and id(owner) in self.originals:
            if name == "pop":
                raise Uncapturable("an element that a set from outside chooses")
            if name in _REBUILDS:
                raise Uncapturable(f"the method {name!r} of a set from outside, which may make a new order of it")
            if name not in _ORDERLESS:
                self.check_order(owner, is_handed_on=True)
        if name not in _READS:
            self.note_changed(owner)

    def note_changed(self, obj: Any) -> None:
        """A container is, or may be, about to change: from now on it matters which other one is the same object."""
        known = self.originals.get(id(obj))
        if known is None:
            return
        self._changed.add(id(obj))
        is_table = known[1].key in _TABLES and isinstance(known[0], OrderedDict)  # of a Cell
        if known[1].kind == "attr" and (is_table or known[1].key in _NAMESPACES):
            raise Uncapturable("a write to the dictionary of an object from outside")

    def check_order(self, obj: Any, is_handed_on: bool = False) -> None:
        """Refuses to go through an outside set in an order that may not be its own: it depends on its history.

        Args:
            obj: anything.
            is_handed_on: to code that may make another set of it, whose order comes from the table of this one.
        """
        known = self.originals.get(id(obj))
        if known is not None and isinstance(obj, set):
            own = [v for v in known[0] if v in obj]
            if len(own) != len(obj) or any(a is not b for a, b in zip(own, obj, strict=True)):
                raise Uncapturable("the order of a set from outside that the program has added to, or has grown")
            if is_handed_on:
                size = set.__sizeof__(known[0])
                if not is_made_again(known[0]) or not is_made_again(obj) or set.__sizeof__(obj) != size:
                    raise Uncapturable("what is made of a set from outside, whose order depends on how it was made")
                self.guards.add(known[1], "table", size)

    def check_dropped_from(self, shadow: Any) -> None:
        """`check_dropped` for what an outside container holds, and its shadow does not any more."""
        value = self.originals[id(shadow)][0]
        if isinstance(shadow, Journal):
            self.guard_dropped(shadow)
            return
        if isinstance(value, set):
            return
        kept = {id(v) for v in (dict.values(shadow) if isinstance(shadow, dict) else shadow)}
        for v in dict.values(value) if isinstance(value, dict) else value:
            if id(v) not in kept and id(self._shadows.get(id(v))) not in kept:
                check_dropped(v)

    def guard_different(self, one: Any, two: Any) -> None:
        """Two shadows stand for two objects."""
        self.guards.add_different(self.originals[id(one)][1], self.originals[id(two)][1])
        if len(self.guards.other_objects) > MAX_PAIRS:
            raise Uncapturable("writes to that many containers from outside")

    def guard_changed(self) -> None:
        """At the end of the program: what it has changed is no other container that it knows."""
        found = [shadow for shadow, _ in self.shadows()]
        for one in found:
            if id(one) in self._changed:
                for two in found:
                    kinds = {type(self.originals[id(shadow)][0]) for shadow in (one, two)}
                    if one is not two and len(kinds) == 1:
                        self.guard_different(one, two)


def source_name(source: Source) -> str:
    """What a graph calls the input that is found there."""
    return identifier(_path(source))


def identifier(text: str) -> str:
    """``text`` as a name of a graph's input."""
    return "".join(c if c.isalnum() or c in "._" else "_" for c in text) or "x"


def _path(source: Source) -> str:
    match source.kind:
        case "arg":
            return str(source.base)
        case "item":
            return f"{_path(source.base)}_{source.key}"
        case "pinned":
            return "x"
    return str(source.key)
