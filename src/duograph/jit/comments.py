"""Comments that say something about a statement: ``# @jit.typing: () -> tensor_type[float32]``, ``# @jit.cond: True``.

MindSpore takes types of steps in Python, and outcomes of conditions, from them. Here both are observed, and results are
those of dynamic mode whatever a comment says: so they change nothing. What has a wrong form is an error, as there.
"""

from __future__ import annotations

import ast
import re
import types

from duograph.base.source import SourceFile, source_of_code
from duograph.core import dtype
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.source.load import load_function

_COMMENT = re.compile(r"#\s*@jit\.(\w+)\s*(:?)\s*(.*?)\s*$")
_SIGNATURE = re.compile(r"\(\s*\)\s*->\s*(.+)$")
_PLAIN = {"int", "float", "bool", "str", "string", "none", "None"}
_CONTAINERS = {"list_", "tuple_"}
_TYPING = (
    "'() -> type', with a type such as tensor_type[float32], tensor_type[{variable}], tuple_[int, float], "
    "list_[tensor_type[int64]] or float32, or 'side_effect'"
)


def check_comments(fn: types.FunctionType) -> None:
    """Looks at the comments of a function.

    Raises:
        RuntimeError: one has a wrong form.
    """
    source = source_of_code(fn.__code__)
    if source is None or "@jit." not in source.text:
        return
    try:
        node = load_function(fn).node
    except Uncapturable:  # plain Python runs it, which has no such comments
        return
    texts = {n.lineno + k for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
             for k in range((n.end_lineno or n.lineno) - n.lineno + 1)}  # fmt: skip
    for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
        found = _COMMENT.search(source.line(line) or "")
        if found is not None and line not in texts:
            _check(found, source, line)


def _check(found: re.Match[str], source: SourceFile, line: int) -> None:
    kind, colon, value = found.groups()
    if kind == "cond":
        is_right, form = value in ("True", "False"), "'True' or 'False'"
    elif kind == "typing":
        is_right, form = value == "side_effect" or _is_signature(value), _TYPING
    else:
        is_right, value, form = False, kind, "'@jit.typing: ...' or '@jit.cond: ...'"
    if not is_right or not colon:
        where = f"{source.name}:{line}"
        raise RuntimeError(f"The comment {found.group()!r} at {where} is wrong: {value!r} is not {form}.")


def _is_signature(text: str) -> bool:
    found = _SIGNATURE.match(text)
    if found is None:
        return False
    try:
        return _is_type(ast.parse(found.group(1), mode="eval").body)
    except SyntaxError:
        return False


def _is_type(node: ast.expr) -> bool:
    match node:
        case ast.Name(name):
            return name in _PLAIN or _is_dtype(name)
        case ast.Constant(None):
            return True
        case ast.Subscript(ast.Name("tensor_type"), ast.Name(name)):
            return _is_dtype(name)
        case ast.Subscript(ast.Name("tensor_type"), ast.Set([ast.Name()])):  # the dtype that a variable holds
            return True
        case ast.Subscript(ast.Name(name), inner) if name in _CONTAINERS:
            return all(_is_type(e) for e in (inner.elts if isinstance(inner, ast.Tuple) else [inner]))
    return False


def _is_dtype(name: str) -> bool:
    return isinstance(getattr(dtype, name, None), dtype.DType)
