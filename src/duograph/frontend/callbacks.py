"""What native code is handed that it may call, or take one by one: the user's code in it is interpreted, or refused."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import itertools
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .attributes import user_method
from .errors import Uncapturable
from .opaque import is_iterator
from .operands import check_key, check_operand, only_moves
from .policy import is_interpreted, is_user_class, module_kind

if TYPE_CHECKING:
    from .calls import Calls


class Callback:
    """Code of the user handed to native code; calling it interprets it.

    ``judged``: the caller compares, hashes or adds up what it gives, or asks for its truth.
    """

    __slots__ = ("__dict__", "_calls", "_fn", "_judged")

    def __init__(self, calls: Calls, fn: Any, judged: bool = False) -> None:
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

    def make_python_object(self, collector: Any) -> Any:
        return collector.recipe(self._fn)


_KEY_WRAPPER = type(functools.cmp_to_key(lambda a, b: 0))
_GETTERS = (functools.partial, operator.attrgetter, operator.itemgetter, operator.methodcaller)
_JUDGES = frozenset({
    *(itertools.groupby, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, functools.cmp_to_key),
    *(heapq.nlargest, heapq.nsmallest, heapq.merge),
    *(bisect.bisect, bisect.bisect_left, bisect.bisect_right, bisect.insort, bisect.insort_left, bisect.insort_right),
})  # fmt: skip
"""Functions that look into what the function gives that they are handed."""
_CALLERS = ("itertools", "functools", "_functools", "re", "collections", "dataclasses", "json")
_CALL_CLASSES = ("itertools", "re", "collections", "dataclasses")


def key_function(calls: Calls, fn: Any) -> Any:
    """The ``key`` of ``sorted`` and the like."""
    if _is_key_wrapper(calls, fn) or not callable(fn):
        return fn
    return Callback(calls, fn, judged=True)


def handed(calls: Calls, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict]:
    """The arguments as native code ``fn`` may have them."""
    check = _check_of_items(calls, fn, args, kwargs)
    if check is not None:
        args = tuple(map(check, a) if is_iterator(a) else a for a in args)
    if only_moves(fn):
        return args, kwargs
    judges = _is_judge(fn)
    return tuple(_handed(calls, fn, v, judges) for v in args), {
        k: _handed(calls, fn, v, judges) for k, v in kwargs.items()
    }


def _is_judge(fn: Any) -> bool:
    if isinstance(getattr(fn, "__self__", None), list):
        return fn.__name__ == "sort"
    return isinstance(fn, type | types.FunctionType | types.BuiltinFunctionType) and fn in _JUDGES


def _handed(calls: Calls, fn: Any, value: Any, judges: bool) -> Any:
    if not callable(value) or isinstance(value, Callback) or _is_key_wrapper(calls, value):
        return value
    if judges or is_interpreted(value) or (isinstance(value, types.MethodType) and is_interpreted(value.__func__)):
        return Callback(calls, value, judges)
    if isinstance(value, type):
        return _handed_class(calls, fn, value)
    if not _calls_objects(fn) or hasattr(value, "construct"):
        return value
    called = isinstance(value, _GETTERS) or user_method(value, "__call__") is not None
    return Callback(calls, value) if called else value


def _calls_objects(fn: Any) -> bool:
    """Whether ``fn`` takes objects that can be called to call them; others may ask them for more (``hash``)."""
    module = getattr(fn, "__module__", None) or type(getattr(fn, "__self__", None)).__module__
    return module in _CALLERS or module_kind(module) == "framework"


def _handed_class(calls: Calls, fn: Any, cls: type) -> Any:
    module = getattr(fn, "__module__", None)
    if module == "json" and is_user_class(cls):
        raise Uncapturable(f"{fn.__name__} with class {cls.__qualname__}, which it would make an object of")
    called = module in _CALL_CLASSES and getattr(fn, "__name__", "") not in ("fields", "is_dataclass")
    return Callback(calls, cls) if called and is_user_class(cls) else cls


def _is_key_wrapper(calls: Calls, value: Any) -> bool:
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
    calls: Calls, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[Any], Any] | None:
    """What is asked of each item of an iterator that ``fn`` takes them from; None if it does not look at them."""
    if not any(map(is_iterator, args)):
        return None
    session, name = calls.session, getattr(fn, "__name__", "")
    owner = getattr(fn, "__self__", None)
    kind = fn if isinstance(fn, type) else owner if isinstance(owner, type) else type(owner)
    if issubclass(kind, dict | set | frozenset) and (fn is kind or name in _TAKE_KEYS):
        pairs = issubclass(kind, dict) and not issubclass(kind, collections.Counter) and name != "fromkeys"
        return functools.partial(_checked_pair if pairs else _checked_key, session)
    if any(map(callable, (*args, *kwargs.values()))):  # that looks at them
        return None
    if getattr(fn, "__module__", None) in _LOOKS_AT_ITEMS or (isinstance(fn, type) and fn in _LOOKING):
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
    check_operand(session, item)
    return item
