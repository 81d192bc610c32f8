"""Which sizes of tensors vary from call to call, as far as the versions of one owner have seen.

The first call of a kind is captured with the sizes it has. When a call misses only because sizes differ, those vary
from now on: the next version has a symbol for each, and serves what is still to come. Sizes that have been the same
number in all these calls get one symbol (batches of inputs and of labels), until a call tells them apart. A symbol is
at least 1: what reduces, divides and indexes need not ask whether there is anything. Calls without elements get
versions of their own.

Capture for symbols may be refused, or give more steps in Python than the version for one size has. Then these sizes
stay as they are, a version for each, and the reason is kept (`Explanation.static_sizes`).
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.core.dim import Symbol
from duograph.frontend.guards.guard import UNREADABLE, Guard
from duograph.frontend.rules import sources
from duograph.frontend.rules.facts import lookup, may_vary
from duograph.frontend.rules.sources import Source
from duograph.tensor.tensor import Tensor

from .policy import MOST_REFUSED
from .signature import Pattern

Dimension = tuple[Source, int, int]
"""A source of tensors, their rank, and an axis."""

LEAST = 1
"""The least size that a symbol stands for."""


class VaryingSizes:
    """What is known of the sizes that vary.

    Attributes:
        refused: sets of dimensions that stay static when they vary together, and why.
    """

    def __init__(self) -> None:
        self._seen: dict[Dimension, list[int]] = {}  # of all that vary: their sizes in the calls that were noted
        self.refused: dict[frozenset[Dimension], str] = {}

    def note(self, near: Sequence[Guard], values: Sequence[Any]) -> None:
        """A call with ``values`` misses a version by these guards of tensors."""
        found: dict[Dimension, tuple[int, int]] = {}  # what the version was made for, and what there is now
        for guard in near:
            value = guard.source.load(values)
            shape = value._data.shape
            for axis, (want, now) in enumerate(zip(guard.expected[2], shape, strict=True)):
                if want is not None and want != now:
                    found[guard.source, len(shape), axis] = (want, now)
        count = max(map(len, self._seen.values()), default=1)
        for dimension, sizes in self._seen.items():
            now = _size(dimension, values)
            sizes.append(found[dimension][1] if dimension in found else sizes[-1] if now is None else now)
        for dimension, (want, now) in found.items():
            self._seen.setdefault(dimension, [want] * count + [now])

    def patterns(self, values: Sequence[Any], declared: Mapping[Source, Pattern]) -> dict[Source, Pattern]:
        """The shapes of the tensors in this call whose sizes vary, symbols standing for these.

        Args:
            values: the arguments.
            declared: shapes that somebody has said, ``None`` for what varies.
        """
        symbols: dict[Any, Symbol] = {}
        made: dict[Source, list[Any]] = {}
        dimensions = {dimension: tuple(sizes) for dimension, sizes in self._seen.items()}
        for source, pattern in declared.items():
            if (value := tensor_at(source, values)) is not None and may_vary(value, pattern):
                for axis, extent in enumerate(pattern):
                    if extent is None:
                        dimensions.setdefault((source, len(pattern), axis), (-1 - len(dimensions),))  # like no other
        for (source, rank, axis), sizes in dimensions.items():
            value = tensor_at(source, values)
            if value is None or len(value._data.shape) != rank or value._data.shape[axis] < LEAST:
                continue
            shape = made.setdefault(source, list(value._data.shape))
            shape[axis] = symbols.setdefault(sizes, Symbol(f"size{len(symbols)}", LEAST))
        found = {source: tuple(shape) for source, shape in made.items() if may_vary(source.load(values), tuple(shape))}
        if len(self.refused) >= MOST_REFUSED:
            return {}
        varying = _open(found)
        static = {d for known in self.refused if known <= varying for d in known}
        return with_sizes({found[source][axis] for source, _, axis in static}, found, values)

    def refuse(self, patterns: dict[Source, Pattern], reason: str, kept: Mapping[Source, Pattern] = {}) -> None:
        """Keeps the sizes that vary in these patterns, and not in those that are kept, static from now on."""
        dimensions = _open(patterns) - _open(kept)
        if dimensions:
            self.refused[dimensions] = reason

    def reasons(self) -> list[str]:
        """Which sizes stay static, and why."""
        return [f"{', '.join(sorted(map(_text, dims)))}: {reason}" for dims, reason in self.refused.items()]


def with_sizes(symbols: Set[Any], patterns: Mapping[Source, Pattern], values: Sequence[Any]) -> dict[Source, Pattern]:
    """The patterns with what there is in this call in the place of some symbols."""
    found = {}
    for source, shape in patterns.items():
        value = tensor_at(source, values) if not symbols.isdisjoint(shape) else None
        if value is not None:
            shape = tuple(n if s in symbols else s for s, n in zip(shape, value._data.shape, strict=True))
        if any(isinstance(extent, Symbol) for extent in shape):
            found[source] = shape
    return found


def symbols_of(patterns: Mapping[Source, Pattern]) -> set[Any]:
    """The symbols in patterns."""
    return {patterns[source][axis] for source, _, axis in _open(patterns)}


def sizes_of_ints(found_at: Iterable[Source], values: Sequence[Any]) -> dict[Source, Pattern]:
    """Patterns in which ints stand as sizes, symbols for them: for slices, extents and ranges that they say."""
    extents = [sources.extent(source) for source in sorted(found_at, key=str) if _int_at(source, values) >= LEAST]
    return {extent: (Symbol(f"int{i}", LEAST),) for i, extent in enumerate(extents)}


def _int_at(source: Source, values: Sequence[Any]) -> int:
    """The int that is found there without running code of the user's; -1 if there is none."""
    try:
        found = _found_at(source, values)
    except UNREADABLE:
        return -1
    return found if type(found) is int and found <= sources.MOST_ELEMENTS else -1


def _found_at(source: Source, values: Sequence[Any]) -> Any:
    if source.kind not in ("attr", "item"):
        return source.load(values) if source.kind in ("arg", "pinned", "global", "cell") else None
    holder = _found_at(source.base, values)
    if source.kind == "item":
        return holder[source.key] if type(holder) in (list, tuple, dict) else None
    if type(holder) is types.ModuleType or not hasattr(lookup(type(holder), source.key), "__get__"):
        return raw_getattr(holder, "__dict__", {}).get(source.key)
    return None


def _open(patterns: Mapping[Source, Pattern]) -> frozenset[Dimension]:
    return frozenset(
        (source, len(shape), axis)
        for source, shape in patterns.items()
        for axis, extent in enumerate(shape)
        if isinstance(extent, Symbol)
    )


def _text(dimension: Dimension) -> str:
    return f"{dimension[0]}.shape[{dimension[2]}]"


def tensor_at(source: Source, values: Sequence[Any]) -> Tensor | None:
    """The tensor that is found there now, if it is one."""
    try:
        value = source.load(values)
    except UNREADABLE:
        return None
    return value if type(value) is Tensor and not value.is_symbolic else None


def _size(dimension: Dimension, values: Sequence[Any]) -> int | None:
    source, rank, axis = dimension
    value = tensor_at(source, values)
    return value._data.shape[axis] if value is not None and len(value._data.shape) == rank else None
