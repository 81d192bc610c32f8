"""Classes whose ``__getattribute__`` is the user's: those that only give other names to attributes can be captured.

Configurations of model libraries are such: ``config.hidden_size`` is what ``config.n_embd`` holds, by a table. The
program interprets the method where it reads an attribute. But code of ours looks at objects, too (``isinstance`` asks
``x.__class__``): only where nobody can see that the method runs may it do so, which its bytecode tells.
"""

from __future__ import annotations

import dis
import types
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.base.weak import WeakTable

from .facts import HEAP_TYPE, lookup
from .sources import Source, attr, item

_READS = ("LOAD_", "STORE_FAST", "POP_", "JUMP_", "COMPARE_", "CONTAINS_", "IS_", "RETURN_", "TO_BOOL")
_PASSES = (
    "RESUME", "NOP", "COPY", "SWAP", "PRECALL", "CALL", "BINARY_SUBSCR", "BINARY_SLICE", "BUILD_SLICE", "UNARY_NOT",
    "COPY_FREE_VARS",
)  # fmt: skip
"""Without ``PUSH_NULL``, which the call of anything but a method, or of a global variable, needs."""
_NOT = ("JUMP_BACKWARD",)
_GLOBALS = frozenset(("super", "object"))
_OF_TEXT = ("startswith", "endswith")
_METHODS = frozenset(("__getattribute__", *_OF_TEXT))
_NAMED = {
    "LOAD_GLOBAL": _GLOBALS, "LOAD_DEREF": ("__class__",),
    "LOAD_ATTR": _METHODS, "LOAD_METHOD": _METHODS, "LOAD_SUPER_ATTR": _METHODS,
}  # fmt: skip
_TABLES = (dict, list, tuple, set, frozenset, str, int, float, bool, type(None))

_judged: WeakTable[types.CodeType, bool] = WeakTable()


def reader_of(kind: type) -> types.FunctionType | None:
    """The function that an own ``__getattribute__`` of the class, or of a base, is."""
    found = kind.__getattribute__ if kind.__flags__ & HEAP_TYPE else None
    return found if type(found) is types.FunctionType else None  # type: ignore[comparison-overlap, return-value]


def reads_plainly(kind: type) -> bool:
    """Whether the class finds attributes as `object` does, or as modules do."""
    plainly: Any = (object.__getattribute__, types.ModuleType.__getattribute__)
    return kind.__getattribute__ in plainly


def only_reads(value: Any) -> bool:
    """Whether looking at ``value`` runs its own ``__getattribute__``, and nothing that could be seen or misled by it.

    The method has no loops, calls nothing but `super`, other such methods and methods of `str`, sets nothing, and all
    attributes that it names hold plain tables.
    """
    kind = type(value)
    readers = [f for base in kind.__mro__ if type(f := vars(base).get("__getattribute__")) is types.FunctionType]
    own = object.__getattribute__(value, "__dict__") if kind.__dictoffset__ else None
    if type(own) is not dict or not all(_is_reading(f) for f in readers):
        return False
    named = {name for f in readers for name in f.__code__.co_consts if type(name) is str and name != "__dict__"}
    if any(hasattr(type(lookup(kind, name)), "__get__") for name in (*named, *_OF_TEXT)):
        return False  # a property, say
    return all(type(raw_getattr(value, name)) in _TABLES for name in named) and _answers_plainly(value, own)


def _answers_plainly(value: Any, own: dict[str, Any]) -> bool:
    """Whether our code finds what it asks any object for, and hears of a name that nobody has as usual."""
    read: Any = reader_of(type(value))  # called as it is: `getattr` would ask a ``__getattr__``, too
    try:
        if read(value, "__class__") is not type(value) or read(value, "__dict__") is not own:
            return False
        read(value, "__\0")
    except AttributeError:
        return True
    except (LookupError, TypeError, NameError):
        pass
    return False


def _is_reading(fn: types.FunctionType) -> bool:
    code = fn.__code__
    known = _judged.get(code)
    if known is None:
        known = _judged[code] = _reads_only(code)
    return known and not any(name in fn.__globals__ for name in _GLOBALS) and not fn.__defaults__


def _reads_only(code: types.CodeType) -> bool:
    if code.co_argcount != 2 or code.co_kwonlyargcount or code.co_flags & (0x04 | 0x08 | 0x20):
        return False  # star arguments, generators
    for one in dis.get_instructions(code):
        name = one.opname
        if name.startswith(_NOT) or not (name.startswith(_READS) or name in _PASSES):
            return False
        if one.argval not in _NAMED.get(name, (one.argval,)):
            return False
    return True


def own_attribute(base: Source, obj: Any, name: str) -> Source:
    """Where ``obj.name`` is found: where the class has a reader of its own, in the dictionary of the object."""
    is_read = reader_of(type(obj)) is not None and name in raw_getattr(obj, "__dict__", ())
    return item(attr(base, "__dict__"), name) if is_read else attr(base, name)
