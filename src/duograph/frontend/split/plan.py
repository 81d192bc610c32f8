"""The plan of a cut: which statements of a function run as plain Python, and what happens to those between them.

A function that has one statement that cannot be captured is rewritten. What stands before and after the statement
becomes *segments*: functions of their own over the variables they read, each compiled with its own guards and versions.
The rest is the *skeleton*, ordinary Python, which runs the statement and calls the segments:

    def step(x):                            def step(x):
        y = net(x).relu()                       y = <segment 0>(x)
        log.info("mean %s", y.mean())   ->      log.info("mean %s", y.mean())
        return y * 2 + 1                        return <segment 1>(y)

Of a loop, a branch, a ``with`` or a ``try`` statement with such a statement inside, the header stays in the skeleton,
and its blocks are cut in the same way. So local variables, closures, loops and exceptions stay Python's own.

The segments hold what the plain statements would do: variables that an exception handler reads are bound at their own
statements; a variable that a closure shares is bound in the skeleton alone; one that may be unbound where a segment
begins is not read early.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..rules.remedies import remedy
from ..source.load import FunctionSource
from ..source.scope import contains_yield, names_of
from .blocks import COMPOUND, binds_early, leaves_loop, own_nodes, own_part, own_statements
from .flow import Flow, Point
from .foreign import Kinds, root_name, works
from .frames import looks_at_frames
from .hoist import Hoister, Place
from .uses import FUNCTIONS

N = TypeVar("N", bound=ast.AST)

BORDER = "border"

RESULT, ENDED, BEGAN = ".result", ".ended", ".began"
COMPILED, BOUND, CLOCK, SEGMENT, FOLD = ".compiled", ".bound", ".clock", ".segment", ".fold"
"""Variables of the skeleton, under names that no program can have."""


def place_of(node: ast.stmt) -> Place:
    """What names a statement in every copy of its tree."""
    return (type(node).__name__, node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def border_before(node: ast.stmt) -> Place:
    """The place that lets a segment begin at ``node``."""
    return (BORDER, *place_of(node)[1:])


@dataclass(slots=True)
class Break:
    """A statement that runs as plain Python.

    Attributes:
        reason: why it cannot be captured.
        span: where.
        spent: how often it ran, and the seconds that took; of a statement with blocks, only how often.
    """

    reason: str
    span: Any
    spent: list[Any] = field(default_factory=lambda: [0, 0.0])

    @property
    def times(self) -> int:
        """How often it ran."""
        return self.spent[0]  # type: ignore[no-any-return]

    @property
    def hint(self) -> str:
        """What to change."""
        return remedy(self.reason)

    @property
    def milliseconds(self) -> float:
        """What that took in all."""
        return self.spent[1] * 1e3  # type: ignore[no-any-return]

    @property
    def account(self) -> str:
        """How often it ran, and how long."""
        return f"{self.times} times, {self.milliseconds:.1f} ms in Python"

    def __str__(self) -> str:
        return f"{self.reason} at {self.span}" if self.span is not None else self.reason


@dataclass(slots=True)
class Segment:
    """Statements that are compiled together.

    Attributes:
        name: the variable that holds it in the skeleton.
        run: its statements.
        parameters: local variables that it reads.
        results: those that it binds and others read.
        node: a function of them.
        places: where its statements are.
    """

    name: str
    run: list[ast.stmt]
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    node: ast.FunctionDef
    places: tuple[Place, ...]

    @property
    def key(self) -> Any:
        """Equal for segments that compute the same of the same function."""
        return (self.places, self.parameters, self.results, ast.dump(self.node.args), len(self.node.body))


@dataclass(slots=True)
class Plan:
    """A function as its skeleton and its segments.

    Attributes:
        called: names of what the skeleton calls, and may be compiled when it is.
        calls_variables: whether it calls local variables or results of calls, of which nothing is known before.
    """

    skeleton: ast.FunctionDef | ast.AsyncFunctionDef
    segments: list[Segment] = field(default_factory=list)
    counted: dict[str, Place] = field(default_factory=dict)
    """Variables of the skeleton that hold `Break.spent` of the statement at a place."""
    called: set[str] = field(default_factory=set)
    calls_variables: bool = False


def can_be_cut(source: FunctionSource, variables: Mapping[str, Any]) -> bool:
    """Whether a function whose names stand for these variables outside of it may be rewritten at all."""
    node = source.node
    if isinstance(node, ast.Lambda) and source.names.is_generator:
        return False
    return not looks_at_frames(node, variables)


def exits_of(source: FunctionSource) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Where a generator, or an asynchronous function, is left and entered again, and what it does there."""
    body = source.node.body
    for node in own_nodes(body) if isinstance(body, list) else ():
        if isinstance(node, ast.Yield | ast.YieldFrom):
            yield node, "yield"
        elif isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
            yield node, "await"


def plan_cuts(
    source: FunctionSource,
    places: frozenset[Place],
    kind_of: Callable[[str], str],
    counted: Collection[Place] = (),
) -> Plan:
    """The plan that runs the statements and expressions at ``places`` as plain Python.

    Args:
        source: the function.
        places: statements (`place_of`), expressions (`hoist.value_place`), and borders of segments (`border_before`).
        kind_of: what a global name stands for (`Kinds`).
        counted: those of the places that the skeleton counts and times.
    """
    return _Planner(source, places, kind_of, counted).plan()


class _Planner:
    def __init__(
        self,
        source: FunctionSource,
        places: frozenset[Place],
        kind_of: Callable[[str], str],
        counted: Collection[Place],
    ) -> None:
        node = source.node
        assert not isinstance(node, ast.Lambda)
        self.places, self.to_count = places, counted
        self.counted: dict[str, Place] = {}
        a = node.args
        self.order = [x.arg for x in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if x is not None]
        first = [p.arg for p in (*a.posonlyargs, *a.args)]
        kinds = self.kinds = Kinds(kind_of, source.names.own, COMPILED)
        self._look(node, source.names.own, first)
        self.calls = _Calls(kinds, set().union(*(self.flow.uses(n).made for n in node.body)))
        deleted = [self.flow.uses(n).deletes for n in node.body]
        hoister = Hoister(places, self.flow, self.shared.union(self.rebound, *deleted), kinds)
        body = hoister.rewritten(node.body)
        self.plain, self.foreign = hoister.plain, hoister.foreign
        if hoister.variables or body is not node.body:
            made = copy.copy(node)
            made.body = body
            self._look(made, source.names.own | hoister.variables, first)
        self.hoisted = hoister.variables
        self.segments: list[Segment] = []
        self.number = 0

    def _look(self, node: ast.FunctionDef | ast.AsyncFunctionDef, own: set[str], first: list[str]) -> None:
        """Looks at how variables are used."""
        self.node, self.own = node, own
        self.flow = Flow(node.body, own, set(self.order), first[0] if first else "")
        self.declared = [n for n in own_statements(node.body) if isinstance(n, ast.Global | ast.Nonlocal)]
        self.rebound: set[str] = set().union(*(self.flow.uses(n).rebound for n in node.body))
        self.shared = self._shared_variables()

    def plan(self) -> Plan:
        skeleton = copy.copy(self.node)
        skeleton.decorator_list = []
        skeleton.body = self._block(self.node.body, is_last=True) or list(self.node.body)
        skeleton.body = [*self.declared, *self._locals(skeleton), *skeleton.body]
        calls_variables = self.calls.has_results or not self.own.isdisjoint(self.calls.names)
        return Plan(skeleton, self.segments, self.counted, self.calls.names, calls_variables)

    def _locals(self, skeleton: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        """Annotations without values, which do nothing, but make variables local: those that only segments bind."""
        read = {n.id for statement in skeleton.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
        names = sorted((self.own & read) - names_of(skeleton).own)
        made = [ast.AnnAssign(ast.Name(n, ast.Store()), ast.Constant(None), None, 1) for n in names]
        return [ast.fix_missing_locations(ast.copy_location(one, self.node)) for one in made]

    def _shared_variables(self) -> set[str]:
        """Variables whose cells matter: a closure may see them bound again, or before they are bound."""
        uses = self.flow.uses
        whole: dict[str, int] = dict.fromkeys(self.order, 1)
        statements = list(own_statements(self.node.body))
        in_loops = set(own_statements(s for s in statements if isinstance(s, ast.For | ast.While)))
        shared: set[str] = set()
        for node in statements:
            found = own_part(node, uses)
            shared |= found.rebound
            for name in found.binds | found.deletes:
                whole[name] = whole.get(name, 0) + (2 if node in in_loops or name in found.deletes else 1)
            point = self.flow.points.get(node)
            if point is not None:
                shared |= found.captured - point.bound - found.binds
        captured = set().union(*(uses(n).captured for n in self.node.body))
        return shared | {name for name in captured if whole.get(name, 0) > 1}

    # -- blocks ------------------------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt], is_last: bool = False) -> list[ast.stmt]:
        """A block of the skeleton. ``is_last``: the function ends where it ends."""
        made: list[ast.stmt] = []
        run: list[ast.stmt] = []
        bound: set[str] = set()  # by the run, read by handlers

        def flush(ends: bool) -> None:
            made.extend(self._segment(run, ends))
            run.clear()
            bound.clear()

        for node in body:
            if isinstance(node, ast.Global | ast.Nonlocal):
                continue
            if self._stays(node):
                flush(False)
                made.extend(self._counting(node, self._python(node, is_last and node is body[-1])))
                made.extend(self._dropped(node, self.flow.uses(node).reads, self.flow.points[node]))
                continue
            if bound or border_before(node) in self.places:
                flush(False)
            run.append(node)
            bound |= self.flow.uses(node).binds & self.flow.points[node].handled
        flush(is_last)
        return made

    def _stays(self, node: ast.stmt) -> bool:
        """Whether a statement is part of the skeleton, at least its header."""
        inside = list(own_statements([node]))
        if any(n in self.plain or place_of(n) in self.places for n in inside):
            return True
        uses = self.flow.uses(node)
        point = self.flow.points[node]
        if (uses.binds | uses.deletes) & self.shared or uses.captured & self.shared or uses.reads & self.rebound:
            return True
        if isinstance(node, ast.Delete) and uses.deletes:
            return True
        if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef | ast.Raise) or contains_yield(node):
            return True
        if any(isinstance(n, ast.ClassDef) for n in inside) or leaves_loop(node):
            return True
        if uses.binds & point.handled and (isinstance(node, COMPOUND) or binds_early(node)):
            return True
        bound = uses.binds & point.live
        return point.ends and bool(bound - point.bound_after)

    def _python(self, node: ast.stmt, is_last: bool) -> ast.stmt:
        """A statement of the skeleton: its blocks are cut, and what it calls is compiled if that can be."""
        made = copy.copy(node)
        if isinstance(made, ast.If):
            made.test = self.calls.of(made.test)
            made.body, made.orelse = self._inner(made.body, is_last), self._block(made.orelse, is_last)
        elif isinstance(made, ast.For):
            made.iter = self.calls.of(made.iter)
            made.body, made.orelse = self._inner(made.body), self._block(made.orelse)
        elif isinstance(made, ast.While):
            made.test = self.calls.of(made.test)
            made.body, made.orelse = self._inner(made.body), self._block(made.orelse)
        elif isinstance(made, ast.With):
            made.items = [self.calls.of(item) for item in made.items]
            made.body = self._inner(made.body)
        elif isinstance(made, ast.Try | ast.TryStar):
            made.body, made.orelse = self._inner(made.body), self._block(made.orelse)
            made.finalbody = self._block(made.finalbody)
            made.handlers = [copy.copy(h) for h in made.handlers]
            for handler in made.handlers:
                handler.body = self._inner(handler.body)
        elif isinstance(made, ast.Match):
            made.subject = self.calls.of(made.subject)
            made.cases = [copy.copy(case) for case in made.cases]
            for case in made.cases:
                case.body = self._inner(case.body, is_last)
        elif isinstance(made, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Assert):
            return self.calls.of(node)
        return made

    def _counting(self, node: ast.stmt, made: ast.stmt) -> Iterator[ast.stmt]:
        """``made``, which the skeleton has for ``node``, and what counts and times it."""
        place = self.foreign.get(node, place_of(node))
        if place not in self.to_count or contains_yield(node):
            yield made
            return
        name = f".spent{len(self.counted)}"
        self.counted[name] = place
        yield _added(name, 0, ast.Constant(1), node)
        if isinstance(node, (*COMPOUND, *FUNCTIONS, ast.ClassDef)):
            yield made
            return
        clock = ast.Call(_name(CLOCK, node), [], [])
        yield _place(ast.Assign([_name(BEGAN, node, ast.Store())], clock), node)
        returns = isinstance(made, ast.Return) and made.value is not None
        if isinstance(made, ast.Return) and made.value is not None:
            yield _place(ast.Assign([_name(RESULT, node, ast.Store())], made.value), node)
        else:
            yield made
        spent = ast.BinOp(copy.deepcopy(clock), ast.Sub(), _name(BEGAN, node))
        yield _added(name, 1, spent, node)
        if returns:
            yield _place(ast.Return(_name(RESULT, node)), node)

    def _inner(self, body: list[ast.stmt], is_last: bool = False) -> list[ast.stmt]:
        return self._block(body, is_last) or [ast.copy_location(ast.Pass(), body[0])]

    # -- segments ----------------------------------------------------------------------------------------------

    def _segment(self, run: list[ast.stmt], is_last: bool) -> Iterator[ast.stmt]:
        """The statements of the skeleton for ``run``; what computes nothing at its borders stays as it is."""
        start, end = 0, len(run)
        while start < end and not works(run[start], self.kinds):
            start += 1
        while (
            end > start
            and not works(run[end - 1], self.kinds)
            and not (is_last and isinstance(run[end - 1], ast.Return))
        ):
            end -= 1
        yield from run[:start]
        if start < end and any(works(n, self.kinds) for n in run[start:end]):
            yield from self._call(run[start:end], is_last and end == len(run))
        else:
            end = start
        yield from run[end:]

    def _call(self, run: list[ast.stmt], is_last: bool) -> Iterator[ast.stmt]:
        """The call of a segment made of ``run``."""
        points = [self.flow.points[n] for n in run]
        uses = [self.flow.uses(n) for n in run]
        binds: set[str] = set().union(*(u.binds for u in uses))
        returns = any(isinstance(n, ast.Return) for n in own_statements(run))
        ends = points[-1].ends and not is_last
        results = tuple(sorted(binds & points[-1].live)) if ends else ()
        parameters = self._parameters(run, results)
        leaves = any(u.made & set(results) for u in uses)
        if leaves:  # a closure that is made anew at each call would be compiled for at each call
            yield from run
            return
        name = f"{SEGMENT}{self.number}"
        self.number += 1
        body = [_with_flags(n) for n in run] if returns and ends else list(run)
        at = run[-1]
        if ends:
            values: list[ast.expr] = [_name(r, at) for r in results]
            if returns:
                values.insert(0, ast.copy_location(ast.Constant(False), at))
            if returns or len(values) > 1:
                body.append(_place(ast.Return(ast.Tuple(values, ast.Load())), at))
            elif values:
                body.append(_place(ast.Return(values[0]), at))
        self.segments.append(self._function(name, parameters, results, body, run))
        yield from self._calling(name, parameters, results, run, returns, ends)

    def _parameters(self, run: list[ast.stmt], results: tuple[str, ...]) -> tuple[str, ...]:
        """What is read from before, in an order that keeps ``self`` first."""
        read = self.flow.exposed(run, frozenset(results))
        names = [n for n in self.order if n in read]
        return (*names, *sorted(read.difference(names)))

    def _function(
        self,
        name: str,
        parameters: tuple[str, ...],
        results: tuple[str, ...],
        body: list[ast.stmt],
        run: list[ast.stmt],
    ) -> Segment:
        args = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
        node = ast.FunctionDef(**dict(ast.iter_fields(self.node)))
        node.args, node.body, node.decorator_list, node.returns = args, [*self._declarations(run), *body], [], None
        for arg in args.args:
            ast.copy_location(arg, run[0])
        node.lineno, node.col_offset = run[0].lineno, run[0].col_offset
        node.end_lineno, node.end_col_offset = run[-1].end_lineno, run[-1].end_col_offset
        return Segment(name, list(run), parameters, results, node, tuple([place_of(n) for n in run]))

    def _declarations(self, run: list[ast.stmt]) -> list[ast.stmt]:
        """``global`` and ``nonlocal`` for the names in ``run``."""
        used = {n.id for s in run for n in ast.walk(s) if isinstance(n, ast.Name)}
        made: list[ast.stmt] = []
        for node in self.declared:
            names = [n for n in node.names if n in used]
            if names:
                made.append(ast.copy_location(type(node)(names), run[0]))
        return made

    def _calling(
        self,
        name: str,
        parameters: tuple[str, ...],
        results: tuple[str, ...],
        run: list[ast.stmt],
        returns: bool,
        ends: bool,
    ) -> Iterator[ast.stmt]:
        at = run[0]
        bound = self.flow.points[at].bound
        call: ast.expr = ast.Call(_name(name, at), [_name(p, at) for p in parameters], [])
        made: list[ast.stmt] = []
        if not ends:
            made.append(ast.Return(call))
        elif returns:
            made.append(ast.Assign([_name(RESULT, at, ast.Store())], call))
            first = ast.Subscript(_name(RESULT, at), ast.Constant(0), ast.Load())
            second = ast.Subscript(_name(RESULT, at), ast.Constant(1), ast.Load())
            made.append(ast.If(first, [ast.Return(second)], []))
            if results:
                targets: list[ast.expr] = [_name(ENDED, at, ast.Store()), *(_name(r, at, ast.Store()) for r in results)]
                made.append(ast.Assign([ast.Tuple(targets, ast.Store())], _name(RESULT, at)))
        elif not results:
            made.append(ast.Expr(call))
        elif len(results) == 1:
            made.append(ast.Assign([_name(results[0], at, ast.Store())], call))
        else:
            made.append(ast.Assign([ast.Tuple([_name(r, at, ast.Store()) for r in results], ast.Store())], call))
        unsure = [p for p in parameters if p not in bound]
        if unsure:  # read early, it would raise before what stands in front of its first use
            loads: list[ast.stmt] = [ast.Expr(_name(p, at)) for p in unsure]
            kinds = ast.Attribute(_name(COMPILED, at), "unbound", ast.Load())
            handler = ast.ExceptHandler(kinds, None, [_set(BOUND, False, at)])
            made = [
                ast.Try(loads, [handler], [_set(BOUND, True, at)], []),
                ast.If(_name(BOUND, at), made, list(run)),
            ]
        for node in made:
            yield _place(node, at)
        yield from self._dropped(at, parameters, self.flow.points[run[-1]])

    def _dropped(self, at: ast.stmt, names: Iterable[str], point: Point) -> Iterator[ast.stmt]:
        """Releases what hoisted variables hold, once they have been read: Python's own stack does."""
        names = sorted(n for n in names if n in self.hoisted and n not in point.live) if point.ends else []
        if names:
            targets: list[ast.expr] = [_name(n, at, ast.Store()) for n in names]
            yield _place(ast.Assign(targets, ast.Constant(None)), at)


class _Flags(ast.NodeTransformer):
    """``return x`` becomes ``return True, x``."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = node.value or ast.copy_location(ast.Constant(None), node)
        return _place(ast.Return(ast.Tuple([ast.Constant(True), value], ast.Load())), node)

    def _skip(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _skip


def _with_flags(node: ast.stmt) -> ast.stmt:
    return (
        _Flags().visit(copy.deepcopy(node)) if any(isinstance(n, ast.Return) for n in own_statements([node])) else node
    )


class _Calls(ast.NodeTransformer):
    """``f(x)`` becomes ``<compiled>(f)(x)`` where ``f`` may be a function, method or Cell of the user: what it stands
    for then is compiled when it is called."""

    def __init__(self, kinds: Kinds, made_here: set[str]) -> None:
        self.kinds, self.made_here = kinds, made_here
        self.names: set[str] = set()  # of what is called
        self.has_results = False  # what a call gives is called

    def of(self, node: Any) -> Any:
        """``node``, or a copy of it in which calls are rewritten."""
        has_calls = any(isinstance(n, ast.Call) and self._applies(n) for n in ast.walk(node))
        return self.visit(copy.deepcopy(node)) if has_calls else node

    def _applies(self, node: ast.Call) -> bool:
        if isinstance(node.func, ast.Call):  # what a call gives: a gradient, as a rule
            return self._applies(node.func) or self.kinds.root(node.func.func) == "module"
        name = root_name(node.func)
        if not name or name in self.made_here or self.kinds.is_foreign_call(node):
            return False
        return self.kinds.of(name) != "module"

    def visit_Call(self, node: ast.Call) -> ast.Call:
        applies, name = self._applies(node), root_name(node.func)
        self.generic_visit(node)
        if applies:
            if name:
                self.names.add(name)
            self.has_results = self.has_results or not name
            node.func = _place(ast.Call(_name(COMPILED, node.func), [node.func], []), node.func)
        return node

    def _skip(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _skip
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _skip


def _added(name: str, place: int, value: ast.expr, at: ast.AST) -> ast.stmt:
    """``name[place] += value``."""
    target = ast.Subscript(_name(name, at), ast.Constant(place), ast.Store())
    return _place(ast.AugAssign(target, ast.Add(), value), at)


def _set(name: str, value: bool, at: ast.AST) -> ast.Assign:
    return ast.Assign([_name(name, at, ast.Store())], ast.Constant(value))


def _name(name: str, at: ast.AST, context: ast.expr_context | None = None) -> ast.Name:
    return ast.copy_location(ast.Name(name, context or ast.Load()), at)


def _place(node: N, at: ast.AST) -> N:
    """``node`` with all its parts where ``at`` is, as far as they are nowhere else."""
    work: list[ast.AST] = [node]
    while work:
        part = work.pop()
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, at)
            work.extend(ast.iter_child_nodes(part))
        elif "lineno" not in part._attributes:
            work.extend(ast.iter_child_nodes(part))
    return node
