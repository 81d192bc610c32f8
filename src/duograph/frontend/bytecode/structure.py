"""Statements from the flow of a function: branches and loops around straight-line code.

Code is read from a place on until it leaves, or comes to a place where the statement around it ends. Whether a
structure is the right one need not be proved here: what comes out is compiled and compared (`same.py`).
"""

from __future__ import annotations

import ast
import types
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from ..rules.errors import Uncapturable
from .conditions import Branch, Conditions, Scope, Value
from .flow import Flow
from .instructions import NAMED, NOWHERE, as_written
from .matches import guarded_case, match_statement, may_match
from .stack import Body, Marker, NotStraight, Stack, without_exception
from .tidy import generators_of, negated, without_last

Exit = tuple[int, Stack] | None
"""Where code goes on that does not leave, with what is on the stack."""
MAX_STEPS = 100_000
MOST_ENDS = 6
"""Places that are tried as the end of a loop or `try`."""
MOST_READ, MOST_STEPS = 64, 20_000
"""How often each instruction may be read, on average, and all together (half a second): guesses within guesses would
double with each branch."""
MAX_NESTED = 40
"""Blocks within blocks: Python itself takes 20 loops, ``with`` and ``try``."""


@dataclass(slots=True, eq=False)
class Loop:
    """``head``: where ``continue`` goes; ``end``: where ``break`` goes; ``outer``: heads of loops around, which nothing
    in the body leads to."""

    head: int
    end: int | None
    outer: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Context:
    """A ``try`` or ``with`` that code is in. ``final``: the handler is the copy of ``finally`` for exceptions."""

    handler: int
    outer: Context | None
    inside: tuple[int, ...]
    final: bool = False


class Structure(Conditions):
    """Reads one function: its branches and loops."""

    def __init__(self, code: types.CodeType, functions: Any) -> None:
        super().__init__(functions)
        self.code = code
        self.flow = Flow(code)
        if functions.private:
            for made in self.flow.instructions:
                if made.op.startswith(NAMED):
                    made.arg = as_written(made.arg, functions.private)
        self.line = code.co_firstlineno
        self.steps = self.nested = 0
        self.left = self.most = min(MOST_READ * (len(self.flow.instructions) + 10), MOST_STEPS)
        self.class_patterns: set[int] | None = None  # where `matches` has found some

    def function(self) -> Body:
        """The statements of the whole function."""
        out, rest = self.read(0, [], Scope())
        if rest is not None:
            raise Uncapturable("code that does not end")
        return out

    def read(self, i: int, stack: Stack, scope: Scope, first: int | None = None) -> tuple[Body, Exit]:
        """The statements from ``i`` on. ``first``: the head of the loop whose body this is, where it is not its end."""
        self.nested += 1
        if self.nested > MAX_NESTED:
            raise Uncapturable("blocks that are nested too deeply")
        out: Body = []
        rest = self._read(i, stack, scope, first, out)
        self.nested -= 1
        return out, rest

    def _read(self, i: int, stack: Stack, scope: Scope, first: int | None, out: Body) -> Exit:
        at = self.flow.instructions
        while True:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise Uncapturable("code whose structure is too large")
            loop = scope.loop
            if loop is not None and i == loop.head and first != i:
                out.append(self._plain(ast.Continue()))
                return None
            if loop is not None and i == loop.end:
                out.append(self._plain(ast.Break()))
                return None
            if loop is not None and i in loop.outer:
                raise Uncapturable("a loop with an unknown way out")
            if i in scope.stop:
                return i, stack
            around = self.flow.handlers(i)
            context = scope.context
            if context is not None and context.handler not in around:
                if context.final:
                    behind = self.flow.behind_final(context.handler, i)
                    if behind is None:
                        if stack and not isinstance(stack[-1], Marker):  # it was to be returned
                            out.append(self._plain(ast.Return(self.pop(list(stack)))))
                        return None
                    i = behind
                scope = Scope(scope.stop, loop, context.outer)
                continue
            new = around if context is None else around[: around.index(context.handler)]
            outside = () if context is None else context.inside
            new = [h for h in new if h not in outside]
            made = at[i]
            if new and not (i in self.flow.loops and first != i and self._is_around(i, new[-1])):
                following = self._guarded(new[-1], i, stack, scope, out, first)
            elif made.op == "FOR_ITER" or (i in self.flow.loops and first != i):
                following = self._loop(i, stack, scope, out)
            elif may_match(self, i, stack) and (matched := match_statement(self, i, stack, scope)) is not None:
                out.append(matched[0])
                following = matched[1]
            elif made.op == "BRANCH":
                following = self._branch(i, stack, scope, out)
            elif made.op == "POP_EXCEPT":
                stack = without_exception(stack)
                following = (self.flow.behind_name(made.next[0]), stack)
            elif made.op == "RERAISE":
                return None
            else:
                stack = list(stack)
                self.step(made, stack, out)
                if not made.next:
                    return None
                following = (made.next[0], stack)
            first = None
            if following is None:
                return None
            i, stack = following

    def _is_around(self, head: int, handler: int) -> bool:
        """Whether the loop is around the ``try`` that it begins with: it goes on where the handler is not in force."""
        return self.doubt("around", head, any(handler not in self.flow.handlers(k) for k in self.flow.loops[head]))

    def _plain(self, node: Any) -> Any:
        return self.put(node, NOWHERE)

    # -- branches --------------------------------------------------------------------------------------------------

    def _branch(self, i: int, stack: Stack, scope: Scope, out: Body) -> Exit:
        found = self.branch(i, stack, scope)
        if isinstance(found, Value):
            return found.at, found.stack
        if found.is_chain or found.yes[1] or found.no[1]:
            raise Uncapturable("a condition of an unknown form")
        if found.stack and not isinstance(found.stack[-1], Marker):
            case = guarded_case(self, found, found.stack)
            matched = None if case is None else match_statement(self, found.no[0], found.stack, scope, case)
            if matched is None:
                raise Uncapturable("a branch in the middle of an expression")
            out.append(matched[0])
            return matched[1]
        test, yes, no = found.test, found.yes[0], found.no[0]
        loop = scope.loop
        if self.doubt("turned", i, self._is_turned(i, yes, no, loop)):
            test, yes, no = negated(test), no, yes
        meet = self.choose("meet", i, (self.meeting(yes, no, scope, len(found.stack)), None))
        if loop is not None and meet in (loop.head, loop.end):
            meet = None
        inner = scope.until(meet)
        body, a = self.read(yes, found.stack, inner)
        orelse, b = self.read(no, found.stack, inner)
        for failed, holds, rest, condition in ((body, orelse, b, negated(test)), (orelse, body, a, test)):
            if self._is_failure(failed):
                failure: Any = failed[0]
                out.append(self._at(ast.Assert(condition, failure.msg), test))
                out += holds
                return rest
        if a is not None and b is not None and a[0] != b[0]:
            raise Uncapturable("branches that end at different places")
        only_jumps = loop is not None and yes in (loop.head, loop.end)
        if (
            a is None
            and (meet is None or b is None)
            and (only_jumps or not self.doubt("else", i, self._is_else(yes, no)))
        ):
            if only_jumps and yes == loop.head and not self.flow.instructions[i].continues:
                out.append(self._at(ast.If(negated(test), orelse, []), test))
                return b
            out.append(self._at(ast.If(test, body, []), test))
            out += orelse
            return b
        if not body:
            out.append(self._at(ast.If(negated(test), orelse or [self._plain(ast.Pass())], []), test))
        else:
            out.append(self._at(ast.If(test, body, orelse), test))
        return a if a is not None else b

    def _is_turned(self, i: int, yes: int, no: int, loop: Any) -> bool:
        """Whether the block for the value that is not true is the one that is written first."""
        head, end = (None, None) if loop is None else (loop.head, loop.end)
        if no == end or (no == head and self.flow.instructions[i].continues):  # ``break`` has a block of its own
            return True
        return yes > no and no != head and yes != end

    def _at(self, node: Any, test: Any) -> Any:
        return ast.copy_location(node, test)

    def _is_failure(self, body: Body) -> bool:
        """Whether this is ``assert False``, to which a branch belongs."""
        return len(body) == 1 and isinstance(body[0], ast.Assert) and getattr(body[0].test, "value", None) is False

    def _is_else(self, yes: int, no: int) -> bool:
        """Whether the second block is an ``else`` clause, as its column tells; else it follows the statement."""
        at = self.flow.instructions
        a, b = at[yes].position, at[no].position
        if None in (a[0], a[2], b[0], b[2]) or b[0] <= a[0]:  # type: ignore[operator]
            return False
        return self.column(no) >= self.column(yes)

    # -- loops -----------------------------------------------------------------------------------------------------

    def _loop(self, i: int, stack: Stack, scope: Scope, out: Body | None) -> Exit:
        at = self.flow.instructions
        inside = self.flow.loops.get(i, {i})
        if at[i].op == "FOR_ITER":
            return self._for(i, inside, stack, scope, out)
        test = self._test(i, inside, stack, scope) if at[i].op not in ("POP_EXCEPT", "RERAISE") else None
        if test is not None and not self.doubt("test", i, not self._is_branch_of_body(i, *test[:2])):
            test = None
        if test is None:
            end = self._end(i, None, inside, scope)
            body, rest = self.read(i, stack, self._in_loop(i, end, scope), first=i)
            return self._made(self._always(at[i].position), body, None, end, rest, stack, scope, out)
        condition, begin, exhausted = test
        end = self._end(i, exhausted, inside, scope)
        body, rest = self.read(begin, stack, self._in_loop(i, end, scope))
        node = self._at(ast.While(condition, [], []), condition)
        return self._made(node, body, exhausted, end, rest, stack, scope, out)

    def _in_loop(self, head: int, end: int | None, scope: Scope) -> Scope:
        outer = () if scope.loop is None else (scope.loop.head, *scope.loop.outer)
        return Scope(frozenset(), Loop(head, end, outer), scope.context)

    def _always(self, position: Any) -> Any:
        return self.put(ast.While(self.put(ast.Constant(True), position), [], []), position)

    def _test(self, i: int, inside: set[int], stack: Stack, scope: Scope) -> tuple[Any, int, int] | None:
        """The condition of a ``while``, where its body begins, and where it goes on when it does not hold."""
        found = self._from_head(i, stack, scope)
        if found is None or found.is_chain or found.yes[1] or found.no[1] or len(found.stack) != len(stack):
            return None
        yes, no = found.yes[0], found.no[0]
        test: Any = found.test
        if (yes in inside) == (no in inside):
            return None
        return (negated(test), no, yes) if no in inside else (test, yes, no)

    def _is_branch_of_body(self, head: int, test: Any, begin: int) -> bool:
        """Whether it is ``while True`` that begins with ``if ...: break``, as columns tell."""
        at, is_left = self.flow.instructions, self.column(begin) - test.col_offset
        return at[head].is_first and is_left in (-3, -7) and at[begin].position[0] != test.lineno

    def _from_head(self, i: int, stack: Stack, scope: Scope) -> Branch | None:
        if len(self.flow.handlers(i)) != len(() if scope.context is None else scope.context.inside):
            return None
        found = self._straight(i, stack, scope, set(), first=i)
        return found if isinstance(found, Branch) else None

    def _end(self, head: int, exhausted: int | None, inside: set[int], scope: Scope) -> int | None:
        """Where ``break`` goes: where the ways out of the loop meet, or what is written behind it."""
        exits = {n for i in inside for n in self.flow.instructions[i].next if n not in inside}
        exits.discard(-1 if exhausted is None else exhausted)
        around = [scope.loop.head, scope.loop.end] if scope.loop is not None else []
        ends = {*scope.stop, *(p for p in around if p is not None)}
        guards = () if scope.context is None else scope.context.inside
        reached = [self.flow.reach(n, ends, guards) for n in sorted(exits)]
        if exhausted is not None:
            own = self.flow.reach(exhausted, ends, guards)
            common = set().union(*reached) & own
        else:
            common = {i for k, some in enumerate(reached) for i in some if any(i in r for r in reached[k + 1 :])}
        likely = self.first(common or exits & ends, scope)
        if likely is None:
            clauses = [n for n in exits if self.flow.instructions[n].op in ("POP_EXCEPT", "RERAISE")]  # that end there
            likely = self._written_behind(exits, inside) or exhausted or (clauses[0] if len(clauses) == 1 else None)
        level = [p for p in sorted(set().union(*reached)) if self._is_behind(p, head, exhausted)]
        return self.choose("end", head, (likely, *level[:MOST_ENDS], exhausted))

    def _is_behind(self, place: int, head: int, exhausted: int | None) -> bool:
        """Whether code may go on there behind the loop, whose iterator is gone from the stack."""
        flow = self.flow
        depth = flow.depth[head] - (flow.instructions[head].op == "FOR_ITER")
        if flow.depth[place] != depth:
            return False
        return any(flow.depth[b] > depth or flow.instructions[b].op == "BRANCH" for b in flow.before[place])

    def _written_behind(self, exits: set[int], inside: set[int]) -> int | None:
        """The way out of a loop that is not written in its body, as columns tell."""
        at = self.flow.instructions
        body = min((p[2] for i in inside if (p := at[i].position)[2] is not None), default=0)
        last = max((p[0] for i in inside if (p := at[i].position)[0] is not None), default=0)
        for n in sorted(exits):
            place = at[n].next[0] if at[n].op == "POP_TOP" else n
            if 0 < self.column(place) < body or (not body and (at[place].position[0] or 0) > last):
                return place
        return None

    def _for(self, i: int, inside: set[int], stack: Stack, scope: Scope, out: Body | None) -> Exit:
        made = self.flow.instructions[i]
        iterator: Any = stack[-1]
        if not isinstance(iterator, Marker) or iterator.kind not in ("iterator", "iterated"):
            raise Uncapturable("a loop over something else than an iterator")
        begin, exhausted = made.next
        end = self._end(i, exhausted, inside, scope)
        if iterator.kind == "iterated" or self._is_collected(stack):
            end = exhausted
        item = self.put(Marker("item", None), made.position)
        body, rest = self.read(begin, [*stack, item], self._in_loop(i, end, scope))
        first: Any = body[0] if body else None
        if not isinstance(first, ast.Assign) or first.value is not item or len(first.targets) != 1:
            raise Uncapturable("a loop without a target")
        over = iterator.value if iterator.kind == "iterator" else iterator
        node = self.put(ast.For(first.targets[0], over, [], []), made.position)
        if self._is_collected(stack):
            return exhausted, self._collected(node, without_last(body[1:], ast.Continue), stack)
        return self._made(node, body[1:], exhausted, end, rest, stack[:-1], scope, out)

    def _made(
        self, node: Any, body: Body, exhausted: int | None, end: int | None, rest: Exit, stack: Stack, scope: Scope,
        out: Body | None,
    ) -> Exit:  # fmt: skip
        if rest is not None:
            raise Uncapturable("a loop with an unknown way out")
        if out is None:
            raise NotStraight
        node.body = without_last(body, ast.Continue) or [self._plain(ast.Pass())]
        out.append(node)
        if exhausted is not None and exhausted != end:
            node.orelse, last = self.read(exhausted, stack, scope.until(end))
            if last is not None and last[0] != end:
                return last
        return None if end is None else (end, stack)

    # -- comprehensions --------------------------------------------------------------------------------------------

    def _is_collected(self, stack: Stack) -> bool:
        """Whether the loop fills a container that nothing else has seen."""
        if len(stack) < 2:
            return False
        held: Any = stack[-2]
        empty = isinstance(held, ast.List | ast.Set) and not held.elts
        return empty or (isinstance(held, ast.Dict) and not held.keys)

    def _collected(self, loop: ast.For, body: Body, stack: Stack) -> Stack:
        held: Any = stack[-2]
        clauses, element = generators_of(loop, body)
        made: Any
        if isinstance(held, ast.Dict):
            made = ast.DictComp(element[0], element[1], clauses)
        else:
            made = (ast.ListComp if isinstance(held, ast.List) else ast.SetComp)(element, clauses)
        made = ast.copy_location(made, held)
        self.serial[id(made)] = (made, self.serial[id(held)][1])
        return [*stack[:-2], made]

    def comprehension(self, i: int, stack: Stack, scope: Scope) -> tuple[int, Stack]:
        if not self._is_collected(stack):
            raise NotStraight
        following = self._loop(i, stack, scope, None)
        assert following is not None
        return following

    # -- try and with ----------------------------------------------------------------------------------------------

    @abstractmethod
    def _guarded(self, handler: int, i: int, stack: Stack, scope: Scope, out: Body, first: int | None) -> Exit:
        """The ``try`` or ``with`` statement that begins at ``i``, with this handler: see `guarded.py`."""
