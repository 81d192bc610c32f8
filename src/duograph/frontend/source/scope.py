"""Which names belong to a function: Python's scoping rules on the syntax tree."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Names:
    """``own``: assigned in the function; ``globals`` and ``nonlocals``: declared so."""

    own: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    is_generator: bool = False


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Collector(ast.NodeVisitor):
    def __init__(self, names: Names) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del):
            self.names.own.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.own.add(node.name)
        self._outer_parts(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._outer_parts(node)

    def _outer_parts(self, node: ast.FunctionDef | ast.Lambda) -> None:
        """Decorators, defaults and annotations are evaluated in the enclosing scope; the body is not ours."""
        decorators = getattr(node, "decorator_list", [])
        for part in (*decorators, *node.args.defaults, *node.args.kw_defaults, *annotations_of(node)):
            if part is not None:
                self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.own.add(node.name)
        for part in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
            self.visit(part)

    def _comprehension(self, node: ast.ListComp) -> None:
        """Targets are the comprehension's own; a walrus inside binds here; the first iterable is evaluated here."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.names.own.add(inner.target.id)
        self.visit(node.generators[0].iter)

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension  # type: ignore[assignment]
    visit_DictComp = _comprehension  # type: ignore[assignment]
    visit_GeneratorExp = _comprehension  # type: ignore[assignment]

    def visit_Global(self, node: ast.Global) -> None:
        self.names.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.names.nonlocals.update(node.names)

    def visit_alias(self, node: ast.alias) -> None:
        self.names.own.add(node.asname or node.name.split(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names.own.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.names.own.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.names.own.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.names.own.add(node.rest)
        self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        self.names.is_generator = True
        self.generic_visit(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self.names.is_generator = True
        self.generic_visit(node)


def names_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Names:
    """The names of a function."""
    names = Names()
    a = node.args
    for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg):
        if arg is not None:
            names.own.add(arg.arg)
    collector = _Collector(names)
    for part in node.body if isinstance(node.body, list) else [node.body]:
        collector.visit(part)
    names.own -= names.globals | names.nonlocals
    return names


def annotations_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.expr]:
    """The annotations of a function, in the order in which Python evaluates them."""
    a = node.args
    parameters = [*a.args, *a.posonlyargs, a.vararg, *a.kwonlyargs, a.kwarg]
    found = [p.annotation for p in parameters if p is not None]
    return [part for part in (*found, getattr(node, "returns", None)) if part is not None]


def target_names(target: ast.AST) -> set[str]:
    """The names that an assignment target binds."""
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def names_in_closures(node: ast.AST) -> frozenset[str]:
    """All names that occur in functions within the function ``node``."""
    inner = [n for n in ast.walk(node) if n is not node and isinstance(n, (*_FUNCTIONS, ast.GeneratorExp))]
    parts = [n for closure in inner for n in ast.walk(closure)]
    written = [name for n in parts if isinstance(n, ast.Nonlocal) for name in n.names]
    return frozenset([*written, *(n.id for n in parts if isinstance(n, ast.Name))])


def contains_yield(node: ast.AST) -> bool:
    """Whether a statement yields or waits, not counting nested functions."""
    work = [node]
    while work:
        n = work.pop()
        if isinstance(n, ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith):
            return True
        if isinstance(n, ast.comprehension) and n.is_async:
            return True
        if not isinstance(n, _FUNCTIONS):
            work.extend(ast.iter_child_nodes(n))
    return False
