"""Functions made of syntax trees: the skeleton of a cut function, and its segments.

They are made in the place of the function they come from: with its globals, its closure cells, its file and its lines,
so that errors, tracebacks and ``nonlocal`` are the function's own.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..source.load import FunctionSource, remember
from ..source.scope import names_of

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def build_function(
    node: Definition,
    source: FunctionSource,
    fn: types.FunctionType,
    held: Mapping[str, Any],
    qualname: str,
) -> types.FunctionType:
    """The function that ``node`` defines, in the place of ``fn``.

    Args:
        node: the definition, without decorators.
        source: where it comes from.
        fn: the function whose globals and closure it shares.
        held: values of further free variables.
        qualname: its name in reports.
    """
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in held.items()}
    code = _code(node, source, tuple(cells))
    code = _renamed(code, code.co_qualname, fn.__code__.co_qualname)
    made = types.FunctionType(code, fn.__globals__, fn.__name__, None, tuple([cells[n] for n in code.co_freevars]))
    made.__qualname__, made.__module__ = qualname, fn.__module__
    return made


def as_definition(source: FunctionSource) -> FunctionSource:
    """A ``lambda`` as a function of one statement; other functions as they are."""
    node = source.node
    if not isinstance(node, ast.Lambda):
        return source
    result = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef("<lambda>", node.args, [result], [], **_no_type_parameters())
    return replace(source, node=ast.copy_location(made, node))


def keep_source(made: types.FunctionType, node: ast.FunctionDef, source: FunctionSource) -> None:
    """Lets a capture of ``made`` find its tree."""
    remember(made.__code__, FunctionSource(node, source.file, names_of(node), source.postponed, source.origin))


def _code(node: Definition, source: FunctionSource, free: tuple[str, ...]) -> types.CodeType:
    """``node`` compiled inside a function that has the variables ``free``."""
    if any(_ends_early(n) for n in ast.walk(node)):
        node = copy.deepcopy(node)
        for n in ast.walk(node):
            if _ends_early(n):
                n.end_lineno, n.end_col_offset = n.lineno, n.col_offset  # type: ignore[attr-defined]
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in free]
    body: list[ast.stmt] = [ast.Assign(targets, ast.Constant(None))] if targets else []
    if node.name not in free:  # which else would be a variable of ``outer``
        body.append(ast.Global([node.name]))
    outer = ast.FunctionDef(
        "outer", ast.arguments([], [], None, [], [], None, []), [*body, node], [], **_no_type_parameters()
    )
    for part in (outer, *body, *targets):
        ast.copy_location(part, node)
    for statement in body:
        ast.fix_missing_locations(statement)
    flags = __future__.annotations.compiler_flag if source.postponed else 0
    module = compile(ast.Module([outer], []), source.file, "exec", flags, dont_inherit=True)
    return _inner(_inner(module, "outer"), node.name)


def _ends_early(node: ast.AST) -> bool:
    """Whether a node ends before it begins, as some in texts with values do up to 3.11: trees with such do not
    compile."""
    end = getattr(node, "end_lineno", None)
    return end is not None and (end, node.end_col_offset) < (node.lineno, node.col_offset)  # type: ignore[attr-defined]


def _no_type_parameters() -> dict[str, Any]:
    return {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}


def _renamed(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """``code`` with all that is defined in it in the place ``new`` instead of ``old``."""
    name = code.co_qualname.replace(old, new, 1)
    consts: list[Any] = [_renamed(c, old, new) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    if not code.co_flags & inspect.CO_OPTIMIZED:  # of a class, which gets its name from a constant
        consts = [name if type(c) is str and c == code.co_qualname else c for c in consts]
    return code.replace(co_qualname=name, co_consts=tuple(consts))


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
