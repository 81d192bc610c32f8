"""Memory that tensors and NumPy arrays share although nothing says so: `Tensor.from_numpy` of one array, or of parts of
it. A program that writes to one of them in place would not see that in the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np


def overlap(shown: Sequence[tuple[Any, Any]], written: Collection[Any]) -> bool:
    """Whether memory that is written is part of what something else shows.

    Args:
        shown: arrays, each with the mark of its storage; ``None``: it is no tensor's.
        written: the marks of storages that are written.
    """
    seen: dict[int, Any] = {}
    others = []  # what does not own its memory, or is there twice; the rest cannot overlap
    for array, mark in shown:
        if not array.flags.owndata or seen.setdefault(id(array), mark) != mark or mark is None:
            others.append((array, mark))
    return any(
        mark != other and (mark in written or other in written) and np.may_share_memory(one, array)
        for one, mark in others
        for array, other in shown
    )
