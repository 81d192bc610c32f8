"""Annotations of functions that a program defines: Python evaluates them where the ``def`` is."""

from __future__ import annotations

import ast
import operator
import sys
import types
from typing import Any

from ..rules import sources
from ..rules.errors import Uncapturable
from ..rules.policy import is_user_class
from ..rules.sources import Pin
from ..source.scope import annotations_of
from ..values.world import Frame

ARE_LAZY = sys.version_info >= (3, 14)
"""Whether annotations are evaluated when somebody asks for them."""
_LIBRARIES = ("typing", "typing_extensions", "types")


def evaluate_annotations(driver: Any, node: Any, frame: Frame) -> None:
    """Evaluates the annotations of a ``def``, for what that does besides."""
    if getattr(node, "type_params", None):
        raise Uncapturable("a generic function defined inside", driver.span(node, frame))
    if frame.code.postponed or ARE_LAZY:
        return
    for part in annotations_of(node):
        _evaluate(driver, part, frame)


def _evaluate(driver: Any, node: ast.expr, frame: Frame) -> Any:
    """The value of an annotation. What `typing` and Python's own classes make of their parts is a matter of theirs."""
    match node:
        case ast.Name(id=name) if _is_global(name, driver, frame) and _is_of_typing(frame.globals.get(name)):
            driver.session.guards.add(sources.global_(frame.globals, name), "is", Pin(frame.globals[name]))
            return frame.globals[name]
        case ast.Attribute(value=ast.Name() as owner, attr=name):
            module = driver.eval(owner, frame)
            if isinstance(module, types.ModuleType) and module.__name__ in _LIBRARIES and name in vars(module):
                return vars(module)[name]
        case ast.Subscript():
            kind, key = _evaluate(driver, node.value, frame), _evaluate(driver, node.slice, frame)
            return kind[key] if _is_known(kind, is_asked=True) else driver.semantics.getitem(kind, key)
        case ast.Tuple():
            return tuple(_evaluate(driver, part, frame) for part in node.elts)
        case ast.List():
            return [_evaluate(driver, part, frame) for part in node.elts]
        case ast.BinOp(op=ast.BitOr()):
            a, b = _evaluate(driver, node.left, frame), _evaluate(driver, node.right, frame)
            return a | b if _is_known(a) and _is_known(b) else driver.semantics.binary(operator.or_, a, b)
    return driver.eval(node, frame)


def _is_global(name: str, driver: Any, frame: Frame) -> bool:
    """Whether ``name`` is a global variable that the program has not set."""
    if ("global", id(frame.globals), name) in driver.world.overlay:
        return False
    outer: Frame | None = frame
    while outer is not None and name not in outer.code.names.globals:
        if name in outer.code.names.own or name in outer.cells:
            return False
        outer = outer.parent
    return True


def _is_of_typing(value: Any) -> bool:
    return type(value).__module__ in _LIBRARIES


def _is_known(kind: Any, is_asked: bool = False) -> bool:
    """Whether ``kind | other`` runs no code of the user; nor ``kind[...]``, if the class itself is asked."""
    if isinstance(kind, type):
        return not is_user_class(type(kind)) and not (is_asked and is_user_class(kind))
    return kind is None or _is_of_typing(kind)
