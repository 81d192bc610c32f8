"""Guards as a program of the native guard machine; what it does not know stays generated Python, called from there."""

from __future__ import annotations

import copy
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.frontend.rules.facts import HEAP_TYPE, MISSING, lookup
from duograph.frontend.rules.readers import reader_of, reads_plainly
from duograph.frontend.rules.sources import EXTENTS, Source
from duograph.runtime.guards.program import GuardProgram
from duograph.runtime.python.cpython import FUNCTION_FIELDS, HEAD, TYPE

from .guard import Guard, compile_guards


class Translator:
    """Writes one program; ``args`` are arguments for which all guards hold."""

    def __init__(self, guards: Sequence[Guard], args: Sequence[Any]) -> None:
        self.program = GuardProgram(len(args))
        self.args = args
        self.registers: dict[Source, int] = {}
        self.identified = {g.source: g.expected.value for g in guards if g.check == "is"}
        self.classes = {g.source: g.expected for g in guards if g.check == "type"}
        self.measured = {(g.source, g.kind.checked_class(g.wanted, partial(g.source.load, args))) for g in guards}
        self._grouped: dict[int, dict[Source, int]] = {}  # registers of the group about a dictionary

    def copy(self) -> Translator:
        """One that can go on where this one is, with arguments that are still to be given."""
        made = copy.copy(self)
        made.program, made.args, made.registers = self.program.copy(), (), dict(self.registers)
        made._grouped = {of: dict(registers) for of, registers in self._grouped.items()}
        return made

    def known(self, source: Source) -> Any:
        """The object that ``source`` must be (an earlier guard says so), or ``None``."""
        return source.base.value if source.kind == "pinned" else self.identified.get(source)

    def register(self, source: Source) -> int:
        found = self.registers.get(source)
        if found is None:
            found = self.registers[source] = self._load(source)
        return found

    def _load(self, source: Source) -> int:
        p = self.program
        match source.kind:
            case "arg":
                return p.arg(source.key)
            case "pinned":
                return p.const(source.base.value)
            case "attr":
                return self._attribute(source)
            case "item":
                if (held := self.namespace(source)) is not None:
                    return p.lookup(held, source.key)
                holder = source.base.load(self.args)
                if type(source.key) is int and _is_plain_sequence(holder) and 0 <= source.key < len(holder):
                    kind = type(holder) if isinstance(holder, tuple) else tuple
                    return p.at(self.register(source.base), source.key, kind)
                if type(holder) in (dict, OrderedDict) and type(source.key) is str:
                    look_up = p.key if type(holder) is dict else p.ordered
                    return look_up(self.register(source.base), source.key)
                return p.item(self.register(source.base), source.key)
            case "global":
                return p.lookup(source.base.value, source.key)
            case "extent":
                return p.found(EXTENTS, self.register(source.base))
            case "number" | "array":
                return self.register(source.base)  # `CallPlan.numbers` and `CallPlan.subjects` take it as it is
        return p.cell(source.base.value)

    def _attribute(self, source: Source) -> int:
        """An attribute, without running Python if it is known where it comes from."""
        p, key, owner = self.program, source.key, self.known(source.base)
        held = self.namespace(source)
        if held is not None:
            return p.lookup(held, key)
        if _is_plain_class_attribute(owner, key):
            return p.member(owner, key)
        offset = _field_of(owner, key)
        if offset is not None:
            return p.field(owner, offset)
        return self._of_structure(source) or p.attr(self.register(source.base), key)

    def _of_structure(self, source: Source) -> int | None:
        """An attribute in the dictionary of an object of which only the class is known, or in a table of a Cell."""
        p, cls = self.program, self.classes.get(source.base)
        if cls is None or not cls.__flags__ & HEAP_TYPE:
            return None
        owner = source.base.load(self.args)
        if type(owner) is not cls:
            return None
        if _is_own_attribute(owner, source.key):
            return p.own(self.register(source.base), source.key)
        for name in ("_params", "_cells", "_buffers"):
            table: Any = raw_getattr(owner, "__dict__", {}).get(name)
            if type(table) in (dict, OrderedDict) and source.key in table and source.key not in vars(owner):
                p.owns_no(self.register(source.base), source.key)
                held = p.own(self.register(source.base), name)
                return (p.key if type(table) is dict else p.ordered)(held, source.key)
        return None

    def namespace(self, source: Source) -> dict[Any, Any] | None:
        """The dictionary known by identity in which the value of ``source`` stands, if it is nothing else."""
        if source.kind == "global":
            return source.base.value  # type: ignore[no-any-return]
        if _is_in_dictionary(source):
            return self._dictionary_of(self.known(source.base.base), source.key)
        owner = self.known(source.base) if source.kind == "attr" else None
        if owner is None or isinstance(owner, type):
            return None
        table = self._table_of(owner, source.key)
        if table is not None or not _is_own_attribute(owner, source.key):
            return table
        return self.program.own_dictionary(owner)

    def _dictionary_of(self, owner: Any, key: str) -> dict[Any, Any] | None:
        """Where ``own_attribute`` of a known object stands."""
        if owner is None or reader_of(type(owner)) is None or key not in raw_getattr(owner, "__dict__", ()):
            return None
        return self.program.own_dictionary(owner)

    def _table_of(self, owner: Any, key: str) -> dict[str, Any] | None:
        """Cells keep sub-cells, parameters and buffers in tables of their own, which ``__getattr__`` searches."""
        own = raw_getattr(owner, "__dict__")
        if not isinstance(own, dict) or "_cells" not in own or key in own:
            return None
        for name in ("_params", "_cells", "_buffers"):
            table = own.get(name, ())
            if key in table:
                self.program.absent(self.program.own_dictionary(owner), key)
                self.program.holds(own, name, table)
                return table  # type: ignore[no-any-return]
        return None

    def _decides(self, source: Source) -> dict[Any, Any] | None:
        """The dictionary known by identity that says which object ``source`` gives: its item, or an item of a tuple
        there."""
        while source.kind == "item" and type(source.key) is int and type(source.base.load(self.args)) is tuple:
            source = source.base
        return self.namespace(source) if source.kind in ("global", "attr", "item") else None

    def check(self, guard: Guard) -> bool:
        """Translates ``guard``; False if it is none that the machine knows."""
        if guard.kind.is_of_one_object(guard.wanted, lambda: guard.source.load(self.args)):
            held = self._decides(guard.source)
            if held is not None:
                self._check_in(held, guard)
                return True
        return guard.kind.native(self, guard.source, guard.wanted)

    def _check_in(self, held: dict[Any, Any], guard: Guard) -> None:
        """Translates a guard that can only fail when the dictionary ``held`` has changed."""
        source = guard.source
        if guard.check == "is" and (source.kind != "item" or _is_in_dictionary(source)):
            self.program.holds(held, source.key, guard.wanted)
            return
        outside = self.registers
        self.registers = self._grouped.setdefault(id(held), {})
        try:
            with self.program.about(held):
                guard.kind.native(self, guard.source, guard.wanted)
        finally:
            self.registers = outside

    def gives(self, source: Source, expected: Any) -> None:
        """``source`` gives this object, and no dictionary tells that."""
        p, owner = self.program, self.known(source.base) if source.kind == "attr" else None
        if owner is not None and _is_plain_class_attribute(owner, source.key):
            p.defines(owner, source.key, expected)
        elif owner is not None and (offset := _field_of(owner, source.key)) is not None:
            p.fixed(owner, offset, expected)
        elif type(owner) is types.FunctionType and expected is None and source.key in FUNCTION_FIELDS:
            p.unset(owner, FUNCTION_FIELDS[source.key])
        elif self.is_inherited(source):
            p.fixed(owner, TYPE, type(owner))
            p.overrides(p.own_dictionary(owner), source.key, expected)
            p.defines(type(owner), source.key, expected)
        elif source.kind == "cell":
            p.fixed(source.base.value, HEAD, expected)
        else:
            p.is_(self.register(source), expected)

    def is_inherited(self, source: Source) -> bool:
        """Whether ``source`` is an attribute of a known object that its class holds, as it is."""
        owner = self.known(source.base) if source.kind == "attr" else None
        own = raw_getattr(owner, "__dict__")
        if isinstance(owner, type) or type(own) is not dict or source.key in own or not reads_plainly(type(owner)):
            return False
        found = lookup(type(owner), source.key, MISSING)
        return found is not MISSING and not hasattr(type(found), "__get__") and found is getattr(owner, source.key)


def _is_in_dictionary(source: Source) -> bool:
    """Whether ``source`` is an item of the dictionary of an object."""
    return source.kind == "item" and source.base.kind == "attr" and source.base.key == "__dict__"


def _is_plain_sequence(value: Any) -> bool:
    kind = type(value)
    return kind in (tuple, list) or (isinstance(value, tuple) and kind.__len__ is tuple.__len__)


def _field_of(owner: Any, name: str) -> int | None:
    """The place of an attribute of a function that is known by identity."""
    if type(owner) is not types.FunctionType or getattr(owner, name, None) is None:
        return None
    return FUNCTION_FIELDS.get(name)


def _is_own_attribute(owner: Any, name: str) -> bool:
    """Whether ``owner.name`` is what the dictionary of ``owner`` has, as long as it has it."""
    cls = type(owner)
    if owner is None or isinstance(owner, type) or name not in raw_getattr(owner, "__dict__", ()):
        return False
    return reads_plainly(cls) and not any(hasattr(vars(base).get(name), "__set__") for base in cls.__mro__)


def _is_plain_class_attribute(owner: Any, name: str) -> bool:
    """Whether ``owner`` is a class, and gives what is defined under the name as it is."""
    if type(owner) is not type or hasattr(type, name):
        return False
    defined = next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None)
    return defined is not None and defined is getattr(owner, name, None)


def translated(
    guards: Sequence[Guard],
    same: Sequence[tuple[Source, Source]],
    other: Sequence[tuple[Source, Source]],
    apart: Sequence[Source],
    args: Sequence[Any],
    judged: Callable[[Callable[..., bool]], Callable[..., bool]],
) -> Translator:
    """The program that checks all guards.

    Args:
        guards: in order; an earlier one may make a later one meaningful.
        same: pairs of sources that must be one object.
        other: pairs of sources that must be two.
        apart: sources that must all be different objects.
        args: arguments for which they hold.
        judged: makes a check of a sequence of arguments one that native code calls with them; it deals with exceptions.

    Raises:
        Unsupported: native code cannot be used in this Python.
    """
    translator = Translator(guards, args)
    rest = [g for g in guards if not translator.check(g)]
    for one, two in same:
        translator.program.same(translator.register(one), translator.register(two))
    for one, two in other:
        translator.program.differ(translator.register(one), translator.register(two))
    if apart:
        translator.program.apart([translator.register(source) for source in apart])
    if rest:
        translator.program.python(judged(compile_guards(rest, [], [])))
    return translator
