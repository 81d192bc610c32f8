"""Functions made of syntax trees: the skeleton of a cut function, and its segments.

They are made in the place of the function they come from: with its globals, its closure cells, its file and its lines,
so that errors, tracebacks and ``nonlocal`` are the function's own.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dis
import inspect
import sys
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from duograph.base.source import is_internal_file
from duograph.base.weak import WeakTable

from ..source.load import FunctionSource, remember
from ..source.scope import names_of
from .blocks import own_statements
from .plan import FOLD, SEGMENT

_RAISE = dis.opmap["RAISE_VARARGS"]
_LOOKING = (ast.With, ast.Try, ast.TryStar)
_parts: WeakTable[types.CodeType, bool] = WeakTable()
"""Code of segments, and of skeletons of segments: the function that they are parts of has a frame of its own."""
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
    """Lets a capture of ``made``, which is a segment, find its tree."""
    note_part(made)
    remember(made.__code__, FunctionSource(node, source.file, names_of(node), source.postponed, source.origin))


def note_part(made: types.FunctionType) -> None:
    """Tracebacks show the frame of ``made`` instead of that of the skeleton that called it."""
    _parts[made.__code__] = True


def with_folds(skeleton: Definition) -> Definition:
    """``skeleton`` with `fold_trace` where somebody may look at an exception of a segment."""
    for node in [skeleton, *own_statements(skeleton.body)]:
        if isinstance(node, (*_LOOKING, type(skeleton))) and any(map(_is_call_of_segment, own_statements(node.body))):
            fold = ast.Expr(ast.Call(ast.Name(FOLD, ast.Load()), [], []))
            handler = ast.ExceptHandler(None, None, [fold, ast.Raise(None, None)])
            made = ast.copy_location(ast.Try(node.body, [handler], [], []), node)
            for part in ast.walk(handler):
                ast.copy_location(part, node)
            node.body = [made]
    return skeleton


def _is_call_of_segment(node: ast.stmt) -> bool:
    call = getattr(node, "value", None)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.startswith(SEGMENT)


def fold_trace() -> None:
    """Takes the skeleton that calls this out of the traceback of the exception that it handles, where that comes from a
    segment: a function has one frame in Python, and is where the segment is."""
    error = sys.exception()
    trace = error.__traceback__ if error is not None else None
    if error is None or trace is None or trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE:
        return
    behind = trace.tb_next
    while behind is not None and is_internal_file(behind.tb_frame.f_code.co_filename):
        behind = behind.tb_next
    if behind is None or not _parts.get(behind.tb_frame.f_code):
        return
    caller = behind.tb_frame.f_back
    while caller is not None and (is_internal_file(caller.f_code.co_filename) or _parts.get(caller.f_code)):
        caller = caller.f_back
    if caller is trace.tb_frame:
        error.__traceback__ = behind


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
