"""Applies a rule set to a graph: bottom-up, in sub-graphs too, until nothing changes.

Every application is an event ``rewrite`` (rule, before, after). Rules that chase each other would go on for ever: after
``fuel`` applications the driver stops with an internal error that names the rule that burned most of it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from duograph.base.diagnostics import InternalError
from duograph.base.events import emit, is_listened_to
from duograph.ir.node import Apply, Graph, Node
from duograph.ir.walk import count_nodes, rebuild, same_node, with_origin

from .rule import RuleSet

_LOCAL_LIMIT = 100
"""Rules in a row at one place; more can only be rules that undo each other."""


def rewrite(graph: Graph, rules: RuleSet, fuel: int | None = None) -> Graph:
    """``graph`` after applying ``rules`` as often as they apply.

    Args:
        graph: the entry; the graphs it refers to are rewritten too.
        rules: what to apply, the first that fits at each node.
        fuel: the most applications; default: generous, by the size of the graph.

    Raises:
        InternalError: the rules do not come to an end, or one of them changes the type of a value.
    """
    driver = _Driver(rules, fuel if fuel is not None else 1000 + 50 * count_nodes(graph))
    while True:
        before = sum(driver.used.values())
        graph = rebuild(graph, driver.emit)
        if sum(driver.used.values()) == before:
            return graph


class _Driver:
    def __init__(self, rules: RuleSet, fuel: int) -> None:
        self.rules, self.fuel = rules, fuel
        self.used: Counter[str] = Counter()

    def emit(self, node: Apply, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
        """The node that takes the place of ``node``: rebuilt, then rewritten while a rule applies at its root."""
        new = same_node(node, operands, attrs)
        for _ in range(_LOCAL_LIMIT):
            if not isinstance(new, Apply):
                break
            after = self.step(new)
            if after is None:
                break
            new = with_origin(after, node)
        return new

    def step(self, node: Apply) -> Node | None:
        """The result of the first rule that applies to ``node``."""
        for rule in self.rules.rules_for(node.op):
            new = rule.apply(node)
            if new is None or new is node:
                continue
            if new.type != node.type:
                raise InternalError(f"rule {rule.name} ({rule.law}) turns {node.type} into {new.type}", stage="rewrite")
            self.used[rule.name] += 1
            if sum(self.used.values()) > self.fuel:
                worst, count = self.used.most_common(1)[0]
                raise InternalError(
                    f"the rules {self.rules.name} do not end: {self.fuel} applications, {count} of {worst}",
                    stage="rewrite",
                )
            if is_listened_to():
                emit("rewrite", rule=rule.name, law=rule.law, before=node, after=new)
            return new
        return None
