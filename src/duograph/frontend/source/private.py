"""Private names: in the methods of ``class Thing``, every identifier ``__x`` means ``_Thing__x``, as in CPython.

Python's compiler renames them (attributes, variables, parameters, keywords), so code objects and instances have the
long name; the syntax tree has the short one. The tree of a method is renamed once, when it is loaded.
"""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

from ..rules.errors import Uncapturable

AnyNode = TypeVar("AnyNode", bound=ast.AST)


def with_private_names(node: AnyNode, qualname: str) -> AnyNode:
    """``node``, a function of this qualified name, with its private identifiers renamed; the tree is left as it is."""
    owner = class_of(qualname)
    if owner is None or not any(_is_private(name) for n in ast.walk(node) for name in _identifiers(n)):
        return node
    renamed = copy.deepcopy(node)
    for child in ast.iter_child_nodes(renamed):
        _rename(child, f"_{owner}")
    return renamed


def class_of(qualname: str) -> str | None:
    """The class whose body the function is in, without leading underscores; functions inside a method are too."""
    parts = qualname.split(".")
    while len(parts) > 1 and not parts[-2].isidentifier():  # "<locals>" of a function, or the like of "<listcomp>"
        parts = parts[:-2] if parts[-2] == "<locals>" else parts[:-1]
    return (parts[-2].lstrip("_") or None) if len(parts) > 1 else None


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__") and "." not in name


_FIELDS = ("id", "attr", "arg", "name", "names", "asname", "rest")
"""Where syntax trees hold identifiers (of ``Name``, ``Attribute``, ``arg`` and ``keyword``, definitions, ...)."""


def _identifiers(node: ast.AST) -> list[str]:
    found: list[str] = []
    for field in _FIELDS:
        value = getattr(node, field, None)
        found += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, str)]
    return found


def _rename(node: ast.AST, prefix: str) -> None:
    if isinstance(node, ast.ClassDef):
        raise Uncapturable("a class statement in a method with private names")
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_private(node.name):
        raise Uncapturable(f"the function {node.name!r} inside a method: its name is private")  # it has two names
    for field in _FIELDS:
        value = getattr(node, field, None)
        if isinstance(value, str) and _is_private(value):
            setattr(node, field, prefix + value)
        elif isinstance(value, list):
            setattr(node, field, [prefix + v if isinstance(v, str) and _is_private(v) else v for v in value])
    for child in ast.iter_child_nodes(node):
        _rename(child, prefix)
