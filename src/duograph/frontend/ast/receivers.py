"""Receivers of writes: containers from outside that are got hold of without being read (`journals`)."""

from __future__ import annotations

import ast
import types
from typing import Any

from duograph.base.lookup import raw_getattr

from ..rules.errors import Restart
from ..rules.facts import MISSING, lookup
from ..rules.policy import look_of
from ..values.journals import JOURNALED, Journal, latest
from ..values.world import CONTAINERS, Conflict, Frame

_KEYS = (str, int, float, type(None))
_PLAIN_READS: tuple[Any, ...] = tuple(
    [cls.__getattribute__ for cls in (object, types.ModuleType, types.SimpleNamespace)]
)


class Receivers:
    """A part of the driver's expressions."""

    session: Any
    world: Any
    semantics: Any
    eval: Any

    def unread(self, node: ast.expr, frame: Frame) -> Any:
        """The value of ``node``, of which no more is used than what it is, or one of its items by key."""
        way = self._way(node, frame)
        return self._exempting(node, way, frame) if way else self.eval(node, frame)

    def receiver(self, node: ast.expr, frame: Frame) -> Any:
        """The value of ``node``, which is written to: a journal, if it may be one."""
        found = self.journaled(node, frame)
        return self.eval(node, frame) if found is MISSING else found

    def journaled(self, node: ast.expr, frame: Frame) -> Any:
        """What `receiver` gives where ``node`` may be a journal; otherwise ``MISSING``, and nothing is evaluated."""
        way = self._way(node, frame)
        if not way or type(way[-1]) not in JOURNALED:
            return MISSING
        known, target = self.session.log.containers, way[-1]
        is_new = id(target) not in known.written
        known.written.add(id(target))
        known.parents.update([id(v) for v in way[:-1] if isinstance(v, dict)])
        found = self._exempting(node, way, frame)
        if is_new and known.enabled and id(target) not in known.read and id(found) in self.session.originals:
            if not isinstance(found, Journal) and id(found) not in self.session.looked_into:
                raise Restart  # it came in before that was known
        return found

    def item_of(self, obj: Any, key: Any) -> Any:
        """``obj[key]`` of what `unread` gave."""
        session = self.session
        if isinstance(obj, Journal) and (known := latest(obj, session.originals[id(obj)][0], key)):
            (found,) = known
            return found
        if isinstance(obj, Journal) or not isinstance(key, _KEYS):
            self._is_read(obj)
        elif id(obj) in session.originals:
            session.looked_into.add(id(obj))
        found = self.semantics.getitem(obj, key)
        if isinstance(found, (*CONTAINERS, tuple)):
            session.check_read(found)
        return found

    def _is_read(self, obj: Any) -> None:
        outer, self.session.exempt = self.session.exempt, frozenset()
        try:
            if isinstance(obj, (*CONTAINERS, tuple)):
                self.session.check_read(obj)
        finally:
            self.session.exempt = outer

    def put_item(self, target: ast.Subscript, value: Any, frame: Frame) -> None:
        """``target = value``."""
        obj = self.receiver(target.value, frame)
        key = self.eval(target.slice, frame)
        if isinstance(obj, Journal):
            self.session.write(obj, "__setitem__", (key, value), {})
        else:
            self.semantics.setitem(obj, key, value)

    def _exempting(self, node: ast.expr, way: list[Any], frame: Frame) -> Any:
        session = self.session
        outer, session.exempt = session.exempt, frozenset(map(id, way))
        try:
            return self.eval(node, frame)
        finally:
            session.exempt = outer

    def _way(self, node: ast.expr, frame: Frame) -> list[Any]:
        """The outside objects that reading ``node`` passes, its value last; none if anything but plain reads happens,
        or it has been assigned to."""
        match node:
            case ast.Name():
                found = self._named(node.id, frame)
                return [] if found is MISSING else [found]
            case ast.Attribute(value=base, attr=name):
                way = self._way(base, frame)
                found = self._attribute(way[-1], name) if way else MISSING
            case ast.Subscript(value=base, slice=ast.Constant(value=str() | int() as key)):
                way = self._way(base, frame)
                found = way[-1].get(key, MISSING) if way and type(way[-1]) is dict else MISSING
            case _:
                return []
        return [] if found is MISSING else [*way, found]

    def _named(self, name: str, frame: Frame) -> Any:
        names = frame.code.names
        if name in names.own:
            return self._outside(frame.locals.get(name, MISSING))
        scope: Frame | None = frame
        while scope is not None and name not in names.globals:
            if scope is not frame and name in scope.code.names.own:
                return self._outside(scope.locals.get(name, MISSING))
            if scope is not frame and name in scope.code.names.globals:
                break
            if name in scope.cells:
                cell = scope.cells[name]
                if ("cell", id(cell), name) in self.world.overlay:
                    return MISSING
                try:
                    return cell.cell_contents
                except ValueError:
                    return MISSING
            scope = scope.parent
        if ("global", id(frame.globals), name) in self.world.overlay:
            return MISSING
        return frame.globals.get(name, MISSING)

    def _outside(self, value: Any) -> Any:
        """The outside object that stands behind the value of a local variable."""
        if isinstance(value, CONTAINERS):
            return self.session.originals.get(id(value), (MISSING,))[0]
        return MISSING if isinstance(value, Conflict) or self.world.is_tracked(value) else value

    def _attribute(self, owner: Any, name: str) -> Any:
        kind = type(owner)
        if (
            isinstance(owner, (*CONTAINERS, tuple, type))
            or look_of(kind)
            or ("attr", id(owner), name) in self.world.overlay
        ):
            return MISSING
        if kind.__getattribute__ not in _PLAIN_READS or self.world.is_tracked(owner):
            return MISSING
        raw = lookup(kind, name, MISSING)
        if raw is not MISSING and (hasattr(type(raw), "__get__") or hasattr(type(raw), "__set__")):
            return MISSING
        held = raw_getattr(owner, "__dict__")
        return held.get(name, MISSING) if type(held) is dict else MISSING
