"""What is certainly no work for a compiled function: how far a break reaches into the expression around it.

``float(np.quantile(h.asnumpy(), 0.9))`` is refused because of ``asnumpy()``, but a call of NumPy or of a built-in type
with what that gives is no work for a graph either. So the whole of it is one break (`widened`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from .uses import FUNCTIONS

_WORK = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.AugAssign, ast.Compare)
"""Expressions that may compute with tensors."""

_LEAVES = {"asnumpy", "tolist", "item", "numpy", "tobytes"}
"""Methods by which values leave tensors."""

_KEEPS = {"append", "extend", "add", "update", "write", "writelines", "put", "setdefault", "insert", "appendleft"}
"""Methods of containers, files and queues that take a value."""


class Kinds:
    """What global names of a function stand for.

    Args:
        of: for a name ``"function"`` (of the user, which may be compiled where it is called), ``"module"``,
            ``"foreign"`` (a module or function of somebody else, or a built-in one), or ``""`` (any other object).
        own: local variables.
        helper: the variable of the skeleton through which it asks for compiled forms.
    """

    def __init__(self, of: Callable[[str], str], own: set[str], helper: str) -> None:
        self._of, self.own, self.helper = of, own, helper
        self.held: dict[str, str] = {helper: "module"}  # variables that hold a function for a while, and its kind

    def of(self, name: str) -> str:
        """The kind of what a name stands for; "" for local variables."""
        if name in self.held:
            return self.held[name]
        return "" if name in self.own else self._of(name)

    def root(self, node: ast.expr) -> str:
        """The kind of the name that a chain of attributes begins with; "" if it begins with something else."""
        name = root_name(node)
        return self.of(name) if name else ""

    def is_foreign_call(self, node: ast.Call) -> bool:
        """Whether a call is one of somebody else's functions, or takes values out of a tensor."""
        if self.root(node.func) == "foreign":
            return True
        return isinstance(node.func, ast.Attribute) and node.func.attr in _LEAVES


def root_name(node: ast.expr) -> str:
    """The name that a chain of attributes begins with; "" if it begins with something else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def works(node: ast.AST, kinds: Kinds) -> bool:
    """Whether an expression may compute with tensors, so that it is worth a variable in front of a break."""
    work: list[ast.AST] = [node]
    while work:
        part = work.pop()
        if isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and _keeps(part.value):
            work.extend(_arguments(part.value))
            continue
        if isinstance(part, ast.Call) and kinds.is_foreign_call(part):
            if isinstance(part.func, ast.Attribute):
                work.append(part.func.value)
            work.extend([*part.args, *(k.value for k in part.keywords)])
            continue
        if isinstance(part, _WORK) and not _is_plain(part):
            return True
        work.extend(ast.iter_child_nodes(part))
    return False


def _is_plain(node: ast.AST) -> bool:
    """An item of something by a constant, or a number with a sign."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and isinstance(node.value, ast.Name | ast.Attribute)
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def widened(chain: Sequence[ast.expr], kinds: Kinds) -> ast.expr:
    """The largest of the expressions around the first one that is no work for a graph, either.

    Args:
        chain: the expression that cannot be captured, and those around it.
        kinds: what names stand for.
    """
    found = chain[0]
    for outer in chain[1:]:
        if not _is_part_of_break(outer, found, kinds):
            break
        found = outer
    return found


def _is_part_of_break(outer: ast.expr, inner: ast.expr, kinds: Kinds) -> bool:
    others: list[ast.expr]
    match outer:
        case ast.Attribute() | ast.Subscript() if outer.value is inner:
            others = [outer.slice] if isinstance(outer, ast.Subscript) else []
        case ast.Call() if outer.func is inner:
            others = _arguments(outer)
        case ast.Call() if kinds.root(outer.func) == "foreign" or _keeps(outer):
            others = [a for a in _arguments(outer) if a is not inner]
        case ast.Starred() | ast.FormattedValue():
            others = []
        case ast.JoinedStr():
            others = [v for v in outer.values if v is not inner]
        case ast.Compare(comparators=[right]):
            others = [right if outer.left is inner else outer.left]
            if not isinstance(others[0], ast.Constant) and not _is_foreign(others[0], kinds):
                return False
        case _:
            return False
    return not any(works(other, kinds) for other in others)


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(k.value for k in call.keywords)]


def _keeps(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _KEEPS:
        return False
    owner = call.func.value
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return isinstance(owner, ast.Name)


def _is_foreign(node: ast.expr, kinds: Kinds) -> bool:
    return isinstance(node, ast.Call) and kinds.is_foreign_call(node)
