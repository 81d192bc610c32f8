"""Collectives run while the program computes what does not need them.

    %t1, %y = all_reduce(%t0, %x)            %t1, %n = collective_start(%t0, %x)
    ...  what does not need %y         ->    ...
    f(%y)                                    %t2, %y = collective_wait(%t1, %n)
                                             f(%y)

The gradients of a training step are reduced in buckets (`nn/wrap/grad_reducer.py`): each starts when its gradients are
known, and is waited for when the optimizer wants it. Starts keep the order of the program, and stand where the
collectives stood; a result is waited for before the next effect that needs it, or that is no collective, at the
latest at the end. An anchor, which makes effects wait for what may raise, is no effect itself. A collective after which
nothing else is under way stays as it was.

It is the last of the passes: there is no gradient of a start.
"""

from __future__ import annotations

import math

from duograph.base.config import config
from duograph.core.types import TOKEN, TensorType
from duograph.ir.control import anchor, make_tuple, tuple_get
from duograph.ir.node import Apply, Graph, Node
from duograph.ir.walk import same_node, with_origin
from duograph.ops.deferred import DEFERRABLE, collective_start, collective_wait

LEAST = 1 << 16
"""Bytes from which handing a collective to another thread pays."""

Event = tuple[str, Apply]
"""``"start"``, ``"wait"`` or ``"stay"``, and the node that does so."""


class Overlap:
    """Splits collectives into a start and a wait where something can be computed in between."""

    name = "overlap"

    def run(self, graph: Graph) -> Graph:
        if not config().comm_overlap or not any(_is_deferrable(node) for node in graph.nodes):
            return graph
        order = _order(graph) if sum(p.type is TOKEN for p in graph.params) == 1 else []
        return graph if all(kind == "stay" for kind, _ in order) else _Scheduled(graph, order).graph()


def _is_deferrable(node: Apply) -> bool:
    """Whether it is a collective of a known, large size."""
    if node.op.name not in DEFERRABLE:
        return False
    x = node.operands[1].type
    if not isinstance(x, TensorType) or not all(isinstance(n, int) for n in x.shape):
        return False
    return math.prod(x.shape) * x.dtype.itemsize >= LEAST


def _takes_token(node: Apply) -> bool:
    return node.op not in (tuple_get, make_tuple) and any(o.type is TOKEN for o in node.operands)


def _giver(token: Node) -> Node:
    """What gives a token."""
    return token.operands[0] if isinstance(token, Apply) and token.op is tuple_get else token


def _order(graph: Graph) -> list[Event]:
    """The effects of ``graph`` in order, with waits as late as they may be; empty if it has no single order."""
    order: list[Event] = []
    under_way: list[Apply] = []
    latest: Node | None = None
    needs: dict[Node, frozenset[Apply]] = {}

    def wait_for(wanted: frozenset[Apply]) -> None:
        while not wanted.isdisjoint(under_way):
            first = under_way.pop(0)  # they end in the order in which they began
            if order[-1] == ("start", first):
                order[-1] = ("stay", first)
            else:
                order.append(("wait", first))

    for node in graph.nodes:
        own = frozenset().union(*[needs.get(o, frozenset()) for o in node.operands if o.type is not TOKEN])
        if _takes_token(node):
            if latest is not None and not any(_giver(o) is latest for o in node.operands if o.type is TOKEN):
                return []  # it has more than one order
            latest = node
            deferrable = _is_deferrable(node)
            wait_for(own if deferrable or node.op is anchor else frozenset(under_way))
            order.append(("start" if deferrable else "stay", node))
            if deferrable:
                under_way.append(node)
                own = frozenset((node,))
        needs[node] = own
    wait_for(frozenset(under_way))
    return order


class _Scheduled:
    """A graph whose effects have another order."""

    def __init__(self, source: Graph, order: list[Event]) -> None:
        self.source, self.order = source, order
        self.places = {node: place for place, node in enumerate(source.nodes)}
        self.mapping: dict[Node, Node] = {p: p for p in source.params}
        self.token: Node = next(p for p in source.params if p.type is TOKEN)  # the latest
        self.tickets: dict[Apply, Node] = {}

    def graph(self) -> Graph:
        """It, written anew."""
        context = self.source.context
        for kind, node in self.order:
            if kind == "wait":
                attrs = {"type": node.type.items[1]}  # type: ignore[attr-defined]
                self._done(node, context.apply(collective_wait, (self.token, self.tickets.pop(node)), attrs))
            elif kind == "stay":
                self._done(node, same_node(node, tuple([self._mapped(o) for o in node.operands]), node.attrs))
            else:
                how = tuple(node.attrs.items())
                attrs = {"of": node.op.name, "how": how, "first": not self.tickets}
                begun = context.apply(collective_start, tuple([self._mapped(o) for o in node.operands]), attrs)
                self.token, self.tickets[node] = [context.apply(tuple_get, (begun,), {"index": i}) for i in (0, 1)]
                with_origin(begun, node)
        return context.graph(self.source.name, self.source.params, self._mapped(self.source.output))

    def _done(self, node: Apply, new: Node) -> None:
        """``new`` gives what ``node`` gave, and the next token."""
        self.mapping[node] = with_origin(new, node)
        if new.type is TOKEN:
            self.token = new
        else:
            place = new.type.items.index(TOKEN)  # type: ignore[attr-defined]
            self.token = new.context.apply(tuple_get, (new,), {"index": place})

    def _mapped(self, node: Node) -> Node:
        """What ``node`` has become; what has no effect is written down when it is needed."""
        if node.type is TOKEN:
            return self.token
        work, found = [node], []
        while work:
            last = work.pop()
            if isinstance(last, Apply) and last not in self.mapping:
                self.mapping[last] = last
                found.append(last)
                work += [o for o in last.operands if o.type is not TOKEN]
        for last in sorted(found, key=self.places.__getitem__):
            operands = tuple([self.token if o.type is TOKEN else self.mapping.get(o, o) for o in last.operands])
            self.mapping[last] = same_node(last, operands, last.attrs)
        return self.mapping.get(node, node)
