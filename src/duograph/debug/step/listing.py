"""A graph as Python code: what makes frames of it that debuggers know.

Every node becomes a statement at the user's line, in a function with the user's file and name; code of a function that
another one called stands in a function of its own, which the other one calls at its line. Branches and loops are those
of Python. The statements compute nothing themselves: each calls the run (`run.Run`) by the number of its node::

    def f(x):                               # file, name and lines are those of the user's f
        h = _duograph.step(1); _duograph.look(1)()
        while True:
            _duograph.test(2)               # the graph of the condition begins
            ...
            if _duograph.is_done(2): break  # else that of the body
            k = _duograph.held(4)
            ...
            _duograph.next(2)
        _duograph.leave(2)

Variables have the user's names where capture has noted them (`Context.variables`); what has none is called after its
operator and line: ``_relu_12``.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import CodeType, FunctionType
from typing import Any

from duograph.base.source import SourceFile, Span, captured_source, is_internal_file
from duograph.core.types import TensorType
from duograph.ir.control import call, call_named, cond, custom_vjp, make_tuple, scan, tuple_get, while_loop
from duograph.ir.interpreter import Plan, Step, plan_of
from duograph.ir.node import Apply, Const, Graph, Node
from duograph.ir.printer import all_graphs

__all__ = ["Listing", "Place", "chain_of", "place_of", "steps_of"]

RUN = "_duograph"
_UNKNOWN = object()
CALLS = (call, call_named, custom_vjp)
Names = tuple[tuple[str, str], ...]
Extent = tuple[int, ast.expr | None]
"""The line of a ``return``, and its expression."""


class Place:
    """A line of the user's program, and the function that it is in."""

    __slots__ = ("file", "first", "function", "line", "returns")

    def __init__(self, file: str, line: int, function: str, first: int, returns: Extent | None = None) -> None:
        self.file, self.line, self.function, self.first = file, line, function, first
        self.returns = returns  # where its only ``return`` is, if that ends it

    @property
    def unit(self) -> tuple[str, str, int]:
        """The function, wherever it is called."""
        return self.file, self.function, self.first


def steps_of(plan: Plan) -> list[Step]:
    """All steps of a graph, in their order."""
    return [step for steps, control in plan.stretches for step in (*steps, *([control] if control else ()))]


def chain_of(node: Node) -> list[Span]:
    """Where a node is in the user's program: the calls that lead there, outermost first, and its own expression."""
    spans = node.context.origins.get(node, ())
    span: Span | None = spans[-1].users if spans else None
    if span is None or is_internal_file(span.file):
        return []
    found, at = [span], getattr(spans[-1], "called_at", None)
    while at is not None:
        found.append(at)
        at = getattr(at, "called_at", None)
    return found[::-1]


def place_of(span: Span) -> Place:
    """The line of a span, and the function around it."""
    source = captured_source(span.file)
    name, first, returns = ("", span.line, None) if source is None else _function_at(source, span.line, span.col)
    return Place(span.file, span.line, name, first, returns)


@lru_cache(4096)
def _function_at(source: SourceFile, line: int, col: int) -> tuple[str, int, Extent | None]:
    """Qualified name and first line of the innermost function around a place, and its end; empty where that is none."""
    found: tuple[str, int, Extent | None] = "", line, None
    for entry, start, end in _functions(source):
        if start <= (line, col) < end:
            found = entry
    return found


def _only_return(node: Any) -> Extent | None:
    """The ``return`` that ends a function, if there is no other way out of it."""
    last = node.body[-1] if isinstance(node.body, list) else None
    if not isinstance(last, ast.Return):
        return None
    work, ways = list(node.body), 0
    for inner in work:
        ways += isinstance(inner, ast.Return | ast.Raise | ast.Assert)
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            work += ast.iter_child_nodes(inner)
    return (last.lineno, last.value) if ways == 1 else None


@lru_cache(64)
def _functions(source: SourceFile) -> list[tuple[tuple[str, int, Extent | None], tuple[int, int], tuple[int, int]]]:
    """Functions of a source, outer ones first: name, first line and ``return``; begin; end."""
    found: list[tuple[tuple[str, int, Extent | None], tuple[int, int], tuple[int, int]]] = []
    try:
        work: list[tuple[ast.AST, str]] = [(ast.parse(source.text), "")]
    except (SyntaxError, ValueError, RecursionError):  # the file has changed, or is none of Python
        return found
    for parent, prefix in work:
        for child in ast.iter_child_nodes(parent):
            inner = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
                name = prefix + getattr(child, "name", "<lambda>")
                inner = f"{name}." if isinstance(child, ast.ClassDef) else f"{name}.<locals>."
                if not isinstance(child, ast.ClassDef):
                    first = min([child.lineno, *[d.lineno for d in getattr(child, "decorator_list", ())]])
                    end = (child.end_lineno or child.lineno, child.end_col_offset or 0)
                    entry = name, first, _only_return(child)
                    found.append((entry, (child.lineno, child.col_offset), (end[0], end[1] + 1)))
            work.append((child, inner))
    return found


class _Level:
    """A function that is being written: its statements, and where it is called in the one around it."""

    __slots__ = ("body", "called_at", "given", "named", "place", "returned", "stands_in")

    def __init__(self, place: Place, called_at: Span | None, stands_in: list[ast.stmt] | None) -> None:
        self.place, self.called_at, self.stands_in = place, called_at, stands_in
        self.body: list[ast.stmt] = []
        self.given: dict[str, Any] = {}  # its parameters, and the slots of their values
        self.named: list[tuple[int, Names]] = []  # what functions around it may have a name for
        self.returned = ""  # the variable of what its `return` computes

    def ending(self) -> list[ast.stmt]:
        """Its ``return``, where that is known: of what it gives, as far as that has a name."""
        if self.place.returns is None:
            return []
        line, value = self.place.returns
        known = {*self.given, *_targets(self.body)}
        name = value.id if isinstance(value, ast.Name) else self.returned
        given = ast.Name(name, ast.Load()) if name in known else ast.Constant(None)
        return [_at(ast.Return(value=given), line)]


class Listing:
    """The Python functions of a graph, and of those that it calls.

    Args:
        graph: any closed graph.
        arguments: names of the arguments of the user's function, whose values the run has.

    Attributes:
        steps: what the numbers in the code mean.
        codes: the code objects that were made.
        has_lines: whether any node is of a line of the program.
        function: the qualified name of the user's function.
    """

    def __init__(self, graph: Graph, arguments: Sequence[str] = ()) -> None:
        self.steps: list[Step] = []
        self.codes: set[CodeType] = set()
        self.has_lines = any(chain_of(node) for part in all_graphs(graph) for node in part.nodes)
        self._namespace: dict[str, Any] = {"__builtins__": builtins}
        self._called: dict[Graph, str] = {}
        self._names: dict[Node, Names] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        self._constants: dict[int, dict[str, Any]] = {}  # what variables of unrolled loops are in a block
        self._arguments = [name for name in arguments if _is_name(name)]
        self._levels: list[_Level] = []
        self._base = 0  # the level that the block is on which is being written
        self._graphs: list[list[tuple[int, Names]]] = []  # slots of the graphs around, and their names
        self.function = ""
        self._main = self._function(graph)

    def main(self, run: Any, names: dict[str, Any]) -> Callable[[], Any]:
        """The function to call, for a ``run``; ``names``: what the user's module has."""
        namespace = {**names, **self._namespace, RUN: run}
        for name, code in self._namespace.items():
            if isinstance(code, CodeType):
                namespace[name] = FunctionType(code, namespace)
        return partial(namespace[self._main], *[run.argument(name) for name in self._arguments])

    # -- functions ---------------------------------------------------------------------------------------------

    def _function(self, graph: Graph) -> str:
        """The name of the function of a graph, which is written now if there is none yet."""
        found = self._called.get(graph)
        if found is not None:
            return found
        name = self._called[graph] = f"_duograph_{len(self._called)}"
        outer = self._levels, self._base, self._graphs
        self._levels, self._base, self._graphs = [], 0, []
        spans = next((chain for node in graph.nodes if (chain := chain_of(node))), None)
        place = place_of(spans[0]) if spans else Place(f"<graph {graph.name}>", 1, graph.name, 1)
        place.function = place.function or graph.name  # its source is not at hand
        level = _Level(place, None, None)
        self._levels.append(level)
        if len(self._called) == 1:
            level.given = dict.fromkeys(self._arguments)
            self.function = place.function
        self._block(graph, level.body, 0)
        self._compile(name, self._levels.pop())
        self._levels, self._base, self._graphs = outer
        return name

    def _compile(self, name: str, level: _Level) -> None:
        place = level.place
        shown = place.function.rpartition(".")[2] or "<module>"
        end = level.ending()
        body = [*level.body, *end] if level.body or end else [_at(ast.Pass(), place.line)]
        made: Any = ast.parse(f"def f({', '.join(level.given)}): pass").body[0]
        made.body = body
        made.lineno = made.end_lineno = place.first
        for argument in made.args.args:
            argument.lineno = argument.end_lineno = place.first
        module = ast.fix_missing_locations(ast.Module(body=[made], type_ignores=[]))
        code = next(c for c in compile(module, place.file, "exec").co_consts if isinstance(c, CodeType))
        code = code.replace(co_name=shown, co_qualname=place.function or shown)
        self.codes.add(code)
        self._namespace[name] = code

    # -- statements --------------------------------------------------------------------------------------------

    def _block(self, graph: Graph, into: list[ast.stmt], base: int) -> None:
        """Writes the nodes of ``graph`` into a block of the function on level ``base``."""
        plan = plan_of(graph)
        known: list[tuple[int, Names]] = []
        self._graphs.append(known)
        steps = steps_of(plan)
        chains = _chains([step.node for step in steps])
        outer, self._levels[base].body = self._levels[base].body, into
        outer_base, self._base = self._base, base
        line = self._line_of(chains, base)
        for i, param in enumerate(graph.params):
            names = self._names.get(param, ()) or param.context.variables.get(param, ())
            level = self._levels[base]
            names = tuple([n for n in names if n[0] != level.place.function or n[1] not in level.given])
            if (
                param.name not in level.given
                and isinstance(param.type, TensorType)
                and _is_name(param.name)
                and base == 0
                and len(self._graphs) == 1
                and len(self._called) == 1
            ):
                names = (*names, (self._levels[0].place.function, param.name))
            self._names[param] = names
            known.append((i, names))
            self._assign_names(i, names, line)
        for step, chain in zip(steps, chains, strict=True):
            self._enter(chain, base)
            self._write(step, chain, base)
        self._leave(base)
        self._levels[base].body, self._base = outer, outer_base
        self._graphs.pop()

    def _line_of(self, chains: Sequence[Sequence[Span]], base: int) -> int:
        """The first line of the function on level ``base`` among those of ``chains``."""
        unit = self._levels[base].place.unit
        return next(
            (c[base].line for c in chains if len(c) > base and place_of(c[base]).unit == unit),
            self._levels[base].place.line,
        )

    def _enter(self, chain: Sequence[Span], base: int) -> None:
        """Goes to the function that ``chain`` is in: leaves those that it is not in, and calls those that it is in."""
        levels = self._levels
        depth = base
        while depth + 1 < min(len(levels), len(chain)) and levels[depth + 1].called_at == chain[depth]:
            if levels[depth + 1].place.unit != place_of(chain[depth + 1]).unit:
                break
            depth += 1
        self._leave(depth)
        if not _fits(levels, chain, base):
            return
        for k in range(depth + 1, len(chain)):
            level = _Level(place_of(chain[k]), chain[k - 1], levels[-1].body)
            levels.append(level)
            for slot, names in self._graphs[-1]:
                mine = [name for function, name in names if function == level.place.function and _is_name(name)]
                level.given.update(dict.fromkeys(mine, slot))

    def _leave(self, depth: int) -> None:
        """Ends the functions on levels above ``depth``."""
        while len(self._levels) > depth + 1:
            level = self._levels.pop()
            assert level.called_at is not None and level.stands_in is not None
            name = f"_duograph_inner_{len(self._namespace)}"
            self._compile(name, level)
            line = level.called_at.line
            given: list[ast.expr] = [_call("held", slot, line).value for slot in level.given.values()]
            level.stands_in.append(_expression(ast.Call(ast.Name(name, ast.Load()), given, []), line))
            for slot, names in level.named:
                self._assign_names(slot, names, line)
            if len(self._levels) - 1 > self._base:  # there, slots are of another graph
                self._levels[-1].named += level.named

    def _assign_names(self, slot: int, names: Names, line: int) -> None:
        """Gives the value in a slot to the variables of this function that hold it."""
        level = self._levels[-1]
        mine = [name for function, name in names if function == level.place.function and _is_name(name)]
        if mine:
            level.body.append(_assign(mine, "held", slot, line))

    def _assign_constants(self, node: Node, line: int) -> None:
        """Gives the variables of loops that have been unrolled what they are in the iteration that ``node`` is of."""
        level = self._levels[-1]
        known = self._constants.setdefault(id(level.body), {})
        for _, _, variables in node.context.iterations.get(node, ()):
            for function, name, value in variables or ():
                if function == level.place.function and _is_name(name) and known.get(name, _UNKNOWN) is not value:
                    known[name] = value
                    target: list[ast.expr] = [ast.Name(name, ast.Store())]
                    level.body.append(_at(ast.Assign(targets=target, value=ast.Constant(value)), line))

    def _write(self, step: Step, chain: Sequence[Span], base: int) -> None:
        node, number = step.node, len(self.steps)
        self.steps.append(step)
        level = self._levels[-1]
        own = chain[-1] if chain and _fits(self._levels, chain, base) else None
        line = own.line if own is not None else level.place.line
        level.place.line = line
        body = level.body
        self._assign_constants(node, line)
        if node.op is cond:
            for key in ("then", "orelse"):
                self._hand_on(node.attrs[key], node.operands[1:])
            both: list[list[ast.stmt]] = [[], []]
            for key, block in zip(("then", "orelse"), both, strict=True):
                self._block(node.attrs[key], block, len(self._levels) - 1)
                block.append(_call("leave", number, line))
            test = _call("is_taken", number, line).value
            body.append(_at(ast.If(test=test, body=both[0], orelse=both[1]), line))
        elif node.op is while_loop or node.op is scan:
            self._loop(step, number, line, body)
        elif node.op in CALLS:
            self._callee(step, number, line, body)
        else:
            self._plain(step, number, line, body, own)
        self._note(step, node)

    def _plain(self, step: Step, number: int, line: int, body: list[ast.stmt], own: Span | None) -> None:
        node = step.node
        names = self._names[node] = self._names_of(node)
        function = self._levels[-1].place.function
        mine = [name for owner, name in names if owner == function and _is_name(name)]
        if not mine and node.operands and node.op is not make_tuple and node.op is not tuple_get:
            name = f"_{node.op.name}_{line}"
            n = self._numbers[name, number] = sum(known == name for known, _ in self._numbers) + 1
            mine = [name if n == 1 else f"{name}_{n}"]
        returns = self._levels[-1].place.returns
        if mine and returns is not None and own is not None and _is_of(own, returns[1]):
            self._levels[-1].returned = mine[0]
        body.append(_assign(mine, "step", number, line) if mine else _call("step", number, line))
        body.append(_expression(ast.Call(_call("look", number, line).value, [], []), line))

    def _loop(self, step: Step, number: int, line: int, body: list[ast.stmt]) -> None:
        """A loop; ``line`` may be where its last statement is."""
        node, base = step.node, len(self._levels) - 1
        inner: Graph = node.attrs["body"]
        first = 0 if node.op is while_loop else 1
        n = node.attrs["n_carry"]
        carried = inner.output.operands if isinstance(inner.output, Apply) and inner.output.op is make_tuple else ()
        graphs = [inner] if node.op is scan else [node.attrs["cond"], inner]
        for graph in graphs:
            self._hand_on(graph, node.operands if node.op is while_loop else (None, *node.operands[1:]))
            for i, value in enumerate(carried[:n]):
                param = graph.params[first + i]
                names = (*self._names.get(param, ()), *self._names_of(value))
                self._names[param] = tuple(dict.fromkeys(names))
        lines = [self._line_of(_chains(g.nodes), base) for g in graphs if g.nodes]
        begin = min([line, *lines]) if node.op is scan else (lines or [line])[0]
        block: list[ast.stmt] = []
        body.append(_call("loop", number, begin))
        if node.op is while_loop:
            block.append(_call("test", number, begin))
            self._block(graphs[0], block, base)
            block.append(
                _at(
                    ast.If(test=_call("is_done", number, begin).value, body=[_at(ast.Break(), begin)], orelse=[]), begin
                )
            )
        self._block(inner, block, base)
        block.append(_call("next", number, begin))
        test = _call("goes_on", number, begin).value if node.op is scan else ast.Constant(True)
        body.append(_at(ast.While(test=test, body=block, orelse=[]), begin))
        body.append(_call("leave", number, begin))

    def _callee(self, step: Step, number: int, line: int, body: list[ast.stmt]) -> None:
        node = step.node
        if node.op is call_named:
            graph: Graph = node.context.functions[node.attrs["name"]]
        else:
            graph = node.attrs["graph" if node.op is call else "forward"]
        callee = self._function(graph)
        enter = _expression(ast.Call(ast.Name(callee, ast.Load()), [], []), line)
        body.append(_at(ast.If(test=_call("is_entered", number, line).value, body=[enter], orelse=[]), line))
        body.append(_call("leave", number, line))

    def _note(self, step: Step, node: Node) -> None:
        """What later functions may call the value."""
        names = self._names.setdefault(node, self._names_of(node))
        if names:
            self._graphs[-1].append((step.out, names))
            if len(self._levels) - 1 > self._base:
                self._levels[-1].named.append((step.out, names))
            if isinstance(node, Apply) and (node.op in CALLS or node.op is cond):
                self._assign_names(step.out, names, self._levels[-1].place.line)

    def _hand_on(self, graph: Graph, operands: Sequence[Node | None]) -> None:
        for param, operand in zip(graph.params, operands, strict=True):
            if operand is not None:
                self._names[param] = self._names_of(operand)

    def _names_of(self, node: Node) -> Names:
        known = self._names.get(node)
        if known is not None:
            return known
        found: Names = node.context.variables.get(node, ())
        if not found and isinstance(node, Apply) and node.op is tuple_get and isinstance(node.operands[0], Apply):
            producer, index = node.operands[0], node.attrs["index"]
            keys = {cond: ("then", "orelse"), while_loop: ("body",), scan: ("body",)}.get(producer.op, ())
            for key in keys:
                output = producer.attrs[key].output
                if isinstance(output, Apply) and output.op is make_tuple:
                    found = (*found, *self._names_of(output.operands[index]))
        return tuple(dict.fromkeys(found))


def _fits(levels: Sequence[_Level], chain: Sequence[Span], base: int) -> bool:
    """Whether code at ``chain`` is inside of the function on level ``base``, as it was called."""
    if len(chain) <= base or place_of(chain[base]).unit != levels[base].place.unit:
        return False
    return all(levels[k].called_at == chain[k - 1] for k in range(1, base + 1))


def _chains(nodes: Sequence[Apply]) -> list[list[Span]]:
    """Where each node is; what has no place of its own is where it is needed, or where its operands are."""
    found = [[] if isinstance(n, Const) or not n.operands else chain_of(n) for n in nodes]
    for i in reversed(range(len(found) - 1)):
        if not found[i] and not nodes[i].operands:
            found[i] = found[i + 1] or chain_of(nodes[i])
    if nodes and not found[-1] and not nodes[-1].operands:
        found[-1] = chain_of(nodes[-1])
    for i in range(1, len(found)):
        found[i] = found[i] or found[i - 1]
    return found


def _targets(body: Sequence[ast.stmt]) -> list[str]:
    return [t.id for s in body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]


def _is_of(span: Span, value: ast.expr | None) -> bool:
    """Whether a span is that of an expression."""
    ends = None if value is None else (value.lineno, value.col_offset, value.end_lineno, value.end_col_offset)
    return ends == (span.line, span.col, span.end_line, span.end_col)


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith(RUN)


def _at(node: Any, line: int) -> Any:
    node.lineno = node.end_lineno = line
    node.col_offset = node.end_col_offset = 0
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno"):
            _at(child, line)
    return node


def _expression(value: ast.expr, line: int) -> Any:
    return _at(ast.Expr(value=value), line)


def _call(what: str, number: Any, line: int) -> Any:
    """``_duograph.what(number)`` as a statement."""
    function = ast.Attribute(ast.Name(RUN, ast.Load()), what, ast.Load())
    return _expression(ast.Call(function, [ast.Constant(number)], []), line)


def _assign(names: Sequence[str], what: str, number: Any, line: int) -> Any:
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return _at(ast.Assign(targets=targets, value=_call(what, number, line).value), line)
