"""The plan of a cut: which statements of a function run as plain Python, and what becomes of those between them.

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..ast.load import FunctionSource
from ..ast.scope import contains_yield
from .flow import Flow
from .uses import FUNCTIONS, Uses

N = TypeVar("N", bound=ast.AST)

Place = tuple[str, int, int, int, int]
"""A statement: its kind and where it is in the file. Of the kind `BORDER`: where a segment must begin."""
BORDER = "border"

RESULT, ENDED = ".result", ".ended"
COMPILED, BOUND = ".compiled", ".bound"
"""Variables of the skeleton, under names that no program can have."""

_LOOKS_AT_FRAME = {
    *("locals", "vars", "dir", "eval", "exec", "breakpoint", "_getframe", "currentframe", "stack", "getouterframes"),
    *("set_trace", "settrace", "setprofile", "print_stack", "extract_stack", "walk_stack", "getcallargs"),
    *("__traceback__", "exc_info", "format_exc", "print_exc", "format_exception", "print_exception", "tb_frame"),
}
"""What shows a program its own local variables or frames: it would see those of skeleton and segments."""

_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
_WORK = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.AugAssign, ast.Compare)
"""Expressions that may compute with tensors."""


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
    """

    reason: str
    span: Any

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
    """A function as its skeleton and its segments."""

    skeleton: ast.FunctionDef
    segments: list[Segment] = field(default_factory=list)


def can_be_cut(source: FunctionSource) -> bool:
    """Whether a function may be rewritten at all."""
    node = source.node
    if not isinstance(node, ast.FunctionDef) or source.names.is_generator:
        return False
    return not any(_name_of(n) in _LOOKS_AT_FRAME for n in ast.walk(node))


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def plan_cuts(source: FunctionSource, places: frozenset[Place], is_user_function: Callable[[str], bool]) -> Plan:
    """The plan that runs the statements at ``places`` as plain Python.

    Args:
        source: the function.
        places: statements, and borders of segments.
        is_user_function: whether a global name is that of a function that may be compiled where it is called.
    """
    return _Planner(source, places, is_user_function).plan()


class _Planner:
    def __init__(
        self, source: FunctionSource, places: frozenset[Place], is_user_function: Callable[[str], bool]
    ) -> None:
        node = source.node
        assert isinstance(node, ast.FunctionDef)
        self.node, self.places = node, places
        a = node.args
        self.order = [x.arg for x in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if x is not None]
        first = (*a.posonlyargs, *a.args)
        self.own = source.names.own
        self.calls = _Calls(lambda name: name not in self.own and is_user_function(name))
        self.flow = Flow(node.body, self.own, set(self.order), first[0].arg if first else "")
        self.declared = [n for n in _own_nodes(node.body) if isinstance(n, ast.Global | ast.Nonlocal)]
        self.rebound: set[str] = set().union(*(self.flow.uses(n).rebound for n in node.body))
        self.shared = self._shared_variables()
        self.segments: list[Segment] = []
        self.number = 0

    def plan(self) -> Plan:
        skeleton = copy.copy(self.node)
        skeleton.decorator_list = []
        skeleton.body = [*self.declared, *self._block(self.node.body, is_last=True)]
        if not skeleton.body:
            skeleton.body = list(self.node.body)
        return Plan(skeleton, self.segments)

    def _shared_variables(self) -> set[str]:
        """Variables whose cells matter: a closure may see them bound again, or before they are bound."""
        uses = self.flow.uses
        whole: dict[str, int] = dict.fromkeys(self.order, 1)
        statements = [n for n in _own_nodes(self.node.body) if isinstance(n, ast.stmt)]
        in_loops = {n for s in statements if isinstance(s, ast.For | ast.While) for n in _own_nodes([s])}
        shared: set[str] = set()
        for node in statements:
            found = _own_part(node, uses)
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
                made.append(self._python(node, is_last and node is body[-1]))
                continue
            if bound or border_before(node) in self.places:
                flush(False)
            run.append(node)
            bound |= self.flow.uses(node).binds & self.flow.points[node].handled
        flush(is_last)
        return made

    def _stays(self, node: ast.stmt) -> bool:
        """Whether a statement is part of the skeleton, at least its header."""
        if place_of(node) in self.places or any(
            isinstance(n, ast.stmt) and place_of(n) in self.places for n in _own_nodes([node])
        ):
            return True
        uses = self.flow.uses(node)
        point = self.flow.points[node]
        if (uses.binds | uses.deletes) & self.shared or uses.captured & self.shared or uses.reads & self.rebound:
            return True
        if isinstance(node, ast.Delete) and uses.deletes:
            return True
        if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef | ast.Raise) or contains_yield(node):
            return True
        if any(isinstance(n, ast.ClassDef) for n in _own_nodes([node])) or _leaves_loop(node):
            return True
        if isinstance(node, _COMPOUND) and uses.binds & point.handled:
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
        elif isinstance(made, ast.Try):
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

    def _inner(self, body: list[ast.stmt], is_last: bool = False) -> list[ast.stmt]:
        return self._block(body, is_last) or [ast.copy_location(ast.Pass(), body[0])]

    # -- segments ----------------------------------------------------------------------------------------------

    def _segment(self, run: list[ast.stmt], is_last: bool) -> Iterator[ast.stmt]:
        """The statements of the skeleton for ``run``; what computes nothing at its borders stays as it is."""
        start, end = 0, len(run)
        while start < end and not _works(run[start]):
            start += 1
        while end > start and not _works(run[end - 1]) and not (is_last and isinstance(run[end - 1], ast.Return)):
            end -= 1
        yield from run[:start]
        if start < end and any(_works(n) for n in run[start:end]):
            yield from self._call(run[start:end], is_last and end == len(run))
        else:
            end = start
        yield from run[end:]

    def _call(self, run: list[ast.stmt], is_last: bool) -> Iterator[ast.stmt]:
        """The call of a segment made of ``run``."""
        points = [self.flow.points[n] for n in run]
        uses = [self.flow.uses(n) for n in run]
        binds: set[str] = set().union(*(u.binds for u in uses))
        returns = any(isinstance(n, ast.Return) for n in _own_nodes(run))
        ends = points[-1].ends and not is_last
        results = tuple(sorted(binds & points[-1].live)) if ends else ()
        parameters = self._parameters(run, results)
        leaves = any(u.made & set(results) for u in uses)
        if leaves:  # a closure that is made anew at each call would be compiled for at each call
            yield from run
            return
        name = f".segment{self.number}"
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
        node = copy.copy(self.node)
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


def _own_part(node: ast.stmt, uses: Any) -> Uses:
    """What a statement itself does, apart from those in its blocks."""
    if not isinstance(node, _COMPOUND):
        return uses(node)
    found = Uses()
    parts: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            continue
        if isinstance(child, ast.ExceptHandler):
            if child.name:
                found.binds.add(child.name)
            parts += [child.type] if child.type is not None else []
        elif isinstance(child, ast.match_case):
            parts += [child.pattern, *([child.guard] if child.guard is not None else [])]
        else:
            parts.append(child)
    for part in parts:
        inner = uses(part)
        for name in Uses.__slots__:
            getattr(found, name).update(getattr(inner, name))
    return found


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes of a block that belong to the function itself."""
    work: list[ast.AST] = list(body)
    while work:
        node = work.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            work.extend(ast.iter_child_nodes(node))


def _leaves_loop(node: ast.stmt) -> bool:
    """Whether a statement contains a ``break`` or ``continue`` of a loop around it."""
    if isinstance(node, ast.Break | ast.Continue):
        return True
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return False
    inside = node.orelse if isinstance(node, ast.For | ast.While) else _statements_in(node)
    return any(_leaves_loop(n) for n in inside)


def _statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body


def _works(node: ast.stmt) -> bool:
    return any(isinstance(n, _WORK) for n in _own_nodes([node]))


class _Flags(ast.NodeTransformer):
    """``return x`` becomes ``return True, x``."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = node.value or ast.copy_location(ast.Constant(None), node)
        return _place(ast.Return(ast.Tuple([ast.Constant(True), value], ast.Load())), node)

    def _skip(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _skip


def _with_flags(node: ast.stmt) -> ast.stmt:
    return _Flags().visit(copy.deepcopy(node)) if any(isinstance(n, ast.Return) for n in _own_nodes([node])) else node


class _Calls(ast.NodeTransformer):
    """``f(x)`` becomes ``<compiled>(f)(x)`` where ``f`` is a function of the user: it is compiled when it is called."""

    def __init__(self, is_user_function: Callable[[str], bool]) -> None:
        self.is_user_function = is_user_function

    def of(self, node: Any) -> Any:
        """``node``, or a copy of it in which calls are rewritten."""
        has_calls = any(isinstance(n, ast.Call) and self._applies(n) for n in ast.walk(node))
        return self.visit(copy.deepcopy(node)) if has_calls else node

    def _applies(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Name) and self.is_user_function(node.func.id)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if self._applies(node):
            node.func = _place(ast.Call(_name(COMPILED, node.func), [node.func], []), node.func)
        return node

    def _skip(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _skip
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _skip


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
