"""Comprehensions as loops, so that what is computed for each element can be compiled around a foreign call.

    y = [net(t) * noise.draw() for t in xs]

has a scope of its own, which cannot be cut. As a loop it can, under names that the program does not have:

    <list> = []
    for <t> in xs:
        <element> = net(<t>) * noise.draw()
        <list>.append(<element>)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from .foreign import Kinds, works
from .uses import COMPREHENSIONS, FUNCTIONS

_LATER = (*FUNCTIONS, ast.GeneratorExp, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
"""What may use a variable when the loop is over, or binds one of the function's."""


def is_worth_a_loop(node: ast.AST, kinds: Kinds) -> bool:
    """Whether a comprehension has the form of a loop, and computes for each element what may be compiled."""
    if not isinstance(node, ast.ListComp | ast.DictComp) or len(node.generators) > 1:
        return False
    generator = node.generators[0]
    inner = _inner(node)
    if generator.is_async or not any(works(part, kinds) for part in inner):
        return False
    targets = [n for n in ast.walk(generator.target) if not isinstance(n, ast.expr_context)]
    if not all(isinstance(n, ast.Name | ast.Tuple | ast.List | ast.Starred) for n in targets):
        return False
    nested = [n for part in inner for n in ast.walk(part)]
    return not any(isinstance(n, (*_LATER, *COMPREHENSIONS)) for n in nested)


def _inner(node: ast.ListComp | ast.DictComp) -> list[ast.expr]:
    """What is evaluated for each element, in the scope of the comprehension."""
    parts = [node.elt] if isinstance(node, ast.ListComp) else [node.key, node.value]
    return [*node.generators[0].ifs, *parts]


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node


def loop_of(
    node: Any, variable: Callable[[ast.expr, str], str], hoisted: Callable[[ast.stmt, str], list[ast.stmt]]
) -> tuple[ast.Assign, ast.For, str]:
    """The statements of a comprehension, and the variable that has its value then.

    Args:
        node: one that `is_worth_a_loop`.
        variable: makes the name of a variable for an expression.
        hoisted: what a statement becomes when foreign calls in its expression, a field of this name, are taken out.
    """
    generator = node.generators[0]
    names: dict[str, str] = {}
    for part in ast.walk(generator.target):
        if isinstance(part, ast.Name) and part.id not in names:
            names[part.id] = variable(part, "v")

    def renamed(part: ast.expr) -> ast.expr:
        return _Renamed(names).visit(copy.deepcopy(part))  # type: ignore[no-any-return]

    made = variable(node, "l")
    is_list = isinstance(node, ast.ListComp)
    empty: ast.expr = ast.List([], ast.Load()) if is_list else ast.Dict([], [])
    body: list[ast.stmt] = []
    block = body
    for test in generator.ifs:
        inner: list[ast.stmt] = []
        block += hoisted(ast.copy_location(ast.If(renamed(test), inner, []), test), "test")
        block = inner
    held = []
    for part in [node.elt] if is_list else [node.key, node.value]:
        held.append(variable(part, "e"))
        value = ast.Assign([ast.Name(held[-1], ast.Store())], renamed(part))
        block += hoisted(ast.copy_location(value, part), "value")
    where, last = ast.Name(made, ast.Load()), ast.Name(held[-1], ast.Load())
    keep: ast.stmt
    if is_list:
        keep = ast.Expr(ast.Call(ast.Attribute(where, "append", ast.Load()), [last], []))
    else:
        keep = ast.Assign([ast.Subscript(where, ast.Name(held[0], ast.Load()), ast.Store())], last)
    block.append(ast.copy_location(keep, node))
    loop = ast.For(renamed(generator.target), generator.iter, body, [])
    return ast.Assign([ast.Name(made, ast.Store())], empty), loop, made
