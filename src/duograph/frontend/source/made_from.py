"""Whether a syntax tree is what a code object was compiled from.

Files change after they were imported, modules are reloaded, import hooks rewrite what they load: the text that Python
finds is then not that of the function, and must not be captured in its place. So the tree is compiled again, and the
instructions compared.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

from duograph.base.source import SourceFile

from .private import class_of

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_WORD = re.compile(r"[^\W\d]\w*")
_FUTURE_ANNOTATIONS = 0x1000000  # CO_FUTURE_ANNOTATIONS


def is_made_from(code: types.CodeType, node: Function, source: SourceFile) -> bool:
    """Whether ``code`` is from the place of ``node`` in ``source``, and does what stands there.

    The function alone is compiled first, which is quick; then all of its file, because what is around a function may
    make a difference.
    """
    if is_made_alone(code, node, source):
        return True
    wanted = _facts(code)
    return any(_facts(c) == wanted for c in _candidates(source.text, code))


def is_made_alone(code: types.CodeType, node: Function, source: SourceFile) -> bool:
    """Whether ``node``, of ``source``, gives ``code`` when it is compiled alone."""
    found = list(_candidates(_around(code, node, source), code))
    if any("@pytest_ar" in c.co_names for c in (code, *_nested(code))):
        return any(_words(c) <= _words(code) for c in found)
    wanted = _facts(code)
    return any(_facts(c) == wanted for c in found)


def _candidates(text: str | ast.Module, code: types.CodeType) -> Iterator[types.CodeType]:
    flags = code.co_flags & _FUTURE_ANNOTATIONS
    try:
        made = _compiled(text, flags) if isinstance(text, str) else compile(text, "<function>", "exec", flags, True)
    except (SyntaxError, ValueError):
        return
    for c in _nested(made):
        if c.co_name == code.co_name and c.co_firstlineno == code.co_firstlineno:
            yield c


@functools.lru_cache(maxsize=16)
def _compiled(text: str, flags: int) -> types.CodeType:
    return compile(text, "<file>", "exec", flags, True)


def _around(code: types.CodeType, node: Function, source: SourceFile) -> ast.Module:
    """A module in which ``node`` finds the variables of enclosing functions, the class whose method it is, and names
    that the file imports (calls of their attributes are other instructions)."""
    owner = class_of(code.co_qualname)
    free = [name for name in code.co_freevars if name not in ("__class__", "__classdict__")]
    defined = owner or (code.co_name if not isinstance(node, ast.Lambda) else "around")
    visible = "pass" if defined in free else f"global {defined}"
    words = {word for line in source.lines if line.startswith(("import ", "from ")) for word in _WORD.findall(line)}
    imported = sorted(words.intersection(name for c in (code, *_nested(code)) for name in c.co_names))
    imports = "".join(f"import {name}\n" for name in imported)
    module = ast.parse(f"{imports}def around({', '.join(free)}):\n  {visible}\n  class {owner or 'Nothing'}: 0")
    function: Any = module.body[-1]
    inner = ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
    if owner is None:
        function.body[1] = inner
    else:
        function.body[1].body = [inner]
    return module


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _nested(constant)


def _facts(code: types.CodeType) -> Any:
    constants = [_facts(c) if isinstance(c, types.CodeType) else (type(c), repr(c)) for c in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
    return code.co_code, code.co_flags & ~inspect.CO_NESTED, code.co_exceptiontable, constants, names


def _words(code: types.CodeType) -> set[str]:
    """Names and constants; pytest adds some to functions with ``assert``, and changes their instructions."""
    found = {*code.co_names, *code.co_varnames, *(repr(c) for c in code.co_consts if not isinstance(c, types.CodeType))}
    return found.union(*map(_words, _nested(code)))
