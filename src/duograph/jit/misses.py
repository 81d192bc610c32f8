"""Versions that do not fit a call only because of sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from duograph.frontend.guards.guard import Guard
from duograph.frontend.sources import Source
from duograph.tensor.tensor import Tensor

from .entry import Entry
from .sizes import tensor_at

MOST_LOOKED_AT = 16
"""Versions, the most recent first, that are compared with a call."""


class Miss:
    """A version that does not fit a call only because of sizes, and of numbers.

    Attributes:
        entry: the version.
        tensors: guards of tensors that fail; none, if sizes do not fulfil what was assumed of them.
        numbers: sources of numbers that differ.
    """

    def __init__(self, entry: Entry, tensors: Sequence[Guard], numbers: Sequence[Source]) -> None:
        self.entry, self.tensors, self.numbers = entry, tensors, numbers


def near_misses(entries: Iterable[Entry], names: tuple[str, ...], values: Sequence[Any]) -> list[Miss]:
    """The versions, of the most recent ones, that ``values`` miss because of sizes."""
    found = []
    for entry in list(entries)[:MOST_LOOKED_AT]:
        failing = entry.misses(values) if entry.names == names else None
        if failing is None:
            continue
        tensors = [g for g in failing if _differs_in_sizes(g, values)]
        numbers = [g.source for g in failing if g.check == "equal" and type(g.expected) in (int, float)]
        if len(tensors) + len(numbers) == len(failing) and (tensors or not failing):
            found.append(Miss(entry, tensors, numbers))
    return found


def _differs_in_sizes(guard: Guard, values: Sequence[Any]) -> bool:
    if guard.check not in ("tensor", "pattern"):
        return False
    value = tensor_at(guard.source, values)
    kind, dtype, shape = guard.expected[:3]
    if value is None or kind is not Tensor:
        return False
    data = value._data
    return data.dtype == dtype and len(data.shape) == len(shape) and bool(data.flags.c_contiguous)
