"""The constants of a syntax tree become the objects that the code object has.

Python's compiler makes one object of equal constants; a tree has one for each place where they are written, and code
that is made of parts of the tree (segments, a skeleton) would have its own. A program can tell: ``a is b``.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from typing import Any

from duograph.core.op import value_key

_TOLD_APART = (float, complex, bytes, tuple)
_OF_A_CONSTANT = compile("0.5", "<constant>", "eval").co_code


def share_constants(node: ast.AST, code: types.CodeType) -> None:
    """Puts the constants of ``code`` and of the functions inside it into ``node``, which it was compiled from."""
    known = dict(_constants(code.co_consts))
    if known:
        _Sharing(known).visit(node)


def _constants(values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for value in values:
        if isinstance(value, types.CodeType):
            yield from _constants(value.co_consts)
        elif _is_told_apart(value):
            yield value_key(value), value
            if type(value) is tuple:
                yield from _constants(value)


def _is_told_apart(value: Any) -> bool:
    """Whether equal constants of this kind may be several objects."""
    kind = type(value)
    if kind is int:
        return not -5 <= value <= 256
    return kind in _TOLD_APART or (kind is str and not value.isidentifier())


class _Sharing(ast.NodeTransformer):
    """Also where the compiler computes: a negative number, a tuple of constants."""

    def __init__(self, known: dict[Any, Any]) -> None:
        self.known = known

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if _is_told_apart(node.value):
            node.value = self.known.get(value_key(node.value), node.value)
        return node

    def _computed(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        parts = list(ast.iter_child_nodes(node))
        if not all(isinstance(part, ast.Constant | ast.operator | ast.unaryop | ast.expr_context) for part in parts):
            return node
        made = compile(ast.Expression(node), "<constant>", "eval", dont_inherit=True)
        if made.co_code != _OF_A_CONSTANT:
            return node
        value = self.known.get(value_key(made.co_consts[0]), made.co_consts[0])
        return ast.copy_location(ast.Constant(value), node)

    visit_UnaryOp = visit_BinOp = visit_Tuple = _computed
