"""Sources: how to reach an outside value from the arguments of a call.

    Source ::= Arg(i) | Pinned(object) | Attr(base, name) | Item(base, key) | Global(dict, name) | CellVar(cell)
             | Found(base, key) | Number(base) | Array(base) | Extent(base)

What a program assumed of the values is in `guards`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from duograph.base.lookup import raw_getattr
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import SUPPORTED, Tensor, wrap


class Source(NamedTuple):
    """One step of the way to a value; ``base`` is the way so far. (A tuple: a capture makes and hashes hundreds.)"""

    kind: str  # arg, pinned, attr, item, global, cell, found, number, array, extent
    base: Any
    key: Any = None

    def load(self, args: Sequence[Any]) -> Any:
        """The value that this source has now."""
        match self.kind:
            case "arg":
                return args[self.key]
            case "pinned":
                return self.base.value
            case "attr":
                return getattr(self.base.load(args), self.key)
            case "item":
                return self.base.load(args)[self.key]
            case "global":
                return self.base.value[self.key]
            case "found":
                return self.base.load(args).get(self.key.load(args) if isinstance(self.key, Source) else self.key)
            case "number":
                return self.base.load(args).item()
            case "array":
                return shown(self.base.load(args))
            case "extent":
                return EXTENTS[self.base.load(args)]
        return self.base.value.cell_contents

    def __str__(self) -> str:
        match self.kind:
            case "arg":
                return str(self.base)
            case "pinned":
                value = self.base.value
                if type(value) is dict and "__builtins__" in value:
                    return "globals"
                if type(value) is Parameter:
                    return f"<Parameter {value.name}>"
                return f"<{raw_getattr(value, '__name__', type(value).__name__)}>"
            case "attr":
                return f"{self.base}.{self.key}"
            case "item":
                if self.base.kind == "attr" and self.base.key == "__dict__" and type(self.key) is str:
                    return f"{self.base.base}.{self.key}"
                return f"{self.base}[{_told(self.key)}]"
            case "global":
                return f"global {self.key}"
            case "found":
                return f"{self.base}.get({self.key if isinstance(self.key, Source) else _told(self.key)})"
            case "number":
                return f"{self.base}.item()"
            case "array":
                return f"array {self.base}"
            case "extent":
                return f"size {self.base}"
        return f"closure variable {self.key}"


_PLAIN = (int, str, float, bool, bytes, type(None))


def _told(key: Any) -> str:
    """A key in words; no code of the user's shows his objects."""
    if type(key) in _PLAIN or (type(key) is tuple and all(type(k) in _PLAIN for k in key)):
        return repr(key)
    return f"a {type(key).__name__} object"


class Pin:
    """Holds an object by identity (hash and equality of a Source must not look inside)."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pin) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def arg(index: int, name: str) -> Source:
    return Source("arg", name, index)


def pinned(value: Any) -> Source:
    return Source("pinned", Pin(value))


def attr(base: Source, name: str) -> Source:
    return Source("attr", base, name)


def item(base: Source, key: Any) -> Source:
    return Source("item", base, key)


def global_(namespace: dict[str, Any], name: str) -> Source:
    return Source("global", Pin(namespace), name)


def cell(variable: Any, name: str) -> Source:
    return Source("cell", Pin(variable), name)


def found(base: Source, key: Any) -> Source:
    """What a dictionary holds for a key, ``None`` if it lacks it; the key may be a Source, too."""
    return Source("found", base, key)


def number(base: Source) -> Source:
    """The Python number that a number of NumPy's holds."""
    return Source("number", base)


def array(base: Source) -> Source:
    """The NumPy array that is found there, as an input: a tensor that shows its memory."""
    return Source("array", base)


def extent(base: Source) -> Source:
    """A tensor of as many elements as the int that is found there says: a symbol for its size stands for the int."""
    return Source("extent", base)


class _Extents(dict[int, Tensor | None]):
    """Tensors by their number of elements, which have no values of their own and little memory; ``None`` for what is no
    int from 1 to `MOST_ELEMENTS`."""

    _memory = np.zeros(1024, np.bool_)

    def __missing__(self, size: Any) -> Tensor | None:
        if type(size) is not int or not 0 < size <= MOST_ELEMENTS:
            return None
        memory = self._memory
        if len(memory) < size:
            memory = self._memory = np.zeros(2 * size, np.bool_)
        if len(self) >= MOST_EXTENTS:
            self.clear()
        made = self[size] = wrap(memory[:size])
        return made


MOST_ELEMENTS = 1 << 24
"""The largest int that a size of a graph may stand for."""
MOST_EXTENTS = 1 << 12
"""Tensors that are kept."""
EXTENTS = _Extents()


def of_size(size: int) -> Tensor:
    """The tensor of so many elements, which are from 1 to `MOST_ELEMENTS`."""
    found = EXTENTS[size]
    assert found is not None, size
    return found


def shown(value: Any) -> Tensor:
    """A tensor that shows the memory of a NumPy array as native code reads it.

    Raises:
        TypeError: ``value`` is no such array: native code does not know its class, dtype, byte order or strides.
    """
    if type(value) is not np.ndarray or value.dtype not in SUPPORTED or not value.dtype.isnative:
        raise TypeError("a value that is not a NumPy array of a dtype that tensors have")
    if not (value.flags.c_contiguous and value.flags.aligned):
        raise TypeError("a NumPy array that is not in one piece")
    return wrap(value)
