"""The kinds of guards about attributes, and about what code answers; see `kinds`."""

from __future__ import annotations

import types
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.frontend.rules.facts import HEAP_TYPE, MISSING, lacks, lookup
from duograph.frontend.rules.readers import reads_plainly
from duograph.frontend.rules.sources import Source
from duograph.runtime.python.cpython import TYPE, Unsupported

from .kinds import KINDS, Kind, Lacks, Translation, guard_kind
from .words import short

# ---- attributes -----------------------------------------------------------------------------------------------------


@guard_kind
class _NoAttribute(Lacks):
    name = "no attribute"

    def holds(self, value: Any, expected: Any) -> bool:
        return value == types.CellType() if type(value) is types.CellType else not hasattr(value, expected)

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        module = t.known(source)
        cls = type(module)
        if cls.__flags__ & HEAP_TYPE and reads_plainly(cls):
            return lookup(cls, "__getattr__") is None and _lacks_natively(t, module, expected)
        plain = cls is types.ModuleType and "__getattr__" not in vars(module)
        if not plain or hasattr(types.ModuleType, expected):
            return False
        t.program.fixed(module, TYPE, cls)
        t.program.absent(vars(module), expected)
        t.program.absent(vars(module), "__getattr__")
        return True


def _lacks_natively(t: Translation, owner: Any, name: str) -> bool:
    """Translates that an object known by identity lacks an attribute, as its class does."""
    cls = type(owner)
    if isinstance(owner, type | types.ModuleType) or not cls.__flags__ & HEAP_TYPE:
        return False
    if type(raw_getattr(owner, "__dict__")) is not dict or lookup(cls, name, MISSING) is not MISSING:  # an empty slot
        return False
    try:
        own = t.program.own_dictionary(owner)
    except Unsupported:
        return False
    t.program.absent(own, name)
    t.program.fixed(owner, TYPE, cls)
    t.program.lacking(cls, name)
    if lookup(cls, "__getattr__", MISSING) is MISSING:
        t.program.lacking(cls, "__getattr__")
    return True


@guard_kind
class _NoOwnAttribute(Lacks):
    """Neither the object nor its class has it."""

    name = "no own attribute"

    def holds(self, value: Any, expected: Any) -> bool:
        return lacks(value, expected)

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        owner = t.known(source)
        return owner is not None and _lacks_natively(t, owner, expected)


@guard_kind
class _NoValue(Lacks):
    """The dictionary of the object lacks it."""

    name = "no value"

    def holds(self, value: Any, expected: Any) -> bool:
        return expected not in vars(value)

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        owner = t.known(source)
        if owner is None:
            t.program.owns_no(t.register(source), expected)
        else:
            t.program.absent(t.program.own_dictionary(owner), expected)
        return True


@guard_kind
class _OwnValue(Kind):
    """The dictionary of the object has it: where it does not, code of its class would answer (a cached property)."""

    name = "own value"

    def holds(self, value: Any, expected: Any) -> bool:
        return expected in vars(value)

    def text(self, source: Source, expected: Any) -> str:
        return f"{source} has {expected!r}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{source} had {expected!r}, which is gone"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        owner = t.known(source)
        if owner is None:
            t.program.own(t.register(source), expected)
        else:
            t.program.lookup(t.program.own_dictionary(owner), expected)
        return True


@guard_kind
class _Defines(Kind):
    """A class, or the first base that has the name, defines this under it; ``Pin(None)``: no class does."""

    name = "defines"

    def holds(self, value: Any, expected: Any) -> bool:
        return lookup(value, expected[0]) is expected[1].value

    def text(self, source: Source, expected: Any) -> str:
        name, raw = expected
        return f"{source}.{name} is {short(raw.value)}" if raw.value else f"{source} has no {name!r}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{source}.{expected[0]} was another object ({short(expected[1].value)})"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        cls, (name, raw) = t.known(source), expected
        if not isinstance(cls, type):
            return False
        if raw.value is None and lookup(cls, name, MISSING) is MISSING:
            t.program.lacking(cls, name)
        else:
            t.program.defines(cls, name, raw.value)
        return True

    def is_about_code(self, source: Source) -> bool:
        return True


# ---- answers of code ------------------------------------------------------------------------------------------------


@guard_kind
class _KindOf(Kind):
    """Whether a class counts as a subclass (`abc` can be asked at any time)."""

    name = "kind of"

    def holds(self, value: Any, expected: Any) -> bool:
        return issubclass(expected[0].value, value) is expected[1]

    def text(self, source: Source, expected: Any) -> str:
        return f"{expected[0].value.__name__} is {'a' if expected[1] else 'no'} {source}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{expected[0].value.__name__} was registered with {source}, or is not any more"


@guard_kind
class _Raises(Kind):
    """A function that only reads raises an exception of this class for these arguments."""

    name = "raises"

    def holds(self, value: Any, expected: Any) -> bool:
        try:
            value(*expected[0])
        except Exception as error:  # noqa: BLE001 - what it raises is what is asked for
            return bool(type(error) is expected[1].value)
        return False

    def text(self, source: Source, expected: Any) -> str:
        return f"{source}({', '.join(map(short, expected[0]))}) raises {expected[1].value.__name__}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{source}({', '.join(map(short, expected[0]))}) raised {expected[1].value.__name__}"


@guard_kind
class _Gives(Kind):
    """A function that only reads gives this for these arguments."""

    name = "gives"

    def holds(self, value: Any, expected: Any) -> bool:
        try:
            return KINDS["equal"].holds(value(*expected[0]), expected[1])
        except Exception:  # noqa: BLE001 - a context variable has no value any more
            return False

    def text(self, source: Source, expected: Any) -> str:
        return f"{source}({', '.join(map(short, expected[0]))}) == {short(expected[1])}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{source}({', '.join(map(short, expected[0]))}) was {short(expected[1])}"
