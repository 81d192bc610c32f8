"""Class statements: from the call of ``__build_class__`` and the code object of the body to syntax.

Nothing here is interpreted: a class statement is a break, and runs as the Python that it is. So its body need only come
back, which comparing it (`same.py`) shows.
"""

from __future__ import annotations
import __future__

import ast
import sys
from typing import Any

from ..rules.errors import Uncapturable
from .stack import Body, Class

_PROLOGUE = ("__module__", "__qualname__", "__firstlineno__", "__static_attributes__", "__classcell__")
"""What the compiler stores in each class by itself."""


def class_statement(made: Class, body: Body, decorators: list[ast.expr]) -> ast.ClassDef:
    """The statement that makes a class.

    Args:
        made: what the call says of it.
        body: the statements of its code object.
        decorators: what is called with it before it is stored.
    """
    line = made.code.co_firstlineno
    place: dict[str, Any] = {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}
    more: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
    postponed = bool(made.code.co_flags & __future__.annotations.compiler_flag)
    statements = _with_annotations(_written(body), postponed) or [ast.Pass(**place)]
    return ast.ClassDef(made.name, made.bases, made.keywords, statements, decorators, **more, **place)


def private_prefix(name: str) -> str:
    """What stands in front of the private names of a class in its code objects; empty if they are as written."""
    stripped = name.lstrip("_")
    return f"_{stripped}" if stripped else ""


def _written(body: Body) -> Body:
    """Without what the compiler adds."""
    kept = list(body)
    if kept and isinstance(kept[-1], ast.Return):
        kept.pop()
    kept = [one for one in kept if _name_of(one) not in _PROLOGUE]
    first: Any = kept[0] if kept else None
    if _name_of(first) == "__doc__" and isinstance(first.value, ast.Constant):
        kept[0] = ast.copy_location(ast.Expr(first.value), first)
    return kept


def _name_of(statement: ast.stmt | None) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _with_annotations(body: Body, postponed: bool) -> Body:
    """``x: int = 3``, where ``x`` is stored and then its annotation is."""
    found: Body = []
    for one in body:
        match one:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id="__annotations__"), slice=ast.Constant(value=name))],
                value=annotation,
            ):
                if not isinstance(name, str):
                    raise Uncapturable("an annotation of an unknown form")
                if postponed and isinstance(annotation, ast.Constant):
                    annotation = as_annotated(annotation)
                before: Any = found.pop() if found and _name_of(found[-1]) == name else None
                target = ast.copy_location(ast.Name(name, ast.Store()), one)
                value = None if before is None else before.value
                found.append(ast.copy_location(ast.AnnAssign(target, annotation, value, 1), before or one))
            case _:
                found.append(one)
    return found


def as_annotated(text: ast.Constant) -> ast.expr:
    """What a postponed annotation was written as, in its place."""
    made = ast.parse(str(text.value), mode="eval").body
    for node in ast.walk(made):
        if isinstance(node, ast.expr):
            ast.copy_location(node, text)
    return made
