"""What `functools.partial` and `functools.partialmethod` hold, as values of the program."""

from __future__ import annotations

import functools
import types
from typing import Any

from duograph.base.lookup import attributes_of_partial

from ..rules import sources
from ..rules.errors import Uncapturable


def parts_of(session: Any, fn: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Function, arguments and keywords of a partial object."""
    if session.is_made_inside(fn):
        return fn.func, fn.args, fn.keywords
    function = session.external(fn.func, sources.attr(session.source_of(fn), "func"))
    return function, *_held(session, fn)


def _held(session: Any, fn: Any) -> tuple[Any, dict[str, Any]]:
    source = session.source_of(fn)
    named = sources.attr(source, "keywords")
    session.guards.add(named, "keys", list(fn.keywords))
    held = session.external(fn.args, sources.attr(source, "args"))
    return held, {k: session.external(v, sources.item(named, k)) for k, v in fn.keywords.items()}


def flattened(session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a partial of a partial, which Python makes one of if the inner has no attributes."""
    inner = args[0]
    if attributes_of_partial(inner):
        return args, kwargs
    function, held, named = parts_of(session, inner)
    return (function, *held, *args[1:]), {**named, **kwargs}


def bound_partial(session: Any, found: functools.partialmethod[Any], obj: Any) -> Any:
    """What a ``functools.partialmethod`` gives: another partial of the bound method each time."""
    if type(found.func) is not types.FunctionType:
        raise Uncapturable(f"a partialmethod of a {type(found.func).__name__}")
    held, named = _held(session, found)
    return functools.partial(types.MethodType(found.func, obj), *held, **named)
