"""Guards as a program of the native guard machine; what it does not know stays generated Python, called from there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.runtime.guard_machine import GuardProgram

from .sources import Guard, Pin, Source, _Key, compile_guards

_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_NO_EXTRAS = ((), None, 0)
_SIMPLE = (int, float, str, bytes, bool, type(None))


class _Translator:
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
                held = self._table_of(source)
                if held is not None:
                    p.absent(vars(self.known(source.base)), source.key)
                    return p.lookup(held, source.key)
                return p.attr(self.register(source.base), source.key)
            case "item":
                return p.item(self.register(source.base), source.key)
            case "global":
                return p.lookup(source.base.value, source.key)
        return p.cell(source.base.value)

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
                if type(source.load(self.args)) not in (list, tuple, dict):
                    return False
                p.len_(self.register(source), expected)
            case "equal" if type(expected) in _SIMPLE:
                p.equal(self.register(source), expected)
            case "tensor":
                return self._tensor(source, expected)
            case "cell" if expected == _NO_EXTRAS and self.known(source) is not None:
                own = vars(self.known(source))
                for name in _HOOKS:
                    p.len_(p.lookup(own, name), 0)
                p.is_(p.lookup(own, "_mixed_dtype"), None)
                p.absent(own, "construct")
            case "no value" if self.known(source) is not None:
                p.absent(vars(self.known(source)), expected)
            case _:
                return False
        return True

    def _tensor(self, source: Source, facts: Any) -> bool:
        kind, dtype, shape, contiguous, grad = facts
        if np.empty(0, dtype).dtype is not dtype:
            return False
        self.program.tensor(self.register(source), kind, dtype, shape, contiguous)
        if grad is not None:
            self.program.equal(self.program.attr(self.register(source), "requires_grad"), grad)
        return True


def native_check(
    guards: Sequence[Guard], same: Sequence[tuple[Source, Source]], args: Sequence[Any]
) -> Callable[..., bool]:
    """``check(*args)``: whether all guards hold.

    Args:
        guards: in order; an earlier one may make a later one meaningful.
        same: pairs of sources that must be one object.
        args: arguments for which they hold.

    Raises:
        Unsupported: native code cannot be used in this Python.
    """
    translator = _Translator(guards, args)
    rest = [g for g in guards if not translator.check(g)]
    for one, two in same:
        translator.program.same(translator.register(one), translator.register(two))
    if rest:
        others = compile_guards(rest, [])
        translator.program.python(lambda *a: others(a))
    return translator.program.function()  # type: ignore[no-any-return]
