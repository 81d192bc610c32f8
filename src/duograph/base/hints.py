"""What helps with errors that Python itself raises where a call does not fit: ``ops.softmax(x, dim=1)``, ``x.size()``.

Nothing of this package runs before such an error, so it is when nobody catches it, and it is shown, that the user's
expression is read: which function it calls is looked up among the variables of its frame, and nothing is evaluated.
"""

from __future__ import annotations

import ast
import inspect
import re
from types import FrameType, ModuleType, TracebackType
from typing import Any

from .absent import instead, keyword_instead
from .lookup import raw_getattr
from .source import is_internal_file, span_of_frame

__all__ = ["add_hint"]

_KEYWORD = re.compile(
    r"(?:(?P<owner>\w+)\.)?\w+\(\) got an unexpected keyword argument '(?P<keyword>\w+)'(\. Did you mean|$)"
)
_CALLED = re.compile(r"'\w+' object is not callable$")
_STEP = re.compile(r"Optimizer\.(step|construct)\(\) missing 1 required positional argument")


def add_hint(error: BaseException | None, trace: TracebackType | None) -> None:
    """Adds a note to an error that nobody has caught, if it is one that a user of other libraries makes."""
    if type(error) is not TypeError or not error.args or getattr(error, "__notes__", None):
        return
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    said = str(error.args[0])
    if trace is None or is_internal_file(trace.tb_frame.f_code.co_filename):
        return
    if hint := _hint(said, trace):
        error.add_note(f"help: {hint.removeprefix('; ')}")


def _hint(said: str, trace: TracebackType) -> str:
    if _STEP.match(said):
        return instead("Cell", "step")
    found = _KEYWORD.match(said)
    if found is None and not _CALLED.match(said):
        return ""
    call = _call(trace)
    owner, callee = _callee(call.func, trace.tb_frame) if call is not None else (None, None)
    if found is not None:
        keyword = found["keyword"]
        if found["owner"] != "Tensor" and str(raw_getattr(callee, "__module__")).partition(".")[0] != "duograph":
            return ""
        if keyword in ("requires_grad", "device"):
            return instead("", "cuda") if keyword == "device" else instead("Tensor", keyword)
        return keyword_instead(keyword, _parameters(callee))
    is_ours = not isinstance(owner, ModuleType) and type(owner).__module__.partition(".")[0] == "duograph"
    if call is None or not is_ours or not isinstance(call.func, ast.Attribute):
        return ""
    name = call.func.attr
    way = ": x.shape is the shape, and x.shape[i] the size of one axis" if name == "size" else ""
    return f"{name!r} is a property here, write it without parentheses{way}"


def _call(trace: TracebackType) -> ast.Call | None:
    """The call that has raised, as it is written."""
    try:
        tree = ast.parse((span_of_frame(trace).text() or "").strip(), mode="eval")
    except (SyntaxError, ValueError):
        return None
    return tree.body if isinstance(tree.body, ast.Call) else None


def _callee(node: ast.expr, frame: FrameType) -> tuple[Any, Any]:
    """What holds the called object, if anything does, and that object; ``None`` for what is not simply there."""
    if isinstance(node, ast.Name):
        return None, frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if not isinstance(node, ast.Attribute):
        return None, None
    owner = _callee(node.value, frame)[1]
    if isinstance(owner, ModuleType):
        return owner, vars(owner).get(node.attr)
    return owner, vars(type(owner)).get(node.attr) or raw_getattr(type(owner), node.attr)


def _parameters(callee: Any) -> list[str]:
    try:
        return list(inspect.signature(callee).parameters)
    except (TypeError, ValueError):
        return []
