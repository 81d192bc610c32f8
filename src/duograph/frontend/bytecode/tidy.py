"""Statements as they would be written: without the ends that jumps had, comprehensions as expressions."""

from __future__ import annotations

import ast
from typing import Any

from ..rules.errors import Uncapturable
from .stack import Body, Marker

_NEGATED = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}


def without_last(body: Body, kind: type[ast.stmt]) -> Body:
    """``body`` without a statement of this kind at its end, also at the ends of blocks there."""
    body = list(body)
    while body and isinstance(body[-1], kind) and getattr(body[-1], "value", None) is None:
        body.pop()
    last: Any = body[-1] if body else None
    match last:
        case ast.If():
            last.body = without_last(last.body, kind)
            last.orelse = without_last(last.orelse, kind)
            if not last.body and not last.orelse:
                last.body = [_pass(last)]
            elif not last.body:
                last.test, last.body, last.orelse = negated(last.test), last.orelse, []
        case ast.Match():
            for one in last.cases:
                one.body = without_last(one.body, kind) or [_pass(last)]
        case ast.With():
            last.body = without_last(last.body, kind) or [_pass(last)]
        case ast.Try() | ast.TryStar() if not _has(last.finalbody, kind):
            if last.orelse:
                last.orelse = without_last(last.orelse, kind)
            else:
                last.body = without_last(last.body, kind) or [_pass(last)]
            for handler in last.handlers:
                handler.body = without_last(handler.body, kind) or [_pass(last)]
        case ast.For() | ast.While() if kind is ast.Return and last.orelse:
            last.orelse = without_last(last.orelse, kind)
    return body


def _has(body: Body, kind: type[ast.stmt]) -> bool:
    return any(isinstance(n, kind) for part in body for n in ast.walk(part))


def _pass(near: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), near)


def negated(test: Any) -> Any:
    """``not test``, as short as possible."""
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return test.operand
        case ast.BoolOp():
            op = ast.And() if isinstance(test.op, ast.Or) else ast.Or()
            return ast.copy_location(ast.BoolOp(op, [negated(v) for v in test.values]), test)
        case ast.Compare(ops=[op]) if type(op) in _NEGATED:
            return ast.copy_location(ast.Compare(test.left, [_NEGATED[type(op)]()], test.comparators), test)
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def generators_of(loop: ast.For, body: Body) -> tuple[list[ast.comprehension], Any]:
    """The clauses of a comprehension that was read as a loop, and its element (of a dict: key and value)."""
    clauses = [ast.comprehension(loop.target, loop.iter, [], 0)]
    while True:
        if len(body) == 2 and isinstance(body[0], ast.Assign):  # ``for x in [value]``, which is no loop
            one = body[0]
            values = ast.copy_location(ast.List([one.value], ast.Load()), one.value)
            clauses.append(ast.comprehension(one.targets[0], values, [], 0))
            body = body[1:]
            continue
        if len(body) != 1:
            raise Uncapturable("a comprehension of an unknown form")
        match body[0]:
            case ast.If(orelse=[]):
                test: Any = body[0].test
                clauses[-1].ifs.append(test)
                body = body[0].body
            case ast.For(orelse=[]):
                clauses.append(ast.comprehension(body[0].target, body[0].iter, [], 0))
                body = body[0].body
            case ast.Expr(value=Marker(kind="element", value=element)):
                return clauses, element
            case ast.Expr(value=ast.Yield(value=element)):
                return clauses, element if element is not None else ast.copy_location(ast.Constant(None), body[0])
            case _:
                raise Uncapturable("a comprehension of an unknown form")
