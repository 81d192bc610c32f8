"""The carry of a loop: the places in the tracked state that its body changes, and how they are read and written."""

from __future__ import annotations

from typing import Any

from duograph.ir.node import Node
from duograph.ops.graph_binder import Stored
from duograph.tensor.alias import fresh_stamp
from duograph.tensor.tensor import Tensor

from ..control.growth import check_length, check_variable, is_held
from ..control.join import same_constant
from ..rules.errors import Uncapturable
from ..rules.facts import MISSING
from ..rules.sources import Pin
from ..session.binder import CaptureBinder
from ..session.session import Session
from ..values.journals import Journal
from ..values.world import Snapshot, World, put_item, set_contents


class Place:
    """A place in the tracked state that the body changes: a location and a path through tuples below it."""

    __slots__ = ("is_plain", "location", "path", "type")

    def __init__(self, location: tuple[Any, ...], path: tuple[int, ...], type: Any) -> None:
        self.location, self.path, self.type = location, path, type
        self.is_plain = True  # no Parameter, or another tensor of a derived class, is ever there

    @property
    def key(self) -> Any:
        return self.location, self.path


def references(state: Snapshot, obj: Any) -> int:
    """How many variables, attributes and elements of containers are ``obj``."""
    work = [v for values in state.locals.values() for v in values.values()]
    work += [value for _, value in state.overlay.values()]
    for _, held in state.containers.values():
        work += held.values() if isinstance(held, dict) else held
    count = 0
    while work:
        value = work.pop()
        count += value is obj
        if isinstance(value, tuple):
            work += value
    return count


class LoopCarry:
    """Compares states before and after the body; reads and writes places. A part of `SymbolicLoop`."""

    session: Session
    world: World
    binder: CaptureBinder
    replaced: set[Any]
    own: dict[int, Any]

    def _changes(self, a: Snapshot, b: Snapshot) -> list[tuple[Any, tuple[int, ...], Any, Any]]:
        """Places that differ between two states: (location, path, value before, value after)."""
        found: list[tuple[Any, tuple[int, ...], Any, Any]] = []

        def compare(location: Any, path: tuple[int, ...], x: Any, y: Any) -> None:
            # No loop here holds an iterator of what it goes over: `is_held` would take that for the program's.
            if x is y or same_constant(x, y) or (isinstance(x, Stored) and x == y):
                return
            check_variable(x, y)
            if type(x) is tuple and type(y) is tuple and len(x) == len(y):
                for k in range(len(x)):
                    compare(location, (*path, k), x[k], y[k])
                return
            if location[0] == "local" and self._is_renewed(a, b, x, y):
                before, after = a.containers[id(x)][1], b.containers[id(y)][1]
                for i in [*before] if isinstance(before, dict) else range(len(before)):
                    compare(location, (*path, i), before[i], after[i])
                return
            found.append((location, path, x, y))

        for frame, values in [*a.locals.items()]:
            after = b.locals.get(frame, values)
            for name in [*after]:
                compare(("local", frame, name), (), values.get(name, MISSING), after[name])
        for key, (obj, held) in a.containers.items():
            if key in b.containers:
                self._compare_container(compare, key, obj, held, b.containers[key][1])
        for key, (obj, held) in b.containers.items():
            if key not in a.containers and (first := self.session.initial_contents.get(key)) is not None:
                self._compare_container(compare, key, obj, first, held)
        for key in b.overlay:
            owner, value = b.overlay[key]
            before = a.overlay[key][1] if key in a.overlay else self.session.original(key, owner)
            compare(("overlay", Pin(owner), key), (), before, value)
        for alias, stored in b.store.items():
            birth = a.store.get(alias)
            root = stored.root
            if birth is None:
                if isinstance(root._data, Node) and root._alias not in self._known_aliases(a):
                    continue
                birth = Stored(root, self.binder.birth_node(root), 0)
            compare(("store", root, alias), (), birth, stored)
        compare(("token", None, "token"), (), a.token, b.token)
        compare(("offset", None, "offset"), (), a.offset, b.offset)
        compare(("checked", None, "checked"), (), a.checked, b.checked)
        return found

    def _is_renewed(self, a: Snapshot, b: Snapshot, x: Any, y: Any) -> bool:
        """Whether the body replaces the list or dict ``x``, to which nothing else refers, by one of the same form."""
        if type(x) is not type(y) or type(x) not in (list, dict) or id(y) in a.containers:
            return False
        if id(x) not in a.containers or id(y) not in b.containers or id(x) in self.session.originals:
            return False
        before, after = a.containers[id(x)][1], b.containers[id(y)][1]
        left = b.containers[id(x)][1] if id(x) in b.containers else before
        items = (list(c.values()) if isinstance(c, dict) else c for c in (before, left))
        if any(p is not q for p, q in zip(*items, strict=False)) or len(left) != len(before):
            return False
        same_form = list(before) == list(after) if isinstance(before, dict) else len(before) == len(after)
        if not same_form or references(a, x) != 1 or references(b, y) != 1:
            return False
        # What else holds the one from before the loop could tell it from the one that the first iteration begins with.
        return id(x) in self.own or not is_held(self.session, x)

    def _known_aliases(self, state: Snapshot) -> set[Any]:
        """Storages that were reachable before the loop body."""
        found = set(state.store)

        def visit(value: Any) -> None:
            if isinstance(value, Tensor):
                found.add(value._alias)
            elif isinstance(value, tuple | list):
                for v in value:
                    visit(v)
            elif isinstance(value, dict):
                for v in value.values():
                    visit(v)

        for values in state.locals.values():
            visit(values)
        for _, held in state.containers.values():
            visit(held)
        return found

    def _compare_container(self, compare: Any, key: int, obj: Any, x: Any, y: Any) -> None:
        if isinstance(x, list) and len(x) == len(y):
            for i, (p, q) in enumerate(zip(x, y, strict=True)):
                compare(("item", Pin(obj), i), (), p, q)
        elif isinstance(x, dict) and list(x) == list(y):
            for k in x:
                compare(("item", Pin(obj), k), (), x[k], y[k])
        elif isinstance(x, dict) and not isinstance(obj, dict) and set(x) <= set(y):
            for k in y:
                compare(("item", Pin(obj), k), (), x.get(k, MISSING), y[k])
        elif x != y:
            if type(obj) is Journal or id(obj) not in self.session.originals:
                check_length(obj, x, y)
            self.session.take_as_read(obj)  # a dictionary may have the keys already
            raise Uncapturable("a loop whose end depends on tensor values changes the size of a container")

    def _read(self, state: Snapshot, location: Any, path: tuple[int, ...]) -> Any:
        kind, owner, name = location
        match kind:
            case "local":
                value = state.locals[owner].get(name, MISSING)
            case "item":
                held = self.session.held(state, owner.value)
                value = held[name] if not isinstance(held, dict) else held.get(name, MISSING)
            case "overlay":
                held = state.overlay.get(name)
                value = held[1] if held is not None else self.session.original(name, owner.value)
            case "store":
                value = state.store.get(name) or Stored(owner, self.binder.birth_node(owner), 0)
            case "token":
                value = state.token
            case "checked":
                value = state.checked
            case _:
                value = state.offset
        for i in path:
            value = (self.session.held(state, value) if isinstance(value, list | dict) else value)[i]
        return value

    def _put(self, place: Place, value: Any) -> None:
        kind, owner, name = place.location
        match kind:
            case "store":
                node = value if isinstance(value, Node) else self.binder.node_of(value)
                before, stamp = self.binder.store.get(name), fresh_stamp()
                memory, left = (0, None) if before is None else (before.memory, before.left)
                self.binder.store[name] = Stored(owner, node, stamp, stamp if name in self.replaced else memory, left)
                return
            case "token":
                self.world.token = value
                return
            case "offset":
                self.world.offset = value
                return
            case "checked":
                self.world.checked = value
                return
        if place.path:
            whole = self._current(place.location)
            value = self._replaced(whole, place.path, value)
        match kind:
            case "local":
                owner.locals[name] = value
            case "item":
                obj = owner.value
                if not self.world.is_tracked(obj):  # an outside container that the body is the first to meet
                    set_contents(obj, self.session.initial_contents[id(obj)])
                    self.world.track(obj)
                put_item(obj, name, value)
            case _:
                self.world.overlay[name] = (owner.value, value)

    def _current(self, location: Any) -> Any:
        return self._read(self.world.snapshot(), location, ())

    def _replaced(self, whole: Any, path: tuple[Any, ...], value: Any) -> Any:
        i, rest = path[0], path[1:]
        inner = self._replaced(whole[i], rest, value) if rest else value
        if isinstance(whole, tuple):
            return (*whole[:i], inner, *whole[i + 1 :])
        made = {**whole, i: inner} if isinstance(whole, dict) else [*whole[:i], inner, *whole[i + 1 :]]
        self.own[id(made)] = self.world.track(made)
        return made
