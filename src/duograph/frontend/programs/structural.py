"""A captured program for other objects: guards of identity become guards of structure.

Capture knows the functions, Cells and objects that it finds outside by identity (a guard ``is``), and what it reads of
them by guards on what they hold. So a program is as valid for another object that holds the same, if nothing in it
depends on *which* object that is: `structural` rewrites a program so that it finds the object anew in each call.

    is guard        f is <function a.<locals>.<lambda>>              type(f) is function, f.__code__ is <code>
    other sources   pinned(<function>).__closure__[0].cell_contents  f.__closure__[0].cell_contents
    recipes         the constant <function>                          f, of this call

What may become another object ("moves"):

* functions that are interpreted, whose code, defaults and closure contents are guarded;
* ``functools.partial``, whose function and arguments are;
* objects of the user's classes, and Cells, whose attributes are;
* dates, decimal numbers and the like, whose text is.

What keeps its identity: what the program compares, hashes, shows, or hands to code that is not interpreted
(`Session.note_identity` is told of each), what it writes closure variables of, and what it found without a guard. Two
places that held one object are to hold one again. If any of that is not so, there is no such program.
"""

from __future__ import annotations

import builtins
import copy
import functools
import sys
import types
from collections.abc import Collection, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

from duograph.autodiff.grads import gradient_of
from duograph.base.failures import is_from_outside
from duograph.base.lookup import raw_getattr
from duograph.tensor.parameter import Parameter

from ..guards.guard import UNREADABLE, Guard, GuardSet
from ..rules import sources
from ..rules.exact import value_text
from ..rules.facts import lookup
from ..rules.policy import is_interpreted
from ..rules.sources import Pin, Source
from ..values.movable import is_found_by_name
from ..values.recipe import Constant, Outside, Recipe
from .program import Path, Program, Write

MOST_PAIRS = 8
"""Tensors that are compared with each other by pairs; more are by one guard."""
_SETTLED = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, type(None), bool, int, float, str)


class _Bound(Exception):
    """The program depends on which objects it knows."""


def structural(program: Program, args: Sequence[Any] | None = None, leaving: Container[int] = ()) -> Program | None:
    """The same program for other objects; ``None`` if it depends on those that it knows.

    Args:
        program: what was captured.
        leaving: ids of objects that the result is not to know, although they are those of the call.
        args: of a call; only those objects move that are other ones in it, and the guards of the result hold for it.
            ``None``: everything moves but what modules hold, and the result keeps no object of the user alive.
    """
    if not program.movable:
        return None
    try:
        return _Rewriting(program, args, leaving).program()
    except (_Bound, *UNREADABLE) as error:
        if is_from_outside(error):
            raise
        return None


def differences(program: Program, args: Sequence[Any], kinds: Collection[str]) -> list[Guard]:
    """The guards of these ``kinds`` that fail for what the objects of a call hold, in place of those that a program
    knows, if nothing else about them is different; by the way on which the program comes to them
    (`Identified.found_at`)."""
    if not program.movable:
        return []
    try:
        rewriting = _Rewriting(program, args)
        with suppress(_Bound):  # it does not hold
            rewriting.program()
        return rewriting.guards.misses(args, kinds) or []
    except (_Bound, *UNREADABLE) as error:
        if is_from_outside(error):
            raise
        return []


@dataclass
class _Moved:
    old: Any
    source: Source


class _Rewriting:
    def __init__(self, old: Program, args: Sequence[Any] | None, leaving: Container[int] = ()) -> None:
        self.old, self.args, self.leaving = old, args, leaving
        self.guards = GuardSet()
        self.moved: dict[int, _Moved] = {}
        self.cells: dict[int, Source] = {}  # closure cells of what has moved
        self.kept: dict[int, Any] = {}
        self._memo: dict[Source, Source] = {}
        self._recipes: dict[int, Recipe] = {}
        self._owners: dict[int, Outside] = {}  # where what is written is found, by the id of what it was

    def program(self) -> Program:
        self._find()
        if not self.moved:
            raise _Bound
        old = self.old
        for guard in old.guards.guards:
            self._guard(guard)
        for one, two in old.guards.same_objects:
            self.guards.same_objects[self.of(one), self.of(two)] = None
        for one, two in old.guards.other_objects:
            self.guards.add_different(self.of(one), self.of(two))
        self.guards.keep_apart([self.of(source) for source in old.guards.apart])
        inputs = [self.of(s) for s in old.inputs]
        self._keep_tensors_apart(inputs)
        made = replace(
            old,
            inputs=inputs,
            guards=self.guards,
            aliases=[(self.of(s), mark) for s, mark in old.aliases],
            symbols=[(symbol, self.of(s), axis) for symbol, s, axis in old.symbols],
            patterns={self.of(s): shape for s, shape in old.patterns.items()},
            paths=[self._path(path) for path in old.paths],
            target=None if id(old.target) in self.moved else old.target,
            movable={key: value for key, value in old.movable.items() if key not in self.moved},
        )
        self._check_roots(made)
        if self.args is not None and not self._holds():
            raise _Bound
        return made

    # -- what moves ------------------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Goes through the guards of identity in the order in which the program found its objects."""
        for guard in self.old.guards.guards:
            if guard.check == "values":
                self._find_children(guard)
            if guard.check != "is" or not isinstance(guard.expected, Pin):
                continue
            value = guard.expected.value
            if id(value) not in self.moved and self._is_another(guard.source, value):
                source = self.of(guard.source)
                if _passes(source, value):
                    raise _Bound
                self._move(value, source)

    def _find_children(self, guard: Guard) -> None:
        """Sub-cells that code of this package gives out: their parent says which they are."""
        if guard.source.kind != "attr" or guard.source.key != "_cells":
            raise _Bound
        source = self.of(guard.source)
        for name, child in _owner(guard.source)._cells.items():
            at = sources.item(source, name)
            if child is not None and id(child) not in self.moved and self._is_another(at, child):
                self._move(child, at)

    def _is_another(self, source: Source, value: Any) -> bool:
        if id(value) not in self.old.movable:
            return False
        if self.args is None:
            another = not (is_found_by_name(value) or _is_of_class(source))
        else:
            now = self.of(source).load(self.args)
            another = now is not value or id(value) in self.leaving
            if another and (id(value) in self.kept or type(now) is not type(value)):
                raise _Bound
        if not another:
            self.kept[id(value)] = value
        return another

    def _move(self, value: Any, source: Source) -> None:
        self.moved[id(value)] = _Moved(value, source)
        self._memo.clear()
        if type(value) is types.FunctionType:
            for i, variable in enumerate(value.__closure__ or ()):
                at = sources.item(sources.attr(source, "__closure__"), i)
                if _passes(source, variable):  # a table of functions that look at the table
                    self.guards.add(at, "is", Pin(variable))
                    continue
                first = self.cells.setdefault(id(variable), at)
                if first is not at:
                    self.guards.same_objects[first, at] = None

    def of(self, source: Source) -> Source:
        """Where that is found in any call."""
        found = self._memo.get(source)
        if found is None:
            found = self._memo[source] = self._of(source)
        return found

    def _of(self, source: Source) -> Source:
        match source.kind:
            case "pinned":
                moved, variable = self.moved.get(id(source.base.value)), self.cells.get(id(source.base.value))
                found = variable if moved is None else moved.source
                return source if found is None else self.of(found)
            case "cell":
                variable = self.cells.get(id(source.base.value))
                return source if variable is None else sources.attr(self.of(variable), "cell_contents")
            case "attr" | "item" | "found" | "number" | "array" | "extent":
                key = self.of(source.key) if isinstance(source.key, Source) else source.key
                return Source(source.kind, self.of(source.base), key)
        return source

    # -- guards ----------------------------------------------------------------------------------------------------

    def _guard(self, guard: Guard) -> None:
        source, wanted = self.of(guard.source), guard.wanted
        if guard.check == "is" and id(wanted) in self.moved:
            self._structure(wanted, source)
        elif guard.check == "values":
            self._children(source, wanted, _owner(guard.source)._cells)
        elif self._mentions(wanted):
            raise _Bound
        else:
            self.guards.add(source, guard.check, guard.expected)
            if source is not guard.source and guard.check == "tensor" and guard.expected[0] is Parameter:
                self.guards.add(sources.attr(source, "name"), "equal", guard.source.load(self.args or ()).name)

    def _structure(self, value: Any, source: Source) -> None:
        """What makes another object that ``source`` gives as good as ``value``, besides what the program reads."""
        where = self.of(self.moved[id(value)].source)
        if where != source:
            self.guards.same_objects[where, source] = None
            return
        kind, text = type(value), value_text(value)
        if text is not None:
            self.guards.add(source, "value", (kind, text))
            return
        self.guards.add(source, "type", kind)
        if kind is types.FunctionType:
            code, namespace = sources.attr(source, "__code__"), sources.attr(source, "__globals__")
            if Guard(sources.attr(sources.pinned(value), "__code__"), "is", Pin(value.__code__)) not in self._known:
                raise _Bound  # it is not called: who knows what it is for
            self.guards.add(code, "is", Pin(value.__code__))
            self.guards.add(namespace, "is", Pin(value.__globals__))
            self.guards.add(sources.attr(source, "__qualname__"), "equal", value.__qualname__)
            if "__class__" in value.__code__.co_freevars:
                place = value.__code__.co_freevars.index("__class__")
                variable = sources.attr(sources.item(sources.attr(source, "__closure__"), place), "cell_contents")
                self.guards.add(variable, "is", Pin(value.__closure__[place].cell_contents))

    @functools.cached_property
    def _known(self) -> frozenset[Guard]:
        return frozenset(self.old.guards.guards)

    def _children(self, source: Source, wanted: tuple[Any, ...], held: dict[str, Any]) -> None:
        """The sub-cells of a Cell, by name."""
        if tuple(map(id, held.values())) != tuple(map(id, wanted)):
            raise _Bound  # they have changed meanwhile
        self.guards.add(source, "keys", list(held))
        for name, child in held.items():
            at = sources.item(source, name)
            if id(child) in self.moved:
                self._structure(child, at)
            else:
                self.guards.add(at, "is", Pin(child))

    def _keep_tensors_apart(self, inputs: list[Source]) -> None:
        """Tensors that were different objects are different ones again: gradients tell them apart."""
        if all(a is b for a, b in zip(inputs, self.old.inputs, strict=True)):
            return
        known = {g.source for g in self.guards.guards if g.check in ("tensor", "pattern")}
        tensors = [s for s in dict.fromkeys(inputs) if s in known]
        if len(tensors) <= MOST_PAIRS:
            for i, one in enumerate(tensors):
                for two in tensors[:i]:
                    self.guards.add_different(two, one)
        else:
            self.guards.keep_apart(tensors)

    def _holds(self) -> bool:
        return self.guards.check_one_by_one(self.args or ())

    # -- paths -----------------------------------------------------------------------------------------------------

    def _path(self, path: Path) -> Path:
        attributes = []
        for kind, owner, name, recipe in path.attributes:
            if id(owner) in self.moved or id(owner) in self.cells:
                owner = self._written(kind, owner, name)
            attributes.append((kind, owner, name, None if recipe is None else self._recipe(recipe)))
        return replace(
            path,
            value=self._recipe(path.value),
            tensors=[self._write(w) for w in path.tensors],
            containers=[(self.of(s), self._recipe(c)) for s, c in path.containers],
            attributes=attributes,
        )

    def _write(self, write: Write) -> Write:
        parts = None if write.parts is None else [(self.of(source), links) for source, links in write.parts]
        return write._replace(target=self._recipe(write.target), parts=parts)

    def _written(self, kind: str, owner: Any, name: str) -> Outside:
        """Where the object is found whose attribute is written: no other object that the program knows is this one, and
        nobody observes the destruction of what the attribute holds."""
        moved, own = self.moved.get(id(owner)), raw_getattr(owner, "__dict__", {})
        is_slot = type(found := lookup(type(owner), name)) is types.MemberDescriptorType
        if is_slot and lookup(type(owner), "__getattr__") is not None:  # a guard would ask it
            raise _Bound
        if kind != "attr" or moved is None or "_cells" in own or (hasattr(found, "__set__") and not is_slot):
            raise _Bound
        source = self.of(moved.source)
        for guard in self.old.guards.guards:
            other = guard.expected.value if guard.check == "is" and isinstance(guard.expected, Pin) else owner
            if other is not owner and type(other) is type(owner):
                self.guards.add_different(source, self.of(guard.source))
        now = owner if self.args is None else source.load(self.args)
        if hasattr(now, name) if is_slot else name in vars(now):
            if not is_slot:
                self.guards.add(source, "own value", name)
            self.guards.add(sources.attr(source, name), "silent", None)
        else:
            self.guards.add(source, "no attribute" if is_slot else "no value", name)
        return self._owners.setdefault(id(owner), Outside(source))

    def _recipe(self, recipe: Any) -> Any:
        known = self._recipes.get(id(recipe))
        if known is not None:
            return known
        if isinstance(recipe, Outside):
            made: Any = Outside(self.of(recipe.source))
        elif isinstance(recipe, Constant) and id(recipe.value) in self.moved:
            made = Outside(self.of(self.moved[id(recipe.value)].source))
        else:
            made = self._recipes[id(recipe)] = copy.copy(recipe)
            for field in fields(recipe):
                setattr(made, field.name, self._part(getattr(recipe, field.name)))
        self._recipes[id(recipe)] = made
        return made

    def _part(self, part: Any) -> Any:
        if isinstance(part, Recipe):
            return self._recipe(part)
        if isinstance(part, list):
            return [self._part(p) for p in part]
        if isinstance(part, tuple) and any(isinstance(p, Recipe) for p in part):
            return tuple([self._part(p) for p in part])
        if self._mentions(part):
            raise _Bound
        return part

    def _mentions(self, value: Any, depth: int = 6) -> bool:
        """Whether something that is kept holds an object that moves."""
        if id(value) in self.moved:
            return True
        if not depth:
            return False
        return any(self._mentions(v, depth - 1) for v in _held(value))

    # -- what is left ----------------------------------------------------------------------------------------------

    def _check_roots(self, made: Program) -> None:
        """Objects that the program still knows by identity are confirmed by a guard in each call, or stay for good."""
        guards = made.guards.guards
        confirmed = {id(part) for g in guards if g.check == "is" for part in _with_parts(g.wanted)}
        confirmed.add(id(made.target))
        for guard in guards:
            if guard.check == "defines":
                confirmed.update(map(id, _parts_of_member(guard.wanted[1].value)))
        used = [g.source for g in guards]
        used += [s for pair in (*made.guards.same_objects, *made.guards.other_objects) for s in pair]
        used += made.guards.apart
        used += [*made.inputs, *(s for s, _ in made.aliases), *(s for _, s, _ in made.symbols)]
        used += [s for path in made.paths for s, _ in path.containers]
        used += [r.source for r in (*self._recipes.values(), *self._owners.values()) if isinstance(r, Outside)]
        for source in dict.fromkeys(used):
            self._check_root(source, confirmed)
        if self.args is None:
            for guard in guards:
                if guard.check == "is" and not (_is_settled(guard.wanted) or _is_of_class(guard.source)):
                    raise _Bound  # it would be kept alive
        for path in made.paths:
            for _, owner, _, _ in path.attributes:
                if isinstance(owner, dict | type | types.ModuleType | Outside) or id(owner) in confirmed:
                    continue
                raise _Bound

    def _check_root(self, source: Source, confirmed: set[int]) -> None:
        while source.kind in ("attr", "item", "found", "number", "array", "extent"):
            if isinstance(source.key, Source):
                self._check_root(source.key, confirmed)
            source = source.base
        if source.kind == "pinned":
            value = source.base.value
            is_known = isinstance(value, _SETTLED) or _is_namespace(value) or value_text(value) is not None
            is_known = is_known or (type(value) is types.FunctionType and not is_interpreted(value))
            if not (is_known or id(value) in confirmed):
                raise _Bound
        elif source.kind == "cell" and self.args is None:
            raise _Bound


def _with_parts(value: Any) -> Iterable[Any]:
    """``value``, and if it is a gradient what it is made of: the function, and the weights."""
    yield value
    gradient = gradient_of(value)
    for part in gradient.parts[1] if gradient is not None else ():
        yield from _with_parts(part)
        yield from part if isinstance(part, list | tuple) else ()


def _owner(source: Source) -> Any:
    """The Cell whose table a guard of its children is about."""
    if source.base.kind != "pinned":
        raise _Bound
    return source.base.base.value


def _passes(source: Any, value: Any) -> bool:
    """Whether the way to something goes through ``value``: an object or a closure variable."""
    while isinstance(source, Source):
        if (isinstance(source.base, Pin) and source.base.value is value) or _passes(source.key, value):
            return True
        source = source.base
    return False


def _is_namespace(value: Any) -> bool:
    return type(value) is dict and ("__builtins__" in value or value is vars(builtins))


def _is_settled(value: Any) -> bool:
    """Whether there is always somebody else who holds ``value``."""
    if isinstance(value, _SETTLED) or is_found_by_name(value):
        return True
    if type(value) is dict:
        return getattr(sys.modules.get(value.get("__name__", "")), "__dict__", None) is value
    return type(value) is types.FunctionType and not is_interpreted(value)


def _is_of_class(source: Source) -> bool:
    """Whether a class holds what is found there."""
    return source.kind == "attr" and source.base.kind == "pinned" and isinstance(source.base.base.value, type)


def _parts_of_member(found: Any) -> Iterable[Any]:
    """What a class defines under a name, and the functions in it."""
    yield found
    for name in ("__func__", "fget", "fset", "fdel", "func", "__wrapped__"):
        inner = getattr(found, name, None) if type(found) is not types.FunctionType else None
        if inner is not None:
            yield inner


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, Pin):
        return (value.value,)
    if isinstance(value, tuple | list | set | frozenset):
        return value
    if isinstance(value, dict):
        return (*value, *value.values())
    if isinstance(value, functools.partial):
        return (value.func, *value.args, *value.keywords.values())
    if isinstance(value, types.MethodType):
        return (value.__self__, value.__func__)
    if isinstance(value, BaseException):
        return (*value.args, *vars(value).values())
    if isinstance(value, slice):
        return (value.start, value.stop, value.step)
    if type(value) is types.FunctionType:
        return [c.cell_contents for c in value.__closure__ or () if c != types.CellType()]
    return ()
