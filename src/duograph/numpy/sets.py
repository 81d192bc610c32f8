"""Functions of ``numpy`` on the elements of tensors as sets, and on their neighbours: `in1d`, `ediff1d` and others."""

from __future__ import annotations

from typing import Any

from duograph.api.functional import creation, joining
from duograph.api.functional.sorting import sort, unique_consecutive
from duograph.api.promote import to_dtype
from duograph.core import dtype as dt
from duograph.ops import movement
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor


def _flat(a: Any) -> Any:
    t = as_tensor(a)
    return movement.reshape(t, shape=(t.size,))


def in1d(ar1: Any, ar2: Any, invert: bool = False) -> Tensor:
    """Which elements of ``ar1`` are among those of ``ar2``, or are not.

    Args:
        ar1 (Union[Tensor, list, tuple]): elements that are looked for.
        ar2 (Union[Tensor, list, tuple]): elements among which.
        invert (bool): whether those that are not found are meant.

    Returns:
        Tensor of bool, with one axis.

    Examples:
        >>> print(mnp.in1d([1, 2, 3], [3, 1]), mnp.in1d([1, 2, 3], [3, 1], invert=True))
        [ True False  True] [False  True False]
    """
    a, b = _flat(ar1), _flat(ar2)
    found: Any = (a.reshape(-1, 1) == b.reshape(1, -1)).any(axis=1)
    return ~found if invert else found  # type: ignore[no-any-return]


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements that are in both, ascending; and where they are first, in each, if it is asked for.

    Args:
        ar1 (Union[Tensor, list, tuple]): the first set.
        ar2 (Union[Tensor, list, tuple]): the second set.
        assume_unique (bool): whether no element occurs twice in one of them.
        return_indices (bool): whether places are returned as well.

    Returns:
        Tensor; with ``return_indices`` a tuple of three.

    Examples:
        >>> print(mnp.intersect1d([3, 1, 2, 1], [1, 5, 3]))
        [1 3]
    """
    a, b = _flat(ar1), _flat(ar2)
    out: Any = a[in1d(a, b)]
    out = sort(out)[0] if assume_unique else _unique(out)
    if not return_indices:
        return out
    return out, _first(a, out), _first(b, out)


def _unique(t: Any) -> Any:
    """The different elements, ascending."""
    return unique_consecutive(sort(t)[0])


def _first(a: Any, values: Any) -> Any:
    """Where each of ``values``, which are all in ``a``, is first in it."""
    if not a.size:
        return creation.zeros((0,), dt.int32)
    return to_dtype((values.reshape(-1, 1) == a.reshape(1, -1)).int().argmax(axis=1), dt.int32)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The elements of ``ar1`` that are not in ``ar2``: ascending and each once, or as they stand if they are unique.

    Args:
        ar1 (Union[Tensor, list, tuple]): the first set.
        ar2 (Union[Tensor, list, tuple]): the second set.
        assume_unique (bool): whether no element occurs twice in one of them.

    Returns:
        Tensor, with one axis.

    Examples:
        >>> print(mnp.setdiff1d([3, 1, 2, 1], [1, 5]))
        [2 3]
    """
    a: Any = _flat(ar1)
    left = a if assume_unique else _unique(a)
    out: Tensor = left[in1d(left, ar2, invert=True)]
    return out


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """The differences of neighbours of the flattened tensor, between ``to_begin`` and ``to_end``.

    Args:
        ary (Union[Tensor, list, tuple]): the elements.
        to_end (Union[Tensor, list, number]): what is put behind the differences.
        to_begin (Union[Tensor, list, number]): what is put before them.

    Returns:
        Tensor, with one axis.

    Examples:
        >>> print(mnp.ediff1d([1, 4, 9], to_begin=0))
        [0 3 5]
    """
    t = _flat(ary)
    parts: list[Any] = [t[1:] - t[:-1]]
    if to_begin is not None:
        parts.insert(0, to_dtype(_flat(to_begin), t.dtype))
    if to_end is not None:
        parts.append(to_dtype(_flat(to_end), t.dtype))
    return parts[0] if len(parts) == 1 else joining.concat(parts)  # type: ignore[no-any-return]


FUNCTIONS = {f.__name__: f for f in (in1d, intersect1d, setdiff1d, ediff1d)}
