"""When a key of a dictionary, or an element of a set, is the one that capture saw.

``==`` does not tell: ``1``, ``1.0`` and ``True`` are one key, and so are ``0.0`` and ``-0.0``, but a program that
lists the keys gives the object that is there. So numbers and strings are told apart by class and bits, all others by
identity.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from duograph.core.op import value_key

_BY_VALUE = (int, str, float, bool, complex, bytes, type(None))

_VALUES = {
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "uuid": ("UUID",),
    "pathlib": tuple(f"{pure}{kind}Path" for pure in ("", "Pure") for kind in ("Posix", "Windows")),
}
"""Classes of the library whose objects never change, and that one makes anew where one needs them."""

_MODULES = {name: module for module, names in _VALUES.items() for name in names}

_name_of = type.__dict__["__name__"].__get__  # past the attributes of metaclasses


def value_text(value: Any) -> str | None:
    """What two objects of one of `_VALUES` have in common if only ``is`` tells them apart; ``None`` for all else."""
    kind = type(value)
    module = _MODULES.get(_name_of(kind))
    if module is None or getattr(sys.modules.get(module), _name_of(kind), None) is not kind:
        return None
    if getattr(value, "tzinfo", None) is not None or getattr(value, "is_nan", bool)():
        return None
    if getattr(getattr(value, "is_safe", None), "value", None) is not None:  # a UUID that says more than its number
        return None
    if any(isinstance(v, str) and type(v) is not str for v in getattr(value, "__getinitargs__", tuple)()):
        return None  # the name of a zone, which may write whatever it likes
    try:
        return repr(value)
    except ValueError:  # a number of more digits than Python writes
        return None


def is_same_key(key: Any, expected: Any) -> bool:
    """Whether no program can tell the two keys apart (but by ``is``, which is refused of equal constants)."""
    if key is expected:
        return True
    kind = type(key)
    if kind is not type(expected):
        return False
    if kind is tuple:
        return len(key) == len(expected) and all(map(is_same_key, key, expected))
    return kind in _BY_VALUE and key == expected and value_key(key) == value_key(expected)


def are_same_keys(keys: Iterable[Any], expected: Iterable[Any]) -> bool:
    """Whether a dictionary, or a set, gives these keys in this order."""
    found, wanted = list(keys), list(expected)
    return len(found) == len(wanted) and all(map(is_same_key, found, wanted))


def are_same_elements(values: set[Any], expected: set[Any]) -> bool:
    """Whether two sets have these elements, in whatever order."""
    wanted = {v: v for v in expected}
    return len(values) == len(wanted) and all(v in wanted and is_same_key(v, wanted[v]) for v in values)


def is_made_again(value: Any) -> bool:
    """Whether the elements of a set, put into a new one in their order, come out in this order, in a table of the same
    size: where hashes collide, order and table of a set are its history."""
    plain: Any = frozenset if isinstance(value, frozenset) else set
    again = plain(list(plain.__iter__(value)))
    same = all(a is b for a, b in zip(plain.__iter__(value), again, strict=True))
    return bool(same and plain.__sizeof__(value) == again.__sizeof__())


def may_be_one_object(a: Any, b: Any) -> bool:
    """Whether two constants are equal, so that whether they are one object is an accident that no guard tells.

    Equal small integers are one object, and so are empty tuples and strings. A NaN is guarded by identity.
    """
    kind = type(a)
    if kind is not type(b) or kind not in (int, str, float, complex, bytes, tuple, range, slice):
        return False
    if (kind is int and -5 <= a <= 256) or (kind in (str, bytes, tuple) and not a):
        return False
    if kind is tuple and not all(type(v) in (tuple, *_BY_VALUE) for v in (*a, *b)):
        return False
    return bool(a == b)
