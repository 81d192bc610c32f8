"""What one of two paths has left, where the two do not make one value: a variable, or the way in which a block ends,
is then one of two alternatives, with the condition under which it is the first (`Conflict.choice`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duograph.ir.node import Node
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..rules.facts import MISSING
from ..values.world import Conflict
from .join_journals import Absent, Build, constant
from .paths import NoJoin


def choice(joiner: Any, x: Any, y: Any, why: str) -> Build:
    """What is ``x`` on one path and ``y`` on the other, which are no one value: who reads it decides again which, by
    what this decision was about. Of two that are chosen already, and others, those of one kind are joined.

    Raises:
        NoJoin: there are more than two kinds, or one that only the path can pass on that has it.
    """
    if joiner.pred is None or not joiner.regions.log.keeps_choices:
        raise NoJoin(why)
    for pairing in _pairings(x, y):
        mark = joiner.mark()
        try:
            (p, q), (u, w), (v, z) = pairing
            holds = constant(joiner.pred) if p is True and q is False else _condition(joiner, p, q)
            one, other = _alternative(joiner, u, w), _alternative(joiner, v, z)
        except NoJoin:
            joiner.undo(mark)
            continue
        joiner.regions.log.has_choices = True
        return lambda results: Conflict(joiner.key, why, (holds(results), one(results), other(results)))
    raise NoJoin(why)


_NOTHING = object()
"""In place of an alternative that a path does not have."""


def _pairings(x: Any, y: Any) -> Iterator[tuple[tuple[Any, Any], tuple[Any, Any], tuple[Any, Any]]]:
    """The ways to make two alternatives of what two paths have left: the conditions of either under which it is the
    first, and what the first and the second are on the two."""
    one, two = (v.choice if isinstance(v, Conflict) else (None, v, v) for v in (x, y))
    if one is None or two is None:
        return
    (p, u, v), (q, w, z) = one, two
    if p is None and q is None:
        yield (True, False), (u, _NOTHING), (_NOTHING, w)
    elif q is None:
        yield (p, True), (u, w), (v, _NOTHING)
        yield (p, False), (u, _NOTHING), (v, w)
    elif p is None:
        yield (True, q), (u, w), (_NOTHING, z)
        yield (False, q), (_NOTHING, w), (u, z)
    else:
        yield (p, q), (u, w), (v, z)


def _condition(joiner: Any, p: Any, q: Any) -> Build:
    """The output that is ``p`` on one side and ``q`` on the other; one for all variables of which that is so."""
    for k, pair in enumerate(joiner.pairs):
        if all(a is b for a, b in zip(pair, (p, q), strict=True)):
            return lambda results: results[k]
    return joiner.output(p, q)


def _alternative(joiner: Any, x: Any, y: Any) -> Build:
    """One alternative of a variable, as either path has it.

    Raises:
        NoJoin: they are not of one kind, or it cannot be passed on from the only path that has it.
    """
    if x is not _NOTHING and y is not _NOTHING:
        if (x is MISSING) != (y is MISSING):
            raise NoJoin("assigned on one path only")
        return joiner.value(x, y)
    value, side = (y, 1) if x is _NOTHING else (x, 0)
    if isinstance(value, Tensor):
        node = value._data if isinstance(value._data, Node) else value
        if outlives(joiner, node) and value._view is None:
            return constant(value)
        if type(value) is not Tensor or value._view is not None or not all(type(n) is int for n in value.shape):
            raise NoJoin("a tensor of which only one path can say what it is")
        joiner.check_detached(node)
        made = joiner.output(*((Absent(value), value) if side else (value, Absent(value))))

        def build(results: list[Any]) -> Any:
            joiner.binder.session.choices.note(made(results), joiner.key, (value,))
            return made(results)

        return build
    if isinstance(value, Scalar):
        if not hasattr(value.node, "op") or outlives(joiner, value.node):
            return constant(value)
        return joiner.output(*((Absent(value), value) if side else (value, Absent(value))))
    if value is MISSING or type(value) in (type(None), bool, int, float, str):
        return constant(value)
    raise NoJoin(f"a {type(value).__name__} on one path only")


def outlives(joiner: Any, node: Node | Tensor) -> bool:
    """Whether ``node`` was made before the decision, so that both paths know it."""
    scope = joiner.regions.builder.current
    while scope is not None:
        if node in scope.emitted or not hasattr(node, "op"):
            return True
        scope = scope.parent
    return False
