"""What native code is handed that it may call, or take one by one: the user's code in it is interpreted, or refused."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import functools
import heapq
import itertools
import json
import operator
import re
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duograph.base.lookup import raw_getattr, raw_hasattr

from ..rules.errors import Uncapturable
from ..rules.opaque import is_iterator
from ..rules.policy import is_interpreted, is_user_class, module_kind
from .decimals import is_decimal
from .operands import check_key, check_operand, only_moves
from .special_methods import user_method

if TYPE_CHECKING:
    from .caller import Caller


class Callback:
    """Code of the user handed to native code; calling it interprets it.

    ``judged``: the caller compares, hashes or adds up what it gives, or asks for its truth.
    """

    __slots__ = ("__dict__", "_calls", "_fn", "_judged")

    def __init__(self, calls: Caller, fn: Any, judged: bool = False) -> None:
        self._calls, self._fn, self._judged = calls, fn, judged
        if isinstance(fn, types.FunctionType | types.MethodType):
            functools.update_wrapper(self, fn, updated=())

    runs_user_code = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value = self._calls.call(self._fn, args, kwargs)
        if self._judged:
            check_operand(self._calls.session, value)
        return value

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        return self if obj is None else types.MethodType(self, obj)

    def __eq__(self, other: object) -> bool:  # for containers that look for it
        self._calls.session.note_identity((self._fn, other))
        return bool(self._fn == other)

    def __hash__(self) -> int:
        self._calls.session.note_identity(self._fn)
        return hash(self._fn)

    def make_python_object(self, collector: Any) -> Any:
        return collector.recipe(self._fn)


_KEY_WRAPPER = type(functools.cmp_to_key(lambda a, b: 0))
_GETTERS = (functools.partial, operator.attrgetter, operator.itemgetter, operator.methodcaller)
_JUDGE: dict[Any, tuple[int | str, ...]] = {
    itertools.groupby: (1, "key"), itertools.takewhile: (0,), itertools.dropwhile: (0,), itertools.filterfalse: (0,),
    functools.cmp_to_key: (0, "mycmp"), heapq.nlargest: (2, "key"), heapq.nsmallest: (2, "key"), heapq.merge: ("key",),
    bisect.bisect_left: ("key",), bisect.bisect_right: ("key",), bisect.insort_left: ("key",),
    bisect.insort_right: ("key",), "list.sort": ("key",),
}  # fmt: skip
"""Which argument they call, to look into what it gives: positions and names."""
_CALL: dict[Any, tuple[int | str, ...]] = {
    itertools.accumulate: (1, "func"), itertools.starmap: (0,),
    re.sub: (1, "repl"), re.subn: (1, "repl"), "Pattern.sub": (0, "repl"), "Pattern.subn": (0, "repl"),
    dataclasses.asdict: ("dict_factory",), dataclasses.astuple: ("tuple_factory",), json.dumps: ("default",),
    json.loads: ("object_hook", "object_pairs_hook", "parse_float", "parse_int", "parse_constant"),
}  # fmt: skip
"""Which argument they call, to pass on what it gives."""
_KEEP = (functools.partial, functools.partialmethod, itertools.repeat)


def key_function(calls: Caller, fn: Any) -> Any:
    """The ``key`` of ``sorted`` and the like."""
    if _is_key_wrapper(calls, fn) or not callable(fn):
        return fn
    return Callback(calls, fn, judged=True)


def handed(calls: Caller, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict]:
    """The arguments as native code ``fn`` may have them."""
    check = _check_of_items(calls, fn, args, kwargs)
    if check is not None:
        args = tuple(map(check, a) if is_iterator(a) else a for a in args)
    if only_moves(fn):
        return args, kwargs
    name = _name_of(fn)
    judged, called = _JUDGE.get(name, ()), _CALL.get(name, ())
    keeps = isinstance(fn, type) and (issubclass(fn, dict) or fn in _KEEP)

    def wrap(place: int | str, value: Any) -> Any:
        if place in judged:
            return key_function(calls, value)
        if place in called:
            return Callback(calls, value) if callable(value) and not isinstance(value, Callback) else value
        return value if keeps else _handed(calls, fn, value)

    return tuple(wrap(i, v) for i, v in enumerate(args)), {k: wrap(k, v) for k, v in kwargs.items()}


def _name_of(fn: Any) -> Any:
    """What stands for ``fn`` in the tables above."""
    owner = raw_getattr(fn, "__self__")
    if isinstance(owner, list | re.Pattern):
        return f"{'list' if isinstance(owner, list) else 'Pattern'}.{fn.__name__}"
    return fn if isinstance(fn, type | types.FunctionType | types.BuiltinFunctionType) else None


def _handed(calls: Caller, fn: Any, value: Any) -> Any:
    is_function = isinstance(value, types.FunctionType) and is_interpreted(value)
    if is_function or (isinstance(value, types.MethodType) and is_interpreted(value.__func__)):
        return Callback(calls, value)
    module = raw_getattr(fn, "__module__")
    if module == "json" and isinstance(value, type) and is_user_class(value):
        raise Uncapturable(f"{fn.__name__} with class {value.__qualname__}, which it would make an object of")
    if not callable(value) or isinstance(value, type) or raw_hasattr(value, "construct"):
        return value
    if module is None or module_kind(module) != "framework":
        return value
    called = isinstance(value, _GETTERS) or user_method(value, "__call__") is not None
    return Callback(calls, value) if called else value


def _is_key_wrapper(calls: Caller, value: Any) -> bool:
    """Whether ``value`` was given by ``functools.cmp_to_key``; one that is made inside calls a `Callback`."""
    if type(value) is not _KEY_WRAPPER:
        return False
    if not calls.session.is_made_inside(value):
        raise Uncapturable("a functools.cmp_to_key from outside, whose function cannot be reached")
    return True


# -- iterators ---------------------------------------------------------------------------------------------------------

_LOOKS_AT_ITEMS = ("math", "statistics", "heapq", "_heapq", "bisect", "_bisect")
_TAKE_KEYS = frozenset({
    *("__init__", "fromkeys", "update", "union", "intersection", "difference", "symmetric_difference", "subtract"),
    *("intersection_update", "difference_update", "symmetric_difference_update"),
    *("isdisjoint", "issubset", "issuperset"),
})  # fmt: skip
"""Methods of dictionaries and sets that hash what an iterator gives."""
_LOOKING = (bytes, bytearray, itertools.groupby, itertools.accumulate, itertools.compress, itertools.filterfalse)


def _check_of_items(
    calls: Caller, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[Any], Any] | None:
    """What is asked of each item of an iterator that ``fn`` takes them from; None if it does not look at them."""
    if not any(map(is_iterator, args)):
        return None
    session, name = calls.session, raw_getattr(fn, "__name__", "")
    owner = raw_getattr(fn, "__self__")
    kind = fn if isinstance(fn, type) else owner if isinstance(owner, type) else type(owner)
    if issubclass(kind, dict | set | frozenset) and (fn is kind or name in _TAKE_KEYS):
        pairs = issubclass(kind, dict) and not issubclass(kind, collections.Counter) and name != "fromkeys"
        return functools.partial(_checked_pair if pairs else _checked_key, session)
    if any(map(callable, (*args, *kwargs.values()))):  # that looks at them
        return None
    if raw_getattr(fn, "__module__") in _LOOKS_AT_ITEMS or (isinstance(fn, type) and fn in _LOOKING):
        return functools.partial(_checked_item, session)
    return None


def _checked_pair(session: Any, pair: Any) -> Any:
    if isinstance(pair, tuple | list) and pair:
        check_key(session, pair[0])
    else:
        check_operand(session, pair)
    return pair


def _checked_key(session: Any, key: Any) -> Any:
    check_key(session, key)
    return key


def _checked_item(session: Any, item: Any) -> Any:
    if is_decimal(item):
        raise Uncapturable("an iterator of decimal numbers, which native code computes with")
    check_operand(session, item)
    return item
