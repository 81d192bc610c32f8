"""Data flow over the statements of a function: which variables are surely bound, and which are read later.

Both are found in one walk over the syntax tree, block by block; loops are walked until nothing changes. An exception
may leave a block after any statement, so what a handler, a ``finally`` block, or the code behind a ``with`` statement
reads (a manager may swallow the exception) counts as read after each statement inside.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import reduce

from .uses import Uses, uses_of

Names = frozenset[str]


@dataclass(slots=True)
class Point:
    """What holds around a statement.

    Attributes:
        bound: variables surely bound before it.
        bound_after: and after it, if it comes to its end.
        ends: whether it comes to its end at all.
        live: variables that may be read after it.
        handled: variables that may be read after an exception inside it was caught.
    """

    bound: Names
    bound_after: Names
    ends: bool
    live: Names = frozenset()
    handled: Names = frozenset()


@dataclass(slots=True)
class _Loop:
    """Live variables where ``break`` and ``continue`` go; variables bound at each ``break`` and ``continue``."""

    on_break: Names = frozenset()
    on_continue: Names = frozenset()
    breaks: list[Names] = field(default_factory=list)
    continues: list[Names] = field(default_factory=list)


class Flow:
    """The data flow of one function.

    Args:
        body: its statements.
        own: its local variables.
        parameters: those that are bound when it begins.
        first: its first parameter, or "".
    """

    def __init__(self, body: list[ast.stmt], own: set[str], parameters: set[str], first: str) -> None:
        self.own, self.first = own, first
        self.points: dict[ast.stmt, Point] = {}
        self._uses: dict[ast.AST, Uses] = {}
        self._bind(body, frozenset(parameters), None)
        self._is_noting = True
        self._live(body, frozenset(), frozenset(), None)
        self._is_noting = False

    def exposed(self, run: list[ast.stmt], results: Names) -> Names:
        """Variables that statements in a row need from before them, if ``results`` are what is read of them later."""
        return self._live(run, results, frozenset(), None)

    def uses(self, node: ast.AST) -> Uses:
        """`uses_of`, kept."""
        found = self._uses.get(node)
        if found is None:
            found = self._uses[node] = uses_of(node, self.own, self.first)
        return found

    def _reads(self, *nodes: ast.AST | None) -> Names:
        return frozenset().union(*(self.uses(n).reads for n in nodes if n is not None))

    def _binds(self, *nodes: ast.AST | None) -> Names:
        return frozenset().union(*(self.uses(n).binds for n in nodes if n is not None))

    # -- forwards: bound variables -------------------------------------------------------------------------------

    def _bind(self, body: list[ast.stmt], bound: Names | None, loop: _Loop | None) -> Names | None:
        """Variables bound after a block; ``None`` if its end is never reached."""
        for node in body:
            before = bound if bound is not None else frozenset(self.own)
            after = self._bind_one(node, before, loop)
            reached = after is not None and bound is not None
            self.points[node] = Point(before, after if after is not None else frozenset(self.own), reached)
            bound = after if bound is not None else None
        return bound

    def _bind_one(self, node: ast.stmt, bound: Names, loop: _Loop | None) -> Names | None:
        match node:
            case ast.If():
                bound |= self._sure(node.test)
                return _meet([self._bind(node.body, bound, loop), self._bind(node.orelse, bound, loop)])
            case ast.For() | ast.While():
                return self._bind_loop(node, bound, loop)
            case ast.With():
                for item in node.items:
                    bound |= self._sure(item.context_expr) | self._binds(item.optional_vars)
                self._bind(node.body, bound, loop)
                # an exception inside may have been swallowed
                return bound - frozenset().union(*(self.uses(n).deletes for n in node.body))
            case ast.Try() | ast.TryStar():
                return self._bind_try(node, bound, loop)
            case ast.Match():
                bound |= self._sure(node.subject)
                ends = [self._bind(c.body, bound | self._binds(c.pattern), loop) for c in node.cases]
                return _meet([*ends, bound])
            case ast.Return() | ast.Raise():
                return None
            case ast.Break():
                if loop is not None:
                    loop.breaks.append(bound)
                return None
            case ast.Continue():
                if loop is not None:
                    loop.continues.append(bound)
                return None
            case ast.Delete():
                return bound - self.uses(node).deletes
            case ast.AnnAssign(value=None) | ast.Assert():
                return bound
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return bound | self._sure(node.value) | self._target_names(node)
            case ast.Expr():
                return bound | self._sure(node.value)
            case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef() | ast.Import() | ast.ImportFrom():
                return bound | self._binds(node)
            case _:
                return bound - self.uses(node).deletes - self.uses(node).binds

    def _target_names(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Names:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return frozenset().union(*(self._surely_bound(target) for target in targets))

    def _surely_bound(self, target: ast.expr) -> Names:
        """What an assignment to ``target`` binds, whatever a walrus inside of it does."""
        match target:
            case ast.Name():
                return frozenset({target.id} & self.own)
            case ast.Tuple() | ast.List():
                return frozenset().union(*(self._surely_bound(part) for part in target.elts))
            case ast.Starred():
                return self._surely_bound(target.value)
        return frozenset()

    def _sure(self, node: ast.AST | None) -> Names:
        """What evaluating an expression surely binds: a walrus that is the whole of it."""
        return frozenset({node.target.id} & self.own) if isinstance(node, ast.NamedExpr) else frozenset()

    def _bind_loop(self, node: ast.For | ast.While, bound: Names, outer: _Loop | None) -> Names | None:
        head = bound
        while True:
            inner = _Loop()
            start = (
                head | self._surely_bound(node.target) if isinstance(node, ast.For) else head | self._sure(node.test)
            )
            end = self._bind(node.body, start, inner)
            again = _meet([head, *inner.continues, *([end] if end is not None else [])])
            assert again is not None
            if again == head:
                break
            head = again
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        normal = self._bind(node.orelse, None if is_endless else head, outer)
        return _meet([normal, *inner.breaks])

    def _bind_try(self, node: ast.Try | ast.TryStar, bound: Names, loop: _Loop | None) -> Names | None:
        lost = frozenset().union(*(self.uses(n).deletes for n in node.body))
        if isinstance(node, ast.TryStar):  # several clauses may run
            lost |= frozenset().union(*(self.uses(n).deletes for n in node.handlers))
            lost |= {handler.name for handler in node.handlers if handler.name}
        end = self._bind(node.body, bound, loop)
        end = self._bind(node.orelse, end, loop)
        ends = [end]
        for handler in node.handlers:
            named = frozenset({handler.name} & self.own) if handler.name else frozenset()
            after = self._bind(handler.body, (bound - lost) | named, loop)
            ends.append(after - named if after is not None else None)
        met = _meet(ends)
        if not node.finalbody:
            return met
        least = bound - lost - frozenset().union(*(self.uses(n).deletes for n in (*node.orelse, *node.handlers)))
        after = self._bind(node.finalbody, least, loop)
        if met is None or after is None:
            return None
        return (met - frozenset().union(*(self.uses(n).deletes for n in node.finalbody))) | after

    # -- backwards: live variables -------------------------------------------------------------------------------

    def _live(self, body: list[ast.stmt], live: Names, handled: Names, loop: _Loop | None) -> Names:
        """Variables that may be read from the beginning of a block on, if ``live`` may be after it."""
        for node in reversed(body):
            if self._is_noting:
                point = self.points[node]
                point.live, point.handled = live | handled, handled
            live = self._live_one(node, live, handled, loop) | handled
        return live

    def _live_one(self, node: ast.stmt, live: Names, handled: Names, loop: _Loop | None) -> Names:
        match node:
            case ast.If():
                then = self._live(node.body, live, handled, loop)
                return self._reads(node.test) | then | self._live(node.orelse, live, handled, loop)
            case ast.For() | ast.While():
                return self._live_loop(node, live, handled, loop)
            case ast.With():
                inside = self._live(node.body, live, handled | live, loop)
                named = self._binds(*(item.optional_vars for item in node.items))
                return self._reads(*node.items) | (inside - named) | (live - named)
            case ast.Try() | ast.TryStar():
                final = self._live(node.finalbody, live, handled, loop)
                caught = handled | final
                for handler in reversed(node.handlers):
                    after = final | caught if isinstance(node, ast.TryStar) else final  # others may follow
                    caught |= self._live(handler.body, after, handled | after, loop) | self._reads(handler.type)
                orelse = self._live(node.orelse, final, handled | final, loop)
                return self._live(node.body, orelse, caught, loop) | caught
            case ast.Match():
                found = live | self._reads(node.subject)
                for case in node.cases:
                    found |= self._live(case.body, live, handled, loop) | self._reads(case.pattern, case.guard)
                return found
            case ast.Return() | ast.Raise():
                return self._reads(node) | handled
            case ast.Break():
                return handled | (loop.on_break if loop is not None else live)
            case ast.Continue():
                return handled | (loop.on_continue if loop is not None else live)
            case ast.Assign() | ast.AnnAssign():
                return (live - self._target_names(node)) | self._reads(node)
            case ast.FunctionDef() if node.name not in self.points[node].bound:  # what it reads of itself is later
                return (live | self._reads(node)) - {node.name}
            case _:
                return live | self._reads(node)

    def _live_loop(self, node: ast.For | ast.While, live: Names, handled: Names, outer: _Loop | None) -> Names:
        after = self._live(node.orelse, live, handled, outer)
        header = self._reads(node.target, node.iter) if isinstance(node, ast.For) else self._reads(node.test)
        bound = self._surely_bound(node.target) - handled if isinstance(node, ast.For) else frozenset()
        head = after | header
        while True:
            inner = _Loop(on_break=live, on_continue=head)
            again = head | (self._live(node.body, head, handled, inner) - bound)
            if again == head:
                return head
            head = again


def _meet(ends: list[Names | None]) -> Names | None:
    reached = [end for end in ends if end is not None]
    return reduce(frozenset.intersection, reached) if reached else None
