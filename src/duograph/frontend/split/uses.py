"""Which local variables a piece of a function reads, binds, deletes, and hands to closures."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..source.scope import annotations_of, names_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class Uses:
    """Names of local variables.

    Attributes:
        reads: may be read, also by code inside that runs later.
        binds: may be bound.
        deletes: may be made unbound.
        captured: read or bound by functions made here, which may outlive this piece.
        rebound: bound by such functions (``nonlocal``).
        made: bound to a function made here.
    """

    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    deletes: set[str] = field(default_factory=set)
    captured: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)


def uses_of(node: ast.AST | list[ast.stmt], own: set[str], first: str = "") -> Uses:
    """What ``node`` does to the local variables ``own`` of the function that it is in.

    Args:
        node: a statement, an expression, or a block.
        own: the function's local variables.
        first: its first parameter, which ``super()`` reads.
    """
    visitor = _Visitor(own, first)
    for part in node if isinstance(node, list) else [node]:
        visitor.visit(part)
    return visitor.uses


def _inner_of(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> list[ast.expr]:
    return [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]


class _Visitor(ast.NodeVisitor):
    def __init__(self, own: set[str], first: str) -> None:
        self.own, self.first = own, first
        self.uses = Uses()

    def _add(self, names: set[str], name: str | None) -> None:
        if name in self.own:
            names.add(name)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._add(self.uses.reads, node.id)
            if node.id == "super":
                self._add(self.uses.reads, self.first)
        elif isinstance(node.ctx, ast.Store):
            self._add(self.uses.binds, node.id)
        else:
            self._add(self.uses.deletes, node.id)
            self._add(self.uses.reads, node.id)  # it must be bound

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._add(self.uses.reads, node.target.id)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._add(self.uses.made, target.id)
        self.generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        name = getattr(node, "name", None)
        self._add(self.uses.binds, name)
        self._add(self.uses.made, name)
        decorators = getattr(node, "decorator_list", [])
        for part in (*decorators, *node.args.defaults, *node.args.kw_defaults, *annotations_of(node)):
            if part is not None:
                self.visit(part)
        names = names_of(node)
        body: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
        inner = self.own - names.own - names.globals
        visitor = _Visitor(inner, self.first)
        for part in body:
            visitor.visit(part)
        found = visitor.uses
        used = found.reads | found.binds | found.deletes
        self.uses.reads |= found.reads
        self.uses.captured |= used | found.captured
        self.uses.rebound |= found.binds | found.deletes | found.rebound

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._add(self.uses.binds, node.name)
        visitor = _Visitor(self.own, self.first)
        for part in (*node.decorator_list, *node.bases, *node.keywords, *node.body):
            visitor.visit(part)
        self.uses.reads |= visitor.uses.reads
        self.uses.captured |= visitor.uses.reads | visitor.uses.captured
        self.uses.rebound |= visitor.uses.rebound

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        targets = {
            n.id
            for g in node.generators
            for n in ast.walk(g.target)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        first, *others = node.generators
        self.visit(first.iter)  # at once, also by a generator
        visitor = _Visitor(self.own - targets, self.first)
        for part in (first.target, *first.ifs, *others, *_inner_of(node)):
            visitor.visit(part)
        found = visitor.uses
        self.uses.reads |= found.reads
        self.uses.captured |= found.captured
        self.uses.rebound |= found.rebound
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self._add(self.uses.binds, inner.target.id)
        if isinstance(node, ast.GeneratorExp):
            self.uses.captured |= found.reads

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:  # of a function or class made here: the variable must be there, also if it is not bound
            self._add(self.uses.captured, name)
            self._add(self.uses.rebound, name)

    def visit_alias(self, node: ast.alias) -> None:
        self._add(self.uses.binds, node.asname or node.name.split(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._add(self.uses.binds, node.name)
        self._add(self.uses.deletes, node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._add(self.uses.binds, node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._add(self.uses.binds, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._add(self.uses.binds, node.rest)
        self.generic_visit(node)
