"""The syntax tree of a function from its bytecode; only if compiling it gives that bytecode again."""

from __future__ import annotations
import __future__

import ast
import inspect
import types
from typing import Any

from duograph.base.source import span_of_code
from duograph.base.weak import WeakTable

from ..rules.errors import Uncapturable
from ..source.load import MADE, FunctionSource
from ..source.scope import names_of
from .functions import Functions
from .guesses import Guesses, Hopeless, read_until
from .same import difference

_recovered: WeakTable[types.CodeType, FunctionSource | str] = WeakTable()
"""Trees, or reasons why there are none: an exception would keep frames, and so objects, alive."""


def load_recovered(fn: types.FunctionType) -> FunctionSource:
    """The tree of ``fn`` from its bytecode; `Uncapturable` with the reason if it cannot be recovered."""
    code = fn.__code__
    known = _recovered.get(code) or MADE.get(code)
    if known is None:
        try:
            node = recover(code)
            _tell_apart(node)
            postponed = bool(code.co_flags & __future__.annotations.compiler_flag)
            known = FunctionSource(node, code.co_filename, names_of(node), postponed, "bytecode")
        except RecursionError:  # of whoever has called us: nothing that the code is to blame for
            raise Uncapturable("the stack is too deep to look at bytecode", span_of_code(code)) from None
        except Uncapturable as exc:
            known = exc.reason
        _recovered[code] = known
    if isinstance(known, str):
        raise Uncapturable(known, span_of_code(code))
    return known


def recover(code: types.CodeType) -> Any:
    """A tree that compiles to what ``code`` does; `Uncapturable` if there is none."""
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise Uncapturable(f"{code.co_name} is asynchronous")
    return read_until(lambda guesses: _reading(code, guesses), sum(len(c.co_code) for c in (code, *_nested(code))) // 2)


def _reading(code: types.CodeType, guesses: Guesses) -> Any:
    """One reading of ``code``, if it does what ``code`` does."""
    functions = Functions(code, guesses)
    try:
        node = functions.tree()
        found = _compiled(code, node, functions.imported)
    except (Uncapturable, RecursionError):
        raise
    except Exception as exc:  # the tree is no program: something was not understood
        raise Uncapturable(f"the bytecode of {code.co_name} was not understood ({type(exc).__name__}: {exc})") from exc
    if found is None:
        raise Hopeless(f"the bytecode of {code.co_name} was not understood (nothing of that name)")
    other = difference(code, found)
    if other is not None:
        guesses.line = other.line or guesses.line
        guesses.right = guesses.line
        raise Uncapturable(f"the bytecode of {code.co_name} was not understood ({other.text})")
    return node


def _tell_apart(tree: Any) -> None:
    """Gives nodes places of their own, where the code has none for them (``-X no_debug_ranges``, stripped tables): what
    a break is at, and what a segment begins with, is known by its place."""
    known: set[Any] = set()
    done: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr) and id(node) not in done:
            done.add(id(node))
            kind = ast.stmt if isinstance(node, ast.stmt) else type(node)
            while (place := (kind, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)) in known:
                node.end_col_offset = (node.end_col_offset or 0) + 1
            known.add(place)


def _compiled(code: types.CodeType, node: Any, imported: set[str]) -> types.CodeType | None:
    """The code object that ``node`` gives, where it finds the variables of functions around it, and modules."""
    free = ", ".join(code.co_freevars)
    used = {n for c in (code, *_nested(code)) for n in (*c.co_names, *c.co_varnames, *c.co_cellvars, *c.co_freevars)}
    imports = "".join(f"import {name}\n" for name in sorted(imported & used))
    module = ast.parse(f"{imports}def around({free}):\n  pass")
    around: Any = module.body[-1]
    around.body = [ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node]
    if code.co_name not in code.co_freevars and isinstance(node, ast.FunctionDef):
        around.body.insert(0, ast.copy_location(ast.Global([code.co_name]), node))
    flags = code.co_flags & __future__.annotations.compiler_flag
    made = compile(module, code.co_filename, "exec", flags, True)
    return next((c for c in _nested(made) if c.co_name == code.co_name and c.co_name != "around"), None)


def _nested(code: types.CodeType) -> Any:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _nested(constant)
