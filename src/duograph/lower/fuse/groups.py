"""Fusion: which nodes of a graph are computed together, and in which order.

Nodes are visited from the last to the first. A node joins the group of those who use it, if they are one group and it
can be computed there; if several use it, that one which runs first, which then also writes it to memory. What is cheap
is computed by each of them instead. So each group is

* elementwise: loops over a shape, every node computed at each element (or once per row, if it is constant there),
* a reduction: loops over a shape and its reduced axes, with elementwise nodes before, between and after,
* a kernel that hands its results to elementwise nodes (`Kernel.sinks`): GEMM or convolution with its epilogue,
* one node: everything else.

Groups have an order; operands of a node are always in its own group or in earlier ones, so there are no cycles, and the
order is a schedule. Fusion never changes bits: each op rounds as it does alone, and sums have one order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from duograph.core.types import ScalarType, TensorType
from duograph.ir.node import Apply, Const, Graph, Node
from duograph.lower.cost import MOST_CODE, op_cost, op_size
from duograph.lower.layout import is_one
from duograph.lower.lowering import Extent, numpy_only, product
from duograph.lower.rule import Host, Kernel, Pointwise, rule_of

from .alignment import (
    VIEWS,
    Alignment,
    broadcast_alignment,
    full_alignment,
    matched,
    through_view,
)

REDUCING = frozenset(
    {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_all", "reduce_any", "reduce_mean"}
)
NORMALISING = frozenset({"softmax", "log_softmax", "standardize"})
MAX_NODES = 48
MAX_OPERANDS = 24
CHEAP = 0.05
"""Nanoseconds per element up to which a node is computed again rather than kept in memory."""


@dataclass(eq=False)
class Group:
    """Nodes that are computed together.

    Attributes:
        order: place in the schedule.
        space: shape of the loops; ``None``: a single node.
        axes: reduced axes of a reduction group.
        root: kernel whose results the group takes.
        nodes: what is computed here.
        stores: those that others need.
        uses: every value used in the loops (also those computed here) with its alignments.
        views: views that are only another alignment of their operand here.
        code: roughly the instructions of an iteration.
    """

    order: float
    space: tuple[Extent, ...] | None = None
    axes: frozenset[int] | None = None
    root: Apply | None = None
    nodes: dict[Apply, None] = field(default_factory=dict)
    stores: dict[Apply, None] = field(default_factory=dict)
    uses: dict[Node, dict[Alignment, None]] = field(default_factory=dict)
    views: dict[Apply, None] = field(default_factory=dict)
    code: float = 0.0

    @property
    def is_fused(self) -> bool:
        return self.space is not None

    @property
    def kept(self) -> list[int]:
        """The loops that are not reduced."""
        assert self.space is not None
        return [d for d in range(len(self.space)) if self.axes is None or d not in self.axes]

    @property
    def inputs(self) -> list[Node]:
        """What has to be in memory before."""
        if not self.is_fused:
            return list(dict.fromkeys(o for n in self.nodes for o in n.operands))
        inside = {*self.nodes, *self.views}
        outer = [] if self.root is None else list(self.root.operands)
        return list(dict.fromkeys([*outer, *[n for n in self.uses if n not in inside and not is_constant(n)]]))

    def __repr__(self) -> str:
        kind = "one" if self.space is None else "reduce" if self.axes is not None else "map"
        names = " ".join(n.op.name for n in sorted(self.nodes, key=lambda n: n.serial))
        return f"<{kind} {names} -> {len(self.stores)}>"


def is_constant(node: Node) -> bool:
    """Whether a value is the same number everywhere and known now."""
    if isinstance(node, Const):
        return isinstance(node.type, ScalarType) or (isinstance(node.value, np.ndarray) and node.value.size == 1)
    return isinstance(node, Apply) and node.op.name == "full" and isinstance(node.attrs["value"], bool | int | float)


def groups(graph: Graph, level: int = 1) -> list[Group]:
    """The groups of ``graph`` in an order in which they can run; ``level`` 0: one per node."""
    if level == 0:
        return [Group(i, nodes={n: None}, stores={n: None}) for i, n in enumerate(graph.nodes)]
    return Grouping(graph).run()


class Grouping:
    """The groups of one graph while they are made."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.groups: list[Group] = []
        self.earliest = 0.0  # no group runs before that: nodes are placed from the last to the first
        self.users: dict[Node, dict[Group, None]] = {}  # fused groups that use a value in their loops
        self.hard: dict[Node, dict[Group, None]] = {}  # groups that need it in memory
        self.home: dict[Node, Group] = {}
        self.kinds: dict[Apply, str] = {}
        self.readers = Counter(o for node in graph.nodes for o in node.operands)
        self.readers[graph.output] += 1
        self.ending: dict[Apply, bool] = {}  # what `ends_kernel` has found

    def run(self) -> list[Group]:
        from .merging import Merging

        end = Group(1.0)
        self.hard.setdefault(self.graph.output, {})[end] = None
        for node in reversed(self.graph.nodes):
            self.place(node)
        Merging(self).run()
        return sorted([g for g in self.groups if g.nodes], key=lambda g: g.order)

    # ---- where a node goes ---------------------------------------------------------------------------------------

    def place(self, node: Apply) -> None:
        """Decides where ``node`` is computed: in the group of its users, in several of them, or in one of its own."""
        users = list(self.users.get(node, ()))
        hard = list(self.hard.get(node, ()))
        if is_constant(node):
            if hard:
                self.alone(node)
            return
        if node.op.name in VIEWS and isinstance(node.type, TensorType):
            needed = [g for g in users if not self.see_through(node, g)]
            if hard or needed:
                self.alone(node)
            return
        kind = self.kind(node)
        if not kind or not (users or hard):
            self.alone(node)
            return
        if kind == "map" and not hard and len(users) > 1 and self.is_cheap(node):
            if all(self.can_compute(node, g) for g in users):
                for group in users:
                    self.compute(node, group, store=False)
                return
        first = min([*users, *hard], key=lambda g: g.order)
        store = len(users) + len(hard) > 1 or bool(hard)
        if kind == "map" and store and self.ends_kernel(node):
            users = [g for g in users if g.axes is None]
        for group in sorted(users, key=lambda g: g.order):
            ready = group not in hard  # else the kernel of the group needs it before
            if ready and self.joins(node, group, kind, store) and self.runs_before(group, first):
                self.join(node, group, kind, store)
                return
        if kind == "reduce" and self.join_sibling(node, first):
            return
        if kind == "sink":
            self.alone(node)
            return
        axes = None if kind == "map" else _axes(node)
        space = tuple(node.shape if kind == "map" else node.operands[0].shape)
        group = self.new(Group(self.before_all(), space, axes))
        self.compute(node, group, store=True)

    def kind(self, node: Apply) -> str:
        """``map``, ``reduce`` (also softmax), ``sink``, or nothing, for what stays alone."""
        found = self.kinds.get(node)
        if found is None:
            found = self.kinds[node] = self.find_kind(node)
        return found

    def find_kind(self, node: Apply) -> str:
        """`kind`, looked at for the first time."""
        rule = rule_of(node.op)
        if rule is None or isinstance(rule, Host) or node.op.effects or node.op.data_dependent:
            return ""
        if not isinstance(node.type, TensorType) or not all(
            isinstance(o.type, TensorType | ScalarType) for o in node.operands
        ):
            return ""
        if numpy_only([o.type for o in (node, *node.operands)]):
            return ""
        if any(is_zero(n) for o in (node, *node.operands) if isinstance(o.type, TensorType) for n in o.type.shape):
            return ""
        if isinstance(rule, Pointwise):
            return "map"
        if node.op.name in REDUCING | NORMALISING:
            return "reduce" if _axes(node) and any(not is_one(node.operands[0].shape[a]) for a in _axes(node)) else ""
        return "sink" if isinstance(rule, Kernel) and rule.sinks and not node.type.dtype.is_complex else ""

    def is_cheap(self, node: Apply) -> bool:
        """Whether computing it again costs no more than reading it."""
        large = [
            o for o in node.operands if isinstance(o.type, TensorType) and not is_constant(o) and not _is_single(o)
        ]
        return op_cost(node.op.name) <= CHEAP and len(large) <= 1

    def ends_kernel(self, node: Apply) -> bool:
        """Whether a kernel can compute ``node`` with its results, which nobody else reads: better than a reduction
        that has to write it anyway."""
        work = [node]  # no recursion: chains may be thousands of operators long
        while work:
            last = work[-1]
            lone = [o for o in last.operands if isinstance(o, Apply) and self.readers[o] == 1 and o.type == last.type]
            maps = [o for o in lone if self.kind(o) == "map"]
            missing = [o for o in maps if o not in self.ending]
            if missing and last not in self.ending:
                work += missing
                continue
            work.pop()
            self.ending[last] = any(self.ending[o] for o in maps) or any(self.kind(o) == "sink" for o in lone)
        return self.ending[node]

    def new(self, group: Group) -> Group:
        self.groups.append(group)
        return group

    def alone(self, node: Apply) -> None:
        """``node`` becomes a group that needs its operands in memory."""
        group = self.new(Group(self.before_all(), nodes={node: None}, stores={node: None}))
        self.home[node] = group
        for operand in node.operands:
            self.hard.setdefault(operand, {})[group] = None

    def runs_before(self, group: Group, first: Group) -> bool:
        """Whether ``group`` runs no later than ``first``, or can be moved there."""
        if group.order <= first.order:
            return True
        needed = [*group.uses, *(group.root.operands if group.root is not None else ())]
        homes = [self.home[n] for n in needed if n in self.home]
        after = max([g.order for g in homes if g is not group], default=-1e9)
        if after >= first.order:
            return False
        before = max([g.order for g in self.groups if g.order < first.order], default=first.order - 1.0)
        group.order = (max(before, after) + first.order) / 2
        self.earliest = min(self.earliest, group.order)
        return True

    def before_all(self) -> float:
        """The order of a group that runs before all others."""
        self.earliest -= 1.0
        return self.earliest

    # ---- joining -------------------------------------------------------------------------------------------------

    def joins(self, node: Apply, group: Group, kind: str, store: bool) -> bool:
        """Whether ``node``, which ``group`` uses, can be computed there (and written to memory, if ``store``)."""
        assert group.space is not None
        if kind == "map":
            return self.can_compute(node, group) and (not store or self.can_store(node, group))
        if kind == "sink":
            fits = group.axes is None and group.root is None and tuple(group.space) == tuple(node.shape)
            return fits and list(group.uses[node]) == [full_alignment(node.shape)] and self.is_epilogue(group)
        if (
            group.root is not None
            or group.code >= MOST_CODE
            or len(group.nodes) >= MAX_NODES
            or not same_order(group, node)
        ):
            return False
        axes, space = _axes(node), tuple(node.operands[0].shape)
        if node.op.name in NORMALISING:
            whole = [full_alignment(space)]
            same = group.axes == axes or (group.axes is None and self.fits_reduction(group, axes))
            return tuple(group.space) == space and same and list(group.uses[node]) == whole and spreads(space, axes)
        if tuple(group.space) == space:
            kept = [d for d in range(len(space)) if d not in axes]
            aligned = all(a == matched(space, kept, node.shape) for a in group.uses[node])
            same = group.axes == axes or (group.axes is None and self.fits_reduction(group, axes))
            return same and aligned and spreads(space, axes)
        if group.axes is None:  # what is done with the results
            kept_space = [n for d, n in enumerate(space) if d not in axes and not is_one(n)]
            spread = matched(group.space, range(len(group.space)), node.shape)
            return [n for n in group.space if not is_one(n)] == kept_space and list(group.uses[node]) == [spread]
        return False

    def is_epilogue(self, group: Group) -> bool:
        """Whether a kernel can compute the group with each of its results."""
        return len(group.nodes) <= 16 and not any(
            isinstance(n.type, TensorType) and n.type.dtype.is_complex for n in group.uses
        )

    def fits_reduction(self, group: Group, axes: frozenset[int]) -> bool:
        """Whether an elementwise group may become a reduction over ``axes``: nothing is constant along some of them
        only and expensive to compute again."""
        assert group.space is not None
        return all(
            is_whole(group.space, a)
            or all(k is None for d, k in enumerate(a) if d in axes)
            or op_cost(n.op.name) <= CHEAP
            for n in group.nodes
            for a in group.uses.get(n, ())
        )

    def can_compute(self, node: Apply, group: Group) -> bool:
        """Whether an elementwise node fits into the loops of a group that uses it."""
        assert group.space is not None
        if (
            group.code >= MOST_CODE
            or len(group.nodes) >= MAX_NODES
            or len(group.uses) >= MAX_OPERANDS + len(group.nodes)
        ):
            return False
        return all(self.at_level(node, group, a) for a in group.uses[node])

    def at_level(self, node: Apply, group: Group, alignment: Alignment) -> bool:
        """Whether a value is worth computing in the loops: at each element, once per row, or once per result."""
        space = group.space
        assert space is not None
        if is_whole(space, alignment):
            return True
        if group.axes is not None:
            along = [d for d in group.axes if alignment[d] is not None]
            return not along or op_cost(node.op.name) <= CHEAP
        walked = [d for d, k in enumerate(alignment) if k is not None]
        return not walked or all(alignment[d] is not None or is_one(space[d]) for d in range(walked[-1]))

    def can_store(self, node: Apply, group: Group) -> bool:
        """Whether the value, as it is computed here, is contiguous in its own shape."""
        space = group.space
        assert space is not None
        found = list(group.uses[node])
        if len(found) != 1:
            return False
        if found[0] == matched(space, range(len(space)), node.shape):
            return group.axes is None or spreads(space, group.axes)
        return group.axes is not None and found[0] == matched(space, group.kept, node.shape)

    def join(self, node: Apply, group: Group, kind: str, store: bool) -> None:
        """``node`` is computed in ``group``; a reduction may change its loops."""
        if kind == "sink":
            group.root = node
            self.keep(node, group, store)
            for operand in node.operands:
                self.hard.setdefault(operand, {})[group] = None
            return
        if kind == "reduce" and group.axes is None:
            space = tuple(node.operands[0].shape)
            if tuple(group.space or ()) != space:
                self.widen(group, space, _axes(node))
            group.axes = _axes(node)
        self.compute(node, group, store)

    def widen(self, group: Group, space: tuple[Extent, ...], axes: frozenset[int]) -> None:
        """The loops of ``group`` become the kept ones of a reduction of ``space``."""
        assert group.space is not None
        old = [d for d, n in enumerate(group.space) if not is_one(n)]
        new = [d for d, n in enumerate(space) if d not in axes and not is_one(n)]
        place = dict(zip(new, old, strict=True))
        for uses in group.uses.values():
            moved = [tuple([a[place[d]] if d in place else None for d in range(len(space))]) for a in uses]
            uses.clear()
            uses.update(dict.fromkeys(moved))
        group.space = space

    def join_sibling(self, node: Apply, first: Group) -> bool:
        """Puts a reduction next to another one of the same operand."""
        x, axes = node.operands[0], _axes(node)
        for group in reversed(self.groups):
            same = group.axes == axes and tuple(group.space or ()) == tuple(x.shape)
            if (
                same
                and node not in group.uses
                and x in group.uses
                and group.code < MOST_CODE
                and len(group.nodes) < MAX_NODES
                and self.runs_before(group, first)
            ):
                if node.op.name not in NORMALISING or spreads(tuple(x.shape), axes):
                    self.compute(node, group, store=True)
                    return True
        return False

    def compute(self, node: Apply, group: Group, store: bool) -> None:
        """``node`` is computed in ``group``; its operands are used there."""
        assert group.space is not None
        self.keep(node, group, store)
        if self.kind(node) == "reduce":
            self.use(node.operands[0], group, [full_alignment(group.space)])
            return
        known = group.uses.get(node)
        whole = matched(group.space, range(len(group.space)), node.shape)
        for alignment in list(known) if known else [whole]:
            assert alignment is not None
            group.uses.setdefault(node, {})[alignment] = None
            for operand in node.operands:
                if isinstance(operand.type, TensorType):
                    self.use(operand, group, [broadcast_alignment(node.shape, operand.shape, alignment)])
                else:
                    self.use(operand, group, [(None,) * len(group.space)])

    def keep(self, node: Apply, group: Group, store: bool) -> None:
        """``node`` is one of the nodes of ``group``, which writes it to memory for others if ``store``."""
        group.nodes[node] = None
        group.code += op_size(node.op.name)
        if store:
            group.stores[node] = None
            self.home[node] = group

    def use(self, node: Node, group: Group, alignments: Iterable[Alignment]) -> None:
        """``group`` reads ``node`` in its loops."""
        group.uses.setdefault(node, {}).update(dict.fromkeys(alignments))
        self.users.setdefault(node, {})[group] = None

    def see_through(self, view: Apply, group: Group) -> bool:
        """Whether ``group`` may read the operand of ``view`` instead; it then does."""
        found = [through_view(view, a) for a in group.uses[view]]
        alignments = [a for a in found if a is not None]
        if len(alignments) < len(found):
            return False
        group.views[view] = None
        self.use(view.operands[0], group, alignments)
        return True


def same_order(group: Group, *nodes: Apply) -> bool:
    """Whether reductions of ``group`` and ``nodes`` have accumulators of equal length, which decide about the order."""
    widths = {
        n.operands[0].dtype.to_real().itemsize == 8
        for n in (*group.nodes, *nodes)
        if n.op.name in REDUCING | NORMALISING
    }
    return len(widths) <= 1


def is_zero(extent: Extent) -> bool:
    return isinstance(extent, int) and extent == 0


def _is_single(node: Node) -> bool:
    return isinstance(node.type, TensorType) and all(is_one(n) for n in node.type.shape)


def is_whole(space: Sequence[Extent], alignment: Alignment) -> bool:
    return all(k is not None or is_one(n) for k, n in zip(alignment, space, strict=True))


def _axes(node: Apply) -> frozenset[int]:
    axis = node.attrs["axis"]
    return frozenset((axis,) if isinstance(axis, int) else axis) if node.operands[0].shape else frozenset()


def spreads(space: Sequence[Extent], axes: frozenset[int]) -> bool:
    """Whether the results of a reduction are enough work for all threads, each being made by one of them."""
    total = product(space)
    if not isinstance(total, int) or total <= 1 << 16:
        return True
    kept = [n for d, n in enumerate(space) if d not in axes]
    last = next((d for d in reversed(range(len(space))) if not is_one(space[d])), 0)
    lanes = 1 if last in axes else 64
    results = product(kept)
    return not isinstance(results, int) or results >= 4 * lanes
