"""Names: variables of a frame and of those around it, closure cells, globals, builtins; reading and assigning them."""

from __future__ import annotations

import ast
import builtins
from functools import partial
from typing import Any

from ..rules import sources
from ..rules.errors import Uncapturable
from ..rules.facts import MISSING
from ..rules.policy import module_kind
from ..rules.sources import Pin
from ..source.scope import Names
from ..values.namespace import Namespace
from ..values.world import CONTAINERS, Conflict, Frame

_HOLDERS = (*CONTAINERS, tuple)


class NameAccess:
    """Reads and assigns variables. A part of the driver."""

    session: Any
    world: Any
    semantics: Any

    def eval_Name(self, node: ast.Name, frame: Frame) -> Any:
        return self.load_name(node.id, frame)

    def load_name(self, name: str, frame: Frame) -> Any:
        """The value of a variable, for who may look into it."""
        value = self._variable(name, frame)
        if isinstance(value, _HOLDERS):
            self.session.check_read(value)
        return value

    def _variable(self, name: str, frame: Frame) -> Any:
        names: Names = frame.code.names
        if name in names.own:
            return self._local(name, frame, UnboundLocalError)
        if name not in names.globals:
            outer = frame.parent
            while outer is not None:
                if name in outer.code.names.own:
                    return self._local(name, outer, NameError)
                if name in outer.code.names.globals:
                    break
                if name in outer.cells or (name == "__class__" and "__class__" in outer.special):
                    return self._cell(name, outer)
                outer = outer.parent
            if name in frame.cells:
                return self._cell(name, frame)
        return self._global(name, frame)

    def _local(self, name: str, frame: Frame, error: type[NameError]) -> Any:
        value = self._held(name, frame)
        if value is MISSING:
            if error is UnboundLocalError:
                raise UnboundLocalError(
                    f"cannot access local variable {name!r} where it is not associated with a value"
                )
            raise NameError(
                f"cannot access free variable {name!r} where it is not associated with a value in enclosing scope",
                name=name,
            )
        return value

    def _held(self, name: str, frame: Frame) -> Any:
        """What a variable holds on this path; `MISSING` if nothing."""
        value = frame.locals.get(name, MISSING)
        if isinstance(value, Conflict):
            value = self.resolve(value)
            if value is MISSING:
                del frame.locals[name]
            else:
                frame.locals[name] = value
        return value

    def resolve(self, conflict: Conflict) -> Any:
        """The value of a variable that paths left with different kinds of values, on the path on which it is read. If
        the join does not know it: capture again, paths apart."""
        if conflict.choice is not None:
            condition, one, other = conflict.choice
            return one if self.session.regions.decide(condition) else other
        key = conflict.key
        if isinstance(key, tuple) and key and key[0] == "peel":
            self.session.peel(key[1], conflict.why)
        return self.session.regions.dissolve(key)

    def _cell(self, name: str, frame: Frame) -> Any:
        if name == "__class__":
            return frame.special["__class__"]
        cell = frame.cells[name]
        key = ("cell", id(cell), name)
        if key in self.world.overlay:
            return self.world.overlay[key][1]
        try:
            value = cell.cell_contents
        except ValueError:
            self.session.guard_empty(cell)
            raise NameError(
                f"cannot access free variable {name!r} where it is not associated with a value in enclosing scope",
                name=name,
            ) from None
        return self.session.external(value, sources.cell(cell, name))

    def _global(self, name: str, frame: Frame) -> Any:
        key = ("global", id(frame.globals), name)
        if key in self.world.overlay:
            value = self.world.overlay[key][1]
            if value is MISSING:
                raise NameError(f"name {name!r} is not defined", name=name)
            return value
        if name in frame.globals:
            return self.session.external_global(frame.globals, name)
        value = getattr(builtins, name, MISSING)
        if module_kind(frame.globals.get("__name__")) == "user" or "__file__" not in frame.globals:
            self.session.guards.add(sources.pinned(frame.globals), "no item", name)
            if value is MISSING:
                self.session.guards.add(sources.pinned(vars(builtins)), "no item", name)
            else:
                self.session.guards.add(sources.global_(vars(builtins), name), "is", Pin(value))
        if value is MISSING:
            raise NameError(f"name {name!r} is not defined", name=name)
        if name == "locals":
            return partial(self._locals, frame)
        return partial(Namespace, self.session, frame.globals) if name == "globals" else value

    def _locals(self, frame: Frame) -> dict[str, Any]:
        if frame.cells or frame.parent is not None:  # it has what it uses of the functions around it, too
            raise Uncapturable("locals() of a function within another one")
        held = {name: self._held(name, frame) for name in list(frame.locals)}
        held = {name: value for name, value in held.items() if value is not MISSING}
        for value in held.values():
            self.session.check_read(value)
        return held

    def store_name(self, name: str, value: Any, frame: Frame) -> None:
        names: Names = frame.code.names
        if name in names.globals:
            self.world.overwrite("global", frame.globals, name, value)
        elif name in names.nonlocals:
            self._store_outer(name, value, frame)
        elif name not in names.own and frame.parent is not None:  # ``:=`` in a comprehension
            self.store_name(name, value, frame.parent)
        else:
            frame.locals[name] = value
            self.session.note_variable(name, value, frame)

    def _store_outer(self, name: str, value: Any, frame: Frame) -> None:
        outer = frame.parent
        while outer is not None:
            if name in outer.code.names.own:
                outer.locals[name] = value
                return
            if name in outer.cells:
                frame = outer
                break
            outer = outer.parent
        cell = frame.cells[name]
        self.world.overlay["cell", id(cell), name] = (cell, value)
