"""Whether a function looks at its own variables or frames: it would see those of skeleton and segments.

What a name stands for decides, not the name: ``ops.stack`` and a field ``locals`` are no business of this. Names are
looked up as Python does, in the scopes of the function and then outside; attributes, without running any code. Where it
cannot be told what an attribute gives (that of a local variable), its name counts, but for those that everybody uses.
"""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from duograph.base.lookup import raw_getattr

from ..rules.policy import look_of
from ..source.scope import names_of
from .uses import COMPREHENSIONS, FUNCTIONS

_COMMON = frozenset({"locals", "vars", "dir", "eval", "exec", "breakpoint", "stack"})
"""Names of such functions that say nothing by themselves."""
_NAMES = _COMMON | {
    *("_getframe", "currentframe", "getouterframes", "set_trace", "settrace", "setprofile", "print_stack"),
    *("extract_stack", "walk_stack", "getcallargs", "__traceback__", "exc_info", "format_exc", "print_exc"),
    *("format_exception", "print_exception", "tb_frame"),
}
_MODULES = frozenset({"inspect", "traceback", "builtins", "sys", "threading", "pdb", "bdb"})
"""Where Python has them."""
_READERS = frozenset({"_getframe", "_getframemodulename", "currentframe"})
_UNKNOWN: Any = object()
_LATE: Any = object()
"""What an import of such a name from a module that is not loaded yet gives."""


def reads_frames(code: types.CodeType) -> bool:
    """Whether the code, or that of a function inside it, names what gives frames."""
    if not _READERS.isdisjoint(code.co_names) or {"inspect", "stack"}.issubset(code.co_names):
        return True
    return any(reads_frames(c) for c in code.co_consts if isinstance(c, types.CodeType))


def looks_at_frames(node: ast.AST, variables: Mapping[str, Any]) -> bool:
    """Whether a function does.

    Args:
        node: its tree.
        variables: what its names stand for outside of it.
    """
    return _Look(variables).into(node, ())


class _Scope(NamedTuple):
    """``own``: names that are bound in a function or comprehension; ``imported``: what imports bind some of them to."""

    own: set[str]
    imported: dict[str, Any]


class _Look:
    def __init__(self, variables: Mapping[str, Any]) -> None:
        self.variables = variables

    def into(self, node: ast.AST, scopes: tuple[_Scope, ...]) -> bool:
        if isinstance(node, FUNCTIONS):
            parts = node.body if isinstance(node.body, list) else [node.body]
            imported = {name: value for part in parts for name, value in _imports(part)}
            inside = (*scopes, _Scope(names_of(node).own, imported))
            outer = [n for n in ast.iter_child_nodes(node) if n not in parts]
            return any(self.into(n, scopes) for n in outer) or any(self.into(n, inside) for n in parts)
        if isinstance(node, ast.ClassDef):
            imported = {name: value for part in node.body for name, value in _imports(part)}
            scopes = (*scopes, _Scope(set(imported), imported))
        elif isinstance(node, COMPREHENSIONS):
            targets = [n for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
            scopes = (*scopes, _Scope({n.id for n in targets}, {}))
        if isinstance(node, ast.Call) and self._is_told_where(node, scopes):
            return any(self.into(n, scopes) for n in ast.iter_child_nodes(node) if n is not node.func)
        if isinstance(node, ast.Attribute):
            held = self._value(node.value, scopes)
            if _is_reader(_attribute(held, node.attr)) or _may_read(held, node.attr):
                return True
            if type(held) is types.ModuleType:  # else the module would seem to be passed on
                return False
        elif isinstance(node, ast.Name):
            found = self._value(node, scopes)
            if found is _UNKNOWN:
                return node.id in _NAMES and not any(node.id in s.own for s in scopes)
            return _is_reader(found) or (type(found) is types.ModuleType and found.__name__ in _MODULES - {"sys"})
        return any(self.into(n, scopes) for n in ast.iter_child_nodes(node))

    def _is_told_where(self, node: ast.Call, scopes: tuple[_Scope, ...]) -> bool:
        """Whether a call of ``eval``, ``exec``, ``dir`` or ``vars`` says what to look at: no frame, then."""
        called = self._value(node.func, scopes)
        if called is eval or called is exec:
            space = node.args[1] if len(node.args) > 1 else None
            made_by = self._value(space.func, scopes) if isinstance(space, ast.Call) else _UNKNOWN
            is_made = made_by is dict or made_by is globals or isinstance(space, ast.Dict)
            return is_made and not isinstance(node.args[0], ast.Starred)
        return (called is dir or called is vars) and bool(node.args) and not isinstance(node.args[0], ast.Starred)

    def _value(self, node: ast.AST, scopes: tuple[_Scope, ...]) -> Any:
        """What a name, or an attribute of one, stands for."""
        if isinstance(node, ast.Attribute):
            return _attribute(self._value(node.value, scopes), node.attr)
        if not isinstance(node, ast.Name):
            return _UNKNOWN
        for scope in reversed(scopes):
            if node.id in scope.own:
                return scope.imported.get(node.id, _UNKNOWN)
        return self.variables.get(node.id, getattr(builtins, node.id, _UNKNOWN))


def _imports(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """The names that imports bind, in this scope, and to what; a module that is not loaded yet stands for itself."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.split(".")[0]
            yield alias.asname or name, sys.modules.get(name) or types.ModuleType(name)
    elif isinstance(node, ast.ImportFrom):
        module = sys.modules.get(node.module or "") if not node.level else None
        for alias in node.names:
            is_late = module is None and alias.name in _NAMES
            yield alias.asname or alias.name, _LATE if is_late else _attribute(module, alias.name)
    elif not isinstance(node, FUNCTIONS):
        for child in ast.iter_child_nodes(node):
            yield from _imports(child)


def _attribute(held: Any, name: str) -> Any:
    """``held.name``, as far as that is seen without running code."""
    if held is _UNKNOWN or look_of(type(held)):
        return _UNKNOWN
    places = [raw_getattr(x, "__dict__", {}) for x in (held, *raw_getattr(type(held), "__mro__"))]
    return next((place[name] for place in places if name in place), _UNKNOWN)


def _may_read(held: Any, name: str) -> bool:
    """Whether nobody knows what ``held.name`` gives, and only such functions have that name there."""
    is_module = type(held) is types.ModuleType and held.__name__ in _MODULES  # not loaded yet
    return name in (_NAMES if is_module else _NAMES - _COMMON) and _attribute(held, name) is _UNKNOWN


def _is_reader(found: Any) -> bool:
    """Whether something is a function that looks at the frame of its caller, or where Python keeps one."""
    if found is _LATE:
        return True
    kind = type(found)  # which ``isinstance`` would ask the object for
    if kind is types.GetSetDescriptorType or kind is types.MemberDescriptorType:
        return found.__name__ in _NAMES
    if kind not in (types.FunctionType, types.BuiltinFunctionType) or found.__name__ not in _NAMES:
        return False
    if kind is types.BuiltinFunctionType:
        return found.__module__ in _MODULES
    return found.__module__ in _MODULES or reads_frames(found.__code__)
