"""``match`` statements: one case after the other, and where they meet."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ..rules.errors import Uncapturable
from .conditions import Branch, Scope
from .instructions import NOWHERE
from .patterns import NoPattern, Patterns
from .stack import Marker, Stack
from .tidy import negated

if TYPE_CHECKING:
    from .structure import Exit, Structure


class _Case:
    """A pattern with its guard; ``body``: where what it guards begins, ``others``: where code goes on else."""

    def __init__(self, pattern: Any, guard: Any, body: int, others: int | None) -> None:
        self.pattern, self.guard, self.body, self.others = pattern, guard, body, others


def may_match(reader: Structure, i: int, stack: Stack) -> bool:
    """Whether a ``match`` may begin at ``i``, whose value is on the stack."""
    if not stack or isinstance(stack[-1], Marker) or (len(stack) > 1 and not isinstance(stack[-2], Marker)):
        return False
    made = reader.flow.instructions[i]
    if made.op in ("MATCH_SEQUENCE", "MATCH_MAPPING") or i in _classes(reader):
        return True
    if made.op != "COPY" or made.arg != 1:
        return False
    following = reader.flow.instructions[made.next[0]]
    line, _, column, _ = following.position
    is_target = (line, column) < (stack[-1].lineno, stack[-1].col_offset) if line and column is not None else False
    return following.op != "BRANCH" and reader.doubt("match", i, not is_target)  # ``a = b = value`` begins like it


def _classes(reader: Structure) -> set[int]:
    """Where the pattern of a class begins that is the only one: with the class, over the value."""
    if reader.class_patterns is None:
        flow, found = reader.flow, set()
        for i, made in enumerate(flow.instructions):
            if made.op == "MATCH_CLASS":
                wanted = flow.depth[i] - 2
                while flow.depth[i] != wanted and len(flow.before[i]) == 1:
                    (i,) = flow.before[i]
                found.add(i)
        reader.class_patterns = found
    return reader.class_patterns


def match_statement(
    reader: Structure, i: int, stack: Stack, scope: Scope, first: _Case | None = None
) -> tuple[Any, Exit] | None:
    """The statement that begins at ``i``, and where code goes on; ``None`` if there is none. ``first``: a case before
    ``i`` that has been read."""
    flow, depth = reader.flow, reader.flow.depth[i]
    known = set(reader.globals), set(reader.nonlocals), dict(reader.targets), list(reader.gathered)
    cases: list[_Case] = [] if first is None else [first]
    begun = len(cases)
    place: int | None = i
    try:
        while place is not None and flow.depth[place] == depth and (len(cases) == begun or place > i):
            cases.append((cases and _only_guarded(reader, place, stack, scope)) or _case(reader, place, stack, scope))
            place = cases[-1].others
    except NoPattern:
        if not cases:
            reader.globals, reader.nonlocals, reader.targets, reader.gathered = known
            return None
        raise Uncapturable("a match statement of an unknown form") from None
    if place is None and cases[-1].guard is None and len(cases) == 1:
        return None  # it is stored, no more
    subject = reader.pop([stack[-1]])
    rest = stack[:-1]
    end = reader.choose("meet", i, (_meeting(reader, [case.body for case in cases], place, scope), None))
    inner = scope.until(end)
    node = ast.Match(subject, [])
    last: Exit = None
    for case in cases:
        body, left = reader.read(case.body, rest, inner)
        last = left or last
        node.cases.append(ast.match_case(case.pattern, case.guard, body or [reader.put(ast.Pass(), NOWHERE)]))
    if place is not None and place != end and (end is not None or _is_inside(reader, place, cases)):
        body, left = reader.read(place, rest, inner)
        last = left or last
        node.cases.append(ast.match_case(ast.MatchAs(None, None), None, body or [reader.put(ast.Pass(), NOWHERE)]))
    elif end is None and place is not None:
        last = (place, rest)
    for part in ast.walk(node):
        if isinstance(part, ast.pattern) and not hasattr(part, "lineno"):
            ast.copy_location(part, subject)
    return ast.copy_location(node, subject), last


def _is_inside(reader: Structure, place: int, cases: list[_Case]) -> bool:
    """Whether the statement at ``place`` is written in a last case, as its column tells; else it follows."""
    columns = [reader.column(case.body) for case in cases]
    return all(columns) and reader.column(place) >= min(columns)


def _meeting(reader: Structure, bodies: list[int], others: int | None, scope: Scope) -> int | None:
    """Where the cases meet."""
    places = [*bodies, *([] if others is None else [others])]
    around = [scope.loop.head, scope.loop.end] if scope.loop is not None else []
    ends = {*scope.stop, *(p for p in around if p is not None)}
    guards = reader.flow.handlers(bodies[0]) if scope.context is None else scope.context.inside
    ways = [reader.flow.reach(p, ends, guards) for p in places]
    common = {i for k, some in enumerate(ways) for i in some if any(i in other for other in ways[k + 1 :])}
    meet = reader.first({i for i in common if reader.may_end(i, reader.flow.depth[bodies[0]], scope)}, scope)
    return None if meet in around else meet


def _case(reader: Structure, i: int, stack: Stack, scope: Scope) -> _Case:
    patterns = Patterns(reader.flow)
    way, root, is_kept = patterns.case(i)
    at = reader.flow.instructions
    place, others, guard = way.at, way.fails, None
    if not (is_kept and at[place].op == "POP_TOP"):
        held = [*stack[:-1], reader.put(Marker("subject"), NOWHERE)] if is_kept else stack[:-1]
        found = reader._straight(place, held, scope, set())
        fits = isinstance(found, Branch) and not (found.is_chain or found.yes[1] or found.no[1])
        if isinstance(found, Branch) and fits:
            if others not in (None, patterns.behind_pops(found.no[0])):
                found = _turned(found)
            fits = others in (None, patterns.behind_pops(found.no[0]))
        if isinstance(found, Branch) and fits:
            guard, place = found.test, found.yes[0]
            others = patterns.behind_pops(found.no[0])
        elif is_kept:
            raise NoPattern
    if is_kept:
        if at[place].op != "POP_TOP" or (guard is not None and _has_marker(guard)):
            raise NoPattern
        place = at[place].next[0]
    if others is None and guard is None and not patterns.names:
        raise NoPattern
    pattern = patterns.pattern(root, way.facts)
    for k in way.passed:
        if at[k].op.startswith("STORE_"):
            reader.functions.note(reader, at[k])
    return _Case(pattern, guard, place, others)


def _only_guarded(reader: Structure, i: int, stack: Stack, scope: Scope) -> _Case | None:
    """``case _ if ...`` before other cases, of which 3.12 leaves the guard, and that the value is thrown away then."""
    at = reader.flow.instructions
    if not at[i].op.startswith("LOAD_"):
        return None
    found = reader._straight(i, [*stack[:-1], reader.put(Marker("subject"), NOWHERE)], scope, set())
    return guarded_case(reader, found, stack) if isinstance(found, Branch) else None


def guarded_case(reader: Structure, found: Branch, stack: Stack) -> _Case | None:
    """``case _ if ...``, if the branch is its guard: the value stays on the stack for others, or is thrown away."""
    at, flow = reader.flow.instructions, reader.flow
    if found.is_chain or found.yes[1] or found.no[1] or _has_marker(found.test) or len(found.stack) != len(stack):
        return None
    if at[found.yes[0]].op != "POP_TOP":
        found = _turned(found)
    yes, no = found.yes[0], found.no[0]
    if at[yes].op != "POP_TOP" or flow.depth[no] != flow.depth[yes]:
        return None
    return _Case(ast.MatchAs(None, None), found.test, at[yes].next[0], no)


def _turned(found: Branch) -> Branch:
    """The branch of a guard ``not a``, which is taken if ``a`` is true."""
    return Branch(negated(found.test), found.no, found.yes, found.stack, found.owned)


def _has_marker(test: Any) -> bool:
    return any(isinstance(n, Marker) for n in ast.walk(test))
