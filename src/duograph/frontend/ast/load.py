"""The syntax tree of a Python function: from files, notebooks, ``exec`` and the REPL."""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass
from typing import Any

from duograph.base.source import SourceFile, Span, source_of_code, span_of_code, span_of_node

from ..errors import Uncapturable
from .scope import Names, names_of

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True, eq=False)
class FunctionSource:
    """A function's tree, the file it is in, and which names are its own."""

    node: FunctionNode
    file: str
    names: Names

    def span(self, node: ast.AST) -> Span:
        return span_of_node(self.file, node)


_trees: dict[str, tuple[SourceFile, ast.Module, list[FunctionNode]]] = {}
_functions: dict[types.CodeType, FunctionSource] = {}


def load_function(fn: types.FunctionType) -> FunctionSource:
    """The source of ``fn``; `Uncapturable` with the reason if there is none."""
    code = fn.__code__
    known = _functions.get(code)
    if known is None:
        source = source_of_code(code)
        if source is None:
            raise Uncapturable(f"the source of {fn.__qualname__} is not available", span_of_code(code))
        node = _find(source, code)
        if node is None:
            raise Uncapturable(f"{source.name} does not contain {fn.__qualname__} any more", span_of_code(code))
        known = _functions[code] = FunctionSource(node, source.name, names_of(node))
    return known


def _find(source: SourceFile, code: types.CodeType) -> FunctionNode | None:
    cached = _trees.get(source.name)
    if cached is None or cached[0].text != source.text:
        try:
            module = ast.parse(source.text)
        except SyntaxError:
            return None
        functions = [n for n in ast.walk(module) if isinstance(n, FunctionNode)]
        cached = _trees[source.name] = (source, module, functions)
    candidates = [n for n in cached[2] if _first_line(n) == code.co_firstlineno and _matches(n, code)]
    if len(candidates) > 1:
        candidates = [n for n in candidates if _covers(n, code)] or candidates
        candidates.sort(key=_size)
    return candidates[0] if candidates else None


def _first_line(node: FunctionNode) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _matches(node: FunctionNode, code: types.CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    a = node.args
    names = tuple(x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs))
    count = code.co_argcount + code.co_kwonlyargcount
    own = tuple(_unmangled(n) for n in code.co_varnames[:count])
    return name == code.co_name and tuple(_unmangled(n) for n in names) == own


def _unmangled(name: str) -> str:
    return name.split("__", 1)[1] if name.startswith("_") and "__" in name[1:] else name.lstrip("_")


def _covers(node: FunctionNode, code: types.CodeType) -> bool:
    """Whether the instructions of ``code`` lie inside ``node`` (several lambdas on one line)."""
    body = node.body if isinstance(node, ast.Lambda) else node
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    for line, end_line, col, end_col in code.co_positions():
        if None in (line, end_line, col, end_col) or end_col == 0 or (line == end_line and col == end_col):
            continue
        if not (start <= (line, col) and (end_line, end_col) <= end):
            return False
    return True


def _size(node: FunctionNode) -> Any:
    return ((node.end_lineno or 0) - node.lineno, (node.end_col_offset or 0) - node.col_offset)
