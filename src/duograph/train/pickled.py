"""Reading pickles without executing anything.

A pickle is a program for a stack machine whose instructions include calls of any function that Python can import. This
machine runs the instructions that build values (numbers, texts, containers), imports nothing, and calls nothing but the
functions that its caller hands in by name. It has no memory that the file does not pay for: the standard library's
`pickletools` splits the instructions and checks their lengths.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

__all__ = ["Name", "NotData", "read_pickle"]


class NotData(ValueError):
    """A pickle holds something that is no plain data."""


class Name(str):
    """A class or function that a pickle names, ``module.name``; what it stands for is not imported."""


_MARK = object()
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "UNICODE", "SHORT_BINUNICODE",
    "BINUNICODE", "BINUNICODE8",
}  # fmt: skip
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple, "EMPTY_SET": set}
_OF_TOP = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = ("PROTO", "FRAME")
_KEYS = (str, int, float, bool, bytes, complex, type(None), Name)


def read_pickle(
    data: bytes | BinaryIO, functions: Mapping[str, Callable[..., Any]], persistent: Callable[[Any], Any] | None = None
) -> Any:
    """The value that a pickle describes.

    Args:
        data: the pickle, or a file that stands before one and will stand behind it.
        functions: what may be called, by ``module.name``.
        persistent: gives the object of a persistent id. Default: there are none.

    Raises:
        NotData: the pickle needs another class or function; the message names it.
        ValueError: it is damaged.
    """
    machine = _Machine(functions, persistent)
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name != "STOP":
                machine.step(opcode.name, argument)
        return machine.stack[-1]
    except NotData:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError, RecursionError) as exc:
        raise ValueError(f"damaged pickle: {exc}") from None


class _Machine:
    def __init__(self, functions: Mapping[str, Callable[..., Any]], persistent: Callable[[Any], Any] | None) -> None:
        self.functions, self.persistent = functions, persistent
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in _LITERALS:
            stack.append(argument)
        elif name in ("BINPUT", "LONG_BINPUT", "PUT"):
            self.memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET", "GET"):
            stack.append(self.memo[argument])
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in _OF_TOP:
            count = _OF_TOP[name]
            if len(stack) < count:
                raise IndexError("it takes more than there is")
            stack[-count:] = [tuple(stack[-count:])]
        elif name == "MARK":
            stack.append(_MARK)
        elif name in _OF_MARK:
            stack.append(_OF_MARK[name](self.since_mark()))
        elif name in ("APPEND", "SETITEM"):
            count = 1 if name == "APPEND" else 2
            items = [stack.pop() for _ in range(count)][::-1]
            self.put(items)
        elif name in ("APPENDS", "SETITEMS", "ADDITEMS"):
            self.put(self.since_mark())
        elif name == "POP":
            stack.pop()
        elif name == "POP_MARK":
            self.since_mark()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            stack.append(self.named(name, argument))
        elif name in ("REDUCE", "NEWOBJ"):
            arguments, function = stack.pop(), stack.pop()
            stack.append(self.called(function, arguments))
        elif name == "BUILD":
            state = stack.pop()
            self.built(state)
        elif name in ("BINPERSID", "PERSID"):
            if self.persistent is None:
                raise NotData("it refers to objects outside of it")
            stack.append(self.persistent(stack.pop() if name == "BINPERSID" else argument))
        elif name not in _IGNORED:
            raise NotData(f"it has the instruction {name}, which makes objects of any class")

    def since_mark(self) -> list[Any]:
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at] is _MARK:
                items = self.stack[at + 1 :]
                del self.stack[at:]
                return items
        raise IndexError("there is no mark")

    def put(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is dict:
            target.update(_pairs(items))
        elif type(target) is list:
            target.extend(items)
        elif type(target) is set:
            target.update(_keys(items))
        else:
            raise TypeError(f"it puts items into a {type(target).__name__}")

    def named(self, name: str, argument: Any) -> Name:
        if name == "GLOBAL":
            module, _, attribute = argument.partition(" ")
        else:
            attribute, module = self.stack.pop(), self.stack.pop()
        if type(module) is not str or type(attribute) is not str:
            raise TypeError("it names a class by something that is not a string")
        return Name(f"{module}.{attribute}")

    def called(self, function: Any, arguments: Any) -> Any:
        if not isinstance(function, Name):
            raise NotData(f"it calls a {type(function).__name__}")
        known = self.functions.get(function)
        if known is None:
            raise NotData(f"it has an object of {function}")
        if type(arguments) is not tuple:
            raise TypeError(f"the arguments of {function} are a {type(arguments).__name__}")
        return known(*arguments)

    def built(self, state: Any) -> None:
        """Attributes of what stands on the stack: containers and tensors have none that are data."""
        target = self.stack[-1]
        take = getattr(target, "take_state", None)
        if take is not None:
            take(state)
        elif isinstance(target, Name):
            raise NotData(f"it has an object of the class {target}")


def _pairs(items: list[Any]) -> list[tuple[Any, Any]]:
    if len(items) % 2:
        raise ValueError("a key without a value")
    return list(zip(_keys(items[::2]), items[1::2]))


def _keys(items: list[Any]) -> list[Any]:
    """Keys and members, which are flat: the hash of a tuple that is nested a million times ends the process."""
    for item in items:
        if any(type(part) not in _KEYS for part in (item if type(item) is tuple else (item,))):
            raise NotData(f"it has a key or member of the type {type(item).__name__}")
    return items


_OF_MARK: dict[str, Callable[[list[Any]], Any]] = {
    "LIST": list,
    "TUPLE": tuple,
    "FROZENSET": lambda items: frozenset(_keys(items)),
    "DICT": lambda items: dict(_pairs(items)),
}
