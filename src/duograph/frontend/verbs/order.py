"""``sorted``, ``max``, ``min`` and methods of lists, of values that the user compares, or a run does."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from duograph.ops.scalar import Scalar

from ..control.paths import Outcome
from ..rules.errors import INTERNAL, Uncapturable
from .callbacks import key_function
from .operands import check_operand
from .semantics import has_generated
from .special_methods import user_method

MAX_ORDERED = {sorted: 4, max: 6, min: 6}
"""Of so many numbers that are only known at run time the order is found out: each comparison doubles the paths."""


class Ordered:
    """Stands for a value that is compared as the program compares it."""

    __slots__ = ("calls", "value")

    def __init__(self, calls: Any, value: Any) -> None:
        self.calls, self.value = calls, value

    def __lt__(self, other: Ordered) -> bool:
        return self._is(operator.lt, other)

    def __gt__(self, other: Ordered) -> bool:
        return self._is(operator.gt, other)

    def _is(self, op: Any, other: Ordered) -> bool:
        semantics = self.calls.semantics
        return bool(semantics.as_bool(semantics.compare(op, self.value, other.value)))


def _says_order(value: Any) -> bool:
    """Whether the user, or the fields of a dataclass, say which of such values is less, or a run does."""
    kind = type(value)
    if kind is Scalar:
        return True
    return any(user_method(value, n) is not None or has_generated(kind, n) for n in ("__lt__", "__gt__"))


def keys_of(calls: Any, items: Sequence[Any], key: Any) -> list[Any]:
    """What ``key`` gives for each item."""
    made = key_function(calls, key)
    return list(items) if made is None else [made(v) for v in items]


def in_order(calls: Any, plain: Callable[..., Any], items: Sequence[Any], keys: list[Any], **kwargs: Any) -> Any:
    """``plain``, which is ``sorted``, ``max`` or ``min``, of ``items``, of which ``keys`` say the order."""
    if not items:
        return plain(items, **kwargs)
    if not any(map(_says_order, keys)):
        check_operand(calls.session, keys)
        return _taken(items, plain(range(len(items)), key=keys.__getitem__, **kwargs))
    ordered = [Ordered(calls, k) for k in keys]

    def found() -> Any:
        return _taken(items, plain(range(len(items)), key=ordered.__getitem__, **kwargs))

    if not any(type(k) is Scalar for k in keys):
        return found()
    if len(keys) > MAX_ORDERED[plain]:
        raise Uncapturable(f"the order of {len(keys)} numbers that are only known at run time")
    return calls.session.regions.run(lambda: Outcome("value", found())).value


def _taken(items: Sequence[Any], at: Any) -> Any:
    return [items[i] for i in at] if isinstance(at, list) else items[at]


def sort_list(calls: Any, values: list[Any], key: Any, reverse: Any) -> None:
    """``values.sort(key=key, reverse=reverse)``, which is empty as long as that takes."""
    items = list(values)
    list.clear(values)
    try:
        keys = keys_of(calls, items, key)
        try:
            items = in_order(calls, sorted, items, keys, reverse=reverse)
        except INTERNAL:
            raise
        except Exception as exc:
            raise Uncapturable("a list that is left half sorted") from exc
        if values:
            raise Uncapturable("a list that is changed while it is sorted")
    finally:
        list.__setitem__(values, slice(None), items)


def find(calls: Any, name: str, values: Any, wanted: Any) -> Any:
    """``values.index(wanted)``, or ``count`` or ``remove``, of a list or tuple: compared as the program does."""
    semantics, at = calls.semantics, 0
    found: list[int] = []
    calls.session.note_identity((*values, wanted), 1)
    while at < len(values) and (name == "count" or not found):
        if values[at] is wanted or semantics.as_bool(semantics.compare(operator.eq, values[at], wanted)):
            found.append(at)
        at += 1
    if name == "count":
        return len(found)
    if not found:
        raise Uncapturable(f"the {name} of what is not in a {type(values).__name__}")
    if name == "index":
        return found[0]
    return semantics.delitem(values, found[0])
