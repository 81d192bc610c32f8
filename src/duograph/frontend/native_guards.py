"""Guards as a program of the native guard machine; what it does not know stays generated Python, called from there."""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.runtime.guards.program import GuardProgram
from duograph.runtime.python.cpython import FUNCTION_FIELDS, HEAD, TYPE
from duograph.tensor.parameter import Parameter

from .sources import HEAP_TYPE, Guard, Pin, Source, _Key, compile_guards, lookup
from .world import MISSING

_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_NO_EXTRAS = ((), None, 0)
_DICT_LENGTHS = (dict.__len__, OrderedDict.__len__)
_LENGTHS = (*_DICT_LENGTHS, list.__len__, tuple.__len__)
_SIMPLE = (int, float, str, bytes, bool, type(None))


class Translator:
    """Writes one program; ``args`` are arguments for which all guards hold."""

    def __init__(self, guards: Sequence[Guard], args: Sequence[Any]) -> None:
        self.program = GuardProgram(len(args))
        self.args = args
        self.registers: dict[Source, int] = {}
        self.identified = {g.source: g.expected.value for g in guards if g.check == "is"}
        self.measured = {(g.source, _kind_of_length(g, args)) for g in guards if g.check in ("len", "keys")}
        self._grouped: dict[int, dict[Source, int]] = {}  # registers of the group about a dictionary

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
                holder = source.base.load(self.args)
                if type(source.key) is int and _is_plain_sequence(holder) and 0 <= source.key < len(holder):
                    kind = type(holder) if isinstance(holder, tuple) else tuple
                    return p.at(self.register(source.base), source.key, kind)
                if type(holder) is dict and type(source.key) is str:
                    return p.key(self.register(source.base), source.key)
                return p.item(self.register(source.base), source.key)
            case "global":
                return p.lookup(source.base.value, source.key)
        return p.cell(source.base.value)

    def _attribute(self, source: Source) -> int:
        """An attribute, without running Python if it is known where it comes from."""
        p, key, owner = self.program, source.key, self.known(source.base)
        held = self._namespace(source)
        if held is not None:
            return p.lookup(held, key)
        if _is_plain_class_attribute(owner, key):
            return p.member(owner, key)
        offset = _field_of(owner, key)
        if offset is not None:
            return p.field(owner, offset)
        return p.attr(self.register(source.base), key)

    def _namespace(self, source: Source) -> dict[Any, Any] | None:
        """The dictionary known by identity in which the value of ``source`` stands, if it is nothing else."""
        if source.kind == "global":
            return source.base.value  # type: ignore[no-any-return]
        owner = self.known(source.base) if source.kind == "attr" else None
        if owner is None or isinstance(owner, type):
            return None
        table = self._table_of(owner, source.key)
        if table is not None or not _is_own_attribute(owner, source.key):
            return table
        return self.program.own_dictionary(owner)

    def _table_of(self, owner: Any, key: str) -> dict[str, Any] | None:
        """Cells keep sub-cells, parameters and buffers in tables of their own, which ``__getattr__`` searches."""
        own = getattr(owner, "__dict__", None)
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
        return self._namespace(source) if source.kind in ("global", "attr") else None

    def check(self, guard: Guard) -> bool:
        """Translates ``guard``; False if it is none that the machine knows."""
        if _is_of_one_object(guard, self.args):
            held = self._decides(guard.source)
            if held is not None:
                self._check_in(held, guard)
                return True
        return self._check(guard)

    def _check_in(self, held: dict[Any, Any], guard: Guard) -> None:
        """Translates a guard that can only fail when the dictionary ``held`` has changed."""
        source = guard.source
        if guard.check == "is" and source.kind != "item":
            self.program.holds(held, source.key, _expected(guard))
            return
        outside = self.registers
        self.registers = self._grouped.setdefault(id(held), {})
        try:
            with self.program.about(held):
                self._check(guard)
        finally:
            self.registers = outside

    def _is(self, source: Source, expected: Any) -> None:
        """``source`` gives this object, and no dictionary tells that."""
        p, owner = self.program, self.known(source.base) if source.kind == "attr" else None
        if owner is not None and _is_plain_class_attribute(owner, source.key):
            p.defines(owner, source.key, expected)
        elif owner is not None and (offset := _field_of(owner, source.key)) is not None:
            p.fixed(owner, offset, expected)
        elif type(owner) is types.FunctionType and expected is None and source.key in FUNCTION_FIELDS:
            p.unset(owner, FUNCTION_FIELDS[source.key])
        elif self._is_inherited(source):
            p.fixed(owner, TYPE, type(owner))
            p.overrides(p.own_dictionary(owner), source.key, expected)
            p.defines(type(owner), source.key, expected)
        elif source.kind == "cell":
            p.fixed(source.base.value, HEAD, expected)
        else:
            p.is_(self.register(source), expected)

    def _is_inherited(self, source: Source) -> bool:
        """Whether ``source`` is an attribute of a known object that its class holds, as it is."""
        owner = self.known(source.base) if source.kind == "attr" else None
        own = getattr(owner, "__dict__", None)
        if isinstance(owner, type) or type(own) is not dict or source.key in own or not _reads_plainly(type(owner)):
            return False
        found = lookup(type(owner), source.key, MISSING)
        return found is not MISSING and not hasattr(type(found), "__get__") and found is getattr(owner, source.key)

    def _check(self, guard: Guard) -> bool:
        p, source, expected = self.program, guard.source, _expected(guard)
        match guard.check:
            case "is":
                self._is(source, expected)
            case "same object":
                p.is_(self.register(source), expected)
            case "type":
                if source.kind == "pinned":
                    p.fixed(source.base.value, TYPE, expected)
                elif (source, expected) not in self.measured:
                    p.type_(self.register(source), expected)
            case "len":
                kind = type(source.load(self.args))
                if kind.__len__ not in _LENGTHS:  # another runs Python
                    return False
                p.len_(self.register(source), kind, expected)
            case "equal" if self._is_inherited(source):
                self._is(source, source.load(self.args))
            case "equal" if type(expected) in _SIMPLE:
                p.equal(self.register(source), expected)
            case "tensor":
                return self._tensor(source, expected)
            case "pattern":
                kind, dtype, shape = expected
                return self._tensor(source, (kind, dtype, shape, None, None))
            case "cell" if expected == _NO_EXTRAS and _has_plain_hooks(self.known(source)):
                own = p.own_dictionary(self.known(source))
                for name in _HOOKS:
                    p.holds(own, name, own[name])
                    p.empty(own[name])
                p.holds(own, "_mixed_dtype", None)
                p.absent(own, "construct")
            case "defines" if isinstance(self.known(source), type):
                name, raw = expected
                if raw.value is None and lookup(self.known(source), name, MISSING) is MISSING:
                    p.lacking(self.known(source), name)
                else:
                    p.defines(self.known(source), name, raw.value)
            case "no attribute" if _is_plain_module(self.known(source)) and not hasattr(types.ModuleType, expected):
                p.absent(vars(self.known(source)), expected)
                p.absent(vars(self.known(source)), "__getattr__")
            case "values" if (found := self._namespace(source)) is not None:
                p.holds(found, source.key, found[source.key])
                p.values(found[source.key], expected)
            case "no value" if self.known(source) is not None:
                p.absent(p.own_dictionary(self.known(source)), expected)
            case "no item" if type(self.known(source)) is dict and type(expected) is str:
                p.absent(self.known(source), expected)
            case "keys" if all(type(k) is str for k in expected) and type(source.load(self.args)) is dict:
                p.keys(self.register(source), expected)
            case _:
                return False
        return True

    def _tensor(self, source: Source, facts: Any) -> bool:
        kind, dtype, shape, contiguous, grad = facts
        if np.empty(0, dtype).dtype is not dtype:
            return False
        self.program.tensor(self.register(source), kind, dtype, shape, contiguous)
        if grad is not None:
            value = self.register(source)
            if kind is Parameter:
                self.program.owns(value, "requires_grad", grad)
            else:
                self.program.equal(self.program.attr(value, "requires_grad"), grad)
        return True


def _expected(guard: Guard) -> Any:
    return guard.expected.value if isinstance(guard.expected, Pin | _Key) else guard.expected


def _kind_of_length(guard: Guard, args: Sequence[Any]) -> type:
    """The class that a guard of a length, or of keys, checks as well where it is checked natively."""
    kind = type(guard.source.load(args))
    natively = kind is dict if guard.check == "keys" else kind.__len__ in _LENGTHS
    if guard.check == "keys" and natively:
        natively = all(type(k) is str for k in _expected(guard))
    return kind if natively else Guard  # which no guard is about


def _is_of_one_object(guard: Guard, args: Sequence[Any]) -> bool:
    """Whether ``guard`` says nothing but which object its source gives, or what that object is for good."""
    match guard.check:
        case "is":
            return True
        case "equal":
            return type(_expected(guard)) in _SIMPLE
        case "type":
            return not guard.expected.__flags__ & HEAP_TYPE and guard.expected is not types.ModuleType
        case "len":
            return type(guard.source.load(args)) is tuple
    return False


def _is_plain_sequence(value: Any) -> bool:
    kind = type(value)
    return kind in (tuple, list) or (isinstance(value, tuple) and kind.__len__ is tuple.__len__)


def _field_of(owner: Any, name: str) -> int | None:
    """The place of an attribute of a function that is known by identity."""
    if type(owner) is not types.FunctionType or getattr(owner, name, None) is None:
        return None
    return FUNCTION_FIELDS.get(name)


def _is_plain_module(owner: Any) -> bool:
    return type(owner) is types.ModuleType and "__getattr__" not in vars(owner)


def _has_plain_hooks(cell: Any) -> bool:
    tables = [] if cell is None else [vars(cell).get(name) for name in _HOOKS]
    return bool(tables) and all(isinstance(t, dict) and type(t).__len__ in _DICT_LENGTHS for t in tables)


def _is_own_attribute(owner: Any, name: str) -> bool:
    """Whether ``owner.name`` is what the dictionary of ``owner`` has, as long as it has it."""
    cls = type(owner)
    if owner is None or isinstance(owner, type) or name not in getattr(owner, "__dict__", ()):
        return False
    return _reads_plainly(cls) and not any(hasattr(vars(base).get(name), "__set__") for base in cls.__mro__)


def _reads_plainly(cls: Any) -> bool:
    plainly: Any = (object.__getattribute__, types.ModuleType.__getattribute__)
    return cls.__getattribute__ in plainly


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
    args: Sequence[Any],
    judged: Callable[[Callable[..., bool]], Callable[..., bool]],
) -> Translator:
    """The program that checks all guards.

    Args:
        guards: in order; an earlier one may make a later one meaningful.
        same: pairs of sources that must be one object.
        other: pairs of sources that must be two.
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
    if rest:
        translator.program.python(judged(compile_guards(rest, [], [])))
    return translator
