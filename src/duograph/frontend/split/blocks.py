"""Statements and the blocks inside of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from .uses import FUNCTIONS, Uses

COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.TryStar, ast.Match)
"""Statements with blocks that a skeleton may cut."""


def own_part(node: ast.stmt, uses: Any) -> Uses:
    """What a statement itself does, apart from those in its blocks."""
    if not isinstance(node, COMPOUND):
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


def binds_early(node: ast.stmt) -> bool:
    """Whether a statement may raise when it has bound a variable."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    parts = [n for target in targets for n in ast.walk(target)]
    return any(isinstance(n, ast.Attribute | ast.Subscript) for n in parts) or any(
        isinstance(n, ast.NamedExpr) for n in ast.walk(node)
    )


def own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes of a block that belong to the function itself."""
    work: list[ast.AST] = list(body)
    while work:
        node = work.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            work.extend(ast.iter_child_nodes(node))


def own_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements among `own_nodes`, without a look at the expressions in them."""
    work = list(body)
    while work:
        node = work.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            work.extend(_statements_in(node))


def leaves_loop(node: ast.stmt) -> bool:
    """Whether a statement contains a ``break`` or ``continue`` of a loop around it."""
    if isinstance(node, ast.Break | ast.Continue):
        return True
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return False
    inside = node.orelse if isinstance(node, ast.For | ast.While) else _statements_in(node)
    return any(leaves_loop(n) for n in inside)


def _statements_in(node: ast.AST) -> list[ast.stmt]:
    """Those of its blocks."""
    found: list[ast.stmt] = []
    for block in ("body", "orelse", "finalbody"):
        found += getattr(node, block, ())
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        found += part.body
    return found
