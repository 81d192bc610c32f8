"""What a number that is only known at run time chooses of what is known: an item, a part of a list, a key, a place.

A choice between few is a decision for each of them (`Regions.decide`), whose paths join where what is chosen has one
type. Whether a number is among others is a number itself, and takes no decision.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

from duograph.base.lookup import raw_hasattr
from duograph.ops.scalar import Scalar, as_scalar, is_number
from duograph.tensor.tensor import Tensor

from ..control.paths import Outcome
from ..rules.errors import Uncapturable
from ..rules.facts import MISSING
from ..values.text import contains_symbolic

if TYPE_CHECKING:
    from .semantics import Semantics

MAX_CHOICES = 32
"""What is only known at run time becomes a choice between so many at most."""
MANY_PLACES = 512
"""This many places are chosen on several paths, by all attempts of a capture."""
_ITEMS = (bool, int, str, type(None))
MAX_PARTS = 4
"""Of so many items a part is chosen, and the code after that captured for each, where there may be a break instead."""


def item_at(semantics: Semantics, obj: Any, key: Any, default: Any = MISSING) -> Any:
    """``obj[key]`` of a list or the like, or of a dictionary whose keys are integers; it may have a default."""
    find = of_key if isinstance(obj, dict) else position

    def chosen() -> Any:
        try:
            return obj[find(semantics, obj, key)]
        except KeyError:
            if default is MISSING:
                raise
            return default

    return semantics.session.regions.run(lambda: Outcome("value", chosen())).value


def position(semantics: Semantics, obj: Any, key: Any) -> int:
    """The index ``key``: a number on each path."""
    if not is_index(key):
        raise Uncapturable(f"an index of a {type(obj).__name__} that is not an integer")
    n, known = len(obj), semantics.known(key)
    if type(known) is int:
        return known
    _check_few(obj, "an index", n)
    _check_paths(semantics.session, obj)
    wanted = as_scalar(key, "int")
    wanted = wanted + (wanted < 0) * n
    for i in range(n):
        if semantics.as_bool(wanted == i):
            return i
    raise IndexError(f"{'string' if isinstance(obj, str) else type(obj).__name__} index out of range")


def _check_paths(session: Any, obj: Any) -> None:
    """Refuses a choice where such choices multiply the paths: there have been many more than the path has operations,
    of which each takes some."""
    session.log.places_chosen += 1
    if session.log.places_chosen > MANY_PLACES + session.builder.next_tag:
        raise Uncapturable(f"an index of a {type(obj).__name__} that is only known at run time, on many paths")


def of_key(semantics: Semantics, obj: dict[Any, Any], key: Any) -> int:
    """The key of a dictionary that is equal to the integer ``key``, on each path."""
    known = semantics.known(key)
    if type(known) is int:
        return known
    if type(obj) is not dict or key.kind != "int" or not all(type(k) is int for k in obj):
        raise Uncapturable(f"a key of a {type(obj).__name__} that is only known at run time")
    _check_few(obj, "a key", len(obj))
    for k in obj:
        if semantics.as_bool(key == k):
            return k
    raise KeyError(key)


def part(semantics: Semantics, obj: Any, bounds: slice) -> Any:
    """``obj[start:stop]`` of a list, tuple or text."""
    if type(obj) not in (list, tuple, str) or bounds.step not in (None, 1):
        raise Uncapturable(f"a slice of a {type(obj).__name__} with bounds that are only known at run time")
    if len(obj) > MAX_PARTS:  # parts of different lengths do not join
        semantics.session.prefer_break(f"a slice of a {type(obj).__name__} with bounds that are only known at run time")

    def chosen() -> Any:
        ends = [_end(semantics, obj, semantics.known(b)) for b in (bounds.start, bounds.stop)]
        return obj[slice(*ends)]

    return semantics.session.regions.run(lambda: Outcome("value", semantics._fresh(chosen()))).value


def _end(semantics: Semantics, obj: Any, bound: Any) -> Any:
    if not isinstance(bound, Tensor | Scalar):
        return bound
    if not is_index(bound):
        raise Uncapturable(f"a bound of a slice of a {type(obj).__name__} that is not an integer")
    n = len(obj)
    _check_few(obj, "a bound", n)
    wanted = as_scalar(bound, "int")
    wanted = wanted + (wanted < 0) * n
    for i in range(n):
        if semantics.as_bool(wanted <= i):
            return i
    return n


def _check_few(obj: Any, what: str, n: int) -> None:
    if n > MAX_CHOICES:
        raise Uncapturable(f"{what} of a {type(obj).__name__} of {n} items that is only known at run time")


def is_among(container: Any, value: Any) -> Any:
    """``value in container`` of numbers, as a number; ``None``: it is another question."""
    kind = type(container)
    if kind is range and isinstance(value, Scalar) and value.kind == "int" and container.step == 1:
        return (value >= container.start) & (value < container.stop)  # type: ignore[operator]
    if kind not in (list, tuple, set, frozenset, dict) or not is_number(value):
        return None
    if not isinstance(value, Scalar) and not any(isinstance(v, Scalar) for v in container):
        return None
    others = [v for v in container if not isinstance(v, str | None)]
    if not all(map(is_number, others)) or any(v is value for v in others):
        return None
    return functools.reduce(operator.or_, [v == value for v in others], False)


def are_equal(a: Any, b: Any) -> Any:
    """``a == b`` of lists or tuples of which some integers are only known at run time (the shape of a tensor), as a
    number; ``None``: it is another question."""
    if type(a) is not type(b) or not contains_symbolic((a, b)):
        return None
    return _same_items(a, b)


def _same_items(a: Any, b: Any) -> Any:
    if type(a) in (list, tuple) and type(a) is type(b):
        found = [_same_items(x, y) for x, y in zip(a, b)]
        if any(same is None for same in found):
            return None
        differs = len(a) != len(b) or any(same is False for same in found)
        return not differs and functools.reduce(operator.and_, found, True)
    if not all(type(v) in _ITEMS or (type(v) is Scalar and v.kind != "float") for v in (a, b)):
        return None  # a float may be NaN, which is equal here if it is the same object
    return is_number(a) is is_number(b) and a == b


def is_index(value: Any) -> bool:
    """Whether a value that may only be known at run time is an integer, as far as ``operator.index`` is asked."""
    if isinstance(value, Tensor):
        return (value.dtype.is_integer or value.dtype.is_bool) and static_size(value) in (1, None)
    return value.kind in ("int", "bool") if isinstance(value, Scalar) else isinstance(value, int)


def is_sequence(obj: Any) -> bool:
    """Whether ``obj`` is indexed by numbers and knows how many items it has."""
    if isinstance(obj, list | tuple | str | range):
        return True
    return raw_hasattr(obj, "construct") and hasattr(type(obj), "_position")  # CellList, SequentialCell


def static_size(t: Tensor) -> int | None:
    """The number of elements, if it is known."""
    size = 1
    for d in t.shape:
        if not isinstance(d, int):
            return None
        size *= d
    return size
