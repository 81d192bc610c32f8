"""Objects that hold values of the program without being containers: how they are made anew where they leave it."""

from __future__ import annotations

import functools
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from duograph.base.lookup import attributes_of_partial

from ..rules.errors import Uncapturable
from ..rules.purity import is_constant

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_OWNERS = (list, dict, set, deque, OrderedDict, defaultdict)


def parts_of(value: Any) -> tuple[Callable[..., Any], list[Any]] | None:
    """A function, and what to call it with to make another ``value``; ``None`` if it is no object of this kind.

    Raises:
        Uncapturable: it holds something that it does not give.
    """
    kind = type(value)
    if kind is slice:
        return slice, [value.start, value.stop, value.step]
    if kind is object:
        return object, []
    if kind is types.MethodType:
        return functools.partial(types.MethodType, value.__func__), [value.__self__]
    if kind is functools.partial and not attributes_of_partial(value):
        return _partial, [value.func, value.args, value.keywords]
    if kind is types.BuiltinMethodType or kind is types.MethodWrapperType:
        owner = value.__self__
        if type(owner) in _OWNERS and kind is types.BuiltinMethodType:
            return getattr, [owner, value.__name__]
        if owner is None or is_constant(owner):
            return None
    elif not isinstance(value, (*_VIEWS, functools.partial, types.MappingProxyType)):
        return None
    raise Uncapturable(f"a {kind.__name__} object made inside leaves the compiled function")


def _partial(fn: Any, args: Any, keywords: Any) -> Any:
    return functools.partial(fn, *args, **keywords)
