"""The kinds of guards: each has its check, its text, and how native code checks it, in one place.

A kind is a class with one instance, found by its name (`KINDS`). To add one, write the class here; what uses it says
``guards.add(source, "its name", expected)``. Without `Kind.native` the check runs as Python, called from native code.
"""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from duograph.core.op import value_key
from duograph.frontend.rules.dropped import is_dropped_silently
from duograph.frontend.rules.exact import are_same_keys, value_text
from duograph.frontend.rules.facts import HEAP_TYPE, HOOKS, cell_facts, tensor_facts
from duograph.frontend.rules.sources import Source
from duograph.runtime.guards.program import GuardProgram
from duograph.runtime.python.cpython import TYPE
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .words import facts_text, short

__all__ = ["KINDS", "Kind", "guard_kind"]

_DICT_LENGTHS = (dict.__len__, OrderedDict.__len__)
_LENGTHS = (*_DICT_LENGTHS, list.__len__, tuple.__len__)
_SIZED = (list, tuple, dict, set, frozenset)
_OF_CODE = ("__code__", "__defaults__", "__kwdefaults__")
_PLAIN_CELL = ((), None, 0)
"""The `cell_facts` of most."""
SIMPLE = (int, float, str, bytes, bool, type(None))
"""Classes of values that are compared without running code of users."""


class Translation(Protocol):
    """What writes guards as a program of the guard machine (`native.Translator`).

    Attributes:
        program: what has been written.
        args: arguments for which all guards hold.
        measured: sources and classes that guards of lengths and keys check as well.
    """

    program: GuardProgram
    args: Sequence[Any]
    measured: set[tuple[Source, type | None]]

    def known(self, source: Source) -> Any:
        """The object that ``source`` must be, or ``None``."""

    def register(self, source: Source) -> int:
        """Where the value of ``source`` is."""

    def gives(self, source: Source, expected: Any) -> None:
        """Adds that ``source`` gives this object."""

    def is_inherited(self, source: Source) -> bool:
        """Whether it is an attribute of a known object that its class holds, as it is."""

    def namespace(self, source: Source) -> dict[Any, Any] | None:
        """The dictionary known by identity in which the value stands, if it is nothing else."""


class Kind:
    """What may be assumed of a value. ``expected`` is what capture saw, unpacked from what makes it hashable.

    Attributes:
        name: how guards name it.
    """

    name: ClassVar[str]

    def holds(self, value: Any, expected: Any) -> bool:
        """Whether ``value``, which the source gives now, is as expected."""
        raise NotImplementedError

    def text(self, source: Source, expected: Any) -> str:
        """The assumption in words."""
        return f"{self.name} of {source}: {short(expected)}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        """Why it does not hold for ``value``, for the recompile log."""
        return f"{source} was {short(expected)}, is {short(value)}"

    def test(self, value: str, expected: Any, constant: Callable[[Any], str]) -> str:
        """A Python expression that is true if it holds.

        Args:
            value: the name of the value.
            expected: what capture saw.
            constant: gives an object a name in the expression.
        """
        return f"{constant(self.holds)}({value}, {constant(expected)})"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        """Adds the check to a guard program; False if the machine knows nothing of the kind."""
        return False

    def is_of_one_object(self, expected: Any, load: Callable[[], Any]) -> bool:
        """Whether it says nothing but which object the source gives, or what that object is for good."""
        return False

    def checked_class(self, expected: Any, load: Callable[[], Any]) -> type | None:
        """The class of the value, if the native check looks at that as well."""
        return None

    def is_about_code(self, source: Source) -> bool:
        """Whether it only says that functions and classes are what they were; `Explanation` leaves that out."""
        return source.kind == "attr" and source.key in _OF_CODE


KINDS: dict[str, Kind] = {}
"""All, by name."""


def guard_kind(cls: type[Kind]) -> type[Kind]:
    """Adds a kind."""
    KINDS[cls.name] = cls()
    return cls


# ---- which object ---------------------------------------------------------------------------------------------------


@guard_kind
class _Is(Kind):
    name = "is"

    def holds(self, value: Any, expected: Any) -> bool:
        return value is expected

    def text(self, source: Source, expected: Any) -> str:
        return f"{source} is {short(expected)}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{source} was another object ({short(expected)}), is {short(value)}"

    def test(self, value: str, expected: Any, constant: Callable[[Any], str]) -> str:
        return f"{value} is {constant(expected)}"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        t.gives(source, expected)
        return True

    def is_of_one_object(self, expected: Any, load: Callable[[], Any]) -> bool:
        return True


@guard_kind
class _Type(Kind):
    name = "type"

    def holds(self, value: Any, expected: Any) -> bool:
        return type(value) is expected

    def text(self, source: Source, expected: Any) -> str:
        return f"type({source}) is {expected.__name__}"

    def test(self, value: str, expected: Any, constant: Callable[[Any], str]) -> str:
        return f"type({value}) is {constant(expected)}"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        if source.kind == "pinned":
            t.program.fixed(source.base.value, TYPE, expected)
        elif (source, expected) not in t.measured:
            t.program.type_(t.register(source), expected)
        return True

    def is_about_code(self, source: Source) -> bool:
        return source.kind == "pinned"

    def is_of_one_object(self, expected: Any, load: Callable[[], Any]) -> bool:
        return not expected.__flags__ & HEAP_TYPE and expected is not types.ModuleType


@guard_kind
class _Equal(Kind):
    """A value of the same class and bits."""

    name = "equal"

    def holds(self, value: Any, expected: Any) -> bool:
        return type(value) is type(expected) and value_key(value) == value_key(expected)

    def text(self, source: Source, expected: Any) -> str:
        return f"{source} == {short(expected)}"

    def test(self, value: str, expected: Any, constant: Callable[[Any], str]) -> str:
        if type(expected) in (int, str, bytes):
            return f"type({value}) is {constant(type(expected))} and {value} == {constant(expected)}"
        return super().test(value, expected, constant)

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        if t.is_inherited(source):
            t.gives(source, source.load(t.args))
        elif type(expected) in SIMPLE:
            t.program.equal(t.register(source), expected)
        else:
            return False
        return True

    def is_of_one_object(self, expected: Any, load: Callable[[], Any]) -> bool:
        return type(expected) in SIMPLE


@guard_kind
class _Value(Kind):
    """An object of the same class and contents (`value_text`)."""

    name = "value"

    def holds(self, value: Any, expected: Any) -> bool:
        return type(value) is expected[0] and value_text(value) == expected[1]

    def text(self, source: Source, expected: Any) -> str:
        return f"{source} == {expected[1]}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{source} was {expected[1]}, is {value_text(value) or short(value)}"


# ---- tensors and Cells ----------------------------------------------------------------------------------------------


def _compared(t: Translation, source: Source, facts: tuple[Any, ...]) -> bool:
    kind, dtype, shape, contiguous, grad = facts
    if np.empty(0, dtype).dtype is not dtype:
        return False
    t.program.tensor(t.register(source), np.ndarray if source.kind == "array" else kind, dtype, shape, contiguous)
    if grad is not None:
        value = t.register(source)
        if kind is Parameter:
            t.program.owns(value, "requires_grad", grad)
        else:
            t.program.equal(t.program.attr(value, "requires_grad"), grad)
    return True


@guard_kind
class _Tensor(Kind):
    """A tensor with the same `tensor_facts`."""

    name = "tensor"

    def holds(self, value: Any, expected: Any) -> bool:
        return type(value) is expected[0] and not value.is_symbolic and tensor_facts(value) == expected

    def text(self, source: Source, expected: Any) -> str:
        return f"{source}: {facts_text(expected)}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        actual = tensor_facts(value) if issubclass(type(value), Tensor) else value
        return f"{source} was {facts_text(expected)}, is {facts_text(actual)}"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        return _compared(t, source, expected)


@guard_kind
class _Pattern(Kind):
    """A tensor of this class, dtype and shape, where ``None`` is any extent, that is contiguous, or is not."""

    name = "pattern"

    def holds(self, value: Any, expected: Any) -> bool:
        kind, dtype, shape, contiguous = expected
        if type(value) is not kind or value.is_symbolic:
            return False
        data = value._data
        if data.dtype != dtype or len(data.shape) != len(shape) or bool(data.flags.c_contiguous) != contiguous:
            return False
        return all(want is None or want == n for want, n in zip(shape, data.shape, strict=True))

    def text(self, source: Source, expected: Any) -> str:
        kind, dtype, shape, contiguous = expected
        extents = ", ".join("any" if n is None else str(n) for n in shape)
        return f"{source}: {kind.__name__} {dtype}[{extents}]" + ("" if contiguous else " (not contiguous)")

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        actual = tensor_facts(value) if issubclass(type(value), Tensor) else value
        return f"{self.text(source, expected)} was expected, is {facts_text(actual)}"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        return _compared(t, source, (*expected, None))


@guard_kind
class _Strides(Kind):
    """A tensor with these bytes to step along each axis: whether a reshape of it is a view mattered."""

    name = "strides"

    def holds(self, value: Any, expected: Any) -> bool:
        return isinstance(value, Tensor) and not value.is_symbolic and value._data.strides == expected

    def text(self, source: Source, expected: Any) -> str:
        return f"bytes from element to element of {source}: {expected}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        actual = value._data.strides if isinstance(value, Tensor) and not value.is_symbolic else value
        return f"bytes from element to element of {source} were {expected}, are {actual}"


@guard_kind
class _View(Kind):
    """A view that was made by this op with these attributes."""

    name = "view"

    def holds(self, value: Any, expected: Any) -> bool:
        op, attrs = expected
        return value is not None and value.op is op and value.attrs == attrs


@guard_kind
class _Cell(Kind):
    """A Cell with the same `cell_facts`."""

    name = "cell"

    def holds(self, value: Any, expected: Any) -> bool:
        return bool(cell_facts(value) == expected)

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        cell = t.known(source)
        if cell is None:
            return expected == _PLAIN_CELL and self._of_structure(t, source)
        tables = [vars(cell).get(name) for name in HOOKS]
        plain = bool(tables) and all(isinstance(x, dict) and type(x).__len__ in _DICT_LENGTHS for x in tables)
        if expected != _PLAIN_CELL or not plain:
            return False
        own = t.program.own_dictionary(cell)
        for name in HOOKS:
            t.program.holds(own, name, own[name])
            t.program.empty(own[name])
        t.program.holds(own, "_mixed_dtype", None)
        t.program.absent(own, "construct")
        return True

    def _of_structure(self, t: Translation, source: Source) -> bool:
        """For a Cell that may be another one in each call."""
        p, cell = t.program, source.load(t.args)
        kinds = [type(vars(cell).get(name)) for name in HOOKS]
        if not all(kind in (dict, OrderedDict) for kind in kinds):
            return False
        value = t.register(source)
        for name, kind in zip(HOOKS, kinds, strict=True):
            p.len_(p.own(value, name), kind, 0)
        p.owns(value, "_mixed_dtype", None)
        p.owns_no(value, "construct")
        return True


# ---- containers -----------------------------------------------------------------------------------------------------


@guard_kind
class _Len(Kind):
    name = "len"

    def holds(self, value: Any, expected: Any) -> bool:
        return len(value) == expected

    def text(self, source: Source, expected: Any) -> str:
        return f"len({source}) == {expected}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        actual = len(value) if type(value) in _SIZED else short(value)  # no code of the user's is asked
        return f"length of {source} was {expected}, is {actual}"

    def test(self, value: str, expected: Any, constant: Callable[[Any], str]) -> str:
        return f"len({value}) == {expected}"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        kind = self.checked_class(expected, lambda: source.load(t.args))
        if kind is None:
            return False
        t.program.len_(t.register(source), kind, expected)
        return True

    def checked_class(self, expected: Any, load: Callable[[], Any]) -> type | None:
        kind = type(load())
        return kind if kind.__len__ in _LENGTHS else None  # another runs Python

    def is_of_one_object(self, expected: Any, load: Callable[[], Any]) -> bool:
        return type(load()) is tuple


@guard_kind
class _Items(Kind):
    """A plain list of just these numbers and texts."""

    name = "items"

    def holds(self, value: Any, expected: Any) -> bool:
        return type(value) is list and len(value) == len(expected) and not self.differing(value, expected)

    def text(self, source: Source, expected: Any) -> str:
        return f"{source} holds the {len(expected)} numbers or texts that it held"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        if type(value) is not list or len(value) != len(expected):
            return f"{source} had {len(expected)} items, is {short(value)}"
        i = self.differing(value, expected)[0]
        return f"{source}[{i}] was {short(expected[i])}, is {short(value[i])}"

    @staticmethod
    def differing(value: list[Any], expected: tuple[Any, ...]) -> list[int]:
        """The places where a list of the same length holds something else."""
        pairs = enumerate(zip(value, expected, strict=True))
        return [i for i, (a, b) in pairs if a is not b and (type(a) is not type(b) or value_key(a) != value_key(b))]

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        t.program.items(t.register(source), expected)
        return True


@guard_kind
class _Keys(Kind):
    """Exactly these keys, in this order."""

    name = "keys"

    def holds(self, value: Any, expected: Any) -> bool:
        return are_same_keys(value, expected)

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        if self.checked_class(expected, lambda: source.load(t.args)) is None:
            return False
        t.program.keys(t.register(source), expected)
        return True

    def checked_class(self, expected: Any, load: Callable[[], Any]) -> type | None:
        return dict if all(type(k) is str for k in expected) and type(load()) is dict else None


@guard_kind
class _Elements(Kind):
    """Exactly these elements of a set, in this order."""

    name = "elements"

    def holds(self, value: Any, expected: Any) -> bool:
        return are_same_keys(value, expected)


@guard_kind
class _Table(Kind):
    """A set whose table has room for so many bytes: what is made of it has its order from there."""

    name = "table"

    def holds(self, value: Any, expected: Any) -> bool:
        return bool(set.__sizeof__(value) == expected)

    def text(self, source: Source, expected: Any) -> str:
        return f"the table of {source} has {expected} bytes"


@guard_kind
class _Values(Kind):
    """A dictionary with the values of this one, in this order."""

    name = "values"

    def holds(self, value: Any, expected: Any) -> bool:
        return tuple(map(id, value.values())) == tuple(map(id, expected))

    def text(self, source: Source, expected: Any) -> str:
        return f"{source} has {len(expected)} items"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{source} has other items"

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        found = t.namespace(source)
        if found is None:
            return False
        t.program.holds(found, source.key, found[source.key])
        t.program.values(found[source.key], expected)
        return True

    def is_about_code(self, source: Source) -> bool:
        return True


@guard_kind
class _Silent(Kind):
    """A value that a write pushes out: nobody observes its destruction."""

    name = "silent"

    def holds(self, value: Any, expected: Any) -> bool:
        return is_dropped_silently(value)

    def text(self, source: Source, expected: Any) -> str:
        return f"destruction of {source} is not observed"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"destruction of {source} can be observed"


@guard_kind
class _Sheds(Kind):
    """A bounded deque in which nobody observes the destruction of the first or last items, so many."""

    name = "sheds"

    def holds(self, value: Any, expected: Any) -> bool:
        ends = min(expected, len(value))
        return all(is_dropped_silently(value[i]) and is_dropped_silently(value[-1 - i]) for i in range(ends))

    def text(self, source: Source, expected: Any) -> str:
        return f"destruction of items of {source} is not observed"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"destruction of an item of {source} can be observed"


class Lacks(Kind):
    """Something is not there."""

    def text(self, source: Source, expected: Any) -> str:
        return f"{source} has no {expected!r}"

    def miss(self, source: Source, expected: Any, value: Any) -> str:
        return f"{source} had no {expected!r}, now it has"


@guard_kind
class _NoItem(Lacks):
    name = "no item"

    def holds(self, value: Any, expected: Any) -> bool:
        return expected not in value

    def native(self, t: Translation, source: Source, expected: Any) -> bool:
        held = t.known(source)
        if type(held) is not dict or type(expected) is not str:
            return False
        t.program.absent(held, expected)
        return True
