"""Effects in program order: printing and run-time checks. They take a token and give the next one.

In dynamic mode Python itself prints; these are what `print` and `assert` in captured programs become.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.types import BOOL, TOKEN, TensorType, TokenType
from duograph.tensor.tensor import wrap


def _check_token(op: str, token: Any) -> None:
    if not isinstance(token, TokenType):
        raise TypeError(f"{op} needs a token first, got {token}")


def restored(template: Any, values: Any) -> Any:
    """The Python object that ``template`` describes.

    A template is ``("value", i)`` for run-time operand ``i``, ``("list" | "tuple", items)``, ``("dict", pairs)``,
    ``("format", parts)`` for an f-string, whose parts are texts or ``(template, conversion, spec)``, or
    ``("object", x)`` for anything known at capture.
    """
    kind, content = template
    if kind == "value":
        return values[content]
    if kind == "list":
        return [restored(t, values) for t in content]
    if kind == "tuple":
        return tuple(restored(t, values) for t in content)
    if kind == "dict":
        return {restored(k, values): restored(v, values) for k, v in content}
    if kind == "format":
        return "".join(p if isinstance(p, str) else _formatted(restored(p[0], values), p[1], p[2]) for p in content)
    assert kind == "object", f"unknown template {kind!r}"
    return content


_CONVERSIONS: dict[str, Any] = {"s": str, "r": repr, "a": ascii}


def _formatted(value: Any, conversion: str, spec: str) -> str:
    return format(_CONVERSIONS[conversion](value) if conversion else value, spec)


def as_operand_values(arrays: Any) -> list[Any]:
    """What user code sees for run-time operands: tensors for arrays, Python numbers as they are."""
    return [wrap(np.array(a)) if isinstance(a, np.ndarray | np.generic) else a for a in arrays]


@primitive
class print_:
    """Python's ``print`` of the objects that ``template`` (a tuple of templates, see `restored`) describes.

    Tensors print as in dynamic mode: ``str`` on top, ``repr`` inside containers.
    """

    effects = ("io",)
    bprop = NOT_DIFFERENTIABLE

    def infer(token, *operands, template, sep=" ", end="\n"):
        _check_token("print", token)
        return TOKEN

    def reference(token, *operands, template, sep, end):
        values = as_operand_values(operands)
        print(*[restored(t, values) for t in template], sep=sep, end=end, file=sys.stdout)
        return token


@primitive
class check:
    """Raises ``error`` with the message that ``template`` describes (``None``: no message) unless ``pred`` holds.

    ``pred`` is a bool scalar or a bool tensor of one element.
    """

    effects = ("io",)
    bprop = NOT_DIFFERENTIABLE

    def infer(token, pred, *operands, template=None, error=AssertionError):
        _check_token("check", token)
        if pred != BOOL and not (isinstance(pred, TensorType) and pred.dtype.is_bool):
            raise TypeError(f"check needs a bool, got {pred}")
        return TOKEN

    def reference(token, pred, *operands, template, error):
        if not bool(pred):
            raise error() if template is None else error(restored(template, as_operand_values(operands)))
        return token
