"""Versions that do not fit a call only because of sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from duograph.frontend.guards.guard import Guard
from duograph.frontend.rules import sources
from duograph.frontend.rules.sources import Source
from duograph.frontend.values.shadows import may_be_input
from duograph.tensor.tensor import Tensor

from .entries import Entries
from .entry import Entry
from .policy import FREE_UNUSED, MOST_LOOKED_AT
from .sizes import tensor_at
from .telling import advise, tell_recompiled

OTHER_RUN = "no run that was recorded decides like this one"
RENEWED = "no guard failed, but a stricter native check did: the version was rebuilt"


class Miss:
    """A version that does not fit a call only because of sizes, and of numbers.

    Attributes:
        entry: the version.
        tensors: guards of tensors that fail; none, if sizes do not fulfil what was assumed of them.
        numbers: guards of numbers and texts that differ.
    """

    def __init__(self, entry: Entry, tensors: Sequence[Guard], numbers: Sequence[Guard]) -> None:
        self.entry, self.tensors, self.numbers = entry, tensors, numbers


def renewed(store: Entries, names: tuple[str, ...], values: Sequence[Any]) -> Entry | None:
    """A version, of the most recent ones, that is valid for ``values`` as soon as its checks are made anew."""
    found = next((e for e in store.compiled[:MOST_LOOKED_AT] if e.names == names and e.renew(values)), None)
    if found is not None:
        store.recompiles.append(RENEWED)
    return found


def near_misses(entries: Iterable[Entry], names: tuple[str, ...], values: Sequence[Any]) -> list[Miss]:
    """The versions, of the most recent ones, that ``values`` miss because of sizes."""
    found = []
    for entry in list(entries)[:MOST_LOOKED_AT]:
        if entry.names != names:
            continue
        failing = entry.misses(values)
        if failing is None and not (failing := entry.misses_of_others(values)):
            continue
        tensors = [g for g in failing if _differs_in_sizes(g, values)]
        numbers = [g for g in failing if g.check == "equal" and may_be_input(g.expected)]
        if len(tensors) + len(numbers) == len(failing) and (tensors or not failing):
            found.append(Miss(entry, tensors, numbers))
    return found


def _may_vary(guard: Guard, values: Sequence[Any]) -> bool:
    return may_be_input(guard.expected) if guard.check == "equal" else _differs_in_sizes(guard, values)


def _differs_in_sizes(guard: Guard, values: Sequence[Any]) -> bool:
    if guard.check not in ("tensor", "pattern"):
        return False
    value = tensor_at(guard.source, values)
    kind, dtype, shape, contiguous = guard.expected[:4]
    if value is None or kind is not Tensor:
        return False
    data = value._data
    return data.dtype == dtype and len(data.shape) == len(shape) and bool(data.flags.c_contiguous) == contiguous


def note_misses(
    function: Any,
    store: Entries,
    names: tuple[str, ...],
    values: Sequence[Any],
    near: Sequence[Miss],
    left: Entry | None = None,
) -> set[Source]:
    """Records why existing versions do not fit; gives the numbers that have varied, which become inputs.

    Args:
        function: whose versions.
        store: where they are.
        names: of the parameters that are given.
        values: what they get.
        near: the versions that do not fit because of sizes only.
        left: the version that fits, but for what this call decides.
    """
    if left is not None:
        store.recompiles.append(OTHER_RUN)
        tell_recompiled(function, OTHER_RUN)
    general = [e for e in store.compiled[1:2] if e.patterns]  # see `put_first`
    for entry in (general or store.compiled[:1]) if left is None else ():
        guard, reason = None, f"other arguments were given: {', '.join(entry.names)}"
        if entry.names == names:
            guard, reason = entry.miss(values)
            reason = reason or "what was assumed holds again"  # another thread has changed something
        store.recompiles.append(reason)
        tell_recompiled(function, reason)
        others = entry.misses_of_others(values) if guard is not None and guard.check == "is" else []
        others = others if all(_may_vary(other, values) for other in others) else []
        for other in others:
            if other.check == "equal":
                _note_number(store, other)
        if guard is not None and not others and guard.check not in ("tensor", "pattern"):
            store.attempts.note_missed(_whole(guard.source), entry.hits)
        if guard is not None and guard.check == "equal" and may_be_input(guard.expected):
            for other in entry.misses(values) or [guard]:
                if other.check == "equal" and may_be_input(other.expected):
                    _note_number(store, other)
        elif guard is not None and guard.check == "items":
            _note_items(store, guard, values)
        elif guard is not None:  # kinds of calls in turn: the version of this kind may be another one
            further = (_other_numbers(e, names, values) for e in store.compiled[1:MOST_LOOKED_AT])
            for number in next(filter(None, further), ()):
                _note_number(store, number)
    if near:
        most_general = max(near, key=lambda miss: len(miss.entry.patterns))
        store.sizes.note(most_general.tensors, values)
        for differing in most_general.numbers:
            _note_number(store, differing)
    if len(store.recompiles) > FREE_UNUSED:
        advise(function, [store])
    return {source for source, count in store.attempts.varying.items() if count >= 1}


def _other_numbers(entry: Entry, names: tuple[str, ...], values: Sequence[Any]) -> list[Guard]:
    """The guards that fail, if ``values`` miss the version because of numbers and texts only."""
    if entry.names != names:
        return []
    failing = entry.misses(values) or entry.misses_of_others(values)
    return failing if all(g.check == "equal" and may_be_input(g.expected) for g in failing) else []


def _note_number(store: Entries, guard: Guard) -> None:
    store.attempts.note_number(guard.source, type(guard.expected))


def _whole(source: Source) -> Source:
    """The list, of an item of one."""
    while source.kind == "item" and type(source.key) is int:
        source = source.base
    return source


def _note_items(store: Entries, guard: Guard, values: Sequence[Any]) -> None:
    """Numbers in a long list that are others now; where most are, the list is another one."""
    found, wanted = guard.source.load(values), guard.wanted
    if type(found) is not list or len(found) != len(wanted):
        return
    places = [i for i, (a, b) in enumerate(zip(found, wanted, strict=True)) if a is not b and a != b]
    if len(places) <= MOST_LOOKED_AT and all(type(wanted[i]) in (int, float) for i in places):
        for i in places:
            store.attempts.note_number(sources.item(guard.source, i), type(wanted[i]))
