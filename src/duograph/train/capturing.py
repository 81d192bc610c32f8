"""Networks as captured programs, for files: what is common to MindIR and ONNX."""

from __future__ import annotations

from typing import Any, NamedTuple

from duograph.frontend.programs.program import Program
from duograph.frontend.rules.errors import Uncapturable
from duograph.jit.bound import BoundJit
from duograph.jit.decorator import compiled
from duograph.jit.function import JitFunction
from duograph.jit.options import JitOptions
from duograph.jit.portable import cannot_export, is_open, open_patterns
from duograph.nn.cell import Cell
from duograph.tensor.tensor import Tensor, wrap

__all__ = ["Captured", "captured"]


class Captured(NamedTuple):
    """A program with what it was captured from.

    Attributes:
        program: the program.
        fn: the Python function, for messages.
        arguments: the arguments of the call by name.
        varargs: whether the last of them is the tuple of ``*args``.
    """

    program: Program
    fn: Any
    arguments: dict[str, Any]
    varargs: bool


def captured(net: Any, inputs: tuple[Any, ...]) -> Captured:
    """``net`` captured for a call with ``inputs``.

    Raises:
        TypeError: ``net`` cannot be called, or an input is none that a file can describe.
        RuntimeError: the program needs the Python interpreter; the message shows where.
    """
    if not (isinstance(net, Cell | JitFunction | BoundJit) or (callable(net) and not isinstance(net, type))):
        raise TypeError(f"For 'export', 'net' must be a Cell or a function, but got {type(net).__name__}.")
    values = tuple(_fresh(x, f"input {i}") for i, x in enumerate(inputs))
    function = _function_of(net)
    arguments = function.bound_values(values)
    shown = getattr(function.fn, "__func__", function.fn)
    try:
        program = function.captured(values, open_patterns(arguments))
    except Uncapturable as exc:
        raise cannot_export(shown, exc.reason, exc.span) from None
    return Captured(program, shown, arguments, function.takes_varargs and len(values) > 0)


def _fresh(value: Any, what: str) -> Any:
    """An input on its own: no other input, and no state of the network, shares its memory or identity."""
    if isinstance(value, Tensor):
        return value if is_open(value) else wrap(value.array().copy())
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        items = [_fresh(v, what) for v in value]
        return type(value)(items)
    if type(value) is list:
        return [_fresh(v, what) for v in value]
    if type(value) is dict:
        return {k: _fresh(v, what) for k, v in value.items()}
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | list | dict):
        return value
    raise TypeError(
        f"For 'export', {what} must be made of Tensors, numbers, strings, tuples, lists and dicts, but got "
        f"{type(value).__name__}."
    )


def _function_of(net: Any) -> JitFunction:
    """``net`` as a function to capture, apart from versions that it may have been compiled to already."""
    options = JitOptions(strict=True)
    if isinstance(net, BoundJit):
        return JitFunction(net.captured_target(), options)
    if isinstance(net, JitFunction):
        return JitFunction(net.fn, options, net.target, net.plain)
    function = compiled(net, options)
    assert isinstance(function, JitFunction)
    return function
