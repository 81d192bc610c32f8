"""The syntax tree of a Python function: from files, notebooks, ``exec`` and the REPL."""

from __future__ import annotations
import __future__

import ast
import linecache
import types
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from duograph.base.source import SourceFile, Span, note_captured, source_of_code, span_of_code, span_of_node
from duograph.base.weak import WeakTable

from ..rules.errors import Uncapturable
from .constants import share_constants
from .made_from import is_made_alone, is_made_from
from .private import with_private_names
from .scope import Names, names_in_closures, names_of

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True, eq=False)
class FunctionSource:
    """A function's tree, the file it is in, and which names are its own."""

    node: FunctionNode
    file: str
    names: Names
    postponed: bool = False  # ``from __future__ import annotations``
    origin: str = "source"  # or "bytecode"
    _spans: dict[ast.AST, Span] = field(default_factory=dict)
    _in_closures: frozenset[str] | None = None

    @property
    def in_closures(self) -> frozenset[str]:
        """Names that functions within this one may read or write."""
        if self._in_closures is None:
            self._in_closures = names_in_closures(self.node)
        return self._in_closures

    def span(self, node: ast.AST) -> Span:
        """Where ``node`` is. Captures begin anew, so each is asked for often."""
        found = self._spans.get(node)
        if found is None:
            found = self._spans[node] = span_of_node(self.file, node)
        return found


_trees: OrderedDict[str, tuple[SourceFile, ast.Module, list[FunctionNode]]] = OrderedDict()
_functions: WeakTable[types.CodeType, FunctionSource] = WeakTable()
MADE: WeakTable[types.CodeType, FunctionSource] = WeakTable()
"""Of functions that were made from their trees, wherever those came from."""
MOST_TREES = 64
"""Files whose trees are kept, those that were asked for last."""


def load_function(fn: types.FunctionType) -> FunctionSource:
    """The source of ``fn``; `Uncapturable` with the reason if there is none."""
    code = fn.__code__
    known = _functions.get(code)
    if known is None:
        source, node = _found(code)
        if source is not None and node is None:
            linecache.checkcache(source.name)  # what it has read may be older than the module
            source, node = _found(code)
        if source is None:
            raise Uncapturable(f"the source of {fn.__qualname__} is not available", span_of_code(code))
        if node is None:
            raise Uncapturable(f"{source.name} is not what {fn.__qualname__} was made from", span_of_code(code))
        note_captured(source)
        node = with_private_names(node, code.co_qualname)
        share_constants(node, code)
        postponed = bool(code.co_flags & __future__.annotations.compiler_flag)
        known = _functions[code] = FunctionSource(node, source.name, names_of(node), postponed)
    return known


def remember(code: types.CodeType, source: FunctionSource) -> None:
    """The source of a function that was made from its tree."""
    _functions[code] = MADE[code] = source


def _found(code: types.CodeType) -> tuple[SourceFile | None, FunctionNode | None]:
    """The text that is said to hold ``code``, and its tree there; None if that is missing, or other code."""
    source = source_of_code(code)
    if source is None:
        return None, None
    node = _found_in_lines(source, code) or _found_in_file(source, code)
    return source, node if node is not None and is_made_from(code, node, source) else None


def _found_in_lines(source: SourceFile, code: types.CodeType) -> FunctionNode | None:
    """A ``def``, from its own lines: files may be long, and one function of them be wanted.

    The lines end before the first one behind all instructions that is not indented more. Where that is wrong, a string
    or a bracket is left open, and nothing found.
    """
    first = code.co_firstlineno
    whole = _trees.get(source.name)
    if code.co_name == "<lambda>" or (whole is not None and whole[0].text == source.text):
        return None
    lines = source.lines
    if not 1 <= first <= len(lines):
        return None
    indent = _indent(lines[first - 1])
    last = max(first, min(_last_line(code), len(lines)))
    while last < len(lines) and (_is_empty(lines[last]) or _indent(lines[last]) > indent):
        last += 1
    head = "\n" * (first - 1)
    if indent:
        head = "\n" * (first - 2) + "if 1:\n"
    try:
        module = ast.parse(head + "\n".join(lines[first - 1 : last]))
    except SyntaxError:
        return None
    body = module.body
    if indent and body and isinstance(body[0], ast.If):
        body = body[0].body
    node = body[0] if len(body) == 1 else None
    fits = isinstance(node, FunctionNode) and _first_line(node) == first and _matches(node, code)
    return node if fits else None  # type: ignore[return-value]


def _last_line(code: types.CodeType) -> int:
    """The last line with an instruction of a function or of those inside it."""
    own = max((max(line or 0, end or 0) for line, end, _, _ in code.co_positions()), default=0)
    return max([own, *(_last_line(c) for c in code.co_consts if isinstance(c, types.CodeType))])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_empty(line: str) -> bool:
    return line.lstrip()[:1] in ("", "#")


def _found_in_file(source: SourceFile, code: types.CodeType) -> FunctionNode | None:
    cached = _trees.pop(source.name, None)
    if cached is None or cached[0].text != source.text:
        try:
            module = ast.parse(source.text)
        except SyntaxError:
            return None
        functions = [n for n in ast.walk(module) if isinstance(n, FunctionNode)]
        cached = source, module, functions
    _trees[source.name] = cached  # at the end: the first one is what nobody has asked for
    if len(_trees) > MOST_TREES:
        _trees.popitem(last=False)
    candidates = [n for n in cached[2] if _first_line(n) == code.co_firstlineno and _matches(n, code)]
    if len(candidates) > 1:
        candidates = [n for n in candidates if _covers(n, code)] or candidates
        candidates.sort(key=_size)
        if len(candidates) > 1:  # short ones have no instruction that tells where it is from
            candidates = [n for n in candidates if is_made_alone(code, n, source)]
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
