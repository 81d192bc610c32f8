"""The paths of a region as data: how each ended, and the binary tree of decisions that leads to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from duograph.ir.builder import Scope

from ..values.world import Snapshot


class NoJoin(Exception):
    """These values cannot join."""


@dataclass(slots=True)
class Outcome:
    """How a path ended: ``kind`` is next, break, continue, return, value or raise."""

    kind: str
    value: Any = None


@dataclass(slots=True)
class Leaf:
    """The end of one path: its outcome, the state it left, and the scope that its nodes are in."""

    outcome: Outcome
    state: Snapshot
    scope: Scope


@dataclass(slots=True)
class Fork:
    pred: Any
    then: Leaf | Fork
    orelse: Leaf | Fork
    then_scope: Scope
    else_scope: Scope


def leaves_of(tree: Leaf | Fork) -> Iterator[Leaf]:
    """All paths of a tree, in order."""
    if isinstance(tree, Leaf):
        yield tree
    else:
        yield from leaves_of(tree.then)
        yield from leaves_of(tree.orelse)
