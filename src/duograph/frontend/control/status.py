"""Joining the paths of a loop body that may end early: every way to end gets a status number.

0: next iteration; 1: the test failed or ``break``; from 2 on one number per distinct ``return`` shape or ``raise``.
Values that leave with an early exit travel as payload slots, undefined (`undef`) on all other paths.
"""

from __future__ import annotations

from typing import Any

from duograph.ir.control import undef
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..rules.exceptions import held_by, with_causes
from ..values.shape import Shape, shape_of
from .identity import is_derived
from .join import Joiner, _join_states, emit_cond
from .paths import Fork, Leaf, NoJoin, Outcome


class Undefined:
    """A payload slot without a value on this path."""

    __slots__ = ("type",)

    def __init__(self, type: Any) -> None:
        self.type = type


def join_with_status(regions: Any, key: Any, tree: Leaf | Fork) -> tuple[Leaf, list[Outcome]]:
    """One leaf whose outcome value is ``(status, payload values)``, and the early outcomes by status - 1.

    Statuses: 0 goes on, 1 stopped by the test, 2 break, 3 and more: the returned list's entries from index 2 on.
    """
    early = _early_outcomes(tree)
    if not early:
        leaf = _join(regions, key, tree, [], [])
        return leaf, []
    shapes = [_shape(o) for o in early]
    slots: list[Any] = []
    offsets = []
    for shape in shapes:
        offsets.append(len(slots))
        if shape is not None:
            slots.extend(shape.types)
    leaf = _join(regions, key, tree, list(zip(early, shapes, offsets, strict=True)), slots)
    statuses = [
        Outcome(o.kind, (shape, offset, o.value)) for o, shape, offset in zip(early, shapes, offsets, strict=True)
    ]
    return leaf, statuses


def _shape(outcome: Outcome) -> Shape | None:
    """What an early exit carries: the returned value, or what the exception holds."""
    if outcome.kind == "return":
        return shape_of(outcome.value)
    if outcome.kind == "raise":
        return shape_of(tuple([value for exc in with_causes(outcome.value) for value in held_by(exc)]))
    return None


def _early_outcomes(tree: Leaf | Fork) -> list[Outcome]:
    found: list[Outcome] = []

    def visit(t: Leaf | Fork) -> None:
        if isinstance(t, Fork):
            visit(t.then)
            visit(t.orelse)
            return
        o = t.outcome
        if o.kind in ("next", "continue"):
            return
        if o.kind in ("stop", "break") and any(f.kind == o.kind for f in found):
            return
        if o.kind == "return" and any(f.kind == "return" and shape_of(f.value) == shape_of(o.value) for f in found):
            return
        found.append(o)

    visit(tree)
    return found


def _status_of(outcome: Outcome, early: list[Any]) -> tuple[int, list[Any], int]:
    """Status, payload values and their offset for the outcome of one path."""
    if outcome.kind in ("next", "continue"):
        return 0, [], 0
    for i, (o, shape, offset) in enumerate(early):
        if o.kind != outcome.kind:
            continue
        if outcome.kind == "return":
            mine: Shape = shape_of(outcome.value)
            if mine == shape:
                return i + 1, mine.values, offset
        elif outcome.kind != "raise":
            return i + 1, [], 0
        elif o is outcome:
            return i + 1, shape.values, offset
    raise AssertionError("an outcome that was not collected")


def _join(regions: Any, key: Any, tree: Leaf | Fork, early: list[Any], slots: list[Any]) -> Leaf:
    if isinstance(tree, Leaf):
        status, values, offset = _status_of(tree.outcome, early)
        for tensor in (v for v in values if isinstance(v, Tensor)):
            if is_derived(tensor):
                raise Uncapturable("a Parameter that is returned within a loop whose end depends on tensor values")
            regions.world.binder.session.choices.note_source(tensor)
        payload: list[Any] = [Undefined(t) for t in slots]
        payload[offset : offset + len(values)] = values
        return Leaf(Outcome("loop", (status, payload)), tree.state, tree.scope)
    outer, entry = regions.builder.current, regions.world.snapshot()
    sides = []
    for side, scope in ((tree.then, tree.then_scope), (tree.orelse, tree.else_scope)):
        regions.builder.current = scope
        sides.append(_join(regions, key, side, early, slots))
        regions.builder.current = outer
        if isinstance(side, Fork):  # what its paths have left is none of the other side's
            regions.world.restore(entry)
    a, b = sides
    joiner = Joiner(regions, key)
    try:
        (sa, pa), (sb, pb) = a.outcome.value, b.outcome.value
        status_build = joiner.value(sa, sb)
        payload_builds = [_payload(joiner, x, y) for x, y in zip(pa, pb, strict=True)]
        apply_state = _join_states(joiner, a.state, b.state, tree)
    except NoJoin as exc:
        raise Uncapturable(f"the paths of a loop body cannot be joined: {exc}") from exc
    pairs = [(_defined(regions, x, tree.then_scope), _defined(regions, y, tree.else_scope)) for x, y in joiner.pairs]
    results = emit_cond(regions, tree, a.state, b.state, pairs) if pairs else []
    apply_state(results)
    value = (status_build(results), [f(results) for f in payload_builds])
    return Leaf(Outcome("loop", value), regions.world.snapshot(), outer)


def _payload(joiner: Joiner, x: Any, y: Any) -> Any:
    if isinstance(x, Undefined) and isinstance(y, Undefined):
        return lambda _: x
    if isinstance(x, Undefined) or isinstance(y, Undefined):
        return joiner.output(x, y)
    return joiner.value(x, y)


def _defined(regions: Any, value: Any, scope: Any) -> Any:
    if not isinstance(value, Undefined):
        return value
    builder = regions.builder
    builder.current, outer = scope, builder.current
    try:
        return builder.emit(undef, (), {"type": value.type})
    finally:
        builder.current = outer
