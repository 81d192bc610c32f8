"""What grouping node by node leaves apart: groups that can become one afterwards."""

from __future__ import annotations

from collections.abc import Iterator

from duograph.ir.node import Apply, Node
from duograph.lower.cost import MOST_CODE

from .alignment import Alignment, full_alignment, matched
from .groups import (
    MAX_NODES,
    MAX_OPERANDS,
    NORMALISING,
    REDUCING,
    Group,
    Grouping,
    is_constant,
    is_whole,
    same_order,
    spreads,
)


class Merging:
    """Merges groups of a finished `Grouping`: an elementwise group becomes the last pass of a reduction, and reductions
    that read the same tensor read it together."""

    def __init__(self, grouping: Grouping) -> None:
        self.grouping = grouping

    def run(self) -> None:
        for group in self.in_order():
            if group.is_fused and group.axes is None and group.root is None:
                for reduction in self.needed(group):
                    if reduction.space == group.space and self.is_last_pass(reduction, group):
                        self.absorb(reduction, group, reduction.order)
                        break
        alike: dict[object, list[Group]] = {}
        for group in self.in_order():
            if group.axes is not None:
                alike.setdefault((group.space, group.axes), []).append(group)
        for found in alike.values():
            self.all_together(found)

    def all_together(self, found: list[Group]) -> None:
        """Merges what it can of reductions of one shape: tries each with those that follow and read something that it
        reads, too."""
        readers: dict[Node, set[int]] = {node: set() for group in found for node in _read_whole(group)}
        for k, group in enumerate(found):
            for node in group.uses.keys() & readers.keys():
                readers[node].add(k)
        for k, group in enumerate(found):
            last, read, following = k, -1, list[int]()
            while group.nodes:
                if read != len(group.uses):  # it has become part of another one, or another one of it
                    read = len(group.uses)
                    mine = [readers[node] for node in group.uses if node in readers]
                    following = sorted({j for others in mine for j in others if j > last}, reverse=True)
                if not following:
                    break
                last = following.pop()
                if found[last].nodes:
                    uses = {*group.uses, *found[last].uses}
                    self.together(*sorted((group, found[last]), key=lambda g: g.order))
                    for node in uses & readers.keys():
                        readers[node] |= {j for j in (k, last) if node in found[j].uses}

    def in_order(self) -> list[Group]:
        return sorted([g for g in self.grouping.groups if g.nodes], key=lambda g: g.order)

    def needed(self, group: Group) -> list[Group]:
        """The groups that make what ``group`` reads."""
        home = self.grouping.home
        return list(dict.fromkeys(home[n] for n in group.inputs if n in home))

    def users(self, group: Group) -> list[Group]:
        """The groups that read what ``group`` makes."""
        g = self.grouping
        found = [u for n in group.stores for u in (*g.users.get(n, ()), *g.hard.get(n, ()))]
        return [u for u in dict.fromkeys(found) if u is not group]

    def is_last_pass(self, reduction: Group, group: Group) -> bool:
        """Whether an elementwise group can run right after the reductions that it needs, while elements are near."""
        space, axes = reduction.space, reduction.axes
        if axes is None or space is None or not spreads(space, axes) or not self.is_small(reduction, group):
            return False
        before = all(g is reduction or g.order < reduction.order for g in self.needed(group))
        return before and self.grouping.fits_reduction(group, axes) and self.is_aligned(reduction, group)

    def together(self, first: Group, second: Group) -> None:
        """Merges two reductions of one shape, if they read the same and one of them can run when the other does."""
        space, axes = first.space, first.axes
        assert space is not None and axes is not None
        if not any(n in second.uses for n in _read_whole(first)):
            return
        if not self.is_small(first, second) or not same_order(first, *second.nodes):
            return
        apart = first not in self.needed(second) and _is_one_pass(first) and _is_one_pass(second)
        if not spreads(space, axes) and not apart:
            return
        if not self.is_aligned(first, second):
            return
        if all(g is first or g.order < first.order for g in self.needed(second)):
            self.absorb(first, second, first.order)
        elif all(g is second or g.order >= second.order for g in self.users(first)):
            self.absorb(first, second, second.order)

    def is_small(self, a: Group, b: Group) -> bool:
        fits = len(a.nodes) + len(b.nodes) <= MAX_NODES and a.code + b.code <= MOST_CODE
        return fits and len({*a.inputs, *b.inputs}) <= MAX_OPERANDS

    def is_aligned(self, reduction: Group, group: Group) -> bool:
        """Whether ``group`` uses values of ``reduction`` where they are computed, and not transposed, say."""
        return all(self._is_aligned(n, reduction, a) for n in reduction.nodes for a in group.uses.get(n, ()))

    def _is_aligned(self, node: Apply, reduction: Group, alignment: Alignment) -> bool:
        assert reduction.space is not None
        if node.op.name in REDUCING:
            return alignment == matched(reduction.space, reduction.kept, node.shape)
        known = reduction.uses.get(node) or {full_alignment(reduction.space): None}
        return list(known) == [alignment]

    def absorb(self, into: Group, group: Group, order: float) -> None:
        """``group`` becomes part of ``into``, which runs at ``order``."""
        g = self.grouping
        into.nodes.update(group.nodes)
        into.code += group.code
        into.stores.update(group.stores)
        into.views.update(group.views)
        for node, alignments in group.uses.items():
            g.use(node, into, alignments)
            g.users[node].pop(group, None)
        for node in group.stores:
            g.home[node] = into
        into.order = order
        group.nodes.clear()
        group.stores.clear()
        group.space = group.axes = None
        for node in list(into.stores):
            if not (g.users.get(node, {}).keys() | g.hard.get(node, {}).keys()) - {into}:
                del into.stores[node]


def _read_whole(group: Group) -> Iterator[Node]:
    """What a reduction reads all elements of."""
    assert group.space is not None
    for node, uses in group.uses.items():
        if not is_constant(node) and any(is_whole(group.space, a) for a in uses):
            yield node


def _is_one_pass(group: Group) -> bool:
    """Whether no reduction needs another one and nothing is written per element: threads then share long reductions."""
    assert group.space is not None
    whole = full_alignment(group.space)
    if any(whole in group.uses.get(n, ()) for n in group.stores):
        return False
    later: set[Apply] = set()
    for node in sorted(group.nodes, key=lambda n: n.serial):
        inner = [o for o in node.operands if isinstance(o, Apply)]
        after = any(o in later or o.op.name in REDUCING for o in inner if o in group.nodes or o in group.views)
        if after and node.op.name in REDUCING:
            return False
        if after:
            later.add(node)
    return not any(n.op.name in NORMALISING for n in group.nodes)
