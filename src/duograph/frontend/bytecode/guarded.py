"""Statements with exception handlers: ``try`` and ``with``.

Their bodies are the places that a handler is for; where they end is where normal flow leaves these and what the handler
does meets. A ``finally`` clause is there once for exceptions, and as a copy on every other way out.
"""

from __future__ import annotations

import ast
from typing import Any

from ..rules.errors import Uncapturable
from .conditions import Scope, Value
from .instructions import NOWHERE
from .stack import Body, Marker, Stack
from .structure import Context, Exit, Structure


class Guarded(Structure):
    """Reads one function."""

    def _guarded(self, handler: int, i: int, stack: Stack, scope: Scope, out: Body, first: int | None) -> Exit:
        at = self.flow.instructions
        begin = at[handler].next[0]
        if at[begin].op == "WITH_EXCEPT_START":
            return self._with(handler, i, stack, scope, out)
        if {at[begin].op, *(at[n].op for n in at[begin].next)} == {"COPY", "BUILD_LIST"}:
            return self._except_star(handler, i, stack, scope, out, first)
        if at[begin].op == "POP_TOP" or self._asked(begin, "CHECK_EXC_MATCH") is not None:
            return self._except(handler, i, stack, scope, out, first)
        return self._finally(handler, i, stack, scope, out, first)

    def _within(self, handler: int, scope: Scope, final: bool = False) -> Context:
        outer = scope.context
        inside = () if outer is None else outer.inside
        return Context(handler, outer, (handler, *inside), final)

    def _asked(self, i: int, op: str) -> int | None:
        """Where the handler that begins at ``i`` asks for the class of the exception, if it does."""
        seen = set()
        work = [i]
        while work:
            i = work.pop()
            if self.flow.instructions[i].op == op:
                return i
            if i not in seen:
                seen.add(i)
                work.extend(self.flow.instructions[i].next)
        return None

    def _kind(self, i: int, stack: Stack, scope: Scope, op: str) -> tuple[Any, int]:
        """The class of exceptions that a clause asks for, and behind that."""
        asked = self._asked(i, op)
        found = None if asked is None else self._straight(i, stack, scope, {asked})
        if not isinstance(found, Value):
            raise Uncapturable("an except clause of an unknown form")
        return self.pop(found.stack), self.flow.instructions[found.at].next[0]

    def _with(self, handler: int, i: int, stack: Stack, scope: Scope, out: Body) -> Exit:
        at = self.flow.instructions
        exit_: Any = stack[-2] if len(stack) > 1 else None
        entered: Any = stack[-1] if stack else None
        if not isinstance(entered, Marker) or entered.kind != "entered":
            raise Uncapturable("a with statement of an unknown form")
        asked = at[at[at[handler].next[0]].next[0]]
        place = asked.next[0]
        for wanted in ("POP_TOP", "POP_EXCEPT", "POP_TOP", "POP_TOP"):
            if at[place].op != wanted:
                raise Uncapturable("a with statement of an unknown form")
            place = at[place].next[0]
        inner = Scope(scope.stop | {place}, scope.loop, self._within(handler, scope))
        body, rest = self.read(i, stack, inner)
        if rest is not None and rest[0] != place:
            raise Uncapturable("a with statement that ends elsewhere")
        first: Any = body[0] if body else None
        target = None
        if isinstance(first, ast.Assign) and first.value is entered:
            target, body = first.targets[0], body[1:]
        item = ast.withitem(exit_.value, target)
        node = ast.With([item], body or [self._plain(ast.Pass())])
        out.append(ast.copy_location(node, exit_))
        return place, stack[:-2]

    def _region(self, handler: int, i: int) -> tuple[set[int], set[int]]:
        """The places that the handler is for, and where normal flow goes from there."""
        inside: set[int] = set()
        exits: set[int] = set()
        work = [i]
        while work:
            k = work.pop()
            if k in inside or k in exits:
                continue
            around = self.flow.handlers(k)
            if handler not in around:
                exits.add(k)
                continue
            inside.add(k)
            work.extend(self.flow.instructions[k].next)
            work.extend(around[: around.index(handler)])
        return inside, exits

    def _meeting_of(self, ways: list[set[int]], scope: Scope) -> int | None:
        common = {i for k, some in enumerate(ways) for i in some if any(i in r for r in ways[k + 1 :])}
        return self.first(common, scope)

    def _ways(self, places: list[int], scope: Scope) -> list[set[int]]:
        around = [scope.loop.head, scope.loop.end] if scope.loop is not None else []
        ends = {*scope.stop, *(p for p in around if p is not None)}
        guards = () if scope.context is None else scope.context.inside
        return [self.flow.reach(p, ends, guards) for p in places]

    def _level(self, places: Any, stack: Stack, begin: int, scope: Scope) -> list[int]:
        """Those of the places where a statement that began at ``begin`` may end: nothing else lies on the stack, and
        they are not written inside of it, as far as columns tell."""
        level = sorted(p for p in places if self.flow.depth[p] <= len(stack))
        column = self.column(begin)
        return [p for p in level if self._is_end(p, scope) or not column or self.column(p) < column] or level

    def _is_end(self, place: int, scope: Scope) -> bool:
        loop = scope.loop
        return place in scope.stop or (loop is not None and place in (loop.head, loop.end))

    def _except(self, handler: int, i: int, stack: Stack, scope: Scope, out: Body, first: int | None) -> Exit:
        at = self.flow.instructions
        _, exits = self._region(handler, i)
        normal = self._level(exits, stack, i, scope)
        caught = self._level(self._clause_ends(handler), stack, i, scope)
        end = self.choose("end", handler, (self._end_of_try(i, normal, caught, scope), *normal[:4], *caught[:4], None))
        clauses = sorted(p for p in exits - {end} if self.flow.depth[p] <= len(stack) and not self._is_end(p, scope))
        ways = self._ways(clauses, scope)
        otherwise = [p for p, way in zip(clauses, ways, strict=True) if end is not None and end in way]
        begin = self.choose("else", handler, (otherwise[0] if otherwise else None, *clauses, None))
        context = self._within(handler, scope)
        body, _ = self.read(
            i, stack, Scope(scope.stop | {p for p in (end, begin) if p is not None}, scope.loop, context), first
        )
        orelse: Body = []
        if begin is not None:
            orelse, _ = self.read(begin, stack, scope.until(end))
        handlers = []
        place: int | None = at[handler].next[0]
        while place is not None and at[place].op != "RERAISE":
            clause, place = self._clause(place, stack, scope.until(end))
            handlers.append(clause)
        node = ast.Try(body or [self._plain(ast.Pass())], handlers, orelse, [])
        out.append(self.put(node, at[i].position))
        return None if end is None else (end, stack)

    def _end_of_try(self, begin: int, normal: list[int], caught: list[int], scope: Scope) -> int | None:
        ways = self._ways([*normal, *caught], scope)
        n = len(normal)
        common: set[int] = set()
        for x in range(len(ways)):
            for y in range(max(x + 1, n), len(ways)):  # a clause meets another one, or what follows the body
                common |= ways[x] & ways[y]
        if common:
            return self.first(common, scope)
        columns = {p: column for p in (*normal, *caught) if 0 < (column := self.column(p)) < self.column(begin)}
        if columns:
            return self.first({p for p, column in columns.items() if column == min(columns.values())}, scope)
        if len(normal) > 1:
            shared = self._meeting_of(ways[:n], scope)
            if shared is not None:
                return shared
        if not normal:
            return caught[0] if len(caught) == 1 else None
        if any(self._is_end(p, scope) for p in normal):
            return max(normal)
        places = [*normal, *(p for p in caught if not self._is_end(p, scope))]
        return max(places, key=lambda p: (self._line(p), p))  # what follows is written last

    def _line(self, i: int) -> int:
        """The line of what is done at ``i``, as far as that is known."""
        at = self.flow.instructions
        while at[i].position[0] is None and len(at[i].next) == 1:
            i = at[i].next[0]
        return at[i].position[0] or 0

    def _clause_ends(self, handler: int) -> set[int]:
        """Where the clauses of a handler go on after they have dealt with the exception."""
        found: set[int] = set()
        seen: set[tuple[int, int]] = set()
        outside = set(self.flow.handlers(handler))
        work = [(handler, 0)]
        while work:
            i, depth = work.pop()
            if (i, depth) in seen or depth > 20:
                continue
            seen.add((i, depth))
            made = self.flow.instructions[i]
            if made.op == "POP_EXCEPT" and depth == 1:
                found.add(self.flow.behind_name(made.next[0]))
                continue
            inner = self.flow.handler(i)
            if inner is not None and inner not in outside:
                work.append((inner, depth))
            depth += (made.op == "PUSH_EXC_INFO") - (made.op == "POP_EXCEPT")
            work += [(n, depth) for n in made.next]
        return found

    def _clause(self, i: int, stack: Stack, scope: Scope) -> tuple[ast.ExceptHandler, int | None]:
        """One ``except`` clause, and where the next begins."""
        at = self.flow.instructions
        caught = self.put(Marker("exception", None), NOWHERE)
        inner: Stack = [*stack, self.put(Marker("previous", None), NOWHERE), caught]
        kind: Any = None
        following: int | None = None
        position = at[i].position
        if at[i].op != "POP_TOP":
            kind, i = self._kind(i, inner, scope, "CHECK_EXC_MATCH")
            i, following = at[i].next
        name = None
        if at[i].op.startswith("STORE_"):
            name = at[i].arg
            self.functions.note(self, at[i])
        inner = inner[:-1]
        body, rest = self.read(at[i].next[0], inner, scope)
        if rest is not None and rest[0] not in scope.stop:
            raise Uncapturable("an except clause that ends elsewhere")
        clause = ast.ExceptHandler(kind, name, body or [self._plain(ast.Pass())])
        return self.put(clause, position), following

    def do_PUSH_EXC_INFO(self, made: Any, stack: Stack, out: Body | None) -> None:
        raise Uncapturable("an exception handler outside of try")

    def _finally(self, handler: int, i: int, stack: Stack, scope: Scope, out: Body, first: int | None) -> Exit:
        at = self.flow.instructions
        final = at[handler].next[0]
        _, exits = self._region(handler, i)
        behind = {p for k in exits if (p := self.flow.behind_final(handler, k)) is not None}
        normal = self._level(behind, stack, i, scope)
        ways = self._ways(normal, scope)
        end = self._meeting_of(ways, scope)
        if end is None and normal:
            end = max(normal)
        end = self.choose("end", handler, (end, *normal[:4], None))
        context = self._within(handler, scope, True)
        until = Scope(scope.stop | ({end} if end is not None else set()), scope.loop, context)
        body, _ = self.read(i, stack, until, first)
        held = [self.put(Marker(k, None), NOWHERE) for k in ("previous", "exception")]
        last, rest = self.read(final, [*stack, *held], Scope(frozenset(), scope.loop, scope.context))
        if rest is not None:
            raise Uncapturable("a finally clause of an unknown form")
        node: Any = ast.Try(body or [self._plain(ast.Pass())], [], [], last or [self._plain(ast.Pass())])
        inner: Any = body[0] if len(body) == 1 else None
        if isinstance(inner, ast.Try | ast.TryStar) and not inner.finalbody:
            node = type(inner)(inner.body, inner.handlers, inner.orelse, node.finalbody)
        out.append(self.put(node, at[i].position))
        return None if end is None else (end, stack)

    # -- except* ---------------------------------------------------------------------------------------------------

    def _except_star(self, handler: int, i: int, stack: Stack, scope: Scope, out: Body, first: int | None) -> Exit:
        """``try`` with ``except*``: each clause gets its part of the group, and what is left goes to the next one."""
        at = self.flow.instructions
        place = at[handler].next[0]
        while at[place].op in ("COPY", "BUILD_LIST", "SWAP"):  # a list of what clauses raise
            place = at[place].next[0]
        clauses = []
        while at[place].op != "LIST_APPEND":
            clause, place = self._part(place, stack, scope)
            clauses.append(clause)
        ends = sorted(p for p in self._clause_ends(handler) if at[p].op != "RERAISE")
        if len(ends) != 1:
            raise Uncapturable("an except* clause of an unknown form")
        end = ends[0]
        normal = self._level(self._region(handler, i)[1], stack, i, scope)
        begin = self.choose("else", handler, (next((p for p in normal if p != end), None), *normal, None))
        around = self._within(handler, scope)
        inner = Scope(scope.stop | {p for p in (end, begin) if p is not None}, scope.loop, around)
        body, _ = self.read(i, stack, inner, first)
        orelse: Body = []
        if begin is not None and begin != end:
            orelse, _ = self.read(begin, stack, scope.until(end))
        out.append(self.put(ast.TryStar(body or [self._plain(ast.Pass())], clauses, orelse, []), at[i].position))
        return end, stack

    def _raises_rest(self, i: int) -> bool:
        return self.flow.instructions[i].op in ("PREP_RERAISE_STAR", "CALL_INTRINSIC_2")

    def _part(self, i: int, stack: Stack, scope: Scope) -> tuple[ast.ExceptHandler, int]:
        """One ``except*`` clause, and where the next begins."""
        at = self.flow.instructions
        held = [self.put(Marker(k, None), NOWHERE) for k in ("previous", "exception", "raised", "exception")]
        inner: Stack = [*stack, *held]
        position = at[i].position
        kind, i = self._kind(i, inner, scope, "CHECK_EG_MATCH")
        while at[i].op != "BRANCH":  # whether there is a part of this kind
            i = at[i].next[0]
        none, i = at[i].next
        following = at[none].next[0]
        ends = {following}
        if at[following].op == "LIST_APPEND":  # the last clause: where it ends may have copies
            ends |= {k for k, made in enumerate(at) if made.op == "LIST_APPEND" and self._raises_rest(made.next[0])}
        name = at[i].arg if at[i].op.startswith("STORE_") else None
        if name is not None:
            self.functions.note(self, at[i])
        body, _ = self.read(at[i].next[0], inner, scope.until(*ends))
        match body[-2:]:
            case [ast.Assign(value=ast.Constant(None)), ast.Delete(targets=[ast.Name(id=deleted)])] if deleted == name:
                body = body[:-2]  # by the compiler
        return self.put(ast.ExceptHandler(kind, name, body or [self._plain(ast.Pass())]), position), following
