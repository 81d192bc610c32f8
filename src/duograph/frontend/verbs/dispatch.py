"""Whose special method Python asks for the result of an operator: the left operand's, the right one's, in which order.

Reference: Objects/abstract.c (``binary_op1``), Objects/typeobject.c (``SLOT1BINFULL``) and Objects/object.c
(``do_richcompare``) of CPython.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..rules.policy import function_kind, is_generated
from ..rules.watch import watched
from .special_methods import user_method

Turn = tuple[Any, Any, str]


def operands_in_turn(a: Any, b: Any, name: str, reflected: str) -> Iterator[Turn]:
    """For ``a op b``: (object, other operand, name of its method), as long as they give ``NotImplemented``."""
    kinds = type(a), type(b)
    derived = kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0])
    if derived and _overrides(*kinds, reflected):
        yield b, a, reflected
        yield a, b, name
        return
    yield a, b, name
    if kinds[0] is not kinds[1] and not _takes_all(a, name):
        _check_native_first(a, b, name, reflected)
        yield b, a, reflected


def comparisons_in_turn(a: Any, b: Any, name: str, reflected: str) -> Iterator[Turn]:
    """`operands_in_turn` of a comparison: a derived class need not override, both are asked if of one class."""
    kinds = type(a), type(b)
    if kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0]):
        yield b, a, reflected
        yield a, b, name
        return
    yield a, b, name
    if not _takes_all(a, name):
        _check_native_first(a, b, name, reflected)
        yield b, a, reflected


def _overrides(base: type, derived: type, reflected: str) -> bool:
    found = watched(derived, reflected)
    return found is not None and found is not watched(base, reflected)


def _takes_all(left: Any, name: str) -> bool:
    """Whether the special method ``name`` of a left operand takes any right one, or raises, so that Python does not ask
    that for its own method."""
    return hasattr(type(left), name) if isinstance(left, Tensor) else isinstance(left, str) and name == "__mod__"


def _check_native_first(a: Any, b: Any, name: str, reflected: str) -> None:
    """Refuses to skip a left operand that answers by code that is not interpreted, before the user's of the right one.

    That is code in C of a base that both operands have (``int``, say), or code of a library (``total_ordering``).
    """
    found = watched(type(a), name)
    if isinstance(found, types.FunctionType):
        answers = function_kind(found) == "other" and not is_generated(found)
    else:
        owner = getattr(found, "__objclass__", object)
        answers = owner is not object and not isinstance(a, Scalar) and isinstance(b, owner)
    if answers and user_method(b, reflected) is not None:
        raise Uncapturable(f"{type(a).__qualname__}.{name}, for an operand of class {type(b).__qualname__}")
