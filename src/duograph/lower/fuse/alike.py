"""Groups that are alike, as those of equal layers: one is lowered, the others get its kernel calls for their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core.op import attrs_key
from duograph.ir.node import Apply, Const, Node
from duograph.lower.lowering import KernelCall, Lowering, Operand, Temporary

from .groups import Group


class Alike:
    """The groups of one graph, which ``lower`` lowers.

    Args:
        lower: `lower_group`.
    """

    def __init__(self, lower: Callable[[Group], Lowering]) -> None:
        self._lower = lower
        self._known: dict[Any, tuple[list[Node], Lowering]] = {}

    def lower(self, group: Group) -> Lowering:
        """What ``lower`` gives, as if it were called for each group."""
        nodes, key = _described(group)
        known = self._known.get(key)
        if known is None:
            c = self._lower(group)
            self._known[key] = nodes, c
            return c
        return _for_others(known[1], dict(zip(known[0], nodes, strict=True)))


def _described(group: Group) -> tuple[list[Node], Any]:
    """The nodes of a group, in an order that alike groups share, and all that `lower_group` reads of it."""
    number: dict[Node, int] = {}
    rows: list[Any] = []
    inside = {*group.nodes, *group.views, group.root}

    def visit(node: Node) -> None:
        if node in number:
            return
        row: Any = None
        if isinstance(node, Apply) and (node in inside or not node.operands):
            for operand in node.operands:
                visit(operand)
            places = node in group.nodes, node in group.views, node is group.root
            row = node.op, attrs_key(node.attrs), tuple([number[o] for o in node.operands]), places
        elif isinstance(node, Const):
            array = isinstance(node.value, np.ndarray) and node.value.size != 1
            row = id(node.value) if array else (type(node.value), np.asarray(node.value).tobytes())
        number[node] = len(number)
        rows.append((row, node.type, tuple(group.uses.get(node, ()))))

    stores = sorted(group.stores, key=lambda n: n.serial)
    for node in stores:
        visit(node)
    if group.root is not None:
        visit(group.root)
    name = next(iter(group.nodes)).op if len(group.nodes) == 1 else None
    return list(number), (tuple(rows), tuple([number[n] for n in stores]), group.space, group.axes, name)


def _for_others(c: Lowering, others: dict[Node, Node]) -> Lowering:
    """``c`` with other nodes in the place of those that its operands stand for."""
    moved: dict[int, Any] = {}

    def of(x: Any) -> Any:
        if id(x) not in moved:
            if isinstance(x, Operand):
                moved[id(x)] = Operand(x.type, others[x.ref], x.value)
            elif isinstance(x, Temporary):
                moved[id(x)] = Temporary(x.elem, x.count)
            else:
                return x
        return moved[id(x)]

    made = Lowering(c.op, c.attrs, [of(x) for x in c.ins], [of(x) for x in c.outs])
    for call in c.calls:
        buffers, dims = tuple([of(x) for x in call.buffers]), tuple([of(x) for x in call.dims])
        made.calls.append(KernelCall(call.function, buffers, dims, call.inplace))
    return made
