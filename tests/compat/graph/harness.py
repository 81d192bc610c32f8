"""Runs a program written against MindSpore's API in a mode and writes down what it did.

A program is a function ``case_*(jit)`` in ``programs/``: it gets the decorator under test and returns what is to be
compared. Modes: plain Python, functions under ``jit`` (with ``construct`` of Cells wrapped as users do it), and graph
mode, where functions become the ``construct`` of a Cell.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

from duograph.jit.function import JitFunction

FOLDER = Path(__file__).parent


class _Wrapped(nn.Cell):
    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)


def _eager(fn: Any) -> Any:
    return fn


def _jit(fn: Any) -> Any:
    if not isinstance(fn, nn.Cell):
        return ms.jit(fn)
    fn.construct = ms.jit(fn.construct)
    return fn


def _graph(fn: Any) -> Any:
    if isinstance(fn, nn.Cell) or fn.__name__ == "construct":
        return fn
    return ms.jit(fn) if next(iter(inspect.signature(fn).parameters), "") == "self" else _Wrapped(fn)


MODES = {
    "eager": (_eager, ms.PYNATIVE_MODE),
    "jit": (_jit, ms.PYNATIVE_MODE),
    "graph": (_graph, ms.GRAPH_MODE),
}


def programs() -> Iterator[tuple[str, Callable[..., Any]]]:
    """All programs, by name."""
    for path in sorted((FOLDER / "programs").glob("*.py")):
        module = importlib.import_module(f"tests.compat.graph.programs.{path.stem}")
        for name, value in vars(module).items():
            if name.startswith("case_"):
                yield name[5:], value


def run(program: Callable[..., Any], mode: str) -> dict[str, Any]:
    """What ``program`` returns or raises and prints in ``mode``, and why it fell back to Python, if it did."""
    jit, context = MODES[mode]
    before = ms.get_context("mode")
    ms.set_context(mode=context)
    ms.set_seed(7)
    printed = io.StringIO()
    outcome: dict[str, Any] = {"value": None, "raised": None}
    with contextlib.redirect_stdout(printed), recorded_fallbacks() as fallbacks:
        try:
            outcome["value"] = written(program(jit))
        except Exception as exc:  # noqa: BLE001 - the exception is what is compared
            outcome["raised"] = [type(exc).__name__, re.sub(r" at 0x[0-9a-f]+", "", str(exc))]
        finally:
            ms.set_context(mode=before)
    return {**outcome, "printed": printed.getvalue(), "fallbacks": fallbacks}


@contextlib.contextmanager
def recorded_fallbacks() -> Iterator[list[str]]:
    """Reasons of all fallbacks to Python while it is open."""
    found: list[str] = []
    refuse = JitFunction._refuse

    def recording(self: Any, store: Any, names: Any, values: Any, reason: str, *rest: Any) -> None:
        found.append(reason)
        refuse(self, store, names, values, reason, *rest)

    JitFunction._refuse = recording
    try:
        yield found
    finally:
        JitFunction._refuse = refuse


def written(value: Any) -> Any:
    """``value`` as JSON, with types, and floats to the bit."""
    if isinstance(value, Tensor):
        array = value.asnumpy()
        kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
        return [kind, str(value.dtype), list(value.shape), _elements(array.tolist())]
    if isinstance(value, float):
        return ["float", value.hex() if value == value else "nan"]
    if isinstance(value, tuple | list):
        return [type(value).__name__, [written(v) for v in value]]
    if isinstance(value, dict):
        return [type(value).__name__, [[repr(k), written(v)] for k, v in value.items()]]
    if isinstance(value, set):
        return ["set", sorted(map(repr, value))]
    if isinstance(value, np.generic):
        return ["np", type(value).__name__, _elements(value.item())]
    if isinstance(value, bool | int | str | complex | type(None)):
        return [type(value).__name__, repr(value)]
    return ["object", type(value).__name__]


def _elements(value: Any) -> Any:
    if isinstance(value, list):
        return [_elements(v) for v in value]
    if isinstance(value, float):
        return value.hex() if value == value else "nan"
    return repr(value) if isinstance(value, complex) else value


def close(a: Any, b: Any) -> bool:
    """Whether two written values agree but for rounding (kernels of two frameworks round differently)."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, str) and isinstance(b, str) and a != b:
        try:
            x, y = float.fromhex(a), float.fromhex(b)
        except ValueError:
            return False
        return abs(x - y) <= 1e-3 * max(1.0, abs(y))
    return bool(a == b)
