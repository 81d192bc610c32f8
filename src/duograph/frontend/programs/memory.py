"""Memory that tensors and NumPy arrays share although nothing says so: `Tensor.from_numpy` of one array, or of parts of
it. A program that writes to one of them in place would not see that in the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from numpy.lib.array_utils import byte_bounds


def overlap(shown: Sequence[tuple[Any, Any]], written: Collection[Any]) -> bool:
    """Whether memory that is written is part of what something else shows.

    Args:
        shown: arrays, each with the mark of its storage; ``None``: it is not a tensor's.
        written: the marks of storages that are written.
    """
    bounds = sorted([(*byte_bounds(array), i) for i, (array, _) in enumerate(shown) if array.size])
    before: list[tuple[int, Any]] = []  # those that reach beyond the present one's beginning: where they end
    for low, high, i in bounds:
        mark = shown[i][1]
        before = [one for one in before if one[0] > low]
        if any(mark != other and (mark in written or other in written) for _, other in before):
            return True
        before.append((high, mark))
    return False
