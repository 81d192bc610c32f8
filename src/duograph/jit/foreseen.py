"""What else of a function cannot be captured, besides what has stopped its capture: found by looking at its calls.

A capture ends at the first thing that it refuses. Who asks for a whole graph (``fullgraph``) wants to know of all. So
the calls that stand in the function itself are looked at: of functions that are not known to be free of effects, and
of methods that take values out of tensors. What is called by another name, or inside of other functions, is not found.
"""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any

from duograph.base.diagnostics import Label
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.rules.policy import is_interpreted
from duograph.frontend.rules.purity import is_constant
from duograph.frontend.source.load import FunctionSource
from duograph.frontend.split.blocks import own_nodes
from duograph.frontend.verbs.native_calls import check_pure
from duograph.frontend.verbs.substitutes import SUBSTITUTES

from .cuts import variable_of

_LEAVES = ("asnumpy", "tobytes")
_MISSING = object()


def further_labels(source: FunctionSource, fn: types.FunctionType, known: Label | None) -> tuple[Label, ...]:
    """The further reasons, each at its place, in the order of the source; ``known`` is the one that is known."""
    body = source.node.body
    nodes = own_nodes(body) if isinstance(body, list) else own_nodes([ast.Expr(body)])
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    labels = []
    for node in sorted(calls, key=lambda n: (n.lineno, n.col_offset)):
        reason = _reason(node.func, source, fn)
        span = source.span(node)
        if reason and (known is None or (span.line, span.col) != (known.span.line, known.span.col)):
            labels.append(Label(span, reason, primary=False))
    return tuple(labels)


def _reason(callee: ast.expr, source: FunctionSource, fn: types.FunctionType) -> str:
    called = _value(callee, source, fn)
    if called is _MISSING:
        is_leaving = isinstance(callee, ast.Attribute) and callee.attr in _LEAVES
        return f"{callee.attr}() of a tensor, which is only known at run time" if is_leaving else ""  # type: ignore[attr-defined]
    if isinstance(called, types.FunctionType):
        return "" if is_interpreted(called) else _impurity(called)
    if not isinstance(called, types.BuiltinFunctionType):
        return ""
    substitute = SUBSTITUTES.get(called)
    if substitute is not None:
        return f"the built-in function {called.__name__}()" if substitute.__name__ == "refuse" else ""
    owner = called.__self__
    if not isinstance(owner, types.ModuleType | type | None) and not is_constant(owner):
        return f"the method {called.__name__!r} of an object from outside, bound outside"
    return _impurity(called)


def _impurity(fn: Any) -> str:
    """Why ``fn`` does not run as it is; empty if it does."""
    try:
        check_pure(fn)
    except Uncapturable as refused:
        return refused.reason
    return ""


def _value(node: ast.expr, source: FunctionSource, fn: types.FunctionType) -> Any:
    """What a name, or a name in a module, stands for; `_MISSING` for anything else."""
    if isinstance(node, ast.Name) and node.id not in source.names.own:
        found = variable_of(fn, node.id)
        return getattr(builtins, node.id, _MISSING) if found is None else found
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, source, fn)
        if isinstance(owner, types.ModuleType):
            return vars(owner).get(node.attr, _MISSING)
    return _MISSING
