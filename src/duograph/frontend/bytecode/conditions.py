"""Branches: conditions of several parts, values of ``and``, ``or``, ``if ... else`` and chained comparisons.

A branch knows for each side where it goes, and whether the value that was asked stays on the stack (``a or b``).
"""

from __future__ import annotations

import ast
import types
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .stack import NotStraight, Stack, bare
from .stores import Stores
from .tidy import negated

Side = tuple[int, bool]
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Branch:
    """``test`` is true: go on at ``yes``, else at ``no``. ``owned``: the places that it is made of."""

    test: Any
    yes: Side
    no: Side
    stack: Stack
    owned: set[int] = field(default_factory=set)
    is_chain: bool = False  # the right operand of a comparison is on the stack, for the next one


@dataclass(slots=True, eq=False)
class Value:
    """The branch was part of an expression, which is on the stack where its sides meet."""

    at: int
    stack: Stack


@dataclass(slots=True, eq=False)
class Scope:
    """Where a piece of code stands: the places at which it ends, the loop and the ``try`` around it."""

    stop: frozenset[int] = frozenset()
    loop: Any = None
    context: Any = None

    def until(self, *places: int | None) -> Scope:
        return Scope(self.stop | {p for p in places if p is not None}, self.loop, self.context)


class Conditions(Stores, ABC):
    """Branches as syntax."""

    code: types.CodeType

    def choose(self, what: str, i: int, options: Iterable[T]) -> T:
        """What is likely, or what this reading tries instead: see `guesses.py`."""
        line = self.flow.instructions[i].position[0]
        return self.functions.guesses.choose(self.code, what, i, line, options)  # type: ignore[no-any-return]

    def doubt(self, what: str, i: int, likely: bool) -> bool:
        return self.choose(what, i, (likely, not likely))

    def branch(self, i: int, stack: Stack, scope: Scope) -> Branch | Value:
        """The branch at ``i``, together with those that belong to the same expression."""
        found = self._single(i, stack)
        while True:
            for side in ("yes", "no"):
                inner = self._inside(found, side, scope)
                if isinstance(inner, Branch) and self._combined(found, inner, side):
                    break
                if isinstance(inner, Value):
                    return inner
            else:
                break
        choice = self._choice(found, scope)
        return found if choice is None else choice

    def _single(self, i: int, stack: Stack) -> Branch:
        made = self.flow.instructions[i]
        held = stack[-1]
        stack = stack[:-1]
        test = self.pop([held])
        stays = bool(stack) and stack[-1] is held
        if stays:
            stack.pop()
        yes, no = made.next
        found = Branch(test, (yes, stays), (no, stays), stack, {i})
        compare = test if isinstance(test, ast.Compare) else None
        found.is_chain = compare is not None and bool(stack) and stack[-1] is bare(compare.comparators[-1])
        at = self.flow.instructions
        if found.is_chain:
            if stays and at[no].op == "SWAP" and at[at[no].next[0]].op == "POP_TOP":
                found.owned |= {no, at[no].next[0]}
                found.no = (at[at[no].next[0]].next[0], True)
            elif not stays and at[no].op == "POP_TOP":
                found.owned.add(no)
                found.no = (at[no].next[0], False)
            else:
                found.is_chain = False
        if stays:
            sides = [s for s in ("yes", "no") if at[getattr(found, s)[0]].op == "POP_TOP" and getattr(found, s)[1]]
            sides.sort(key=lambda s: at[getattr(found, s)[0]].position != made.position)
            for side in sides[:1]:  # the other one is that of an expression that is a statement
                place = getattr(found, side)[0]
                found.owned.add(place)
                setattr(found, side, (at[place].next[0], False))
        return found

    def _inside(self, outer: Branch, side: str, scope: Scope) -> Branch | Value | None:
        """What follows on one side, if that is the next part of the same expression."""
        place, stays = getattr(outer, side)
        other, other_stays = outer.no if side == "yes" else outer.yes
        if stays or place == other or not self.flow.before[place] <= outer.owned or place in self.flow.loops:
            return None
        if not self._is_level(outer, place):
            return None
        ends = {other} if other_stays else set()
        found = self._straight(place, outer.stack, scope, ends)
        if isinstance(found, Value):
            if len(found.stack) != len(outer.stack) + (not outer.is_chain):
                return None
            value = self.pop([found.stack[-1]])
            if outer.is_chain:
                made = self._chained(outer.test, value)
                if made is None:
                    return None
                return Value(found.at, [*outer.stack[:-1], self.numbered(made)])
            whole = _joined(ast.And if side == "yes" else ast.Or, outer.test, value)
            whole.is_value = True  # type: ignore[attr-defined]
            return Value(found.at, [*outer.stack, self.numbered(whole)])
        return found

    def _straight(
        self, i: int, stack: Stack, scope: Scope, ends: set[int], first: int | None = None
    ) -> Branch | Value | None:
        """From ``i`` on, without statements, to the next branch or to one of ``ends``. ``first``: the head of the loop
        whose test this is."""
        gathered, targets = list(self.gathered), {k: (v, list(more)) for k, (v, more) in self.targets.items()}
        found = self._tried(i, list(stack), scope, ends, first)
        if found is None:
            self.gathered, self.targets = gathered, targets
        return found

    def _tried(self, i: int, stack: Stack, scope: Scope, ends: set[int], first: int | None) -> Branch | Value | None:
        begun = len(self.flow.handlers(i))
        try:
            while i not in ends:
                made = self.flow.instructions[i]
                if (i in scope.stop and i != first) or len(self.flow.handlers(i)) != begun:
                    return None
                if made.op == "BRANCH":
                    found = self.branch(i, stack, scope.until(*ends))
                    if isinstance(found, Branch):
                        return found
                    i, stack = found.at, found.stack
                    continue
                if made.op == "FOR_ITER":
                    i, stack = self.comprehension(i, stack, scope)
                    continue
                if (i in self.flow.loops and i != first) or len(made.next) != 1:
                    return None
                self.step(made, stack, None)
                i = made.next[0]
            return Value(i, stack)
        except NotStraight:
            return None

    def _is_level(self, found: Branch, *places: int) -> bool:
        """Whether no ``try`` begins or ends between a branch and ``places``."""
        around = self.flow.handlers(places[0])
        return all(self.flow.handlers(i) == around for i in (*places, *found.owned))

    @abstractmethod
    def comprehension(self, i: int, stack: Stack, scope: Scope) -> tuple[int, Stack]:
        """Where code goes on after the comprehension at ``i``; `NotStraight` if it is another loop."""

    def _combined(self, outer: Branch, inner: Branch, side: str) -> bool:
        """Makes ``outer`` the branch of both, if they are one expression."""
        if outer.is_chain:
            if side != "yes" or inner.no != outer.no:
                return False
            made = self._chained(outer.test, inner.test)
            if made is None:
                return False
            outer.test, outer.yes, outer.stack = made, inner.yes, inner.stack
            outer.is_chain = inner.is_chain
        elif len(inner.stack) != len(outer.stack) or self.doubt(
            "nested", min(inner.owned), self._is_nested(outer, inner)
        ):
            return False
        elif side == "yes" and inner.no == outer.no:
            outer.test, outer.yes = _joined(ast.And, outer.test, inner.test), inner.yes
        elif side == "yes" and inner.yes == outer.no and not (inner.yes[1] or inner.no[1]):
            outer.test, outer.yes = _joined(ast.And, outer.test, negated(inner.test)), inner.no
        elif side == "no" and inner.yes == outer.yes:
            outer.test, outer.no = _joined(ast.Or, outer.test, inner.test), inner.no
        elif side == "no" and inner.no == outer.yes and not (inner.yes[1] or inner.no[1]):
            outer.test, outer.no = _joined(ast.Or, outer.test, negated(inner.test)), inner.yes
        else:
            return False
        outer.owned |= inner.owned
        return True

    def _is_nested(self, outer: Branch, inner: Branch) -> bool:
        """Whether the second condition is an ``if`` of its own, as the columns of what follows tell."""
        if outer.test.lineno == inner.test.lineno or inner.yes[1] or inner.no[1]:
            return False
        body = self.flow.instructions[min(inner.yes[0], inner.no[0])].position
        first = inner.test.col_offset - 3
        return (
            body[0] is not None and body[0] > inner.test.lineno and self.column(min(inner.yes[0], inner.no[0])) > first
        )

    def column(self, i: int) -> int:
        """Where the statement begins that begins at ``i``."""
        line = self.flow.instructions[i].position[0]
        found = 1 << 20
        while True:
            made = self.flow.instructions[i]
            if made.position[0] is not None:
                line = made.position[0] if line is None else line
                if made.position[0] != line:
                    break
                if made.position[2] is not None:
                    found = min(found, made.position[2])
            if len(made.next) != 1 or made.next[0] in self.flow.loops:
                break
            i = made.next[0]
        return found if found < 1 << 20 else 0

    def _chained(self, left: Any, right: Any) -> ast.Compare | None:
        if not isinstance(right, ast.Compare) or right.left is not bare(left.comparators[-1]):
            return None
        made = ast.Compare(left.left, left.ops + right.ops, left.comparators + right.comparators)
        return ast.copy_location(made, right)

    def _choice(self, found: Branch, scope: Scope) -> Branch | Value | None:
        """``a if test else b``, as a value or as a condition."""
        if found.yes[1] or found.no[1] or found.is_chain:
            return None
        yes, no = found.yes[0], found.no[0]
        joined = [i for i in found.owned if self.flow.instructions[i].op != "BRANCH"]  # where parts of chains fail
        if not all(self.flow.before[i] <= found.owned for i in (yes, no, *joined)):
            return None
        if not self._is_level(found, yes, no):
            return None
        meet = self.meeting(yes, no, scope)
        ends = {meet} if meet is not None else set()
        a = self._straight(yes, found.stack, scope, ends)
        if a is None:
            return None
        b = self._straight(no, found.stack, scope, ends)
        if isinstance(a, Value) and isinstance(b, Value):
            n = len(found.stack) + 1
            if len(a.stack) != n or len(b.stack) != n:
                return None
            either, other = self.pop([a.stack[-1]]), self.pop([b.stack[-1]])
            return Value(a.at, [*found.stack, self.numbered(_chosen(found.test, either, other, yes < no))])
        if isinstance(a, Branch) and isinstance(b, Branch) and a.yes == b.yes and a.no == b.no:
            if len(a.stack) == len(b.stack) == len(found.stack) and a.test.lineno == found.test.lineno:
                test = _chosen(found.test, a.test, b.test, yes < no)
                return Branch(test, a.yes, a.no, found.stack, found.owned | a.owned | b.owned)
        return None

    def meeting(self, a: int, b: int, scope: Scope, depth: int | None = None) -> int | None:
        """The first place that can be reached from both; None if there is none before the code around. ``depth``: no
        more may lie on the stack there."""
        around = [scope.loop.head, scope.loop.end] if scope.loop is not None else []
        ends = {*scope.stop, *(p for p in around if p is not None)}
        inside = self.flow.handlers(a) if scope.context is None else scope.context.inside
        both = self.flow.reach(a, ends, inside) & self.flow.reach(b, ends, inside)
        if depth is not None:
            both = {i for i in both if self.may_end(i, depth, scope)}
        return self.first(both, scope)

    def may_end(self, i: int, depth: int, scope: Scope) -> bool:
        """Whether a statement may end at ``i``: no more lies on the stack than where it began, and the ``try`` or
        ``with`` around it has not been left before."""
        if self.flow.depth[i] > depth:
            return False
        handler = None if scope.context is None else scope.context.handler
        places = (i, *self.flow.before[i])
        return handler is None or i in scope.stop or any(handler in self.flow.handlers(p) for p in places)

    def first(self, places: set[int], scope: Scope) -> int | None:
        """The one that comes first; the head of the loop around comes last, since its end is meant."""
        if not places:
            return None
        head = None if scope.loop is None else scope.loop.head
        return min(places, key=lambda i: (i == head, self.flow.order[i]))


def _joined(op: Any, a: Any, b: Any) -> ast.BoolOp:
    parts: list[ast.expr] = []
    for part in (a, b):
        is_same = isinstance(part, ast.BoolOp) and isinstance(part.op, op)
        # ``(a or b) or c``: from 3.12 on the value in brackets is asked anew
        parts += part.values if is_same and not (part is a and hasattr(part, "is_value")) else [part]
    made = ast.copy_location(ast.BoolOp(op(), parts), parts[0])
    made.end_lineno, made.end_col_offset = parts[-1].end_lineno, parts[-1].end_col_offset
    return made


def _chosen(test: Any, a: Any, b: Any, in_order: bool) -> ast.IfExp:
    made = ast.IfExp(test, a, b) if in_order else ast.IfExp(negated(test), b, a)
    return ast.copy_location(made, made.body)
