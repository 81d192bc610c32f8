"""Keys: what a refusal of a capture depends on, and where an instance holds the versions of a method."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Sequence
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.base.weak import WeakTable
from duograph.frontend.rules.facts import tensor_facts
from duograph.frontend.rules.policy import use_of
from duograph.tensor.tensor import Tensor

_methods: WeakTable[Any, str] = WeakTable()
_numbers = itertools.count()
MOST_METHODS = 256
"""Methods, and segments of them, that an instance holds versions of."""


def key_of_method(plain: Any) -> str:
    """Where instances hold the versions of a method: two functions of one name (a class and the one of the same name
    that it inherits from, two segments of one line) have different keys, each time it is compiled the same."""
    if not isinstance(plain, types.FunctionType):
        return str(raw_getattr(plain, "__qualname__", ""))
    found = _methods.get(plain)
    if found is None:
        found = _methods[plain] = sys.intern(f"{plain.__qualname__}#{next(_numbers)}")
    return found


def make_room(held: dict[str, Any]) -> None:
    """Takes out the oldest of an instance's versions, where functions that are made anew with each call have many."""
    while len(held) >= MOST_METHODS:
        held.pop(next(iter(held)), None)


def key_of_call(values: Sequence[Any]) -> Any:
    """What a fallback depends on: facts of tensors, values of constants, identities of the rest."""
    return tuple([_key_of(v) for v in values])


def _key_of(value: Any, depth: int = 8) -> Any:
    if type(value) is Tensor:
        return tensor_facts(value)
    if use_of(type(value)):
        return (id(type(value)), id(value))
    if isinstance(value, Tensor):
        return tensor_facts(value)
    if isinstance(value, bool | int | float | str | bytes | type(None)):
        return (type(value), value)
    if isinstance(value, tuple | list) and depth:  # a list may be in itself
        return (type(value), tuple([_key_of(v, depth - 1) for v in value]))
    if isinstance(value, dict) and depth:
        return (type(value), tuple([(k, _key_of(v, depth - 1)) for k, v in value.items()]))
    return (id(type(value)), id(value))  # an object may stand where another one was that is gone
