"""Attributes and items that are read by name: ``operator.attrgetter`` and its like."""

from __future__ import annotations

import functools
import operator
from typing import Any

from ..rules.errors import Uncapturable
from ..rules.policy import is_user_class
from ..rules.purity import is_constant


def call_getter(calls: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``fn(obj)`` of an ``attrgetter`` or a ``methodcaller``, by the verbs that the program would use."""
    kind, held = fn.__reduce__()[:2]
    if len(args) != 1 or kwargs:
        raise TypeError(f"{type(fn).__name__} expected 1 argument, got {len(args)}")
    if type(fn) is operator.itemgetter:
        if any(is_user_class(type(key)) for key in held):
            raise Uncapturable("an itemgetter that holds objects of the user")
        return _of_names([calls.semantics.getitem(args[0], key) for key in held])
    read = calls.semantics.getattr
    if type(fn) is operator.attrgetter:
        return _of_names([functools.reduce(read, name.split("."), args[0]) for name in held])
    named: dict[str, Any] = {}
    if isinstance(kind, functools.partial):  # of the class, with the keywords
        held, named = (*kind.args, *held), kind.keywords
    if not calls.session.is_made_inside(fn) and not all(map(is_constant, (*held, *named.values()))):
        raise Uncapturable("a methodcaller from outside that holds objects")
    return calls.call(read(args[0], held[0]), tuple(held[1:]), named)


def _of_names(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)
