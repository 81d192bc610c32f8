"""Attributes that are read and items that are read by name: ``operator.attrgetter`` and its like, ``str.format``."""

from __future__ import annotations

import functools
import operator
import string
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.ops.scalar import Scalar

from ..rules.errors import Uncapturable
from ..rules.policy import is_user_class
from ..rules.purity import is_constant
from ..values.text import GraphText, Template, rendered
from .semantics import contains_symbolic


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


def check_template(fn: Any) -> None:
    """Refuses ``"{0.attribute}".format(...)``, which asks the object as it is."""
    template = raw_getattr(fn, "__self__")
    if isinstance(template, str) and raw_getattr(fn, "__name__", "") in ("format", "format_map") and _reads(template):
        raise Uncapturable("a format that reads attributes")


def _reads(template: str) -> bool:
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:  # which Python is to raise
        return False
    return any("." in (name or "") or (spec and "{" in spec and _reads(spec)) for _, name, spec, _ in fields)


def text_method(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> GraphText | None:
    """``template.format(...)`` and ``separator.join(...)`` of what is only known at run time."""
    owner, name = raw_getattr(fn, "__self__"), raw_getattr(fn, "__name__", "")
    if not isinstance(owner, str) or not contains_symbolic((args, kwargs)):
        return None
    if name == "format":
        return rendered(Template(owner), (args, dict(kwargs)))
    if name == "join" and len(args) == 1 and isinstance(args[0], list | tuple):
        pieces: list[Any] = []
        for i, item in enumerate(args[0]):
            if not isinstance(item, str | GraphText):
                kind = item.type.python_type if isinstance(item, Scalar) else type(item)
                raise TypeError(f"sequence item {i}: expected str instance, {kind.__name__} found")
            pieces += [owner] * (i > 0) + ([item] if isinstance(item, str) else item.parts)
        return GraphText(pieces)
    raise Uncapturable(f"str.{name} of values that are only known at run time")
