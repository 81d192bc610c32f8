"""Guards as a program of the native guard machine; what it does not know stays generated Python, called from there."""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.runtime.cpython import FUNCTION_FIELDS
from duograph.runtime.guard_machine import GuardProgram
from duograph.tensor.parameter import Parameter

from .sources import Guard, Pin, Source, _Key, compile_guards

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
                if type(holder) in (tuple, list) and type(source.key) is int and 0 <= source.key < len(holder):
                    return p.at(self.register(source.base), source.key)
                if type(holder) is dict and type(source.key) is str:
                    return p.key(self.register(source.base), source.key)
                return p.item(self.register(source.base), source.key)
            case "global":
                return p.lookup(source.base.value, source.key)
        return p.cell(source.base.value)

    def _attribute(self, source: Source) -> int:
        """An attribute, without running Python if it is known where it comes from."""
        p, key, owner = self.program, source.key, self.known(source.base)
        held = self._table_of(source)
        if held is not None:
            p.absent(vars(owner), key)
            return p.lookup(held, key)
        if _is_plain_class_attribute(owner, key):
            return p.member(owner, key)
        if type(owner) is types.FunctionType and getattr(owner, key, None) is not None and key in FUNCTION_FIELDS:
            return p.field(owner, FUNCTION_FIELDS[key])
        if _is_own_attribute(owner, key):
            return p.lookup(vars(owner), key)
        return p.attr(self.register(source.base), key)

    def _table_of(self, source: Source) -> dict[str, Any] | None:
        """Cells keep sub-cells, parameters and buffers in tables of their own, which ``__getattr__`` searches."""
        own = getattr(self.known(source.base), "__dict__", None)
        if not isinstance(own, dict) or "_cells" not in own or source.key in own:
            return None
        for name in ("_params", "_cells", "_buffers"):
            if source.key in own.get(name, ()):
                return own[name]  # type: ignore[no-any-return]
        return None

    def check(self, guard: Guard) -> bool:
        """Translates ``guard``; False if it is none that the machine knows."""
        p, source = self.program, guard.source
        expected = guard.expected.value if isinstance(guard.expected, Pin | _Key) else guard.expected
        match guard.check:
            case "is" | "same object":
                p.is_(self.register(source), expected)
            case "type":
                p.type_(self.register(source), expected)
            case "len":
                kind = type(source.load(self.args))
                if kind.__len__ not in _LENGTHS:  # another runs Python
                    return False
                p.len_(self.register(source), kind, expected)
            case "equal" if type(expected) in _SIMPLE:
                p.equal(self.register(source), expected)
            case "tensor":
                return self._tensor(source, expected)
            case "pattern":
                kind, dtype, shape = expected
                return self._tensor(source, (kind, dtype, shape, None, None))
            case "cell" if expected == _NO_EXTRAS and _has_plain_hooks(self.known(source)):
                own = vars(self.known(source))
                for name in _HOOKS:
                    p.len_(p.lookup(own, name), type(own[name]), 0)
                p.is_(p.lookup(own, "_mixed_dtype"), None)
                p.absent(own, "construct")
            case "no value" if self.known(source) is not None:
                p.absent(vars(self.known(source)), expected)
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
            flag = self.program.own if kind is Parameter else self.program.attr
            self.program.equal(flag(value, "requires_grad"), grad)
        return True


def _has_plain_hooks(cell: Any) -> bool:
    tables = [] if cell is None else [vars(cell).get(name) for name in _HOOKS]
    return bool(tables) and all(isinstance(t, dict) and type(t).__len__ in _DICT_LENGTHS for t in tables)


def _is_own_attribute(owner: Any, name: str) -> bool:
    """Whether ``owner.name`` is what the dictionary of ``owner`` has, as long as it has it."""
    cls = type(owner)
    if owner is None or isinstance(owner, type) or name not in getattr(owner, "__dict__", ()):
        return False
    reads_plainly: bool = cls.__getattribute__ is object.__getattribute__ or cls is types.ModuleType  # type: ignore[comparison-overlap]
    if not reads_plainly:
        return False
    return not any(hasattr(vars(base).get(name), "__set__") for base in cls.__mro__)


def _is_plain_class_attribute(owner: Any, name: str) -> bool:
    """Whether ``owner`` is a class, and gives what is defined under the name as it is."""
    if type(owner) is not type or hasattr(type, name):
        return False
    defined = next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None)
    return defined is not None and defined is getattr(owner, name, None)


def translated(guards: Sequence[Guard], same: Sequence[tuple[Source, Source]], args: Sequence[Any]) -> Translator:
    """The program that checks all guards.

    Args:
        guards: in order; an earlier one may make a later one meaningful.
        same: pairs of sources that must be one object.
        args: arguments for which they hold.

    Raises:
        Unsupported: native code cannot be used in this Python.
    """
    translator = Translator(guards, args)
    rest = [g for g in guards if not translator.check(g)]
    for one, two in same:
        translator.program.same(translator.register(one), translator.register(two))
    if rest:
        others = compile_guards(rest, [])
        translator.program.python(lambda *a: others(a))
    return translator
